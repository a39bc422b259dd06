"""Arrays to terms.

Without counters an array is its first items, each of which may be the last one once there are
enough, and then the rest as one counted repeat: `maxItems` of a million costs what `maxItems` of
one does. With counters (`contains`) or distinct items there is a rule for each position that a
text reaches.
"""

from __future__ import annotations

from constrain.algebra.terms import EMPTY, Rule, Term, alt, cat, literal, repeat
from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.items import Items, Position
from constrain.frontends.json_schema.lower import Lowering
from constrain.frontends.json_schema.refusals import refuse_array

__all__ = ["array_term"]


def array_term(shape: ArrayShape, lowering: Lowering) -> Term:
    """Every spelling of every array of a shape that has one."""
    if shape.counters or shape.distinct is not None:
        refuse_array(shape, lowering.meaning)
        items = lowering.meaning.items(shape)
        return cat(literal(b"["), _Counted(items, lowering).rule(items.start(), first=True))
    return cat(literal(b"["), _plain(shape, lowering))


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
    close = cat(layout.before_close, literal(b"]"))
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
    empty = cat(layout.inside_empty, literal(b"]")) if lo == 0 else EMPTY
    return alt((empty, first))


class _Counted:
    """A rule for each position of an array whose items are counted."""

    def __init__(self, items: Items, lowering: Lowering) -> None:
        self._items = items
        self._lowering = lowering
        self._rules: dict[tuple[Position, bool], Rule] = {}

    def rule(self, at: Position, *, first: bool) -> Term:
        """What follows, at a position from which the array can be completed."""
        found = self._rules.get((at, first))
        if found is None:
            found = self._lowering.rule(f"items from {at.index}", lambda: self._body(at, first))
            self._rules[at, first] = found
        return found

    def _body(self, at: Position, first: bool) -> Term:
        layout, emptiness = self._lowering.layout, self._lowering.emptiness
        parts = []
        if self._items.complete(at):
            space = layout.inside_empty if first else layout.before_close
            parts.append(cat(space, literal(b"]")))
        nexts = [
            cat(self._lowering.value(expr), self.rule(target, first=False))
            for expr, target in self._items.moves(at)
            if emptiness.has_value(expr) and self._items.can_finish(target, emptiness.has_value)
        ]
        parts.append(cat(layout.after_open if first else layout.separator, alt(nexts)))
        return alt(parts)
