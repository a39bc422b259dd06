"""The dialect "rust": what each construct means, and what is refused."""

from __future__ import annotations

import pytest

from constrain.algebra.codepoints import CodepointSet
from constrain.errors import LimitExceededError, RegexSyntaxError, UnsupportedFeatureError
from constrain.frontends.regex import from_regex, lower, parse, search
from constrain.frontends.regex.nodes import Chars
from constrain.frontends.regex.unicode_names import BINARY, BREAKS, MORE_BINARY, SCRIPTS
from constrain.frontends.regex.unicode_properties import loose_property_set, property_set
from tests.frontends.regex.languages import Language


def points_of(pattern: str) -> CodepointSet:
    node = parse(pattern, "rust")
    assert isinstance(node, Chars)
    return node.points


# Pattern, texts it matches as a whole, texts it does not.
MATCHES = [
    (r"\d\w\s", ["٣é\u2003", "1_ "], ["²é ", "1- ", "1a\u200b"]),
    (r"\D\W\S", ["a-é"], ["٣-é", "aéé", "a- "]),
    (r".", ["a", "\r", "\u2028", "\x85"], ["\n", "", "ab"]),
    (r"(?s).|(?R:.)", ["\n", "\r"], [""]),
    (r"(?R).", ["a"], ["\r", "\n"]),
    (r"a$", ["a"], ["a\n"]),
    (r"(?m)a$\n^b", ["a\nb"], ["a\n", "a\r\nb"]),
    (r"(?mR)a$\r\n^b", ["a\r\nb"], ["a\nb"]),
    (r"(?mR)a\r$\nb|a\r^\nb", [], ["a\r\nb"]),
    (r"\Aa\z", ["a"], ["a\n", ""]),
    (r"\bé\b|\Ba\B", ["é"], ["a"]),
    (r"(?-u:\b)é", [], ["é"]),
    (r"\<a+\> \b{start}b+\b{end}", ["a b", "aa bb"], ["a  b", "ab"]),
    (r"a\b{start}b|a\b{end}b", [], ["ab"]),
    (r"\b{start-half}a-\b{end-half}", ["a-"], ["aa-", "-"]),
    (r"a**b{2}{3}^*$+", ["bbbbbb", "abbbbbb"], ["", "bb"]),
    (r"(?U)a*b+?", ["aab", "b"], [""]),
    (r"(a)(?:b)(?<c_1>c)(?P<é.[0]>d)", ["abcd"], ["abc"]),
    (r"a{2}b{1,}c{0,3}", ["aab", "aabbc"], ["ab"]),
    (r"a{ 2 , 3 }", ["aa", "aaa"], ["a", "aaaa"]),
    (r"|a|", ["", "a"], ["aa"]),
    (r"()|x", ["", "x"], []),
    (r"\x41\x{42}\u0043\u{44}\U00000045\U{46}", ["ABCDEF"], []),
    (r"\a\f\t\n\r\v", ["\a\f\t\n\r\v"], []),
    (r"\.\+\*\?\(\)\|\[\]\{\}\^\$\#\&\-\~\/\@\ \"", [".+*?()|[]{}^$#&-~/@ \""], []),
    (r"a]b}", ["a]b}"], []),
    # Flags.
    (r"(?i)ſK\u{212A}ß", ["SKkẞ", "skKß"], ["SKKSS"]),
    (r"a(?i)b|c", ["ab", "aB", "C"], ["Ab"]),
    (r"(?:a(?i)b)c", ["aBc"], ["aBC"]),
    (r"(?i-s:A)(?-i)b", ["ab"], ["aB"]),
    (r"(?i-u)é", ["é"], ["É"]),
    ("(?x) a b # c\n [ d\te ] \\  \\x 4 1 {2}", ["abd AA"], ["ab AA"]),
    (r"(?x:a b)c d", ["abc d"], ["abcd"]),
    ("(?x)a{2} ?b+ ?", ["aab", "aa"], ["ab"]),
    # Classes.
    (r"[]a]|[^]a]b|[-a]c|[a-]d", ["]", "xb", "-c", "-d"], ["]b"]),
    (r"[a-c&&b-d]", ["b", "c"], ["a", "d"]),
    (r"[a-c--b]", ["a", "c"], ["b", "-"]),
    (r"[a-c~~b-d]", ["a", "d"], ["b", "c"]),
    (r"[a-z&&[^aeiou]--x-z]", ["b"], ["a", "y"]),
    (r"[^a-c&&b]", ["a", "é"], ["b"]),
    (r"[a[b[^\x00-b\x{64}-\x{10FFFF}]]]", ["a", "b", "c"], ["d"]),
    (r"[[:alpha:][:^ascii:]]", ["a", "é"], ["1"]),
    (r"[[:word:]&&[:^digit:]]", ["a", "_"], ["1", "é"]),
    (r"[[:foo:]]", [":", "f", "o"], ["a"]),
    (r"(?i)[[:upper:]--k]", ["a", "ſ"], ["k", "K", "\u212a"]),
    (r"(?i)[^s]", ["a"], ["s", "S", "ſ"]),
    (r"[\w&&\d\p{Greek}]", ["1", "α"], ["a"]),
    # Properties.
    (r"\pL\PL\p{L}\P{L}", ["é1é1"], ["éééé"]),
    (r"\p{greek}\p{Is_Greek}\p{ g r e e k }", ["ααα"], ["aαα"]),
    (r"\p{sc=Greek}\p{script:grek}\p{gc!=Lu}", ["ααa"], ["ααA"]),
    (r"\p{scx=Deva}\p{Script_Extensions!=Deva}", ["\u0964a"], ["\u0964\u0964"]),
    (r"\p{Lowercase}\p{white-space}\p{Emoji}", ["a 1"], ["A 1"]),
    (r"\p{any}\p{assigned}\p{ascii}", ["\naa"], ["\n\u0378a"]),
    (r"\p{cf}\p{sc}\p{lc}", ["\u00ad$a"], []),
    (r"\p{gcb=CR}\p{Word_Break=Numeric}\p{sb:Sp}", ["\r1 "], ["\n1 "]),
    (r"(?i)\p{Lu}\P{Lu}", ["a1"], ["aa"]),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "accepted", "rejected"), MATCHES)
