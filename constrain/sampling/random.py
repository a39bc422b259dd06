"""Random numbers that are a function of (seed, sequence, position), not of what was drawn before.

A counter-based generator: the counter (position, sequence) is enciphered under the key (seed).
There is no state to share, so rows can come and go, a rolled-back position gets its number again,
and a batch draws what its rows would draw alone.

Philox4x32-10 out of Salmon, Moraes, Dror and Shaw (2011), "Parallel random numbers: as easy as
1, 2, 3": ten rounds of two 32-bit multiplications. It passes BigCrush. 5 us in plain integers.
"""

from __future__ import annotations

__all__ = ["philox4x32", "uniform"]

_ROUNDS = 10
_MULTIPLIERS = (0xD251_1F53, 0xCD9E_8D57)
_WEYL = (0x9E37_79B9, 0xBB67_AE85)  # the golden ratio and sqrt(3) - 1
_LOW = 0xFFFF_FFFF


def philox4x32(
    counter: tuple[int, int, int, int], key: tuple[int, int]
) -> tuple[int, int, int, int]:
    """Encipher a counter.

    Args:
        counter: Four words of 32 bits.
        key: Two.

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


def uniform(seed: int, sequence: int, position: int) -> float:
    """Give the number in [0, 1) that belongs to one draw; a multiple of 2^-53.

    Args:
        seed: 0 to 2^64 - 1.
        sequence: 0 to 2^32 - 1; which of several outputs with one seed.
        position: 0 to 2^64 - 1; which token of the output.
    """
    counter = (position & _LOW, position >> 32, sequence, 0)
    high, low, _, _ = philox4x32(counter, (seed & _LOW, seed >> 32))
    return float((high >> 5) * 2**26 + (low >> 6)) / 2**53
