"""What is refused: with the place, the expectation and the way out."""

from __future__ import annotations

import contextlib

import pytest

from constrain import (
    Grammar,
    GrammarError,
    GrammarSyntaxError,
    LimitExceededError,
    Limits,
    UnsatisfiableError,
    UnsupportedFeatureError,
)
from tests.patience import fails_after

WRONG = [
    ("", "a grammar needs at least one rule", 1),
    (" \n# nothing\n", "a grammar needs at least one rule", 1),
    ('route ::= "a"', "the grammar has no rule 'root'\nhint: did you mean 'route'?", None),
    ('root ::= itme\nitem ::= "a"', "there is no rule 'itme'", 10),
    ("root ::= xyz", 'hint: literals are in quotes: "xyz"', 10),
    ('{"type": "array"}', "expected the name of a rule, found '{'", 1),
    ('{"type": "array"}', "use Grammar.from_json_schema", 1),
    ('root = "a"', "expected ::= after the name 'root', found '='", 6),
    ('root = "a"', "hint: write ::=", 6),
    ('root := "a"', "hint: write ::=", 6),
    ('// text\nroot ::= "a"', "hint: comments begin with #", 1),
    ('%ignore x\nroot ::= "a"', "hint: there are no directives", 1),
    ('root: "a"', "expected ::= after the name 'root', found ':'", 5),
    ('root ::= "a', "the literal that begins here is not closed", 10),
    ("root ::= [a", "the class that begins here is not closed", 10),
    ("root ::= [a-", "the class that begins here is not closed", 10),
    ('root ::= ("a"', "missing ), the group that begins here is not closed", 10),
    ('root ::= ("a"\nx ::= "b"', "missing ), the group that begins here is not closed", 10),
    ('root ::= "a")', "unbalanced ): no group is open here", 13),
    ("root ::= 'a'", "hint: literals are in double quotes", 10),
    ('root ::= "a";', "hint: a rule ends with its line", 13),
    ('root ::= "a", "b"', "hint: parts follow one another without a comma", 13),
    ('root ::= "a" // b', "hint: comments begin with #", 14),
    ('root ::= "a" x ::= "b"', "rule 'x' begins in the middle of a line", 14),
    ('root ::= "a"\nroot ::= "b"', "rule 'root' is defined twice, first in line 1", 1),
    ("root ::= *", "nothing to repeat before '*'", 10),
    ('root ::= "a" | +', "nothing to repeat before '+'", 16),
    ('root ::= "a"{2,1}', "the counts of '{2,1}' are out of order", 13),
    ('root ::= "a"{,3}', "hint: write {0,m} for {,m}", 14),
    ('root ::= "a"{x}', "expected a count, found 'x'", 14),
    ('root ::= "a"{1', "expected } or a comma, found the end of the grammar", 15),
    ('root ::= "a"{1;', "expected } or a comma, found ';'", 15),
    ('root ::= "a"{9999999999999999999}', "has more than 18 digits", 14),
    ("root ::= [z-a]", "the range 'z-a' is out of order", 11),
    ("root ::= []", "the class matches no character", 10),
    (r"root ::= [\ud800]", "the class matches no character", 10),
    (r'root ::= "\d+"', r"there is no \d, \w or \s", 11),
    (r'root ::= "\q"', r"unknown escape '\\q'", 11),
    (r'root ::= "\x4"', r"\x needs 2 hexadecimal digits", 11),
    (r'root ::= "\u12 4"', r"\u needs 4 hexadecimal digits", 11),
    (r'root ::= "\U00110000"', "is past U+10FFFF", 11),
    (r'root ::= "\ud83d\ude00"', "U+D83D is a surrogate", 11),
    ('root ::= Substring("a\ud800")', "Substring: U+D800 is a surrogate", 20),
    (r'root ::= TagDispatch(("\udc00", root))', "TagDispatch: U+DC00 is a surrogate", 22),
    ('root ::= TagDispatch(excludes=("\udc00"))', "TagDispatch: U+DC00 is a surrogate", 31),
    ('root ::= "\\', "unknown escape", 11),
    ('root ::= "a\0b"', "a NUL byte in a grammar", 12),
    ("root ::= <think", "the token that begins here is not closed", 10),
    ("root ::= <>", "a token needs a name or an id", 10),
    ("root ::= <[x]>", "expected the id of a token, found 'x'", 12),
    ("root ::= <[1>", "expected ]>, found '>'", 13),
    ('root ::= !"a"', "expected a token <text> or <[id]> after !", 11),
    ("a.b ::= [x]", "hint: names are made of letters, digits, - and _", 2),
    ('root ::= (=("a")) "b"', "nothing may follow a lookahead", 19),
    ("root[lazy, lazy] ::= [x]", "the option 'lazy' comes twice", 12),
    ('root ::= Regex("[a")', "", None),
    ("root ::= Regex()", "Regex needs one pattern", 10),
    ('root ::= Regex("a", flags="x")', "there is no flag 'x'", 27),
    ('root ::= Regex("a", foo=1)', "Regex has no option 'foo'", 25),
    ("root ::= Token()", "Token needs the id of a token", 10),
    ('root ::= Token("a")', "Token: expected the id of a token, a whole number", 16),
    ("root ::= Token(1", "expected ) or a comma, found the end of the grammar", 17),
    ('root ::= TagDispatch("a")', "expected a pair of a trigger and the name of a rule", 22),
    ('root ::= TagDispatch(("", root))', "TagDispatch: a tag must not be empty", 22),
    ('root ::= TagDispatch(("a", rot))', "there is no rule 'rot'", 28),
    ('root ::= TagDispatch(("ab", root), excludes=("a",))', "begins with a text that is excl", 22),
    ("root ::= TokenTagDispatch((3, root), excludes=(3,))", "3 is a trigger and excluded", 27),
]


