"""What terms patterns become: their size, other alphabets, and the bounds."""

from __future__ import annotations

import re
from functools import cache

import pytest

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import (
    EMPTY,
    And,
    ByteClass,
    Literal,
    Not,
    Repeat,
    Rule,
    Term,
    alt,
    byte_range,
    cat,
    literal,
    star,
)
from constrain.algebra.utf8 import UTF8
from constrain.errors import (
    GrammarError,
    LimitExceededError,
    RegexSyntaxError,
    UnsupportedFeatureError,
)
from constrain.frontends.regex import from_regex, lower, parse, search
from constrain.limits import Limits
from tests.frontends.regex.languages import Language, texts
from tests.patience import fails_after


def terms_of(root: Term) -> list[Term]:
    """Every term that a term is made of, bodies of rules too."""
    seen = {root: None}
    todo = [root]
    while todo:
        this = todo.pop()
        parts = [this.body] if isinstance(this, Rule) else this.parts
        new = [p for p in parts if p not in seen]
        seen.update(dict.fromkeys(new))
        todo.extend(new)
    return list(seen)


def kinds_of(root: Term) -> set[type]:
    return {type(t) for t in terms_of(root)}


# Repeats and nesting.


def test_nested_repeats_are_one_counter():
    term = from_regex("(((a{0,1000}){0,1000}){0,1000})")
    assert isinstance(term, Repeat)
    assert (term.lo, term.hi) == (0, 10**9)
    assert isinstance(term.body, ByteClass)


def test_a_large_count_costs_nothing():
    term = from_regex("a{1,1000000}")
    assert isinstance(term, Repeat)
    assert (term.lo, term.hi) == (1, 10**6)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\b[a-z]{1,1000000}\b",
        r"^(?!x)[a-z]{1,1000000}$",
        r"(?=.*y)[a-z]{1,1000000}",
        r"^[a-z]{1,1000000}(?<!\.local)(?<=abc)$",
    ],
)
def test_a_counter_beside_assertions_stays_a_counter(pattern):
    term = from_regex(pattern, "ecma")
    counters = [t for t in terms_of(term) if isinstance(t, Repeat)]
    assert any(t.hi is not None and t.hi >= 10**6 - 2 for t in counters)
    assert len(terms_of(term)) < 100


def test_deep_nesting_is_refused_by_its_name():
    pattern = "(" * 60_000 + "a" + ")" * 60_000
    for dialect in ("python", "ecma"):
        with pytest.raises(LimitExceededError) as caught:
            parse(pattern, dialect)
        assert caught.value.limit == "max_nesting"


@pytest.mark.parametrize("tail", [")", "b)", "b?)*", "|b)", r"\b)?", "(?=b))*"])
def test_deep_nesting_works_where_it_is_allowed(tail):
    depth = 1_900
    limits = Limits(max_nesting=depth + 1)
    term = from_regex("(" * depth + "a" + tail * depth, limits=limits)
    assert term is not EMPTY


def test_nested_lookaround_is_bounded():
    assert from_regex("(?=" * 16 + "a" + ")" * 16 + "a") is not EMPTY
    with pytest.raises(UnsupportedFeatureError, match="nests more than 16 deep") as caught:
        from_regex("b" + "(?!a" * 17 + ")" * 17)
    start, end = caught.value.span
    assert (start, end) == (1, 1 + 17 * 5)


def test_a_pattern_that_is_too_long_is_refused():
    with pytest.raises(LimitExceededError) as caught:
        parse("é" * 60, limits=Limits(max_input_bytes=100))
    assert caught.value.limit == "max_input_bytes"
    assert caught.value.given == 120


def test_too_many_nodes_are_refused():
    with pytest.raises(LimitExceededError) as caught:
        parse("abcd" * 10, "ecma", limits=Limits(max_source_nodes=30))
    assert caught.value.limit == "max_source_nodes"


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:[a-z]|-(?!-)){0,1000000}",
        r"(?:.{0,100000}(?<!\.local)|a)b",
        r"(?:(?!.{0,20}x.{0,20}y).)*z",
        r"(?:(?=.{0,300}x).)*y",
        r"(?<=a.{40})b|.*",
    ],
)
def test_what_unrolls_too_far_is_refused_soon(pattern):
    with fails_after(10), pytest.raises(LimitExceededError) as caught:
        lower(search(parse(pattern, "ecma")), limits=Limits(max_source_nodes=200_000))
    assert caught.value.limit == "max_source_nodes"


