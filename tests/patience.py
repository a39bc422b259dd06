"""A bound on how long something may take, for what would hang or grow out of proportion if wrong.

It is in processor time, ten times and more what the thing needs, so that a busy machine fails
nothing. What costs are in detail is counted in terms and states elsewhere.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def fails_after(seconds: float) -> Iterator[None]:
    """Fail in the middle of a block that takes more than so many seconds of processor time."""

    def fail(*_: object) -> None:
        raise AssertionError(f"it took over {seconds} s")

    before = signal.signal(signal.SIGPROF, fail)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
