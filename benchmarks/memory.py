"""Resident memory of this process, as the Linux kernel counts it.

What was freed but not given back to the system would hide growth, so `give_back` comes before a
reading that others are compared with.
"""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path

__all__ = ["give_back", "peak_mib", "reset_peak", "resident_mib"]

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def give_back() -> None:
    """Collect garbage and return free memory to the system, where its C library can."""
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (OSError, AttributeError):
        return


def resident_mib() -> float | None:
    """Resident memory now, in MiB, or None where the system does not say."""
    return _field("VmRSS")


def peak_mib() -> float | None:
    """Highest resident memory since the last `reset_peak`, in MiB, or None."""
    return _field("VmHWM")


def reset_peak() -> None:
    """Start a new peak from what is resident now, where the system allows it."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return


def _field(name: str) -> float | None:
    if not _STATUS.exists():
        return None
    for line in _STATUS.read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    return None
