"""What is refused: with the place, the expectation and the way out."""

from __future__ import annotations

import re

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

WRONG = [
    ('start "a"', "missing colon", 1),
    ('start: "a', "Unexpected input", 1),
    ('start: item\nitme: "a"', "did you mean 'itme'?", 1),
    ("start: A\nB: /b/", "A", 1),
    ('start: "a"\nstart: "b"', "start", None),
    ("start: A\nA: A", "A", None),
    ('start: a | b\na: "x"\nb: "x"', "or use parser='earley'", None),
    ("start: A\nA: /a*/", "zero-width", None),
    ("start: A\nA: /(/", "A", None),
    ("start: A\nA: /(?i)a/", "hint: flags come after a pattern, /.../i", 2),
    ('start: "b"\n     | /(?i)a/', "global flags not at the start", 2),
    ("start: A | B\nA: /(?P<x>a)/\nB: /(?P<x>b)/", "those of A and B do not compile", None),
    ("%import nowhere.X\nstart: X", "nowhere", None),
    ("", "define it, or name another with start=", None),
    ('begin: "a"', "there is no rule 'start', which is to be the start", None),
    ('strat: "a"', "did you mean 'strat'?", None),
    ('start: A\nA: "x" B', "used but not defined: B", 2),
    ('start: "a"\n%declare foo', "", None),
]


@pytest.mark.parametrize(("text", "message", "line"), WRONG)
def test_wrong_grammars(text, message, line):
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_lark(text)
    assert message in str(caught.value)
    if line is not None:
        assert f"line {line}, column" in str(caught.value)
        assert "^" in str(caught.value)


ENDLESS = [
    ('start: "a" start', "rule 'start' can never finish"),
    ('start: x\nx: "a" y\ny: "b" x', "the rules 'x', 'y' can never finish"),
    ("start: A\n%declare A", "hint: it is only declared"),
    ('start: "a" B\nB: /[^\\s\\S]/', "no text is ever the terminal B"),
    ("start: A A\nA: /b+/", "no text is a 'start'"),
]


@pytest.mark.parametrize(("text", "message"), ENDLESS)
def test_rules_that_never_finish(text, message):
    with pytest.raises(UnsatisfiableError) as caught:
        Grammar.from_lark(text, parser="earley")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ('start: "a";', 11, "without a semicolon"),
        ("start: 'a'", 8, "double quotes"),
        ('start: "a', 8, "text that begins here is not closed"),
        ("start: /a", 8, "pattern that begins here is not closed"),
        ('start = "a"', 7, "its name, a colon"),
        ('start: "a", "b"', 11, "without a comma"),
        ("start: /[a/", 8, "of the module re"),
        ("start: A\nA: /[a/i", 1, "of the module re"),
        ("start: A\nA: /a*/", 8, r"NAME\?"),
        ('start: "a"\n%ignore / */', 9, r"NAME\?"),
        ('start: "a" | ""', 14, "may be empty"),
        ('start: "a"~3..1', 11, "~least..most"),
        ('start: A\nA: "a"~3 .. 1', 7, "~least..most"),
        ('start: "a".."b" | "ab".."z"', 19, "or a pattern"),
        ('start: "z".."a"', 8, "of the module re"),
        ("start: pair\npair{x}: x x", 8, "braces behind its name"),
        ('start: pair{"a", "b"}\npair{x}: x x', 1, "for each of its parameters"),
        ('start: "a"\n%extend item: "b"', 9, "define it, or %import it"),
        ('start: "a"\nitem: "a"\n%extend itme: "b"', 9, "did you mean 'item'"),
        ("start: A\nA: b\nb: /x/", 4, "in upper case"),
        ('start: "a" | "\\x".."z"', 14, "so many digits"),
        (r'start: "a" | "b\u12"', 14, "so many digits"),
        ('start: "a" -> B', 15, "lower case"),
        ('start: "a"\n%ignore\n', 1, "name a terminal"),
        ("%import nowhere.X\nstart: X", 9, "import_paths"),
        ('start: A\nA: "a" A | "b"', 8, "make it a rule"),
        ('start: "a"\nstart: "b"', 1, r"with \|"),
        ('start: A\nA: ""', None, "leave it out"),
        ("%import .nowhere (x)\nstart: x", None, "import_paths"),
    ],
)
def test_usual_mistakes_have_a_way_out(text, place, hint):
    with pytest.raises(GrammarSyntaxError) as refused:
        Grammar.from_lark(text, dialect="lark")
    assert re.search(hint, refused.value.hint)
    if place is not None:
        assert f"column {place}:" in str(refused.value)


