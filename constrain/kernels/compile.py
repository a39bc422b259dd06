"""How kernels are compiled: `inner` for their parts, `entry` for what Python calls.

numba compiles a function anew for each combination of argument types, and would do so for an int64,
an int32 read from the arena and each literal. `inner` makes every scalar an int64 first, so each
part is compiled once: 26 s became the figure in `docs/design/kernels.md`. Where numba's internals
have moved, parts are merely compiled more often.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba import types

__all__ = ["entry", "inner"]


def inner(function: Callable[..., Any]) -> Any:
    """A part of a kernel: called only by compiled code, with arrays and integers."""
    dispatcher = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
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


entry = numba.njit(cache=True, nogil=True)
"""A kernel that Python calls: cached on disk, and it releases the GIL."""
