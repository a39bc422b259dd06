"""Terminals as prioritized programs: what a backtracking engine tries, in the order it tries it.

`re` takes the first way through a pattern that succeeds, not the longest match. So a terminal is a
program of small instructions in which the order of choices is kept: greedy tries the body of a loop
first, lazy tries the way out, alternatives are tried from left to right. `threads` runs it.

    a|ab    Fork(Char a -> Match, Char a -> Char b -> Match)     on "ab" matches "a"

Cost: O(size of the pattern); counted repeats are unrolled, bounded by `Limits.max_source_nodes`.
Source: Cox, "Regular expression matching: the virtual machine approach" (2009).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.errors import UnsupportedFeatureError
from constrain.frontends.regex.nodes import (
    EMPTY_TEXT,
    Alternation,
    Anchor,
    AnchorKind,
    Chars,
    Concat,
    Look,
    RegexNode,
    Repeat,
)
from constrain.limits import Limits

__all__ = ["Behind", "Char", "Fork", "Instruction", "Loop", "Match", "Peek", "Program"]

_MAX_LOOKAROUND_DEPTH: Final = 16


@dataclass(slots=True, eq=False)
class Char:
    """Read a code point out of `points`, go on at `then`."""

    points: CodepointSet
    then: int


@dataclass(slots=True, eq=False)
class Fork:
    """Go on at each of `ways`, the preferred first; at none, if there is none."""

    ways: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Loop:
    """A repeat without bound: `body` leads back here; a round that read nothing is the last."""

    body: int
    then: int
    lazy: bool


@dataclass(slots=True, eq=False)
class Peek:
    """Go on at `then` if what comes matches from `body` on; if it does not, when negative."""

    body: int
    negative: bool
    then: int


@dataclass(slots=True, eq=False)
class Behind:
    """Go on at `then` if the last `width` code points are a match of `body`; or not, if negative.

    Attributes:
        body: Matches of it all have the same width and nothing in it looks around.
    """

    body: RegexNode
    width: int
    negative: bool
    then: int


@dataclass(slots=True, eq=False)
class Match:
    """The end of a terminal, or of a lookahead (None)."""

    name: str | None


Instruction = Char | Fork | Loop | Peek | Behind | Match
_Compiling = Generator[tuple[RegexNode, int], int, int]


class Program:
    """The instructions of all terminals of one grammar; an address is an index.

    Attributes:
        code: The instructions.
        seen: Address of the end of every lookahead.
        memory: Code points before a place that a lookbehind may ask about, at most.
        sets: All sets of code points that instructions read.
        behind_sets: Those that they look back at.
    """

    def __init__(self, limits: Limits) -> None:
        self.code: list[Instruction] = []
        self.seen = self._emit_at(Match(None), limits)
        self.memory = 0
        self.sets: dict[CodepointSet, None] = {}
        self.behind_sets: dict[CodepointSet, None] = {}
        self._limits = limits
        self._depth = 0

    def add(self, node: RegexNode, name: str) -> int:
        """Compile a pattern; the address where it begins.

        Raises:
            UnsupportedFeatureError: A lookbehind whose width is not fixed.
            LimitExceededError: There are too many instructions.
        """
        return self._compile(node, self._emit(Match(name)))

    def looks_before(self, begin: int) -> bool:
        """Whether a terminal that begins at an address may ask about what comes before it."""
        distance = {begin: 0}
        todo = [begin]
        for at in todo:  # in order of distance, but for what reads nothing: so again where less
            instruction, read = self.code[at], distance[at]
            if isinstance(instruction, Behind) and instruction.width > read:
                return True
            for then, more in _successors(instruction):
                if read + more < distance.get(then, self.memory):
                    distance[then] = read + more
                    todo.append(then)
        return False

    def looks_ahead(self, begin: int) -> bool:
        """Whether a terminal that begins at an address asks about what comes after a place."""
        seen = {begin}
        todo = [begin]
        while todo:
            instruction = self.code[todo.pop()]
            if isinstance(instruction, Peek):
                return True
            new = [then for then, _ in _successors(instruction) if then not in seen]
            seen.update(new)
            todo += new
        return False

    def _emit_at(self, instruction: Instruction, limits: Limits) -> int:
        limits.check("max_source_nodes", len(self.code) + 1, "the terminals of a grammar")
        self.code.append(instruction)
        return len(self.code) - 1

    def _emit(self, instruction: Instruction) -> int:
        return self._emit_at(instruction, self._limits)

    def _compile(self, node: RegexNode, then: int) -> int:
        """Run the generators below on a list of their own, so that depth costs no stack."""
        running = [self._parts(node, then)]
        result: int | None = None
        while running:
            try:
                inner = next(running[-1]) if result is None else running[-1].send(result)
            except StopIteration as stopped:
                running.pop()
                result = stopped.value
            else:
                result = None
                running.append(self._parts(*inner))
        assert result is not None
        return result

    def _parts(self, node: RegexNode, then: int) -> _Compiling:
        """Address of `node`, then `then`. Yields what must be compiled before."""
        if node is EMPTY_TEXT:
            return then
        if isinstance(node, Chars):
            self.sets[node.points] = None
            return self._emit(Char(node.points, then))
        if isinstance(node, Concat):
            for part in reversed(node.parts):
                then = yield part, then
            return then
        if isinstance(node, Alternation):
            ways = []
            for member in node.members:
                ways.append((yield member, then))
            return self._emit(Fork(tuple(ways)))
        if isinstance(node, Repeat):
            return (yield from self._repeat(node, then))
        if isinstance(node, Look):
            return (yield from self._look(node, then))
        assert isinstance(node, Anchor), node
        return self._anchor(node, then)

    def _repeat(self, node: Repeat, then: int) -> _Compiling:
        if node.hi is None:
            here = self._emit(Fork(()))
            body = yield node.body, here
            self.code[here] = Loop(body, then, node.lazy)
            then = here
        else:
            out = then
            for _ in range(node.hi - node.lo):
                body = yield node.body, then
                then = self._emit(Fork((out, body) if node.lazy else (body, out)))
        for _ in range(node.lo):
            then = yield node.body, then
        return then

    def _look(self, node: Look, then: int) -> _Compiling:
        if node.behind:
            return self._behind(node.body, node.negative, then)
        self._depth += 1
        if self._depth > _MAX_LOOKAROUND_DEPTH:
            raise UnsupportedFeatureError("lookarounds nest too deep")
        body = yield node.body, self.seen
        self._depth -= 1
        return self._emit(Peek(body, node.negative, then))

    def _behind(self, body: RegexNode, negative: bool, then: int) -> int:
        width = body.min_width
        if not body.plain or body.max_width != width:
            raise UnsupportedFeatureError(
                "a lookbehind that looks around, or whose width is not fixed"
            )
        self.memory = max(self.memory, width)
        self.behind_sets.update(dict.fromkeys(_sets_in(body)))
        return self._emit(Behind(body, width, negative, then))

    def _ahead(self, points: CodepointSet, negative: bool, then: int) -> int:
        self.sets[points] = None
        return self._emit(Peek(self._emit(Char(points, self.seen)), negative, then))

    def _anchor(self, node: Anchor, then: int) -> int:
        kind, points = node.kind, node.points
        anything = Chars(CodepointSet.ANY)
        if kind is AnchorKind.TEXT_START:
            return self._behind(anything, True, then)
        if kind is AnchorKind.TEXT_END:
            return self._ahead(CodepointSet.ANY, True, then)
        if kind is AnchorKind.LINE_START:
            start = self._behind(anything, True, then)
            return self._emit(Fork((start, self._behind(Chars(points), False, then))))
        if kind is AnchorKind.LINE_END:
            return self._ahead(~points, True, then)
        other = kind is AnchorKind.BOUNDARY
        return self._emit(
            Fork(
                tuple(
                    self._behind(
                        Chars(points), negative, self._ahead(points, negative != other, then)
                    )
                    for negative in (False, True)
                )
            )
        )


def _successors(instruction: Instruction) -> list[tuple[int, int]]:
    """Where an instruction leads, each with the number of code points read on the way."""
    if isinstance(instruction, Char):
        return [(instruction.then, 1)]
    if isinstance(instruction, Fork):
        return [(way, 0) for way in instruction.ways]
    if isinstance(instruction, (Loop, Peek)):
        return [(instruction.body, 0), (instruction.then, 0)]
    return [] if isinstance(instruction, Match) else [(instruction.then, 0)]


def _sets_in(root: RegexNode) -> Iterable[CodepointSet]:
    todo = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, Chars):
            yield node.points
        elif isinstance(node, Concat):
            todo += node.parts
        elif isinstance(node, Alternation):
            todo += node.members
        elif isinstance(node, Repeat):
            todo.append(node.body)
