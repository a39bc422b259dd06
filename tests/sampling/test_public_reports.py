"""Public bug reports about sampling and masks: each kind of case has a runner, no case has its own.

The cases are data (`shared/cases/public-reports.jsonl`). A runner checks everything that a case of
its kind says, and fails on a key that it does not know.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from constrain.errors import DeadEndError
from constrain.kernels.sample import Workspace
from constrain.matcher.bitmask import apply_token_bitmask
from constrain.sampling import Sampler, SamplingParams
from constrain.sampling.batch import read_batch
from constrain.sampling.host import edited_logits
from tests.conftest import SHARED, requires_shared
from tests.sampling.rows import bitmask_of

KINDS = ("sampler", "batch-seeds", "batch-apply", "mask-apply", "logprobs")
CASES_FILE = SHARED / "cases" / "public-reports.jsonl"


def cases(kind):
    lines = CASES_FILE.read_text(encoding="utf-8").splitlines() if CASES_FILE.is_file() else ()
    found = [case for case in map(json.loads, lines) if case["input"]["kind"] == kind]
    return pytest.mark.parametrize("case", found, ids=[case["id"] for case in found])


def read_params(fields):
    """Sampling parameters as JSON writes them: the keys of an object are strings.

    A case that does not speak of seeds gets one, so that it runs alike every time.
    """
    bias = fields.get("logit_bias") or {}
    bias = {int(token): value for token, value in bias.items()}
    return SamplingParams(**{"seed": 1} | fields | {"logit_bias": bias})


class Row:
    """One case of the kind "sampler", and what the sampler says to it."""

    def __init__(self, given):
        assert given.keys() <= {
            *("kind", "vocab", "logits", "probs", "allowed_ids", "history"),
            *("params", "draws", "steps"),
        }
        with np.errstate(divide="ignore"):
            logits = given["logits"] if "logits" in given else np.log(given["probs"])
        self.logits = np.array([logits], dtype=np.float32)
        self.history = given.get("history", [])
        allowed = given.get("allowed_ids")
        self.bitmask = None if allowed is None else bitmask_of([allowed], self.logits.shape[1])
        self.allowed = self.logits[0] > -np.inf
        if allowed is not None:
            self.allowed &= np.isin(np.arange(len(self.allowed)), allowed)

    def probs(self, params):
        probs = Sampler().distribution(self.logits, params, self.bitmask, histories=[self.history])
        return probs[0]

    def edited(self, params):
        """Masked, penalised, biased: [V]."""
        batch = read_batch(self.logits, params, self.bitmask, [self.history], None)
        edited = edited_logits(batch, 0, Workspace(batch.vocab_size))
        dense = np.full_like(self.logits[0], -np.inf)
        dense[slice(None) if edited.ids is None else edited.ids] = edited.logits
        return dense

    def tokens(self, params, num_tokens):
        """What one output draws, if every step has these logits."""
        bitmask = None if self.bitmask is None else np.repeat(self.bitmask, num_tokens, axis=0)
        output = Sampler().sample(
            np.repeat(self.logits, num_tokens, axis=0),
            params,
            bitmask,
            positions=range(num_tokens),
            histories=[self.history] * num_tokens,
        )
        return output.token_ids

    def is_a_dead_end(self, params):
        """A dead row is an error that names it, and its neighbour gets its token."""
        everything = bitmask_of([range(self.allowed.size)], self.allowed.size)
        bitmask = np.concatenate([self.bitmask, everything])
        with pytest.raises(DeadEndError, match="logits row 0") as caught:
            Sampler().sample(np.repeat(self.logits, 2, axis=0), params, bitmask, positions=[0, 0])
        assert caught.value.rows == (0,)
        assert caught.value.output.token_ids[1] >= 0


@requires_shared
@cases("sampler")
def test_sampler(case):
    given, expected = case["input"], case.get("expect_data", {})
    assert expected.keys() <= {"token_id", "prob", "probs", "logits", "kept"}
    row = Row(given)
    each = given["params"] if isinstance(given["params"], list) else [given["params"]]
    each = [read_params(fields) for fields in each]
    if given.get("allowed_ids") == []:
        row.is_a_dead_end(each[0])
        return
    outputs = []
    for params in each:
        num_tokens = given.get("draws", given.get("steps", 50))
        tokens = row.tokens(params, num_tokens)
        probs = row.probs(params)
        assert row.allowed[tokens].all()
        assert probs[tokens].all()
        if params.is_greedy:
            assert set(tokens.tolist()) == {int(row.edited(params).argmax())}
        else:
            outputs.append(tuple(tokens.tolist()))
        if "token_id" in expected:
            assert set(tokens.tolist()) == {expected["token_id"]}
        if "prob" in expected:
            assert probs[expected["token_id"]] == pytest.approx(expected["prob"])
        if "probs" in expected:
            assert probs == pytest.approx(expected["probs"], abs=1e-6)
            frequencies = np.bincount(tokens, minlength=len(probs)) / num_tokens
            assert frequencies == pytest.approx(expected["probs"], abs=4 * 0.5 / num_tokens**0.5)
        if "kept" in expected:
            assert np.flatnonzero(probs).tolist() == expected["kept"]
        if "logits" in expected:
            assert row.edited(params) == pytest.approx(expected["logits"])
    assert len(set(outputs)) == len(outputs), "seeds tell outputs apart"


@requires_shared
@cases("batch-seeds")
def test_batch_seeds(case):
    given = case["input"]
    params = [SamplingParams(**fields) for fields in given["rows"]]
    logits = np.random.default_rng(0).standard_normal((len(params), 1000)).astype(np.float32)
    sampler = Sampler()

    def outputs(rows):
        steps = [
            sampler.sample(logits[rows], [params[i] for i in rows], positions=[step] * len(rows))
            for step in range(16)
        ]
        return np.stack([step.token_ids for step in steps], axis=1).tolist()

    together = [outputs(list(range(len(params)))) for _ in range(given["repeat"])]
    for row, one in enumerate(params):
        alone = [outputs([row])[0] for _ in range(2)]
        if one.seed is None:
            assert alone[0] != alone[1]
        else:
            assert {tuple(output[row]) for output in together} == {tuple(alone[0])}


@requires_shared
@cases("batch-apply")
def test_batch_apply(case):
    given = case["input"]
    logits = np.array(given["logits"], dtype=np.float32)
    bitmask = bitmask_of([row["allowed_ids"] for row in given["rows"]], logits.shape[1])
    apply_token_bitmask(logits, bitmask)
    assert [
        [None if np.isneginf(value) else value for value in row] for row in logits.tolist()
    ] == case["expect_data"]["out"]


@requires_shared
@cases("mask-apply")
def test_mask_apply(case):
    given = case["input"]
    width = len(given["logits"])

    def masked(allowed_ids):
        logits = np.array([given["logits"]], dtype=np.float32)
        apply_token_bitmask(logits, bitmask_of([allowed_ids], given["tokenizer_vocab"]))
        return np.flatnonzero(np.isfinite(logits[0])).tolist()

    assert masked(given["allowed_ids"]) == case["expect_data"]["finite_ids"]
    beyond = [token for token in given["allowed_ids"] if token >= width]
    if beyond:
        with pytest.raises(DeadEndError, match=f"none of the {width} ids"):
            masked(beyond)


@requires_shared
@cases("logprobs")
def test_logprobs(case):
    given, expected = case["input"], case["expect_data"]
    logits = np.array([given["logits"]], dtype=np.float32)
    params = SamplingParams(temperature=0, logprobs=given["top_logprobs"])
    bitmask = bitmask_of([given["allowed_ids"]], logits.shape[1])
    report = Sampler().sample(logits, params, bitmask).reports[0]
    assert report.logprob == pytest.approx(expected["masked_logprob"])
    assert report.raw_logprob == pytest.approx(expected["raw_logprob"])
    assert {token for token, _ in report.top_logprobs} <= set(given["allowed_ids"])
    json.dumps(report.top_logprobs, allow_nan=False)


@requires_shared
def test_every_kind_has_a_case():
    found = {json.loads(line)["input"]["kind"] for line in CASES_FILE.read_text().splitlines()}
    assert found >= set(KINDS)
