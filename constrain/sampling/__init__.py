"""Logits in, token ids out: the sampler that constrained and free rows of a batch share.

In: logits [B, V] (NumPy, or torch on the CPU or a GPU), a bitmask, one `SamplingParams` per row,
and which draw this is (sequence, position). Out: `SampleOutput`, one token id per row.
Decided here: what a parameter means, in which order the steps run, which random number a draw gets,
and which row is an error. Not decided here: which tokens the grammar allows (`matcher`), when a
sequence ends (`generate`).

The order, per row: hard masks (the bitmask; a logit or bias of -inf) -> error if nothing is left ->
repetition, frequency and presence penalty, logit bias -> temperature -> top-k, top-p, min-p, each
keeping at least one id -> draw. All in float32, whatever the logits are; temperature 0 is greedy.
A row's token is a function of that row alone: not of its neighbours, the batch size or the device.

Read in this order: `params`, `batch` (what a call is about), `random` (which uniform number),
`penalties`, `truncation`, `report` (log-probabilities and diagnostics), `failures`, `sampler`,
`host` and `device` (its steps), `reference` (all of it again, slow and obvious).
"""

from __future__ import annotations

from constrain.sampling.failures import EmptyRowError, InvalidRowError
from constrain.sampling.params import SamplingParams
from constrain.sampling.report import RowReport
from constrain.sampling.sampler import SampleOutput, Sampler

__all__ = [
    "EmptyRowError",
    "InvalidRowError",
    "RowReport",
    "SampleOutput",
    "Sampler",
    "SamplingParams",
]
