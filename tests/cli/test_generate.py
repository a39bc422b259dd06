"""`constrain generate --json`: a program reads errors as it reads texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from constrain.cli.app import run


@pytest.mark.parametrize(
    ("schema", "options", "expected"),
    [
        ('{"type": "strng"}', [], {"kind": "schema", "pointer": "#/type"}),
        ('{"type": "a', [], {"kind": "schema", "pointer": None}),
        ('{"pattern": "(a)\\\\1"}', [], {"kind": "unsupported-feature", "pointer": "#/pattern"}),
        ("false", [], {"kind": "unsatisfiable", "pointer": "#"}),
        ("{}", ["--temperature", "-1"], {"kind": "sampling"}),
        ("{}", ["--model", "none"], {"kind": "model"}),
    ],
)
def test_errors(
    schema: str,
    options: list[str],
    expected: dict[str, str | None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.json").write_text(schema)
    arguments = ["generate", "--schema", "s.json", "--prompt", "x", *options]
    assert run([*arguments, "--json"]) == 2
    printed = capsys.readouterr()
    error = json.loads(printed.out)
    assert {name: error.get(name) for name in expected} == expected
    assert error["error"]
    assert error["in"] == ("s.json" if "pointer" in expected else None)
    assert printed.err == ""
    assert run(arguments) == 2
    assert capsys.readouterr().out == ""


def test_what_is_relaxed_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.json").write_text('{"type": "string", "pattern": "(a)\\\\1"}')
    arguments = ["generate", "--schema", "s.json", "--prompt", "x", "--model", "none"]
    assert run([*arguments, "--on-unsupported", "relax"]) == 2
    assert capsys.readouterr().err.startswith("relaxed: 'pattern' at #: a back-reference")
