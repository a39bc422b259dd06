"""Numbers with an exponent, in style "any".

x = d.ddd * 10^E, so two bounds become a comparison of the significant digits, then a range for E.

What is left out, because no finite state can judge it, or not a small one: an exponent after more
than `SPAN` digits before the point, or zeros after it; on multiples of a step with a prime factor
other than 2 and 5; on non-multiples within bounds or of several steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from constrain.algebra.terms import (
    EMPTY,
    ByteClass,
    Rule,
    Term,
    alt,
    cat,
    literal,
    optional,
    plus,
    star,
)
from constrain.frontends.json_schema.comparison import compare_term
from constrain.frontends.json_schema.magnitudes import (
    DIGIT,
    EXPONENT_MARK,
    MINUS,
    POINT,
    SIGN,
    ZERO,
    Magnitudes,
    Spelling,
    decimal_digits,
    decimal_places,
)

__all__ = ["SPAN", "exponent_forms"]

SPAN: Final = 40
"""Digits that are counted before an exponent. A double is printed with at most 17."""


def exponent_forms(m: Magnitudes) -> Term:
    """Spellings with an exponent, or `EMPTY` where they are left out."""
    if m.step is not None:
        unit, place = _unit_and_place(m.step)
        if m.avoid or not _divides_power_of_ten(unit):
            return EMPTY
        return _Exponents(m, unit, place).start()
    if not m.avoid:
        return _Exponents(m, 1, None).start()
    unit, place = _unit_and_place(min(m.avoid))
    if len(m.avoid) > 1 or unit > 1 or m.hi is not None or m.lo > 0:
        return EMPTY
    return _Exponents(m, 1, place).start()


def _unit_and_place(step: Fraction) -> tuple[int, int]:
    """(u, k) with step = u * 10^k, and 10 does not divide u."""
    decimals = decimal_places(step)
    digits = str(int(step * 10**decimals))
    unit = digits.rstrip("0")
    return int(unit), len(digits) - len(unit) - decimals


def _divides_power_of_ten(n: int) -> bool:
    for prime in (2, 5):
        while n % prime == 0:
            n //= prime
    return n == 1


_WHOLE_NUMBERS: Final = Spelling(False, False, True, None, None)
_LESS, _MORE, _TIGHT = range(3)
"""How the digits read compare with those of a bound; `_TIGHT`: they are its beginning."""

_Bound = tuple[str, int]
"""Significant digits without trailing zeros, and E."""


@dataclass(frozen=True, slots=True)
class _Mantissa:
    """What is known of the digits read so far.

    Attributes:
        shift: E less the exponent that will be written.
        count: Significant digits read; 1 for any number of them where nothing needs it.
        lo: How they compare with the lower bound's.
        hi: How they compare with the upper bound's.
        last: Index of the last digit that is not zero, if places matter; else 0.
        residue: The digits up to that one as a number, modulo the unit of the step.
        whole: The point was not read.
    """

    shift: int
    count: int
    lo: int
    hi: int
    last: int
    residue: int
    whole: bool


class _Exponents:
    """Mantissa and exponent: the digits are compared with both bounds, then E has a range.

    x = d0.d1d2... * 10^E with d0 > 0. Against a bound with exponent B: E < B is below and E > B is
    above whatever the digits; at E = B the digits decide. On a step 10^k the place of the last
    digit that is not zero, E - last, is at least k; off it, less than k.
    """

    def __init__(self, m: Magnitudes, unit: int, place: int | None) -> None:
        self._lo = None if m.lo == 0 else _scientific(m.lo)
        self._lo_open = m.lo_open
        self._hi = None if m.hi is None else _scientific(m.hi)
        self._hi_open = m.hi_open
        self._unit = unit
        self._place = place
        self._on_step = m.step is not None
        bounds = [len(bound[0]) for bound in (self._lo, self._hi) if bound is not None]
        self._longest = max(bounds, default=1)
        self._most_counted = max(2 * SPAN, self._longest)
        self._rules: dict[_Mantissa, Rule] = {}
        self._exponents: dict[tuple[int | None, int | None], Term] = {}

    def start(self) -> Term:
        """All spellings: those that begin with a digit 1-9, and those that begin with `0.`."""
        lo = _MORE if self._lo is None else _TIGHT
        hi = _LESS if self._hi is None else _TIGHT
        zeros: Term = EMPTY
        for shift in range(-SPAN, 0):
            first = self._digit_moves(_Mantissa(shift, 0, lo, hi, 0, 0, False))
            zeros = alt((cat(ZERO, zeros), first))
        digits = self._digit_moves(_Mantissa(0, 0, lo, hi, 0, 0, True))
        return alt((digits, cat(ZERO, POINT, zeros)))

    def _state(self, at: _Mantissa) -> Term:
        if not self._live(at):
            return EMPTY
        found = self._rules.get(at)
        if found is None:
            found = Rule("number with exponent", lambda: self._body(at), regular=True)
            self._rules[at] = found
        return found

    def _body(self, at: _Mantissa) -> Term:
        parts = [cat(EXPONENT_MARK, self._exponent(at))]
        if at.whole:
            if at.shift < SPAN:
                longer = replace(at, shift=at.shift + 1)
                parts.append(self._digit_moves(longer))
            parts.append(cat(POINT, self._digit_moves(replace(at, whole=False))))
        else:
            parts.append(self._digit_moves(at))
        return alt(parts)

    def _digit_moves(self, at: _Mantissa) -> Term:
        """The next significant digit, and what may follow it."""
        groups: dict[Term, int] = {}
        for d in range(1 if at.count == 0 else 0, 10):
            lo = _compare(at.lo, d, at.count, self._lo)
            hi = _compare(at.hi, d, at.count, self._hi)
            last, residue = at.last, at.residue
            if self._place is not None and d:
                if at.count > self._most_counted:
                    continue
                last = at.count
                residue = (residue * 10 ** (last - at.last) + d) % self._unit
            count = self._counted(at.count + 1, lo, hi)
            term = self._state(_Mantissa(at.shift, count, lo, hi, last, residue, at.whole))
            if term is not EMPTY:
                groups[term] = groups.get(term, 0) | 1 << (0x30 + d)
        return alt([cat(ByteClass(mask), term) for term, mask in groups.items()])

    def _counted(self, count: int, lo: int, hi: int) -> int:
        """`count`, saturated where more digits make no difference."""
        if self._place is not None:
            return min(count, self._most_counted + 1)
        return min(count, self._longest) if _TIGHT in (lo, hi) else 1

    def _range(self, at: _Mantissa) -> tuple[int | None, int | None]:
        """Least and greatest E if no more digits follow; None: without bound."""
        least: int | None = None
        most: int | None = None
        if self._lo is not None:
            digits, exponent = self._lo
            equal = at.lo == _TIGHT and at.count >= len(digits)
            fits = at.lo == _MORE or (equal and not self._lo_open)
            least = exponent if fits else exponent + 1
        if self._hi is not None:
            digits, exponent = self._hi
            equal = at.hi == _TIGHT and at.count >= len(digits)
            fits = not (self._hi_open if equal else at.hi == _MORE)
            most = exponent if fits else exponent - 1
        if self._place is not None:
            place = self._place + at.last
            if self._on_step:
                place += self._zeros_needed(at.residue)
                least = place if least is None else max(least, place)
            else:
                most = place - 1 if most is None else min(most, place - 1)
        return least, most

    def _zeros_needed(self, residue: int) -> int:
        """The least n for which the unit divides residue * 10^n."""
        n = 0
        while residue % self._unit:
            residue = residue * 10 % self._unit
            n += 1
        return n

    def _live(self, at: _Mantissa) -> bool:
        """Whether E has a value now or after more digits.

        Tight on the lower bound: its other digits follow, or, if it is open, digits just above
        them. Tight on the upper bound: its other digits follow, or, if it is open and has some,
        none. Else the digits to come decide nothing about bounds, but on a step they may make a
        smaller E possible.
        """
        if at.lo == _TIGHT:
            return True
        if at.hi == _TIGHT and self._hi is not None:
            if not self._hi_open or at.count < len(self._hi[0]):
                return True
        least, most = self._range(at)
        if least is None or most is None or least <= most:
            return True
        return self._on_step and self._more_digits_help(at, most)

    def _more_digits_help(self, at: _Mantissa, most: int) -> bool:
        """Whether a multiple of the step begins with these digits and has E = `most`.

        With k more digits y the number is (D * 10^k + y) * 10^(t - k) units of the step's place,
        for D the digits so far and t the places that are left.
        """
        assert self._place is not None
        bounds_only, _ = self._range(replace(at, last=-(10**9), residue=0))
        places = most - (at.count - 1) - self._place
        if bounds_only is not None and bounds_only > most:
            return False
        digits = at.residue * pow(10, at.count - 1 - at.last, self._unit)
        for k in range(1, min(places, self._most_counted + 1 - at.count) + 1):
            divisor = self._unit // math.gcd(self._unit, pow(10, places - k))
            if -digits * 10**k % divisor < 10**k:
                return True
        return False

    def _exponent(self, at: _Mantissa) -> Term:
        least, most = self._range(at)
        if least is not None and most is not None and least > most:
            return EMPTY
        key = (
            None if least is None else least - at.shift,
            None if most is None else most - at.shift,
        )
        found = self._exponents.get(key)
        if found is None:
            found = self._exponents[key] = _exponent_term(*key)
        return found


def _compare(relation: int, digit: int, index: int, bound: _Bound | None) -> int:
    """The comparison with `bound` after one more digit, the one at `index`."""
    if relation != _TIGHT or bound is None:
        return relation
    expected = int(bound[0][index]) if index < len(bound[0]) else 0
    return _TIGHT if digit == expected else _LESS if digit < expected else _MORE


def _scientific(value: Fraction) -> _Bound:
    whole, fraction = decimal_digits(value)
    digits = (whole + fraction).lstrip("0")
    exponent = len(whole) - 1 if whole else len(digits) - len(fraction) - 1
    return digits.rstrip("0"), exponent


def _exponent_term(least: int | None, most: int | None) -> Term:
    """Integers from `least` to `most` as an exponent: any sign that fits, any zeros in front."""
    if least is None and most is None:
        return cat(optional(SIGN), plus(DIGIT))
    not_negative = _magnitude_range(least, most)
    not_positive = _magnitude_range(
        None if most is None else -most, None if least is None else -least
    )
    return alt((cat(optional(literal(b"+")), not_negative), cat(MINUS, not_positive)))


def _magnitude_range(least: int | None, most: int | None) -> Term:
    """Integers >= 0 from `least` to `most`, with any zeros in front."""
    if most is not None and most < 0:
        return EMPTY
    zero = plus(ZERO) if least is None or least <= 0 else EMPTY
    lo = Fraction(1 if least is None else max(least, 1))
    if most is not None and most < lo:
        return zero
    if most == lo:
        positive: Term = literal(str(most).encode())
    else:
        hi = None if most is None else Fraction(most)
        whole = Magnitudes(lo, False, hi, False, Fraction(1), frozenset())
        positive = compare_term(whole, _WHOLE_NUMBERS)
    return alt((zero, cat(star(ZERO), positive)))
