"""Parameters of rules: 64 bits that a rule is given, tests, and hands on changed.

    perm::_ : "a" perm::set_bit(0) %if bit_clear(0) | "" %if is_ones([0:1])

A *step* makes the parameter that a rule is given out of the one here; a *condition* says whether an
alternative exists. Both are trees of plain functions over ints in 0..2^64 - 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

__all__ = ["CONDITIONS", "STEPS", "Bits", "Condition", "Step"]

_ALL: Final = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Bits:
    """The bits from `lo` to below `hi`."""

    lo: int
    hi: int

    @property
    def ones(self) -> int:
        """All of them set."""
        return (1 << (self.hi - self.lo)) - 1

    def of(self, value: int) -> int:
        """Their value in a parameter."""
        return value >> self.lo & self.ones


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """How a parameter is made; `reads` is False for a number as it stands."""

    make: Callable[[int], int]
    reads: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """Whether something holds of a parameter; `reads` is False if it holds of every one."""

    holds: Callable[[int], bool]
    reads: bool = True


def _increment(bits: Bits) -> Step:
    return Step(lambda p: p if bits.of(p) == bits.ones else p + (1 << bits.lo) & _ALL)


def _decrement(bits: Bits) -> Step:
    return Step(lambda p: p if bits.of(p) == 0 else p - (1 << bits.lo))


def _clear(k: int) -> Step:
    return Step(lambda p: p & ~(1 << k))


STEPS: Final[dict[str, tuple[tuple[str, ...], Callable[..., Step]]]] = {
    "set_bit": (("bit",), lambda k: Step(lambda p: p | 1 << k)),
    "clear_bit": (("bit",), _clear),
    "bit_and": (("value",), lambda v: Step(lambda p: p & v)),
    "bit_or": (("value",), lambda v: Step(lambda p: p | v)),
    "incr": (("bits",), _increment),
    "decr": (("bits",), _decrement),
}
"""By name: what the arguments are, and what the step is."""


def _compare(test: Callable[[int, int], bool]) -> Callable[..., Condition]:
    return lambda bits, value: Condition(lambda p: test(bits.of(p), value))


def _count(test: Callable[[int, int], bool]) -> Callable[..., Condition]:
    return lambda bits, count: Condition(lambda p: test(bits.of(p).bit_count(), count))


def _both(a: Condition, b: Condition) -> Condition:
    return Condition(lambda p: a.holds(p) and b.holds(p), a.reads or b.reads)


def _either(a: Condition, b: Condition) -> Condition:
    return Condition(lambda p: a.holds(p) or b.holds(p), a.reads or b.reads)


_TESTS: Final[dict[str, Callable[[int, int], bool]]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}

CONDITIONS: Final[dict[str, tuple[tuple[str, ...], Callable[..., Condition]]]] = {
    "true": ((), lambda: Condition(lambda p: True, reads=False)),
    "bit_clear": (("bit",), lambda k: Condition(lambda p: not p >> k & 1)),
    "bit_set": (("bit",), lambda k: Condition(lambda p: bool(p >> k & 1))),
    "is_ones": (("bits",), lambda bits: Condition(lambda p: bits.of(p) == bits.ones)),
    "is_zeros": (("bits",), lambda bits: Condition(lambda p: bits.of(p) == 0)),
    **{name: (("bits", "value"), _compare(test)) for name, test in _TESTS.items()},
    **{f"bit_count_{name}": (("bits", "count"), _count(t)) for name, t in _TESTS.items()},
    "and": (("condition", "condition"), _both),
    "or": (("condition", "condition"), _either),
    "not": (("condition",), lambda c: Condition(lambda p: not c.holds(p), c.reads)),
}
"""By name: what the arguments are, and what the condition is."""
