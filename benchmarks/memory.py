"""Resident memory of this process, as the Linux kernel counts it."""

from __future__ import annotations

from pathlib import Path

__all__ = ["peak_mib", "reset_peak", "resident_mib"]

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


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
