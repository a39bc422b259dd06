"""What one call of the sampler is about, checked: logits, parameters, masks, what was said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from constrain.errors import SamplingError
from constrain.kernels.apply_bitmask.arrays import as_numpy_bitmask, describe, is_tensor
from constrain.kernels.sample import MAX_IDS
from constrain.sampling.params import SamplingParams
from constrain.sampling.penalties import TokenIds, as_token_ids

if TYPE_CHECKING:
    import torch

__all__ = ["Batch", "read_batch"]

_FLOATS = ("float16", "bfloat16", "float32", "float64")


@dataclass(frozen=True, slots=True)
class Batch:
    """B rows of V logits and what belongs to them.

    Attributes:
        logits: [B, V], NumPy or torch, any of the float dtypes. Never written to.
        params: [B].
        bitmask: int32 [B, W], on the CPU, or on the device of the logits; None masks nothing.
        histories: [B], int64 arrays of ids in 0..V-1: the output so far.
        prompts: [B], the same for what stood before it.
    """

    logits: npt.NDArray[Any] | torch.Tensor
    params: tuple[SamplingParams, ...]
    bitmask: npt.NDArray[np.int32] | torch.Tensor | None
    histories: tuple[npt.NDArray[np.int64], ...]
    prompts: tuple[npt.NDArray[np.int64], ...]

    @property
    def num_rows(self) -> int:
        """B."""
        return int(self.logits.shape[0])

    @property
    def vocab_size(self) -> int:
        """V, the width of the logits."""
        return int(self.logits.shape[1])


def read_batch(
    logits: npt.NDArray[Any] | torch.Tensor,
    params: SamplingParams | Sequence[SamplingParams],
    bitmask: npt.NDArray[np.int32] | torch.Tensor | None,
    histories: Sequence[TokenIds | None] | None,
    prompts: Sequence[TokenIds | None] | None,
) -> Batch:
    """Check the arguments of `Sampler.sample`.

    Raises:
        SamplingError: A shape, dtype, length or token id is wrong; the message names it.
    """
    if not isinstance(logits, np.ndarray) and not is_tensor(logits):
        raise SamplingError(
            f"logits are an array or a torch tensor [batch, vocab_size], not {describe(logits)}"
        )
    if str(logits.dtype).removeprefix("torch.") not in _FLOATS:
        raise SamplingError(f"logits are one of {', '.join(_FLOATS)}; got {describe(logits)}")
    if logits.ndim != 2:
        hint = "\nhint: pass logits[None] for a single row" if logits.ndim == 1 else ""
        raise SamplingError(f"logits are [batch, vocab_size]; got {describe(logits)}{hint}")
    num_rows, vocab_size = logits.shape
    if not 1 <= vocab_size <= MAX_IDS:
        raise SamplingError(f"logits have 1 to {MAX_IDS:,} ids a row; got {describe(logits)}")
    row_params = _read_params(params, num_rows)
    for row, one in enumerate(row_params):
        outside = [token for token in one.logit_bias or () if token >= vocab_size]
        if outside:
            raise SamplingError(
                f"params[{row}].logit_bias: token id {outside[0]} is not one of the "
                f"{vocab_size} logits"
            )
    return Batch(
        logits=logits,
        params=row_params,
        bitmask=None if bitmask is None else _read_bitmask(bitmask, logits),
        histories=_read_ids(histories, num_rows, vocab_size, "histories"),
        prompts=_read_ids(prompts, num_rows, vocab_size, "prompts"),
    )


def _read_params(
    params: SamplingParams | Sequence[SamplingParams], num_rows: int
) -> tuple[SamplingParams, ...]:
    if isinstance(params, SamplingParams):
        return (params,) * num_rows
    if isinstance(params, Mapping):
        raise SamplingError(
            "params is a dict: SamplingParams was expected\nhint: SamplingParams(**params)"
        )
    try:
        row_params = tuple(params)
    except TypeError:
        raise SamplingError(
            f"params is {describe(params)}: SamplingParams was expected, or one for each row"
        ) from None
    for row, one in enumerate(row_params):
        if not isinstance(one, SamplingParams):
            raise SamplingError(f"params[{row}] is {describe(one)}: SamplingParams was expected")
    if len(row_params) != num_rows:
        raise SamplingError(f"{len(row_params)} params for {num_rows} rows of logits")
    return row_params


def _read_bitmask(
    bitmask: npt.NDArray[np.int32] | torch.Tensor, logits: npt.NDArray[Any] | torch.Tensor
) -> npt.NDArray[np.int32] | torch.Tensor:
    words: npt.NDArray[np.int32] | torch.Tensor
    if is_tensor(bitmask) and is_tensor(logits) and bitmask.device == logits.device:
        on_cpu = bitmask.device.type == "cpu"
        words = as_numpy_bitmask(bitmask, mutable=False) if on_cpu else bitmask
        if not on_cpu and str(bitmask.dtype) != "torch.int32":
            raise SamplingError(f"a bitmask is int32; got {describe(bitmask)}")
    else:
        words = as_numpy_bitmask(bitmask, mutable=False)
    if words.ndim != 2 or words.shape[0] != logits.shape[0]:
        raise SamplingError(
            f"a bitmask is [{logits.shape[0]}, ceil(vocab_size / 32)] for {logits.shape[0]} rows "
            f"of logits; got {describe(bitmask)}"
        )
    return words


def _read_ids(
    given: Sequence[TokenIds | None] | None, num_rows: int, vocab_size: int, name: str
) -> tuple[npt.NDArray[np.int64], ...]:
    try:
        rows = (None,) * num_rows if given is None else tuple(given)
    except TypeError:
        raise SamplingError(
            f"{name} is {describe(given)}: token ids were expected for each row"
        ) from None
    if len(rows) != num_rows:
        raise SamplingError(f"{len(rows)} {name} for {num_rows} rows of logits")
    return tuple(as_token_ids(ids, vocab_size, f"{name}[{row}]") for row, ids in enumerate(rows))