@pytest.mark.parametrize(("opens", "closes"), ["()", "[]"])
def test_grammars_that_nest_too_deep_for_lark(opens, closes):
    with pytest.raises(GrammarSyntaxError, match="nests too deep") as caught:
        Grammar.from_lark(f'start: {opens * 2000}"a"{closes * 2000}')
    assert caught.value.hint == "give names to inner groups"


def test_a_way_that_never_finishes_is_not_taken():
    grammar = Grammar.from_lark('start: "a" | "b" x\nx: "c" x')
    where = grammar.first_rejection(b"bc")
    assert where is not None
    assert where.offset == 0
    assert where.expected == ("'a'",)


def test_what_is_not_regular_is_refused_by_name():
    with pytest.raises(UnsupportedFeatureError, match="terminal A") as caught:
        Grammar.from_lark(r"start: A" + "\n" + r"A: /(a|b)\1/")
    assert "^" in str(caught.value)


def test_options():
    with pytest.raises(GrammarError, match="'lalr' or 'earley'"):
        Grammar.from_lark('start: "a"', parser="cyk")
    with pytest.raises(GrammarError, match="has the lexers"):
        Grammar.from_lark('start: "a"', parser="lalr", lexer="dynamic")
    with pytest.raises(GrammarError, match="no rule"):
        Grammar.from_lark('start: "a"', start=[])
    with pytest.raises(GrammarError, match="must be a str"):
        Grammar.from_lark(b'start: "a"')  # type: ignore[arg-type]
    with pytest.raises(UnsupportedFeatureError, match="Indenter"):
        Grammar.from_lark('start: "a"', postlex=object())


@pytest.mark.parametrize(
    ("attribute", "wrong"),
    [("NL_type", "_NEWLINE"), ("INDENT_type", "_IN"), ("DEDENT_type", "_DE")],
)
def test_an_indenter_that_names_what_is_not_there(attribute, wrong):
    lark_indenter = pytest.importorskip("lark.indenter")
    names = {"NL_type": "_NL", "INDENT_type": "_INDENT", "DEDENT_type": "_DEDENT"}
    rest = {"OPEN_PAREN_types": [], "CLOSE_PAREN_types": [], "tab_len": 8}
    text = (
        'start: (NAME _NL | NAME ":" _NL _INDENT start _DEDENT)+\n'
        'NAME: /[a-z]+/\n_NL: /\\n */\n%ignore " "\n%declare _INDENT _DEDENT\n'
    )

    def read(names):
        made = type("Made", (lark_indenter.Indenter,), names | rest)
        return Grammar.from_lark(text, postlex=made())

    assert read(names).accepts(b"a:\n b\n")
    with pytest.raises(UnsupportedFeatureError, match=f"{attribute} is '{wrong}'"):
        read(names | {attribute: wrong})


def test_an_indenter_without_blocks_is_refused():
    lark_indenter = pytest.importorskip("lark.indenter")
    text = 'start: (NAME _NEWLINE)+\nNAME: /[a-z]+/\n_NEWLINE: /\\n */\n%ignore " "\n'
    with pytest.raises(UnsupportedFeatureError, match="INDENT_type"):
        Grammar.from_lark(text, postlex=lark_indenter.PythonIndenter())


DOUBLING = [
    *(" ".join('[A "b"]' for _ in range(30)), " ".join(f'"x{n}"?' for n in range(30))),
    *('("a" | "b")~40', '[["a"] "b"]~0..40', 'x{A} A~2 /[(]/i "a".."b" ' + "(A (B | A)*)? " * 20),
    *("A\n  | B -> b // :\n  | " + "[A] " * 30, '"a" (' + "A? B? C? " * 10 + ")+"),
]


@pytest.mark.parametrize("body", DOUBLING)
@pytest.mark.parametrize("head", ["start", "?start.2", "start: A\n%override start"])
def test_alternatives_that_double_with_each_part(head, body):
    with pytest.raises(LimitExceededError, match="'start', whose alternatives each optional"):
        Grammar.from_lark(f"{head}: {body}\nA: /a/\nB: /b/\nC: /c/\nx{{y}}: y\n")


def test_parts_of_which_lark_makes_rules_do_not_double():
    parts = "".join(f'("a{n}" | "b{n}")* "c{n}"+ ' for n in range(5))
    assert Grammar.from_lark(f'start: {parts} ("d" "e")~100 T\nT: ("x"? "y")~40\n')


def test_limits():
    with pytest.raises(LimitExceededError):
        Grammar.from_lark('start: "a"', limits=Limits(max_input_bytes=5))
    with pytest.raises(LimitExceededError):
        Grammar.from_lark("start: A\nA: /(((a{0,1000}){0,1000}){0,1000})b/")
