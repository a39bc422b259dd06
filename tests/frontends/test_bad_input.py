"""Bad input, front-end by front-end: a typed error with its place, or a grammar; never a hang.

Every case is small enough, or refused early enough, to take about a second; that none takes long is
what the file shows by ending.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from constrain import (
    ConstrainError,
    Grammar,
    GrammarError,
    GrammarSyntaxError,
    LimitExceededError,
    Limits,
    RegexSyntaxError,
    UnsatisfiableError,
    UnsupportedFeatureError,
)

A_TEXT_OF_ANOTHER_KIND = [
    (Grammar.from_gbnf, "grammars/json.gbnf", "what the file holds, not its name"),
    (Grammar.from_gbnf, "json.gbnf", "what the file holds, not its name"),
    (Grammar.from_gbnf, 'start: "a"', "Grammar.from_lark"),
    (Grammar.from_gbnf, '?start: "a"', "Grammar.from_lark"),
    (Grammar.from_gbnf, 'root ::= start\nstart: "a"', "begins with its name and ::="),
    (Grammar.from_gbnf, Path("json.gbnf"), r"Path\(name\)\.read_text"),
    (Grammar.from_gbnf, b"root", "data.decode"),
    (Grammar.from_lark, "grammars/c.lark", "what the file holds, not its name"),
    (Grammar.from_lark, "c.lark", "what the file holds, not its name"),
    (Grammar.from_lark, 'root ::= "a"', "Grammar.from_gbnf"),
    (Grammar.from_lark, 'root ::= "a"\nx ::= [a-z]{2}', "Grammar.from_gbnf"),
    (Grammar.from_lark, Path("c.lark"), r"Path\(name\)\.read_text"),
    (Grammar.from_regex, re.compile("a", re.I), r"compiled\.pattern"),
    (Grammar.from_regex, b"a", "data.decode"),
    (Grammar.from_json_schema, Path("s.json"), r"Path\(name\)\.read_text"),
    (Grammar.from_pydantic, {"type": "object"}, "Grammar.from_json_schema"),
    (Grammar.from_pydantic, [int], "Cat | Dog"),
]
NOT_TEXTS = [None, b"a", 5, 1.5, [], {}, object()]
GROUPS = 60_000


def _chain(head: str, rule: str, last: str, length: int) -> str:
    rules = "".join([rule.format(i, i + 1) for i in range(length)])
    return f"{head}{rules}{last.format(length)}"


def _gbnf_chain(rule: str, length: int) -> str:
    return _chain("root ::= r0\n", f"r{{}} ::= {rule}\n", 'r{} ::= "c"\n', length)


def _lark_chain(rule: str, length: int) -> str:
    return _chain("start: r0\n", f"r{{}}: {rule}\n", 'r{}: "c"\n', length)


def _nested_tag(kind: str, depth: int) -> dict:
    inner: dict = {"type": "const_string", "value": "a"}
    for _ in range(depth):
        inner = {"type": kind, "elements": [inner]}
    return {"type": "structural_tag", "format": inner}


def _const(value: object) -> dict:
    return {"type": "structural_tag", "format": {"type": "const_string", "value": value}}


def gbnf(text):
    return Grammar.from_gbnf(text)


def lark(text):
    pytest.importorskip("lark")
    return Grammar.from_lark(text)


def earley(text):
    pytest.importorskip("lark")
    return Grammar.from_lark(text, parser="earley")


def python(pattern):
    return Grammar.from_regex(pattern)


def ecma(pattern):
    return Grammar.from_regex(pattern, dialect="ecma")


def rust(pattern):
    return Grammar.from_regex(pattern, dialect="rust")


def choices(texts):
    return Grammar.from_choices(texts)


def tag(value):
    return Grammar.from_structural_tag(value)


def tools(value):
    return Grammar.from_tools(value, format="hermes")


# Front-end, input, class of the error, what its message holds.
REFUSED = [
    # Nothing, or only blanks
    (gbnf, "", GrammarSyntaxError, "line 1, column 1"),
    (gbnf, " \n# nothing\n", GrammarSyntaxError, "line 1, column 1"),
    (lark, "", GrammarSyntaxError, "start"),
    (lark, " \n// nothing\n", GrammarSyntaxError, "start"),
    (choices, [], GrammarError, "no choices"),
    (tag, "", GrammarError, "line 1, column 1"),
    (tag, {}, GrammarError, "at #"),
    # Syntax, with line, column and caret
    (gbnf, 'root ::= "a"\nx ::= (', GrammarSyntaxError, "line 2, column 7:\n  x ::= (\n        ^"),
    (lark, 'start: "a"\nx: (', GrammarSyntaxError, "line 2, column"),
    (python, "ab(c", RegexSyntaxError, "line 1, column 3:\n  ab(c\n    ^"),
    (ecma, "a\nb(c", RegexSyntaxError, "line 2, column 2:\n  b(c\n   ^"),
    (rust, "ab(c", RegexSyntaxError, "line 1, column 3"),
    (tag, '{"type":\n }', GrammarError, "line 2, column 2"),
    # Names that are not defined, with the nearest
    (gbnf, 'root ::= itme\nitem ::= "a"', GrammarSyntaxError, "did you mean 'item'?"),
    (lark, 'start: item\nitme: "a"', GrammarSyntaxError, "did you mean 'itme'?"),
    (python, "(?P<a>x)(?P=b)", RegexSyntaxError, "column 9"),
    # Patterns that do not parse, in grammars
    (lark, "start: A\nA: /[abc+/", GrammarSyntaxError, "A"),
    (earley, "start: A\nA: /[abc+/", GrammarSyntaxError, "unterminated character set"),
    (earley, "start: /a**/", GrammarSyntaxError, "multiple repeat"),
    (lark, "start: /a{99999999999999999999}/", GrammarSyntaxError, "too large"),
    (lark, 'start: A\nA: /a/(B: /./+\n    b"A', GrammarSyntaxError, "line 2, column 9"),
    (python, "\\N{\ud800}", RegexSyntaxError, "undefined character name"),
    # Names that are neither of a rule nor of a terminal
    (lark, 'Stmt: "a"', GrammarSyntaxError, "lower case, of terminals in upper case: 'Stmt'"),
    (lark, 'start: aB\naB: "a"', GrammarSyntaxError, "upper case: 'aB'"),
    # Rules that can never finish
    (gbnf, "root ::= root", UnsatisfiableError, "'root' can never finish"),
    (gbnf, 'root ::= "a" root', UnsatisfiableError, "line 1, column 1"),
    (lark, "start: start", UnsatisfiableError, "'start' can never finish"),
    (earley, "start: start", UnsatisfiableError, "'start' can never finish"),
    (earley, 'start: "a" x\nx: "b" start', UnsatisfiableError, "can never finish"),
    (
        gbnf,
        "".join(f"r{i} ::= r{i + 1}\n" for i in range(20_000)) + "r20000 ::= root\nroot ::= r0",
        UnsatisfiableError,
        "'r0', 'r1'",
    ),
    # NUL bytes
    (gbnf, "\0", GrammarSyntaxError, "line 1, column 1"),
    (gbnf, 'root ::= "a\0"', GrammarSyntaxError, "line 1, column 12"),
    (lark, "\0", GrammarSyntaxError, "line 1, column 1"),
    (tag, "\0", GrammarError, "line 1, column 1"),
    # A byte order mark
    (gbnf, '\ufeffroot ::= "a"', GrammarSyntaxError, "utf-8-sig"),
    (lark, '\ufeffstart: "a"', GrammarSyntaxError, "line 1, column 1"),
    # Half a surrogate pair, which no text has
    (gbnf, "\ud800", GrammarSyntaxError, "line 1, column 1"),
    (gbnf, 'root ::= "\ud800"', GrammarSyntaxError, "line 1, column 11"),
    (lark, "\ud800", GrammarSyntaxError, "line 1, column 1"),
    (lark, 'start: "\ud800"', GrammarSyntaxError, "surrogate"),
    (choices, ["a", "\ud800"], GrammarError, "choice 1"),
    (tag, _const("\ud800"), GrammarError, "#/format/value"),
    (tools, [{"name": "\ud800"}], GrammarError, "#/tools/0/name"),
    (Grammar.text, "\ud800", GrammarError, "lone surrogate"),
    # Names that are not ASCII
    (gbnf, 'root ::= größe\ngröße ::= "a"', GrammarSyntaxError, "line 1, column 12"),
    (lark, 'start: größe\ngröße: "a"', GrammarSyntaxError, "line 1, column"),
    # Deep nests
    (gbnf, "root ::= " + "(" * GROUPS + '"a"' + ")" * GROUPS, LimitExceededError, "max_nesting"),
    (gbnf, "root ::= " + "(" * GROUPS, LimitExceededError, "max_nesting"),
    (lark, "start: " + "(" * 3_000 + '"a"' + ")" * 3_000, ConstrainError, ""),
    (python, "(" * GROUPS + "a" + ")" * GROUPS, LimitExceededError, "max_nesting"),
    (ecma, "(" * GROUPS + "a" + ")" * GROUPS, LimitExceededError, "max_nesting"),
    (rust, "(" * GROUPS + "a" + ")" * GROUPS, LimitExceededError, "max_nesting"),
    (python, "(" * 1_000_000, LimitExceededError, "max_nesting"),
    (tag, "[" * 100_000, LimitExceededError, "max_nesting"),
    (tag, _nested_tag("sequence", 5_000), LimitExceededError, "max_nesting"),
    # Repeats of repeats, and counts past all bounds
    (python, "a{99999999999}", RegexSyntaxError, "line 1, column 2"),
    (gbnf, 'root ::= "a"{9999999999999999999}', GrammarSyntaxError, "line 1, column 14"),
    (
        lark,
        "start: A\nA: /(((a{0,1000}){0,1000}){0,1000})b/",
        LimitExceededError,
        "max_source_node",
    ),
    # A megabyte of one letter
    (gbnf, "a" * 1_000_000, GrammarSyntaxError, "expected ::="),
    (tag, "a" * 1_000_000, GrammarError, "line 1, column 1"),
    # Too large
    (choices, ["a" * 5_000_000], LimitExceededError, "max_input_bytes"),
    (gbnf, 'root ::= "' + "a" * 5_000_000 + '"', LimitExceededError, "max_input_bytes"),
    (lark, 'start: "' + "a" * 5_000_000 + '"', LimitExceededError, "max_input_bytes"),
    (python, "a" * 5_000_000, LimitExceededError, "max_input_bytes"),
    # Many rules: a chain of rules that begin with each other
    (gbnf, _gbnf_chain('r{} "a" | "b"', 10_000), LimitExceededError, "max_nesting"),
    (lark, _lark_chain('r{} "a" | "b"', 50_000), LimitExceededError, "max_source_nodes"),
    (earley, _lark_chain('"a" r{} | "b"', 50_000), LimitExceededError, "max_source_nodes"),
    (earley, _lark_chain("r{}", 50_000), LimitExceededError, "max_source_nodes"),
    # What is valid and cannot be honoured
    (python, r"(a)\1", UnsupportedFeatureError, "line 1, column 4"),
    (ecma, r"(a)\1", UnsupportedFeatureError, "line 1, column 4"),
    (gbnf, 'root[max_tokens=3] ::= "a"', UnsupportedFeatureError, "max_tokens"),
    (tag, {"type": "structural_tag", "format": {"type": "x"}}, ConstrainError, "at #/format"),
    # One text where several belong, and what is no text
    (choices, "abc", GrammarError, "write ['abc']"),
    (choices, [b"a"], GrammarError, "choice 0"),
]

# Front-end, input, a sentence, a text that is none.
READ = [
    (gbnf, 'root ::= "a" x\r\nx ::= "b"\r\n', "ab", "a"),
    (gbnf, 'root ::= "a"\rx ::= "b"', "a", "b"),
    (gbnf, "root ::= " + '"a"' + "+" * 20_000, "aaa", ""),
    (gbnf, 'root ::= ((("a"{0,1000}){0,1000}){0,1000})', "a" * 50, "b"),
    (gbnf, 'root ::= root | "a"', "a", "aa"),
    (gbnf, 'root ::= root root | "a" | ""', "aaa", "b"),
    (gbnf, 'root ::= "\\x00é\\U0001F600"', "\0é😀", "é"),
    (gbnf, 'root ::= "é" [α-ω]+ "中"', "éβ中", "é中"),
    (gbnf, _gbnf_chain("r{}", 10_000), "c", ""),
    (gbnf, _gbnf_chain('"a" r{} | "b"', 10_000), "aaab", "a"),
    (gbnf, "root ::= " + " | ".join([f'"{i}"' for i in range(20_000)]), "19999", "20000"),
    (lark, 'start: "a" x\r\nx: "b"\r\n', "ab", "a"),
    (lark, 'start: "é" /[α-ω]+/ "中"', "éβ中", "é中"),
    (earley, 'start: "a"~0..1000', "a" * 20, "b"),
    (python, "", "", "a"),
    (python, "a\0b", "a\0b", "ab"),
    (python, "\ufeffa", "\ufeffa", "a"),
    (python, "é[α-ω]+", "éβ", "é"),
    (python, "(((a{0,1000}){0,1000}){0,1000})", "a" * 50, "b"),
    (ecma, "(((a{0,1000}){0,1000}){0,1000})", "a" * 50, "b"),
    (rust, "(((a{0,1000}){0,1000}){0,1000})", "a" * 50, "b"),
    (python, "(((a{1000}){1000}){1000})", "", "a"),
    (python, "a?" * 5_000, "a" * 10, "b"),
    (python, "|".join([f"k{i}" for i in range(5_000)]), "k4999", "k5000"),
    (python, "(" * 1_000 + "a" + "*)" * 1_000, "aaa", "b"),
    (choices, [""], "", "a"),
    (choices, ["a\0", "中"], "a\0", "a"),
    (choices, [f"k{i}" for i in range(50_000)], "k49999", "k50000"),
    (choices, ("a" for _ in range(3)), "a", "b"),
    (tag, _nested_tag("sequence", 500), "a", "b"),
    (tag, _const("a\0b"), "a\0b", "ab"),
]


def _ids(cases):
    return [f"{case[0].__name__}-{i}" for i, case in enumerate(cases)]


@pytest.mark.parametrize(("make", "given", "hint"), A_TEXT_OF_ANOTHER_KIND)
def test_what_belongs_elsewhere_is_told_where(make, given, hint):
    with pytest.raises(GrammarError) as refused:
        make(given)
    assert re.search(hint, refused.value.hint)


@pytest.mark.parametrize(("read", "given", "error", "says"), REFUSED, ids=_ids(REFUSED))
def test_it_is_refused(read, given, error, says):
    with pytest.raises(ConstrainError) as caught:
        read(given).accepts(b"a")
    assert isinstance(caught.value, error), repr(caught.value)[:300]
    assert says in str(caught.value)
    assert len(str(caught.value)) < 2_000


@pytest.mark.parametrize(("read", "given", "sentence", "other"), READ, ids=_ids(READ))
def test_it_is_read(read, given, sentence, other):
    grammar = read(given)
    if isinstance(given, str) and "1000}){1000})" in given:  # a billion letters, and no fewer
        assert grammar.first_rejection(b"a" * 100).at_end
        return
    assert grammar.accepts(sentence.encode())
    assert not grammar.accepts(other.encode())
    assert len(grammar.description) < 1_000


TAKES_TEXT = {
    "from_gbnf": Grammar.from_gbnf,
    "from_lark": lark,
    "from_regex": Grammar.from_regex,
    "from_structural_tag": Grammar.from_structural_tag,
    "from_choices": Grammar.from_choices,
    "a choice": lambda value: Grammar.from_choices([value]),
    "tools": tools,
    "a tool": lambda value: tools([value]),
    "the name of a tool": lambda value: tools([{"name": value}]),
    "root": lambda value: Grammar.from_gbnf('root ::= "a"', root=value),
    "start": lambda value: Grammar.from_lark('start: "a"', start=value),
    "parser": lambda value: Grammar.from_lark('start: "a"', parser=value),
    "lexer": lambda value: Grammar.from_lark('start: "a"', lexer=value),
    "dialect": lambda value: Grammar.from_regex("a", dialect=value),
    "flags": lambda value: Grammar.from_regex("a", flags=value),
    "format": lambda value: Grammar.from_tools([{"name": "f"}], format=value),
    "an import path": lambda value: Grammar.from_lark('start: "a"', import_paths=[value]),
    "with_reasoning": lambda value: Grammar.text("a").with_reasoning(value),
}
ALSO_TAKEN = {  # not wrong there
    ("from_structural_tag", dict),  # refused, for what it lacks
    ("tools", list),
    ("tools", dict),
}


@pytest.mark.parametrize("value", NOT_TEXTS, ids=[type(v).__name__ for v in NOT_TEXTS])
@pytest.mark.parametrize("what", TAKES_TEXT)
def test_wrong_types_are_grammar_errors(what, value):
    try:
        TAKES_TEXT[what](value)
    except GrammarError as error:
        assert len(str(error)) < 1_000  # noqa: PT017 - the point is which errors there are
    else:
        assert (what, type(value)) in ALSO_TAKEN


@pytest.mark.parametrize("value", [None, "2", 1.5, b"a", [], True])
def test_counts_of_a_wrong_type(value):
    with pytest.raises(GrammarError, match="repeat counts with ints"):
        Grammar.text("a").repeat(value, 3)


@pytest.mark.parametrize("value", [b"a", 5, [], True])
def test_separators_of_a_wrong_type(value):
    with pytest.raises(GrammarError, match="separator"):
        Grammar.text("a").repeat(1, 2, separator=value)


def test_imports_that_go_in_a_circle(tmp_path):
    pytest.importorskip("lark")
    (tmp_path / "a.lark").write_text('%import b.Y\nX: Y "x"\n')
    (tmp_path / "b.lark").write_text('%import a.X\nY: X "y"\n')
    with pytest.raises(GrammarSyntaxError, match="import"):
        Grammar.from_lark("%import a.X\nstart: X", import_paths=[tmp_path])


def test_terminals_that_need_each_other():
    pytest.importorskip("lark")
    with pytest.raises(GrammarSyntaxError):
        Grammar.from_lark("start: A\nA: B\nB: A")


@pytest.mark.parametrize(
    "text",
    [
        'start: t{"a"}\nt{x}: "b" | t{t{x}}',
        'start: t{"a"}\nt{x}: "b" | u{p{x}, x}\nu{y, z}: t{y}\np{x}: x',
        'start: t{"a"}\n_p{x}: x x\nt{x}.2: (x | "c"\n | t{_p{x}})?',
    ],
)
def test_templates_that_grow_without_end(text):
    pytest.importorskip("lark")
    with pytest.raises(GrammarSyntaxError, match="never ends") as caught:
        Grammar.from_lark(text, parser="earley")
    assert "line " in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        'start: l{"a"}\nl{x}: x | l{x} "," x',
        'start: t{p{"a"}}\nt{x}: "a" | t{p{"a"}}\np{x}: x',
        'start: t{"a", "b"}\nt{x, y}: x | t{y, x}',
        'start: t{"a"}\nt{x}: u{p{x}}\nu{y}: "a" | y\np{x}: x',
    ],
)
def test_templates_that_end(text):
    pytest.importorskip("lark")
    assert Grammar.from_lark(text, parser="earley").accepts(b"a")


def test_budgets_are_those_that_were_passed():
    small = Limits(max_source_nodes=50)
    with pytest.raises(LimitExceededError) as caught:
        Grammar.from_gbnf("root ::= " + '"a" ' * 100, limits=small)
    assert caught.value.limit == "max_source_nodes"
    assert caught.value.allowed == 50
    with pytest.raises(LimitExceededError):
        Grammar.from_regex("a*b" * 100, limits=small)
