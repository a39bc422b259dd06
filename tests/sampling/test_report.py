"""Log-probabilities and diagnostics, against their definitions in float64."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.sampling import Sampler, SamplingParams
from tests.sampling.rows import bitmask_of

GREEDY = SamplingParams(temperature=0)
INF = float("inf")


def reported(logits, params=GREEDY, allowed=None, **arguments):
    logits = np.array([logits], dtype=np.float32)
    bitmask = None if allowed is None else bitmask_of([allowed], logits.shape[1])
    output = Sampler().sample(logits, params, bitmask, diagnostics=True, **arguments)
    return output.token_ids[0], output.reports[0]


def test_only_rows_that_ask_are_reported():
    logits = np.zeros((2, 3), np.float32)
    params = [GREEDY, SamplingParams(temperature=0, logprobs=0)]
    reports = Sampler().sample(logits, params).reports
    assert reports[0] is None
    assert reports[1].top_logprobs == ()
    assert None not in Sampler().sample(logits, params, diagnostics=True).reports


def test_a_forced_token_is_certain_under_the_mask_and_not_without_it():
    token, report = reported([2.0, 1.0, 0.0], SamplingParams(logprobs=3), allowed=[1])
    assert token == 1
    assert report.logprob == 0
    assert report.raw_logprob == pytest.approx(-1.4076059644443804)
    assert report.top_logprobs == ((1, 0.0),)
    assert report.entropy == 0
    assert report.masked_mass == pytest.approx(1 - np.exp(-1.4076059644443804))


def test_nothing_masked():
    _, report = reported([0.0, 0.0, 0.0, 0.0])
    assert report.logprob == report.raw_logprob == pytest.approx(-np.log(4))
    assert report.entropy == pytest.approx(np.log(4))
    assert report.masked_mass == 0


def test_alternatives_are_sorted_and_ties_go_to_the_lower_id():
    _, report = reported([1.0, 3.0, 1.0, 2.0, -INF], SamplingParams(logprobs=10))
    assert [token for token, _ in report.top_logprobs] == [1, 3, 0, 2]
    assert len(reported([1.0, 3.0, 1.0, 2.0], SamplingParams(logprobs=3))[1].top_logprobs) == 3


def test_temperature_penalties_and_truncation_do_not_enter():
    plain = reported([1.0, 2.0, 3.0])[1]
    params = SamplingParams(temperature=0.1, top_k=1, frequency_penalty=0.5, logit_bias={0: -1.0})
    assert reported([1.0, 2.0, 3.0], params, histories=[[1]]) == (2, plain)


def test_a_ban_counts_as_a_mask():
    token, report = reported([1.0, 2.0, 1.0], SamplingParams(logprobs=3, logit_bias={1: -INF}))
    assert token in (0, 2)
    assert report.logprob == pytest.approx(-np.log(2))
    assert report.masked_mass == pytest.approx(np.e / (np.e + 2))
    assert {token for token, _ in report.top_logprobs} == {0, 2}


def test_a_failed_row_has_no_report():
    bitmask = bitmask_of([[], [0]], 2)
    output = Sampler().sample(
        np.zeros((2, 2), np.float32), GREEDY, bitmask, diagnostics=True, on_error="return"
    )
    assert [report is None for report in output.reports] == [True, False]


logits_and_allowed = st.lists(
    st.tuples(
        st.one_of(
            st.floats(-60, 60, width=32),
            st.sampled_from([-INF, INF, float(np.finfo(np.float32).max), -1e30]),
        ),
        st.booleans(),
    ),
    min_size=1,
    max_size=40,
)


@given(logits_and_allowed)
def test_any_row_against_the_definitions(pairs):
    logits = np.array([logit for logit, _ in pairs])
    allowed = np.array([bit for _, bit in pairs]) & (logits > -INF)
    if not allowed.any():
        allowed[0], logits[0] = True, 0.0
    token, report = reported(
        logits, SamplingParams(temperature=0, logprobs=4), np.flatnonzero(allowed)
    )
    finite = np.minimum(logits, np.float64(np.finfo(np.float32).max))
    raw = np.exp(finite - finite.max())
    raw /= raw.sum()
    masked = np.where(allowed, np.exp(np.minimum(finite - finite[allowed].max(), 0)), 0)
    masked /= masked.sum()
    assert report.logprob == pytest.approx(np.log(masked[token]), abs=1e-5)
    if raw[token] > 0:
        assert report.raw_logprob == pytest.approx(np.log(raw[token]), rel=1e-5, abs=1e-5)
    positive = masked[masked > 0]
    assert report.entropy == pytest.approx(-(positive * np.log(positive)).sum(), abs=1e-4)
    assert report.masked_mass == pytest.approx(raw[~allowed].sum(), abs=1e-6)
    best = sorted(np.flatnonzero(allowed), key=lambda i: (-np.float32(finite[i]), i))[:4]
    assert [token for token, _ in report.top_logprobs] == best
    assert json.loads(json.dumps(asdict(report), allow_nan=False))["logprob"] == report.logprob
