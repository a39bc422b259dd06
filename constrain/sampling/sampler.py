"""The sampler: one call chooses one token for each row of a batch.

Where the rows run is the only thing decided by device: `host` takes them one by one, `device` all
at once. Both turn logits into integer weights with the same arithmetic and draw by the same rule,
so equal logits give equal tokens (kernels/sample states the arithmetic).

The draw: u is the uniform number of (seed, sequence, position), a multiple of 2^-53. With weights
w_0, w_1, ... by increasing id and their sum W, the token is the lowest id t with
w_0 + ... + w_t > min(floor(u * W), W - 1), where u * W is one float64 multiplication. An id of
weight 0 is never drawn.
"""

from __future__ import annotations

import itertools
import operator
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from constrain.errors import ConstrainError, SamplingError
from constrain.kernels.apply_bitmask.arrays import is_tensor
from constrain.kernels.sample import Workspace
from constrain.sampling import host
from constrain.sampling.batch import Batch, read_batch
from constrain.sampling.failures import EmptyRowError, InvalidRowError
from constrain.sampling.params import SamplingParams
from constrain.sampling.penalties import TokenIds
from constrain.sampling.random import uniform
from constrain.sampling.report import RowReport, report_row

if TYPE_CHECKING:
    import torch

__all__ = ["SampleOutput", "Sampler"]


@dataclass(frozen=True, slots=True, eq=False)
class SampleOutput:
    """The tokens of one call.

    Attributes:
        token_ids: int64 [B]: a NumPy array for NumPy logits, else a tensor on their device. -1
            where the row failed.
        reports: [B]: a report where `SamplingParams.logprobs` or `diagnostics` asked for one and
            the row did not fail, else None.
        errors: The failed rows, and why.
    """

    token_ids: npt.NDArray[np.int64] | torch.Tensor
    reports: tuple[RowReport | None, ...]
    errors: Mapping[int, ConstrainError] = field(default_factory=dict)


