"""The documentation runs: every Python block, and what it prints is what the page says.

A page's blocks share one namespace, in order. A `text` block right after a Python block is its
output; if the Python block raises, it is the name of the error and its message.
`<!-- needs: model -->` before a block runs it only where the real model is.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import constrain
from constrain import errors
from tests.real_model import model_folder

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"(?P<note><!-- needs: model -->\s*)?^```python\n(?P<code>.*?)^```\n"
    r"(?:\s*^```text\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
ERRORS = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if issubclass(value, errors.ConstrainError)
]


@dataclass(frozen=True)
class Block:
    code: str
    output: str | None
    needs_model: bool
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            match["code"],
            match["output"],
            match["note"] is not None,
            text.count("\n", 0, match.start("code")) + 1,
        )
        for match in BLOCK.finditer(text)
    ]


def run(block: Block, page: Path, namespace: dict[str, Any]) -> tuple[str, BaseException | None]:
    """Run one block; return what it printed, the error in the form of the page, and the error."""
    printed = io.StringIO()
    # Line numbers of the page, so that a failure points into it.
    # A page has no `from __future__` of this file's: annotations are values in it.
    source = "\n" * (block.line - 1) + block.code
    code = compile(source, str(page), "exec", dont_inherit=True)
    try:
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
    except errors.ConstrainError as error:
        return f"{printed.getvalue()}{type(error).__name__}: {error}\n", error
    return printed.getvalue(), None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_do_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    for block in blocks(page):
        if block.needs_model:
            model_folder()
        printed, error = run(block, page, namespace)
        if block.output is None:
            if error is not None:
                raise error
        else:
            assert printed == block.output, f"{page.name}, line {block.line}"


def test_every_page_is_well_formed() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert text.count("```") % 2 == 0, page
        assert len(blocks(page)) == len(re.findall(r"^```python$", text, re.MULTILINE)), page
        for target in re.findall(r"\]\((?!https?://)([^)#]+)", text):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_error_has_a_section_that_provokes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "errors.md"
    text = page.read_text(encoding="utf-8")
    raised: set[type] = set()
    namespace: dict[str, Any] = {}
    for block in blocks(page):
        _, error = run(block, page, namespace)
        raised.update(type(error).__mro__)
    for one in ERRORS:
        assert f"\n## `{one.__name__}` (`{one.slug}`)\n" in text, f"{one.__name__} has no section"
        assert one in raised, f"is {one.__name__} raised on the page?"
    assert len(ERRORS) == len({one.slug for one in ERRORS}), "slugs are distinct"


def test_every_error_is_public() -> None:
    assert {one.__name__ for one in ERRORS} <= set(constrain.__all__)


@pytest.mark.parametrize(
    "room",
    [p.parent for p in sorted((ROOT / "constrain").rglob("*/__init__.py"))],
    ids=lambda room: str(room.relative_to(ROOT)),
)
def test_a_room_names_all_that_is_in_it(room: Path) -> None:
    docstring = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8")))
    assert docstring is not None
    modules = {path.stem for path in room.glob("*.py")} - {"__init__"}
    rooms = {path.parent.name for path in room.glob("*/__init__.py")}
    named = {
        word for code in re.findall(r"`([^`]+)`", docstring) for word in re.findall(r"\w+", code)
    }
    assert modules | rooms <= named


def test_the_test_command_is_the_one_that_ci_runs() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^pip install .* && .*$", readme, re.MULTILINE)
    assert len([c for c in commands if c.endswith("&& pytest")]) == 1
    assert len([c for c in commands if c.endswith("&& constrain demo")]) == 1
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
