"""Compile a kernel as one whole: its parts get no machine code of their own.

numba optimises and assembles every function by itself, together with all that it calls, before it
does the same for the caller: what lies n calls deep is optimised and assembled n times, and all but
the last are thrown away. Here a part only becomes LLVM IR. The kernel that Python calls takes in
the IR of all its parts, once each, and is optimised and assembled once.

Cost: the kernels of matching compile in 13 s of processor time instead of 25 s, to the same speed
(AMD EPYC, numba 0.68, 2026-11).

This derives from classes that numba does not promise to keep: `available` says whether they are
where they were (0.61 to 0.68). Kernels are then merely compiled more slowly.
"""

from __future__ import annotations

from typing import Any

from constrain.kernels import lean

__all__ = ["available", "part_options", "whole_options"]

try:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
except ImportError:
    available = False
else:
    available = all(
        hasattr(JITCodeLibrary, name)
        for name in (
            "_finalized",
            "_get_module_for_linking",
            "_raise_if_finalized",
            "add_linking_library",
            "codegen",
            "enable_object_caching",
            "finalize",
            "get_pointer_to_function",
        )
    )


def part_options() -> dict[str, Any]:
    """Options of `numba.njit` for what only compiled code calls; those of a whole have its IR."""
    return {"pipeline_class": _PartCompiler} if available else {}


def whole_options() -> dict[str, Any]:
    """Options of `numba.njit` for what Python calls."""
    return {"pipeline_class": _WholeCompiler} if available else {}


if available:

    class _NoMachineCode:
        """Stands for the code generator of a part: there is no address to write anything to."""

        def set_env(self, env_name: str, env: object) -> None:
            pass

    class _Part(JITCodeLibrary):  # type: ignore[misc]  # numba has no types
        """The IR of one function, neither optimised nor assembled; it knows what it calls."""

        def finalize(self) -> None:
            self._raise_if_finalized()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0

        @property
        def codegen(self) -> _NoMachineCode:
            return _NoMachineCode()

    class _Whole(JITCodeLibrary):  # type: ignore[misc]
        """A function with the IR of all that it calls, at any depth."""

        def add_linking_library(self, library: Any) -> None:
            todo = [library]
            while todo:
                library = todo.pop()
                if library not in self._linking_libraries:
                    super().add_linking_library(library)
                    if isinstance(library, _Part):
                        todo.extend(library._linking_libraries)

    class _LeanCompiler(Compiler):  # type: ignore[misc]
        library: type[JITCodeLibrary]

        def define_pipelines(self) -> Any:
            self.state.library = _library(self.library, self.state)
            pipelines = super().define_pipelines()
            if not lean.available:
                return pipelines
            self.state.typingctx = lean.ask_once(self.state.typingctx)
            return [lean.without_needless_passes(pipeline) for pipeline in pipelines]

    class _PartCompiler(_LeanCompiler):
        library = _Part

    class _WholeCompiler(_LeanCompiler):
        library = _Whole

    def _library(kind: Any, state: Any) -> Any:
        made = kind(state.targetctx.codegen(), state.func_id.func_qualname)
        # As numba does it: what is kept on disk is gathered from the start.
        made.enable_object_caching()
        return made
