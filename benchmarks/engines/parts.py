"""A batch split among threads, for engines that have no call of their own for that."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["in_threads", "part_bounds"]


def in_threads(
    fill_part: Callable[[int, int], object], rows: int, threads: int
) -> Callable[[], object]:
    """A call that fills every row, each thread a part of them.

    Args:
        fill_part: Called as fill_part(first, last) for a part of the rows.
        rows: How many rows there are.
        threads: 1 calls it for all of them, in this thread.
    """
    if threads == 1:
        return lambda: fill_part(0, rows)
    pool = ThreadPoolExecutor(threads)
    parts = part_bounds(rows, threads)
    all_here = threading.Barrier(threads)
    for started in [pool.submit(all_here.wait) for _ in range(threads)]:
        started.result()

    def fill() -> None:
        for done in [pool.submit(fill_part, *part) for part in parts]:
            done.result()

    return fill


def part_bounds(rows: int, parts: int) -> list[tuple[int, int]]:
    """Parts of almost the same size, as (first, past the last)."""
    cuts = [rows * part // parts for part in range(parts + 1)]
    return list(itertools.pairwise(cuts))
