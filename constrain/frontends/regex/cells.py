"""What is still to be matched of a pattern with assertions, from a place in it to the end.

A list of nodes; equal ones are one object, so that what is remembered of a cell is found again.
"""

from __future__ import annotations

from typing import Final

from constrain.frontends.regex.nodes import EMPTY_TEXT, Chars, Concat, RegexNode, Repeat
from constrain.frontends.regex.resolve import Resolved

__all__ = ["END", "MARK", "TAIL", "Cell", "Cells"]


class Cell:
    """What is still to be matched: `node`, then `next`.

    Attributes:
        node: None at the end: of the text (`END`), of a lookahead (`TAIL`: anything may follow),
            of a lookbehind (`MARK`).
        lo: Of a `Repeat`, the least count that is left; of a `Concat`, the first part that is left.
        hi: Of a `Repeat`, the greatest count that is left.
        next: What comes after `node`; None at an end.
        inside: In a loop or a followed lookahead: lookaheads become obligations, not
            intersections.
        left: Bits of the left memory that may be asked for before a code point is read.
        behind: Long lookbehinds that may be asked for at any time, a bit each.
    """

    __slots__ = ("behind", "hi", "inside", "left", "lo", "next", "node")

    def __init__(
        self,
        node: RegexNode | None,
        lo: int,
        hi: int | None,
        next_cell: Cell | None,
        inside: bool,
        left: int,
        behind: int,
    ) -> None:
        self.node = node
        self.lo = lo
        self.hi = hi
        self.next = next_cell
        self.inside = inside
        self.left = left
        self.behind = behind


END: Final = Cell(None, 0, None, None, False, 0, 0)
TAIL: Final = Cell(None, 0, None, None, False, 0, 0)
MARK: Final = Cell(None, 0, None, None, False, 0, 0)


class Cells:
    """Makes the cells of one pattern."""

    def __init__(self, resolved: Resolved) -> None:
        self._resolved = resolved
        self._made: dict[tuple[object, ...], Cell] = {}

    def cell(self, node: RegexNode, then: Cell, *, inside: bool) -> Cell:
        """`node`, then `then`."""
        if isinstance(node, Repeat):
            return self.repeat(node, node.lo, node.hi, then, inside)
        if isinstance(node, Concat):
            return self.concat(node, 0, then, inside)
        if node is EMPTY_TEXT:
            return then
        return self._make(node, 0, None, then, inside, node.nullable)

    def repeat(self, node: Repeat, lo: int, hi: int | None, then: Cell, inside: bool) -> Cell:
        """The cell of the body `lo` to `hi` times."""
        if hi == 0:
            return then
        if node.plain and node.body.nullable:
            lo = 0
        return self._make(node, lo, hi, then, inside, lo == 0 or node.body.nullable)

    def concat(self, node: Concat, at: int, then: Cell, inside: bool) -> Cell:
        """The cell of parts[at:]. All cells behind it are made too, last first: no recursion."""
        parts = node.parts
        if at == len(parts):
            return then
        made = self._made.get((node, at, None, then, inside))
        if made is None:
            made = then
            for i in range(len(parts) - 1, -1, -1):
                left = self._resolved.first_left(parts[i])
                left |= made.left if parts[i].nullable else 0
                behind = self._resolved.behind_in(parts[i]) | made.behind
                made = Cell(node, i, None, then, inside, left, behind)
                self._made[node, i, None, then, inside] = made
            made = self._made[node, at, None, then, inside]
        return made

    def _make(
        self,
        node: RegexNode,
        lo: int,
        hi: int | None,
        then: Cell,
        inside: bool,
        nullable: bool,
    ) -> Cell:
        # Equal classes share their cells, so that equal obligations are one.
        key = (node.points if isinstance(node, Chars) else node, lo, hi, then, inside)
        made = self._made.get(key)
        if made is None:
            left = self._resolved.first_left(node) | (then.left if nullable else 0)
            behind = self._resolved.behind_in(node) | then.behind
            made = self._made[key] = Cell(node, lo, hi, then, inside, left, behind)
        return made
