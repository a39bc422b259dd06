"""Multiples of a step, and non-multiples, between two bounds, by remainders.

A state is (digits to come, tight flags, what was read modulo the steps), made as a rule when a
text gets there. A state from which no value of the set can be completed is never made.
"""

from __future__ import annotations

import math
from fractions import Fraction

from constrain.algebra.terms import EMPTY, EPS, Rule, Term, alt, cat, repeat, star
from constrain.frontends.json_schema.magnitudes import (
    DIGIT,
    NONZERO,
    POINT,
    ZERO,
    Magnitudes,
    Spelling,
    decimal_places,
    digit_class,
    one_digit,
)
from constrain.frontends.json_schema.number import NumberShape, is_empty, make

__all__ = ["Remainders"]


class Remainders:
    """Multiples (and non-multiples) between bounds, as rules made when a text gets there.

    Numbers are counted in units of 10^-`decimals`, so that steps and bounds are integers. A state
    stands for a beginning of the digits by a representative number: the exact value while the text
    is tight on a bound, else its remainder modulo all steps. That the state is live is decided by
    looking for a value of the set among the completions of the representative.
    """

    def __init__(self, m: Magnitudes, spelling: Spelling) -> None:
        known = [m.lo, *m.avoid]
        known += [m.hi] if m.hi is not None else []
        known += [m.step] if m.step is not None else []
        self._decimals = max([decimal_places(v) for v in known])
        unit = 10**self._decimals
        self._step = None if m.step is None else int(m.step * unit)
        self._avoid = [int(v * unit) for v in sorted(m.avoid)]
        self._modulus = math.lcm(self._step or 1, *self._avoid)
        self._lo, self._lo_open = int(m.lo * unit), m.lo_open
        self._hi, self._hi_open = (None if m.hi is None else int(m.hi * unit)), m.hi_open
        self._zeros = spelling.zeros
        self._limit = spelling.fraction_digits
        if self._limit is not None:
            self._limit = max(self._limit, self._decimals + 1)
        self._rules: dict[tuple[int | None, int, bool, bool, int, bool], Rule] = {}

    def start(self) -> Term:
        """All spellings, for every number of digits before the point."""
        n_lo = len(str(self._lo // 10**self._decimals).lstrip("0"))
        parts = []
        if n_lo == 0:
            tight_hi = self._hi is not None and self._hi < 10**self._decimals
            parts.append(cat(ZERO, self._state(0, self._decimals, True, tight_hi, 0, False)))
        if self._hi is None:
            if n_lo > 0:
                parts.append(self._first_digit(n_lo, tight_lo=True, tight_hi=False))
            parts.append(self._long_numbers(n_lo + 1))
            return alt(parts)
        n_hi = len(str(self._hi // 10**self._decimals).lstrip("0"))
        for n in range(max(n_lo, 1), n_hi + 1):
            parts.append(self._first_digit(n, tight_lo=n == n_lo, tight_hi=n == n_hi))
        return alt(parts)

    def _first_digit(self, n: int, *, tight_lo: bool, tight_hi: bool) -> Term:
        start = self._digit_moves(n, self._decimals, tight_lo, tight_hi, 0, False)
        return alt([cat(digit_class(ds - {0}), term) for ds, term in start if ds - {0}])

    def _long_numbers(self, n: int) -> Term:
        """Numbers of at least n digits, where nothing but the remainder matters."""
        unbounded: list[Term] = []
        for d in range(1, 10):
            term = self._open_state(d % self._modulus, n - 1)
            unbounded.append(cat(one_digit(d), term))
        return alt(unbounded)

    def _open_state(self, residue: int, needed: int) -> Term:
        """At least `needed` more digits before the point, without bound."""
        key = (None, needed, False, False, residue, False)
        found = self._rules.get(key)
        if found is None:

            def body() -> Term:
                groups: dict[int, set[int]] = {}
                for d in range(10):
                    groups.setdefault((residue * 10 + d) % self._modulus, set()).add(d)
                moves = [
                    cat(digit_class(ds), self._open_state(r, max(needed - 1, 0)))
                    for r, ds in groups.items()
                ]
                if needed > 0:
                    return alt(moves)
                return alt([*moves, self._after_whole(False, False, residue)])

            nullable = needed == 0 and self._accepts(residue * 10**self._decimals)
            found = Rule(f"number mod {self._modulus}", body, nullable=nullable, regular=True)
            self._rules[key] = found
        return found

    def _state(
        self, whole: int, fraction: int, tight_lo: bool, tight_hi: bool, seen: int, pointed: bool
    ) -> Term:
        """What may follow: `whole` digits before the point, then up to `fraction` after it.

        Args:
            whole: Digits before the point still to come, all of them.
            fraction: Digits after the point that still count.
            tight_lo: What was read equals the beginning of the lower bound, and `seen` is exact.
            tight_hi: Likewise for the upper bound.
            seen: What was read, as an integer; modulo the steps where nothing is tight.
            pointed: The point and at least one digit after it were read.
        """
        if not tight_lo and not tight_hi:
            seen %= self._modulus
        if not self._live(whole + fraction, tight_lo, tight_hi, seen):
            return EMPTY
        if whole == 0 and fraction == 0 and pointed:
            return self._tail(tight_lo, tight_hi, seen)
        key = (whole, fraction, tight_lo, tight_hi, seen, pointed)
        found = self._rules.get(key)
        if found is None:

            def body() -> Term:
                if whole > 0:
                    moves = self._digit_moves(whole, fraction, tight_lo, tight_hi, seen, False)
                    return alt([cat(digit_class(ds), term) for ds, term in moves])
                if not pointed:
                    return self._after_whole(tight_lo, tight_hi, seen)
                moves = self._digit_moves(0, fraction, tight_lo, tight_hi, seen, True)
                end = EPS if nullable else EMPTY
                return alt([end, *[cat(digit_class(ds), term) for ds, term in moves]])

            nullable = whole == 0 and self._ends(fraction, tight_lo, tight_hi, seen)
            found = Rule(f"number mod {self._modulus}", body, nullable=nullable, regular=True)
            self._rules[key] = found
        return found

    def _after_whole(self, tight_lo: bool, tight_hi: bool, seen: int) -> Term:
        """After the last digit before the point: the end, or a point and at least one digit."""
        end = EPS if self._ends(self._decimals, tight_lo, tight_hi, seen) else EMPTY
        if self._decimals == 0:
            tail = self._tail(tight_lo, tight_hi, seen, least=1)
            return alt((end, cat(POINT, tail)))
        moves = self._digit_moves(0, self._decimals, tight_lo, tight_hi, seen, True)
        digits = alt([cat(digit_class(ds), term) for ds, term in moves])
        return alt((end, cat(POINT, digits)))

    def _digit_moves(
        self, whole: int, fraction: int, tight_lo: bool, tight_hi: bool, seen: int, pointed: bool
    ) -> list[tuple[set[int], Term]]:
        """The next digit, grouped by the state after it."""
        left = whole + fraction - 1
        after = (whole - 1, fraction) if whole > 0 else (0, fraction - 1)
        groups: dict[Term, set[int]] = {}
        for d in range(10):
            now = seen * 10 + d
            lo = hi = False
            if tight_lo:
                bound = self._lo // 10**left
                if now < bound:
                    continue
                lo = now == bound
            if tight_hi:
                assert self._hi is not None
                bound = self._hi // 10**left
                if now > bound:
                    continue
                hi = now == bound
            term = self._state(*after, lo, hi, now, pointed)
            if term is not EMPTY:
                groups.setdefault(term, set()).add(d)
        return [(ds, term) for term, ds in groups.items()]

    def _tail(self, tight_lo: bool, tight_hi: bool, seen: int, least: int = 0) -> Term:
        """Digits after the last that counts: zeros, or anything where no step binds."""
        on_grid = self._ends(0, tight_lo, tight_hi, seen)
        below = not (tight_hi and self._hi == seen)
        more = None if self._limit is None else self._limit - self._decimals
        parts = []
        if on_grid and (self._zeros or self._step is None):
            parts.append(repeat(ZERO, least, more))
        elif on_grid and least == 0:
            parts.append(EPS)
        if self._step is None and below:
            if more is None:
                parts.append(cat(star(ZERO), NONZERO, star(DIGIT)))
            else:
                term: Term = EMPTY
                for k in range(more):
                    term = alt((cat(ZERO, term), cat(NONZERO, repeat(DIGIT, 0, k))))
                parts.append(term)
        return alt(parts)

    def _accepts(self, value: int) -> bool:
        """Whether a value on the grid fits the steps."""
        return (self._step is None or value % self._step == 0) and not any(
            value % n == 0 for n in self._avoid
        )

    def _ends(self, fraction: int, tight_lo: bool, tight_hi: bool, seen: int) -> bool:
        """Whether the number may end here, with `fraction` digits that count not written."""
        value = seen * 10**fraction
        if tight_lo and (value < self._lo or (value == self._lo and self._lo_open)):
            return False
        if tight_hi:
            assert self._hi is not None
            if value > self._hi or (value == self._hi and self._hi_open):
                return False
        return self._accepts(value)

    def _live(self, digits: int, tight_lo: bool, tight_hi: bool, seen: int) -> bool:
        """Whether a value of the set begins with `seen` and has `digits` more that count."""
        lo = seen * 10**digits
        hi, hi_open = lo + 10**digits, True
        lo_open = False
        if tight_lo and lo <= self._lo:
            lo, lo_open = self._lo, self._lo_open
        if tight_hi:
            assert self._hi is not None
            if self._hi < hi:
                hi, hi_open = self._hi, self._hi_open
        if self._step is not None and not self._avoid:
            first = -(-lo // self._step) * self._step
            if first == lo and lo_open:
                first += self._step
            return first < hi or (first == hi and not hi_open)
        step = None if self._step is None else Fraction(self._step)
        span = make(lo=Fraction(lo), lo_open=lo_open, hi=Fraction(hi), hi_open=hi_open, step=step)
        avoid = frozenset([Fraction(n) for n in self._avoid])
        return not is_empty(
            NumberShape(None, span.lo, span.hi, span.lo_open, span.hi_open, step, avoid)
        )
