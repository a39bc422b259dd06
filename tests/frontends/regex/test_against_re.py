"""The dialect "python" against `re`: generated patterns, on all texts up to a length."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, assume, given, settings

from constrain.algebra.reference import Reference
from constrain.algebra.terms import Term
from constrain.errors import GrammarError, RegexSyntaxError, UnsupportedFeatureError
from constrain.frontends.regex import from_regex, lower, parse, search
from tests.frontends.regex.languages import Language, texts
from tests.frontends.regex.patterns import LETTERS, patterns

TEXTS = texts(LETTERS, 3) + texts("ab\n", 5)
slow_is_fine = settings(
    deadline=None, max_examples=500, suppress_health_check=[HealthCheck.filter_too_much]
)


def compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error:
        with pytest.raises(RegexSyntaxError):
            parse(pattern)
        assume(False)
        raise


def found_anywhere(pattern: re.Pattern[str], text: str) -> bool:
    """`pattern.search(text)`, without its shortcuts.

    Up to Python 3.13, (?a:\\W) does not find é: the shortcut forgets the flag of the group.
    """
    return any(pattern.match(text, start) for start in range(len(text) + 1))


def lowered(pattern: str, *, anywhere: bool = False) -> Term | None:
    """The term, or None for an atomic group that is refused; nothing else may be."""
    try:
        node = parse(pattern)
        return lower(search(node) if anywhere else node)
    except UnsupportedFeatureError as error:
        if not error.reason.startswith(("atomic group", "possessive quantifier")):
            raise
        return None


@slow_is_fine
@given(patterns)
def test_full_matches_are_those_of_re(pattern):
    expected = compiled(pattern)
    term = lowered(pattern)
    if term is None:
        return
    language = Language(term)
    for text in TEXTS:
        assert (text in language) == (expected.fullmatch(text) is not None), (pattern, text)
    assert list(language.dead_ends()) == []


@slow_is_fine
@given(patterns)
def test_search_is_that_of_re(pattern):
    expected = compiled(pattern)
    term = lowered(pattern, anywhere=True)
    if term is None:
        return
    language = Language(term)
    for text in TEXTS:
        assert (text in language) == found_anywhere(expected, text), (pattern, text)


@settings(slow_is_fine, max_examples=60)
@given(patterns)
def test_the_slow_engine_reads_the_term_the_same(pattern):
    compiled(pattern)
    term = lowered(pattern)
    if term is None:
        return
    engine, language = Reference(), Language(term)
    node = engine.intern(term)
    for text in texts(LETTERS, 2):
        assert engine.accepts(node, text.encode()) == (text in language)


# Each line: constructs that have bitten engines, tried on all texts over their letters.
CASES = [
    (r"a+?b()c*?", "abc"),
    (r"a{,3}", "ab"),
    (r"a{2,}|b{}|b{1,x}|a{ 1}", "ab{}"),
    (r"(?i)straße|ſ", "sſSß"),
    (r"^$", "\na"),
    (r"a$", "\na"),
    (r"a$\n?", "\na"),
    (r"a$\n", "\na"),
    (r"(?m)^a$", "\na"),
    (r"(?m)(?:^a?$\n?)+", "\na"),
    (r"\Aa\Z", "\na"),
    (r"(?s).\n|.", "\na"),
    (r"\b\w+\b.\b\w+\b", "a "),
    (r"\B.\B", "a "),
    (r"(?:\Ba\B|b)*", "ab"),
    (r"(?:(?!ab).)*b", "abc"),
    (r"(?!.*aa)[ab]+", "ab"),
    (r"(?=.*a)(?=.*b).{2,4}", "abc"),
    (r"(?:a(?=b)|b(?!b))+", "ab"),
    (r"(?:(?=.*b)a|b)*", "ab"),
    (r"(?:(?=.*b).)*a?", "ab"),
    (r"(?:(?=(?:ab)*c)[abc])+b*", "abc"),
    (r"(?<=a)b|a(?<!b)", "ab"),
    (r"(?:(?<=ab)a|(?<!ab)b|a(?=b))*", "ab"),
    (r"[ab]{2,4}(?<=ab)b?", "ab"),
    (r".{1,3}(?<!ab)", "abc"),
    (r"(?:[ab]{2}(?<!aa))*", "ab"),
    (r"(?<=\ba)b|ab(?<=\bab)", "ab "),
    (r"(?:a|b(?<=ab))*(?<=a(?=$)|b(?=$))", "ab"),
    (r"a(?<!^a)|b(?<=^b)", "ab"),
    (r"(?>a|ab)c?|(?>ab|a)b", "abc"),
    (r"a*+ab?|a?+b|a{1,2}+b", "ab"),
    (r"(?>a*?b)b|(?>a*b)a", "ab"),
    (r"(?:(?>a+)b?)*a", "ab"),
    (r"(?#x)a(?#(y)*", "a"),
    ("(?x) a  # one\n | [ b] \\  b", "ab "),
    (r"(?i:a)b|(?-i:B)", "abAB"),
    (r"(?i)(?-i:a)b", "abAB"),
    (r"(?a)\w|(?u:\w)b", "abé"),
    (r"[]a]|[^]a]b|[a\]-]c", "ab]c-"),
    (r"[a-]|[\w-]b|[-a]c", "ab-c"),
    (r"\141|\x62|\u0063|\U00000061b|\N{LATIN SMALL LETTER B}b|[\141\0]c|\0", "abc\0"),
    (r"(a)(?:b)(?P<x>c)", "abc"),
    (r"(|a)+b|(a|)(?:|b)*", "ab"),
    (r"(?:a?){3}b|(?:a{0,2}){2,3}", "ab"),
    (r"(?:a|ab)(?:c|bcd)(?:d*)", "abcd"),
    (r"(?=a)*b|(?:(?=a)){2}a", "ab"),
    (r"(^)*a|(?:$)?", "a\n"),
]


@pytest.mark.parametrize(("pattern", "alphabet"), CASES)
def test_case_by_case(pattern, alphabet):
    language = Language(from_regex(pattern))
    anywhere = Language(lower(search(parse(pattern))))
    expected = re.compile(pattern)
    for text in texts(alphabet, 6 if len(alphabet) < 4 else 5):
        assert (text in language) == (expected.fullmatch(text) is not None), text
        assert (text in anywhere) == found_anywhere(expected, text), text
    assert list(language.dead_ends()) == []


# What `re` rejects, and where it says the fault is.
REJECTED = [
    *[
        "a**",
        "a{1,2}{1,2}",
        "a+{2}",
        "a?*",
        "*a",
        "+",
        "?",
        "{2}",
        "|*",
        "(*a)",
        "^*",
        r"\b+",
        "$?",
    ],
    *[
        "a{3,2}",
        "(",
        "(a",
        "(?:a",
        "a)",
        "(?",
        "(?P",
        "(?P<",
        "(?P<a",
        "(?P<1>a)",
        "(?P<a>x)(?P<a>y)",
    ],
    *[
        "(?<",
        "(?<a>b)",
        "(?Xa)",
        "(?i",
        "(?i-",
        "(?i-:a)",
        "(?-i)a",
        "a(?i)",
        "(?ia:b)(",
        "(?i-i:a)",
    ],
    *[
        "(?au:x)",
        "(?-a:x)",
        "(?L)a",
        "(?#a",
        "(?P=x)",
        "(?P>x)",
        "[a",
        "[]",
        "[^]",
        "[b-a]",
        r"[\w-a]",
    ],
    *[
        "[",
        "\\",
        r"\q",
        r"[\q]",
        r"\x1",
        r"\u12",
        r"\U0011000g",
        r"\U00110000",
        r"\N",
        r"\N{no such}",
    ],
    *[
        r"\1",
        r"\9",
        r"(a\1)",
        r"\400",
        r"[\400]",
        r"[\8]",
        "(?<=a*)b",
        "(?<=a|bc)",
        "(?<!a?)",
        "(?a)(?u)b",
    ],
    *["a{99999999999}", r"\N{}", "(?P<a", "(?P=a", r"[a-\d]"],
]


@pytest.mark.parametrize("pattern", REJECTED)
def test_what_re_rejects_is_rejected(pattern):
    with pytest.raises((re.error, OverflowError, ValueError)) as theirs:
        re.compile(pattern)
    with pytest.raises(RegexSyntaxError) as caught:
        parse(pattern)
    assert caught.value.source == pattern
    start, end = caught.value.span
    place = getattr(theirs.value, "pos", None)
    assert place is None or start <= place <= end
    assert "^" in str(caught.value)


REFUSED = [
    (r"(a)\1", r"\1", "back-reference"),
    (r"(?P<x>a)(?P=x)", "(?P=x)", "back-reference"),
    (r"(a)?(?(1)b|c)", "(?(1)", "conditional group"),
    (r"x(?>a*|b)*+c", "(?>a*|b)*+", "possessive quantifier"),
    (r"x(?>a{1,2}b?)c", "(?>a{1,2}b?)", "atomic group"),
]


@pytest.mark.parametrize(("pattern", "shown", "named"), REFUSED)
def test_what_cannot_be_honoured_is_refused_by_name(pattern, shown, named):
    with pytest.raises(UnsupportedFeatureError, match=named) as caught:
        lower(parse(pattern))
    start, end = caught.value.span
    assert pattern[start:end] == shown
    assert caught.value.hint
    assert isinstance(caught.value, GrammarError)
