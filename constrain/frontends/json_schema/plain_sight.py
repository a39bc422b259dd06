"""Seeing that two branches of a `oneOf` cannot both hold.

Nearly always the branches want different constants under one key, or one forbids what the other
requires. Then "exactly one" is just "one of them", and no complement is needed. This looks at
required members and items, a few levels deep; what it does not see costs time, never exactness.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from constrain.errors import UnsupportedFeatureError
from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.expr import FALSE, Expr, Exprs
from constrain.frontends.json_schema.object import ObjectShape, value_of
from constrain.frontends.json_schema.shapes import ShapeSet
from constrain.frontends.json_schema.string import StringSets, is_exact

__all__ = ["PlainSight"]

_PROBE_DEPTH: Final = 2
"""Levels of members that are looked at to see that two branches of a `oneOf` are disjoint."""


_MOST_ITEMS: Final = 8
"""Items of an array that are looked at."""


class PlainSight:
    """Sees that some sets are empty.

    Args:
        shapes: The set of an expression. It may ask this object again; the depth is bounded here.
        table: The expressions.
        strings: The string sets.
    """

    def __init__(
        self, shapes: Callable[[Expr], ShapeSet], table: Exprs, strings: StringSets
    ) -> None:
        self._shapes = shapes
        self._table = table
        self._strings = strings
        self._depth = 0
        self._empty: dict[Expr, tuple[bool, int]] = {}  # seen to be so, and from which depth

    def is_empty(self, values: ShapeSet) -> bool:
        """Whether it is plain that no value is in the set. May miss it."""
        if values.null or values.booleans or values.numbers or values.strings:
            return False
        return all(map(self._array, values.arrays)) and all(map(self._object, values.objects))

    def arrays_apart(self, a: ArrayShape, b: ArrayShape) -> bool:
        """Whether it is plain that no array is in both shapes. May miss it."""
        first = range(min(max(a.lo, b.lo), _MOST_ITEMS))
        return any(self._expr(self._table.all_of((a.item(i), b.item(i)))) for i in first)

    def objects_apart(self, a: ObjectShape, b: ObjectShape) -> bool:
        """Whether it is plain that no object is in both shapes. May miss it."""
        return any(
            self._expr(self._table.all_of((self._value(a, key), self._value(b, key))))
            for key in dict.fromkeys(a.required + b.required)
        )

    def _array(self, shape: ArrayShape) -> bool:
        return any(self._expr(shape.item(i)) for i in range(min(shape.lo, _MOST_ITEMS)))

    def _object(self, shape: ObjectShape) -> bool:
        return any(self._expr(self._value(shape, key)) for key in shape.required)

    def _value(self, shape: ObjectShape, key: str) -> Expr:
        sure = [rule for rule in shape.rules if all(map(is_exact, rule[0]))]
        if len(sure) < len(
            shape.rules
        ):  # that a key is in no known part of a format proves nothing
            shape = replace(shape, rules=tuple(sure))
        return value_of(shape, key, self._table, self._strings)

    def _expr(self, expr: Expr) -> bool:
        if expr is FALSE or expr.op != "and":
            return expr is FALSE
        if self._depth >= _PROBE_DEPTH:
            return False
        found, depth = self._empty.get(expr, (False, _PROBE_DEPTH))
        if not found and depth > self._depth:
            self._depth += 1
            try:
                found = self.is_empty(self._shapes(expr))
            except UnsupportedFeatureError:
                pass  # what is refused is not plain
            finally:
                self._depth -= 1
            self._empty[expr] = found, self._depth
        return found
