"""`constrain check`: verdicts, places, exit codes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from constrain.cli.app import run

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "size": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("schema.json").write_text(json.dumps(SCHEMA))
    Path("good.json").write_text('{"size": 3, "name": "chair"}\n')
    Path("bad.json").write_text('{\n  "name": "Stühle",\n  "size": true\n}\n', encoding="utf-8")
    return tmp_path


def test_all_accepted_is_exit_code_0(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--schema", "schema.json", "good.json"]) == 0
    assert capsys.readouterr() == ("good.json: accepted\n", "")


def test_a_rejected_text_is_shown_where_it_fails(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "--schema", "schema.json", "good.json", "bad.json"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "good.json: accepted"
    assert lines[1] == "bad.json: rejected at byte 33, line 3, column 11"
    assert lines[2:4] == ['    "size": true', "            ^"]
    assert lines[4] == "  could have come: integer"
    assert lines[5].startswith("  in bytes: ")
    assert "'0' to '9'" in lines[5]
    assert lines[6] == "  inside: # > #/properties/size > #/properties/size/type"
    assert len(lines) == 7


def test_as_json_a_program_reads_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--schema", "schema.json", "--json", "bad.json", "good.json"]) == 1
    found = json.loads(capsys.readouterr().out)
    bad, good = found["texts"]
    assert {use["keyword"] for use in found["keywords"]} == {*SCHEMA}
    assert good == {"file": "good.json", "accepted": True}
    assert (bad["file"], bad["accepted"]) == ("bad.json", False)
    assert (bad["offset"], bad["line"], bad["column"]) == (33, 3, 11)
    assert (bad["ended_early"], bad["could_end"]) == (False, False)
    assert "'0' to '9'" in bad["expected"]
    assert bad["expected_names"] == ["integer"]
    assert bad["rule_path"] == ["#", "#/properties/size", "#/properties/size/type"]


RELAXED = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": r"(a)\1"}, "size": {"minimun": 3}},
    "title": "t",
}


def test_without_texts_a_schema_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")  # nothing is cut
    Path("relaxed.json").write_text(json.dumps(RELAXED))
    assert run(["check", "--schema", "relaxed.json", "--on-unsupported", "relax"]) == 0
    reason = "a back-reference makes a language that is not regular"
    assert capsys.readouterr() == (
        "place              keyword     what is done with it  why\n"
        "#                  type        enforced\n"
        "#                  properties  enforced\n"
        "#                  title       annotation\n"
        "#/properties/name  type        enforced\n"
        f"#/properties/name  pattern     relaxed               {reason}\n"
        "#/properties/size  minimun     annotation            "
        "no keyword of draft2020-12; 'minimum' is one\n"
        "6 keywords: 3 enforced, 2 only annotate, 1 relaxed\n",
        "",
    )


def test_without_texts_a_grammar_that_can_be_read_is_said_to_be(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("sums.gbnf").write_text('root ::= [0-9]+ ("+" root)?')
    Path("one.json").write_text('{"type": "null"}')
    assert run(["check", "--schema", "one.json"]) == 0
    assert capsys.readouterr().out.endswith("\n1 keyword: 1 enforced\n")
    for grammar in (["--gbnf", "sums.gbnf"], ["--regex", "[0-9]+"]):
        assert run(["check", *grammar]) == 0
        out = capsys.readouterr().out
        assert out == "the grammar can be read; constrain lint looks closer\n"


def test_the_report_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--schema", "schema.json", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["texts"] == []
    assert found["keywords"][0] == {
        "pointer": "#",
        "keyword": "type",
        "use": "enforced",
        "reason": "",
    }
    assert len(found["keywords"]) == len(SCHEMA) + 2


def test_what_is_unsupported_is_refused_unless_relaxed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("relaxed.json").write_text(json.dumps(RELAXED))
    check = ["check", "--schema", "relaxed.json"]
    assert run(check) == 2
    assert "on_unsupported='relax'" in capsys.readouterr().err
    assert run([*check, "--on-unsupported", "relax", "good.json"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "good.json: accepted\n"
    assert printed.err.startswith("relaxed: 'pattern' at #/properties/name: a back-reference")
    assert run([*check, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)
    assert (error["kind"], error["pointer"]) == ("unsupported-feature", "#/properties/name/pattern")


def test_dialects_and_formats(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = {"type": "string", "nullable": True, "format": "date"}
    Path("nullable.json").write_text(json.dumps(schema))
    Path("null.json").write_text("null")
    Path("text.json").write_text('"x"')
    check = ["check", "--schema", "nullable.json"]
    assert run([*check, "null.json"]) == 1
    assert run([*check, "--dialect", "openapi-3.0", "null.json"]) == 0
    assert run([*check, "text.json"]) == 1
    assert run([*check, "--format", "annotate", "text.json"]) == 0


def test_the_options_are_those_of_the_library() -> None:
    from constrain.cli.sources import Dialect, Style
    from constrain.frontends.json_schema.keywords import DIALECTS
    from constrain.frontends.json_schema.style import PRESETS

    assert {dialect.value for dialect in Dialect} == set(DIALECTS)
    assert {style.value for style in Style} == set(PRESETS)


def test_canonical_is_narrower(folder: Path) -> None:
    assert run(["check", "--schema", "schema.json", "--style", "canonical", "good.json"]) == 1
    Path("ordered.json").write_text('{"name": "chair", "size": 3}\n')
    options = ["check", "--schema", "schema.json", "--style", "canonical"]
    assert run([*options, "ordered.json"]) == 1, "the line feed at the end is no part of it"
    assert run([*options, "--ignore-final-newline", "ordered.json"]) == 0


def check(regex: str, data: bytes, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    return run(["check", "--regex", regex, *options, "-"])


@pytest.mark.parametrize(
    ("regex", "data", "shown"),
    [
        ("ab?", b"a", ["-: accepted"]),
        (
            "abc",
            b"ab",
            [
                "-: rejected at byte 2, line 1, column 3: the text ends too early",
                "  ab",
                "    ^",
                '  could have come: "c"',
                "  in the grammar: abc",
                "                    ^",
            ],
        ),
        (
            "a",
            b"ab",
            [
                "-: rejected at byte 1, line 1, column 2",
                "  ab",
                "   ^",
                "  could have come: the end",
            ],
        ),
        (
            "ab?",
            b"ac",
            [
                "-: rejected at byte 1, line 1, column 2",
                "  ac",
                "   ^",
                "  could have come: /b?/, the end",
                "  in bytes: 'b'",
                "  in the grammar: ab?",
                "                   ^^",
            ],
        ),
        (
            "日本語",
            "日本x".encode(),
            [
                "-: rejected at byte 6, line 1, column 3",
                "  日本x",
                "      ^",
                '  could have come: "語"',
                "  in the grammar: 日本語",
                "                      ^^",
            ],
        ),
        (
            r"\x1b\[31m\tred!",
            b"\x1b[31m\tred\xff",
            [
                "-: rejected at byte 9, line 1, column 10",
                "  \\x1b[31m\\tred\\xff",
                "               ^",
                '  could have come: "!"',
                "  in the grammar: \\x1b\\[31m\\tred!",
                "                                ^",
            ],
        ),
        (
            "a*",
            b"a" * 50 + b"b" + b"c" * 50,
            [
                "-: rejected at byte 50, line 1, column 51",
                "  ..." + "a" * 30 + "b" + "c" * 29 + "...",
                " " * 35 + "^",
                "  could have come: more of /a*/, the end",
                "  in bytes: 'a'",
                "  in the grammar: a*",
                "                  ^^",
            ],
        ),
    ],
    ids=["accepted", "early", "late", "either", "wide", "not text", "long"],
)
def test_the_caret_stands_under_the_place(
    regex: str,
    data: bytes,
    shown: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    code = check(regex, data, monkeypatch)
    printed = capsys.readouterr().out.splitlines()
    assert code == (0 if "accepted" in shown[0] else 1)
    assert printed == shown


def test_a_file_that_cannot_be_read_is_exit_code_2_and_the_others_are_checked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "--schema", "schema.json", "none.json", "good.json"]) == 2
    assert capsys.readouterr() == (
        "good.json: accepted\n",
        "none.json: cannot be read: No such file or directory\n",
    )


@pytest.mark.parametrize("command", [["check", "good.json"], ["explain"]])
def test_a_wrong_schema_is_named_and_json_for_a_program(
    command: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("wrong.json").write_text('{"properties": {"a": {"type": "strng"}}}')
    assert run([*command, "--schema", "wrong.json"]) == 2
    assert capsys.readouterr().err.startswith("wrong.json: schema error: ")
    assert run([*command, "--schema", "wrong.json", "--json"]) == 2
    printed = capsys.readouterr()
    error = json.loads(printed.out)
    assert (error["in"], error["kind"]) == ("wrong.json", "schema")
    assert error["pointer"] == "#/properties/a/type"
    assert "strng" in error["error"]
    assert printed.err == ""


def test_a_schema_that_cannot_be_read_is_json_for_a_program(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "--schema", "none.json", "--json", "good.json"]) == 2
    error = json.loads(capsys.readouterr().out)
    assert error["kind"] == "usage"
    assert "cannot read the schema none.json" in error["error"]


def test_a_line_feed_that_is_all_that_is_wrong_has_a_way_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("line.txt").write_bytes(b"aa\n")
    Path("lines.txt").write_bytes(b"aa\n\n")
    Path("open.txt").write_bytes(b"a\n")
    hint = "hint: --ignore-final-newline takes off the line feed at the end\n"
    assert run(["check", "--regex", "aa+", "line.txt"]) == 1
    assert capsys.readouterr().err == hint
    assert run(["check", "--regex", "aa+", "lines.txt", "open.txt"]) == 1
    assert capsys.readouterr().err == ""
    assert run(["check", "--regex", "aa+", "--ignore-final-newline", "line.txt"]) == 0


@pytest.mark.parametrize(
    "option",
    [
        ["--dialect", "draft7"],
        ["--format", "annotate"],
        ["--format", "assert"],
        ["--on-unsupported", "relax"],
        ["--style", "canonical"],
    ],
)
def test_options_of_a_schema_are_not_passed_over_elsewhere(
    option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["explain", "--regex", "a", *option, "--json"]) == 2
    assert "are for JSON Schemas" in json.loads(capsys.readouterr().out)["error"]


@pytest.mark.parametrize("command", [["check", "--schema"], ["check", "--gbnf"], ["lint"]])
def test_what_is_no_utf8_is_named_by_its_first_wrong_byte(
    command: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("latin.json").write_bytes(b'{"title": "caf\xe9"}')
    assert run([*command, "latin.json"]) == 2
    printed = " ".join("".join(capsys.readouterr()).replace("│", " ").split())
    assert "latin.json: " in printed
    assert "it is no UTF-8 text: byte 0xE9 at 14" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["good.json"], "give one of --schema FILE, --regex PATTERN, --gbnf FILE"),
        (["--schema", "schema.json", "--regex", "a", "good.json"], "give one of"),
        (["--gbnf", "none.gbnf"], "cannot read the grammar none.gbnf"),
        (["--gbnf", "broken.json"], "grammar syntax error"),
        (["--schema", "none.json", "good.json"], "cannot read the schema none.json"),
        (["--schema", "-", "-"], "not both"),
        (["--regex", "("], "regex syntax error"),
        (["--schema", "schema.json", "--regex", "a"], "give one of"),
        (["--regex", "a", "-", "-"], "standard input is one text"),
        ([], "give a FILE to check"),
        (["--schema", "schema.json", "--dialect", "draft3"], "--dialect"),
        (["--schema", "schema.json", "--on-unsupported", "drop"], "--on-unsupported"),
        (["--schema", "schema.json", "--format", "no"], "--format"),
        (["--regex", "a", "--style", "free", "good.json"], "--style"),
        (["--regex", "(", "good.json"], "regex syntax error"),
        (["--schema", "broken.json", "good.json"], "schema error"),
        (["--schema", "wrong.json", "good.json"], "#/type"),
        (["--schema", "latin.json", "good.json"], "cannot read the schema"),
    ],
)
def test_a_wrong_question_is_exit_code_2_with_one_message(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    Path("broken.json").write_text('{"type": ')
    Path("wrong.json").write_text('{"type": "strng"}')
    Path("latin.json").write_bytes(b'{"const": "\xfc"}')
    assert run(["check", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert "Traceback" not in printed.err


def test_texts_against_a_grammar_in_gbnf(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("sum.gbnf").write_text('root ::= root "+" [0-9] | [0-9]')
    Path("good.txt").write_text("1+2+3")
    Path("bad.txt").write_text("1+2+")
    assert run(["check", "--gbnf", "sum.gbnf"]) == 0
    assert run(["check", "--gbnf", "sum.gbnf", "good.txt"]) == 0
    assert run(["check", "--gbnf", "sum.gbnf", "bad.txt"]) == 1
    assert "'0' to '9'" in capsys.readouterr().out


def test_a_schema_may_come_from_standard_input(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SCHEMA).encode())))
    assert run(["check", "--schema", "-", "good.json"]) == 0


def test_checking_needs_neither_torch_nor_transformers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    blocked: Any = None
    for name in ("torch", "transformers", "tokenizers", "gguf", "triton"):
        monkeypatch.setitem(sys.modules, name, blocked)
    assert run(["check", "--schema", "schema.json", "good.json"]) == 0


SUMS = """
start: sum
?sum: product | sum "+" product
?product: NUMBER | "(" sum ")"
%import common.NUMBER
%ignore " "
"""


@pytest.fixture
def sums(folder: Path) -> Path:
    """A folder of grammars with fixtures, all of them right."""
    grammars = folder / "grammars"
    (grammars / "sums" / "accept").mkdir(parents=True)
    (grammars / "sums" / "reject").mkdir()
    (grammars / "sums.lark").write_text(SUMS)
    (grammars / "sums" / "accept" / "few.lines").write_text("1\n(1 + 2)\n")
    (grammars / "sums" / "reject" / "open.txt").write_text("(1 + 2")
    return grammars


def test_texts_against_a_grammar_in_larks_syntax(
    sums: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("good.txt").write_text("(1 + 2)")
    Path("bad.txt").write_text("(1 + )")
    assert run(["check", "--lark", "grammars/sums.lark", "good.txt"]) == 0
    assert run(["check", "--lark", "grammars/sums.lark", "--start", "product", "bad.txt"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:4] == ["bad.txt: rejected at byte 5, line 1, column 6", "  (1 + )", "       ^"]
    assert lines[4] == '  could have come: NUMBER, "("'
    assert lines[-1] == "  inside: product > sum"
    earley = ["--parser", "earley", "--lexer", "dynamic"]
    assert run(["check", "--lark", "grammars/sums.lark", *earley, "good.txt"]) == 0


def test_a_grammar_by_its_suffix(sums: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("good.txt").write_text("(1 + 2)")
    (sums / "sums" / "options.toml").write_text('[options]\nstart = "product"\n')
    assert run(["check", "--grammar", "grammars/sums.lark", "good.txt"]) == 0
    Path("digits.regex").write_text("[0-9]+\n")
    Path("digits.txt").write_text("12")
    assert run(["check", "--grammar", "digits.regex", "digits.txt"]) == 0
    assert run(["check", "--grammar", "schema.json", "good.json"]) == 0
    assert run(["check", "--grammar", "digits.txt", "good.txt"]) == 2
    assert "its name does not end with .lark" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--regex", "a", "--start", "b", "good.json"], "--start is for"),
        (["--gbnf", "g.gbnf", "--parser", "lalr", "good.json"], "--parser and --lexer"),
        (["--gbnf", "g.gbnf", "--start", "a", "--start", "b", "good.json"], "one --start"),
        (["--lark", "grammars/sums.lark", "--parser", "no", "good.json"], "parser must be"),
        (["--lark", "-", "-"], "not both"),
        (["grammars", "--start", "b"], "--start of fixtures is said in their options.toml"),
        (["grammars", "--format", "assert"], "--format of fixtures"),
        (["grammars", "-k", "nothing"], "no text has 'nothing' in its name"),
        (["--regex", "a", "-k", "b", "good.json"], "-k is for fixtures"),
        (["nowhere"], "there is no such file or folder"),
    ],
)
def test_options_that_do_not_fit(
    sums: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    Path("g.gbnf").write_text('root ::= "a"')
    assert run(["check", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_other_commands_take_the_same_grammars(
    sums: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["explain", "--lark", "grammars/sums.lark", "--start", "product"]) == 0
    assert "then comes: ' ', '(', '.', '0' to '9'" in capsys.readouterr().out
    assert run(["explain", "--grammar", "grammars/sums.lark", "--parser", "earley"]) == 0
    generate = ["generate", "--prompt", "x", "--model", "no/such/folder"]
    capsys.readouterr()
    assert run([*generate, "--lark", "grammars/sums.lark"]) == 2
    assert "there is no model at" in capsys.readouterr().err
    assert run([*generate, "--grammar", "grammars/none.lark"]) == 2
    assert "grammars/none.lark: grammar error: it cannot be read" in capsys.readouterr().err


def test_the_place_in_a_very_long_line(sums: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("long.txt").write_bytes(b"1+" * 300_000 + "\t日本+".encode() + b"1" * 600_000)
    assert run(["check", "--grammar", "grammars/sums.lark", "long.txt"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "long.txt: rejected at byte 600000, line 1, column 600001"
    assert lines[1] == "  ..." + "1+" * 15 + r"\t日本+" + "1" * 25 + "..."
    assert lines[2] == " " * 35 + "^"


def test_fixtures_that_pass(sums: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "grammars"]) == 0
    head, row, total = capsys.readouterr().out.splitlines()
    assert head.split() == ["grammar", "accepted", "rejected", "compiled", "in", "judged", "in"]
    assert row.split()[:3] == ["grammars/sums.lark", "2/2", "1/1"]
    assert total == "1 grammar, 3 texts: all as they must be"
    assert run(["check", "grammars/sums.lark", "-k", "OPEN"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 grammar, 1 text: all as they must be"


def test_fixtures_that_fail(sums: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sums / "sums" / "reject" / "fine.txt").write_text("(1)")
    (sums / "sums" / "accept" / "wrong.txt").write_text("1 + 2)")
    assert run(["check", "grammars"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == [
        "sums/accept/wrong.txt: it was rejected at byte 5, line 1, column 6, and must be accepted",
        "  1 + 2)",
        "       ^",
        '  could have come: more of NUMBER, "+", the end',
        "  in bytes: ' ', '+', '.', '0' to '9', 'E', 'e'",
    ]
    assert lines[5] == "  inside: start > sum"
    assert lines[6:12] == [
        "sums/reject/fine.txt: it was accepted, and must be rejected",
        "  (1)",
        "  derived as: start > sum > product",
        '    "(": (',
        "    sum: 1",
        '    ")": )',
    ]
    assert lines[-2].split()[1:3] == ["2/3", "1/2"]
    assert lines[-1] == "1 grammar, 5 texts: 2 failures"


def test_fixtures_as_json(sums: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sums / "sums" / "accept" / "wrong.txt").write_text("1 + 2)")
    (sums / "broken.gbnf").write_text("root ::= (")
    (sums / "broken" / "accept").mkdir(parents=True)
    (sums / "broken" / "accept" / "a").write_text("a")
    assert run(["check", "grammars", "--json"]) == 2
    printed = capsys.readouterr()
    broken, found = json.loads(printed.out)["grammars"]
    assert printed.err == ""
    assert broken["error"]["kind"] == "grammar-syntax"
    assert broken["error"]["in"] == "grammars/broken.gbnf"
    assert broken["texts"] == []
    assert [text["name"] for text in found["texts"] if not text["passed"]] == ["accept/wrong.txt"]
    wrong = found["texts"][2]
    assert (wrong["must_be"], wrong["accepted"], wrong["offset"]) == ("accepted", False, 5)
    assert wrong["expected_names"] == ["NUMBER", '"+"']
    assert wrong["message"].startswith("it was rejected at byte 5")


def test_a_grammar_that_is_wrong_is_exit_code_2_and_the_others_are_run(
    sums: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (sums / "broken.gbnf").write_text("root ::= (")
    (sums / "broken" / "accept").mkdir(parents=True)
    (sums / "broken" / "accept" / "a").write_text("a")
    assert run(["check", "grammars"]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("grammars/broken.gbnf: grammar syntax error: ")
    assert "^" in printed.err
    assert "GrammarSyntaxError" in printed.out
    assert printed.out.splitlines()[-1] == ("2 grammars, 3 texts: 1 grammar without verdicts")