def test_meaning(pattern, accepted, rejected):
    language = Language(from_regex(pattern, "rust"))
    assert [t for t in accepted if t not in language] == []
    assert [t for t in rejected if t in language] == []


def test_search_finds_a_match_anywhere():
    language = Language(lower(search(parse("^a|b$|c", "rust"))))
    assert [t for t in ["a", "ax\n", "xb", "\nb", "c", "xcx"] if t not in language] == []
    assert [t for t in ["", "xa", "b\n", "\na"] if t in language] == []


# Bytes that are no text.

OVER_BYTES = [
    (r"(?-u)\xff", [b"\xff"], ["ÿ".encode(), b"\xfe"]),
    (r"(?-u)é\xc3", ["é".encode() + b"\xc3"], [b"\xc3\xc3"]),
    (r"(?-u:.)", [b"a", b"\x80"], [b"\n", b"", "é".encode()]),
    (r"(?s-u:.)+", [b"\n\xff", "é".encode()], [b""]),
    (r"(?-u:[^a])\w", b"\xffb,bb".split(b","), [b"ab", b"\xff\xff"]),
    (r"(?-u:\W)é", [b"\xff\xc3\xa9", b" \xc3\xa9"], [b"a\xc3\xa9"]),
    (r"(?-u:\xff|.)\b{start}é", [b"\xff\xc3\xa9"], [b"a\xc3\xa9"]),
    (r"(?i-u)[\xe9k]", [b"\xe9", b"K"], ["é".encode(), b"\xc9"]),
    (r"(?-u:\xff)|[^\x00-\x7F]", [b"\xff", "é".encode()], [b"\xfe", b"a"]),
]


@pytest.mark.parametrize(("pattern", "accepted", "rejected"), OVER_BYTES)
def test_bytes_that_are_no_text(pattern, accepted, rejected):
    language = Language(from_regex(pattern, "rust"))

    def accepts(data: bytes) -> bool:
        state = language.after(data)
        return state != 0 and language.store.nullable(state)

    assert [t for t in accepted if not accepts(t)] == []
    assert [t for t in rejected if accepts(t)] == []


def test_a_search_over_bytes_is_among_bytes():
    language = Language(lower(search(parse(r"(?-u)\xff", "rust"))))
    for data in (b"\xff", b"a\xff\x80", "é".encode() + b"\xff"):
        assert language.store.nullable(language.after(data))
    assert not language.store.nullable(language.after("é".encode()))


def test_bytes_are_refused_where_a_text_is_needed():
    class Json:
        """Some alphabet that is not raw bytes."""

    with pytest.raises(UnsupportedFeatureError, match="no text"):
        lower(parse(r"(?-u)\xff", "rust"), Json())


# Errors.

