"""Kernels on disk: what cannot be read is compiled anew, what cannot be written is not kept."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numba
import pytest

from constrain.kernels import compile as kernel_compile

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

SOURCE = """
from constrain.kernels.compile import entry

@entry
def add(a, b):
    return a + b
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], ModuleType]:
    """What a process does that starts: it runs the source, and finds what others have kept."""
    monkeypatch.setattr(kernel_compile, "_KERNEL_FOLDER", tmp_path / "kept")
    source = tmp_path / "adding.py"
    source.write_text(SOURCE)

    def load() -> ModuleType:
        spec = importlib.util.spec_from_file_location("adding", source)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def kept(tmp_path: Path, suffix: str) -> list[Path]:
    return list((tmp_path / "kept").rglob(f"*{suffix}"))


def test_what_is_kept_is_loaded(load: Callable[[], ModuleType]) -> None:
    assert load().add(1, 2) == 3
    again = load()
    assert again.add(1, 2) == 3
    assert sum(again.add.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("content", [b"", b"no pickle", b"\x80\x04", b"\x80\x04N."])
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_file_is_as_if_it_were_not_there(
    load: Callable[[], ModuleType], tmp_path: Path, suffix: str, content: bytes
) -> None:
    load().add(1, 2)
    (damaged,) = kept(tmp_path, suffix)
    damaged.write_bytes(content)
    assert load().add(1, 2) == 3
    again = load()
    assert again.add(1, 2) == 3
    assert sum(again.add.stats.cache_hits.values()) == 1  # and it is kept anew


def test_a_full_disk_keeps_nothing(
    load: Callable[[], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.add._cache._cache_file, "save", full)
    assert module.add(1, 2) == 3
    assert kept(tmp_path, ".nbi") == []
