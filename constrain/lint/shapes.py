"""How long the texts of a part can be, and which bytes stand in them: upper bounds, cheaply."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, TypeVar

from constrain.algebra.terms import (
    Alt,
    And,
    ByteClass,
    Cat,
    Literal,
    Repeat,
    Term,
    Token,
    complement,
)
from constrain.frontends.cfg import Repetition, Sequence, Terminal
from constrain.frontends.cfg.graph import Graph
from constrain.frontends.regex import from_regex
from constrain.limits import Limits
from constrain.lint.witness import Witnesses

__all__ = ["Shape", "Shapes", "loops_in", "parts_of_term"]

T = TypeVar("T", bound=Hashable)
_EVERY_BYTE: Final = (1 << 256) - 1


@dataclass(frozen=True, slots=True)
class Shape:
    """Bounds on the texts of a part.

    Attributes:
        width: Bytes of the longest; None without bound.
        mask: Bit b is set if byte b may stand in one.
        tokens: A token as a whole may stand in one.
        blank: All are whitespace.
    """

    width: int | None
    mask: int
    tokens: bool = False
    blank: bool = False


_NOTHING: Final = Shape(0, 0, blank=True)
_ANYTHING: Final = Shape(None, _EVERY_BYTE)
_ASCII_BLANKS: Final = sum([1 << b for b in b" \t\r\n\v\f\x1c\x1d\x1e\x1f"])
_OTHER_ASCII: Final = (1 << 128) - 1 & ~_ASCII_BLANKS


def _shape_of_term(root: Term, made: dict[Term, Shape]) -> Shape:
    """The shape of a term; `made` keeps those of its parts."""
    return _fold(root, lambda term: term.parts, _of_term, made)


def _of_term(term: Term, parts: list[Shape]) -> Shape:
    if isinstance(term, ByteClass):
        return Shape(1, term.mask, blank=not term.mask & ~_ASCII_BLANKS)
    if isinstance(term, Literal):
        mask = sum([1 << b for b in set(term.text)])
        return Shape(len(term.text), mask, blank=not mask & ~_ASCII_BLANKS)
    if isinstance(term, Cat):
        return _sum(parts)
    if isinstance(term, Alt):
        return _widest(parts)
    if isinstance(term, Repeat):
        return _repeated(parts[0], term.hi)
    if isinstance(term, And):
        known = [p for p in parts if p != _ANYTHING] or [_ANYTHING]
        return min(known, key=lambda s: (s.width is None, s.width or 0))
    if isinstance(term, Token):
        return Shape(1, 0, tokens=True)
    return _ANYTHING if not term.nullable or term.parts else _NOTHING


def _sum(parts: Iterable[Shape]) -> Shape:
    width: int | None = 0
    for part in parts:
        width = None if width is None or part.width is None else width + part.width
    return _any_of(parts, width)


def _widest(parts: Iterable[Shape]) -> Shape:
    width: int | None = 0
    for part in parts:
        width = None if width is None or part.width is None else max(width, part.width)
    return _any_of(parts, width)


def _any_of(parts: Iterable[Shape], width: int | None) -> Shape:
    mask, tokens, blank = 0, False, True
    for part in parts:
        mask |= part.mask
        tokens |= part.tokens
        blank &= part.blank
    return Shape(width, mask, tokens, blank)


def _repeated(body: Shape, hi: int | None) -> Shape:
    if body.width == 0 or hi == 0:
        return _NOTHING
    width = None if body.width is None or hi is None else body.width * hi
    return replace(body, width=width)


def _fold(
    root: T,
    parts_of: Callable[[T], Iterable[T]],
    make: Callable[[T, list[Shape]], Shape],
    made: dict[T, Shape],
) -> Shape:
    todo = [root]
    while todo:
        this = todo[-1]
        if this in made:
            todo.pop()
            continue
        missing = [p for p in parts_of(this) if p not in made]
        if missing:
            todo += missing
            continue
        todo.pop()
        made[this] = make(this, [made[p] for p in parts_of(this)])
    return made[root]


def parts_of_term(root: Term) -> Iterator[Term]:
    """A term and its parts, each once; rules are not looked into."""
    seen = set()
    todo = [root]
    while todo:
        term = todo.pop()
        if term not in seen:
            seen.add(term)
            yield term
            todo += term.parts


def loops_in(root: Term) -> Iterator[Repeat]:
    """The repeats without bound in a term."""
    for term in parts_of_term(root):
        if isinstance(term, Repeat) and term.hi is None:
            yield term


class Shapes:
    """The shapes of the nodes of a graph.

    Args:
        graph: Of the grammar.
        limits: Bound the search for what is whitespace beyond ASCII.
    """

    def __init__(self, graph: Graph, limits: Limits) -> None:
        self._graph = graph
        self._terms: dict[Term, Shape] = {}
        self._blank: dict[Term, bool] = {}
        self._witnesses = Witnesses(limits)
        self._made: dict[int, Shape] = {}
        for component in graph.callees_first:
            if graph.recursive[component[0]]:
                self._of_cycle(component)
            else:
                self._made[component[0]] = self._of_node(component[0])

    def of(self, n: int) -> Shape:
        """The shape of a node; one that recurses has no greatest width."""
        return self._made[n]

    def of_term(self, term: Term) -> Shape:
        """The shape of a term."""
        shape = _shape_of_term(term, self._terms)
        if shape.blank or shape.tokens or shape.mask & _OTHER_ASCII or not shape.mask:
            return shape
        if term not in self._blank:
            outside = (term, complement(_whitespace()))
            self._blank[term] = self._witnesses.proves_empty(outside)
        return replace(shape, blank=self._blank[term])

    def _of_cycle(self, component: list[int]) -> None:
        graph, inside = self._graph, set(component)
        parts = [self._made[s] for n in component for s in graph.uses[n] if s not in inside]
        shape = _any_of(parts, None)
        self._made.update(dict.fromkeys(component, shape))

    def _of_node(self, n: int) -> Shape:
        graph = self._graph
        if not graph.productive[n]:
            return _NOTHING
        node = graph.nodes[n]
        if isinstance(node, Terminal):
            return self.of_term(node.term)
        parts = [self._made[s] for s in graph.uses[n]]
        if isinstance(node, Sequence):
            return _sum(parts)
        if isinstance(node, Repetition):
            return _repeated(parts[0], node.hi) if parts else _NOTHING
        return _widest(parts)


@cache
def _whitespace() -> Term:
    """Any whitespace of Unicode, any number of times."""
    return from_regex(r"\s*")