@pytest.mark.parametrize(("text", "message", "column"), WRONG, ids=range(len(WRONG)))
def test_errors_say_what_where_and_what_to_do(text, message, column):
    with pytest.raises(GrammarError) as caught:
        Grammar.from_gbnf(text)
    shown = str(caught.value)
    assert message in shown
    if column is not None:
        assert f"column {column}:" in shown
        assert type(caught.value) is GrammarSyntaxError
        assert caught.value.source == text


def test_the_caret_stands_under_the_place():
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_gbnf('root ::= item\n\nitem ::= "a" itm "b"\n')
    assert str(caught.value) == (
        "there is no rule 'itm'\n"
        "  line 3, column 14:\n"
        '  item ::= "a" itm "b"\n'
        "               ^^^\n"
        "hint: did you mean 'item'?"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("root ::= root", "rule 'root' can never finish"),
        ('root ::= "a" root', "every way through it needs 'root' again"),
        ('root ::= "x" a\na ::= b\nb ::= "(" a ")"', "'a' needs 'b' needs 'a' again"),
        ('root ::= Regex("a(?=b)c")', "something in it matches no text"),
    ],
)
def test_rules_that_never_finish_are_named(text, message):
    with pytest.raises(UnsatisfiableError) as caught:
        Grammar.from_gbnf(text)
    assert message in str(caught.value)
    assert "line 1, column 1" in str(caught.value)


def test_rules_that_never_finish_and_are_not_needed_are_left_out():
    grammar = Grammar.from_gbnf('root ::= "a" | "b" never\nnever ::= "c" never')
    assert grammar.accepts(b"a")
    assert grammar.first_rejection(b"b").offset == 0


@pytest.mark.parametrize(
    "option", ["max_tokens=3", "max_chars=3", "capture", 'stop_capture="x"', "temperature=1"]
)
def test_options_that_cannot_be_honoured_are_refused_by_name(option):
    with pytest.raises(UnsupportedFeatureError, match=option.split("=")[0]):
        Grammar.from_gbnf(f'root[{option}] ::= "a"')


@pytest.mark.parametrize(
    "text",
    [
        'root[lazy] ::= "a" root "b" | "c"',
        'root[lazy] ::= "a" x\nx[lazy] ::= "b"',
        'root[lazy] ::= "a" root | "b"',
        "root[lazy] ::= <think>",
    ],
)
def test_lazy_rules_that_are_not_regular_are_refused(text):
    with pytest.raises(UnsupportedFeatureError, match="lazy rule 'root'"):
        Grammar.from_gbnf(text)


