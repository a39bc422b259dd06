"""Every body of `kernels/sample` against the reference: bit by bit, floats included."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from constrain.kernels import sample
from constrain.kernels.sample import ONE, cpu, reference
from tests.kernels.plain_python import plain_python

torch = pytest.importorskip("torch")
from constrain.kernels.sample import device  # noqa: E402 - it imports torch

SIZES = [1, 2, 31, 33, 255, 256, 257, 4099]
F = np.float32
MOST = np.finfo(np.float32).max


def score_rows(size):
    """Rows of scores without NaN and +inf, not all -inf, each nasty in its own way."""
    rng = np.random.default_rng(size)
    bits = rng.integers(-(2**31), 2**31, size).astype(np.int32).view(F)
    yield rng.standard_normal(size).astype(F) * 4
    yield rng.integers(-2, 3, size).astype(F)  # ties
    yield np.zeros(size, dtype=F)
    yield np.where(rng.random(size) < 0.5, F(-0.0), F(0.0))  # ties as well
    yield np.where(np.isfinite(bits), bits, F(-np.inf)).astype(F)  # any float there is
    yield np.where(rng.random(size) < 0.9, F(-np.inf), F(1.5))
    yield np.linspace(-1e-6, 1e-6, size, dtype=F)
    yield np.array([MOST, -MOST] * size, dtype=F)[:size]


ROWS = [
    (size, row) for size in SIZES for row in map(np.array, score_rows(size)) if row.max() > -np.inf
]
ROW_IDS = [f"{size}-{i}" for i, (size, _) in enumerate(ROWS)]
TEMPERATURES = [F(1), F(0.3), F(1e-6), F(1e6), F(np.finfo(F).tiny), MOST]
each_row = pytest.mark.parametrize(("size", "scores"), ROWS, ids=ROW_IDS)
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def test_bit_position_of_every_power_of_two():
    assert [plain_python(cpu._bit_position)(1 << i) for i in range(32)] == list(range(32))


@each_row
def test_weigh(size, scores):
    for temperature in TEMPERATURES:
        top = scores.max()
        expected, expected_total = reference.weigh(scores, top, temperature)
        weights, total = sample.weigh(scores, top, temperature, sample.Workspace(size))
        assert np.array_equal(weights, expected)
        assert total == expected_total
        on_device = device.weigh(
            torch.from_numpy(scores)[None], torch.tensor([top]), torch.tensor([temperature])
        )
        assert np.array_equal(on_device[0].numpy(), expected)
    if size <= 257:
        plain = np.full(size, -1, dtype=np.int64)
        assert plain_python(cpu.weigh)(scores, top, temperature, plain) == expected_total
        assert np.array_equal(plain, expected)


def test_a_weight_is_the_exponential():
    below = np.linspace(0, 28.5, 100_001, dtype=F)
    weights, _ = sample.weigh(-below, F(0), F(1), sample.Workspace(len(below)))
    assert weights[0] == ONE
    assert (weights[below >= 28] == 0).all()
    assert (np.diff(weights) <= ONE * 2.0**-22).all()
    for depth, weight in zip(below.tolist(), weights.tolist(), strict=True):
        exact = ONE * math.exp(-depth)
        assert abs(weight - exact) <= exact * 2.0**-22 + 1


@each_row
def test_keep_top_by_count(size, scores):
    for count in {1, 2, size // 2 + 1, size - 1 or 1, size, size + 7}:
        expected = reference.keep_top(scores, None, count)
        assert len(expected) == min(count, size)
        assert np.array_equal(
            sample.keep_top(scores, None, count, sample.Workspace(size)), expected
        )
        if size <= 257:
            kept = np.empty(size, dtype=np.int32)
            num_kept = plain_python(cpu.keep_top)(
                scores, np.empty(0, np.int64), count, kept, kept.copy()
            )
            assert np.array_equal(kept[:num_kept], expected)


@each_row
def test_keep_top_by_mass(size, scores):
    weights, total = reference.weigh(scores, scores.max(), F(1))
    for target in {1, total // 10 + 1, total // 2 + 1, total - 1, total, total + 1}:
        expected = reference.keep_top(scores, weights, target)
        actual = sample.keep_top(scores, weights, target, sample.Workspace(size))
        assert np.array_equal(actual, expected)
        assert weights[actual].sum() >= min(target, total)
        if size <= 257:
            kept = np.empty(size, dtype=np.int32)
            num_kept = plain_python(cpu.keep_top)(scores, weights, target, kept, kept.copy())
            assert np.array_equal(kept[:num_kept], expected)


@each_row
def test_pick(size, scores):
    weights, total = reference.weigh(scores, scores.max(), F(1))
    for target in {0, 1, total // 3, total // 2, total - 1}:
        expected = reference.pick(weights, target)
        assert sample.pick(weights, target) == expected
        assert plain_python(cpu.pick)(weights, target) == expected
        assert weights[expected] > 0


@pytest.mark.parametrize("num_words", [1, 2, 129])
@pytest.mark.parametrize("vocab_size", [1, 31, 32, 33, 64, 4099])
def test_gather(vocab_size, num_words):
    rng = np.random.default_rng(vocab_size)
    logits = rng.standard_normal(vocab_size).astype(F)
    for bitmask in (
        rng.integers(-(2**31), 2**31, num_words).astype(np.int32),
        np.zeros(num_words, dtype=np.int32),
        np.full(num_words, -1, dtype=np.int32),
    ):
        expected_ids, expected_scores = reference.gather(logits, bitmask)
        ids, scores = sample.gather(logits, bitmask, sample.Workspace(vocab_size))
        assert np.array_equal(ids, expected_ids)
        assert np.array_equal(scores, expected_scores)
        assert sample.count_allowed(bitmask, vocab_size) == len(expected_ids)
        assert plain_python(cpu.count_allowed)(bitmask, vocab_size) == len(expected_ids)
        plain = np.empty(len(ids), dtype=np.int32), np.empty(len(ids), dtype=F)
        assert plain_python(cpu.gather)(logits, bitmask, *plain) == len(expected_ids)
        assert np.array_equal(plain[0], expected_ids)
        assert np.array_equal(plain[1], expected_scores)


def test_a_batch_on_the_device_is_its_rows_on_the_cpu():
    size = 257
    scores = np.stack([row for row in score_rows(size) if row.max() > -np.inf])
    batch = len(scores)
    top = scores.max(axis=1)
    top_k = np.array([1, 5, 257, 100, 3, 257, 257, 40])[:batch]
    top_p = np.array([1.0, 0.5, 0.9, 0.3, 1e-12, 0.99, 1.0, 0.7])[:batch]
    min_weight = np.array([0, 0, 0, ONE // 2, 0, 5, ONE, ONE // 10])[:batch]
    uniform = np.array([0.0, 0.99, 0.5, 1 - 2**-53, 0.3, 0.7, 0.1, 0.2])[:batch]
    temperature = torch.ones(batch)
    scores_t = torch.from_numpy(scores)
    weights = device.weigh(scores_t, torch.from_numpy(top), temperature)
    weights = device.truncate(
        weights,
        scores_t,
        torch.from_numpy(top_k),
        torch.from_numpy(top_p),
        torch.from_numpy(min_weight),
        ordered=True,
    )
    drawn = device.draw(weights, torch.from_numpy(uniform))
    for row in range(batch):
        kept = reference.keep_top(scores[row], None, int(top_k[row]))
        expected = np.zeros(size, dtype=np.int64)
        expected[kept] = reference.weigh(scores[row], top[row], F(1))[0][kept]
        if top_p[row] < 1:
            target = max(math.ceil(top_p[row] * float(expected.sum())), 1)
            inside = np.isin(np.arange(size), kept)
            order = np.where(inside, scores[row], F(-np.inf))
            nucleus = reference.keep_top(order, expected, target)
            expected[~np.isin(np.arange(size), nucleus)] = 0
        expected[expected < min_weight[row]] = 0
        assert np.array_equal(weights[row].numpy(), expected)
        target = min(int(uniform[row] * float(expected.sum())), int(expected.sum()) - 1)
        assert drawn[row] == reference.pick(expected, target)
    assert device.lowest_best(scores_t, torch.from_numpy(top)).tolist() == scores.argmax(1).tolist()


def test_without_the_jit_in_a_process_of_its_own():
    program = (
        "import numpy as np\n"
        "from constrain.kernels import sample\n"
        "from constrain.kernels.sample import cpu, reference\n"
        "assert not hasattr(cpu.weigh, 'py_func')\n"
        "scores = np.random.default_rng(0).standard_normal(70).astype(np.float32)\n"
        "space = sample.Workspace(70)\n"
        "weights, total = sample.weigh(scores, scores.max(), np.float32(0.7), space)\n"
        "expected, _ = reference.weigh(scores, scores.max(), np.float32(0.7))\n"
        "assert np.array_equal(weights, expected)\n"
        "kept = sample.keep_top(scores, weights, total // 2, space)\n"
        "assert np.array_equal(kept, reference.keep_top(scores, weights, total // 2))\n"
        "assert sample.pick(weights, total // 2) == reference.pick(weights, total // 2)\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run(
        [sys.executable, "-W", "error", "-c", program], check=True, env=environment, timeout=120
    )
