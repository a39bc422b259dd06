"""A grammar as it is written: every definition with its expression, and where each part stands.

Expressions are those of `frontends.cfg`; leaves hold terms. What a front-end resolves elsewhere (an
import, a terminal that only a lexer callback makes) is *opaque*: a name that some text stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from constrain.algebra.terms import ALL, ANY_BYTE, cat
from constrain.frontends.cfg import Expression, Symbol, Terminal, parts_of
from constrain.lint.findings import Source

__all__ = ["OPAQUE", "Definition", "Outline", "Span", "walk"]

Span = tuple[int, int]

OPAQUE: Final = Terminal(cat(ANY_BYTE, ALL))
"""Something that is not known here; it has texts, and none is empty."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A rule or terminal.

    Attributes:
        span: Of its name.
        body: What it stands for.
        is_terminal: It is one lexeme; without a lexer there are no terminals.
        parameters: Of a template: names in the body that are not names of definitions.
    """

    name: str
    span: Span
    body: Expression
    is_terminal: bool = False
    parameters: tuple[str, ...] = ()


@dataclass(slots=True)
class Outline:
    """A grammar.

    Attributes:
        source: Its text.
        definitions: In order.
        opaque: Names that are defined elsewhere, each with its place.
        known: What opaque names stand for, as far as that is known.
        places: Spans of expressions.
        starts: The names of the whole.
        roots: Names used otherwise: ignored, overridden, declared for a callback.
        uses: Names that a leaf uses besides.
        ignored: Expressions that may stand between any two lexemes, with their places.
    """

    source: Source
    definitions: dict[str, Definition] = field(default_factory=dict)
    opaque: dict[str, Span] = field(default_factory=dict)
    known: dict[str, Expression] = field(default_factory=dict)
    places: dict[Expression, Span] = field(default_factory=dict)
    starts: tuple[str, ...] = ()
    roots: set[str] = field(default_factory=set)
    uses: dict[Expression, tuple[str, ...]] = field(default_factory=dict)
    ignored: list[tuple[Expression, Span]] = field(default_factory=list)

    def place(self, expression: Expression, name: str) -> Span | None:
        """Where a part of the definition `name` stands, else where that stands."""
        found = self.places.get(expression)
        return self.definitions[name].span if found is None and name in self.definitions else found

    def productions(self) -> Mapping[str, Expression]:
        """Every definition, and what stands for every other name that is used."""
        made: dict[str, Expression] = {n: d.body for n, d in self.definitions.items()}
        bodies = [*made.values(), *[body for body, _ in self.ignored]]
        used = [part.name for body in bodies for part in walk(body) if isinstance(part, Symbol)]
        for name in (*used, *self.starts, *self.opaque):
            made.setdefault(name, self.known.get(name, OPAQUE))
        return made


def walk(root: Expression) -> Iterator[Expression]:
    """An expression and all its parts, each before its own parts; names are not followed."""
    todo = [root]
    while todo:
        part = todo.pop()
        yield part
        todo += reversed(parts_of(part))
