"""What the catalogue has: grammars with their texts and their oracles."""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import lark
import lark.lexer
from lark.indenter import Indenter

from constrain import Grammar
from constrain.fixtures import Fixture, FixtureSet, find_grammars, load

__all__ = ["CATALOGUE", "LARK_NAMES", "NAMES", "Entry", "entry", "is_outside"]

# Else lark, which looks for terminals that overlap, takes a minute to read C or SQL.
lark.lexer.has_interegular = False

SMALL = 5000
"""Length of a grammar that is small."""
CATALOGUE = Path(__file__).resolve().parents[2] / "grammars"
PATHS = {path.stem: path for path in find_grammars([CATALOGUE])}
NAMES = sorted(PATHS)
LARK_NAMES = [name for name in NAMES if PATHS[name].suffix == ".lark"]


class Entry:
    """A grammar of the catalogue.

    Attributes:
        name: Of the grammar.
        loaded: What is in its folder.
        accept: Texts of the grammar.
        reject: Texts that are none.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.loaded: FixtureSet = load(PATHS[name])
        self.accept = [f for f in self.loaded.fixtures if f.verdict == "accept"]
        self.reject = [f for f in self.loaded.fixtures if f.verdict == "reject"]

    @functools.cached_property
    def grammar(self) -> Grammar:
        """Made once for all tests of a process."""
        return self.loaded.grammar()

    @property
    def share(self) -> float:
        """How much of the random work is done: states of Lark grammars take long to make."""
        if self.name not in LARK_NAMES:
            return 1.0
        return 0.25 if len(self.loaded.text) < SMALL else 0.05

    @functools.cached_property
    def theirs(self) -> lark.Lark | None:
        """lark's own parser of a Lark grammar; None for another."""
        if self.name not in LARK_NAMES:
            return None
        return lark.Lark(self.loaded.text, **self.lark_options())

    def lark_options(self) -> dict[str, Any]:
        """What lark itself is to be called with."""
        options: dict[str, Any] = {"parser": "lalr", **self.loaded.options.options}
        options["import_paths"] = [str(self.loaded.path.resolve().parent)]
        if self.loaded.options.indenter is not None:
            attributes = dict(self.loaded.options.indenter)
            options["postlex"] = type("CatalogueIndenter", (Indenter,), attributes)()
        return options

    @functools.cached_property
    def oracle(self) -> ModuleType:
        """The module that asks the real parser."""
        return importlib.import_module(f"tests.catalogue.oracles.{self.name}")


@functools.cache
def entry(name: str) -> Entry:
    """The grammar of a name."""
    return Entry(name)


def is_outside(text: Fixture) -> bool:
    """Whether the real parser takes a text that the grammar leaves out on purpose."""
    return text.path.name.startswith("outside-")
