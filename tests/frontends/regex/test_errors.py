"""Messages: what is wrong, a caret under the place, what was expected, and the way out."""

from __future__ import annotations

import pytest

from constrain.errors import GrammarError, RegexSyntaxError
from constrain.frontends.regex import parse
from tests.frontends.regex import test_ecma, test_rust

PYTHON = [
    (r"a**", (2, 3)),
    (r"a{1,2}{1,2}", (6, 11)),
    (r"a+{2}", (2, 5)),
    (r"a?*", (2, 3)),
    (r"*a", (0, 1)),
    (r"+", (0, 1)),
    (r"?", (0, 1)),
    (r"{2}", (0, 3)),
    (r"|*", (1, 2)),
    (r"(*a)", (1, 2)),
    (r"^*", (1, 2)),
    (r"\b+", (2, 3)),
    (r"$?", (1, 2)),
    (r"a{3,2}", (1, 6)),
    (r"(", (0, 1)),
    (r"(a", (0, 1)),
    (r"(?:a", (0, 1)),
    (r"a)", (1, 2)),
    (r"(?", (0, 2)),
    (r"(?P", (0, 3)),
    (r"(?P<", (0, 4)),
    (r"(?P<a", (0, 5)),
    (r"(?P<1>a)", (4, 5)),
    (r"(?P<a>x)(?P<a>y)", (8, 14)),
    (r"(?<", (0, 3)),
    (r"(?<a>b)", (0, 4)),
    (r"(?Xa)", (0, 3)),
    (r"(?i", (3, 4)),
    (r"(?i-", (4, 5)),
    (r"(?i-:a)", (4, 5)),
    (r"(?-i)a", (0, 5)),
    (r"a(?i)", (1, 5)),
    (r"(?ia:b)(", (7, 8)),
    (r"(?i-i:a)", (0, 6)),
    (r"(?au:x)", (0, 5)),
    (r"(?-a:x)", (0, 5)),
    (r"(?L)a", (0, 4)),
    (r"(?#a", (0, 1)),
    (r"(?P=x)", (0, 6)),
    (r"(?P>x)", (0, 4)),
    (r"[a", (0, 1)),
    (r"[]", (0, 1)),
    (r"[^]", (0, 1)),
    (r"[b-a]", (1, 4)),
    (r"[\w-a]", (1, 5)),
    (r"[", (0, 1)),
    ("\\", (0, 1)),
    (r"\q", (0, 2)),
    (r"[\q]", (1, 3)),
    (r"\x1", (0, 3)),
    (r"\u12", (0, 4)),
    (r"\U0011000g", (0, 9)),
    (r"\U00110000", (0, 10)),
    (r"\N", (0, 2)),
    (r"\N{no such}", (0, 11)),
    (r"\1", (0, 2)),
    (r"\9", (0, 2)),
    (r"(a\1)", (2, 4)),
    (r"\400", (0, 4)),
    (r"[\400]", (1, 5)),
    (r"[\8]", (1, 3)),
    (r"(?<=a*)b", (0, 7)),
    (r"(?<=a|bc)", (0, 9)),
    (r"(?<!a?)", (0, 7)),
    (r"(?a)(?u)b", (4, 8)),
    (r"a{99999999999}", (1, 14)),
    (r"\N{}", (0, 4)),
    (r"(?P=a", (0, 5)),
    (r"[a-\d]", (1, 5)),
    (r"[a-\x00]", (1, 7)),
    ("x\ny(", (3, 4)),
]
V_CLASSES = [
    (r"[a&&b--c]", (5, 7), "one kind of operator"),
    (r"[&&a]", (1, 3), "between two sets"),
    (r"[a&&]", (4, 5), "a set is needed"),
    (r"[a&&&b]", (2, 5), "&&&"),
    (r"[a--bc]", (5, 6), "a set follows another"),
    (r"[a-z--b]", (4, 6), "one kind of operator"),
    (r"[a--b-c]", (4, 6), "a range in a class"),
    (r"[^\q{ab}]", (0, 9), "a negated class"),
    (r"[\q{ab]", (6, 7), "in a class"),
    (r"[a||b]", (2, 3), "in a class"),
    (r"[(]", (1, 2), "in a class"),
    (r"[a!!]", (2, 4), "in a class"),
    (r"[a-]", (3, 4), "in a class"),
    (r"[z-a]", (1, 4), "out of order"),
    (r"[a[b]", (0, 1), "unterminated class"),
    (r"[\p{RGI_Emoji}]", (1, 14), "a property of texts"),
]


def shown_under(pattern: str, error: GrammarError) -> str:
    """What the carets of a message stand under."""
    lines = str(error).split("\n")
    at = next(i for i, line in enumerate(lines) if line.strip() and set(line) <= set(" ^"))
    return lines[at - 1][lines[at].index("^") : len(lines[at])]


@pytest.mark.parametrize(("pattern", "span"), PYTHON)
def test_the_place_in_a_pattern_of_python(pattern, span):
    with pytest.raises(RegexSyntaxError) as caught:
        parse(pattern)
    assert caught.value.span == span
    assert shown_under(pattern, caught.value) == pattern[slice(*span)]


@pytest.mark.parametrize(("pattern", "span", "reason"), V_CLASSES)
def test_the_place_in_a_class_of_sets(pattern, span, reason):
    with pytest.raises(GrammarError, match=reason) as caught:
        parse(pattern, "ecma", flags="v")
    assert caught.value.span == span
    assert shown_under(pattern, caught.value) == pattern[slice(*span)]


ALL = (
    [("python", pattern) for pattern, _ in PYTHON]
    + [("ecma", pattern) for pattern, _ in test_ecma.INVALID]
    + [("rust", pattern) for pattern, _, _ in test_rust.INVALID]
)


@pytest.mark.parametrize(("dialect", "pattern"), ALL)
def test_every_message_has_a_way_out(dialect, pattern):
    with pytest.raises(RegexSyntaxError) as caught:
        parse(pattern, dialect)
    assert caught.value.hint
    start, end = caught.value.span
    assert 0 <= start < end <= len(pattern) + 1
    assert shown_under(pattern, caught.value) == pattern[start:end]


def test_the_line_of_a_long_pattern():
    with pytest.raises(RegexSyntaxError) as caught:
        parse("(?x) a # one\n b\n  [z-a]" + "x" * 500, "rust")
    assert str(caught.value).split("\n")[1:4] == [
        "  line 3, column 4:",
        "    [z-a]" + "x" * 56 + "...",
        "     ^^^",
    ]
