"""Sets of numbers, closed under and, or, not; exact decimals, never floats.

In draft 4 an integer is a number *written* without point and exponent, so a shape may also ask for
that.

A set is a tuple of `NumberShape`s, their union. A shape is either a finite set (`only`) or an
interval with a step (multiples of), steps to avoid (not multiples of) and holes (single values
left out).

    >>> natural = make(lo=Fraction(0), step=Fraction(1))
    >>> odd = intersect(natural, complement(make(step=Fraction(2)))[0])
    >>> contains(odd, Fraction(3)), contains(odd, Fraction(4))
    (True, False)

Every operation costs a few rational operations. How numbers are written is decided in `digits`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

__all__ = [
    "ANY_NUMBER",
    "INTEGER",
    "INTEGER_FORM",
    "NumberShape",
    "complement",
    "contains",
    "finite",
    "intersect",
    "is_empty",
    "list_values",
    "make",
    "union",
]

_NONE: Final[frozenset[Fraction]] = frozenset()


@dataclass(frozen=True, slots=True)
class NumberShape:
    """Numbers x with lo <= x <= hi (strict where open), on the step, off `avoid`, not in `holes`.

    Attributes:
        only: If not None, the set is exactly these values and nothing else is looked at.
        lo: Least value, or None.
        hi: Greatest value, or None.
        lo_open: `lo` itself is left out.
        hi_open: `hi` itself is left out.
        step: Every value is a multiple of it; positive, or None.
        avoid: No value is a multiple of any of these.
        holes: Values left out.
        integer_form: True: written without point and exponent. False: with one. None: either.
    """

    only: frozenset[Fraction] | None = None
    lo: Fraction | None = None
    hi: Fraction | None = None
    lo_open: bool = False
    hi_open: bool = False
    step: Fraction | None = None
    avoid: frozenset[Fraction] = _NONE
    holes: frozenset[Fraction] = _NONE
    integer_form: bool | None = None


ANY_NUMBER: Final = NumberShape()
INTEGER: Final = NumberShape(step=Fraction(1))
INTEGER_FORM: Final = NumberShape(step=Fraction(1), integer_form=True)


def make(
    *,
    lo: Fraction | None = None,
    hi: Fraction | None = None,
    lo_open: bool = False,
    hi_open: bool = False,
    step: Fraction | None = None,
) -> NumberShape:
    """An interval with a step, tightened to the values that are there. May be empty."""
    return _tight(NumberShape(None, lo, hi, lo_open, hi_open, step))


def finite(values: Iterable[Fraction]) -> NumberShape:
    """Exactly these values."""
    return NumberShape(only=frozenset(values))


def contains(shape: NumberShape, value: Fraction) -> bool:
    """Whether `value` is in the set."""
    if shape.only is not None:
        return value in shape.only
    return (
        (shape.lo is None or shape.lo < value or (value == shape.lo and not shape.lo_open))
        and (shape.hi is None or value < shape.hi or (value == shape.hi and not shape.hi_open))
        and (shape.step is None or (value / shape.step).denominator == 1)
        and value not in shape.holes
        and not any((value / m).denominator == 1 for m in shape.avoid)
    )


def intersect(a: NumberShape, b: NumberShape) -> NumberShape:
    """Values in both. May be empty."""
    form = a.integer_form if b.integer_form is None else b.integer_form
    if a.integer_form is not None and a.integer_form != form:
        return finite(())
    if a.only is not None or b.only is not None:
        if a.only is None:
            a, b = b, a
        kept = [v for v in a.only or () if contains(b, v)]
        if form:
            kept = [v for v in kept if v.denominator == 1]
        return NumberShape(only=frozenset(kept), integer_form=form)
    lo, lo_open = a.lo, a.lo_open
    if b.lo is not None and (lo is None or b.lo > lo or (b.lo == lo and b.lo_open)):
        lo, lo_open = b.lo, b.lo_open
    hi, hi_open = a.hi, a.hi_open
    if b.hi is not None and (hi is None or b.hi < hi or (b.hi == hi and b.hi_open)):
        hi, hi_open = b.hi, b.hi_open
    step = _common_multiple(a.step, b.step)
    return _tight(
        NumberShape(
            None, lo, hi, lo_open, hi_open, step, a.avoid | b.avoid, a.holes | b.holes, form
        )
    )


def complement(shape: NumberShape) -> list[NumberShape]:
    """Every number outside the set, as a union."""
    if shape.integer_form is not None:
        values = replace(shape, integer_form=None)
        other_form = replace(shape, integer_form=not shape.integer_form)
        # Only whole numbers have an integer form; `intersect` knows that.
        return [*complement(values), intersect(other_form, ANY_NUMBER)]
    if shape.only is not None:
        return [NumberShape(holes=shape.only)] if shape.only else [ANY_NUMBER]
    parts = []
    if shape.lo is not None:
        parts.append(make(hi=shape.lo, hi_open=not shape.lo_open))
    if shape.hi is not None:
        parts.append(make(lo=shape.hi, lo_open=not shape.hi_open))
    inside = replace(shape, step=None, avoid=_NONE, holes=_NONE)
    if shape.step is not None:
        parts.append(replace(inside, avoid=frozenset((shape.step,))))
    parts += [_tight(replace(inside, step=m)) for m in sorted(shape.avoid)]
    if shape.holes:
        parts.append(finite(shape.holes))
    return [part for part in parts if not is_empty(part)]


def is_empty(shape: NumberShape) -> bool:
    """Whether no number is in the set. Exact.

    Cost: O(holes) and, with a step and steps to avoid, a search over neighbouring multiples. Among
    consecutive multiples those to avoid repeat with periods p >= 2, so no long run is to be
    avoided.
    """
    if shape.only is not None:
        return not shape.only
    if shape.lo is not None and shape.hi is not None:
        if shape.lo > shape.hi:
            return True
        if shape.lo == shape.hi:
            return not contains(shape, shape.lo)
    if shape.step is None:
        return False  # a stretch of decimals, less points that lie apart
    if any((shape.step / m).denominator == 1 for m in shape.avoid):
        return True
    return _first_multiple(shape) is None


def list_values(shape: NumberShape, most: int) -> list[Fraction] | None:
    """All values in ascending order, or None if there may be more than `most`."""
    if shape.only is not None:
        return sorted(shape.only) if len(shape.only) <= most else None
    lo, hi, step = shape.lo, shape.hi, shape.step
    if step is None or lo is None or hi is None or (hi - lo) / step >= most + len(shape.holes):
        return None
    multiples = [lo + k * step for k in range(int((hi - lo) / step) + 1)]
    return [v for v in multiples if contains(shape, v)]


def union(shapes: Iterable[NumberShape]) -> tuple[NumberShape, ...]:
    """A union without empty members; its finite sets become one."""
    values: dict[bool | None, set[Fraction]] = {}
    others: dict[NumberShape, None] = {}
    for shape in shapes:
        if shape == ANY_NUMBER:
            return (ANY_NUMBER,)
        if shape.only is not None:
            values.setdefault(shape.integer_form, set()).update(shape.only)
        elif shape not in others and not is_empty(shape):
            others[shape] = None
    rest = list(others)
    if INTEGER in rest:
        rest = [s for s in rest if s.step is None or s.step.denominator != 1]
        rest.append(INTEGER)
    free = [s for s in rest if s.integer_form is None]
    for form, listed in values.items():
        left = frozenset([v for v in listed if not any(contains(s, v) for s in free)])
        if left:
            rest.append(NumberShape(only=left, integer_form=form))
    return tuple(rest)


def _common_multiple(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    if a is None or b is None or a == b:
        return b if a is None else a
    scale = math.lcm(a.denominator, b.denominator)
    return Fraction(math.lcm(int(a * scale), int(b * scale)), scale)


def _tight(shape: NumberShape) -> NumberShape:
    """Move bounds onto the step and drop holes that are outside anyway."""
    if shape.integer_form:
        shape = replace(shape, step=_common_multiple(shape.step, Fraction(1)))
    if shape.step is not None and (shape.lo is not None or shape.hi is not None):
        lo, hi, step = shape.lo, shape.hi, shape.step
        if lo is not None:
            k = math.floor(lo / step) + 1 if shape.lo_open else math.ceil(lo / step)
            lo = k * step
        if hi is not None:
            k = math.ceil(hi / step) - 1 if shape.hi_open else math.floor(hi / step)
            hi = k * step
        shape = replace(shape, lo=lo, hi=hi, lo_open=False, hi_open=False)
    if shape.holes:
        whole = replace(shape, holes=_NONE)
        holes = frozenset([v for v in shape.holes if contains(whole, v)])
        shape = replace(shape, holes=holes)
    return shape


def _first_multiple(shape: NumberShape) -> Fraction | None:
    """A multiple of the step in the set, or None. `avoid` does not take all multiples."""
    step = shape.step
    assert step is not None
    if shape.lo is not None:
        value, direction = shape.lo, step  # `_tight` put the bounds on the step
    elif shape.hi is not None:
        value, direction = shape.hi, -step
    else:
        value, direction = Fraction(0), step
    while (shape.hi is None or value <= shape.hi) and (shape.lo is None or value >= shape.lo):
        if contains(shape, value):
            return value
        value += direction
    return None