INVALID = [
    (r"a(?=b)", (1, 4), "no lookaround"),
    (r"(?!a)", (0, 3), "no lookaround"),
    (r"x(?<=a)", (1, 5), "no lookaround"),
    (r"(?<!a)", (0, 4), "no lookaround"),
    (r"(a)\1", (3, 5), "back-reference"),
    (r"\0", (0, 2), "back-reference"),
    (r"(?P=n)", (2, 3), "unknown flag 'P'"),
    (r"(?>a)", (2, 3), "unknown flag '>'"),
    (r"(?#a)", (2, 3), "unknown flag '#'"),
    (r"(?i", (0, 3), "ends in the flags"),
    (r"(?i-i:a)", (4, 5), "stands twice"),
    (r"(?--i)", (3, 4), "a second -"),
    (r"(?i-)", (3, 4), "without flags to turn off"),
    (r"(?)", (0, 3), "nothing else"),
    (r"(?<n>a)(?P<n>b)", (11, 12), "duplicate group name"),
    (r"(?<1>a)", (3, 4), "invalid character in a group name"),
    (r"(?<>a)", (3, 4), "empty group name"),
    (r"(?<n", (3, 4), "without its >"),
    (r"(a", (0, 1), "missing )"),
    (r"a)b", (1, 2), "no group is open"),
    (r"*a", (0, 1), "nothing to repeat"),
    (r"a|?", (2, 3), "nothing to repeat"),
    (r"(?i)+", (4, 5), "nothing to repeat"),
    (r"{2}", (0, 1), "nothing to repeat"),
    (r"a{2,1}", (1, 6), "out of order"),
    (r"a{,3}", (2, 3), "a count is needed"),
    (r"a{x}", (2, 3), "a count is needed"),
    (r"a{2", (1, 3), "without its }"),
    (r"a{2,", (4, 5), "a count is needed"),
    (r"a{99999999999}", (2, 13), "too large"),
    (r"[a", (0, 1), "unclosed class"),
    (r"x[a[b]", (1, 2), "unclosed class"),
    (r"[]", (0, 1), "unclosed class"),
    (r"[z-a]", (1, 4), "out of order"),
    (r"[\w-a]", (1, 3), "not to a set"),
    (r"[a-\w]", (3, 5), "not to a set"),
    (r"[\b]", (1, 3), "an assertion"),
    (r"\q", (0, 2), "unrecognized escape"),
    (r"\Z", (0, 2), "unrecognized escape"),
    (r"\é", (0, 2), "unrecognized escape"),
    ("a\\", (1, 2), "ends after a backslash"),
    (r"\x1", (0, 3), "needs 2 digits, not 1"),
    (r"\xg1", (2, 3), "'g' is no hexadecimal digit"),
    (r"\x{}", (0, 4), "without digits"),
    (r"\x{41", (0, 5), "without its }"),
    (r"\u{d800}", (0, 8), "no code point"),
    (r"\U00110000", (0, 10), "no code point"),
    (r"\p{Foo}", (0, 7), "knows no property"),
    (r"\p{sc=Foo}", (0, 10), "knows no property"),
    (r"\p{Greek", (2, 8), "without its }"),
    (r"\b{foo}", (3, 6), "unknown kind of boundary"),
    (r"\b{start", (2, 8), "without its }"),
    (r"(?-u)\pL", (5, 8), "turned Unicode off"),
    (r"(?-u)[é]", (6, 7), "turned Unicode off"),
]


@pytest.mark.parametrize(("pattern", "span", "reason"), INVALID)
def test_what_is_invalid_is_shown_with_a_caret(pattern, span, reason):
    with pytest.raises(RegexSyntaxError, match=reason.replace("(", r"\(").replace(")", r"\)")) as e:
        parse(pattern, "rust")
    assert e.value.span == span
    shown = str(e.value).split("\n")
    assert shown[1] == f"  line 1, column {span[0] + 1}:"
    assert shown[3].strip() == "^" * max(1, min(span[1], len(pattern)) - span[0])


def test_a_property_without_a_table_is_refused_by_name():
    with pytest.raises(UnsupportedFeatureError, match="Age") as caught:
        parse(r"a\p{Age=3.0}", "rust")
    assert caught.value.span == (1, 12)


def test_nested_classes_are_bounded():
    assert parse("[" * 1_000 + "a" + "]" * 1_000, "rust")
    with pytest.raises(LimitExceededError) as caught:
        parse("[" * 60_000, "rust")
    assert caught.value.limit == "max_nesting"


# Names.


def test_every_name_is_known_in_loose_spelling():
    for names in (BINARY, MORE_BINARY, SCRIPTS):
        for long, short in names.items():
            loose = loose_property_set(f"is {long.upper().replace('_', '-')}", None)
            assert loose, long
            if short != "SC":
                assert loose_property_set(short, None) == loose, long
    for long in BINARY:
        assert loose_property_set(long, None) == property_set(long, None)
    for kind, values in BREAKS.items():
        parts = [loose_property_set(kind, value) for value in values]
        assert sum(map(len, parts)) == len(CodepointSet.ANY)
        assert [len(p) for p in parts] == [
            len(loose_property_set(kind, s)) for s in values.values()
        ]


def test_a_short_name_may_be_a_category_before_a_property():
    assert points_of(r"\p{Sc}") == property_set("Currency_Symbol", None)
    assert points_of(r"\p{cf}") == property_set("Format", None)
    assert points_of(r"\p{LC}") == property_set("Cased_Letter", None)
    assert loose_property_set("isc", None) is None
    assert loose_property_set("Cs", None) is None
