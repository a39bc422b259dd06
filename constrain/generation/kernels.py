"""The kernels that generation needs, compiled before it begins, with progress."""

from __future__ import annotations

import numpy as np

from constrain.generation.progress import Progress, Stage, silent
from constrain.matcher import warmup
from constrain.sampling import Sampler, SamplingParams

__all__ = ["kernels_are_kept", "warmup_kernels"]


def kernels_are_kept() -> bool:
    """Tell whether kernels of this version were compiled on this machine before."""
    # Here, because importing it loads numba.
    from constrain.kernels.compile import kernel_folder

    # numba makes the folders when a kernel is declared, and an index file when one is compiled.
    return any(kernel_folder().rglob("*.nbi"))


def warmup_kernels(progress: Progress = silent) -> None:
    """Compile every kernel of matching and sampling, or load it from the disk cache.

    Args:
        progress: Told "compile" where no kernels are kept on disk, else "kernels".

    Cost: some tens of seconds the first time on a machine, about a second later; then nothing.
    """
    total = 0
    stage: Stage = "kernels" if kernels_are_kept() else "compile"

    def matching(done: int, steps: int, what: str) -> None:
        nonlocal total
        total = steps + 1
        progress(stage, done, total)

    warmup(matching)
    logits = np.zeros((1, 40), np.float32)
    bitmask = np.full((1, 2), 0b1011, np.int32)
    params = SamplingParams(top_k=3, top_p=0.9, min_p=0.01, seed=0)
    Sampler().sample(logits, params, bitmask=bitmask, positions=[0])
    progress(stage, total, total)
