"""Kernels are compiled as one whole: the same numbers, and no machine code for their parts."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import pytest

from constrain.kernels import parts

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
def test_numba_as_it_comes_gives_the_same(tmp_path):
    ask(tmp_path, WITHOUT + ASK + COMPILED)
    ask(tmp_path, WITHOUT + ASK + LOADED)


@pytest.mark.parametrize("mode", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_other_modes_give_the_same(mode, tmp_path):
    ask(tmp_path, ASK, **{mode: "1"})