class Sampler:
    """Chooses tokens. Threads may share one; it holds no state of any sequence.

    Each thread that uses it keeps 24 bytes of working memory per id of the widest row.

    Rows without a seed draw from 64 bits of entropy that are collected here, once, and from a count
    of the numbers that such rows have used, so no two of their draws share a number. A process that
    was forked collects its own, and a copy (or what is unpickled) is a new sampler.
    """

    def __init__(self) -> None:
        self._collect_entropy()
        self._unseeded_draws = itertools.count()  # `next` is atomic
        self._of_this_thread = threading.local()

    def _collect_entropy(self) -> None:
        self._entropy, self._process = secrets.randbits(64), os.getpid()

    def __reduce__(self) -> tuple[type[Sampler], tuple[()]]:
        return Sampler, ()

    def sample(
        self,
        logits: npt.NDArray[Any] | torch.Tensor,
        params: SamplingParams | Sequence[SamplingParams],
        bitmask: npt.NDArray[np.int32] | torch.Tensor | None = None,
        *,
        positions: Sequence[int] | None = None,
        sequences: Sequence[int] | None = None,
        histories: Sequence[TokenIds | None] | None = None,
        prompts: Sequence[TokenIds | None] | None = None,
        diagnostics: bool = False,
        on_error: Literal["raise", "return"] = "raise",
    ) -> SampleOutput:
        """Choose one token for each row.

        Args:
            logits: [B, V], float16, bfloat16 (torch), float32 or float64; NumPy, or torch on any
                device. Not changed. +inf counts as float32's largest number.
            params: One for all rows, or one for each.
            bitmask: int32 [B, words], 1 = allowed, on the CPU or on the device of the logits. A
                free row has all bits set. Ids beyond the bitmask are forbidden, bits beyond V are
                ignored.
            positions: [B], >= 0: the index in its output of the token that is drawn. By default
                the length of the row's history. Needed, one way or the other, by a row with a seed:
                without it every step would draw the same number.
            sequences: [B], 0 to 2^32 - 1: tells apart several outputs with one seed. 0 by default.
            histories: [B], the ids of the output so far; for the penalties.
            prompts: [B], the ids before it; for the repetition penalty.
            diagnostics: Report on every row, not only on those with `logprobs`.
            on_error: "raise" raises for the first failed row, after all rows were done, with the
                output in the error; "return" returns it, with the failures in `errors`.

        Raises:
            InvalidRowError: (a SamplingError) The logits of a row have NaN.
            EmptyRowError: (a DeadEndError) A row has no id left to draw.
            SamplingError: An argument has the wrong form or range. Nothing was drawn.

        Cost: per row of V = 151,936 float32 on one core of an AMD EPYC (2026-11): greedy 45 us,
            temperature 150 us, top-k 50 0.25 ms, top-p 0.9 0.33 to 0.7 ms (peaked to flat). A mask
            that leaves few ids makes all of them 50 us, one that leaves 147,000 adds 150 us. A
            report adds 0.5 to 1.5 ms.
        """
        if on_error not in ("raise", "return"):
            raise SamplingError(f"on_error={on_error!r}: 'raise' or 'return' was expected")
        batch = read_batch(logits, params, bitmask, histories, prompts)
        uniforms = self._uniforms(batch, positions, sequences, histories)
        workspace = self._workspace(batch)
        token_ids, errors = _choose(batch, uniforms, workspace)
        chosen = token_ids.tolist() if diagnostics or _wants_report(batch) else ()
        reports = tuple(
            report_row(batch, row, token, workspace)
            if row not in errors and (diagnostics or batch.params[row].logprobs is not None)
            else None
            for row, token in enumerate(chosen)
        )
        output = SampleOutput(token_ids, reports or (None,) * batch.num_rows, errors)
        if errors and on_error == "raise":
            raise _with_output(output)
        return output

    def distribution(
        self,
        logits: npt.NDArray[Any] | torch.Tensor,
        params: SamplingParams | Sequence[SamplingParams],
        bitmask: npt.NDArray[np.int32] | torch.Tensor | None = None,
        *,
        histories: Sequence[TokenIds | None] | None = None,
        prompts: Sequence[TokenIds | None] | None = None,
    ) -> npt.NDArray[np.float64] | torch.Tensor:
        """Give the probabilities that `sample` draws from, after every step.

        Args:
            logits: As for `sample`, and so are the others.
            params: A greedy row gives one id the probability 1.
            bitmask: As for `sample`.
            histories: As for `sample`.
            prompts: As for `sample`.

        Returns:
            float64 [B, V]: a NumPy array for NumPy logits, else a tensor on their device.

        Raises:
            InvalidRowError: The logits of a row have NaN.
            EmptyRowError: A row has no id left.
            SamplingError: An argument has the wrong form or range.
        """
        batch = read_batch(logits, params, bitmask, histories, prompts)
        if is_tensor(logits) and _runs_on_device(logits):
            from constrain.sampling import device

            weights, failed = device.weigh_rows(batch)
            if failed.any():
                raise _failure(batch, int(failed.argmax()))
            return weights.double() / weights.sum(dim=1, keepdim=True).double()
        probs = np.zeros((batch.num_rows, batch.vocab_size))
        for row in range(batch.num_rows):
            weighed = host.weigh_row(batch, row, self._workspace(batch))
            ids = slice(None) if weighed.ids is None else weighed.ids
            probs[row, ids] = weighed.weights / float(weighed.total)
        return _like(logits, probs)

    def _workspace(self, batch: Batch) -> Workspace:
        """Get the memory of this thread, wide enough for the batch."""
        workspace: Workspace | None = getattr(self._of_this_thread, "workspace", None)
        if workspace is None or workspace.num_ids < batch.vocab_size:
            workspace = self._of_this_thread.workspace = Workspace(batch.vocab_size)
        return workspace

    def _uniforms(
        self,
        batch: Batch,
        positions: Sequence[int] | None,
        sequences: Sequence[int] | None,
        histories: Sequence[TokenIds | None] | None,
    ) -> npt.NDArray[np.float64]:
        """Look up the random number of each row that needs one."""
        where = _integers("positions", positions, batch.num_rows, 2**64)
        which = _integers("sequences", sequences, batch.num_rows, 2**32)
        uniforms = np.zeros(batch.num_rows)
        for row, params in enumerate(batch.params):
            if params.is_greedy:
                continue
            if params.seed is None:
                if self._process != os.getpid():  # forked: not the numbers of the other process
                    self._collect_entropy()
                uniforms[row] = uniform(self._entropy, 0, next(self._unseeded_draws))
                continue
            if where is not None:
                position = where[row]
            elif histories is not None and histories[row] is not None:
                position = len(batch.histories[row])
            else:
                raise SamplingError(
                    f"row {row} has seed={params.seed}, and nothing says which of its tokens this "
                    "is: the same number would be drawn at every step\n"
                    "hint: pass positions=[...] (0 for the first token of an output), or histories"
                )
            uniforms[row] = uniform(params.seed, 0 if which is None else which[row], position)
        return uniforms


