"""The row operations of the sampler, in integers, so that one row gives one token everywhere.

The idea: a probability is first rounded to a whole number of 2^-40 parts of the most probable id's,
its *weight*. Sums of integers do not depend on the order of summation, so a running sum over
150,000 ids is the same on one core, eight lanes or a GPU, in any batch; a float's is not. The
exponential is spelled out in additions and multiplications that IEEE 754 rounds alike everywhere,
because libraries' own differ in the last bit.

Contract, the same for every body. `scores` is float32 [n]: the logits that are still in the
running, by increasing id, without NaN and +inf; -inf has weight 0.

- `gather`: the ids that a bitmask allows, increasing, and their logits.
- `weigh`: z = (score - top) / temperature in float32; weight = floor(2^40 * e^z), where e^z is
  within 2^-22 (relative) and its arithmetic is fixed, see `reference.weigh`. The top has exactly
  2^40; z <= -28 has 0. What is lost in all is less than n * 2^-40 of the mass: 1.4e-7 for a
  vocabulary of 150,000, about the rounding of a float32 softmax.
- `keep_top`: order by (score falling, position rising); keep the shortest prefix whose mass reaches
  a target. The mass of a position is 1 for top-k, its weight for top-p.
- `pick`: the first position at which the running sum of weights exceeds a target in 0..total-1. A
  weight of 0 is never picked.

With n <= MAX_IDS no sum can overflow.

`device` has the same for a batch of rows in torch operations, where ordering is a sort; the CPU
does without one (`keep_top` is a radix select).

Files: `reference`, `cpu`, `device`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from constrain.kernels.apply_bitmask.arrays import read_only

__all__ = [
    "MAX_IDS",
    "ONE",
    "Workspace",
    "count_allowed",
    "gather",
    "keep_top",
    "pick",
    "weigh",
]

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

ONE = 1 << 40
"""The weight of the most probable id."""
MAX_IDS = 1 << 22
"""The widest row: 2^22 weights of 2^40 stay below 2^63. The largest vocabulary seen is 2^18."""

_EVERY_POSITION_WEIGHS_ONE = np.empty(0, dtype=np.int64)


class Workspace:
    """Memory that the steps of one row fill, and the next row fills again; for one thread.

    A fresh megabyte is handed out page by page, which costs more than the arithmetic: 1.1 ms
    instead of 0.3 ms for a row of 147,000 allowed ids (AMD EPYC, 2026-11). What a function returns
    out of a workspace is good until the same function is called with it again.
    """

    __slots__ = ("ids", "positions", "scores", "undecided", "weights")

    def __init__(self, num_ids: int) -> None:
        """Make room for rows of up to `num_ids` ids: 24 bytes each."""
        self.ids = np.empty(num_ids, dtype=np.int32)
        self.scores = np.empty(num_ids, dtype=np.float32)
        self.weights = np.empty(num_ids, dtype=np.int64)
        self.positions = np.empty(num_ids, dtype=np.int32)
        self.undecided = np.empty(num_ids, dtype=np.int32)

    @property
    def num_ids(self) -> int:
        """The widest row that fits."""
        return len(self.ids)


def count_allowed(bitmask: Int32Array, vocab_size: int) -> int:
    """Count the ids below `vocab_size` that one row [W] of a bitmask allows."""
    from constrain.kernels.sample import cpu

    return int(cpu.count_allowed(read_only(bitmask), vocab_size))


def gather(
    logits: Float32Array, bitmask: Int32Array, workspace: Workspace
) -> tuple[Int32Array, Float32Array]:
    """Take the allowed ids and their logits out of one row.

    Args:
        logits: [V], contiguous.
        bitmask: [W], contiguous; bits past V are ignored, ids without a bit are not allowed.
        workspace: Holds the result.

    Returns:
        (ids, scores), both [n], ids increasing.
    """
    from constrain.kernels.sample import cpu

    given = read_only(logits), read_only(bitmask)
    num_allowed = cpu.gather(*given, workspace.ids, workspace.scores)
    return workspace.ids[:num_allowed], workspace.scores[:num_allowed]


def weigh(
    scores: Float32Array, top: np.float32, temperature: np.float32, workspace: Workspace
) -> tuple[Int64Array, int]:
    """Turn scores into integer weights.

    Args:
        scores: [n], contiguous.
        top: The largest score, finite.
        temperature: > 0, finite.
        workspace: Holds the result.

    Returns:
        (weights, total): [n] and their sum, >= 2^40.
    """
    from constrain.kernels.sample import cpu

    weights = workspace.weights[: len(scores)]
    with np.errstate(over="ignore"):  # as plain Python it would warn; -inf is meant
        return weights, int(cpu.weigh(scores, top, temperature, weights))


def keep_top(
    scores: Float32Array, weights: Int64Array | None, target: int, workspace: Workspace
) -> Int32Array:
    """Find the positions of the best scores whose mass reaches `target`, increasing.

    Args:
        scores: [n], contiguous.
        weights: [n], contiguous; None gives every position the mass 1.
        target: >= 1. All positions are kept if it is more than the total.
        workspace: Holds the result.

    Cost: O(n): two passes over the scores, and some over those at the border or above.
    """
    from constrain.kernels.sample import cpu

    masses = _EVERY_POSITION_WEIGHS_ONE if weights is None else weights
    num_kept = cpu.keep_top(scores, masses, target, workspace.positions, workspace.undecided)
    return workspace.positions[:num_kept]


def pick(weights: Int64Array, target: int) -> int:
    """Find the first position at which the running sum of weights exceeds `target`.

    Args:
        weights: [n], contiguous.
        target: 0 <= target < sum of the weights.
    """
    from constrain.kernels.sample import cpu

    return int(cpu.pick(weights, target))
