"""One row, in obvious NumPy and Python: booleans, sorts, exact fractions. Only tests call it.

It shares no code with the sampler but the definition of a weight (kernels/sample/reference), which
is what makes tokens comparable.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from constrain.kernels.sample import ONE
from constrain.kernels.sample.reference import weigh
from constrain.sampling.params import SamplingParams

__all__ = ["draw", "edited_logits", "weights"]

_MOST = float(np.finfo(np.float32).max)


def edited_logits(
    logits: npt.NDArray[np.float32],
    params: SamplingParams,
    allowed: npt.NDArray[np.bool_] | None = None,
    history: list[int] | None = None,
    prompt: list[int] | None = None,
) -> npt.NDArray[np.float32]:
    """Mask, then penalise and bias id by id; float32 [V]."""
    history, prompt = history or [], prompt or []
    out = np.array(logits, dtype=np.float32)
    for token in range(len(out)):
        bias = (params.logit_bias or {}).get(token, 0.0)
        if (allowed is not None and not allowed[token]) or bias == -np.inf:
            out[token] = -np.inf
        if np.isneginf(out[token]):
            continue
        value = _cut(out[token])
        if token in history or token in prompt:
            factor = np.float32(params.repetition_penalty)
            value = _cut(value / factor if value > 0 else value * factor)
        count = np.float32(history.count(token))
        value = _cut(value - np.float32(params.frequency_penalty) * count)
        value = _cut(value - np.float32(params.presence_penalty) * np.float32(count > 0))
        out[token] = _cut(value + np.float32(bias))
    return out


def weights(scores: npt.NDArray[np.float32], params: SamplingParams) -> npt.NDArray[np.int64]:
    """Apply temperature and truncation to edited logits that are not all -inf; int64 [V]."""
    order = sorted(range(len(scores)), key=lambda token: (-scores[token], token))
    if params.is_greedy:
        out = np.zeros(len(scores), dtype=np.int64)
        out[order[0]] = ONE
        return out
    out, _ = weigh(scores, scores[order[0]], params.divisor)
    if params.top_k > 0:
        out[order[params.top_k :]] = 0
    if params.top_p < 1:
        total, mass = int(out.sum()), 0
        wanted = min(max(ceil(params.top_p * float(total)), 1), total)
        for token in order:
            if mass >= wanted:
                out[token] = 0
            mass += int(out[token])
    for token in order:
        if Fraction(int(out[token]), ONE) < Fraction(params.min_p):
            out[token] = 0
    return out


def draw(weights: npt.NDArray[np.int64], uniform: float) -> int:
    """Walk the ids until the running sum exceeds the target."""
    total = int(weights.sum())
    target = min(floor(uniform * float(total)), total - 1)
    for token, weight in enumerate(weights.tolist()):
        target -= weight
        if target < 0:
            return token
    raise AssertionError("the target is below the sum of the weights")


def _cut(value: np.float32) -> np.float32:
    return np.float32(min(max(value, np.float32(-_MOST)), np.float32(_MOST)))
