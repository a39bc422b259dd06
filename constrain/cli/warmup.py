"""`constrain warmup`: compile the kernels now, so that no request waits for it."""

from __future__ import annotations

import time

from constrain.cli.console import progress_bars, say
from constrain.generation import warmup_kernels

__all__ = ["warmup"]


def warmup() -> None:
    """Compile the kernels, or load them from the cache on disk if they were compiled before."""
    started = time.perf_counter()
    with progress_bars() as progress:
        warmup_kernels(progress)
    say(f"kernels are ready ({time.perf_counter() - started:.1f} s)")
