"""A set of JSON values as one set for each kind of value, closed under and, or, not.

Kinds do not meet, so every operation goes kind by kind: "not a string" is simply everything but
strings. Within a kind a set is a union of shapes; "and" multiplies two unions, "not" is the "and"
of the complements of the members. What multiplies is bounded: every shape made is charged to
`max_source_nodes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from constrain.frontends.json_schema import array, number
from constrain.frontends.json_schema import object as objects
from constrain.frontends.json_schema.array import ANY_ARRAY, ArrayShape
from constrain.frontends.json_schema.expr import Exprs
from constrain.frontends.json_schema.number import ANY_NUMBER, NumberShape
from constrain.frontends.json_schema.object import ANY_OBJECT, ObjectShape
from constrain.frontends.json_schema.string import ANY_STRING, StringSets, StringShape
from constrain.limits import Limits

__all__ = ["EVERYTHING", "NOTHING", "ShapeSet", "Shapes"]

_CHARGE: Final = 100
"""Nodes that one shape counts as: the work on it, compared with a node of a syntax tree."""

_CHEAP_PAIRS: Final = 50
"""Comparisons of two shapes that cost what making one does."""

_MOST_STRING_PAIRS: Final = 8
"""Pairs of string shapes that are multiplied out."""

_Shape = TypeVar("_Shape")


@dataclass(frozen=True, slots=True)
class ShapeSet:
    """A set of JSON values.

    Attributes:
        null: Whether null is in it.
        booleans: Which of False and True are in it.
        numbers: A union.
        strings: A union.
        arrays: A union; a member may turn out to be empty.
        objects: A union; a member may turn out to be empty.
    """

    null: bool = False
    booleans: frozenset[bool] = frozenset()
    numbers: tuple[NumberShape, ...] = ()
    strings: tuple[StringShape, ...] = ()
    arrays: tuple[ArrayShape, ...] = ()
    objects: tuple[ObjectShape, ...] = ()


_BOTH: Final = frozenset((False, True))
EVERYTHING: Final = ShapeSet(True, _BOTH, (ANY_NUMBER,), (ANY_STRING,), (ANY_ARRAY,), (ANY_OBJECT,))
NOTHING: Final = ShapeSet()


class Shapes:
    """The operations on shape sets of one schema.

    Args:
        table: Its expressions.
        strings: Its string sets.
        limits: `max_source_nodes` bounds the shapes made.
    """

    def __init__(self, table: Exprs, strings: StringSets, limits: Limits) -> None:
        self._table = table
        self._strings = strings
        self._limits = limits
        self._charged = 0

    def all_of(self, sets: Iterable[ShapeSet]) -> ShapeSet:
        """Values in every set."""
        result = EVERYTHING
        for each in sets:
            result = self._both(result, each)
        return result

    def any_of(self, sets: Iterable[ShapeSet]) -> ShapeSet:
        """Values in some set."""
        members = list(sets)
        if len(members) == 1:
            return members[0]
        return ShapeSet(
            any(m.null for m in members),
            frozenset().union(*[m.booleans for m in members]),
            number.union([s for m in members for s in m.numbers]),
            self._strings.union([s for m in members for s in m.strings]),
            _arrays([s for m in members for s in m.arrays]),
            self._tidy_objects([s for m in members for s in m.objects]),
        )

    def complement(self, values: ShapeSet) -> ShapeSet:
        """Values outside the set."""
        return self.without(EVERYTHING, values)

    def without(self, a: ShapeSet, b: ShapeSet) -> ShapeSet:
        """Values in `a` and not in `b`. What `a` rules out is gone before anything multiplies."""
        table, strings = self._table, self._strings
        numbers = self._outside(
            a.numbers, b.numbers, ANY_NUMBER, number.complement, self._both_numbers, number.union
        )
        texts = self._outside(
            strings.collapse(a.strings),
            strings.collapse(b.strings),
            ANY_STRING,
            strings.complement,
            self._both_strings,
            strings.union,
        )
        arrays = self._outside(
            a.arrays,
            b.arrays,
            ANY_ARRAY,
            lambda shape: array.complement(shape, table),
            self._both_arrays,
            _arrays,
        )
        members = self._outside(
            a.objects,
            b.objects,
            ANY_OBJECT,
            lambda shape: objects.complement(shape, table),
            self._both_objects,
            self._tidy_objects,
        )
        return ShapeSet(
            a.null and not b.null,
            a.booleans - b.booleans,
            tuple(numbers),
            tuple(texts),
            tuple(arrays),
            tuple(members),
        )

    def _both(self, a: ShapeSet, b: ShapeSet) -> ShapeSet:
        if a is EVERYTHING or b is EVERYTHING:
            return b if a is EVERYTHING else a
        return ShapeSet(
            a.null and b.null,
            a.booleans & b.booleans,
            number.union(self._product(a.numbers, b.numbers, ANY_NUMBER, self._both_numbers)),
            self._strings.union(self._product_of_strings(a.strings, b.strings)),
            _arrays(self._product(a.arrays, b.arrays, ANY_ARRAY, self._both_arrays)),
            self._tidy_objects(self._product(a.objects, b.objects, ANY_OBJECT, self._both_objects)),
        )

    def _product_of_strings(
        self, a: tuple[StringShape, ...], b: tuple[StringShape, ...]
    ) -> list[StringShape]:
        """As `_product`; large unions first become one language each, so nothing multiplies."""
        if len(a) > 1 and len(b) > 1 and len(a) * len(b) > _MOST_STRING_PAIRS:
            a, b = self._strings.collapse(a), self._strings.collapse(b)
        return self._product(a, b, ANY_STRING, self._both_strings)

    def _product(
        self,
        a: Iterable[_Shape],
        b: Iterable[_Shape],
        whole: _Shape,
        both: Callable[[_Shape, _Shape], _Shape | None],
    ) -> list[_Shape]:
        """Every member of one union with every member of the other."""
        left, right = list(a), list(b)
        if right == [whole]:
            return left
        if left == [whole]:
            return right
        self._charge(len(left) * len(right))
        made = [both(x, y) for x in left for y in right]
        return [shape for shape in made if shape is not None]

    def _outside(
        self,
        start: Iterable[_Shape],
        members: Iterable[_Shape],
        whole: _Shape,
        complement: Callable[[_Shape], list[_Shape]],
        both: Callable[[_Shape, _Shape], _Shape | None],
        tidy: Callable[[Iterable[_Shape]], Iterable[_Shape]],
    ) -> list[_Shape]:
        """The union `start` without the union `members`."""
        result = list(start)
        for member in members:
            if not result:
                break
            result = list(tidy(self._product(result, complement(member), whole, both)))
        return result

    def _both_numbers(self, a: NumberShape, b: NumberShape) -> NumberShape | None:
        both = number.intersect(a, b)
        return None if number.is_empty(both) else both

    def _both_strings(self, a: StringShape, b: StringShape) -> StringShape | None:
        both = self._strings.intersect(a, b)
        return None if self._strings.is_empty(both) else both

    def _both_arrays(self, a: ArrayShape, b: ArrayShape) -> ArrayShape | None:
        return array.intersect(a, b, self._table)

    def _both_objects(self, a: ObjectShape, b: ObjectShape) -> ObjectShape | None:
        return objects.intersect(a, b, self._table)

    def _tidy_objects(self, shapes: Iterable[ObjectShape]) -> tuple[ObjectShape, ...]:
        kept = list(shapes)
        if ANY_OBJECT in kept:
            return (ANY_OBJECT,)
        self._charge(len(kept) * len(kept) // _CHEAP_PAIRS)
        return tuple(kept) if len(kept) <= 1 else objects.absorb(kept)

    def _charge(self, count: int) -> None:
        self._charged += count * _CHARGE
        self._limits.check("max_source_nodes", self._charged, "the combinations of a schema")


def _arrays(shapes: Iterable[ArrayShape]) -> tuple[ArrayShape, ...]:
    kept = dict.fromkeys(shapes)
    return (ANY_ARRAY,) if ANY_ARRAY in kept else tuple(kept)
