"""Whole rows, host and device, against the slow reference: the same tokens, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from constrain.sampling import SamplingParams, reference  # noqa: E402 - after importorskip
from tests.sampling.rows import on_device, on_host, pack  # noqa: E402

MOST = float(np.finfo(np.float32).max)
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
PATHS = pytest.mark.parametrize("path", [on_host, on_device], ids=["host", "device"])


def by_reference(logits, params, allowed, uniforms, histories, prompts):
    tokens = []
    for row in range(len(logits)):
        scores = np.minimum(logits[row].float().numpy(), np.float32(MOST))
        edited = reference.edited_logits(
            scores, params[row], allowed[row], histories[row], prompts[row]
        )
        if np.isneginf(edited).all():
            tokens.append(-1)
        else:
            weights = reference.weights(edited, params[row])
            tokens.append(reference.draw(weights, uniforms[row]))
    return tokens


def unit_interval():
    return st.one_of(st.floats(0, 1, exclude_max=True), st.sampled_from([0.0, 0.5, 1 - 2.0**-53]))


def logit():
    return st.one_of(
        st.integers(-3, 3).map(float),
        st.floats(-30, 30, width=16),
        st.sampled_from([float("-inf"), float("inf"), MOST, -MOST, -0.0, 1e-45, -30_000.0]),
    )


def sampling_params(vocab_size):
    token = st.integers(0, vocab_size - 1)
    return st.builds(
        SamplingParams,
        temperature=st.one_of(st.sampled_from([0, 1, 1e-6, 1e6]), st.floats(0.05, 5)),
        top_k=st.one_of(st.just(0), st.integers(0, vocab_size + 2)),
        top_p=st.one_of(st.sampled_from([0, 1, 1e-9, 0.5]), st.floats(0, 1)),
        min_p=st.one_of(st.just(0), st.floats(0, 1)),
        repetition_penalty=st.one_of(st.just(1), st.floats(0.25, 4)),
        frequency_penalty=st.one_of(st.just(0), st.floats(-2, 2)),
        presence_penalty=st.one_of(st.just(0), st.floats(-2, 2)),
        logit_bias=st.none()
        | st.dictionaries(token, st.floats(-5, 5) | st.just(float("-inf")), max_size=3),
    )


@st.composite
def batches(draw):
    vocab_size = draw(st.integers(1, 70))
    rows = range(draw(st.integers(1, 4)))
    tokens = st.lists(st.integers(0, vocab_size - 1), max_size=5)

    def each(strategy):
        return [draw(strategy) for _ in rows]

    sizes = {"min_size": vocab_size, "max_size": vocab_size}
    return (
        torch.tensor(each(st.lists(logit(), **sizes)), dtype=torch.float32),
        each(sampling_params(vocab_size)),
        np.array(each(st.lists(st.booleans(), **sizes) | st.just([True] * vocab_size))),
        each(unit_interval()),
        each(tokens),
        each(tokens),
    )


@PATHS
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(batches())
def test_any_batch(path, batch):
    logits, params, allowed, uniforms, histories, prompts = batch
    expected = by_reference(logits, params, allowed, uniforms, histories, prompts)
    before = logits.clone()
    tokens = path(logits, params, pack(allowed), uniforms, histories, prompts)
    assert tokens == expected
    assert torch.equal(logits, before)
    for row, token in enumerate(tokens):
        assert token == -1 or allowed[row, token]


@PATHS
@pytest.mark.parametrize("shape", ["peaked", "flat", "tied"])
@pytest.mark.parametrize(
    "params",
    [
        SamplingParams(temperature=0),
        SamplingParams(temperature=0.7),
        SamplingParams(top_k=50),
        SamplingParams(top_p=0.9),
        SamplingParams(min_p=0.1),
        SamplingParams(temperature=2.0, top_k=300, top_p=0.95, min_p=0.01),
    ],
    ids=str,
)
def test_a_wide_row(path, shape, params):
    rng = np.random.default_rng(5)
    vocab_size = 5_003
    values = {
        "peaked": rng.standard_normal((3, vocab_size)) * 4,
        "flat": rng.standard_normal((3, vocab_size)) * 0.1,
        "tied": rng.integers(0, 4, (3, vocab_size)),
    }[shape]
    logits = torch.from_numpy(values.astype(np.float32))
    allowed = np.stack(
        [np.ones(vocab_size, bool), rng.random(vocab_size) < 0.5, rng.random(vocab_size) < 0.01]
    )
    arguments = [[params] * 3, [0.2, 0.999, 0.5], [[]] * 3, [[]] * 3]
    expected = by_reference(logits, arguments[0], allowed, *arguments[1:])
    assert path(logits, arguments[0], pack(allowed), *arguments[1:]) == expected


@PATHS
def test_without_a_bitmask(path):
    logits = torch.randn(4, 100, generator=torch.Generator().manual_seed(0))
    params = [SamplingParams(top_p=0.8)] * 4
    uniforms = [0.1, 0.4, 0.7, 0.99]
    expected = by_reference(logits, params, [None] * 4, uniforms, [[]] * 4, [[]] * 4)
    assert path(logits, params, None, uniforms, None, None) == expected
