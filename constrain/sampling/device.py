"""The steps of the sampler on a GPU, all rows at once; the same tokens as `host`, bit by bit.

The host waits for the device once a call, to hear which rows failed, and once more where a penalty
or a bias is on: the few logits it changes are computed by the same code as on the CPU.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from constrain.kernels.apply_bitmask import apply_bitmask
from constrain.kernels.sample import ONE
from constrain.kernels.sample import device as kernels
from constrain.sampling.batch import Batch
from constrain.sampling.penalties import banned_ids, edit, plan_edits
from constrain.sampling.truncation import least_weight

__all__ = ["choose", "weigh_rows"]

_MOST = float(np.finfo(np.float32).max)


def choose(
    batch: Batch, uniforms: npt.NDArray[np.float64]
) -> tuple[torch.Tensor, npt.NDArray[np.bool_]]:
    """Choose the token ids of all rows.

    Args:
        batch: Its logits are a tensor.
        uniforms: [B], the random number of each row's draw; greedy rows ignore theirs.

    Returns:
        (token ids, failed): int64 [B] on the device of the logits, -1 where the row failed (NaN, or
        nothing allowed), and bool [B] on the CPU.
    """
    scores, top, failed = _scores(batch)
    tokens = kernels.lowest_best(scores, top)
    sampled = [row for row, params in enumerate(batch.params) if not params.is_greedy]
    if sampled:
        rows = _on(scores, np.array(sampled))
        weights = _weigh(batch, sampled, scores[rows], top[rows])
        tokens[rows] = kernels.draw(weights, _on(scores, uniforms[sampled]))
    return tokens.masked_fill_(failed, -1), failed.cpu().numpy()


def weigh_rows(batch: Batch) -> tuple[torch.Tensor, npt.NDArray[np.bool_]]:
    """Run every step but the draw.

    Returns:
        (weights, failed): int64 [B, V] on the device of the logits; bool [B] on the CPU. A greedy
        row has weight at one id; the row of a failure means nothing.
    """
    scores, top, failed = _scores(batch)
    best = kernels.lowest_best(scores, top)[:, None]
    weights = torch.zeros(scores.shape, dtype=torch.int64, device=scores.device)
    weights.scatter_(1, best, ONE)
    sampled = [row for row, params in enumerate(batch.params) if not params.is_greedy]
    if sampled:
        rows = _on(scores, np.array(sampled))
        weights[rows] = _weigh(batch, sampled, scores[rows], top[rows])
    return weights, failed.cpu().numpy()


def _scores(batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Mask and edit a copy of the logits: float32 [B, V], the top [B], which rows failed [B]."""
    given = batch.logits
    assert isinstance(given, torch.Tensor)
    given = given.detach()
    scores = given.to(torch.float32, copy=True, memory_format=torch.contiguous_format)
    if given.dtype == torch.float64:
        scores = torch.where(given.isneginf(), given, given.clamp(-_MOST, _MOST)).float()
    invalid = scores.isnan().any(dim=1)
    scores.clamp_(max=_MOST)
    if batch.bitmask is not None:
        apply_bitmask(scores, batch.bitmask)
    banned = [banned_ids(params) for params in batch.params]
    if any(map(len, banned)):
        scores[_pairs(scores, banned)] = float("-inf")
    failed = invalid | (scores.amax(dim=1) == float("-inf"))
    _edit(batch, scores)
    scores.masked_fill_(failed[:, None], 0)  # so that what follows stays finite
    return scores, scores.amax(dim=1), failed


def _edit(batch: Batch, scores: torch.Tensor) -> None:
    planned = [
        plan_edits(params, history, prompt) if params.edits else None
        for params, history, prompt in zip(
            batch.params, batch.histories, batch.prompts, strict=True
        )
    ]
    ids = [np.empty(0, np.int64) if edits is None else edits.ids for edits in planned]
    if not any(map(len, ids)):
        return
    pairs = _pairs(scores, ids)
    values = np.split(scores[pairs].cpu().numpy(), np.cumsum([len(one) for one in ids])[:-1])
    changed = [
        value if edits is None else edit(value, edits, params)
        for value, edits, params in zip(values, planned, batch.params, strict=True)
    ]
    scores[pairs] = _on(scores, np.concatenate(changed))


def _weigh(batch: Batch, rows: list[int], scores: torch.Tensor, top: torch.Tensor) -> torch.Tensor:
    params = [batch.params[row] for row in rows]
    weights = kernels.weigh(scores, top, _on(scores, np.array([one.divisor for one in params])))
    if not any(one.truncates for one in params):
        return weights
    everything = batch.vocab_size
    return kernels.truncate(
        weights,
        scores,
        top_k=_on(scores, np.array([min(one.top_k, everything) or everything for one in params])),
        top_p=_on(scores, np.array([one.top_p for one in params])),
        min_weight=_on(scores, np.array([least_weight(one.min_p) for one in params])),
        ordered=any(one.top_k > 0 or one.top_p < 1 for one in params),
    )


def _pairs(
    scores: torch.Tensor, ids: list[npt.NDArray[np.int64]]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Index (row, id) for each id of each row."""
    rows = np.repeat(np.arange(len(ids)), [len(one) for one in ids])
    return _on(scores, rows), _on(scores, np.concatenate(ids))


def _on(scores: torch.Tensor, array: npt.NDArray[np.generic]) -> torch.Tensor:
    return torch.from_numpy(array).to(scores.device, non_blocking=True)