def _choose(
    batch: Batch, uniforms: npt.NDArray[np.float64], workspace: Workspace
) -> tuple[npt.NDArray[np.int64] | torch.Tensor, dict[int, ConstrainError]]:
    errors: dict[int, ConstrainError] = {}
    if is_tensor(batch.logits) and _runs_on_device(batch.logits):
        from constrain.sampling import device

        tokens, failed = device.choose(batch, uniforms)
        for row in np.flatnonzero(failed):
            errors[int(row)] = _failure(batch, int(row))
        return tokens, errors
    token_ids = np.full(batch.num_rows, -1, dtype=np.int64)
    for row in range(batch.num_rows):
        try:
            token_ids[row] = host.choose(batch, row, uniforms[row], workspace)
        except (InvalidRowError, EmptyRowError) as error:
            errors[row] = error
    return _like(batch.logits, token_ids), errors


def _runs_on_device(logits: torch.Tensor) -> bool:
    # Other accelerators lack float64 or int64 sums: their logits are copied to the CPU.
    return logits.device.type == "cuda"


def _failure(batch: Batch, row: int) -> InvalidRowError | EmptyRowError:
    """Say why a row failed on the device, by doing its masks again on the CPU."""
    try:
        host.legal_logits(batch, row, Workspace(batch.vocab_size))
    except (InvalidRowError, EmptyRowError) as error:
        return error
    raise AssertionError(f"row {row} failed on the device and not on the CPU")


def _with_output(output: SampleOutput) -> ConstrainError:
    """Make one error of the failed rows: the first of them, and the rows that failed likewise."""
    first = output.errors[min(output.errors)]
    rows = tuple(sorted(row for row, e in output.errors.items() if type(e) is type(first)))
    more = f"\nrows {', '.join(map(str, rows))} failed alike" if len(rows) > 1 else ""
    kind = InvalidRowError if isinstance(first, InvalidRowError) else EmptyRowError
    return kind(f"{first}{more}", rows=rows, output=output)


def _wants_report(batch: Batch) -> bool:
    return any(params.logprobs is not None for params in batch.params)


def _integers(
    name: str, given: Sequence[int] | None, num_rows: int, bound: int
) -> list[int] | None:
    if given is None:
        return None
    try:
        values = [operator.index(value) for value in given]
    except TypeError:
        raise SamplingError(f"{name}={given!r:.80}: a sequence of integers was expected") from None
    if len(values) != num_rows:
        raise SamplingError(f"{len(values)} {name} for {num_rows} rows of logits")
    for row, value in enumerate(values):
        if not 0 <= value < bound:
            raise SamplingError(f"{name}[{row}]={value}: 0 to {bound - 1} was expected")
    return values


def _like(
    logits: npt.NDArray[Any] | torch.Tensor, array: npt.NDArray[Any]
) -> npt.NDArray[Any] | torch.Tensor:
    if not is_tensor(logits):
        return array
    import torch

    return torch.from_numpy(array).to(logits.device)
