"""Random numbers that are a function of (seed, sequence, position), not of what was drawn before.

A counter-based generator: the counter (position, sequence, draw) is enciphered under the key
(seed). There is no state to share, so rows can come and go, a rolled-back position gets its number
again, and a batch draws what its rows would draw alone.

Philox4x32-10 out of Salmon, Moraes, Dror and Shaw (2011), "Parallel random numbers: as easy as
1, 2, 3": ten rounds of two 32-bit multiplications. It passes BigCrush. 5 us in plain integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["philox4x32", "uniform", "uniforms"]

Word = Any  # an integer, or an array of uint64: the arithmetic is the same

_ROUNDS = 10
_MULTIPLIERS = (0xD251_1F53, 0xCD9E_8D57)
_WEYL = (0x9E37_79B9, 0xBB67_AE85)  # the golden ratio and sqrt(3) - 1
_LOW = 0xFFFF_FFFF


def philox4x32(
    counter: tuple[Word, Word, Word, Word], key: tuple[Word, Word]
) -> tuple[Word, Word, Word, Word]:
    """Encipher a counter.

    Args:
        counter: Four words of 32 bits: integers, or uint64 arrays of one shape.
        key: Two words of the same kind.

    Returns:
        Four words of 32 random bits.
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        p0 = c0 * _MULTIPLIERS[0]
        p1 = c2 * _MULTIPLIERS[1]
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & _LOW, (p0 >> 32) ^ c3 ^ k1, p0 & _LOW
        k0 = (k0 + _WEYL[0]) & _LOW
        k1 = (k1 + _WEYL[1]) & _LOW
    return c0, c1, c2, c3


def uniform(seed: int, sequence: int, position: int, draw: int = 0) -> float:
    """Give the number in [0, 1) that belongs to one draw; a multiple of 2^-53.

    Args:
        seed: 0 to 2^64 - 1.
        sequence: 0 to 2^32 - 1; which of several outputs with one seed.
        position: 0 to 2^64 - 1; which token of the output.
        draw: 0 to 2^32 - 1; which of several numbers at this position. The sampler takes 0;
            verifying a draft takes more.
    """
    counter = (position & _LOW, position >> 32, sequence, draw)
    high, low, _, _ = philox4x32(counter, (seed & _LOW, seed >> 32))
    return float((high >> 5) * 2**26 + (low >> 6)) / 2**53


def uniforms(
    seeds: npt.NDArray[np.uint64],
    sequences: npt.NDArray[np.uint64],
    positions: npt.NDArray[np.uint64],
    draw: int = 0,
) -> npt.NDArray[np.float64]:
    """Do what `uniform` does for arrays of one shape; the same numbers."""
    counter = (positions & _LOW, positions >> 32, sequences, np.full_like(seeds, draw))
    high, low, _, _ = philox4x32(counter, (seeds & _LOW, seeds >> 32))
    numbers: npt.NDArray[np.float64] = ((high >> 5) * 2**26 + (low >> 6)) / np.float64(2**53)
    return numbers
