"""`SamplingParams`: what is accepted, what is refused and how the refusal reads."""

from __future__ import annotations

import dataclasses
import math
import pickle

import numpy as np
import pytest

from constrain.errors import SamplingError
from constrain.sampling import SamplingParams


def test_the_defaults_sample_from_the_model():
    params = SamplingParams()
    assert dataclasses.asdict(params) == {
        "temperature": 1.0,
        "top_p": 1.0,
        "top_k": 0,
        "min_p": 0.0,
        "seed": None,
        "repetition_penalty": 1.0,
        "frequency_penalty": 0.0,
        "presence_penalty": 0.0,
        "logit_bias": None,
        "logprobs": None,
    }
    assert [params.is_greedy, params.truncates, params.edits] == [False] * 3


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("temperature", -0.1, "a finite number >= 0"),
        ("temperature", math.nan, "a finite number >= 0"),
        ("temperature", math.inf, "a finite number >= 0"),
        ("temperature", "1", "a finite number >= 0"),
        ("temperature", True, "a finite number >= 0"),
        ("temperature", None, "a finite number >= 0"),
        ("temperature", 10**400, "a finite number >= 0"),
        ("top_p", 1.0001, "a number from 0 to 1"),
        ("top_p", -0.5, "a number from 0 to 1"),
        ("min_p", 2, "a number from 0 to 1"),
        ("top_k", -1, "an integer >= 0"),
        ("top_k", 2.0, "an integer >= 0"),
        ("top_k", True, "an integer >= 0"),
        ("seed", -1, r"None, or an integer from 0 to 2\^64 - 1"),
        ("seed", 2**64, r"None, or an integer from 0 to 2\^64 - 1"),
        ("seed", 1.5, r"None, or an integer"),
        ("seed", int, r"None, or an integer"),
        ("repetition_penalty", 0, "a finite number > 0"),
        ("repetition_penalty", -1, "a finite number > 0"),
        ("frequency_penalty", math.inf, "a finite number"),
        ("presence_penalty", math.nan, "a finite number"),
        ("logprobs", -1, "None, or an integer >= 0"),
        ("logprobs", False, "None, or an integer >= 0"),
        ("logit_bias", [1], "None, or a mapping"),
    ],
)
def test_a_refusal_names_field_value_and_range(field, value, wanted):
    with pytest.raises(SamplingError, match=f"^{field}=.*{wanted}.* was expected") as caught:
        SamplingParams(**{field: value})
    assert repr(value)[:60] in str(caught.value)


@pytest.mark.parametrize(
    ("bias", "message"),
    [
        ({-1: 0.0}, "logit_bias has the key -1: a token id >= 0"),
        ({"2": 1.0}, r"logit_bias has the key '2'.*\nhint: JSON has keys of text: \{int\(key\)"),
        ({True: 1.0}, "logit_bias has the key True"),
        ({3: math.nan}, r"logit_bias\[3\]=nan"),
        ({3: math.inf}, r"logit_bias\[3\]=inf: a finite number, or -inf to ban the id"),
        ({3: "x"}, r"logit_bias\[3\]='x'"),
    ],
)
def test_a_bias_that_means_nothing_is_refused(bias, message):
    with pytest.raises(SamplingError, match=message):
        SamplingParams(logit_bias=bias)


def test_numbers_of_numpy_become_plain_numbers():
    params = SamplingParams(
        temperature=np.float32(0.5), top_k=np.int64(3), logit_bias={np.int32(7): np.float64(-2)}
    )
    assert (type(params.temperature), type(params.top_k)) == (float, int)
    assert params.logit_bias == {7: -2.0}


def test_params_are_values():
    bias = {1: -math.inf}
    params = SamplingParams(seed=3, logit_bias=bias)
    bias[2] = 1.0
    assert params.logit_bias == {1: -math.inf}
    assert params == SamplingParams(seed=3, logit_bias={1: -math.inf})
    assert hash(params) == hash(SamplingParams(seed=3))
    assert pickle.loads(pickle.dumps(params)) == params
    with pytest.raises(dataclasses.FrozenInstanceError):
        params.seed = 4


@pytest.mark.parametrize(
    ("temperature", "is_greedy"), [(0, True), (1e-40, True), (1e-300, True), (1e-37, False)]
)
def test_a_temperature_that_float32_cannot_hold_is_greedy(temperature, is_greedy):
    assert SamplingParams(temperature=temperature).is_greedy == is_greedy


def test_an_enormous_temperature_stays_finite():
    assert np.isfinite(SamplingParams(temperature=1e300).divisor)
