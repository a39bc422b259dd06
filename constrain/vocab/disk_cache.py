r"""What follows from a vocabulary, kept on disk, so that the next process need not make it.

One file for each vocabulary and each thing, named after both, in a folder named after the source
of what makes it: other code never reads it. A file is a head (JSON: which arrays, how long), the
arrays end to end, and a check sum. It is written beside its place and moved there, so that it is
whole or absent, whoever else writes the same.

    constrain vocabulary\n | length of the head | head | arrays | CRC-32 of all before

A file that is damaged, or says what cannot be of this vocabulary, is removed and made again; a
folder that cannot be written or read is as good as none. Neither is an error: it is logged, by the
logger `constrain.vocab`, at level INFO. Together the files take up to `MAX_CACHE_BYTES`; those that
were not used for longest go.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import logging
import os
import struct
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from constrain.cache import cache_folder

__all__ = ["MAX_CACHE_BYTES", "MIN_TOKENS", "load_arrays", "path_of", "save_arrays"]

MIN_TOKENS = 8192
"""What follows from a smaller one is made in 15 ms; and tests have thousands of those."""
MAX_CACHE_BYTES = 512 << 20
"""A vocabulary of 150,000 tokens takes 10 MB, one of 256,000 takes 18."""
_MAX_FILE_BYTES = 1 << 28
"""More than the largest vocabulary that there can be; a larger file is none of ours."""
_MAGIC = b"constrain vocabulary\n"
_LENGTH = struct.Struct("<I")
_DTYPES: dict[str, np.dtype[Any]] = {"uint8": np.dtype(np.uint8), "int32": np.dtype("<i4")}
_LOG = logging.getLogger("constrain.vocab")

Arrays = dict[str, npt.NDArray[np.uint8] | npt.NDArray[np.int32]]


def path_of(fingerprint: str, name: str, sources: tuple[str, ...] = ()) -> Path:
    """Where something is kept; there need not be such a file.

    Args:
        fingerprint: Of the vocabulary.
        name: What is kept.
        sources: Files of the code that makes it, outside of this room.
    """
    folder = cache_folder() / "vocabularies" / _source_fingerprint(sources)
    return folder / f"{fingerprint}.{name}.arrays"


def load_arrays(path: Path) -> Arrays | None:
    """Read what `save_arrays` wrote; None if it is not there, or damaged.

    Returns:
        Read-only arrays, uint8 or int32, one-dimensional.

    Cost: the file is read once: 6 ms for 10 MB.
    """
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > _MAX_FILE_BYTES:
                raise ValueError("it is too long")
            content = file.read()
        arrays = _parse(content)
        with contextlib.suppress(OSError):
            os.utime(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        _LOG.info("cannot read what is kept at %s (%s); it is made anew", path, error)
        return None
    except (ValueError, KeyError, TypeError) as error:
        _LOG.info("what is kept at %s is damaged (%s); it is made anew", path, error)
        discard(path)
        return None
    return arrays


def save_arrays(path: Path, arrays: Mapping[str, npt.NDArray[np.uint8 | np.int32]]) -> bool:
    """Keep arrays for the next process.

    Args:
        path: From `path_of`. Its folder is made if need be.
        arrays: uint8 or int32, one-dimensional.

    Returns:
        Whether they are on disk now.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                check = 0
                for part in _parts(arrays):
                    check = zlib.crc32(part, check)
                    file.write(part)
                file.write(_LENGTH.pack(check))
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _make_room(path)
    except OSError as error:
        _LOG.info("cannot keep anything at %s (%s); the next process makes it anew", path, error)
        return False
    return True


def discard(path: Path) -> None:
    """Remove a file that is of no use."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def _parts(arrays: Mapping[str, npt.NDArray[np.uint8 | np.int32]]) -> list[bytes | memoryview]:
    # Wide numbers first, from a multiple of 8 on: what is read need not be moved to be aligned.
    ordered = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    head = json.dumps([[name, a.dtype.name, len(a)] for name, a in ordered]).encode()
    head += b" " * (-(len(_MAGIC) + _LENGTH.size + len(head)) % 8)
    bodies = [
        np.ascontiguousarray(a, _DTYPES[a.dtype.name]).data.cast("B") if len(a) else b""
        for _, a in ordered
    ]
    return [_MAGIC, _LENGTH.pack(len(head)), head, *bodies]


def _parse(content: bytes) -> Arrays:
    """The arrays of a file.

    Raises:
        ValueError: It is not as `save_arrays` writes it.
    """
    start = len(_MAGIC) + _LENGTH.size
    stop = len(content) - _LENGTH.size
    if stop < start or not content.startswith(_MAGIC):
        raise ValueError("it does not begin as it should")
    view = memoryview(content)
    if _LENGTH.unpack(view[stop:])[0] != zlib.crc32(view[:stop]):
        raise ValueError("its check sum is another")
    (length,) = _LENGTH.unpack(view[len(_MAGIC) : start])
    entries = json.loads(content[start : start + length])
    at = start + length
    arrays: Arrays = {}
    for name, dtype_name, size in entries:
        dtype = _DTYPES[dtype_name]
        # Aligned, and native: kernels take nothing else. It is a copy only where it is not so yet.
        found = np.frombuffer(content, dtype, size, at) if size else np.zeros(0, dtype)
        arrays[name] = np.require(found.astype(dtype.newbyteorder("="), copy=False), None, "A")
        arrays[name].flags.writeable = False
        at += size * dtype.itemsize
    if at != stop:
        raise ValueError("it has more than its head tells")
    return arrays


def _make_room(kept: Path) -> None:
    """Remove the files that were not used for longest, until what is left is small enough."""
    files = []
    for path in kept.parents[1].glob("*/*.arrays"):
        with contextlib.suppress(OSError):
            about = path.stat()
            files.append((about.st_mtime, about.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= MAX_CACHE_BYTES:
            break
        if path != kept:
            discard(path)
            total -= size


@functools.cache
def _source_fingerprint(sources: tuple[str, ...]) -> str:
    """Changes with the code that makes what is kept."""
    digest = hashlib.sha256(np.__version__.encode())
    for path in [*sorted(Path(__file__).parent.glob("*.py")), *map(Path, sources)]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
