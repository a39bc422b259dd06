"""Penalties and biases: changes to the logits of a few ids, planned as a short list.

For an id that stands c times in the output, and perhaps in the prompt, all in float32:

1. repetition: if it stands in either, l = l / r where l > 0, and l = l * r elsewhere (Keskar et al.
   2019, "CTRL", as corrected for negative logits), once however often it stands;
2. frequency and presence: l = l - f * c - p * [c > 0];
3. bias: l = l + b.

-inf stays -inf through each step. A finite logit stays finite: what overflows is cut at float32's
range, so a penalty alone never bans an id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from constrain.errors import SamplingError
from constrain.sampling.params import SamplingParams

__all__ = ["LogitEdits", "as_token_ids", "banned_ids", "edit", "plan_edits"]

TokenIds = Sequence[int] | npt.NDArray[np.integer[Any]]

_MOST = np.finfo(np.float32).max


@dataclass(frozen=True, slots=True)
class LogitEdits:
    """Which ids of one row change, and by what. All arrays are [n], ids increasing."""

    ids: npt.NDArray[np.int64]
    counts: npt.NDArray[np.float32]
    """How often the id stands in the output."""
    repeats: npt.NDArray[np.bool_]
    """Whether it stands in the output or the prompt."""
    bias: npt.NDArray[np.float32]


def as_token_ids(given: TokenIds | None, vocab_size: int, where: str) -> npt.NDArray[np.int64]:
    """Read token ids, in 0..vocab_size-1.

    Raises:
        SamplingError: Something else stands there; `where` names it.
    """
    if given is None:
        return np.empty(0, dtype=np.int64)
    array = np.asarray(given)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise SamplingError(f"{where}: a sequence of token ids was expected, not {given!r:.80}")
    ids = array.astype(np.int64)
    if ids.size and not 0 <= ids.min() <= ids.max() < vocab_size:
        wrong = ids[(ids < 0) | (ids >= vocab_size)][0]
        raise SamplingError(f"{where}: token id {wrong} is not one of the {vocab_size} logits")
    return ids


def banned_ids(params: SamplingParams) -> npt.NDArray[np.int64]:
    """List the ids with a bias of -inf, increasing."""
    bias = params.logit_bias or {}
    return np.array(sorted(i for i, b in bias.items() if b == -np.inf), dtype=np.int64)


def plan_edits(
    params: SamplingParams, history: npt.NDArray[np.int64], prompt: npt.NDArray[np.int64]
) -> LogitEdits:
    """List the ids whose logits change.

    Args:
        params: Its penalties and finite biases.
        history: The output so far, any order.
        prompt: What stood before it.

    Cost: sorts history, prompt and biases.
    """
    bias = {i: b for i, b in (params.logit_bias or {}).items() if b != -np.inf}
    biased = np.fromiter(bias.keys(), dtype=np.int64, count=len(bias))
    ids = np.unique(np.concatenate([history, prompt, biased]))
    counts = np.zeros(len(ids), dtype=np.float32)
    in_history, how_often = np.unique(history, return_counts=True)
    counts[np.searchsorted(ids, in_history)] = how_often
    repeats = counts > 0
    repeats[np.searchsorted(ids, np.unique(prompt))] = True
    values = np.zeros(len(ids), dtype=np.float32)
    with np.errstate(over="ignore"):
        added = np.fromiter(bias.values(), dtype=np.float64, count=len(bias))
        values[np.searchsorted(ids, biased)] = np.clip(added, -_MOST, _MOST)
    return LogitEdits(ids=ids, counts=counts, repeats=repeats, bias=values)


def edit(
    logits: npt.NDArray[np.float32], edits: LogitEdits, params: SamplingParams
) -> npt.NDArray[np.float32]:
    """Give the changed logits of `edits.ids`.

    Args:
        logits: [n], the logits of `edits.ids`; no NaN, no +inf.
        edits: What `plan_edits` made of `params`.
        params: The factors.
    """
    with np.errstate(over="ignore", under="ignore"):
        factor = np.float32(np.clip(params.repetition_penalty, 1 / _MOST, _MOST))
        repeated = np.where(logits > 0, logits / factor, logits * factor)
        edited = _finite(np.where(edits.repeats, repeated, logits), logits)
        frequency = np.float32(np.clip(params.frequency_penalty, -_MOST, _MOST))
        presence = np.float32(np.clip(params.presence_penalty, -_MOST, _MOST))
        edited = _finite(edited - _finite(frequency * edits.counts, edits.counts), logits)
        edited = _finite(np.where(edits.counts > 0, edited - presence, edited), logits)
        return _finite(edited + edits.bias, logits)


def _finite(
    values: npt.NDArray[np.float32], before: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Cut what overflowed, and keep what was -inf before."""
    kept: npt.NDArray[np.float32] = np.where(
        np.isneginf(before), before, np.clip(values, -_MOST, _MOST)
    ).astype(np.float32)
    return kept
