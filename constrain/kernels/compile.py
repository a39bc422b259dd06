"""How kernels are compiled and kept: `entry` for what Python calls, `inner` for its parts.

numba compiles a function anew for each combination of argument types, and would do so for an int64,
an int32 read from the arena and each literal. `inner` makes every scalar an int64 first, so that a
part is compiled once: half the compile time. `parts` makes one whole of a kernel and its parts,
which halves it again. Where numba's internals have moved, parts are merely compiled more often.

Machine code is kept on disk in a folder named for the source of all kernels. numba itself looks
only at the file of the entry point, and would go on using the code of a part that has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types

from constrain.cache import cache_folder
from constrain.kernels.load import load_without_typing
from constrain.kernels.parts import part_options, whole_options

__all__ = ["entry", "inner", "kernel_folder", "wrapping"]


def inner(function: Callable[..., Any]) -> Any:
    """A part of a kernel: called only by compiled code, with arrays and integers."""
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **part_options()}
    dispatcher = numba.njit(**options)(function)
    resolve = getattr(dispatcher, "get_call_template", None)
    if resolve is None:  # plain Python: the JIT is off
        return dispatcher

    def resolve_as_int64(args: Any, kws: Any) -> Any:
        return resolve(
            tuple(
                types.int64 if isinstance(a, (types.Integer, types.Boolean)) else a for a in args
            ),
            kws,
        )

    dispatcher.get_call_template = resolve_as_int64
    return dispatcher


def wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    """A part that counts on integers to wrap around: no warning where it is plain Python."""
    return np.errstate(over="ignore")(function) if numba.config.DISABLE_JIT else function


def entry(function: Callable[..., Any]) -> Any:
    """A kernel that Python calls: kept on disk, and it releases the GIL."""
    # The folder is read from numba's setting when the decorator runs, and only then.
    setting = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_KERNEL_FOLDER)
    try:
        options = {"cache": True, "nogil": True, "no_cfunc_wrapper": True, **whole_options()}
        kernel = numba.njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = setting
    load_without_typing(kernel)
    return kernel


def kernel_folder() -> Path:
    """Where compiled kernels of this version are kept: below `constrain.cache.cache_folder`.

    A folder that cannot be written is no error: numba then keeps them beside the source, or in its
    own cache, or compiles them in each process.
    """
    return _KERNEL_FOLDER


def _fingerprint_of_sources() -> str:
    settings = (numba.__version__, numba.config.BOUNDSCHECK, numba.config.OPT)
    digest = hashlib.sha256(repr(settings).encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


_KERNEL_FOLDER = cache_folder() / "kernels" / _fingerprint_of_sources()
