"""Arrays to terms.

Without counters an array is its first items, each of which may be the last one once there are
enough, and then the rest as one counted repeat: `maxItems` of a million costs what `maxItems` of
one does. With counters (`contains`) or items that are compared (`uniqueItems`) there is a rule for
each position that a text reaches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from constrain.algebra.terms import (
    EMPTY,
    Rule,
    Term,
    alt,
    cat,
    complement,
    intersect,
    repeat,
)
from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.exclusion import Exclusion
from constrain.frontends.json_schema.items import Move, Position
from constrain.frontends.json_schema.layout import OPEN_ARRAY
from constrain.frontends.json_schema.refusals import refuse_array
from constrain.frontends.json_schema.values import Frozen

if TYPE_CHECKING:
    from constrain.frontends.json_schema.lower import Lowering

__all__ = ["array_term"]

_MOST_RECENT = 1024
"""Rules that are remembered for positions with values: captured ones hardly come back."""


def array_term(shape: ArrayShape, lowering: Lowering) -> Term:
    """Every spelling of every array of a shape that has one."""
    if shape.counters or shape.distinct is not None:
        return cat(OPEN_ARRAY, _Watched(shape, lowering).start())
    return cat(OPEN_ARRAY, _plain(shape, lowering))


def _plain(shape: ArrayShape, lowering: Lowering) -> Term:
    """What follows the bracket of an array without counters."""
    layout = lowering.layout
    has_value, value = lowering.emptiness.has_value, lowering.value
    hi = shape.hi
    prefix = shape.prefix if hi is None else shape.prefix[:hi]
    for i, expr in enumerate(prefix):
        if not has_value(expr):
            prefix, hi = prefix[:i], i
            break
    if (hi is None or hi > len(prefix)) and not has_value(shape.rest):
        hi = len(prefix)
    n, lo = len(prefix), shape.lo
    close = layout.end_array
    tail = close
    first: Term = EMPTY
    if hi is None or hi > n:
        rest = value(shape.rest)
        more = cat(layout.separator, rest)
        if n > 0:
            tail = cat(repeat(more, max(lo - n, 0), None if hi is None else hi - n), close)
        else:
            others = repeat(more, max(lo - 1, 0), None if hi is None else hi - 1)
            first = cat(layout.after_open, rest, others, close)
    for i in range(n - 1, 0, -1):
        tail = cat(layout.separator, value(prefix[i]), tail)
        if i >= lo:
            tail = alt((close, tail))
    if n > 0:
        first = cat(layout.after_open, value(prefix[0]), tail)
    empty = layout.no_items if lo == 0 else EMPTY
    return alt((empty, first))


class _Watched:
    """A rule for each position of an array in which it matters what the items are."""

    def __init__(self, shape: ArrayShape, lowering: Lowering) -> None:
        refuse_array(
            shape, lowering.emptiness.items(shape), lowering.meaning, lowering.emptiness.has_value
        )
        self._items = lowering.emptiness.items(shape)
        self._lowering = lowering if shape.distinct is None else lowering.comparing
        self._has_value = lowering.emptiness.has_value
        self._exclusion = Exclusion(lowering.alphabet, self._lowering.style)
        self._rules: dict[Position, Rule] = {}
        self._recent: dict[Position, Rule] = {}
        self._excluded: dict[frozenset[Frozen], Term] = {}

    def start(self) -> Term:
        """What follows the bracket."""
        layout, at = self._lowering.layout, self._items.start()
        first = cat(layout.after_open, self._next(at))
        if self._items.complete(at):
            return alt((layout.no_items, first))
        return first

    def _after(self, at: Position) -> Term:
        """What follows an item, at a position from which the array can be completed."""
        rules = self._recent if at.used or at.twin else self._rules
        found = rules.get(at)
        if found is None:
            if len(self._recent) >= _MOST_RECENT:
                self._recent.clear()
            found = rules[at] = self._lowering.rule("items", lambda: self._rest(at))
        return found

    def _rest(self, at: Position) -> Term:
        return alt((self._close(at), cat(self._lowering.layout.separator, self._next(at))))

    def _close(self, at: Position) -> Term:
        if not self._items.complete(at):
            return EMPTY
        return self._lowering.layout.end_array

    def _next(self, at: Position) -> Term:
        """The next item, and what follows it."""
        ways = []
        for move in self._items.moves(at, self._has_value):
            if self._has_value(move.expr) and self._items.can_finish(move.after, self._has_value):
                if move.captured:
                    ways.append(self._captured(move))
                else:
                    ways.append(cat(self._lowering.value(move.expr), self._after(move.after)))
        return alt(ways)

    def _captured(self, move: Move) -> Term:
        """An item that is captured, and what follows it.

        Mostly some other item can follow whatever this one is, so that the comma need not wait for
        its value.
        """
        item = self._lowering.value(move.expr)
        if move.after.used:
            item = intersect((item, complement(self._spelled(move.after.used))))
        meaning, layout = self._lowering.meaning, self._lowering.layout
        goes_on = self._items.goes_on(move, self._has_value)

        def follow(text: bytes) -> Term:
            value = meaning.value(text.decode())
            at = self._items.with_value(move, value)
            if move.after.used:
                # One more than before: what the others share is read by a store only once.
                spelled = (self._spelled(move.after.used), self._exclusion.spell(value))
                self._keep(at.used, alt(spelled))
            return self._next(at) if goes_on else self._rest(at)

        if not goes_on:
            return self._lowering.capture(item, follow)
        return self._lowering.capture(
            item, follow, before=layout.separator, instead=self._close(move.after)
        )

    def _spelled(self, used: frozenset[Frozen]) -> Term:
        """Every text of some values."""
        found = self._excluded.get(used)
        return found or self._keep(used, alt([self._exclusion.spell(value) for value in used]))

    def _keep(self, used: frozenset[Frozen], spelled: Term) -> Term:
        if len(self._excluded) >= _MOST_RECENT:
            self._excluded.clear()
        self._excluded[used] = spelled
        return spelled
