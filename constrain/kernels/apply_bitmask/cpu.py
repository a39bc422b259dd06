"""The numba body: one store for each forbidden id, and runs of forbidden words filled at once.

Real masks are long runs of equal words: a structural position allows a few dozen ids of 150,000,
the inside of a string nearly all of them. Within a mixed word the zero bits are visited from the
lowest up, so there is no test per id to mispredict: V = 151,936 costs 6 us with 4,600 scattered
zeros and 50 us with a random half (AMD EPYC, 2026-11; a test per id: 30 to 550 us).
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import entry

__all__ = ["any_allowed", "apply", "bit_position"]

# Leiserson, Prokop and Randall (1998), "Using de Bruijn sequences to index a 1 in a computer word":
# every 5-bit window of this number differs, so multiplying it by 2^i identifies i.
_DE_BRUIJN = 0x077C_B531
_POSITION = np.zeros(32, dtype=np.int64)
for _i in range(32):
    _POSITION[((_DE_BRUIJN << _i) & 0xFFFF_FFFF) >> 27] = _i


@entry
def bit_position(power):
    return _POSITION[((power * _DE_BRUIJN) & 0xFFFF_FFFF) >> 27]


@entry
def apply(bits, bitmask, rows, minus_inf):
    for index in range(rows.shape[0]):
        _apply_row(bits[rows[index]], bitmask[index], minus_inf)


@entry
def _apply_row(bits, bitmask, minus_inf):
    vocab_size = bits.shape[0]
    covered = min(bitmask.shape[0], (vocab_size + 31) // 32)  # words that judge an id of this row
    word_index = 0
    while word_index < covered:
        start = word_index * 32
        forbidden = ~np.int64(bitmask[word_index]) & 0xFFFF_FFFF
        word_index += 1
        if forbidden == 0xFFFF_FFFF:
            while word_index < covered and bitmask[word_index] == 0:
                word_index += 1
            bits[start : min(word_index * 32, vocab_size)] = minus_inf
            continue
        if start + 32 > vocab_size:
            forbidden &= (1 << (vocab_size - start)) - 1
        while forbidden != 0:
            lowest = forbidden & -forbidden
            bits[start + bit_position(lowest)] = minus_inf
            forbidden ^= lowest
    if covered * 32 < vocab_size:
        bits[covered * 32 :] = minus_inf


@entry
def any_allowed(bitmask, vocab_size):
    whole = min(bitmask.shape[0], vocab_size // 32)
    for word_index in range(whole):
        if bitmask[word_index] != 0:
            return True
    if whole < bitmask.shape[0]:
        for bit in range(vocab_size - whole * 32):
            if (bitmask[whole] >> bit) & 1:
                return True
    return False
