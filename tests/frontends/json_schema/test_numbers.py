"""Sets of numbers and their spellings, against direct evaluation."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from fractions import Fraction

import pytest

from constrain.algebra.store import DEAD, TermStore
from constrain.frontends.json_schema.digits import number_term
from constrain.frontends.json_schema.number import (
    INTEGER_FORM,
    NumberShape,
    complement,
    contains,
    finite,
    intersect,
    is_empty,
    list_values,
    make,
    union,
)
from constrain.frontends.json_schema.style import ANY, JSONStyle
from tests.frontends.json_schema.texts import Texts

JSON_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
NARROW = JSONStyle(integer_digits=3, fraction_digits=2)
GRID = [Fraction(k, 20) for k in range(-120, 121)] + [Fraction(10**6), Fraction(1, 1000)]


def random_shape(rng: random.Random) -> NumberShape:
    def bound() -> Fraction:
        tops = [0, 1, 2, 5, 9, 10, 12, 99, 100, -1, -3, -10, 25, 300, 50, 7]
        return Fraction(rng.choice(tops)) / rng.choice([1, 1, 1, 2, 4, 10, 100])

    steps = [None, None, 1, 1, 2, 3, "1/2", "1/100", 10, "7/10", "3/4"]
    step = rng.choice(steps)
    shape = make(
        lo=rng.choice([None, bound()]),
        hi=rng.choice([None, bound()]),
        lo_open=rng.random() < 0.4,
        hi_open=rng.random() < 0.4,
        step=None if step is None else Fraction(step),
    )
    if rng.random() < 0.2:
        off = make(step=Fraction(rng.choice(["1", "2", "1/10", "3/2"])))
        shape = intersect(shape, rng.choice(complement(off)))
    if rng.random() < 0.2:
        shape = intersect(shape, complement(finite([bound(), bound()]))[0])
    if rng.random() < 0.15:
        shape = finite([bound() for _ in range(3)])
    return shape


def holds(shapes: list[NumberShape] | tuple[NumberShape, ...], value: Fraction) -> bool:
    return any(contains(shape, value) for shape in shapes)


def test_algebra_by_enumeration() -> None:
    rng = random.Random(1)
    for _ in range(400):
        a, b = random_shape(rng), random_shape(rng)
        both, either, outside = intersect(a, b), union([a, b]), complement(a)
        for v in GRID:
            assert contains(both, v) == (contains(a, v) and contains(b, v)), (a, b, v)
            assert holds(either, v) == (contains(a, v) or contains(b, v)), (a, b, v)
            assert holds(outside, v) != contains(a, v), (a, v)
        for shape in (a, both):
            if is_empty(shape):
                assert not any(contains(shape, v) for v in GRID), shape
            if (listed := list_values(shape, 50)) is not None:
                assert set(listed) >= {v for v in GRID if contains(shape, v)}
                assert all(contains(shape, v) for v in listed)
                assert is_empty(shape) == (not listed)


def test_emptiness_is_found_between_steps() -> None:
    sixth = make(lo=Fraction(1), hi=Fraction(5), step=Fraction(2))
    odd_ones = intersect(sixth, complement(make(step=Fraction(4)))[0])
    assert list_values(odd_ones, 9) == [2]
    assert is_empty(intersect(odd_ones, finite([Fraction(4)])))
    assert is_empty(make(lo=Fraction(1, 2), hi=Fraction(9, 10), step=Fraction(1)))
    assert not is_empty(make(lo=Fraction(1, 2), hi=Fraction(1, 2)))


def test_integer_form() -> None:
    other = complement(INTEGER_FORM)
    assert all(
        is_empty(intersect(INTEGER_FORM, shape)) or not shape.integer_form for shape in other
    )
    assert holds(other, Fraction(1, 2))
    assert holds(other, Fraction(1))  # as 1.0


def candidates(rng: random.Random) -> list[str]:
    wholes = "0 1 5 9 10 12 100 25 99 3 300 299 301 50 7 14 21".split()
    fractions = "0 5 25 50 05 00 1 9 99 01 70 75 500 10".split()
    out = {"-", "", "-.5", "1.", "00", "1e", "-01"}
    for _ in range(600):
        text = rng.choice(["", "", "-"]) + rng.choice([*wholes, str(rng.randint(0, 400))])
        if rng.random() < 0.5:
            text += "." + rng.choice([*fractions, str(rng.randint(0, 999))])
        if rng.random() < 0.4:
            text += (
                rng.choice("eE")
                + rng.choice(["", "+", "-"])
                + rng.choice("0 1 2 3 01 00 10".split())
            )
        out.add(text)
    return sorted(out)


def test_spellings_by_enumeration() -> None:
    rng = random.Random(2)
    texts = candidates(rng)
    for _ in range(150):
        shape = random_shape(rng)
        if is_empty(shape):
            continue
        store = TermStore()
        anything, narrow = (store.intern(number_term([shape], s)) for s in (ANY, NARROW))
        plain_steps = shape.step is None or shape.step.numerator in (1, 2, 10)
        exact_exponents = not shape.avoid and plain_steps and shape.step != Fraction(7, 10)
        for text in texts:
            match = JSON_NUMBER.fullmatch(text)
            wanted = match is not None and contains(shape, Fraction(Decimal(text)))
            got, got_narrow = (
                (state := store.advance(s, text.encode())) != DEAD and store.nullable(state)
                for s in (anything, narrow)
            )
            assert wanted or not got, (shape, text)
            assert got or not got_narrow, (shape, text)
            if wanted and (match[3] is None or exact_exponents):
                assert got, (shape, text)


@pytest.mark.parametrize("style", [ANY, NARROW], ids=["any", "narrow"])
def test_no_dead_ends(style: JSONStyle) -> None:
    rng = random.Random(3)
    for _ in range(60):
        shape = random_shape(rng)
        if is_empty(shape):
            continue
        texts = Texts.__new__(Texts)
        texts.store = TermStore()
        texts.start = texts.store.intern(number_term([shape], style))
        for _ in range(12):
            text = texts.draw(rng, rng.randint(0, 10))
            if text is not None and abs(Decimal(text.decode()).adjusted()) < 400:
                assert contains(shape, Fraction(Decimal(text.decode()))), (shape, text)
