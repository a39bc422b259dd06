r"""Sets of numbers to terms: which digit strings spell a number of the set.

A number is split by sign, so only magnitudes remain. A magnitude between two bounds is spelled

- plainly, by comparing digits: for n digits before the point, the bounds of n digits are followed
  digit by digit while the text equals their beginning ("tight"), and once it differs the rest is
  free. Lengths between those of the bounds are one counter. [0, 300] becomes
  `0|[1-9][0-9]{0,1}|[1-2][0-9]{2}|3(00)`;
- with a step other than 1 (or steps to avoid), also by remainders: a state is (digits to come,
  tight flags, what was read modulo the steps), made as a rule when a text gets there. A state from
  which no value of the set can be completed is never made;
- in style "any" with an exponent: value = d.ddd * 10^E, so the bounds become a comparison of the
  significant digits, then a range for E.

What is left out in style "any", because no finite state can judge it, or not a small one: an
exponent after more than `_SPAN` digits before the point (or zeros after it) where the number is
constrained; an exponent on multiples of a step with a prime factor other than 2 and 5, on
non-multiples within bounds or of several steps, and on finite sets of more than `_SPAN` numbers.

Cost: a term of O(digits of the bounds); with remainders, states are made as texts reach them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from constrain.algebra.terms import (
    EMPTY,
    EPS,
    ByteClass,
    Rule,
    Term,
    alt,
    byte_range,
    cat,
    complement,
    intersect,
    literal,
    optional,
    plus,
    repeat,
    star,
)
from constrain.frontends.json_schema.number import (
    ANY_NUMBER,
    NumberShape,
    contains,
    is_empty,
    make,
)
from constrain.frontends.json_schema.style import JSONStyle
from constrain.frontends.json_schema.tries import trie

__all__ = ["number_term", "plain_spelling"]

_DIGIT: Final = byte_range(0x30, 0x39)
_NONZERO: Final = byte_range(0x31, 0x39)
_ZERO: Final = literal(b"0")
_POINT: Final = literal(b".")
_MINUS: Final = literal(b"-")
_E: Final = ByteClass(1 << 0x45 | 1 << 0x65)
_SIGN: Final = ByteClass(1 << 0x2B | 1 << 0x2D)
_EXPONENT: Final = cat(_E, optional(_SIGN), plus(_DIGIT))
_ANY_SPELLING: Final = cat(
    optional(_MINUS),
    alt((_ZERO, cat(_NONZERO, star(_DIGIT)))),
    optional(cat(_POINT, plus(_DIGIT))),
    optional(_EXPONENT),
)

_SPAN: Final = 40
"""Digits that are counted before an exponent. A double is printed with at most 17."""


@dataclass(frozen=True, slots=True)
class _Spelling:
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


_EVERY: Final = _Spelling(True, True, True, None, None)
_EVERY_INTEGER_FORM: Final = _Spelling(False, False, True, None, None)
_INTEGER_FORM: Final = cat(optional(_MINUS), alt((_ZERO, cat(_NONZERO, star(_DIGIT)))))


def number_term(shapes: Sequence[NumberShape], style: JSONStyle) -> Term:
    """Every spelling, in this style, of a number of the union `shapes`; none of them is empty."""
    if style.numbers == "any":
        spelling = _EVERY
    else:
        spelling = _Spelling(False, False, False, style.integer_digits, style.fraction_digits)
    return alt([_form_term(shape, spelling) for shape in shapes])


def plain_spelling(value: Fraction) -> bytes:
    """The shortest spelling without exponent: `0`, `-12`, `0.05`."""
    whole, fraction = _decimal_digits(abs(value))
    text = (whole or "0") + ("." + fraction if fraction else "")
    return (("-" if value < 0 else "") + text).encode()


def _form_term(shape: NumberShape, spelling: _Spelling) -> Term:
    """A shape, with what it says about point and exponent."""
    values = replace(shape, integer_form=None)
    if shape.integer_form is None:
        return _shape_term(values, spelling)
    if shape.integer_form:
        return _shape_term(values, _EVERY_INTEGER_FORM if spelling is _EVERY else spelling)
    if spelling is not _EVERY:
        spelling = replace(spelling, zeros=True)
    return intersect((_shape_term(values, spelling), complement(_INTEGER_FORM)))


def _shape_term(shape: NumberShape, spelling: _Spelling) -> Term:
    if shape.only is not None:
        return _finite_term(shape.only, spelling)
    if spelling is _EVERY and shape == ANY_NUMBER:
        return _ANY_SPELLING
    parts = []
    if contains(shape, Fraction(0)):
        parts.append(_zero_term(shape, spelling))
    positive = _magnitudes(shape, spelling, negative=False)
    negative = _magnitudes(shape, spelling, negative=True)
    if positive == negative:
        parts.append(cat(optional(_MINUS), _union_term(positive, spelling)))
    else:
        parts.append(_union_term(positive, spelling))
        parts.append(cat(_MINUS, _union_term(negative, spelling)))
    return alt(parts)


def _zero_term(shape: NumberShape, spelling: _Spelling) -> Term:
    """Zero, as a number of a shape: with decimals where others of the shape have some."""
    decimals = spelling.fraction_digits
    if not spelling.zeros and (shape.step is not None or shape.only is not None):
        decimals = 0 if shape.step is None else _decimals(shape.step)
    fraction = EPS if decimals == 0 else optional(cat(_POINT, repeat(_ZERO, 1, decimals)))
    sign = optional(_MINUS) if spelling.minus_zero else EPS
    return cat(sign, _ZERO, fraction, optional(_EXPONENT) if spelling.exponents else EPS)


def _finite_term(values: frozenset[Fraction], spelling: _Spelling) -> Term:
    plain = []
    parts = []
    for v in sorted(values):
        text = plain_spelling(v)
        more: Term = EPS
        if v == 0:
            parts.append(_zero_term(NumberShape(only=values), spelling))
            continue
        if spelling.zeros:
            zeros = repeat(_ZERO, 0, spelling.fraction_digits)
            more = zeros if b"." in text else optional(cat(_POINT, _ZERO, zeros))
        plain.append((text, more))
        if spelling.exponents and len(values) <= _SPAN:
            exact = _Magnitudes(abs(v), False, abs(v), False, None, frozenset())
            parts.append(cat(_MINUS if v < 0 else EPS, _exponent_forms(exact)))
    return alt([trie(plain), *parts])


# Magnitudes


@dataclass(frozen=True, slots=True)
class _Magnitudes:
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
        return NumberShape(
            None, self.lo, self.hi, self.lo_open, self.hi_open, self.step, self.avoid
        )


def _magnitudes(shape: NumberShape, spelling: _Spelling, *, negative: bool) -> list[_Magnitudes]:
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
            digits = len(_decimal_digits(whole.lo)[0]) + 1
            if shape.step is not None:
                digits += len(_decimal_digits(math.prod(shape.avoid, start=shape.step))[0])
            top = Fraction(10 ** max(spelling.integer_digits, digits))
            whole = make(lo=whole.lo, lo_open=whole.lo_open, hi=top, hi_open=True, step=shape.step)
        if whole.lo is None:
            continue
        part = _Magnitudes(
            whole.lo, whole.lo_open, whole.hi, whole.hi_open, whole.step, shape.avoid
        )
        if not is_empty(part.shape()):
            done.append(part)
    return done


def _union_term(parts: Iterable[_Magnitudes], spelling: _Spelling) -> Term:
    return alt([_magnitude_term(part, spelling) for part in parts])


def _magnitude_term(m: _Magnitudes, spelling: _Spelling) -> Term:
    if m.lo == m.hi:
        return _finite_term(frozenset((m.lo,)), spelling)
    if m.avoid or (m.step is not None and m.step != 1):
        plain = _Remainders(m, spelling).start()
    else:
        plain = _compare_term(m, spelling)
    return alt((plain, _exponent_forms(m))) if spelling.exponents else plain


def _decimals(value: Fraction) -> int:
    """How many digits after the point `value` has. Its denominator has no primes but 2 and 5."""
    denominator = value.denominator
    twos = (denominator & -denominator).bit_length() - 1
    fives = 0
    denominator >>= twos
    while denominator > 1:
        denominator //= 5
        fives += 1
    return max(twos, fives)


def _decimal_digits(value: Fraction) -> tuple[str, str]:
    """Digits before and after the point of a magnitude, without needless zeros: ("", "05")."""
    decimals = _decimals(value)
    text = str(int(value * 10**decimals)).rjust(decimals + 1, "0")
    whole, fraction = text[: len(text) - decimals], text[len(text) - decimals :]
    return ("" if whole == "0" else whole), fraction


# Plain spellings by comparing digits


def _compare_term(m: _Magnitudes, spelling: _Spelling) -> Term:
    lo, lo_fraction = _decimal_digits(m.lo)
    hi, hi_fraction = ("", "") if m.hi is None else _decimal_digits(m.hi)
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
        count = repeat(_DIGIT, first - 1, None if last is None else last - 1)
        parts.append(cat(_NONZERO, count, after.free()))
    if m.hi is not None:
        parts.append(_tight_term(None, hi, after))
    return alt(parts)


def _tight_term(lo: str | None, hi: str | None, after: _Fractions) -> Term:
    """Numbers with as many digits before the point as the bounds given, and between them."""
    digits = lo if lo is not None else hi
    assert digits is not None
    if not digits:
        return cat(_ZERO, after.tight(lo is not None, hi is not None))
    if lo is None or hi is None:
        return _one_sided(digits, 0, lo is not None, after)
    at = _first_difference(lo, hi)
    if at == len(lo):
        return cat(literal(lo.encode()), after.tight(True, True))
    rest = len(lo) - at - 1
    a, b = int(lo[at]), int(hi[at])
    return cat(
        literal(lo[:at].encode()),
        alt(
            (
                cat(_digit(a), _one_sided(lo, at + 1, True, after)),
                cat(_digits(a + 1, b - 1), repeat(_DIGIT, rest, rest), after.free()),
                cat(_digit(b), _one_sided(hi, at + 1, False, after)),
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
        others = _digits(d + 1, 9) if lower else _digits(least, d - 1)
        term = alt((cat(_digit(d), term), cat(others, repeat(_DIGIT, rest, rest), free)))
    return term


class _Fractions:
    """What may follow the digits before the point."""

    def free(self) -> Term:
        """Where the digits before the point decide both comparisons."""
        raise NotImplementedError

    def tight(self, lo: bool, hi: bool) -> Term:
        """Where they equal those of the lower bound, the upper bound, or both."""
        raise NotImplementedError


class _Whole(_Fractions):
    """Integers: nothing, or zeros."""

    def __init__(self, spelling: _Spelling) -> None:
        zeros = repeat(_ZERO, 1, spelling.fraction_digits)
        self._term = optional(cat(_POINT, zeros)) if spelling.zeros else EPS

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
        self._free = optional(cat(_POINT, repeat(_DIGIT, 1, limit)))

    def free(self) -> Term:
        return self._free

    def tight(self, lo: bool, hi: bool) -> Term:
        if lo and hi:
            return self._between()
        return self._not_below() if lo else self._not_above()

    def _left(self, used: int) -> int | None:
        return None if self._limit is None else self._limit - used

    def _any(self, used: int) -> Term:
        return repeat(_DIGIT, 0, self._left(used))

    def _nonzero(self, used: int) -> Term:
        """Digits that are not all zero, after `used` others."""
        left = self._left(used)
        if left is None:
            return cat(star(_ZERO), _NONZERO, star(_DIGIT))
        term: Term = EMPTY
        for k in range(left):
            term = alt((cat(_ZERO, term), cat(_NONZERO, repeat(_DIGIT, 0, k))))
        return term

    def _not_below(self) -> Term:
        if not self._lo:
            return cat(_POINT, self._nonzero(0)) if self._lo_open else self._free
        return cat(_POINT, self._lower_tail(0))

    def _lower_tail(self, start: int) -> Term:
        """Digits after lo[:start] that do not fall below the lower bound."""
        lo = self._lo
        term = self._nonzero(len(lo)) if self._lo_open else self._any(len(lo))
        for j in range(len(lo) - 1, start - 1, -1):
            d = int(lo[j])
            term = alt((cat(_digit(d), term), cat(_digits(d + 1, 9), self._any(j + 1))))
        return term

    def _not_above(self) -> Term:
        if not self._hi:
            zeros = cat(_POINT, repeat(_ZERO, 1, self._limit))
            return EMPTY if self._hi_open else optional(zeros)
        return optional(cat(_POINT, self._upper_tail(0)))

    def _upper_tail(self, start: int) -> Term:
        """Digits after hi[:start] that do not rise above the upper bound."""
        hi = self._hi
        term = EMPTY if self._hi_open else repeat(_ZERO, 0, self._left(len(hi)))
        for j in range(len(hi) - 1, start - 1, -1):
            d = int(hi[j])
            term = alt((cat(_digit(d), term), cat(_digits(0, d - 1), self._any(j + 1))))
            if j > 0:
                term = optional(term)
        return term

    def _between(self) -> Term:
        """Digits before the point equal those of both bounds, and lo < hi."""
        lo, hi = self._lo, self._hi
        at = _first_difference(lo, hi)
        if at == len(lo) and not self._lo_open:
            # The lower bound is met from here on.
            tail = self._upper_tail(at)
            return self._not_above() if at == 0 else cat(_POINT, literal(hi[:at].encode()), tail)
        while at >= len(lo) and hi[at] == "0":
            at += 1  # the lower bound is open and goes on with zeros
        prefix = hi[:at].encode()
        a, b = int(lo[at]) if at < len(lo) else 0, int(hi[at])
        lower = self._lower_tail(at + 1) if at < len(lo) else self._nonzero(at + 1)
        upper = self._upper_tail(at + 1)
        return cat(
            _POINT,
            literal(prefix),
            alt(
                (
                    cat(_digit(a), lower),
                    cat(_digits(a + 1, b - 1), self._any(at + 1)),
                    cat(_digit(b), upper),
                )
            ),
        )


def _first_difference(a: str, b: str) -> int:
    """Length of the longest common prefix."""
    n = min(len(a), len(b))
    return next((i for i in range(n) if a[i] != b[i]), n)


def _digit(d: int) -> Term:
    return ByteClass(1 << (0x30 + d))


def _digits(lo: int, hi: int) -> Term:
    return byte_range(0x30 + lo, 0x30 + hi) if lo <= hi else EMPTY


# Plain spellings by remainders


class _Remainders:
    """Multiples (and non-multiples) between bounds, as rules made when a text gets there.

    Numbers are counted in units of 10^-`decimals`, so that steps and bounds are integers. A state
    stands for a beginning of the digits by a representative number: the exact value while the text
    is tight on a bound, else its remainder modulo all steps. That the state is live is decided by
    looking for a value of the set among the completions of the representative.
    """

    def __init__(self, m: _Magnitudes, spelling: _Spelling) -> None:
        known = [m.lo, *m.avoid]
        known += [m.hi] if m.hi is not None else []
        known += [m.step] if m.step is not None else []
        self._decimals = max([_decimals(v) for v in known])
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
            parts.append(cat(_ZERO, self._state(0, self._decimals, True, tight_hi, 0, False)))
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
        return alt([cat(_class(ds - {0}), term) for ds, term in start if ds - {0}])

    def _long_numbers(self, n: int) -> Term:
        """Numbers of at least n digits, where nothing but the remainder matters."""
        unbounded: list[Term] = []
        for d in range(1, 10):
            term = self._open_state(d % self._modulus, n - 1)
            unbounded.append(cat(_digit(d), term))
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
                    cat(_class(ds), self._open_state(r, max(needed - 1, 0)))
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
                    return alt([cat(_class(ds), term) for ds, term in moves])
                if not pointed:
                    return self._after_whole(tight_lo, tight_hi, seen)
                moves = self._digit_moves(0, fraction, tight_lo, tight_hi, seen, True)
                end = EPS if nullable else EMPTY
                return alt([end, *[cat(_class(ds), term) for ds, term in moves]])

            nullable = whole == 0 and self._ends(fraction, tight_lo, tight_hi, seen)
            found = Rule(f"number mod {self._modulus}", body, nullable=nullable, regular=True)
            self._rules[key] = found
        return found

    def _after_whole(self, tight_lo: bool, tight_hi: bool, seen: int) -> Term:
        """After the last digit before the point: the end, or a point and at least one digit."""
        end = EPS if self._ends(self._decimals, tight_lo, tight_hi, seen) else EMPTY
        if self._decimals == 0:
            tail = self._tail(tight_lo, tight_hi, seen, least=1)
            return alt((end, cat(_POINT, tail)))
        moves = self._digit_moves(0, self._decimals, tight_lo, tight_hi, seen, True)
        digits = alt([cat(_class(ds), term) for ds, term in moves])
        return alt((end, cat(_POINT, digits)))

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
            parts.append(repeat(_ZERO, least, more))
        elif on_grid and least == 0:
            parts.append(EPS)
        if self._step is None and below:
            if more is None:
                parts.append(cat(star(_ZERO), _NONZERO, star(_DIGIT)))
            else:
                term: Term = EMPTY
                for k in range(more):
                    term = alt((cat(_ZERO, term), cat(_NONZERO, repeat(_DIGIT, 0, k))))
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
        step = None if self._step is None else Fraction(self._step)
        span = make(lo=Fraction(lo), lo_open=lo_open, hi=Fraction(hi), hi_open=hi_open, step=step)
        avoid = frozenset([Fraction(n) for n in self._avoid])
        return not is_empty(
            NumberShape(None, span.lo, span.hi, span.lo_open, span.hi_open, step, avoid)
        )


def _class(digits: set[int]) -> Term:
    return ByteClass(sum([1 << (0x30 + d) for d in digits]))


# Exponent spellings


def _exponent_forms(m: _Magnitudes) -> Term:
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
    decimals = _decimals(step)
    digits = str(int(step * 10**decimals))
    unit = digits.rstrip("0")
    return int(unit), len(digits) - len(unit) - decimals


def _divides_power_of_ten(n: int) -> bool:
    for prime in (2, 5):
        while n % prime == 0:
            n //= prime
    return n == 1


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

    def __init__(self, m: _Magnitudes, unit: int, place: int | None) -> None:
        self._lo = None if m.lo == 0 else _scientific(m.lo)
        self._lo_open = m.lo_open
        self._hi = None if m.hi is None else _scientific(m.hi)
        self._hi_open = m.hi_open
        self._unit = unit
        self._place = place
        self._on_step = m.step is not None
        bounds = [len(bound[0]) for bound in (self._lo, self._hi) if bound is not None]
        self._longest = max(bounds, default=1)
        self._most_counted = max(2 * _SPAN, self._longest)
        self._rules: dict[_Mantissa, Rule] = {}
        self._exponents: dict[tuple[int | None, int | None], Term] = {}

    def start(self) -> Term:
        """All spellings: those that begin with a digit 1-9, and those that begin with `0.`."""
        lo = _MORE if self._lo is None else _TIGHT
        hi = _LESS if self._hi is None else _TIGHT
        zeros: Term = EMPTY
        for shift in range(-_SPAN, 0):
            first = self._digit_moves(_Mantissa(shift, 0, lo, hi, 0, 0, False))
            zeros = alt((cat(_ZERO, zeros), first))
        digits = self._digit_moves(_Mantissa(0, 0, lo, hi, 0, 0, True))
        return alt((digits, cat(_ZERO, _POINT, zeros)))

    def _state(self, at: _Mantissa) -> Term:
        if not self._live(at):
            return EMPTY
        found = self._rules.get(at)
        if found is None:
            found = Rule("number with exponent", lambda: self._body(at), regular=True)
            self._rules[at] = found
        return found

    def _body(self, at: _Mantissa) -> Term:
        parts = [cat(_E, self._exponent(at))]
        if at.whole:
            if at.shift < _SPAN:
                longer = replace(at, shift=at.shift + 1)
                parts.append(self._digit_moves(longer))
            parts.append(cat(_POINT, self._digit_moves(replace(at, whole=False))))
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
    whole, fraction = _decimal_digits(value)
    digits = (whole + fraction).lstrip("0")
    exponent = len(whole) - 1 if whole else len(digits) - len(fraction) - 1
    return digits.rstrip("0"), exponent


def _exponent_term(least: int | None, most: int | None) -> Term:
    """Integers from `least` to `most` as an exponent: any sign that fits, any zeros in front."""
    if least is None and most is None:
        return cat(optional(_SIGN), plus(_DIGIT))
    not_negative = _magnitude_range(least, most)
    not_positive = _magnitude_range(
        None if most is None else -most, None if least is None else -least
    )
    return alt((cat(optional(literal(b"+")), not_negative), cat(_MINUS, not_positive)))


def _magnitude_range(least: int | None, most: int | None) -> Term:
    """Integers >= 0 from `least` to `most`, with any zeros in front."""
    if most is not None and most < 0:
        return EMPTY
    zero = plus(_ZERO) if least is None or least <= 0 else EMPTY
    lo = Fraction(1 if least is None else max(least, 1))
    if most is not None and most < lo:
        return zero
    if most == lo:
        positive: Term = literal(str(most).encode())
    else:
        hi = None if most is None else Fraction(most)
        whole = _Magnitudes(lo, False, hi, False, Fraction(1), frozenset())
        positive = _compare_term(whole, _EVERY_INTEGER_FORM)
    return alt((zero, cat(star(_ZERO), positive)))
