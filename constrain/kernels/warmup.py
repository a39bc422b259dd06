"""What compiles the kernels that need no terms: of the sampler, and of masks over logits.

Each is called once, on a row of a few ids, with the types that it is called with ever after.
`matcher.warmup` has the others, and a call for both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from constrain.kernels import sample
from constrain.kernels.apply_bitmask import apply_bitmask, empty_rows

__all__ = ["STEPS"]


def _mask(dtype: type[np.floating]) -> None:
    apply_bitmask(np.zeros((1, 4), dtype), _BITMASK)


def _find_empty_rows() -> None:
    empty_rows(_BITMASK, 4)


def _gather() -> None:
    sample.count_allowed(_BITMASK[0], 4)
    sample.gather(_SCORES, _BITMASK[0], sample.Workspace(4))


def _draw() -> None:
    weights, total = sample.weigh(_SCORES, np.float32(1), np.float32(1), sample.Workspace(4))
    sample.pick(weights, total - 1)


def _truncate() -> None:
    sample.keep_top(_SCORES, None, 1, sample.Workspace(4))


_BITMASK = np.full((1, 1), 0b101, np.int32)
_SCORES = np.array([1, 0, -1, 0.5], np.float32)

STEPS: list[tuple[str, Callable[[], None]]] = [
    ("masks over float32", lambda: _mask(np.float32)),
    ("masks over float16 and bfloat16", lambda: _mask(np.float16)),
    ("masks over float64", lambda: _mask(np.float64)),
    ("rows without a token", _find_empty_rows),
    ("the sampler: allowed tokens", _gather),
    ("the sampler: top-k and top-p", _truncate),
    ("the sampler: the draw", _draw),
]
"""(what it is for, what compiles it), in no order that matters."""
