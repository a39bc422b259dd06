"""The contract in obvious NumPy: a bitmask is unpacked to booleans first. Only tests call it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["allowed", "any_allowed", "apply"]


def allowed(bitmask: npt.NDArray[np.int32], vocab_size: int) -> npt.NDArray[np.bool_]:
    """Unpack [..., W] words to [..., vocab_size] booleans; ids without a bit are not allowed."""
    words = np.ascontiguousarray(bitmask).astype("<i4", copy=False)
    bits = np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little").astype(np.bool_)
    out = np.zeros((*bitmask.shape[:-1], vocab_size), dtype=np.bool_)
    width = min(vocab_size, bits.shape[-1])
    out[..., :width] = bits[..., :width]
    return out


def apply(
    bits: npt.NDArray[Any],
    bitmask: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int64],
    minus_inf: np.unsignedinteger[Any],
) -> None:
    """Write `minus_inf` wherever a row of the bitmask forbids an id."""
    for words, row in zip(bitmask, rows, strict=True):
        bits[row, ~allowed(words, bits.shape[1])] = minus_inf


def any_allowed(bitmask: npt.NDArray[np.int32], vocab_size: int) -> bool:
    """Say whether one row [W] allows any id below `vocab_size`."""
    return bool(allowed(bitmask, vocab_size).any())
