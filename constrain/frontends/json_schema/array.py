"""Sets of arrays, closed under and, not (or is a union of shapes).

>>> table = Exprs()
>>> a = table.literal("a")
>>> shape = ArrayShape(rest=a, lo=2)          # at least two items, all of them in a
>>> len(complement(shape, table))             # shorter, or some item that is not in a
2
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr, Exprs, implies

__all__ = [
    "ANY_ARRAY",
    "ArrayCounter",
    "ArrayShape",
    "Arrays",
    "complement",
    "fixed",
    "intersect",
    "tidy",
]


class ArrayCounter(NamedTuple):
    """How many items from an index on have a value in `expr`: lo..hi, hi None without bound."""

    expr: Expr
    start: int
    lo: int
    hi: int | None


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """Arrays of lo..hi items.

    Attributes:
        prefix: What each of the first items is in, if it is there.
        rest: What each item after those is in.
        lo: Least number of items.
        hi: Greatest number, or None.
        counters: How many items have a certain value.
        distinct: True: no two items are equal. False: some two are. None: either.
    """

    prefix: tuple[Expr, ...] = ()
    rest: Expr = TRUE
    lo: int = 0
    hi: int | None = None
    counters: frozenset[ArrayCounter] = frozenset()
    distinct: bool | None = None

    def item(self, index: int) -> Expr:
        """What the item at an index is in."""
        return self.prefix[index] if index < len(self.prefix) else self.rest


ANY_ARRAY: Final = ArrayShape()

JOIN: Final = 10
"""Comparisons of two shapes that cost what making one does."""


def fixed(items: Iterable[Expr]) -> ArrayShape:
    """Arrays of exactly these items."""
    prefix = tuple(items)
    return ArrayShape(prefix, FALSE, len(prefix), len(prefix))


def intersect(a: ArrayShape, b: ArrayShape, table: Exprs) -> ArrayShape | None:
    """Arrays in both, or None where that is plainly empty."""
    if a is ANY_ARRAY or b is ANY_ARRAY:
        return b if a is ANY_ARRAY else a
    if a.distinct is not None and b.distinct is not None and a.distinct != b.distinct:
        return None
    length = max(len(a.prefix), len(b.prefix))
    prefix = tuple([table.all_of((a.item(i), b.item(i))) for i in range(length)])
    hi = _lower(a.hi, b.hi)
    counters = _tightened(a.counters | b.counters)
    if counters is None:
        return None
    return tidy(
        ArrayShape(
            prefix,
            table.all_of((a.rest, b.rest)),
            max(a.lo, b.lo),
            hi,
            counters,
            a.distinct if b.distinct is None else b.distinct,
        ),
        table,
    )


def complement(shape: ArrayShape, table: Exprs) -> list[ArrayShape]:
    """Every array outside the set, as a union: one part of the shape is broken."""
    parts = []
    if shape.lo > 0:
        parts.append(ArrayShape(hi=shape.lo - 1))
    if shape.hi is not None:
        parts.append(ArrayShape(lo=shape.hi + 1))
    for i, expr in enumerate(shape.prefix):
        if expr is not TRUE:
            parts.append(ArrayShape((TRUE,) * i + (expr.dual,), lo=i + 1))
    if shape.rest is not TRUE:
        parts.append(_counting(ArrayCounter(shape.rest.dual, len(shape.prefix), 1, None)))
    for counter in sorted(shape.counters, key=lambda c: (c.expr.serial, c.start)):
        if counter.lo > 0:
            parts.append(_counting(counter._replace(lo=0, hi=counter.lo - 1)))
        if counter.hi is not None:
            parts.append(_counting(counter._replace(lo=counter.hi + 1, hi=None)))
    if shape.distinct is not None:
        parts.append(ArrayShape(lo=0 if not shape.distinct else 2, distinct=not shape.distinct))
    kept = [tidy(part, table) for part in parts]
    return [part for part in kept if part is not None]


def _counting(counter: ArrayCounter) -> ArrayShape:
    return ArrayShape(lo=counter.start + counter.lo, counters=frozenset((counter,)))


def _tightened(counters: frozenset[ArrayCounter]) -> frozenset[ArrayCounter] | None:
    """At most one counter for what is counted; None if two contradict each other."""
    bounds: dict[tuple[Expr, int], tuple[int, int | None]] = {}
    for expr, start, lo, hi in counters:
        if (expr, start) in bounds:
            lo2, hi2 = bounds[expr, start]
            lo = max(lo, lo2)
            hi = _lower(hi, hi2)
        if hi is not None and hi < lo:
            return None
        bounds[expr, start] = (lo, hi)
    return frozenset([ArrayCounter(*key, *value) for key, value in bounds.items()])


def tidy(shape: ArrayShape, table: Exprs) -> ArrayShape | None:
    """The same set in a form without needless parts, or None where it is plainly empty."""
    prefix, rest = _without_forbidden(shape, table)
    lo, hi = shape.lo, shape.hi
    counters = []
    for counter in shape.counters:
        expr, start, least, most = counter
        if least > 0:
            if expr is FALSE or most == 0:
                return None
            lo = max(lo, start + least)
        if most == 0:
            continue
        if expr is TRUE:
            hi = hi if most is None else _lower(hi, start + most)
        elif least > 0 or most is not None:
            counters.append(counter)
    if FALSE in prefix or rest is FALSE:
        hi = _lower(hi, prefix.index(FALSE) if FALSE in prefix else len(prefix))
    if shape.distinct is False:
        lo = max(lo, 2)
    if hi is not None:
        if hi < lo:
            return None
        if hi <= len(prefix):
            prefix, rest = prefix[:hi], FALSE
        counters = [c for c in counters if c.start < hi or c.lo > 0]
    while prefix and prefix[-1] is rest:
        prefix.pop()
    distinct = None if shape.distinct and hi is not None and hi <= 1 else shape.distinct
    return ArrayShape(tuple(prefix), rest, lo, hi, frozenset(counters), distinct)


def _without_forbidden(shape: ArrayShape, table: Exprs) -> tuple[list[Expr], Expr]:
    """Prefix and rest, where no item is in what a counter counts up to 0 of."""
    prefix, rest = list(shape.prefix), shape.rest
    for expr, start, _, most in shape.counters:
        if most == 0:
            prefix += [rest] * (start - len(prefix))
            for i in range(start, len(prefix)):
                prefix[i] = table.all_of((prefix[i], expr.dual))
            rest = table.all_of((rest, expr.dual))
    return prefix, rest


def _lower(a: int | None, b: int | None) -> int | None:
    """The lower of two greatest counts; None is none."""
    if a is None or b is None:
        return b if a is None else a
    return min(a, b)


class Arrays:
    """What `conjunction` does with arrays.

    Args:
        table: The expressions.
        charge: Counts comparisons.
    """

    whole = ANY_ARRAY

    def __init__(self, table: Exprs, charge: Callable[[int], None]) -> None:
        self._table = table
        self.charge = charge

    def both(self, a: ArrayShape, b: ArrayShape) -> ArrayShape | None:
        """Arrays in both."""
        return self.all_of((a, b))

    def all_of(self, shapes: Sequence[ArrayShape]) -> ArrayShape | None:
        """Arrays in every shape."""
        self.charge(JOIN * (len(shapes) - 1))
        result: ArrayShape | None = shapes[0]
        for shape in shapes[1:]:
            result = None if result is None else intersect(result, shape, self._table)
        return result

    def seen(self, shape: ArrayShape) -> SeenArray:
        """A shape, prepared for many comparisons."""
        return SeenArray(shape)

    def loosened(self, union: Sequence[ArrayShape]) -> Sequence[ArrayShape]:
        """The same union."""
        return union

    def news(
        self, before: ArrayShape, part: ArrayShape, after: ArrayShape
    ) -> frozenset[Hashable] | None:
        """None: see `topics`."""
        return None

    def topics(self, shape: ArrayShape) -> frozenset[Hashable] | None:
        """None: nearly all that a shape can say of arrays has to do with their length."""
        return None

    def absorb(self, shapes: Iterable[ArrayShape]) -> tuple[ArrayShape, ...]:
        """A union without members that are plainly inside another one."""
        kept: list[SeenArray] = []
        for shape in dict.fromkeys(shapes):
            seen = self.seen(shape)
            self.charge(len(kept))
            if not any(seen.is_inside(other.shape) for other in kept):
                kept = [other for other in kept if not other.is_inside(shape)]
                kept.append(seen)
        return tuple([seen.shape for seen in kept])


@dataclass(frozen=True, slots=True)
class SeenArray:
    """A shape, prepared for many comparisons."""

    shape: ArrayShape

    def is_inside(self, other: ArrayShape) -> bool:
        """Whether it is plain that every array of the shape is in `other`."""
        shape = self.shape
        if shape.lo < other.lo or not other.counters <= shape.counters:
            return False
        if other.hi is not None and (shape.hi is None or shape.hi > other.hi):
            return False
        if other.distinct is not None and shape.distinct != other.distinct:
            return False
        length = max(len(shape.prefix), len(other.prefix))
        if shape.hi is not None:
            length = min(length, shape.hi)
            if shape.hi > length and not implies(shape.rest, other.rest):
                return False
        elif not implies(shape.rest, other.rest):
            return False
        return all(implies(shape.item(i), other.item(i)) for i in range(length))

    def excludes(self, other: ArrayShape) -> bool:
        """Whether it is plain that no array of the shape is in `other`."""
        shape = self.shape
        lo = max(shape.lo, other.lo)
        if (shape.hi is not None and shape.hi < lo) or (other.hi is not None and other.hi < lo):
            return True
        return None not in (shape.distinct, other.distinct) and shape.distinct != other.distinct
