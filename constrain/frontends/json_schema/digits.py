r"""Sets of numbers to terms: which digit strings spell a number of the set.

Plain spellings are found by comparing digits (`comparison`) or, with a step other than 1, by
remainders (`remainders`); spellings with an exponent in `exponents`, which says what is left out
of style "any". So are exponents on finite sets of more than `SPAN` numbers.

Cost: a term of O(digits of the bounds); with remainders and exponents, states are made as texts
reach them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from constrain.algebra.terms import (
    EPS,
    Term,
    alt,
    cat,
    complement,
    intersect,
    optional,
    plus,
    repeat,
    star,
)
from constrain.algebra.tries import trie
from constrain.frontends.json_schema.comparison import compare_term
from constrain.frontends.json_schema.exponents import SPAN, exponent_forms
from constrain.frontends.json_schema.magnitudes import (
    DIGIT,
    EXPONENT_MARK,
    MINUS,
    NONZERO,
    POINT,
    SIGN,
    ZERO,
    Magnitudes,
    Spelling,
    decimal_digits,
    decimal_places,
    magnitudes,
)
from constrain.frontends.json_schema.number import ANY_NUMBER, NumberShape, contains
from constrain.frontends.json_schema.remainders import Remainders
from constrain.frontends.json_schema.style import JSONStyle

__all__ = ["equal_numbers", "number_term", "plain_spelling"]

_EXPONENT: Final = cat(EXPONENT_MARK, optional(SIGN), plus(DIGIT))
_ANY_SPELLING: Final = cat(
    optional(MINUS),
    alt((ZERO, cat(NONZERO, star(DIGIT)))),
    optional(cat(POINT, plus(DIGIT))),
    optional(_EXPONENT),
)
_FEW_DIGITS: Final = repeat(DIGIT, 1, 50)
_COMPARABLE: Final = cat(
    optional(MINUS),
    _FEW_DIGITS,
    optional(cat(POINT, _FEW_DIGITS)),
    optional(cat(EXPONENT_MARK, optional(SIGN), star(ZERO), repeat(DIGIT, 1, 3))),
)

EVERY: Final = Spelling(True, True, True, None, None)
EVERY_INTEGER_FORM: Final = Spelling(False, False, True, None, None)
_EVERY_PLAIN: Final = Spelling(True, False, True, None, None)
_INTEGER_FORM: Final = cat(optional(MINUS), alt((ZERO, cat(NONZERO, star(DIGIT)))))


def number_term(
    shapes: Sequence[NumberShape], style: JSONStyle, *, comparable: bool = False
) -> Term:
    """Every spelling, in this style, of a number of the union `shapes`; none of them is empty.

    Args:
        shapes: The numbers.
        style: How they are written.
        comparable: Only spellings that the term of that single number has too. In style "any" some
            are left out then (see `exponents`), and those of more than 50 digits on a side of the
            point, or with an exponent of more than three.
    """
    if style.numbers != "any":
        spelling = Spelling(False, False, False, style.integer_digits, style.fraction_digits)
        return alt([_form_term(shape, spelling) for shape in shapes])
    if not comparable:
        return alt([_form_term(shape, EVERY) for shape in shapes])
    judged = [_form_term(shape, EVERY, comparable=True) for shape in shapes]
    return intersect((alt(judged), _COMPARABLE))


def equal_numbers(value: Fraction, style: JSONStyle) -> Term:
    """Every spelling of one number that a comparable term of this style can have, and others."""
    spelling = EVERY if style.numbers == "any" else _EVERY_PLAIN
    return _finite_term(frozenset((value,)), spelling)


def plain_spelling(value: Fraction) -> bytes:
    """The shortest spelling without exponent: `0`, `-12`, `0.05`."""
    whole, fraction = decimal_digits(abs(value))
    text = (whole or "0") + ("." + fraction if fraction else "")
    return (("-" if value < 0 else "") + text).encode()


# Most schemas ask for the same few shapes. Terms are immutable, so they share them.
@lru_cache(maxsize=256)
def _form_term(shape: NumberShape, spelling: Spelling, *, comparable: bool = False) -> Term:
    """A shape, with what it says about point and exponent."""
    values = replace(shape, integer_form=None)
    if shape.integer_form is None:
        if spelling is EVERY and shape == ANY_NUMBER and not comparable:
            return _ANY_SPELLING
        return _shape_term(values, spelling)
    if shape.integer_form:
        return _shape_term(values, EVERY_INTEGER_FORM if spelling is EVERY else spelling)
    if spelling is not EVERY:
        spelling = replace(spelling, zeros=True)
    return intersect((_shape_term(values, spelling), complement(_INTEGER_FORM)))


def _shape_term(shape: NumberShape, spelling: Spelling) -> Term:
    if shape.only is not None:
        return _finite_term(shape.only, spelling)
    parts = []
    if contains(shape, Fraction(0)):
        parts.append(_zero_term(shape, spelling))
    positive = magnitudes(shape, spelling, negative=False)
    negative = magnitudes(shape, spelling, negative=True)
    if positive == negative:
        parts.append(cat(optional(MINUS), _union_term(positive, spelling)))
    else:
        parts.append(_union_term(positive, spelling))
        parts.append(cat(MINUS, _union_term(negative, spelling)))
    return alt(parts)


def _zero_term(shape: NumberShape, spelling: Spelling) -> Term:
    """Zero, as a number of a shape: with decimals where others of the shape have some."""
    decimals = spelling.fraction_digits
    if not spelling.zeros and (shape.step is not None or shape.only is not None):
        decimals = 0 if shape.step is None else decimal_places(shape.step)
    fraction = EPS if decimals == 0 else optional(cat(POINT, repeat(ZERO, 1, decimals)))
    sign = optional(MINUS) if spelling.minus_zero else EPS
    return cat(sign, ZERO, fraction, optional(_EXPONENT) if spelling.exponents else EPS)


def _finite_term(values: frozenset[Fraction], spelling: Spelling) -> Term:
    plain = []
    parts = []
    for v in sorted(values):
        text = plain_spelling(v)
        more: Term = EPS
        if v == 0:
            parts.append(_zero_term(NumberShape(only=values), spelling))
            continue
        if spelling.zeros:
            zeros = repeat(ZERO, 0, spelling.fraction_digits)
            more = zeros if b"." in text else optional(cat(POINT, ZERO, zeros))
        plain.append((text, more))
        if spelling.exponents and len(values) <= SPAN:
            exact = Magnitudes(abs(v), False, abs(v), False, None, frozenset())
            parts.append(cat(MINUS if v < 0 else EPS, exponent_forms(exact)))
    return alt([trie(plain), *parts])


def _union_term(parts: Iterable[Magnitudes], spelling: Spelling) -> Term:
    return alt([_magnitude_term(part, spelling) for part in parts])


def _magnitude_term(m: Magnitudes, spelling: Spelling) -> Term:
    if m.lo == m.hi:
        return _finite_term(frozenset((m.lo,)), spelling)
    if m.avoid or (m.step is not None and m.step != 1):
        plain = Remainders(m, spelling).start()
    else:
        plain = compare_term(m, spelling)
    return alt((plain, exponent_forms(m))) if spelling.exponents else plain
