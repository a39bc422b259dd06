"""The counter-based generator: published answers, independence, uniformity."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.sampling.random import philox4x32, uniform

PI = ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0")  # its first binary digits


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # the known answers with which Random123, the library of the paper, is tested
        ("0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff " * 4, "ffffffff " * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (*PI, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
    ids=["zeros", "ones", "pi"],
)
def test_known_answers(counter, key, expected):
    def words(text):
        return tuple(int(word, 16) for word in text.split())

    assert philox4x32(words(counter), words(key)) == words(expected)


words = st.integers(0, 2**64 - 1)


@given(words, st.integers(0, 2**32 - 1), words)
def test_a_number_is_a_multiple_of_two_to_minus_53_below_one(seed, sequence, position):
    number = uniform(seed, sequence, position)
    assert 0 <= number < 1
    assert (number * 2**53).is_integer()


def test_every_part_of_the_key_counts():
    numbers = {
        uniform(*parts)
        for parts in itertools.product([0, 1, 2**32, 2**63], [0, 1], [0, 1, 2**32, 2**63])
    }
    assert len(numbers) == 4 * 2 * 4


def test_numbers_are_uniform_over_positions_and_over_seeds():
    counting = range(20_000)
    for numbers in ([uniform(0, 0, n) for n in counting], [uniform(n, 0, 0) for n in counting]):
        observed = np.bincount([int(number * 100) for number in numbers], minlength=100)
        chi_square = ((observed - 200.0) ** 2 / 200).sum()
        assert 50 < chi_square < 160  # 99 degrees of freedom: outside with probability 2e-4
