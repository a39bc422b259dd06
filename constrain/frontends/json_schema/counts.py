"""How many values an expression has, at least: whether a list of different items goes on.

Exact for scalars. Arrays and objects are looked into a few levels deep, and only as far as they
differ for certain; what is missed makes a count too small, never too large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from constrain.frontends.json_schema import number
from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr
from constrain.frontends.json_schema.meaning import Meaning
from constrain.frontends.json_schema.object import ObjectShape

__all__ = ["Count", "Counts"]

Ask = Callable[[Expr], bool]

_DEPTH: Final = 3
_MOST_PARTS: Final = 16
"""Items or members of one shape that are looked at."""


class Count(NamedTuple):
    """How many values there are.

    Attributes:
        least: So many at least; never more than was asked for.
        exact: And not more, unless it is what was asked for.
    """

    least: int
    exact: bool


class Counts:
    """Counts the values of expressions of one schema.

    Args:
        meaning: Their sets.
    """

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning

    def count(self, expr: Expr, most: int, ask: Ask, depth: int = _DEPTH) -> Count:
        """How many values an expression has, up to `most`.

        Args:
            expr: The expression.
            most: More do not matter.
            ask: Whether an expression has a value. May still say no of one that has.
            depth: Levels of arrays and objects to look into.

        Cost: a few steps for each part looked at; counting strings of a pattern is a search.
        """
        if expr is TRUE:
            return Count(most, exact=True)
        values = self._meaning.shapes(expr)
        found = values.null + len(values.booleans)
        exact = not values.arrays and not values.objects
        for scalars in (self._numbers, self._strings):
            if found < most:
                more = scalars(expr, most - found)
                found += more.least
                exact = exact and more.exact
        if found < most and depth > 0 and (values.arrays or values.objects):
            arrays = [self._array(shape, most, ask, depth - 1) for shape in values.arrays]
            objects = [self._object(shape, most, ask, depth - 1) for shape in values.objects]
            found += max(arrays, default=0) + max(objects, default=0)
        return Count(min(found, most), exact or found >= most)

    def _numbers(self, expr: Expr, most: int) -> Count:
        listed = set()
        for shape in self._meaning.shapes(expr).numbers:
            values = number.list_values(shape, most)
            if values is None or len(values) > most:
                return Count(most, exact=True)
            listed.update(values)
        return Count(min(len(listed), most), exact=True)

    def _strings(self, expr: Expr, most: int) -> Count:
        shapes = self._meaning.shapes(expr).strings
        counts = [self._meaning.strings.count(shape, most) for shape in shapes]
        return Count(max(counts, default=0), exact=len(shapes) <= 1)

    def _array(self, shape: ArrayShape, most: int, ask: Ask, depth: int) -> int:
        """At least so many arrays: those of one length differ in an item, others in length."""
        if shape.counters or shape.distinct is False:
            return 0
        prefix = shape.prefix[: max(shape.lo, 1)]
        if not all(ask(expr) for expr in prefix[: shape.lo]):
            return 0
        open_ended = shape.hi is None or shape.hi > max(shape.lo, len(shape.prefix))
        if open_ended and all(map(ask, (*shape.prefix, shape.rest))):
            lengths = most if shape.hi is None else shape.hi - shape.lo + 1
            if lengths >= most:
                return most
        if shape.lo == 0:
            first = shape.item(0)
            longer = 0
            if shape.hi != 0 and ask(first):
                longer = self.count(first, most, ask, depth).least
            return 1 + longer
        if shape.lo > len(shape.prefix) and not ask(shape.rest):
            return 0
        if shape.distinct and shape.lo > 1:
            kinds = {shape.item(i) for i in range(min(shape.lo, len(shape.prefix) + 1))}
            some = min([self.count(e, most + shape.lo, ask, depth).least for e in kinds])
            return max(some - shape.lo + 1, 0)
        found = 1
        for i in range(min(shape.lo, _MOST_PARTS)):
            found *= self.count(shape.item(i), most, ask, depth).least
            if found == 0 or found >= most:
                break
        return found

    def _object(self, shape: ObjectShape, most: int, ask: Ask, depth: int) -> int:
        """At least so many objects: those that differ in a required member, or in one key."""
        if shape.some or shape.needs or shape.lo > len(shape.required):
            return 0
        members = self._meaning.members(shape)
        values = [members.named.get(key, FALSE) for key in shape.required]
        if not all(map(ask, values)):
            return 0
        found = 1
        for value in values[:_MOST_PARTS]:
            found *= self.count(value, most, ask, depth).least
            if found == 0 or found >= most:
                return found
        if shape.hi is None or shape.hi > len(shape.required):
            found *= 1 + members.room(most, ask)
            optional = [k for k in members.named if k not in members.required]
            for key in optional[:_MOST_PARTS]:
                if ask(members.named[key]):
                    found += self.count(members.named[key], most, ask, depth).least
        return found
