"""`constrain lint`: what is printed, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from constrain.cli.app import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "clean.gbnf").write_text('root ::= "a" | "b"\n')
    (tmp_path / "long.gbnf").write_text('root ::= "a" [a-z]*\n')
    (tmp_path / "wrong.gbnf").write_text('root ::= "a" | "b"\n  | "a"\nx ::= "c"\n')
    (tmp_path / "part.gbnf").write_text('begin ::= "a"\n')
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "options.toml").write_text('[options]\nroot = "begin"\n')
    return tmp_path


def test_a_clean_grammar(folder, capsys):
    assert run(["lint", str(folder / "clean.gbnf")]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "1 grammar: nothing found\n"


def test_notes_count_when_strict(folder, capsys):
    assert run(["lint", str(folder / "long.gbnf")]) == 0
    assert "note unbounded-repetition" in capsys.readouterr().out
    assert run(["lint", "--strict", str(folder / "long.gbnf")]) == 1
    assert (
        run(["lint", "--strict", "--ignore", "unbounded-repetition", str(folder / "long.gbnf")])
        == 0
    )


def test_findings_have_file_line_column_caret_and_advice(folder, capsys):
    name = str(folder / "wrong.gbnf")
    assert run(["lint", name]) == 1
    printed = capsys.readouterr()
    assert printed.out == (
        f'{name}:2:5: warning duplicate-alternative: the alternative `"a"` stands there twice, '
        "first in line 1\n"
        '      | "a"\n'
        "        ^^^\n"
        "    advice: take one out\n"
        f"{name}:3:1: warning unused-rule: no text of 'root' needs rule 'x'\n"
        '    x ::= "c"\n'
        "    ^\n"
        "    advice: take it out, or use it where it was meant to stand\n"
    )
    assert printed.err == "1 grammar: 2 warnings\n"


def test_json(folder, capsys):
    names = [str(folder / "clean.gbnf"), str(folder / "wrong.gbnf"), str(folder / "none.gbnf")]
    assert run(["lint", "--json", *names]) == 2
    files = json.loads(capsys.readouterr().out)["files"]
    assert [f["file"] for f in files] == names
    assert files[0]["findings"] == []
    assert [f["code"] for f in files[1]["findings"]] == ["duplicate-alternative", "unused-rule"]
    assert files[1]["findings"][0]["line"] == 2
    assert "No such file" in files[2]["error"]


def test_options_beside_the_grammar_count_and_those_given_come_first(folder, capsys):
    assert run(["lint", str(folder / "part.gbnf")]) == 0
    assert run(["lint", "--start", "root", str(folder / "part.gbnf")]) == 1
    assert "undefined-name" in capsys.readouterr().out


def test_options_of_a_pattern_and_of_a_schema_count(tmp_path, capsys):
    (tmp_path / "name.regex").write_text("[a-z]{1,9}  # a ( in a comment\n")
    (tmp_path / "twice.json").write_text('{"pattern": "^(a)\\\\1$", "type": "string"}')
    assert run(["lint", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "name.regex:1:17: error syntax" in out
    assert "twice.json:1:2: error unsupported" in out
    for name, option in (("name", 'flags = "x"'), ("twice", 'on_unsupported = "relax"')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "options.toml").write_text(f"[options]\n{option}\n")
    assert run(["lint", str(tmp_path)]) == 0, capsys.readouterr().out


def test_wrong_options_of_one_grammar_leave_the_others(folder, capsys):
    (folder / "part" / "options.toml").write_text('[options]\nrot = "begin"\n')
    assert run(["lint", str(folder / "part.gbnf"), str(folder / "wrong.gbnf")]) == 2
    printed = capsys.readouterr()
    assert "options.toml: unknown key 'rot' in [options]" in printed.out
    assert "duplicate-alternative" in printed.out
    assert printed.err == "2 grammars: 2 warnings, 1 not read\n"


def test_a_file_that_is_no_grammar(folder, capsys):
    (folder / "a.txt").write_text("")
    (folder / "bytes.gbnf").write_bytes(b"\xff")
    assert run(["lint", str(folder / "a.txt"), str(folder / "bytes.gbnf")]) == 2
    out = capsys.readouterr().out
    assert "a.txt: cannot be read: its name does not end with one of" in out
    assert "bytes.gbnf: cannot be read" in out


def test_a_folder_stands_for_its_grammars(tmp_path, capsys):
    (tmp_path / "a.regex").write_text("(a*)*\n")
    (tmp_path / "b.json").write_text('{"type": "null"}')
    assert run(["lint", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert "a.regex:1:1: warning nullable-loop" in printed.out
    assert printed.err.startswith("2 grammars: 1 warning")


def test_a_code_that_does_not_exist(folder, capsys):
    assert run(["lint", "--ignore", "unused", str(folder / "clean.gbnf")]) == 2
    assert "there is no code 'unused'" in capsys.readouterr().err


def test_a_lark_grammar_with_imports_and_indentation(tmp_path, capsys):
    pytest.importorskip("lark")
    (tmp_path / "word.lark").write_text("WORD: /[a-z]{1,9}/\n")
    (tmp_path / "block.lark").write_text(
        'start: WORD ":" _NL _INDENT WORD _NL _DEDENT\n_NL: /\\n */\n%ignore " "\n'
        "%import word.WORD\n%declare _INDENT _DEDENT\n"
    )
    (tmp_path / "block").mkdir()
    (tmp_path / "block" / "options.toml").write_text(
        '[indenter]\nNL_type = "_NL"\nINDENT_type = "_INDENT"\nDEDENT_type = "_DEDENT"\n'
    )
    assert run(["lint", str(tmp_path / "block.lark")]) == 0, capsys.readouterr().out


def test_a_tokenizer(tmp_path, capsys):
    from tests.generation.test_prompts import small_tokenizer

    small_tokenizer().save_pretrained(tmp_path / "tokenizer")
    capsys.readouterr()
    (tmp_path / "think.gbnf").write_text('root ::= <think> "a"\n')
    name = str(tmp_path / "think.gbnf")
    assert run(["lint", name]) == 0
    assert run(["lint", name, "--tokenizer", str(tmp_path / "tokenizer")]) == 1
    assert "error absent-token: the vocabulary has no token '<think>'" in capsys.readouterr().out
    for other in ("none", "think.gbnf", "."):
        assert run(["lint", name, "--tokenizer", str(tmp_path / other)]) == 2
        assert "model error: the tokenizer" in capsys.readouterr().err
    assert run(["lint", name, "--tokenizer", str(tmp_path / "none")]) == 2
    assert "there is no such folder or file" in capsys.readouterr().err


def test_a_tokenizer_in_a_file_that_does_not_say_what_ends_a_text(tmp_path, capsys):
    from tests.generation.test_prompts import small_tokenizer

    small_tokenizer().save_pretrained(tmp_path)
    (tmp_path / "think.gbnf").write_text('root ::= <think> "a"\n')
    arguments = ["lint", str(tmp_path / "think.gbnf"), "--tokenizer"]
    assert run([*arguments, str(tmp_path / "tokenizer.json")]) == 1
    assert "error absent-token: the vocabulary has no token '<think>'" in capsys.readouterr().out
