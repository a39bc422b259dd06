"""The term kernels as plain Python, and with bounds checks: same tests, other modes.

The modes are chosen when numba is imported, so each runs in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("mode", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_the_store_passes_its_tests_in_another_mode(mode, tmp_path):
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "tests/algebra/test_store.py"],
        cwd=ROOT,
        env={**os.environ, mode: "1", "CONSTRAIN_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout
