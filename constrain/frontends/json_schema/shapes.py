"""A set of JSON values as one set for each kind of value, closed under and, or, not.

Kinds do not meet, so every operation goes kind by kind: "not a string" is simply everything but
strings. Within a kind a set is a union of shapes; "not" is the "and" of the complements of the
members. An "and" of unions of arrays or objects is searched for, see `conjunction`; numbers and
strings are few and are multiplied. What multiplies is bounded: every shape made is charged to
`max_source_nodes`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeVar

from constrain.frontends.json_schema import array, number
from constrain.frontends.json_schema import object as objects
from constrain.frontends.json_schema.array import ANY_ARRAY, Arrays, ArrayShape
from constrain.frontends.json_schema.conjunction import Algebra, conjunction
from constrain.frontends.json_schema.expr import Exprs
from constrain.frontends.json_schema.number import ANY_NUMBER, NumberShape
from constrain.frontends.json_schema.object import ANY_OBJECT, JOIN, Objects, ObjectShape
from constrain.frontends.json_schema.string import ANY_STRING, StringSets, StringShape
from constrain.limits import Limits

__all__ = ["EVERYTHING", "NOTHING", "ShapeSet", "Shapes"]

_CHARGE: Final = 10
"""Nodes that a comparison of two shapes counts as; one that is made is `JOIN` comparisons."""

_Shape = TypeVar("_Shape")

_MOST_STRING_PAIRS: Final = 8
"""Pairs of string shapes that are multiplied out."""


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
        self._arrays = Arrays(table, self._charge)
        self._objects = Objects(table, strings, self._charge)
        self._array_complements: dict[ArrayShape, list[ArrayShape]] = {}
        self._object_complements: dict[ObjectShape, list[ObjectShape]] = {}

    def all_of(self, sets: Iterable[ShapeSet]) -> ShapeSet:
        """Values in every set."""
        members = [each for each in sets if each is not EVERYTHING]
        if len(members) <= 1:
            return members[0] if members else EVERYTHING
        whole = EVERYTHING
        return ShapeSet(
            all([m.null for m in members]),
            frozenset.intersection(*[m.booleans for m in members]),
            _meet([m.numbers for m in members], whole.numbers, self._all_numbers),
            _meet([m.strings for m in members], whole.strings, self._all_strings),
            _meet([m.arrays for m in members], whole.arrays, self._all_arrays),
            _meet([m.objects for m in members], whole.objects, self._all_objects),
        )

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
            self._any_arrays([s for m in members for s in m.arrays]),
            self._any_objects([s for m in members for s in m.objects]),
        )

    def complement(self, values: ShapeSet) -> ShapeSet:
        """Values outside the set."""
        return self.without(EVERYTHING, values)

    def keys_outside(self, allowed: tuple[StringShape, ...]) -> tuple[StringShape, ...]:
        """Keys that are not in a union. Of a format known in part, what is not known counts, too.

        So fewer objects are valid, as strings are; `not` of such an object is refused.
        """
        strings = self._strings
        texts: tuple[StringShape, ...] = (ANY_STRING,)
        for shape in strings.collapse(allowed):
            texts = self._all_strings([texts, strings.outside(shape)])
        return texts

    def without(self, values: ShapeSet, *others: ShapeSet) -> ShapeSet:
        """Values of the first set that are in none of the others."""
        return ShapeSet(
            values.null and not any(other.null for other in others),
            values.booleans.difference(*[other.booleans for other in others]),
            self._less_numbers(values.numbers, [other.numbers for other in others]),
            self._less_strings(values.strings, [other.strings for other in others]),
            self._less_arrays(values.arrays, [other.arrays for other in others]),
            self._less_objects(values.objects, [other.objects for other in others]),
        )

    def exactly_one(
        self,
        values: ShapeSet,
        branches: Sequence[ShapeSet],
        arrays_apart: Callable[[ArrayShape, ArrayShape], bool],
        objects_apart: Callable[[ObjectShape, ObjectShape], bool],
    ) -> ShapeSet:
        """Values of the first set that are in exactly one of some branches.

        Complements are made only of branches that may share something of a kind: nearly always the
        branches of a `oneOf` want different constants under one key, and "exactly one" is "any".

        Args:
            values: The values.
            branches: The branches.
            arrays_apart: Sees that no array is in both of two shapes, if that is plain.
            objects_apart: The same of objects.
        """
        within = [self.all_of([values, branch]) for branch in branches]
        numbers = _alone(
            [w.numbers for w in within],
            [b.numbers for b in branches],
            lambda a, b: bool(self._all_numbers([a, b])),
            self._less_numbers,
            lambda shape: shape.only,
        )
        texts = _alone(
            [w.strings for w in within],
            [b.strings for b in branches],
            lambda a, b: bool(self._all_strings([a, b])),
            self._less_strings,
            lambda shape: shape.only,
        )
        arrays = _alone(
            [w.arrays for w in within],
            [b.arrays for b in branches],
            lambda a, b: self._share(a, b, self._arrays, arrays_apart),
            self._less_arrays,
        )
        members = _alone(
            [w.objects for w in within],
            [b.objects for b in branches],
            lambda a, b: self._share(a, b, self._objects, objects_apart),
            self._less_objects,
        )
        return ShapeSet(
            sum(each.null for each in within) == 1,
            frozenset([b for b in _BOTH if sum(b in each.booleans for each in within) == 1]),
            number.union(numbers),
            self._strings.union(texts),
            self._any_arrays(arrays),
            self._any_objects(members),
        )

    def _share(
        self,
        a: Sequence[_Shape],
        b: Sequence[_Shape],
        algebra: Algebra[_Shape],
        apart: Callable[[_Shape, _Shape], bool],
    ) -> bool:
        """Whether two unions may have something in common. What that is is not made."""
        self._charge(len(a) * len(b))
        for x in a:
            seen = algebra.seen(x)
            if not all(seen.excludes(y) or apart(x, y) for y in b):
                return True
        return False

    def _less_numbers(
        self, numbers: tuple[NumberShape, ...], others: Iterable[tuple[NumberShape, ...]]
    ) -> tuple[NumberShape, ...]:
        for shape in [shape for other in others for shape in other]:
            numbers = self._all_numbers([numbers, number.complement(shape)])
        return numbers

    def _less_strings(
        self, texts: tuple[StringShape, ...], others: Sequence[tuple[StringShape, ...]]
    ) -> tuple[StringShape, ...]:
        if not others:
            return texts
        strings = self._strings
        texts = strings.collapse(texts)
        for shape in [shape for other in others for shape in strings.collapse(other)]:
            if texts:  # else not asked: there may be no complement
                texts = self._all_strings([texts, strings.complement(shape)])
        return texts

    def _less_arrays(
        self, arrays: tuple[ArrayShape, ...], others: Iterable[tuple[ArrayShape, ...]]
    ) -> tuple[ArrayShape, ...]:
        return self._all_arrays([arrays, *[self._not_array(s) for other in others for s in other]])

    def _less_objects(
        self, shapes: tuple[ObjectShape, ...], others: Iterable[tuple[ObjectShape, ...]]
    ) -> tuple[ObjectShape, ...]:
        return self._all_objects(
            [shapes, *[self._not_object(s) for other in others for s in other]]
        )

    def _all_numbers(self, unions: Iterable[Iterable[NumberShape]]) -> tuple[NumberShape, ...]:
        result: tuple[NumberShape, ...] = (ANY_NUMBER,)
        for union in unions:
            members = list(union)
            if members == [ANY_NUMBER]:
                continue
            self._charge(JOIN * len(result) * len(members))
            result = number.union([number.intersect(x, y) for x in result for y in members])
        return result

    def _all_strings(self, unions: Iterable[Iterable[StringShape]]) -> tuple[StringShape, ...]:
        """Large unions first become one language each, so nothing multiplies."""
        strings = self._strings
        result: tuple[StringShape, ...] = (ANY_STRING,)
        for union in unions:
            members = tuple(union)
            if members == (ANY_STRING,):
                continue
            if result == (ANY_STRING,):
                result = strings.union(members)
                continue
            if min(len(result), len(members)) > 1:
                if len(result) * len(members) > _MOST_STRING_PAIRS:
                    result, members = strings.collapse(result), strings.collapse(members)
            self._charge(JOIN * len(result) * len(members))
            result = strings.union([strings.both(x, y) for x in result for y in members])
        return result

    def _all_arrays(self, unions: Iterable[Sequence[ArrayShape]]) -> tuple[ArrayShape, ...]:
        return self._any_arrays(conjunction(unions, self._arrays))

    def _all_objects(self, unions: Iterable[Sequence[ObjectShape]]) -> tuple[ObjectShape, ...]:
        return self._any_objects(conjunction(unions, self._objects))

    def _any_arrays(self, shapes: Sequence[ArrayShape]) -> tuple[ArrayShape, ...]:
        return (ANY_ARRAY,) if ANY_ARRAY in shapes else self._arrays.absorb(shapes)

    def _any_objects(self, shapes: Sequence[ObjectShape]) -> tuple[ObjectShape, ...]:
        return (ANY_OBJECT,) if ANY_OBJECT in shapes else self._objects.absorb(shapes)

    def _not_array(self, shape: ArrayShape) -> list[ArrayShape]:
        found = self._array_complements.get(shape)
        if found is None:
            found = self._array_complements[shape] = array.complement(shape, self._table)
        return found

    def _not_object(self, shape: ObjectShape) -> list[ObjectShape]:
        found = self._object_complements.get(shape)
        if found is None:
            found = self._object_complements[shape] = objects.complement(shape, self._table)
        return found

    def _charge(self, comparisons: int) -> None:
        self._charged += comparisons * _CHARGE
        self._limits.check("max_source_nodes", self._charged, "the combinations of a schema")


def _meet(
    unions: list[tuple[_Shape, ...]],
    whole: tuple[_Shape, ...],
    all_of: Callable[[list[tuple[_Shape, ...]]], tuple[_Shape, ...]],
) -> tuple[_Shape, ...]:
    """The "and" of some unions of one kind; at once where at most one of them says anything."""
    left = [union for union in unions if union != whole]
    if len(left) <= 1:
        return left[0] if left else whole
    return all_of(left) if all(left) else ()


def _alone(
    within: Sequence[tuple[_Shape, ...]],
    branches: Sequence[tuple[_Shape, ...]],
    share: Callable[[tuple[_Shape, ...], tuple[_Shape, ...]], bool],
    less: Callable[[tuple[_Shape, ...], list[tuple[_Shape, ...]]], tuple[_Shape, ...]],
    listed: Callable[[_Shape], Collection[Hashable] | None] = lambda shape: None,
) -> list[_Shape]:
    """What is in exactly one of some branches, for one kind of value.

    Args:
        within: For each branch a union: what of it is asked about.
        branches: The branches.
        share: Whether two unions may have something in common.
        less: A union without others.
        listed: The values of a shape that lists them.
    """
    others: list[list[tuple[_Shape, ...]]] = [[] for _ in within]
    for i, j in _pairs(within, listed):
        if share(within[i], within[j]):
            others[i].append(branches[j])
            others[j].append(branches[i])
    return [s for own, rest in zip(within, others, strict=True) for s in less(own, rest)]


def _pairs(
    within: Sequence[tuple[_Shape, ...]],
    listed: Callable[[_Shape], Collection[Hashable] | None],
) -> Iterator[tuple[int, int]]:
    """Pairs of unions that may share something: of those that list their values, only such as do.

    A choice among hundreds of constants, each a branch with a title, has no such pair.
    """
    having: dict[Hashable, list[int]] = {}
    lists: list[int] = []
    others: list[int] = []
    for i, union in enumerate(within):
        values = [listed(shape) for shape in union]
        if None in values:
            others.append(i)
            continue
        lists.append(i)
        for value in dict.fromkeys([value for some in values for value in some or ()]):
            having.setdefault(value, []).append(i)
    seen: set[tuple[int, int]] = set()
    for some in having.values():
        for pair in combinations(some, 2):
            if pair not in seen:
                seen.add(pair)
                yield pair
    yield from combinations(others, 2)
    yield from [(i, j) if i < j else (j, i) for i in others for j in lists if within[j]]
