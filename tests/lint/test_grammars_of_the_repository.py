"""The catalogue and the shared grammars: what is found there is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from constrain.fixtures.options import parse_options
from constrain.lint import lint
from tests.conftest import SHARED, requires_shared

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = sorted(
    p for p in (ROOT / "grammars").iterdir() if p.suffix in (".gbnf", ".regex", ".json")
)
FILES = SHARED / "data" / "grammars" / "files"


@pytest.mark.parametrize("path", CATALOGUE, ids=[p.name for p in CATALOGUE])
def test_the_catalogue_has_no_mistakes(path):
    options = {}
    written = path.with_suffix("") / "options.toml"
    if written.exists():
        said = parse_options(written.read_text(), path.suffix).options
        options = {"start": said.get("root"), "dialect": said.get("dialect")}
    found = lint(path.read_text(), kind=path.suffix[1:], **options)
    assert [f for f in found if f.severity != "note"] == []


LARK = sorted(p for p in (ROOT / "grammars").glob("*.lark") if p.stat().st_size < 4_000)


@pytest.mark.parametrize("path", LARK, ids=[p.name for p in LARK])
def test_lark_grammars_of_the_catalogue_have_no_mistakes(path, monkeypatch):
    lark = pytest.importorskip("lark")
    # Where it is installed, lark compares all terminals with it, which can take minutes.
    monkeypatch.setattr(lark.lexer, "has_interegular", False)
    options = {}
    written = path.with_suffix("") / "options.toml"
    if written.exists():
        options = dict(parse_options(written.read_text(), path.suffix).options)
    found = lint(path.read_text(), kind="lark", **options)
    assert [f for f in found if f.severity != "note"] == []


def _found(name: str, **options):
    path = FILES / name
    kind = "lark" if path.suffix == ".lark" else "gbnf"
    if kind == "lark":
        pytest.importorskip("lark")
    found = lint(path.read_text(), kind=kind, **options)
    return {(f.code, f.line) for f in found if f.severity != "note"}


@requires_shared
@pytest.mark.parametrize(
    "name",
    [
        "llama.cpp/grammars/japanese.gbnf",
        "llama.cpp/grammars/json.gbnf",
        "lark/lark/grammars/lark.lark",
        "outlines/src/outlines/grammars/arithmetic.lark",
        "outlines/src/outlines/grammars/json.lark",
        "syncode/syncode/parsers/grammars/calc_grammar.lark",
        "syncode/syncode/parsers/grammars/c_grammar.lark",
        "transformers-cfg/examples/grammars/SMILES/generic.ebnf",
    ],
)
def test_sound_grammars_have_no_mistakes(name):
    assert _found(name) == set()


@requires_shared
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Word lists into which names were pasted twice.
        (
            "transformers-cfg/examples/grammars/cIE.ebnf",
            {("duplicate-alternative", 8), ("duplicate-alternative", 9)},
        ),
        # "(EventAllDayOnDate " is there twice; terminals that were copied along and are not used.
        (
            "transformers-cfg/examples/grammars/calflow.ebnf",
            {
                ("duplicate-alternative", 51),
                ("unused-rule", 188),
                ("unused-rule", 200),
            },
        ),
        # Each SIGNED_FLOAT is tried before a FLOAT; `[a-zA-z]` takes words.
        (
            "lark/examples/composition/csv.lark",
            {("terminal-overlap", 5), ("terminal-never-wins", 13)},
        ),
    ],
)
def test_mistakes_of_known_grammars(name, expected):
    assert _found(name) >= expected
