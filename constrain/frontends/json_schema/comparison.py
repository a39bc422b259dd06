"""Numbers between two bounds, by comparing digits.

For n digits before the point, the bounds of n digits are followed digit by digit while the text
equals their beginning ("tight"); once it differs the rest is free. Lengths between those of the
bounds are one counter. Then the same after the point. [0, 300] becomes
`0|[1-9][0-9]{0,1}|[1-2][0-9]{2}|300`.

Cost: O(digits of the bounds) terms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from constrain.algebra.terms import EMPTY, EPS, Term, alt, cat, literal, optional, repeat, star
from constrain.frontends.json_schema.magnitudes import (
    DIGIT,
    NONZERO,
    POINT,
    ZERO,
    Magnitudes,
    Spelling,
    decimal_digits,
    digit_range,
    one_digit,
)

__all__ = ["compare_term"]


def compare_term(m: Magnitudes, spelling: Spelling) -> Term:
    """Plain spellings of all numbers, or all integers (step 1), between two bounds."""
    lo, lo_fraction = decimal_digits(m.lo)
    hi, hi_fraction = ("", "") if m.hi is None else decimal_digits(m.hi)
    if m.step is not None:
        after: _Fractions = _Whole(spelling)
    else:
        limit = spelling.fraction_digits
        if limit is not None:
            limit = max(limit, len(lo_fraction) + 1, len(hi_fraction) + 1)
        after = _Decimals(lo_fraction, m.lo_open, hi_fraction, m.hi_open, limit)
    n_lo, n_hi = len(lo), len(hi)
    if m.hi is not None and n_lo == n_hi:
        return _tight_term(lo, hi, after)
    parts = [_tight_term(lo, None, after)]
    first, last = n_lo + 1, None if m.hi is None else n_hi - 1
    if last is None or first <= last:
        count = repeat(DIGIT, first - 1, None if last is None else last - 1)
        parts.append(cat(NONZERO, count, after.free()))
    if m.hi is not None:
        parts.append(_tight_term(None, hi, after))
    return alt(parts)


def _tight_term(lo: str | None, hi: str | None, after: _Fractions) -> Term:
    """Numbers with as many digits before the point as the bounds given, and between them."""
    digits = lo if lo is not None else hi
    assert digits is not None
    if not digits:
        return cat(ZERO, after.tight(lo is not None, hi is not None))
    if lo is None or hi is None:
        return _one_sided(digits, 0, lo is not None, after)
    at = first_difference(lo, hi)
    if at == len(lo):
        return cat(literal(lo.encode()), after.tight(True, True))
    rest = len(lo) - at - 1
    a, b = int(lo[at]), int(hi[at])
    return cat(
        literal(lo[:at].encode()),
        alt(
            (
                cat(one_digit(a), _one_sided(lo, at + 1, True, after)),
                cat(digit_range(a + 1, b - 1), repeat(DIGIT, rest, rest), after.free()),
                cat(one_digit(b), _one_sided(hi, at + 1, False, after)),
            )
        ),
    )


def _one_sided(bound: str, start: int, lower: bool, after: _Fractions) -> Term:
    """What may follow bound[:start] so that the number is not below (`lower`) or above it."""
    term = after.tight(lower, not lower)
    free = after.free()
    for i in range(len(bound) - 1, start - 1, -1):
        d = int(bound[i])
        rest = len(bound) - i - 1
        least = 1 if i == 0 else 0
        others = digit_range(d + 1, 9) if lower else digit_range(least, d - 1)
        term = alt((cat(one_digit(d), term), cat(others, repeat(DIGIT, rest, rest), free)))
    return term


class _Fractions(ABC):
    """What may follow the digits before the point."""

    @abstractmethod
    def free(self) -> Term:
        """Where the digits before the point decide both comparisons."""

    @abstractmethod
    def tight(self, lo: bool, hi: bool) -> Term:
        """Where they equal those of the lower bound, the upper bound, or both."""


class _Whole(_Fractions):
    """Integers: nothing, or zeros."""

    def __init__(self, spelling: Spelling) -> None:
        zeros = repeat(ZERO, 1, spelling.fraction_digits)
        self._term = optional(cat(POINT, zeros)) if spelling.zeros else EPS

    def free(self) -> Term:
        return self._term

    def tight(self, lo: bool, hi: bool) -> Term:
        return self._term


class _Decimals(_Fractions):
    """A point and up to `limit` digits, compared with the fractions of the bounds."""

    def __init__(self, lo: str, lo_open: bool, hi: str, hi_open: bool, limit: int | None) -> None:
        self._lo = lo
        self._lo_open = lo_open
        self._hi = hi
        self._hi_open = hi_open
        self._limit = limit
        self._free = optional(cat(POINT, repeat(DIGIT, 1, limit)))

    def free(self) -> Term:
        return self._free

    def tight(self, lo: bool, hi: bool) -> Term:
        if lo and hi:
            return self._between()
        return self._not_below() if lo else self._not_above()

    def _left(self, used: int) -> int | None:
        return None if self._limit is None else self._limit - used

    def _any(self, used: int) -> Term:
        return repeat(DIGIT, 0, self._left(used))

    def _nonzero(self, used: int) -> Term:
        """Digits that are not all zero, after `used` others."""
        left = self._left(used)
        if left is None:
            return cat(star(ZERO), NONZERO, star(DIGIT))
        term: Term = EMPTY
        for k in range(left):
            term = alt((cat(ZERO, term), cat(NONZERO, repeat(DIGIT, 0, k))))
        return term

    def _not_below(self) -> Term:
        if not self._lo:
            return cat(POINT, self._nonzero(0)) if self._lo_open else self._free
        return cat(POINT, self._lower_tail(0))

    def _lower_tail(self, start: int) -> Term:
        """Digits after lo[:start] that do not fall below the lower bound."""
        lo = self._lo
        term = self._nonzero(len(lo)) if self._lo_open else self._any(len(lo))
        for j in range(len(lo) - 1, start - 1, -1):
            d = int(lo[j])
            term = alt((cat(one_digit(d), term), cat(digit_range(d + 1, 9), self._any(j + 1))))
        return term

    def _not_above(self) -> Term:
        if not self._hi:
            zeros = cat(POINT, repeat(ZERO, 1, self._limit))
            return EMPTY if self._hi_open else optional(zeros)
        return optional(cat(POINT, self._upper_tail(0)))

    def _upper_tail(self, start: int) -> Term:
        """Digits after hi[:start] that do not rise above the upper bound."""
        hi = self._hi
        term = EMPTY if self._hi_open else repeat(ZERO, 0, self._left(len(hi)))
        for j in range(len(hi) - 1, start - 1, -1):
            d = int(hi[j])
            term = alt((cat(one_digit(d), term), cat(digit_range(0, d - 1), self._any(j + 1))))
            if j > 0:
                term = optional(term)
        return term

    def _between(self) -> Term:
        """Digits before the point equal those of both bounds, and lo < hi."""
        lo, hi = self._lo, self._hi
        at = first_difference(lo, hi)
        if at == len(lo) and not self._lo_open:
            # The lower bound is met from here on.
            tail = self._upper_tail(at)
            return self._not_above() if at == 0 else cat(POINT, literal(hi[:at].encode()), tail)
        while at >= len(lo) and hi[at] == "0":
            at += 1  # the lower bound is open and goes on with zeros
        prefix = hi[:at].encode()
        a, b = int(lo[at]) if at < len(lo) else 0, int(hi[at])
        lower = self._lower_tail(at + 1) if at < len(lo) else self._nonzero(at + 1)
        upper = self._upper_tail(at + 1)
        return cat(
            POINT,
            literal(prefix),
            alt(
                (
                    cat(one_digit(a), lower),
                    cat(digit_range(a + 1, b - 1), self._any(at + 1)),
                    cat(one_digit(b), upper),
                )
            ),
        )


def first_difference(a: str, b: str) -> int:
    """Length of the longest common prefix."""
    n = min(len(a), len(b))
    return next((i for i in range(n) if a[i] != b[i]), n)
