"""The same for a batch of rows in plain torch operations, on any device that has float64 and int64.

Every step is a separate elementwise operation, so nothing is fused; divisors are tensors, because
CUDA multiplies by the reciprocal of a scalar. Sums are of integers. So the tokens are those of the
CPU bodies, bit by bit. There is no synchronisation with the host in here.

Alternative considered: one Triton kernel that reads the logits once. It has to fix the same
arithmetic (no fused multiply-add), and pays once rows by vocabulary no longer fit the cache.
"""

from __future__ import annotations

import torch

__all__ = ["draw", "lowest_best", "truncate", "weigh"]


def lowest_best(scores: torch.Tensor, top: torch.Tensor) -> torch.Tensor:
    """Find the lowest id with the largest score; scores [B, V], top [B], result int64 [B]."""
    ids = torch.arange(scores.shape[1], device=scores.device)
    return torch.where(scores == top[:, None], ids, scores.shape[1]).amin(dim=1)


def weigh(scores: torch.Tensor, top: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
    """Turn scores into integer weights.

    Args:
        scores: float32 [B, V], no NaN, no +inf.
        top: float32 [B], the largest of each row, finite.
        temperature: float32 [B], > 0.

    Returns:
        int64 [B, V].
    """
    z = (scores - top[:, None]) / temperature[:, None]
    alive = z > -28
    z = torch.where(alive, z, torch.full_like(z, -28))
    j = (0.5 - z * 1.4426950408889634).to(torch.int32)
    j_float = j.to(torch.float32)
    r = (z + j_float * (355 / 512)) + j_float * (0.6931471805599453 - 355 / 512)
    power = torch.full_like(r, 1 / 5040)
    for divisor in (720, 120, 24, 6, 2, 1, 1):
        power = r * power + 1 / divisor
    parts = (power * 2**24).to(torch.int64)
    return torch.where(alive, (parts << 16) >> j.to(torch.int64), 0)


def truncate(
    weights: torch.Tensor,
    scores: torch.Tensor,
    top_k: torch.Tensor,
    top_p: torch.Tensor,
    min_weight: torch.Tensor,
    *,
    ordered: bool,
) -> torch.Tensor:
    """Set the weights of the ids to 0 that top-k, then top-p, then min-p cut off.

    Args:
        weights: int64 [B, V].
        scores: float32 [B, V].
        top_k: int64 [B]; V keeps all.
        top_p: float64 [B]; 1 keeps all.
        min_weight: int64 [B]; 0 keeps all.
        ordered: Whether any row has a top-k or top-p, which takes a sort of all rows.

    Returns:
        int64 [B, V]; the most probable id of each row keeps its weight.
    """
    if ordered:
        # A stable sort gives ties to the lower id; + 0.0 makes -0.0 tie with 0.0.
        order = torch.sort(scores + 0.0, dim=1, descending=True, stable=True).indices
        rank = torch.arange(scores.shape[1], device=scores.device)
        best = torch.where(rank < top_k[:, None], weights.gather(1, order), 0)
        total = best.sum(dim=1)
        target = (top_p * total.to(torch.float64)).ceil().to(torch.int64)
        target = torch.where(top_p < 1, torch.minimum(target.clamp(min=1), total), total)
        before = best.cumsum(dim=1) - best
        best = torch.where(before < target[:, None], best, 0)
        weights = torch.zeros_like(weights).scatter(1, order, best)
    return torch.where(weights >= min_weight[:, None], weights, 0)


def draw(weights: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """Pick one id a row: the first whose running sum exceeds floor(uniform * total).

    Args:
        weights: int64 [B, V]; each row has a positive sum.
        uniform: float64 [B], 0 <= uniform < 1.

    Returns:
        int64 [B].
    """
    total = weights.sum(dim=1)
    target = torch.minimum((uniform * total.to(torch.float64)).to(torch.int64), total - 1)
    return (weights.cumsum(dim=1) <= target[:, None]).sum(dim=1)