# Alternatives.


def test_many_words_are_a_prefix_tree():
    words = [f"item-{i:05}" for i in range(10_000)]
    joined = "|".join(words)
    with fails_after(20):
        for pattern in (joined, f"^(?:{joined})$", rf"\b(?:{joined})\b"):
            term = from_regex(pattern, "ecma")
            assert max([len(t.parts) for t in terms_of(term)]) <= 10
            language = Language(term)
            assert "item-00000" in language
            assert "item-09999" in language
            assert "item-10000" not in language


def test_fixed_text_is_one_literal():
    term = from_regex("naïve – 日本")
    assert isinstance(term, Literal)
    assert term.text == "naïve – 日本".encode()


def test_alternatives_keep_their_language_in_the_tree():
    pattern = "ab|a|abc|b(?:c|cd)?|bcd|[ab]c|ac|(?:ab)*d|"
    language = Language(from_regex(pattern))
    for text in texts("abcd", 5):
        assert (text in language) == (re.fullmatch(pattern, text) is not None), text


# Assertions.


def test_a_short_lookahead_needs_no_intersection():
    for pattern in [r"(?!foo)\w+", r"a\b.*", r"(?:-(?=[a-z])|[a-z]){0,38}", r"(?:(?!\*/)[^])*\*/"]:
        assert not kinds_of(from_regex(pattern, "ecma")) & {And, Not}, pattern


def test_a_long_lookahead_is_an_intersection():
    term = from_regex(r"(?=.*\d)(?!.*secret).{8,64}")
    assert {And, Not} <= kinds_of(term)
    assert Rule not in kinds_of(term)


def test_anchors_alone_leave_no_trace():
    assert isinstance(lower(search(parse("^abc$", "ecma"))), Literal)
    assert isinstance(from_regex("^abc$", "ecma"), Literal)


def test_long_lookbehind_after_a_plain_part():
    language = Language(lower(search(parse(r"^.{2,250}(?<!\.lan|\.local)x?$", "ecma"))))
    for text in ["ab", "a.lanx.", "a.loca", "abx", "a.lan.", "x" * 250]:
        assert text in language
    for text in ["a", ".lan", "a.local", "x" * 252]:
        assert text not in language
    # a.localx: the x may be read by the counted part.
    assert "a.localx" in language


def test_a_loop_with_lookahead_is_a_regular_rule_and_ill_formed_text_stays_out():
    term = from_regex(r"(?:(?!foo).)*bar", "ecma")
    rules = [t for t in terms_of(term) if isinstance(t, Rule)]
    assert rules
    assert all(r.regular for r in rules)
    language = Language(term)
    assert "xxbar" in language
    assert "foobar" not in language
    assert language.after(b"\xff") == 0
    assert language.after("é".encode()) != 0
    assert language.after(b"\xed\xa0") == 0


def test_a_complement_stays_within_well_formed_text():
    language = Language(from_regex(r"(?!.*x)[^]*|(?<!a[^]*)b", "ecma"))
    assert "y" in language
    assert "xb" not in language
    for data in (b"\xff", b"\xc0", b"\xed\xa0", b"y\x80"):
        assert language.after(data) == 0


@pytest.mark.parametrize(
    "pattern",
    [
        r"a\bb",
        r"a(?=b)",
        r"(?=a)b",
        r"(?!a*)b",
        r"b(?<=a)",
        r"$a",
        r"a^",
        r"(?=.*a)[bc]*",
        r"\Ba|a\B",
    ],
)
def test_what_contradicts_itself_matches_nothing(pattern):
    language = Language(from_regex(pattern, "ecma"))
    if pattern == r"\Ba|a\B":
        assert "a" not in language
    assert language.root == 0


