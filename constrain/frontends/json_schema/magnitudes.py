"""What the spellings of numbers are made of: digits, magnitudes, what a style allows.

A set of numbers is split by sign, so that only positive numbers, magnitudes, are compared and
spelled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from constrain.algebra.terms import EMPTY, ByteClass, Term, byte_range, literal
from constrain.frontends.json_schema.number import NumberShape, is_empty, make

__all__ = [
    "DIGIT",
    "EXPONENT_MARK",
    "MINUS",
    "NONZERO",
    "POINT",
    "SIGN",
    "ZERO",
    "Magnitudes",
    "Spelling",
    "decimal_digits",
    "decimal_places",
    "digit_class",
    "digit_range",
    "magnitudes",
    "one_digit",
]

DIGIT: Final = byte_range(0x30, 0x39)
NONZERO: Final = byte_range(0x31, 0x39)
ZERO: Final = literal(b"0")
POINT: Final = literal(b".")
MINUS: Final = literal(b"-")
EXPONENT_MARK: Final = ByteClass(1 << 0x45 | 1 << 0x65)
SIGN: Final = ByteClass(1 << 0x2B | 1 << 0x2D)


@dataclass(frozen=True, slots=True)
class Spelling:
    """What a style lets through, for numbers.

    Attributes:
        zeros: Zeros after the point that the value does not need, also `1.0` for 1.
        exponents: Spellings with an exponent.
        minus_zero: `-0`.
        integer_digits: Digits before the point, or None for any number of them.
        fraction_digits: Digits after the point, likewise.
    """

    zeros: bool
    exponents: bool
    minus_zero: bool
    integer_digits: int | None
    fraction_digits: int | None


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """Positive numbers between `lo` and `hi` (None: without bound), on `step`, off `avoid`.

    With a step both bounds are multiples of it and closed.
    """

    lo: Fraction
    lo_open: bool
    hi: Fraction | None
    hi_open: bool
    step: Fraction | None
    avoid: frozenset[Fraction]

    def shape(self) -> NumberShape:
        """The same numbers as a set."""
        return NumberShape(
            None, self.lo, self.hi, self.lo_open, self.hi_open, self.step, self.avoid
        )


def magnitudes(shape: NumberShape, spelling: Spelling, *, negative: bool) -> list[Magnitudes]:
    """The positive (or mirrored negative) part of a shape, cut at its holes."""
    lo, lo_open, hi, hi_open = shape.lo, shape.lo_open, shape.hi, shape.hi_open
    holes = sorted(shape.holes)
    if negative:
        lo, lo_open, hi, hi_open = (
            None if hi is None else -hi,
            hi_open,
            None if lo is None else -lo,
            lo_open,
        )
        holes = [-v for v in reversed(holes)]
    if lo is None or lo <= 0:
        lo, lo_open = Fraction(0), True
    pieces: list[tuple[Fraction, bool, Fraction | None, bool]] = []
    for hole in holes:
        if hole > 0:
            pieces.append((lo, lo_open, hole, True))
            lo, lo_open = hole, True
    if hi is None or hi > 0:
        pieces.append((lo, lo_open, hi, hi_open))
    done = []
    for piece_lo, piece_lo_open, piece_hi, piece_hi_open in pieces:
        whole = make(
            lo=piece_lo, lo_open=piece_lo_open, hi=piece_hi, hi_open=piece_hi_open, step=shape.step
        )
        if spelling.integer_digits is not None and whole.hi is None:
            assert whole.lo is not None
            digits = len(decimal_digits(whole.lo)[0]) + 1
            if shape.step is not None:
                digits += len(decimal_digits(math.prod(shape.avoid, start=shape.step))[0])
            top = Fraction(10 ** max(spelling.integer_digits, digits))
            whole = make(lo=whole.lo, lo_open=whole.lo_open, hi=top, hi_open=True, step=shape.step)
        if whole.lo is None:
            continue
        part = Magnitudes(whole.lo, whole.lo_open, whole.hi, whole.hi_open, whole.step, shape.avoid)
        if not is_empty(part.shape()):
            done.append(part)
    return done


def decimal_places(value: Fraction) -> int:
    """How many digits after the point `value` has. Its denominator has no primes but 2 and 5."""
    denominator = value.denominator
    twos = (denominator & -denominator).bit_length() - 1
    fives = 0
    denominator >>= twos
    while denominator > 1:
        denominator //= 5
        fives += 1
    return max(twos, fives)


def decimal_digits(value: Fraction) -> tuple[str, str]:
    """Digits before and after the point of a magnitude, without needless zeros: ("", "05")."""
    decimals = decimal_places(value)
    text = str(int(value * 10**decimals)).rjust(decimals + 1, "0")
    whole, fraction = text[: len(text) - decimals], text[len(text) - decimals :]
    return ("" if whole == "0" else whole), fraction


def one_digit(d: int) -> Term:
    """The digit d."""
    return ByteClass(1 << (0x30 + d))


def digit_range(lo: int, hi: int) -> Term:
    """A digit from lo to hi; `EMPTY` if hi < lo."""
    return byte_range(0x30 + lo, 0x30 + hi) if lo <= hi else EMPTY


def digit_class(digits: set[int]) -> Term:
    """Any of some digits, at least one."""
    return ByteClass(sum([1 << (0x30 + d) for d in digits]))