def _chain(length: int, rule: str) -> str:
    rules = [rule.format(i, i + 1) for i in range(length)]
    return "root ::= r0\n" + "".join(rules) + f'r{length} ::= "c"\n'


@pytest.mark.parametrize(
    ("text", "limits", "limit"),
    [
        ("root ::= " + "(" * 60_000 + '"a"' + ")" * 60_000, Limits(), "max_nesting"),
        ("root ::= " + "(" * 60_000, Limits(), "max_nesting"),
        ("root ::= " + "(" * 5_000 + '"a"' + ")?" * 5_000, Limits(), "max_nesting"),
        ('root ::= "' + "a" * 1000 + '"', Limits(max_input_bytes=100), "max_input_bytes"),
        ("root ::= " + '"a" ' * 1000, Limits(max_source_nodes=100), "max_source_nodes"),
        (_chain(3_000, 'r{} ::= r{} "a" | "b"\n'), Limits(), "max_nesting"),
    ],
    ids=["groups", "open groups", "optional groups", "long", "many", "beginnings"],
)
def test_limits_are_named(text, limits, limit):
    with fails_after(10), pytest.raises(LimitExceededError) as caught:
        Grammar.from_gbnf(text, limits=limits)
    assert caught.value.limit == limit


def test_nesting_up_to_the_limit_works():
    depth = 1_900
    grammar = Grammar.from_gbnf("root ::= " + '("a" ' * depth + ")?" * depth)
    assert grammar.accepts(b"a" * depth)
    assert grammar.accepts(b"")
    assert not grammar.accepts(b"a" * (depth + 1))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("r{} ::= r{}\n", b"c"),
        ('r{} ::= r{} | "b"\n', b"b"),
        ('r{} ::= "a" r{} | "b"\n', b"aaab"),
    ],
    ids=["names", "unions", "right"],
)
def test_long_chains_of_rules(rule, text):
    assert Grammar.from_gbnf(_chain(5_000, rule)).accepts(text)


def test_many_rules_that_begin_with_each_other_behind_what_may_be_empty():
    n = 30
    rules = [
        f"r{i} ::= " + " | ".join([f'r{j}? r{(i + j) % n} "a"?' for j in range(n)]) + ' | "b"\n'
        for i in range(n)
    ]
    grammar = Grammar.from_gbnf("root ::= r0\n" + "".join(rules))
    assert grammar.accepts(b"baaabab")
    assert not grammar.accepts(b"ab")


def test_many_quantifiers_are_one_repeat():
    grammar = Grammar.from_gbnf('root ::= "a"' + "+" * 20_000)
    assert grammar.accepts(b"aaa")
    assert not grammar.accepts(b"")


def test_only_text_is_read():
    with pytest.raises(GrammarError, match="a grammar must be a str, not bytes"):
        Grammar.from_gbnf(b'root ::= "a"')


def test_ten_thousand_words():
    words = [f"word{i * 7919 % 100003}" for i in range(10_000)]
    with fails_after(10):
        grammar = Grammar.from_gbnf("root ::= " + " | ".join(f'"{w}"' for w in words))
        assert grammar.accepts(words[-1].encode())
        assert not grammar.accepts(b"word")


@pytest.mark.parametrize(
    "text",
    [
        "root ::= a" + " " * 300_000 + "x\na ::= x\nx ::= [x]",
        "root ::= " + "a" * 300_000 + "\n" + "a" * 300_000 + ' ::= "a"',
        "root ::= " + 'x ["' * 100_000 + "\nx ::= [x]",
        "#" * 300_000 + "\nroot ::= [x]" + "\n" * 300_000,
        "root ::= " + "x[" * 100_000 + "\nx ::= [x]",
    ],
    ids=["blanks", "names", "quotes", "comments", "brackets"],
)
def test_reading_takes_time_in_proportion(text):
    with fails_after(10), contextlib.suppress(GrammarSyntaxError):
        Grammar.from_gbnf(text)
