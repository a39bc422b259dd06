"""The kernels that generation needs, compiled before it begins, with progress."""

from __future__ import annotations

from constrain.generation.progress import Progress, Stage, silent
from constrain.matcher import warmup

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

    Cost: of `constrain.warmup`.
    """
    stage: Stage = "kernels" if kernels_are_kept() else "compile"
    warmup(lambda done, total, what: progress(stage, done, total))
