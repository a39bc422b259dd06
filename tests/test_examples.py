"""Every example runs, prints what its docstring says, and stays an example."""

from __future__ import annotations

import ast
import contextlib
import io
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_prints_what_it_says(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    documentation = ast.get_docstring(ast.parse(source))
    assert documentation is not None
    _, command, expected = documentation.partition(f"$ python examples/{path.name}\n")
    assert command, "the docstring shows the command and its output"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(path), run_name="__main__")
    shown = "\n".join(line.rstrip() for line in printed.getvalue().splitlines())
    assert shown == "\n".join(line.rstrip() for line in expected.splitlines())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60
