"""Top-k, top-p and min-p, on the integer weights of one row.

All three speak of one order: score falling, then id rising. In turn:

1. top-k keeps the first k ids;
2. top-p keeps the shortest prefix of what is left whose mass is at least that share of it;
3. min-p keeps the ids that weigh at least that share of the heaviest id.

Each keeps the first id. A share is turned into a whole number of weight once, in float64, and
compared as an integer, so no rounding of a running sum can cut a tail that should stay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from constrain.kernels.sample import ONE, Workspace, keep_top, weigh
from constrain.sampling.params import SamplingParams

__all__ = ["WeighedIds", "least_weight", "prefix_mass", "weigh_and_truncate"]


@dataclass(frozen=True, slots=True)
class WeighedIds:
    """What one row draws from: id `ids[i]` with probability `weights[i] / total`.

    The arrays may be parts of a workspace.

    Attributes:
        ids: int32 [n], increasing; None stands for 0..n-1.
        weights: int64 [n].
        total: Their sum, > 0.
    """

    ids: npt.NDArray[np.int32] | None
    weights: npt.NDArray[np.int64]
    total: int


def prefix_mass(top_p: float, total: int) -> int:
    """Say which mass a prefix must reach to hold the share `top_p` of `total`; 1 to total."""
    return min(max(math.ceil(top_p * float(total)), 1), total)


def least_weight(min_p: float) -> int:
    """Say which weight holds the share `min_p` of the heaviest id's, which is `ONE`."""
    return math.ceil(min_p * ONE)


def weigh_and_truncate(
    ids: npt.NDArray[np.int32] | None,
    scores: npt.NDArray[np.float32],
    params: SamplingParams,
    workspace: Workspace,
) -> WeighedIds:
    """Apply temperature, top-k, top-p and min-p.

    Args:
        ids: [n], increasing; None stands for 0..n-1.
        scores: [n], after masks, penalties and biases; no NaN, no +inf, not all -inf.
        params: Not greedy.
        workspace: As wide as the row.

    Cost: O(n); no sort. With top-k, what follows costs O(k).
    """
    top = scores.max()
    if 0 < params.top_k < len(scores):
        kept = keep_top(scores, None, params.top_k, workspace)
        ids, scores = _narrow(ids, kept), scores[kept]
    weights, total = weigh(scores, top, params.divisor, workspace)
    if params.top_p < 1:
        kept = keep_top(scores, weights, prefix_mass(params.top_p, total), workspace)
        ids, weights = _narrow(ids, kept), weights[kept]
    if params.min_p > 0:
        kept = np.flatnonzero(weights >= least_weight(params.min_p)).astype(np.int32)
        ids, weights = _narrow(ids, kept), weights[kept]
    if params.truncates:
        total = int(weights.sum())
    return WeighedIds(ids, weights, total)


def _narrow(
    ids: npt.NDArray[np.int32] | None, positions: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    return positions.copy() if ids is None else ids[positions]