# Alphabets.


@cache
def hexadecimal(lo: int, hi: int, digits: int) -> Term:
    """Numbers lo..hi with a fixed number of digits, in upper or lower case."""
    if digits == 0:
        return literal(b"")
    step = 16 ** (digits - 1)
    parts = []
    for digit in range(lo // step, hi // step + 1):
        first, last = max(lo, digit * step), min(hi, digit * step + step - 1)
        letter = {f"{digit:x}", f"{digit:X}"}
        head = alt([byte_range(ord(c), ord(c)) for c in sorted(letter)])
        parts.append(cat(head, hexadecimal(first - digit * step, last - digit * step, digits - 1)))
    return alt(parts)


class Percent:
    """Raw UTF-8, or a percent sign and six hexadecimal digits; a percent sign always so."""

    def __init__(self) -> None:
        self._text = star(self.spell(CodepointSet.ANY))

    def spell(self, points: CodepointSet) -> Term:
        raw = UTF8.spell(points - CodepointSet.of("%"))
        escapes = [cat(literal(b"%"), hexadecimal(lo, hi, 6)) for lo, hi in points.ranges]
        return alt([raw, *escapes])

    @property
    def text(self) -> Term:
        return self._text


PERCENT = Percent()


def spellings(text: str) -> list[bytes]:
    """All raw, all escaped, and a mixture."""
    raw = [b"%000025" if c == "%" else c.encode() for c in text]
    escaped = [f"%{ord(c):06x}".encode() for c in text]
    mixed = [e.upper() if i % 2 else r for i, (r, e) in enumerate(zip(raw, escaped, strict=True))]
    return [b"".join(s) for s in (raw, escaped, mixed)]


@pytest.mark.parametrize(
    "pattern",
    [
        r"a+b?",
        r"[^a]{1,2}",
        r"\ba\b.*|%",
        r"(?!.*aa)[ab%]*",
        r"(?=.*a)[^b]*",
        r"(?:(?!ab).)*b",
        r".*(?<!ab)",
        r"(?:a(?=b)|b|é(?<=bé))*",
        r"^a$|\Bb",
    ],
)
def test_another_alphabet_spells_the_same_texts(pattern):
    language = Language(lower(parse(pattern, "ecma"), PERCENT))
    plain = Language(from_regex(pattern, "ecma"))
    for text in texts("abé%", 4):
        expected = text in plain
        for data in spellings(text):
            state = language.after(data)
            accepted = state != 0 and language.store.nullable(state)
            assert accepted == expected, (text, data)
    for data in (b"%", b"%00006", b"%00d800", b"%110000", b"\xff", b"a%g"):
        state = language.after(data)
        assert state == 0 or not language.store.nullable(state), data


# The front door of the room.


def test_flags_may_be_given_beside_the_pattern():
    assert "A\nB" in Language(from_regex("a.b", flags="is"))
    assert "é" not in Language(from_regex(r"\w", flags="a"))
    assert "A\nB" in Language(from_regex("a.b", "ecma", flags="is"))
    assert "aXyz" in Language(from_regex(r"a[\p{L}--\q{b}]+", "ecma", flags="v"))
    assert "A\r" in Language(from_regex("a .", "rust", flags="ix"))
    assert "a\r" not in Language(from_regex("a.", "rust", flags="R"))
    for dialect, letters in (("python", "ismxau"), ("ecma", "imsuv"), ("rust", "imsUuRx")):
        with pytest.raises(GrammarError, match=letters):
            parse("a", dialect, flags="q")
    with pytest.raises(GrammarError, match="'python', 'ecma' or 'rust'"):
        parse("a", "perl")


def test_a_message_has_thing_place_expectation_and_way_out():
    with pytest.raises(RegexSyntaxError) as caught:
        parse("x|a{1,2}{1,2}")
    assert str(caught.value).split("\n") == [
        "multiple repeat: '{1,2}' follows another quantifier",
        "  line 1, column 9:",
        "  x|a{1,2}{1,2}",
        "          ^^^^^",
        "hint: put the repeated part into a group (?:...)",
    ]
