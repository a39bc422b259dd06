"""How long the texts of a part can be, and which bytes stand in them: upper bounds, cheaply."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
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
    members_of,
)
from constrain.frontends.cfg import Repetition, Sequence, Terminal
from constrain.frontends.cfg.graph import Graph

__all__ = ["Shape", "Shapes", "loops_in", "parts_of_term", "shape_of_term"]

T = TypeVar("T", bound=Hashable)
_EVERY_BYTE: Final = (1 << 256) - 1


@dataclass(frozen=True, slots=True)
class Shape:
    """Bounds on the texts of a part.

    Attributes:
        width: Bytes of the longest; None without bound.
        mask: Bit b is set if byte b may stand in one.
        tokens: A token as a whole may stand in one.
    """

    width: int | None
    mask: int
    tokens: bool = False


_NOTHING: Final = Shape(0, 0)
_ANYTHING: Final = Shape(None, _EVERY_BYTE)


def shape_of_term(root: Term, made: dict[Term, Shape]) -> Shape:
    """The shape of a term; `made` keeps those of its parts."""
    return _fold(root, members_of, _of_term, made)


def _of_term(term: Term, parts: list[Shape]) -> Shape:
    if isinstance(term, ByteClass):
        return Shape(1, term.mask)
    if isinstance(term, Literal):
        return Shape(len(term.text), sum([1 << b for b in set(term.text)]))
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
    return _ANYTHING if not term.nullable or members_of(term) else _NOTHING


def _sum(parts: Iterable[Shape]) -> Shape:
    width: int | None = 0
    mask, tokens = 0, False
    for part in parts:
        width = None if width is None or part.width is None else width + part.width
        mask |= part.mask
        tokens |= part.tokens
    return Shape(width, mask, tokens)


def _widest(parts: Iterable[Shape]) -> Shape:
    width: int | None = 0
    mask, tokens = 0, False
    for part in parts:
        width = None if width is None or part.width is None else max(width, part.width)
        mask |= part.mask
        tokens |= part.tokens
    return Shape(width, mask, tokens)


def _repeated(body: Shape, hi: int | None) -> Shape:
    if body.width == 0 or hi == 0:
        return _NOTHING
    width = None if body.width is None or hi is None else body.width * hi
    return Shape(width, body.mask, body.tokens)


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
            todo += members_of(term)


def loops_in(root: Term) -> Iterator[Repeat]:
    """The repeats without bound in a term."""
    for term in parts_of_term(root):
        if isinstance(term, Repeat) and term.hi is None:
            yield term


class Shapes:
    """The shapes of the nodes of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.terms: dict[Term, Shape] = {}
        self._made: dict[int, Shape] = {}
        for component in graph.callees_first:
            for n in component:
                self._made[n] = _ANYTHING if graph.recursive[n] else self._of_node(n)

    def of(self, n: int) -> Shape:
        """The shape of a node; anything at all if it recurses."""
        return self._made[n]

    def _of_node(self, n: int) -> Shape:
        graph = self._graph
        if not graph.productive[n]:
            return _NOTHING
        node = graph.nodes[n]
        if isinstance(node, Terminal):
            return shape_of_term(node.term, self.terms)
        parts = [self._made[s] for s in graph.uses[n]]
        if isinstance(node, Sequence):
            return _sum(parts)
        if isinstance(node, Repetition):
            return _repeated(parts[0], node.hi) if parts else _NOTHING
        return _widest(parts)
