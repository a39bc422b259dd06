"""Masks for a whole batch in one call.

Rows that are remembered, which after a while are nearly all, cost a look-up each and one copy of
all. The others are made first: one after another, or by threads, those of one grammar by one
thread, since its automaton has one lock.

When threads help: a row is made by kernels, which release the GIL, and by Python, which does not.
Rows that are long walks of the vocabulary (the middle of a pattern, the first string) are nearly
all kernel: 16 patterns on two free cores took 1/1.74 of the time with two threads. Where rows take
some ten microseconds each, as most rows of JSON do, handing over the GIL costs more than the other
thread saves: 64 tools on two cores took 1.4 times as long with two threads as with one. So the
others join in once rows have turned out to be long.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from constrain.automaton import MaskRow
from constrain.errors import MatchError, SamplingError
from constrain.matcher.bitmask import as_numpy_bitmask
from constrain.matcher.matcher import Matcher, RowMaker, remembered_rows, row_makers

if TYPE_CHECKING:
    import torch

__all__ = ["fill_next_token_bitmasks"]

_LONG_S: Final = 0.001
_LONG_ROW_S: Final = 0.00025
"""What rows must have taken so far, together and on average, for other threads to join in."""
Int32Array = npt.NDArray[np.int32]


def fill_next_token_bitmasks(
    matchers: Sequence[Matcher | None],
    bitmask: npt.NDArray[np.int32] | torch.Tensor,
    *,
    workers: int = 1,
) -> None:
    """Write which tokens may come next for each row of a batch.

    Args:
        matchers: One a row. None leaves its row as it is: all ones from `allocate_token_bitmask`,
            as an unconstrained request needs, or the mask of another request that had this row
            before. Where a bitmask is kept between steps, set `bitmask[row] = -1` then.
        bitmask: int32 [>= len(matchers), words], NumPy or torch CPU. Mutated; bits past a
            matcher's vocab_size are 0.
        workers: How many threads may make rows that were not visited before, this one included. The
            others join in only where such rows take long (the first in a string, say) and belong to
            several grammars, since those of one grammar are made by one thread. Threads are kept
            for later calls.

    Raises:
        MatchError: A sequence has ended or met a dead end; the message names its row, the first if
            there are several. Nothing was written.
        SamplingError: The bitmask has the wrong type, dtype or shape, or workers is below 1.
            Nothing was written.
        TypeError: matchers is no list of matchers.

    Cost: for rows visited before a look-up each, 0.2 us, and the copy. For others that of
    `Matcher.fill_next_token_bitmask`; two workers save up to two fifths of it.
    """
    words = as_numpy_bitmask(bitmask)
    try:
        num_rows = len(matchers)
    except TypeError:
        raise TypeError(
            f"matchers is a list with one for each row, not {type(matchers).__name__}\n"
            "hint: for a single one there is matcher.fill_next_token_bitmask(bitmask)"
        ) from None
    if words.ndim != 2 or words.shape[0] < num_rows:
        raise SamplingError(
            f"the bitmask has shape {tuple(words.shape)}, and {num_rows} matchers need as "
            "many rows\n"
            "hint: make it with constrain.allocate_token_bitmask(len(matchers), vocab_size)"
        )
    if workers < 1:
        raise SamplingError(f"workers={workers!r}: this thread is one of them, so at least 1")
    found, missing = remembered_rows(matchers, words)
    if missing:
        for row, made in _make_rows(row_makers(missing), workers).items():
            found[row] = made.words
    _copy_rows(found, words)


def _copy_rows(rows: list[Int32Array], words: Int32Array) -> None:
    """Write each row into its place; one that is in its place stays."""
    width = words.shape[1]
    if not rows:
        return
    sizes = set(map(len, rows))
    if words.flags.c_contiguous and sizes == {width}:
        np.concatenate(rows, out=words[: len(rows)].reshape(-1))
        return
    widest = max(sizes)
    if widest > width:
        raise SamplingError(
            f"the bitmask has {width} words a row, and a vocabulary here needs {widest}\n"
            "hint: make it with constrain.allocate_token_bitmask(batch, vocab.vocab_size)"
        )
    for target, row in zip(words, rows, strict=False):
        target[: row.size] = row
        target[row.size :] = 0


def _make_rows(groups: Sequence[Sequence[RowMaker]], workers: int) -> dict[int, MaskRow]:
    """The rows of matchers, by row of the batch; a group is made by one thread.

    Raises:
        MatchError: A sequence has ended or met a dead end.
    """
    made: dict[int, MaskRow] = {}
    failed: dict[int, Exception] = {}
    todo = iter(groups)

    def make(group: Sequence[RowMaker]) -> None:
        for row, make_row in group:
            try:
                made[row] = make_row()
            except Exception as error:
                failed[row] = error

    def work() -> None:
        for group in todo:
            make(group)

    running: list[Future[None]] = []
    if workers > 1:
        began = perf_counter()
        for number, group in enumerate(todo, 1):
            make(group)
            spent = perf_counter() - began
            if spent > _LONG_S and spent > number * _LONG_ROW_S:
                helpers = min(workers, len(groups) - number) - 1
                pool = _pool(os.getpid(), workers - 1)
                running = [pool.submit(work) for _ in range(helpers)]
                break
    work()
    for task in running:
        task.result()
    if failed:
        row = min(failed)
        error = failed[row]
        if isinstance(error, MatchError):
            raise type(error)(f"row {row}: {error}") from error
        raise error
    return made


@lru_cache(maxsize=1)
def _pool(process: int, size: int) -> ThreadPoolExecutor:
    """Threads of this process; those of another size end when nothing runs in them any more."""
    return ThreadPoolExecutor(size, thread_name_prefix="constrain-rows")
