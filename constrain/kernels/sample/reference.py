"""The contract in obvious NumPy: booleans, sorts and running sums. Only tests call it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from constrain.kernels.apply_bitmask import reference as bitmask_reference

__all__ = ["count_allowed", "gather", "keep_top", "pick", "weigh"]

Float32Array = npt.NDArray[np.float32]
Int64Array = npt.NDArray[np.int64]

_FLOOR = np.float32(-28)  # e^-28 < 2^-40
_LOG2_E = np.float32(1.4426950408889634)
# ln 2 in two parts, so that j * _LN2_HIGH (9 bits times at most 6) is exact (Cody and Waite, 1980).
_LN2_HIGH = np.float32(355 / 512)
_LN2_LOW = np.float32(0.6931471805599453 - 355 / 512)


def count_allowed(bitmask: npt.NDArray[np.int32], vocab_size: int) -> int:
    """Count the allowed ids of one row."""
    return int(bitmask_reference.allowed(bitmask, vocab_size).sum())


def gather(
    logits: Float32Array, bitmask: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], Float32Array]:
    """Take the allowed ids and their logits."""
    ids = np.flatnonzero(bitmask_reference.allowed(bitmask, len(logits))).astype(np.int32)
    return ids, logits[ids]


def weigh(scores: Float32Array, top: np.float32, temperature: np.float32) -> tuple[Int64Array, int]:
    """Define the weights: every operation below is one IEEE 754 float32 operation, in this order.

    e^z = 2^-j * e^r with j = floor(1/2 - z * log2 e) and r = z + j * ln 2, |r| <= 0.35; e^r by its
    Taylor polynomial of degree 7, whose remainder is below 2^-27.
    """
    with np.errstate(over="ignore"):
        z = (scores - top) / temperature
    alive = z > _FLOOR
    z = np.where(alive, z, _FLOOR)
    j = (np.float32(0.5) - z * _LOG2_E).astype(np.int32)  # truncation is floor: it is positive
    r = (z + j.astype(np.float32) * _LN2_HIGH) + j.astype(np.float32) * _LN2_LOW
    power = np.full_like(r, np.float32(1 / 5040))
    for divisor in (720, 120, 24, 6, 2, 1, 1):
        power = np.float32(1 / divisor) + r * power
    # power is in [0.7, 1.5), so its last bit is worth at least 2^-24: the product is an integer.
    parts = (power * np.float32(2**24)).astype(np.int64)
    weights = np.where(alive, (parts << 16) >> j.astype(np.int64), 0)
    return weights, int(weights.sum())


def keep_top(scores: Float32Array, weights: Int64Array | None, target: int) -> Int64Array:
    """Sort, add up, cut."""
    order = np.lexsort((np.arange(len(scores)), -scores))
    masses = np.ones(len(scores), dtype=np.int64) if weights is None else weights[order]
    num_kept = int(np.searchsorted(np.cumsum(masses), target)) + 1
    return np.sort(order[:num_kept])


def pick(weights: Int64Array, target: int) -> int:
    """Search the running sum."""
    return int(np.searchsorted(np.cumsum(weights), target, side="right"))
