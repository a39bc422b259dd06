"""Torch tensors seen as arrays without importing torch, and what a bitmask may be.

A value can only be a tensor if torch is loaded already, so asking `sys.modules` is enough. Tensors
on the CPU are seen through NumPy without a copy.

All this is called right after a model's forward pass, which leaves nothing of it in a cache: each
attribute of a tensor costs some microseconds then, a dtype's name ten. So a tensor is asked for
little, and seen as an array first.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from constrain.errors import SamplingError

if TYPE_CHECKING:
    import torch

__all__ = [
    "as_numpy_bitmask",
    "describe",
    "float_bits",
    "float_bits_at_once",
    "is_tensor",
    "read_only",
    "seen_as_array",
]

_INT32 = np.dtype(np.int32)
_WANTED = "a bitmask is int32, [batch, ceil(vocab_size / 32)] or one such row"
_WAY_OUT = "\nhint: make it with constrain.allocate_token_bitmask(batch, vocab_size)"

# dtype of the logits -> the unsigned integer of the same width, and the bits of -inf
_MINUS_INF: dict[str, np.unsignedinteger[Any]] = {
    "float16": np.uint16(0xFC00),
    "bfloat16": np.uint16(0xFF80),
    "float32": np.uint32(0xFF80_0000),
    "float64": np.uint64(0xFFF0_0000_0000_0000),
}


_tensor_type: Any = None
"""`torch.Tensor`, once torch is loaded."""


class _Floats(NamedTuple):
    """How logits of a dtype are seen as integers.

    Attributes:
        unsigned: The unsigned integers of the same width.
        minus_inf: The bits of -inf.
        seen_as: The dtype of torch that a tensor is seen as before NumPy sees it, if it must.
    """

    unsigned: np.dtype[Any]
    minus_inf: np.unsignedinteger[Any]
    seen_as: torch.dtype | None


_floats: dict[object, _Floats] = {}
"""By dtype, of NumPy or torch: those of logits that have come. As many as there are, at most."""


def is_tensor(value: object) -> TypeGuard[torch.Tensor]:
    """Say whether `value` is a torch tensor; never imports torch."""
    global _tensor_type
    if _tensor_type is None:
        _tensor_type = getattr(sys.modules.get("torch"), "Tensor", None)
        if _tensor_type is None:
            return False
    return type(value) is _tensor_type or isinstance(value, _tensor_type)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """See an array as one that is only read.

    To numba an array that can be written to has another type, for which it would compile a kernel
    once more, in the middle of decoding. So what a kernel only reads always comes like this.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def seen_as_array(tensor: torch.Tensor) -> npt.NDArray[Any]:
    """A tensor on the CPU as an array, without a copy; autograd does not look on."""
    # Detaching takes half a microsecond, and few need it.
    array: npt.NDArray[Any] = (tensor.detach() if tensor.requires_grad else tensor).numpy()
    return array


def describe(value: object) -> str:
    """Name the dtype, shape and device of an array for an error message."""
    if is_tensor(value):
        dtype = str(value.dtype).removeprefix("torch.")
        return f"a torch {dtype} tensor of shape {list(value.shape)} on {value.device}"
    if isinstance(value, np.ndarray):
        return f"a NumPy {value.dtype} array of shape {list(value.shape)}"
    return f"a {type(value).__name__}"


def as_numpy_bitmask(bitmask: object, *, mutable: bool = True) -> npt.NDArray[np.int32]:
    """See a bitmask as a NumPy array, without a copy.

    Args:
        bitmask: [batch, words] or [words], int32, on the CPU: a NumPy array or a torch tensor. Each
            row must be contiguous; the row stride is free.
        mutable: Whether the caller is going to write into it.

    Returns:
        The same memory, in the same shape.

    Raises:
        SamplingError: It has another type, dtype, shape, device or layout, or is read-only and
            must not be.

    Cost: about 0.1 us for an array that is right and C-contiguous, 0.8 us for such a tensor.
    """
    seen: Any = bitmask
    if type(bitmask) is not np.ndarray and is_tensor(bitmask) and bitmask.is_cpu:
        try:
            seen = seen_as_array(bitmask)
        except TypeError:  # a dtype that NumPy lacks
            return _as_numpy_bitmask_slowly(bitmask, mutable=mutable)
    if (
        type(seen) is np.ndarray
        and seen.dtype is _INT32
        and seen.flags.carray
        and 0 < seen.ndim < 3
    ):
        return seen
    return _as_numpy_bitmask_slowly(bitmask, mutable=mutable)


