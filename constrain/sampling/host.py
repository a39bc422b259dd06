"""The steps of the sampler on the CPU, one row after the other.

A masked row is narrowed to its allowed ids first, so after `{"name": ` a step looks at a few ids
out of 150,000. Ids stay in increasing order throughout, so ties and draws do not notice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from constrain.kernels.apply_bitmask.arrays import is_tensor
from constrain.kernels.sample import ONE, Workspace, count_allowed, gather, pick
from constrain.sampling.batch import Batch
from constrain.sampling.failures import EmptyRowError, InvalidRowError
from constrain.sampling.penalties import banned_ids, edit, plan_edits
from constrain.sampling.truncation import WeighedIds, weigh_and_truncate

__all__ = ["LegalLogits", "choose", "edited_logits", "float32_row", "legal_logits", "weigh_row"]

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

_MOST = np.finfo(np.float32).max


@dataclass(frozen=True, slots=True)
class LegalLogits:
    """The logits of one row that no hard mask forbids.

    Attributes:
        ids: int32 [n], increasing; None stands for 0..V-1.
        logits: float32 [n]; no NaN, no +inf, not all -inf. May be the caller's memory, or part of
            a workspace: not to be written to.
    """

    ids: Int32Array | None
    logits: Float32Array


def choose(batch: Batch, row: int, uniform: float, workspace: Workspace) -> int:
    """Choose the token id of one row.

    Args:
        batch: The whole batch.
        row: Its row.
        uniform: The random number of the draw, 0 <= uniform < 1; a greedy row ignores it.
        workspace: As wide as a row.

    Raises:
        InvalidRowError: The row has NaN.
        EmptyRowError: Nothing is allowed.
    """
    weighed = weigh_row(batch, row, workspace)
    position = 0
    if len(weighed.weights) > 1:
        # In float64, and the same on every device.
        target = min(int(uniform * float(weighed.total)), weighed.total - 1)
        position = pick(weighed.weights, target)
    return position if weighed.ids is None else int(weighed.ids[position])


def weigh_row(batch: Batch, row: int, workspace: Workspace) -> WeighedIds:
    """Run every step but the draw; a greedy row is left with one id.

    Raises:
        InvalidRowError: The row has NaN.
        EmptyRowError: Nothing is allowed.
    """
    params = batch.params[row]
    edited = edited_logits(batch, row, workspace)
    if not params.is_greedy:
        return weigh_and_truncate(edited.ids, edited.logits, params, workspace)
    best = int(edited.logits.argmax())  # the first of several: the lowest id
    return WeighedIds(
        ids=np.array([best if edited.ids is None else edited.ids[best]], dtype=np.int32),
        weights=np.array([ONE], dtype=np.int64),
        total=ONE,
    )


def edited_logits(batch: Batch, row: int, workspace: Workspace) -> LegalLogits:
    """Apply the hard masks, then penalties and biases.

    Raises:
        InvalidRowError: The row has NaN.
        EmptyRowError: Nothing is allowed.
    """
    params = batch.params[row]
    legal = legal_logits(batch, row, workspace)
    if not params.edits:
        return legal
    edits = plan_edits(params, batch.histories[row], batch.prompts[row])
    known, positions = _locate(edits.ids, legal.ids)
    logits = legal.logits.copy()
    changed = np.zeros(len(edits.ids), dtype=np.float32)
    changed[known] = logits[positions]
    logits[positions] = edit(changed, edits, params)[known]
    return LegalLogits(legal.ids, logits)


def legal_logits(batch: Batch, row: int, workspace: Workspace) -> LegalLogits:
    """Apply the hard masks to one row: the bitmask, and biases of -inf.

    Raises:
        InvalidRowError: The row has NaN.
        EmptyRowError: Nothing is allowed.
    """
    logits = float32_row(batch, row)
    ids = None
    if batch.bitmask is not None:
        words = _on_the_cpu(batch.bitmask)[row]
        if count_allowed(words, batch.vocab_size) < batch.vocab_size:
            ids, logits = gather(logits, words, workspace)
    num_allowed = len(logits)
    banned = banned_ids(batch.params[row])
    if len(banned):
        logits = logits.copy()
        logits[_locate(banned, ids)[1]] = -np.inf
    if num_allowed == 0 or logits.max() == -np.inf:
        raise EmptyRowError(_why_empty(batch, row, num_allowed), rows=(row,))
    return LegalLogits(ids, logits)


def float32_row(batch: Batch, row: int) -> Float32Array:
    """Read one row of the logits, contiguous, on the CPU, in float32.

    +inf, and what float32 cannot hold, counts as float32's largest number: such ids share the
    probability. A finite logit never becomes -inf. May be the caller's memory.

    Raises:
        InvalidRowError: It has NaN, masked or not: a model that computes NaN is broken.
    """
    given = batch.logits[row]
    values: npt.NDArray[Any]
    if is_tensor(given):
        given = given.detach()
        if given.element_size() == 2:  # NumPy has no bfloat16
            given = given.float()
        values = given.cpu().numpy()
    else:
        values = np.asarray(given)
    if values.dtype == np.float64:
        values = np.where(np.isneginf(values), values, np.clip(values, -_MOST, _MOST))
    logits = np.ascontiguousarray(values, dtype=np.float32)
    with np.errstate(invalid="ignore"):
        top = logits.max()
    if np.isnan(top):
        token = int(np.isnan(logits).argmax())
        raise InvalidRowError(
            f"logits row {row} is NaN at token id {token} (and {np.isnan(logits).sum() - 1} more)\n"
            "hint: the model computed it; float16 overflow is a common cause",
            rows=(row,),
        )
    return logits if top < np.inf else np.minimum(logits, _MOST)


def _on_the_cpu(bitmask: object) -> Int32Array:
    array: Int32Array = bitmask.cpu().numpy() if is_tensor(bitmask) else np.asarray(bitmask)
    return array


def _locate(wanted: Int64Array, ids: Int32Array | None) -> tuple[Any, Int64Array]:
    """Find which of the increasing ids `wanted` are among `ids`, and at which positions."""
    if ids is None:
        return slice(None), wanted
    positions = np.searchsorted(ids, wanted)
    known = positions < len(ids)
    known[known] = ids[positions[known]] == wanted[known]
    return known, positions[known]


def _why_empty(batch: Batch, row: int, num_allowed: int) -> str:
    if num_allowed == 0:
        return f"logits row {row}: the bitmask allows none of its {batch.vocab_size} token ids"
    return (
        f"logits row {row}: {num_allowed} token ids are allowed, and all of them have a logit or a "
        "bias of -inf"
    )
