"""The bound on how long a test may take."""

from __future__ import annotations

import signal

import pytest

from tests.patience import fails_after


@fails_after(0.01)
def hang():
    while True:
        pass


def test_what_hangs_fails():
    with pytest.raises(AssertionError, match=r"over 0\.01 s"):
        hang()


def test_nothing_is_left_of_a_bound():
    before = signal.getsignal(signal.SIGPROF)
    with fails_after(60):
        pass
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGPROF) is before
