"""The warm-up compiles each kernel that Python calls for every combination of types it meets.

numba compiles another on the spot where an argument has another type (a read-only array is one), in
the middle of decoding, for seconds.
"""

from __future__ import annotations

import ast
import gc
import subprocess
import sys

import pytest

import constrain

CODE = """
import sys
import constrain
from constrain.automaton import headwalk
import importlib, pkgutil
import numpy as np
import torch
import constrain.kernels

for module in pkgutil.walk_packages(constrain.kernels.__path__, "constrain.kernels."):
    if module.name.rpartition(".")[2] not in ("gpu", "tensor", "device"):
        importlib.import_module(module.name)
kernels = {
    f"{kernel.__module__.removeprefix('constrain.kernels.')}.{kernel.__name__}": kernel
    for module in [m for name, m in sys.modules.items() if name.startswith("constrain.kernels")]
    for kernel in vars(module).values()
    if hasattr(kernel, "py_func") and not kernel.targetoptions.get("no_cpython_wrapper")
}

def counts():
    return {name: len(kernel.signatures) for name, kernel in sorted(kernels.items())}

told = []
constrain.warmup(lambda *step: told.append(step))
before = counts()
headwalk.LONG_WALK = headwalk.TEXT_WORTH = headwalk.WORTH = 0
vocab = constrain.Vocabulary([*(bytes([b]) for b in range(256)), b'a"', b'", "', None], [258])
bitmask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}}
for style in ("canonical", "any"):
    grammar = constrain.Grammar.from_json_schema(schema, style=style)
    assert grammar.accepts(b'{"a": "xyz"}')
    for _ in range(4):
        matcher = constrain.compile(grammar, vocab).matcher()
        for byte in b'{"a": "xyz", "b": 1}':
            matcher.fill_next_token_bitmask(bitmask)
            assert matcher.accept_token(byte)
for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
    for like in ("numpy", "torch"):
        allowed = constrain.allocate_token_bitmask(2, 80, like=like)
        constrain.apply_token_bitmask(torch.zeros(2, 80, dtype=dtype), allowed)
        constrain.apply_token_bitmask(torch.zeros(3, 99, dtype=dtype)[:, :80], allowed, rows=[2, 0])
allowed = constrain.allocate_token_bitmask(2, 80)
allowed[1] = 0
allowed.flags.writeable = False
try:
    constrain.apply_token_bitmask(np.zeros((2, 80), np.float32), allowed)
except constrain.DeadEndError:
    pass
for options in ({}, {"temperature": 0}, {"top_k": 3}, {"top_p": 0.5}, {"min_p": 0.1}):
    params = constrain.SamplingParams(seed=1, **options)
    for logits in (np.zeros((1, 80), np.float32), torch.zeros(1, 80, dtype=torch.bfloat16)):
        for bitmask in (None, allowed[:1]):
            constrain.Sampler().sample(logits, params, bitmask=bitmask, positions=[0])
assert counts() == before, counts()
assert [step[:2] for step in told] == [(i, len(told) - 1) for i in range(len(told))], told
print(before)
"""


def test_decoding_compiles_nothing_that_the_warm_up_did_not():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    compiled = ast.literal_eval(done.stdout)
    assert compiled["apply_bitmask.cpu.apply"] == 3
    assert {name for name, count in compiled.items() if count != 1} == {"apply_bitmask.cpu.apply"}


@pytest.mark.parametrize("collects", [True, False])
def test_warming_up_leaves_the_collector_as_it_was(collects, monkeypatch):
    monkeypatch.setattr(gc, "isenabled", lambda: collects)
    calls = []
    monkeypatch.setattr(gc, "disable", lambda: calls.append("disable"))
    monkeypatch.setattr(gc, "enable", lambda: calls.append("enable"))
    constrain.warmup()
    assert calls == ["disable", "enable"][: 1 + collects]
