"""Packed token bitmasks: made here, filled by a matcher, laid over logits here.

A bitmask is int32 [batch, ceil(vocab_size / 32)]: bit `t % 32` of word `t // 32` is 1 if token t is
allowed. It is a NumPy array, so that compiling and matching need no torch; a torch CPU tensor does
as well wherever a bitmask is taken, and is never copied.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from constrain.errors import BackendUnavailableError, DeadEndError, SamplingError
from constrain.kernels.apply_bitmask import apply_at_once, apply_bitmask, empty_rows
from constrain.kernels.apply_bitmask.arrays import as_numpy_bitmask, describe, is_tensor

if TYPE_CHECKING:
    import torch

__all__ = ["allocate_token_bitmask", "apply_token_bitmask", "as_numpy_bitmask"]

_FLOATS = ("float16", "bfloat16", "float32", "float64")


@overload
def allocate_token_bitmask(
    batch: int, vocab_size: int, *, like: Literal["numpy"] = "numpy"
) -> npt.NDArray[np.int32]: ...
@overload
def allocate_token_bitmask(
    batch: int, vocab_size: int, *, like: Literal["torch"]
) -> torch.Tensor: ...
def allocate_token_bitmask(
    batch: int, vocab_size: int, *, like: Literal["numpy", "torch"] = "numpy"
) -> npt.NDArray[np.int32] | torch.Tensor:
    """Make a bitmask in which every token is allowed.

    A row that no matcher fills constrains nothing, as an unconstrained request in a mixed batch
    needs.

    Args:
        batch: Number of rows, >= 0.
        vocab_size: Width of the logits, `vocab.vocab_size`, >= 1.
        like: "numpy" for an array; "torch" for a CPU tensor, in pinned memory where CUDA is
            available, so that it travels to the GPU without waiting.

    Returns:
        int32 [batch, ceil(vocab_size / 32)]; the bits past vocab_size are 0.

    Raises:
        SamplingError: A size or `like` is out of range.
        BackendUnavailableError: `like="torch"`, and torch is not installed.
    """
    batch = _size("batch", batch, least=0)
    vocab_size = _size("vocab_size", vocab_size, least=1)
    if like not in ("numpy", "torch"):
        raise SamplingError(f"like={like!r}: a bitmask is made like 'numpy' or 'torch'")
    shape = (batch, (vocab_size + 31) // 32)
    if like == "torch":
        try:
            import torch
        except ImportError:
            raise BackendUnavailableError(
                "torch", extra="torch", needed_for="allocate_token_bitmask(like='torch')"
            ) from None
        tensor = torch.empty(shape, dtype=torch.int32, pin_memory=torch.cuda.is_available())
        _allow_all(tensor.numpy(), vocab_size)
        return tensor
    array = np.empty(shape, dtype=np.int32)
    _allow_all(array, vocab_size)
    return array


def apply_token_bitmask(
    logits: npt.NDArray[Any] | torch.Tensor,
    bitmask: npt.NDArray[np.int32] | torch.Tensor,
    *,
    rows: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None,
) -> None:
    """Set every logit that the bitmask forbids to -inf, in place.

    Logits wider than the bitmask are padding and become -inf; a bitmask wider than the logits
    judges ids that the model does not have, and those bits are ignored.

    Args:
        logits: [B, V] or [V]; a torch tensor (float16, bfloat16, float32, float64; CPU or CUDA) or
            a NumPy array (float16, float32, float64). The last dimension is contiguous, the row
            stride is free. Mutated.
        bitmask: int32 [B, words] or [words], NumPy or torch, on the CPU or on the device of the
            logits.
        rows: Distinct indices into the logits, one for each row of the bitmask: row i judges
            `logits[rows[i]]`, and rows that are not named are left alone. None: row i judges row i,
            and there are as many of both.

    Raises:
        SamplingError: Shape, dtype, device or layout is wrong. Nothing was written.
        DeadEndError: Rows of the bitmask allow no id that the logits have. The message names them;
            all rows have been masked nevertheless. (A bitmask on the GPU is not judged: that would
            wait for the device.)

    Cost: reads the bitmask once and writes what is forbidden.
    """
    if rows is None and apply_at_once(logits, bitmask):
        return
    target = _two_dimensional(logits)
    words: npt.NDArray[np.int32] | torch.Tensor
    if is_tensor(bitmask) and not bitmask.is_cpu:
        _check_device_bitmask(bitmask, target)
        words = bitmask
    else:
        words = as_numpy_bitmask(bitmask, mutable=False)
    if words.ndim == 1:
        words = words[None]
    indices = None
    if rows is not None or target.shape[0] != words.shape[0]:
        indices = _row_indices(rows, num_rows=target.shape[0], num_masks=words.shape[0])
    num_dead = apply_bitmask(target, words, indices)
    # On a device nobody has looked, and a bitmask that lies here can be looked at here.
    on_device = is_tensor(target) and not target.is_cpu
    if isinstance(words, np.ndarray) and (num_dead or on_device):
        dead = empty_rows(words, target.shape[1])
        if dead:
            names = ", ".join(str(i if indices is None else int(indices[i])) for i in dead)
            raise DeadEndError(
                f"the bitmask allows none of the {target.shape[1]} ids of logits row {names}\n"
                "hint: the model's output may be narrower than the vocabulary of the grammar"
            )


def _size(name: str, value: int, *, least: int) -> int:
    try:
        size = operator.index(value)
    except TypeError:
        size = least - 1
    if size < least:
        raise SamplingError(f"{name}={value!r}: an integer >= {least} was expected")
    return size


def _allow_all(bitmask: npt.NDArray[np.int32], vocab_size: int) -> None:
    bitmask[:] = -1
    if vocab_size % 32:
        bitmask[:, -1] = (1 << vocab_size % 32) - 1


def _two_dimensional(
    logits: npt.NDArray[Any] | torch.Tensor,
) -> npt.NDArray[Any] | torch.Tensor:
    if _is_as_usual(logits):
        return logits
    if isinstance(logits, np.ndarray):
        # Without elements there is no stride to speak of; NumPy says 0.
        step = logits.strides[-1] // logits.itemsize if logits.ndim and logits.size else 1
        writeable = logits.flags.writeable
    elif is_tensor(logits):
        step = logits.stride(-1) if logits.ndim else 1
        writeable = True
    else:
        raise SamplingError(
            f"logits are masked in place: an array or a torch tensor, not {describe(logits)}"
        )
    if str(logits.dtype).removeprefix("torch.") not in _FLOATS:
        turned = str(logits.dtype).removeprefix("torch.") == "int32"
        hint = (
            "\nhint: apply_token_bitmask(logits, bitmask) takes the logits first" if turned else ""
        )
        raise SamplingError(f"logits are one of {', '.join(_FLOATS)}; got {describe(logits)}{hint}")
    if logits.ndim not in (1, 2):
        hint = "\nhint: of [batch, positions, vocab_size] mask logits[:, -1]"
        raise SamplingError(
            f"logits are [batch, vocab_size]; got {describe(logits)}{hint * (logits.ndim == 3)}"
        )
    if logits.shape[-1] > 1 and step != 1:
        raise SamplingError(
            f"logits are contiguous in their last dimension; got {describe(logits)} "
            f"with {step} elements from id to id\n"
            "hint: mask logits.contiguous(), which is a copy, and go on with that"
        )
    if not writeable:
        raise SamplingError(f"logits are masked in place; got {describe(logits)}, read-only")
    return logits if logits.ndim == 2 else logits[None]


def _is_as_usual(logits: object) -> bool:
    """Whether nothing can be wrong with logits, by a look that takes no time."""
    if isinstance(logits, np.ndarray):
        return logits.ndim == 2 and logits.flags.carray and str(logits.dtype) in _FLOATS
    return (
        is_tensor(logits)
        and logits.ndim == 2
        and logits.is_contiguous()
        and str(logits.dtype)[6:] in _FLOATS
    )


def _check_device_bitmask(bitmask: torch.Tensor, logits: npt.NDArray[Any] | torch.Tensor) -> None:
    if not is_tensor(logits) or logits.device != bitmask.device:
        raise SamplingError(
            f"the bitmask is {describe(bitmask)}, and the logits are {describe(logits)}: "
            "a bitmask lies on the CPU or on the device of the logits"
        )
    if (
        str(bitmask.dtype) != "torch.int32"
        or bitmask.ndim not in (1, 2)
        or (bitmask.shape[-1] > 1 and bitmask.stride(-1) != 1)
    ):
        raise SamplingError(
            f"a bitmask is int32 [batch, words], each row contiguous; got {describe(bitmask)}"
        )


def _row_indices(
    rows: Sequence[int] | npt.NDArray[np.integer[Any]] | None, *, num_rows: int, num_masks: int
) -> npt.NDArray[np.int64]:
    if rows is None:
        raise SamplingError(
            f"{num_masks} rows of bitmask for {num_rows} rows of logits\n"
            "hint: pass rows=[...] to say which logits each row of the bitmask judges"
        )
    try:
        indices = np.array([operator.index(row) for row in rows], dtype=np.int64)
    except (TypeError, OverflowError):
        raise SamplingError(f"rows={rows!r}: a sequence of row indices was expected") from None
    if len(indices) != num_masks:
        raise SamplingError(f"{len(indices)} entries in rows for {num_masks} rows of bitmask")
    outside = indices[(indices < 0) | (indices >= num_rows)]
    if len(outside):
        raise SamplingError(f"rows names row {outside[0]}, and the logits have {num_rows} rows")
    if len(set(indices.tolist())) != len(indices):
        raise SamplingError(f"rows={indices.tolist()}: a row of logits is named twice")
    return indices
