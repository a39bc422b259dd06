"""Log-probabilities and diagnostics of one draw, computed only where they are asked for.

They describe the model, not the sampling parameters: penalties, temperature and truncation do not
enter. "Masked" is the softmax over the ids that the hard masks allow, "raw" the softmax over all.
Sums are float64 over float32 exponentials, good to about six digits. Every number is finite, so a
report can be written as JSON.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from constrain.kernels.sample import Workspace, keep_top
from constrain.sampling.batch import Batch
from constrain.sampling.host import LegalLogits, float32_row, legal_logits

__all__ = ["RowReport", "report_row"]

Float32Array = npt.NDArray[np.float32]

_NEGLIGIBLE = np.float32(-150)  # e^-150 is 0 in float32, and 0 * -150 is 0 where 0 * -inf is NaN


@dataclass(frozen=True, slots=True)
class RowReport:
    """What is to be said about one chosen token.

    Attributes:
        logprob: Its natural log-probability under the masked distribution.
        raw_logprob: The same under the raw distribution.
        top_logprobs: The most probable (id, masked log-probability), best first, ties to the lower
            id; at most `SamplingParams.logprobs` of them. Ids of probability 0 are left out.
        entropy: Of the masked distribution, in nats.
        masked_mass: The raw probability of all that the hard masks removed, 0 to 1.
    """

    logprob: float
    raw_logprob: float
    top_logprobs: tuple[tuple[int, float], ...]
    entropy: float
    masked_mass: float


def report_row(batch: Batch, row: int, token: int, workspace: Workspace) -> RowReport:
    """Describe the choice of `token` in a row that did not fail.

    Cost: two exponentials per id; a row on a GPU is copied to the CPU.
    """
    raw = float32_row(batch, row)
    legal = legal_logits(batch, row, workspace)
    above = _relative(legal.logits)
    weights = np.exp(above)
    total = float(weights.sum(dtype=np.float64))
    entropy = np.log(total) - float(np.sum(weights * above, dtype=np.float64)) / total
    raw_above = _relative(raw)
    raw_weights = np.exp(raw_above)
    raw_total = float(raw_weights.sum(dtype=np.float64))
    if legal.ids is None:
        raw_weights[np.isfinite(legal.logits)] = 0
    else:
        raw_weights[legal.ids[np.isfinite(legal.logits)]] = 0
    return RowReport(
        logprob=_log_share(legal.logits, _position(legal.ids, token), total),
        raw_logprob=_log_share(raw, token, raw_total),
        top_logprobs=_top(legal, total, batch.params[row].logprobs or 0, workspace),
        entropy=max(float(entropy), 0.0),
        masked_mass=min(float(raw_weights.sum(dtype=np.float64)) / raw_total, 1.0),
    )


def _relative(logits: Float32Array) -> Float32Array:
    with np.errstate(over="ignore"):
        above: Float32Array = np.maximum(logits - logits.max(), _NEGLIGIBLE)
    return above


def _log_share(logits: Float32Array, position: int, total: float) -> float:
    return float(logits[position]) - float(logits.max()) - float(np.log(total))


def _position(ids: npt.NDArray[np.int32] | None, token: int) -> int:
    return token if ids is None else int(np.searchsorted(ids, token))


def _top(
    legal: LegalLogits, total: float, num_wanted: int, workspace: Workspace
) -> tuple[tuple[int, float], ...]:
    if num_wanted == 0:
        return ()
    ids, logits = legal.ids, legal.logits
    best = keep_top(logits, None, num_wanted, workspace)
    best = best[np.isfinite(logits[best])]
    best = best[np.argsort(-logits[best], kind="stable")]
    return tuple(
        (int(position if ids is None else ids[position]), _log_share(logits, position, total))
        for position in best
    )
