"""Penalties and biases, step by step, and what they must never do to a mask."""

from __future__ import annotations

import numpy as np
import pytest

from constrain.errors import SamplingError
from constrain.kernels.sample import Workspace
from constrain.sampling import SamplingParams
from constrain.sampling.batch import read_batch
from constrain.sampling.host import edited_logits
from constrain.sampling.penalties import as_token_ids, edit, plan_edits

MOST = float(np.finfo(np.float32).max)


def edited(logits, params, history=(), prompt=()):
    batch = read_batch(
        np.array([logits], dtype=np.float32), params, None, [list(history)], [list(prompt)]
    )
    return edited_logits(batch, 0, Workspace(batch.vocab_size)).logits.tolist()


def test_repetition_divides_positive_and_multiplies_negative_logits():
    params = SamplingParams(repetition_penalty=2.0)
    assert edited([4.0, -4.0, 0.0, 1.0], params, history=[0, 1, 2]) == [2.0, -8.0, 0.0, 1.0]


def test_repetition_counts_an_id_once_wherever_it_stands():
    params = SamplingParams(repetition_penalty=2.0)
    assert edited([4.0, 8.0, 1.0], params, history=[0, 0, 1], prompt=[1, 0]) == [2.0, 4.0, 1.0]


def test_frequency_counts_occurrences_and_presence_does_not():
    assert edited([1.0, 1.0, 1.0], SamplingParams(frequency_penalty=0.25), [0, 0, 1]) == [
        0.5,
        0.75,
        1,
    ]
    assert edited([1.0, 1.0, 1.0], SamplingParams(presence_penalty=0.25), [0, 0, 1]) == [
        0.75,
        0.75,
        1,
    ]


def test_frequency_and_presence_look_at_the_output_and_not_at_the_prompt():
    params = SamplingParams(frequency_penalty=1.0, presence_penalty=1.0)
    assert edited([1.0, 1.0], params, prompt=[0, 0]) == [1.0, 1.0]


def test_negative_penalties_encourage():
    params = SamplingParams(frequency_penalty=-1.0, presence_penalty=-0.5)
    assert edited([0.0, 0.0], params, history=[1, 1]) == [0.0, 2.5]


def test_a_bias_comes_after_the_penalties():
    params = SamplingParams(repetition_penalty=2.0, logit_bias={0: 3.0, 2: -1.0})
    assert edited([4.0, 4.0, 4.0], params, history=[0, 1]) == [5.0, 2.0, 3.0]


def test_a_ban_stays_a_ban():
    everything = SamplingParams(
        repetition_penalty=0.5,
        frequency_penalty=-3.0,
        presence_penalty=-3.0,
        logit_bias={0: 100.0, 1: -np.inf, 2: 1e300},
    )
    result = edited([-np.inf, 5.0, -np.inf, 0.0], everything, history=[0, 1, 2], prompt=[0, 1, 2])
    assert result == [-np.inf, -np.inf, -np.inf, 0.0]


@pytest.mark.parametrize("logit", [MOST, -MOST, 1e38, -1e38, 0.0, 1e-45, -1e-45])
@pytest.mark.parametrize(
    "params",
    [
        SamplingParams(repetition_penalty=1e300),
        SamplingParams(repetition_penalty=5e-324),
        SamplingParams(frequency_penalty=1e300),
        SamplingParams(frequency_penalty=-1e300, presence_penalty=1e300),
        SamplingParams(presence_penalty=-1e300),
        SamplingParams(logit_bias={0: 1e300}),
        SamplingParams(logit_bias={0: -1e300}),
    ],
    ids=str,
)
def test_what_overflows_stays_finite(logit, params):
    (result, untouched) = edited([logit, 0.0], params, history=[0, 0, 0])
    assert abs(result) <= MOST
    assert untouched == 0


def test_the_plan_lists_each_id_once_in_order():
    params = SamplingParams(repetition_penalty=2.0, logit_bias={5: 1.0, 0: -np.inf, 9: 2.0})
    edits = plan_edits(params, np.array([7, 5, 7]), np.array([1, 7]))
    assert edits.ids.tolist() == [1, 5, 7, 9]
    assert edits.counts.tolist() == [0, 1, 2, 0]
    assert edits.repeats.tolist() == [True, True, True, False]
    assert edits.bias.tolist() == [0, 1, 0, 2]
    assert edit(np.ones(4, np.float32), edits, params).tolist() == [0.5, 1.5, 0.5, 3.0]


def test_the_callers_logits_are_left_alone():
    logits = np.ones((1, 3), dtype=np.float32)
    batch = read_batch(logits, SamplingParams(repetition_penalty=2.0), None, [[0]], None)
    assert edited_logits(batch, 0, Workspace(batch.vocab_size)).logits.tolist() == [0.5, 1, 1]
    assert logits.tolist() == [[1, 1, 1]]


@pytest.mark.parametrize("ids", [[3], [-1], [0, 99]])
def test_an_id_that_is_no_logit_is_refused(ids):
    with pytest.raises(SamplingError, match=r"histories\[0\]: token id -?\d+ is not one of the 3"):
        as_token_ids(ids, 3, "histories[0]")


@pytest.mark.parametrize("ids", [[0.5], "ab", 3, [[1]], [None]])
def test_what_is_no_list_of_ids_is_refused(ids):
    with pytest.raises(SamplingError, match=r"prompts\[2\]: a sequence of token ids was expected"):
        as_token_ids(ids, 3, "prompts[2]")
