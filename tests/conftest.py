"""Shared fixtures: where the test data lies, and the switches that kernels read when they are
imported.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The first example of a process may compile a kernel, so no example has a deadline. CI draws the
# same examples every time; elsewhere each run looks at new ones.
settings.register_profile("constrain", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("constrain")

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def _has_gpu() -> bool:
    return Path("/dev/nvidiactl").exists()


if not _has_gpu():
    # Triton kernels run on the CPU, as plain NumPy; it must be set before they are imported.
    os.environ.setdefault("TRITON_INTERPRET", "1")

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
requires_shared = pytest.mark.skipif(
    not SHARED.is_dir(),
    reason="the shared test data is absent: expected a folder 'shared' beside the repository",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that must see GPU hardware where there is none."""
    if _has_gpu():
        return
    skip = pytest.mark.skip(reason="needs an NVIDIA GPU, and none is visible")
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(skip)