def _as_numpy_bitmask_slowly(bitmask: object, *, mutable: bool) -> npt.NDArray[np.int32]:
    array: npt.NDArray[Any]
    if is_tensor(bitmask):
        if not bitmask.is_cpu:
            raise SamplingError(
                f"{_WANTED}, on the CPU; got {describe(bitmask)}\n"
                "hint: fill it on the CPU; `apply_token_bitmask` moves it to the logits"
            )
        if str(bitmask.dtype) != "torch.int32":
            raise SamplingError(f"{_WANTED}; got {describe(bitmask)}{_WAY_OUT}")
        array = seen_as_array(bitmask)
    elif isinstance(bitmask, np.ndarray):
        array = bitmask
    else:
        raise SamplingError(
            f"{_WANTED}, a NumPy array or a torch tensor; got {describe(bitmask)}{_WAY_OUT}"
        )
    if array.dtype is _INT32 and array.flags.carray and 0 < array.ndim < 3:
        return array
    if array.dtype != _INT32 or array.ndim not in (1, 2):
        raise SamplingError(f"{_WANTED}; got {describe(bitmask)}{_WAY_OUT}")
    if array.size and array.shape[-1] > 1 and array.strides[-1] != array.itemsize:
        raise SamplingError(
            f"{_WANTED}, each row contiguous; got {describe(bitmask)} whose words lie "
            f"{array.strides[-1]} bytes apart"
        )
    if mutable and not array.flags.writeable:
        raise SamplingError(f"{_WANTED}, writeable; got {describe(bitmask)} that is read-only")
    return array


def float_bits(
    logits: npt.NDArray[Any] | torch.Tensor,
) -> tuple[npt.NDArray[np.unsignedinteger[Any]], np.unsignedinteger[Any]]:
    """See logits on the CPU as unsigned integers, without a copy.

    Args:
        logits: float16, bfloat16 (torch), float32 or float64, last dimension contiguous.

    Returns:
        The same memory as unsigned integers of the same width, and the bits of -inf.
    """
    floats = _floats.get(logits.dtype)
    if floats is None:
        floats = _floats[logits.dtype] = _floats_of(logits)
    if is_tensor(logits):
        if floats.seen_as is not None:
            logits = logits.view(floats.seen_as)
        return seen_as_array(logits).view(floats.unsigned), floats.minus_inf
    return np.asarray(logits).view(floats.unsigned), floats.minus_inf


def _floats_of(logits: npt.NDArray[Any] | torch.Tensor) -> _Floats:
    minus_inf = _MINUS_INF[str(logits.dtype).removeprefix("torch.")]
    seen_as = None
    if is_tensor(logits) and minus_inf.itemsize == 2:  # NumPy has no bfloat16
        import torch

        seen_as = torch.int16
    return _Floats(minus_inf.dtype, minus_inf, seen_as)


def float_bits_at_once(
    logits: Any,
) -> tuple[npt.NDArray[Any], np.unsignedinteger[Any]] | None:
    """The same where little is to be looked at; None if it takes a closer look.

    Not None: [B, V], C-contiguous, on the CPU, may be written, of a dtype that has come before.
    """
    is_array = type(logits) is np.ndarray
    if not is_array and (
        type(logits) is not _tensor_type or not logits.is_cpu or logits.requires_grad
    ):
        return None
    floats = _floats.get(logits.dtype)
    if floats is None:
        return None
    if not is_array:
        logits = (logits if floats.seen_as is None else logits.view(floats.seen_as)).numpy()
    bits: npt.NDArray[Any] = logits.view(floats.unsigned)
    return (bits, floats.minus_inf) if bits.ndim == 2 and bits.flags.carray else None
