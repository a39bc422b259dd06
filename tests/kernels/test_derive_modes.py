"""The kernels of terms and walks as plain Python, and with bounds checks: other modes, same tests.

The modes are chosen when numba is imported, so each runs in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = (
    "tests/algebra/test_store.py",
    "tests/kernels/test_walk.py::test_terms_that_capture",
    "tests/kernels/test_step.py",
    "tests/matcher/test_law.py::test_masks_of_regexes",
    "tests/automaton/test_masks.py::test_bounds_near_and_far",
    "tests/automaton/test_masks.py::test_states_that_let_all_plain_text_through",
)
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("mode", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_terms_and_walks_pass_their_tests_in_another_mode(mode, tmp_path):
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *TESTS],
        cwd=ROOT,
        env={**os.environ, mode: "1", "CONSTRAIN_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout
