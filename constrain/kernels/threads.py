"""Work on the rows of a batch that other threads may join in.

Kernels release the GIL, so where a piece of work is long and nearly all kernel, as many cores work
at it as there are threads. Nobody waits for a thread that has not begun: on a machine whose other
cores are busy the caller does it all, as if it were alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import TypeVar

__all__ = ["share"]

T = TypeVar("T")


def share(pieces: Iterator[T], work: Callable[[T], None], num_helpers: int) -> None:
    """Do some work for each piece, in this thread and others; each takes the next one.

    Args:
        pieces: What nobody has taken yet: an iterator that threads may share, as that of a list.
        work: Called with each piece, by any thread.
        num_helpers: How many other threads may join in. They are kept for later calls.

    Raises:
        Exception: What `work` has raised, once no thread is at work any more. The other pieces may
            be done or not.
    """

    def take() -> None:
        for piece in pieces:
            work(piece)

    tasks: list[Future[None]] = []
    try:
        # A system out of threads, or a process that is about to end, has none to give.
        with suppress(RuntimeError):
            for _ in range(num_helpers):
                tasks.append(_pool(os.getpid()).submit(take))
        take()
    finally:
        # One that has not begun finds nothing left to do.
        begun = [task for task in tasks if not task.cancel()]
        errors = [task.exception() for task in begun]
    for error in errors:
        if error is not None:
            raise error


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of this process, begun as they are asked for; a fork has none of its parent's."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="constrain")
