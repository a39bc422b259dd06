"""`Sampler`: order of the steps, determinism, independence of the batch, errors of single rows."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest

from constrain.errors import DeadEndError, SamplingError
from constrain.sampling import EmptyRowError, InvalidRowError, Sampler, SamplingParams
from constrain.sampling.batch import read_batch
from tests.sampling.rows import bitmask_of

torch = pytest.importorskip("torch")
from constrain.sampling import device  # noqa: E402 - it imports torch

GREEDY = SamplingParams(temperature=0)
INF = float("inf")
MOST = float(np.finfo(np.float32).max)


@pytest.fixture
def sampler():
    return Sampler()


def row(*logits, dtype=np.float32):
    return np.array([logits], dtype=dtype)


def draws(sampler, logits, params, num_draws, **arguments):
    """Token ids of `num_draws` positions of one row, drawn as one batch."""
    logits = np.repeat(np.asarray(logits, dtype=np.float32)[None], num_draws, axis=0)
    arguments = {name: np.repeat(value, num_draws, axis=0) for name, value in arguments.items()}
    return sampler.sample(logits, params, positions=range(num_draws), **arguments).token_ids


def chi_square(observed, probs):
    expected = np.asarray(probs) * observed.sum()
    return float(((observed - expected) ** 2 / expected).sum())


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numpy_in_numpy_out(sampler, dtype):
    output = sampler.sample(row(0, 2, 1, dtype=dtype), GREEDY)
    assert isinstance(output.token_ids, np.ndarray)
    assert output.token_ids.dtype == np.int64
    assert output.token_ids.tolist() == [1]
    assert output.reports == (None,)
    assert output.errors == {}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_torch_in_torch_out(sampler, dtype):
    logits = torch.tensor([[0.0, 2.0, 1.0]], dtype=dtype, requires_grad=True)
    output = sampler.sample(logits, GREEDY)
    assert output.token_ids.dtype == torch.int64
    assert output.token_ids.tolist() == [1]


def test_no_rows(sampler):
    output = sampler.sample(np.zeros((0, 5), np.float32), GREEDY)
    assert (output.token_ids.tolist(), output.reports, output.errors) == ([], (), {})


def test_the_callers_logits_are_left_alone(sampler):
    params = SamplingParams(seed=0, repetition_penalty=2.0, logit_bias={0: -INF, 1: 3.0}, top_k=2)
    for logits in (row(1, 2, INF, 4), torch.tensor([[1.0, 2.0, INF, 4.0]])):
        sampler.sample(logits, params, bitmask_of([[0, 1, 2]], 4), histories=[[1]])
        assert logits.tolist() == [[1, 2, INF, 4]]


@pytest.mark.parametrize("temperature", [0, 1e-45])
def test_greedy_takes_the_lowest_id_among_ties(sampler, temperature):
    params = SamplingParams(temperature=temperature, top_k=1, top_p=0.1, seed=4)
    assert sampler.sample(row(1, 3, 3, 3), params).token_ids.tolist() == [1]
    assert sampler.sample(row(-0.0, 0.0, -1), params).token_ids.tolist() == [0]


def test_the_mask_comes_before_truncation(sampler):
    for params in (SamplingParams(top_k=1), SamplingParams(top_p=0.01), SamplingParams(min_p=1)):
        output = sampler.sample(row(0, 9, 1), params, bitmask_of([[0]], 3))
        assert output.token_ids.tolist() == [0]


def test_a_mask_is_stronger_than_any_logit_bias_and_penalty(sampler):
    params = SamplingParams(repetition_penalty=2.0, logit_bias={2: 100.0})
    probs = sampler.distribution(
        row(-30_000, -30_001, 5), params, bitmask_of([[0, 1]], 3), histories=[[0, 1]]
    )
    assert probs[0].tolist() == pytest.approx([0.8807970779778823, 0.11920292202211755, 0])


def test_an_allowed_id_survives_a_penalty_that_overflows(sampler):
    params = SamplingParams(temperature=1, repetition_penalty=1e30)
    output = sampler.sample(row(-MOST, 0), params, bitmask_of([[0]], 2), histories=[[0, 0]])
    assert output.token_ids.tolist() == [0]


def test_ids_beyond_the_bitmask_are_never_drawn_and_bits_beyond_the_logits_are_ignored(sampler):
    logits = np.zeros((1, 40), np.float32)
    logits[0, 32:] = 50
    assert sampler.sample(logits, GREEDY, np.full((1, 1), -1, np.int32)).token_ids.tolist() == [0]
    narrow = row(0, 0, 0, 0, 0)
    assert sampler.sample(narrow, GREEDY, bitmask_of([[2, 7]], 8)).token_ids.tolist() == [2]
    with pytest.raises(DeadEndError, match="allows none of its 5 token ids"):
        sampler.sample(narrow, GREEDY, bitmask_of([[5, 7]], 8))


def test_top_k_keeps_exactly_k_and_gives_ties_to_the_lower_id(sampler):
    probs = sampler.distribution(row(1, 2, 2, 2, 0), SamplingParams(top_k=2))
    assert probs[0].tolist() == [0, 0.5, 0.5, 0, 0]


@pytest.mark.parametrize("top_k", [0, 5, 6, 2**40])
def test_top_k_of_none_or_of_all_keeps_all(sampler, top_k):
    assert (sampler.distribution(row(1, 2, 2, 2, 0), SamplingParams(top_k=top_k)) > 0).all()


def test_top_p_of_one_keeps_the_whole_tail(sampler):
    logits = np.linspace(0, -25, 1000, dtype=np.float32)[None]
    assert (sampler.distribution(logits, SamplingParams(top_p=1.0)) > 0).all()
    assert (sampler.distribution(logits, SamplingParams(top_p=1 - 2**-53)) > 0).mean() > 0.9


@pytest.mark.parametrize("top_p", [0, 1e-300, 0.2])
def test_top_p_keeps_at_least_one(sampler, top_p):
    probs = sampler.distribution(row(0, 1, 1, 1), SamplingParams(top_p=top_p))
    assert probs[0].tolist() == [0, 1, 0, 0]


def test_top_p_counts_what_top_k_left(sampler):
    logits = np.log(np.array([[0.4, 0.3, 0.2, 0.1]], np.float32))
    params = SamplingParams(top_k=2, top_p=0.5)  # 0.4 of 0.7 is more than half
    assert (sampler.distribution(logits, params)[0] > 0).tolist() == [True, False, False, False]


def test_min_p_is_relative_to_the_most_probable(sampler):
    logits = np.log(np.array([[0.5, 0.26, 0.24]], np.float32))
    kept = sampler.distribution(logits, SamplingParams(min_p=0.5))[0] > 0
    assert kept.tolist() == [True, True, False]
    assert (sampler.distribution(row(3, 3, 2), SamplingParams(min_p=1))[0] > 0).tolist() == [
        True,
        True,
        False,
    ]


def test_temperature_divides(sampler):
    probs = sampler.distribution(row(1, 2, 4), SamplingParams(temperature=0.5))[0]
    exact = np.exp(np.array([2.0, 4.0, 8.0]))
    assert probs == pytest.approx(exact / exact.sum(), rel=1e-6)


def test_half_precision_is_computed_in_float32(sampler):
    logits = torch.tensor([[10.0, 10.0078125, 9.5, -60_000.0]], dtype=torch.float16)
    params = SamplingParams(temperature=0.1, repetition_penalty=3.0)
    probs = sampler.distribution(logits, params, histories=[[0]])
    wide = sampler.distribution(logits.float(), params, histories=[[0]])
    assert torch.equal(probs, wide)
    same = sampler.distribution(logits.to(torch.bfloat16), SamplingParams())
    assert torch.equal(
        same, sampler.distribution(logits.to(torch.bfloat16).float(), SamplingParams())
    )


@pytest.mark.parametrize("temperature", [0, 0.01, 1, 1e30])
def test_plus_infinity_is_the_largest_number(sampler, temperature):
    params = SamplingParams(temperature=temperature, seed=1)
    token_ids = sampler.sample(row(3, INF, -INF, INF), params, positions=[0]).token_ids
    assert token_ids[0] in ([1] if temperature == 0 else [1, 3] if temperature < 2 else [0, 1, 3])
    probs = sampler.distribution(row(3, INF, -INF, INF), SamplingParams())
    assert probs[0].tolist() == [0, 0.5, 0, 0.5]


def test_float64_beyond_float32_stays_finite(sampler):
    logits = row(-1e300, -INF, -1e300, dtype=np.float64)
    assert sampler.distribution(logits, SamplingParams())[0].tolist() == [0.5, 0, 0.5]
    assert sampler.sample(row(1, 1e300, dtype=np.float64), GREEDY).token_ids.tolist() == [1]


def test_huge_logits_do_not_overflow(sampler):
    logits = row(MOST, MOST / 2, -MOST, -INF)
    for params in (GREEDY, SamplingParams(), SamplingParams(temperature=1e-30)):
        assert sampler.distribution(logits, params)[0].tolist() == [1, 0, 0, 0]


def test_draws_follow_the_distribution(sampler):
    logits = [1.0, 0.9, 0.8, -1.0, -40.0]
    probs = sampler.distribution(row(*logits), SamplingParams())[0]
    assert probs[4] == 0
    token_ids = draws(sampler, logits, SamplingParams(seed=11), 20_000)
    observed = np.bincount(token_ids, minlength=5)
    assert observed[4] == 0
    assert chi_square(observed[:4], probs[:4]) < 16.3  # 3 degrees of freedom, 1e-3


def test_draws_of_many_ids_with_truncation_follow_the_distribution(sampler):
    logits = np.random.default_rng(3).standard_normal(300).astype(np.float32)
    allowed = np.random.default_rng(4).random(300) < 0.5
    params = SamplingParams(seed=5, temperature=1.3, top_k=60, top_p=0.95, min_p=0.02)
    bitmask = bitmask_of([np.flatnonzero(allowed)], 300)
    probs = sampler.distribution(logits[None], params, bitmask)[0]
    observed = np.bincount(draws(sampler, logits, params, 20_000, bitmask=bitmask), minlength=300)
    assert (observed[probs == 0] == 0).all()
    assert probs[~allowed].sum() == 0
    degrees = (probs > 0).sum() - 1
    assert chi_square(observed[probs > 0], probs[probs > 0]) < degrees + 4 * np.sqrt(2 * degrees)


def test_unseeded_rows_do_not_repeat_themselves(sampler):
    logits = np.zeros((64, 1000), np.float32)
    first = sampler.sample(logits, SamplingParams()).token_ids
    second = sampler.sample(logits, SamplingParams()).token_ids
    assert len(set(first.tolist())) > 32
    assert first.tolist() != second.tolist()
    assert Sampler().sample(logits, SamplingParams()).token_ids.tolist() != first.tolist()


def test_a_token_is_a_function_of_its_row_alone(sampler):
    rng = np.random.default_rng(8)
    vocab_size, num_rows = 77, 9
    logits = rng.standard_normal((num_rows, vocab_size)).astype(np.float32)
    bitmask = rng.integers(-(2**31), 2**31, (num_rows, 3)).astype(np.int32)
    kinds = [{}, {"top_k": 5}, {"top_p": 0.7}, {"temperature": 0}, {"repetition_penalty": 2.0}]
    params = [
        SamplingParams(seed=i if i % 4 else None, **kinds[i % len(kinds)]) for i in range(num_rows)
    ]
    histories = [rng.integers(0, vocab_size, i) for i in range(num_rows)]

    def sample(order):
        return sampler.sample(
            logits[order],
            [params[i] for i in order],
            bitmask[order],
            positions=[10 + i for i in order],
            sequences=[i % 3 for i in order],
            histories=[histories[i] for i in order],
        ).token_ids.tolist()

    seeded = [i for i in range(num_rows) if params[i].seed is not None or params[i].is_greedy]
    alone = {i: sample([i])[0] for i in seeded}
    for order in (list(range(num_rows)), list(range(num_rows))[::-1], [4, 4, 1, 0, 4]):
        together = sample(order)
        assert all(together[k] == alone[i] for k, i in enumerate(order) if i in alone)


def test_sequences_and_positions_tell_draws_apart(sampler):
    logits, params = np.zeros((1, 10_000), np.float32), SamplingParams(seed=7)

    def sample(sequence, position):
        output = sampler.sample(logits, params, positions=[position], sequences=[sequence])
        return output.token_ids[0]

    grid = [[sample(s, p) for p in range(4)] for s in range(3)]
    assert len({int(token) for line in grid for token in line}) == 12
    assert grid == [[sample(s, p) for p in range(4)] for s in range(3)]


def test_the_position_is_the_length_of_the_history(sampler):
    logits, params = np.zeros((1, 10_000), np.float32), SamplingParams(seed=7)
    by_position = sampler.sample(logits, params, positions=[3]).token_ids
    assert sampler.sample(logits, params, histories=[[5, 5, 5]]).token_ids == by_position


def unseeded(sampler):
    logits = np.zeros((8, 30_000), dtype=np.float32)
    return sampler.sample(logits, SamplingParams()).token_ids.tolist()


@pytest.mark.parametrize(
    "another", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_a_copy_draws_other_numbers_where_there_is_no_seed(another):
    sampler = Sampler()
    assert unseeded(another(sampler)) != unseeded(sampler)


def test_a_forked_process_draws_other_numbers_where_there_is_no_seed(monkeypatch):
    sampler = Sampler()
    before, draws = sampler._entropy, [unseeded(sampler)]
    monkeypatch.setattr("os.getpid", lambda: -1)
    draws.append(unseeded(sampler))
    assert sampler._entropy != before
    after = sampler._entropy
    draws.append(unseeded(sampler))
    assert sampler._entropy == after
    assert len({tuple(draw) for draw in draws}) == 3


def test_a_seed_needs_a_position(sampler):
    with pytest.raises(SamplingError, match=r"row 1 has seed=7.*\n.*positions=\[...\]"):
        sampler.sample(np.zeros((2, 4), np.float32), [GREEDY, SamplingParams(seed=7)])


@pytest.mark.parametrize("path", ["host", "device"])
def test_a_dead_row_is_named_and_does_not_cost_the_others(sampler, path):
    logits = np.array([[1, 2, 3], [1, 2, 3], [-INF, -INF, 0], [0, 5, 0]], np.float32)
    bitmask = bitmask_of([[0, 1], [], [0, 1], [0, 1, 2]], 3)
    if path == "device":
        tokens, failed = device.choose(
            read_batch(torch.from_numpy(logits), GREEDY, bitmask, None, None), np.zeros(4)
        )
        assert (tokens.tolist(), failed.tolist()) == ([1, -1, -1, 1], [False, True, True, False])
        return
    with pytest.raises(DeadEndError) as caught:
        sampler.sample(logits, GREEDY, bitmask)
    error = caught.value
    assert isinstance(error, EmptyRowError)
    assert error.rows == (1, 2)
    assert str(error).startswith("logits row 1: the bitmask allows none of its 3 token ids")
    assert error.output.token_ids.tolist() == [1, -1, -1, 1]
    assert pickle.loads(pickle.dumps(error)).rows == (1, 2)
    assert "2 token ids are allowed, and all of them have" in str(error.output.errors[2])
    output = sampler.sample(logits, GREEDY, bitmask, on_error="return")
    assert output.token_ids.tolist() == [1, -1, -1, 1]
    assert sorted(output.errors) == [1, 2]


def test_bans_alone_can_empty_a_row(sampler):
    params = SamplingParams(logit_bias={0: -INF, 1: -INF})
    with pytest.raises(
        EmptyRowError, match="2 token ids are allowed, and all of them have a logit"
    ):
        sampler.sample(row(1, 2), params)


@pytest.mark.parametrize("where", [0, 1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_nan_is_an_error_masked_or_not(sampler, where, sign):
    logits = np.zeros((2, 3), np.float32)
    logits[1, 1] = np.copysign(np.float32(np.nan), np.float32(sign))
    bitmask = bitmask_of([[0], [where]], 3)
    for given in (logits, torch.from_numpy(logits), torch.from_numpy(logits).half()):
        with pytest.raises(InvalidRowError, match="logits row 1 is NaN at token id 1") as caught:
            sampler.sample(given, GREEDY, bitmask)
        assert isinstance(caught.value, SamplingError)
        assert caught.value.rows == (1,)
        assert caught.value.output.token_ids.tolist() == [0, -1]
    tokens, _ = device.choose(
        read_batch(torch.from_numpy(logits), SamplingParams(), bitmask, None, None), np.zeros(2)
    )
    assert tokens.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"logits": [[0.0]]}, r"an array or a torch tensor .* not a list"),
        ({"logits": np.zeros((1, 2), np.int64)}, r"float32, float64; got a NumPy int64 array"),
        ({"logits": np.zeros(3, np.float32)}, r"\[batch, vocab_size\].*\n.*logits\[None\]"),
        ({"logits": np.zeros((1, 0), np.float32)}, r"1 to 4,194,304 ids a row"),
        ({"params": [GREEDY]}, r"1 params for 2 rows"),
        ({"params": {"top_p": 1}}, r"params is a dict.*\n.*SamplingParams\(\*\*params\)"),
        ({"params": [GREEDY, None]}, r"params\[1\] is a NoneType"),
        ({"params": None}, r"params is a NoneType: SamplingParams was expected"),
        ({"histories": 3}, r"histories is a int: token ids were expected for each row"),
        ({"params": SamplingParams(logit_bias={3: 1.0})}, r"logit_bias: token id 3 is not one of"),
        ({"bitmask": np.zeros((1, 1), np.int32)}, r"a bitmask is \[2, ceil"),
        ({"bitmask": np.zeros((2, 1), np.int64)}, r"a bitmask is int32"),
        ({"bitmask": np.zeros(2, np.int32)}, r"a bitmask is \[2, ceil"),
        ({"positions": [0]}, r"1 positions for 2 rows"),
        ({"positions": [0, -1]}, r"positions\[1\]=-1: 0 to"),
        ({"positions": [0, 2**64]}, r"positions\[1\]="),
        ({"positions": [0, 0.5]}, r"a sequence of integers was expected"),
        ({"sequences": [0, 2**32]}, r"sequences\[1\]=4294967296: 0 to 4294967295"),
        ({"histories": [[0]]}, r"1 histories for 2 rows"),
        ({"histories": [None, [3]]}, r"histories\[1\]: token id 3 is not one of the 3 logits"),
        ({"prompts": [[0], [0.5]]}, r"prompts\[1\]: a sequence of token ids"),
        ({"on_error": "ignore"}, r"on_error='ignore'"),
    ],
)
def test_wrong_arguments(sampler, arguments, message):
    logits = arguments.pop("logits", np.zeros((2, 3), np.float32))
    params = arguments.pop("params", GREEDY)
    with pytest.raises(SamplingError, match=message):
        sampler.sample(logits, params, **arguments)


def test_strided_and_unwriteable_logits(sampler):
    storage = np.arange(24, dtype=np.float32).reshape(2, 12)
    storage.flags.writeable = False
    assert sampler.sample(storage[:, ::2], GREEDY).token_ids.tolist() == [5, 5]
    assert sampler.sample(storage.T, GREEDY).token_ids.tolist() == [1] * 12
    assert sampler.sample(torch.zeros(4, 2).T, GREEDY).token_ids.tolist() == [0, 0]


def test_threads_share_a_sampler(sampler):
    logits = np.zeros((1, 500), np.float32)
    params, results = SamplingParams(seed=1, top_p=0.9), {}

    def work(name):
        results[name] = [
            int(sampler.sample(logits, params, positions=[i]).token_ids[0]) for i in range(50)
        ]

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results[name] == results[0] for name in range(4))


@pytest.mark.gpu
def test_on_the_gpu_the_tokens_of_the_cpu(sampler):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(6, 151_936, generator=generator) * 4
    rng = np.random.default_rng(0)
    bitmask = rng.integers(-(2**31), 2**31, (6, 4748)).astype(np.int32)
    histories = [rng.integers(0, 151_936, 50) for _ in range(6)]
    params = [
        GREEDY,
        SamplingParams(seed=1),
        SamplingParams(seed=2, top_k=50),
        SamplingParams(seed=3, top_p=0.9, temperature=0.7),
        SamplingParams(seed=4, min_p=0.05, repetition_penalty=1.3, logit_bias={5: -INF, 6: 2.5}),
        SamplingParams(seed=5, top_k=1000, top_p=0.99, frequency_penalty=0.3, logprobs=2),
    ]
    for step in range(20):
        arguments = {"positions": [step] * 6, "histories": histories}
        for dtype in (torch.float32, torch.bfloat16):
            given = logits.to(dtype)
            expected = sampler.sample(given, params, bitmask, **arguments)
            for mask in (bitmask, torch.from_numpy(bitmask).cuda()):
                actual = sampler.sample(given.cuda(), params, mask, **arguments)
                assert actual.token_ids.is_cuda
                assert actual.token_ids.tolist() == expected.token_ids.tolist()
                assert actual.reports == expected.reports
