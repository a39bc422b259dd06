"""A kernel as plain Python, its parts too, where the JIT is on.

Parts have no machine code of their own, so plain Python cannot call them.
"""

from __future__ import annotations

import types

__all__ = ["plain_python"]


def plain_python(kernel):
    """The function that was compiled, and all that it calls as it was written."""
    function = getattr(kernel, "py_func", None)
    if function is None:
        return kernel
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if hasattr(names.get(name), "py_func"):
            names[name] = plain_python(names[name])
    return types.FunctionType(function.__code__, names, function.__name__)
