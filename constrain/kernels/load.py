"""Load a kernel from disk without what only compiling one needs.

Before numba looks into its cache it makes ready to compile: it imports the typing and the lowering
of NumPy, of random numbers, of linear algebra. That is most of what loading a kernel costs, 0.1 s
in each process (AMD EPYC, numba 0.68, 2026-11). A kernel that is on disk is machine code, and needs
only the runtime that counts references. Where one has to be compiled after all, numba makes ready
then.

A file that is damaged, as a machine that stops may leave it, or a disk that is full, is as if
nothing was kept: numba would raise what reading or writing the file raises, in every process.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

__all__ = ["load_without_typing"]

try:
    from numba.core.runtime import rtsys
except ImportError:
    rtsys = None


def load_without_typing(kernel: Any) -> None:
    """Change how a kernel is loaded; leaves it as it is where numba's internals have moved."""
    cache: Any = getattr(kernel, "_cache", None)
    needed = ("_load_overload", "_save_overload", "_guard_against_spurious_io_errors", "flush")
    if not all(hasattr(cache, name) for name in needed) or not hasattr(rtsys, "initialize"):
        return

    def load_overload(sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        try:
            with cache._guard_against_spurious_io_errors():
                return cache._load_overload(sig, target_context)
        except Exception:  # what is damaged may raise anything when it is unpickled
            with suppress(OSError):
                cache.flush()  # else the index is read again, to save what is compiled now
            return None

    def save_overload(sig: Any, compiled: Any) -> None:
        with suppress(OSError), cache._guard_against_spurious_io_errors():
            cache._save_overload(sig, compiled)

    cache.load_overload = load_overload
    cache.save_overload = save_overload
