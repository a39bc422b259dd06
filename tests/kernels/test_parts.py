"""Kernels are compiled as one whole: the same numbers, and no machine code for their parts."""

from __future__ import annotations

import operator
import os
import subprocess
import sys

import numba
import pytest
from numba.core import types
from numba.core.compiler import DefaultPassBuilder, Flags, StateDict

from constrain.kernels import lean, parts

SOURCE = """
from constrain.kernels.compile import entry, inner

@inner
def twice(x):
    return 2 * x

@inner
def sum_of_doubles(values, start):
    total = start
    for i in range(len(values)):
        total += twice(values[i])
    return total

@inner
def down(values, at):
    return sum_of_doubles(values[at:], 0) + sum_of_doubles(values[:at], 1)

@entry
def both(values, at):
    return down(values, at) + twice(at)
"""
ASK = """
import numpy as np
from kernel_under_test import both, down, sum_of_doubles, twice
assert both(np.arange(5, dtype=np.int32), 2) == 25, both(np.arange(5, dtype=np.int32), 2)
"""
LOADED = "assert sum(both.stats.cache_hits.values()) == 1 and not both.stats.cache_misses\n"
COMPILED = "assert not both.stats.cache_hits and sum(both.stats.cache_misses.values()) == 1\n"
WATCH = """
from numba.core.codegen import JITCodeLibrary
assembled, assemble = [], JITCodeLibrary._finalize_specific

def watched(library):
    assembled.append(library.name)
    assemble(library)

JITCodeLibrary._finalize_specific = watched
"""
ONLY_THE_KERNEL = """
assert down.signatures and sum_of_doubles.signatures and twice.signatures
assert {"both", "down", "sum_of_doubles", "twice"} & set(assembled) == {"both"}, assembled
"""
WITHOUT = "from constrain.kernels import parts; parts.available = False\n"
WITH_ALL_PASSES = "from constrain.kernels import lean; lean.available = False\n"

STATE = StateDict(func_ir=None, flags=Flags())
"""What numba makes a list of passes for."""

needs_jit = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="the JIT is off")


def ask(folder, code, **environment):
    (folder / "kernel_under_test.py").write_text(SOURCE)
    path = os.pathsep.join([str(folder), *sys.path])
    environment = {"CONSTRAIN_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": path} | environment
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


@needs_jit
def test_numba_has_what_this_needs():
    assert parts.available
    assert lean.available


@needs_jit
def test_a_kernel_is_compiled_once_and_then_loaded(tmp_path):
    ask(tmp_path, ASK + COMPILED)
    ask(tmp_path, ASK + LOADED)


@needs_jit
def test_what_is_loaded_needs_nothing_to_compile_with(tmp_path):
    unready = "import sys\nassert 'numba.np.linalg' not in sys.modules\n"
    ask(tmp_path, ASK + COMPILED)
    ask(tmp_path, ASK + LOADED + unready)


@needs_jit
def test_another_type_is_compiled_after_one_was_loaded(tmp_path):
    another = "assert both(np.arange(5, dtype=np.int64), 2) == 25 and len(both.signatures) == 2\n"
    ask(tmp_path, ASK)
    ask(tmp_path, ASK + LOADED + another)


@needs_jit
def test_parts_have_no_machine_code(tmp_path):
    ask(tmp_path, WATCH + ASK + ONLY_THE_KERNEL)


@needs_jit
@pytest.mark.parametrize("without", [WITHOUT, WITH_ALL_PASSES])
def test_numba_as_it_comes_gives_the_same(without, tmp_path):
    ask(tmp_path, without + ASK + COMPILED)
    ask(tmp_path, without + ASK + LOADED)


@needs_jit
def test_the_passes_left_out_are_ones_that_numba_has():
    passes = {
        step.__name__ for step, _ in DefaultPassBuilder.define_nopython_pipeline(STATE).passes
    }
    assert lean._NEEDLESS < passes


@needs_jit
def test_an_answer_is_remembered_for_one_function_and_its_types():
    asked = []

    class Context:
        callstack = "as it is"

        def resolve_function_type(self, function, args, kws):
            asked.append((function, args, kws))
            return None if function == "fails" else len(asked)

    context = lean.ask_once(Context())
    assert context.callstack == "as it is"
    answers = [
        context.resolve_function_type(function, args, kws)
        for function, args, kws in [
            (operator.add, (types.int64, types.int64), {}),
            (operator.add, (types.int64, types.int64), {}),
            (operator.add, (types.int64, types.int32), {}),
            (operator.sub, (types.int64, types.int64), {}),
            (operator.sub, (types.int64, types.int64), {"kw": types.int64}),
            (operator.sub, (types.int64, types.int64), {"kw": types.int64}),
            ("fails", (), {}),
            ("fails", (), {}),
            (operator.sub, (types.int64, types.int64), {}),
        ]
    ]
    assert answers == [1, 1, 2, 3, 4, 5, None, None, 3]


@pytest.mark.parametrize("mode", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_other_modes_give_the_same(mode, tmp_path):
    ask(tmp_path, ASK, **{mode: "1"})
