"""Plain torch operations, for devices that Triton does not serve or where it is not installed."""

from __future__ import annotations

import torch

__all__ = ["allowed", "apply"]


def allowed(bitmask: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """Unpack [n, W] words to [n, vocab_size] booleans; ids without a bit are not allowed."""
    shifts = torch.arange(32, dtype=torch.int32, device=bitmask.device)
    bits = ((bitmask[:, :, None] >> shifts) & 1).to(torch.bool).flatten(1)  # [n, 32 * W]
    missing = vocab_size - bits.shape[1]
    return torch.nn.functional.pad(bits, (0, missing)) if missing > 0 else bits[:, :vocab_size]


def apply(logits: torch.Tensor, bitmask: torch.Tensor, rows: torch.Tensor) -> None:
    """Write -inf wherever a row of the bitmask forbids an id; tensors as in `gpu.apply`."""
    target = logits.detach()
    target[rows] = target[rows].masked_fill(~allowed(bitmask, logits.shape[1]), float("-inf"))
