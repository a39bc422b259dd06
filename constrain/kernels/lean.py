"""What numba need not do for a kernel: passes for what none has, and to find the same type twice.

numba goes over each function in some twenty passes. Half look for what kernels never have:
closures, `with` blocks, `literally`, functions to be inlined as source, arithmetic of whole arrays.
None of them changes a kernel, and each costs a look at every statement, some the analysis of the
whole function.

And it asks for the type of every operation anew, trying one definition after another, of which most
refuse with a message that nobody reads. Kernels do the same few operations on the same few types
thousands of times, so the answers are remembered.

Cost: all kernels compile in some 17 s of processor time instead of 20, to machine code of the same
size (AMD EPYC, numba 0.68, 2026-11; tried with 0.61, too).

Where numba's internals have moved, it does all it does.
"""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["ask_once", "available", "without_needless_passes"]

try:
    from numba.core import types
    from numba.core.compiler_machinery import PassManager
    from numba.core.typing.context import BaseContext
except ImportError:
    available = False
else:
    available = hasattr(PassManager, "finalize") and hasattr(BaseContext, "resolve_function_type")

_NEEDLESS = frozenset(
    {
        "DumpParforDiagnostics",
        "FindLiterallyCalls",
        "InlineClosureLikes",
        "InlineInlinables",
        "InlineOverloads",
        "LiteralPropagationSubPipelinePass",
        "LiteralUnroll",
        "MakeFunctionToJitFunction",
        "NopythonRewrites",
        "RewriteDynamicRaises",
        "WithLifting",
    }
)
"""Passes by name. A kernel that needs one of them does not compile, or not to what is tested."""


def without_needless_passes(pipeline: Any) -> Any:
    """A pipeline of numba that goes over a function less often."""
    lean = PassManager(pipeline.pipeline_name)
    lean.passes = [step for step in pipeline.passes if step[0].__name__ not in _NEEDLESS]
    lean.finalize()
    return lean


@cache
def ask_once(typing_context: Any) -> Any:
    """A context for type inference that remembers the answers of another one."""
    return _Remembering(typing_context)


class _Remembering:
    """Stands for a typing context, and asks it only what it was not asked before."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._answers: dict[tuple[int, Any], tuple[Any, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """The signature of a call; a failure is asked for again, and raised by numba."""
        if kws or isinstance(function, types.Dispatcher):  # a part is compiled by being asked for
            return self._context.resolve_function_type(function, args, kws)
        # Each object that is a function holds how to lower what it was asked for, so an equal one
        # will not do; it is kept, so that its id is nobody else's.
        key = id(function), args
        known = self._answers.get(key)
        if known is None:
            signature = self._context.resolve_function_type(function, args, kws)
            if signature is None:
                return None
            known = self._answers[key] = function, signature
        return known[1]
