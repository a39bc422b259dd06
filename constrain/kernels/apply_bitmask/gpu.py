"""The Triton body: one program per row and block of ids, storing only where the bit is 0.

Logits are stored through an integer view, so bfloat16 needs no special case, neither here nor when
the kernel is interpreted on the CPU (`TRITON_INTERPRET=1`).
"""

from __future__ import annotations

import contextlib

import torch
import triton
import triton.language as tl

__all__ = ["apply"]

_BLOCK = 4096
_VIEWS = {  # dtype -> the signed integer of the same width, and the bits of -inf in it
    torch.float16: (torch.int16, -0x0400),
    torch.bfloat16: (torch.int16, -0x0080),
    torch.float32: (torch.int32, -0x0080_0000),
    torch.float64: (torch.int64, -0x0010_0000_0000_0000),
}


def apply(logits, bitmask, rows):
    """Launch the kernel on the device of `logits`; does not wait for it.

    Args:
        logits: [B, V] float tensor, last dimension contiguous. Mutated.
        bitmask: [n, W] int32 tensor on the same device, last dimension contiguous.
        rows: [n] int64 tensor on the same device.
    """
    vocab_size = logits.shape[1]
    if rows.shape[0] == 0 or vocab_size == 0:
        return
    signed, minus_inf = _VIEWS[logits.dtype]
    bits = logits.detach().view(signed)
    # Triton launches on the current device, which need not be the one that holds the logits.
    on_device = torch.cuda.device(logits.device) if logits.is_cuda else contextlib.nullcontext()
    with on_device:
        _apply[(rows.shape[0], triton.cdiv(vocab_size, _BLOCK))](
            bits,
            bitmask,
            rows,
            vocab_size,
            bitmask.shape[1],
            bits.stride(0),
            bitmask.stride(0),
            minus_inf,
            BLOCK=_BLOCK,
        )


@triton.jit
def _apply(
    bits,
    bitmask,
    rows,
    vocab_size,
    num_words,
    bits_stride,
    bitmask_stride,
    minus_inf,
    BLOCK: tl.constexpr,
):
    index = tl.program_id(0).to(tl.int64)
    first = tl.program_id(1).to(tl.int64) * BLOCK
    tokens = first + tl.arange(0, BLOCK).to(tl.int64)
    inside = tokens < vocab_size
    row = tl.load(rows + index)
    # A word that does not exist reads as 0: its ids are forbidden.
    words = tl.load(
        bitmask + index * bitmask_stride + tokens // 32,
        mask=inside & (tokens // 32 < num_words),
        other=0,
    )
    forbidden = ((words >> (tokens % 32).to(tl.int32)) & 1) == 0
    fill = tl.full([BLOCK], minus_inf, tl.int64).to(bits.dtype.element_ty)
    tl.store(bits + row * bits_stride + tokens, fill, mask=inside & forbidden)
