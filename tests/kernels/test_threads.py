"""Work that threads share: each piece once, whoever does it, and no thread left at it."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from constrain.kernels.threads import share


@pytest.mark.parametrize("num_helpers", [0, 1, 3, 200])
@pytest.mark.parametrize("num_pieces", [0, 1, 2, 50])
def test_each_piece_is_done_once(num_pieces, num_helpers):
    done = []
    share(iter(range(num_pieces)), done.append, num_helpers)
    assert sorted(done) == list(range(num_pieces))


def test_others_work_at_the_same_time():
    meet = threading.Barrier(2)  # each piece waits for the other one
    share(iter([1, 2]), lambda _: meet.wait(timeout=60), 1)


def test_nobody_waits_for_a_thread_that_has_not_begun():
    busy, go_on = threading.Event(), threading.Event()
    num_threads = 2 * (os.cpu_count() or 1)

    def hold(_):
        busy.set()
        go_on.wait(timeout=60)

    holding = threading.Thread(target=share, args=(iter(range(num_threads)), hold, num_threads))
    holding.start()
    assert busy.wait(timeout=60)
    done = []
    try:
        share(iter(range(3)), done.append, 1)
        assert sorted(done) == [0, 1, 2]
    finally:
        go_on.set()
        holding.join(timeout=60)


def test_without_threads_to_be_had_the_caller_does_it_all(monkeypatch):
    def submit(pool, work):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit)
    done = []
    share(iter(range(5)), done.append, 3)
    assert done == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("num_helpers", [0, 1, 3])
def test_an_error_is_raised_once_no_thread_is_at_work(num_helpers):
    at_work = []

    def work(piece):
        at_work.append(piece)
        try:
            if piece % 10 == 3:
                raise ValueError(piece)
        finally:
            at_work.remove(piece)

    with pytest.raises(ValueError, match="3"):
        share(iter(range(40)), work, num_helpers)
    assert not at_work


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_process_has_threads_of_its_own():
    share(iter(range(8)), lambda _: None, 2)

    def child():
        meet = threading.Barrier(2)
        share(iter([1, 2]), lambda _: meet.wait(timeout=60), 1)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(timeout=120)
    assert process.exitcode == 0
