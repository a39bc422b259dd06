"""Each code: where it is found, and where it is not."""

from __future__ import annotations

import pytest

from constrain import GrammarError
from constrain.lint import CODES, lint
from tests.lint.cases import CLEAN, FOUND

POSITIVE = [(code, case) for code, cases in FOUND.items() for case in cases]
NEGATIVE = [(code, case) for code, cases in CLEAN.items() for case in cases]


def _lint(case):
    if case.kind == "lark":
        pytest.importorskip("lark")
    return lint(case.text, kind=case.kind, **case.options)


@pytest.mark.parametrize(
    ("code", "case"), POSITIVE, ids=[f"{c}-{i}" for i, (c, _) in enumerate(POSITIVE)]
)
def test_it_is_found_at_its_place(code, case):
    found = [f for f in _lint(case) if f.code == code]
    here = [f for f in found if (f.line, f.column) == (case.line, case.column)]
    assert here, [(f.line, f.column, f.message) for f in found]
    finding = here[0]
    assert case.says in finding.message
    assert finding.severity == CODES[code]
    assert finding.advice
    if finding.span is None:
        assert (finding.line, finding.excerpt) == (0, "")
        return
    drawn = finding.excerpt.splitlines()
    assert len(drawn) == 2
    assert set(drawn[1]) <= {" ", "^"}
    start, end = finding.span
    marked = case.text[start:end].split("\n")[0]
    assert drawn[0][drawn[1].index("^") :].startswith(marked[:20].replace("\t", " "))


@pytest.mark.parametrize(
    ("code", "case"), NEGATIVE, ids=[f"{c}-{i}" for i, (c, _) in enumerate(NEGATIVE)]
)
def test_it_is_not_found(code, case):
    assert [f for f in _lint(case) if f.code == code] == []


def test_every_code_is_tested_both_ways():
    assert set(FOUND) == set(CODES) - {"invalid"}
    assert set(CLEAN) == set(CODES) - {"invalid"}


def test_an_overlap_has_its_shortest_example():
    pytest.importorskip("lark")
    text = "start: A | B\nA: /x*[a-c]+é/\nB: /[c-z]+é/"
    (finding,) = [f for f in lint(text, kind="lark") if f.code == "terminal-overlap"]
    assert finding.example == "cé"
    assert "terminal A wins" in finding.message or "terminal B wins" in finding.message


@pytest.mark.parametrize(
    ("text", "advised"),
    [
        ('start: "a"+', '"a"~1..200'),
        ("start: /#[a-z]+/", "[a-z]{1,200}"),
        ('start: A\nA: "a"+', '"a"~1..200'),
        ("start: A\nA: /#[a-z]*/", "[a-z]{0,200}"),
    ],
)
def test_a_bound_is_advised_in_the_syntax_of_its_place(text, advised):
    pytest.importorskip("lark")
    (finding,) = lint(text, kind="lark")
    assert finding.advice.endswith(f"as in {advised}")


def test_codes_can_be_left_out():
    text = 'root ::= "a" | ("b"?)*\nitem ::= "c"'
    left_out = ["unused-rule", "unbounded-repetition"]
    assert [f.code for f in lint(text, kind="gbnf", ignore=left_out)] == ["nullable-loop"]
    with pytest.raises(GrammarError, match="did you mean 'unused-rule'"):
        lint(text, kind="gbnf", ignore=["unused-rules"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": b"", "kind": "gbnf"}, "must be a str"),
        ({"text": "", "kind": "ebnf"}, "kind must be one of"),
        ({"text": 'a ::= "b"', "kind": "gbnf", "start": ["a", "b"]}, "one start"),
        ({"text": "a", "kind": "regex", "dialect": "perl"}, "dialect"),
    ],
)
def test_options_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(GrammarError, match=message):
        lint(**arguments)


def test_findings_are_in_the_order_of_the_text_and_are_json():
    found = lint('root ::= "a" | "a"\ny ::= "c"\nx ::= "b"*', kind="gbnf")
    assert [f.line for f in found] == [1, 2, 3, 3]
    assert found[0].as_json() == {
        "code": "duplicate-alternative",
        "severity": "warning",
        "message": 'the alternative `"a"` stands there twice, first in line 1',
        "advice": "take one out",
        "line": 1,
        "column": 16,
        "span": [15, 18],
    }


def test_every_name_that_is_not_defined_is_named():
    found = lint('root ::= a b "x"\nc ::= root', kind="gbnf")
    assert [f.column for f in found if f.code == "undefined-name"] == [10, 12]
