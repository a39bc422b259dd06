"""Every body of `kernels/apply_bitmask` against its reference, and the public functions over it."""

from __future__ import annotations

import os
import subprocess
import sys
import timeit

import numpy as np
import pytest

from constrain.errors import DeadEndError, SamplingError
from constrain.kernels.apply_bitmask import (
    apply_at_once,
    apply_bitmask,
    cpu,
    empty_rows,
    reference,
)
from constrain.kernels.apply_bitmask.arrays import float_bits
from constrain.matcher.bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask,
    as_numpy_bitmask,
)
from tests.kernels.plain_python import plain_python

torch = pytest.importorskip("torch")

SHAPES = [
    (1, 1),
    (1, 31),
    (2, 32),
    (3, 33),
    (2, 4099),
    (3, 8 * 32),
    (2, 3 * 8 * 32 + 1),
    (5, 40_011),
]
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def by_reference(logits, bitmask, rows):
    bits, minus_inf = float_bits(logits)
    reference.apply(bits, bitmask, rows, minus_inf)


def by_cpu(logits, bitmask, rows):
    bits, minus_inf = float_bits(logits)
    cpu.apply(bits, bitmask, rows, minus_inf)


def by_cpu_without_jit(logits, bitmask, rows):
    bits, minus_inf = float_bits(logits)
    plain_python(cpu.apply)(bits, bitmask, rows, minus_inf)


def by_gpu(logits, bitmask, rows):
    gpu = pytest.importorskip(
        "constrain.kernels.apply_bitmask.gpu", reason="triton is not installed"
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"  # "cpu": TRITON_INTERPRET=1
    moved = logits.to(device)
    gpu.apply(moved, torch.from_numpy(bitmask).to(device), torch.from_numpy(rows).to(device))
    logits.copy_(moved)


def by_tensor(logits, bitmask, rows):
    from constrain.kernels.apply_bitmask import tensor

    tensor.apply(logits, torch.from_numpy(bitmask), torch.from_numpy(rows))


def by_dispatcher(logits, bitmask, rows):
    apply_bitmask(logits, bitmask, rows)


BODIES = [by_cpu, by_cpu_without_jit, by_gpu, by_tensor, by_dispatcher]
BODY_IDS = [body.__name__.removeprefix("by_") for body in BODIES]


def random_words(rng, batch, num_words):
    """Words of ones, of zeros, with one bit and with any bits, alone and in runs."""
    words = rng.integers(-(2**31), 2**31, (batch, num_words)).astype(np.int32)
    kind = rng.integers(0, 5, words.shape)
    for row in kind:
        for start in rng.integers(0, num_words, num_words // 16):
            longest = rng.choice([40, 400])
            row[start : start + rng.integers(1, longest)] = rng.integers(0, 2)
    words[kind == 0] = -1
    words[kind == 1] = 0
    words[kind == 2] = np.int32(-(2**31))
    return words


def poisoned(batch, vocab_size, dtype):
    """Logits whose every third id is NaN: nothing may depend on what a forbidden logit was."""
    logits = torch.arange(batch * vocab_size, dtype=torch.float32).reshape(batch, vocab_size)
    logits[:, ::3] = float("nan")
    return logits.to(dtype)


def bits_of(logits):
    return float_bits(logits)[0].copy()


@pytest.mark.parametrize("body", BODIES, ids=BODY_IDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("batch", "vocab_size"), SHAPES)
def test_agrees_with_reference(body, dtype, batch, vocab_size):
    rng = np.random.default_rng(vocab_size)
    bitmask = random_words(rng, batch, (vocab_size + 31) // 32)
    rows = rng.permutation(batch).astype(np.int64)
    expected, actual = (poisoned(batch, vocab_size, dtype) for _ in range(2))
    by_reference(expected, bitmask, rows)
    body(actual, bitmask, rows)
    assert np.array_equal(bits_of(actual), bits_of(expected))


@pytest.mark.parametrize("body", [by_cpu, by_cpu_without_jit])
@pytest.mark.parametrize("around", [0, 5, -1])
@pytest.mark.parametrize("blocks", [1, 15, 16, 17, 40])
def test_runs_of_any_length_agree_with_reference(body, around, blocks):
    words = 8 * blocks  # a block is eight words
    bitmask = np.full((3, words + 30), around, np.int32)
    for row, start in enumerate((0, 8, 13)):
        bitmask[row, start : start + words] = -1
    expected, actual = (poisoned(3, 32 * bitmask.shape[1] - 7, torch.float32) for _ in range(2))
    for apply, logits in ((by_reference, expected), (body, actual)):
        apply(logits, bitmask, np.arange(3))
    assert np.array_equal(bits_of(actual), bits_of(expected))


@pytest.mark.parametrize("like", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("batch", "vocab_size"), [*SHAPES, (600, 33)])
def test_at_once_agrees_with_reference(like, dtype, batch, vocab_size):
    rng = np.random.default_rng(vocab_size)
    bitmask = random_words(rng, batch, (vocab_size + 31) // 32)
    expected, actual = (poisoned(batch, vocab_size, dtype) for _ in range(2))
    by_reference(expected, bitmask, np.arange(batch))
    alive = not empty_rows(bitmask, vocab_size)
    logits = actual.numpy() if like == "numpy" and dtype != torch.bfloat16 else actual
    float_bits(logits)  # so the dtype has come before
    assert apply_at_once(logits, bitmask if like == "numpy" else torch.from_numpy(bitmask)) == alive
    assert np.array_equal(bits_of(actual), bits_of(expected))


def test_at_once_leaves_what_takes_a_closer_look():
    ones, words = torch.ones(2, 40), np.full((2, 2), 5, np.int32)
    assert apply_at_once(ones.clone(), words)
    for logits, bitmask in (
        (torch.ones(2, 40, requires_grad=True), words),
        (torch.ones(2, 80)[:, ::2], words),
        (torch.ones(3, 40), words),
        (torch.ones(40), words),
        (torch.ones(2, 40, dtype=torch.int32), words),
        (torch.ones(2, 40, device="meta"), words),
        (ones.numpy().astype(">f4"), words),
        ([[1.0]], words),
        (ones, np.full((2, 3), 5, np.int32)[:, :2]),
        (ones, words[0]),
    ):
        assert not apply_at_once(logits, bitmask)
    assert bool((ones == 1).all())


@pytest.mark.parametrize("body", BODIES, ids=BODY_IDS)
@pytest.mark.parametrize("num_words", [1, 2, 3, 4, 5, 9])
def test_bitmask_narrower_or_wider_than_the_logits(body, num_words):
    bitmask = random_words(np.random.default_rng(num_words), 2, num_words)
    rows = np.array([2, 0])
    expected, actual = (poisoned(4, 100, torch.float32) for _ in range(2))
    by_reference(expected, bitmask, rows)
    body(actual, bitmask, rows)
    assert np.array_equal(bits_of(actual), bits_of(expected))
    assert np.array_equal(bits_of(actual)[[1, 3]], bits_of(poisoned(4, 100, torch.float32))[[1, 3]])


@pytest.mark.parametrize("body", [by_cpu, by_cpu_without_jit], ids=["cpu", "cpu_without_jit"])
@pytest.mark.parametrize("changed", range(0, 24 * 32, 31))
@pytest.mark.parametrize("others", [0, -1])
def test_one_id_unlike_all_others(body, changed, others):
    bitmask = np.full((1, 24), others, np.int32)
    bitmask[0, changed // 32] ^= np.int32(1 << changed % 32 if changed % 32 < 31 else -(2**31))
    expected, actual = (poisoned(1, 24 * 32, torch.float32) for _ in range(2))
    by_reference(expected, bitmask, np.zeros(1, np.int64))
    body(actual, bitmask, np.zeros(1, np.int64))
    assert np.array_equal(bits_of(actual), bits_of(expected))


@pytest.mark.parametrize("vocab_size", [1, 40, 256, 300, 513])
def test_how_many_rows_allow_nothing(vocab_size):
    num_words = vocab_size // 32 + 3
    bitmask = np.zeros((6, num_words), np.int32)
    bitmask[0, 0] = 1
    bitmask[1, (vocab_size - 1) // 32] = np.uint32(1 << (vocab_size - 1) % 32).astype(np.int32)
    bitmask[2, vocab_size // 32] = np.uint32(1 << vocab_size % 32).astype(np.int32)  # past the end
    bitmask[3, -1] = -1
    bitmask[4] = -1
    logits = np.zeros((6, vocab_size), np.float32)
    assert empty_rows(bitmask, vocab_size) == [2, 3, 5]
    assert apply_bitmask(logits, bitmask) == 3
    strided = np.zeros((6, vocab_size + 1), np.float32)[:, :-1]
    assert apply_bitmask(strided, bitmask) == 3
    assert np.isfinite(strided).any(axis=1).tolist() == [True, True, False, False, True, False]
    assert np.array_equal(strided, logits)


def test_a_read_only_bitmask_costs_no_compilation():
    bitmask = np.full((2, 2), 5, np.int32)
    apply_bitmask(np.zeros((2, 64), np.float32), bitmask)
    compiled = list(getattr(cpu.apply, "signatures", []))
    bitmask.flags.writeable = False
    apply_bitmask(np.zeros((2, 64), np.float32), bitmask)
    apply_bitmask(torch.zeros(2, 64), torch.full((2, 2), 5, dtype=torch.int32))
    assert list(getattr(cpu.apply, "signatures", [])) == compiled


@pytest.mark.parametrize("body", BODIES, ids=BODY_IDS)
def test_row_stride_wider_than_the_row(body):
    storage = torch.zeros(3, 70)
    logits = storage[:, :40]
    body(logits, np.zeros((3, 2), dtype=np.int32), np.arange(3))
    assert torch.isneginf(storage[:, :40]).all()
    assert (storage[:, 40:] == 0).all()


@pytest.mark.parametrize("vocab_size", [1, 31, 32, 33, 64, 100])
@pytest.mark.parametrize("bit", [0, 1, 31, 32, 40, 63, 64, 95])
def test_any_allowed_agrees_with_reference(bit, vocab_size):
    words = np.zeros(3, dtype=np.uint32)
    words[bit // 32] = 1 << bit % 32
    words = words.view(np.int32)
    expected = reference.any_allowed(words, vocab_size)
    assert expected == (bit < vocab_size)
    assert cpu.any_allowed(words, vocab_size) == expected
    assert plain_python(cpu.any_allowed)(words, vocab_size) == expected
    assert empty_rows(words[None], vocab_size) == ([] if expected else [0])


def test_without_the_jit_in_a_process_of_its_own():
    program = (
        "import numpy as np\n"
        "from constrain.kernels.apply_bitmask import cpu, reference\n"
        "assert not hasattr(cpu.apply, 'py_func')\n"
        "words = np.array([[5, -1, 0, -(2**31)]], dtype=np.int32)\n"
        "one, two = (np.zeros((1, 120), dtype=np.uint32) for _ in range(2))\n"
        "cpu.apply(one, words, np.array([0]), np.uint32(7))\n"
        "reference.apply(two, words, np.array([0]), np.uint32(7))\n"
        "assert one.any() and not one.all() and np.array_equal(one, two)\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run(
        [sys.executable, "-W", "error", "-c", program], check=True, env=environment, timeout=120
    )


@pytest.mark.gpu
def test_on_the_gpu_a_row_far_beyond_32_bit_offsets():
    vocab_size = 151_936
    batch = 2**31 // vocab_size + 2
    logits = torch.zeros(batch, vocab_size, dtype=torch.bfloat16, device="cuda")  # 4.3 GB
    bitmask = allocate_token_bitmask(1, vocab_size)
    bitmask[0, :] = 0
    bitmask[0, 7] = 1
    apply_token_bitmask(logits, bitmask, rows=[batch - 1])
    assert logits[batch - 1].isfinite().nonzero().flatten().tolist() == [7 * 32]
    assert logits[: batch - 1].isfinite().all()


@pytest.mark.parametrize("like", ["numpy", "torch"])
@pytest.mark.parametrize(("batch", "vocab_size"), [*SHAPES, (0, 5)])
def test_a_new_bitmask_allows_every_token_and_no_padding(like, batch, vocab_size):
    bitmask = allocate_token_bitmask(batch, vocab_size, like=like)
    array = as_numpy_bitmask(bitmask)
    assert isinstance(bitmask, np.ndarray) == (like == "numpy")
    assert array.dtype == np.int32
    assert array.shape == (batch, -(-vocab_size // 32))
    assert reference.allowed(array, vocab_size).all()
    assert not reference.allowed(array, array.shape[1] * 32)[:, vocab_size:].any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch": -1, "vocab_size": 5}, r"batch=-1: an integer >= 0"),
        ({"batch": 1, "vocab_size": 0}, r"vocab_size=0: an integer >= 1"),
        ({"batch": 1.5, "vocab_size": 5}, r"batch=1.5"),
        ({"batch": 1, "vocab_size": 5, "like": "jax"}, r"like='jax'"),
    ],
)
def test_allocate_refuses(arguments, message):
    with pytest.raises(SamplingError, match=message):
        allocate_token_bitmask(**arguments)


def test_the_view_shares_memory():
    for like in ("numpy", "torch"):
        bitmask = allocate_token_bitmask(2, 40, like=like)
        for given in (bitmask, bitmask[1], bitmask[:, 1:]):
            view = as_numpy_bitmask(given)
            assert view.shape == tuple(given.shape)
            view[...] = 7
            assert (given == 7).all()


@pytest.mark.parametrize(
    ("bitmask", "message"),
    [
        ([[1]], r"a NumPy array or a torch tensor; got a list"),
        (np.zeros((1, 2), dtype=np.int64), r"got a NumPy int64 array of shape \[1, 2\]"),
        (np.zeros((1, 2), dtype=np.uint32), r"got a NumPy uint32 array"),
        (np.zeros((1, 2, 3), dtype=np.int32), r"shape \[1, 2, 3\]"),
        (np.zeros((), dtype=np.int32), r"shape \[\]"),
        (np.zeros((2, 6), dtype=np.int32)[:, ::2], r"words lie 8 bytes apart"),
        (torch.zeros(1, 2, dtype=torch.int64), r"got a torch int64 tensor of shape \[1, 2\]"),
        (torch.zeros(1, 2, dtype=torch.int32, device="meta"), r"on the CPU; got .* on meta"),
    ],
)
def test_what_is_no_bitmask_is_refused(bitmask, message):
    with pytest.raises(SamplingError, match=message):
        as_numpy_bitmask(bitmask)


def test_a_read_only_bitmask_can_be_read_but_not_filled():
    bitmask = allocate_token_bitmask(1, 8)
    bitmask.flags.writeable = False
    with pytest.raises(SamplingError, match="writeable"):
        as_numpy_bitmask(bitmask)
    assert as_numpy_bitmask(bitmask, mutable=False) is bitmask


def test_a_right_array_costs_next_to_nothing():
    bitmask = allocate_token_bitmask(4, 151_936)
    seconds = min(timeit.repeat(lambda: as_numpy_bitmask(bitmask), number=1_000, repeat=5))
    assert seconds < 1_000 * 5e-6  # measured: 0.13 us; the bound only catches a lost fast path


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_numpy_logits(dtype):
    logits = np.ones((2, 5), dtype=dtype)
    apply_token_bitmask(logits, np.array([[0b101], [0b11010]], dtype=np.int32))
    assert np.isfinite(logits).tolist() == [
        [True, False, True, False, False],
        [False, True, False, True, True],
    ]
    assert set(logits[np.isfinite(logits)].tolist()) == {1.0}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_torch_logits_that_autograd_watches(dtype):
    logits = torch.ones(1, 5, dtype=dtype, requires_grad=True)
    apply_token_bitmask(logits, torch.tensor([[4]], dtype=torch.int32))
    assert logits.isfinite().tolist() == [[False, False, True, False, False]]


def test_one_row_of_each():
    logits = np.zeros(40, dtype=np.float32)
    apply_token_bitmask(logits, np.array([2, 1], dtype=np.int32))
    assert np.flatnonzero(np.isfinite(logits)).tolist() == [1, 32]


def test_rows_name_the_logits_that_are_judged():
    logits = np.zeros((4, 3), dtype=np.float32)
    apply_token_bitmask(logits, np.array([[1], [2]], dtype=np.int32), rows=[3, 1])
    assert np.isfinite(logits).tolist() == [
        [True] * 3,
        [False, True, False],
        [True] * 3,
        [True, False, False],
    ]


def test_strided_logits_and_bitmask_keep_what_lies_between():
    storage = np.zeros((3, 50), dtype=np.float32)
    words = np.full((3, 4), 1, dtype=np.int32)
    apply_token_bitmask(storage[:, 5:40], words[:, :2])
    assert np.flatnonzero(np.isfinite(storage[1])).tolist() == [
        0,
        1,
        2,
        3,
        4,
        5,
        37,
        *range(40, 50),
    ]


def test_a_dead_row_is_an_error_and_the_others_are_masked():
    logits = np.zeros((3, 5), dtype=np.float32)
    bitmask = np.array([[1], [0b1110_0000], [2]], dtype=np.int32)  # row 1: ids 5, 6, 7
    with pytest.raises(DeadEndError, match=r"none of the 5 ids of logits row 1"):
        apply_token_bitmask(logits, bitmask)
    assert np.isfinite(logits).tolist() == [
        [True] + [False] * 4,
        [False] * 5,
        [False, True] + [False] * 3,
    ]


@pytest.mark.parametrize(
    ("logits", "rows", "message"),
    [
        ([[0.0]], None, r"not a list"),
        (np.zeros((2, 4), dtype=np.int32), None, r"float32.*got a NumPy int32"),
        (np.zeros((2, 4), dtype=">f4"), None, r"float32.*got a NumPy >f4"),
        (np.zeros((1, 2, 4), dtype=np.float32), None, r"\[batch, vocab_size\]; got .*\[1, 2, 4\]"),
        (np.zeros((2, 8), dtype=np.float32)[:, ::2], None, r"contiguous in their last dimension"),
        (torch.zeros(4, 2).T, None, r"contiguous in their last dimension"),
        (np.zeros((3, 4), dtype=np.float32), None, r"2 rows of bitmask for 3 rows of logits"),
        (np.zeros((3, 4), dtype=np.float32), [0], r"1 entries in rows for 2 rows of bitmask"),
        (np.zeros((3, 4), dtype=np.float32), [0, 3], r"names row 3, and the logits have 3 rows"),
        (np.zeros((3, 4), dtype=np.float32), [0, -1], r"names row -1"),
        (np.zeros((3, 4), dtype=np.float32), [1, 1], r"named twice"),
        (np.zeros((3, 4), dtype=np.float32), [0.5, 1], r"row indices was expected"),
        (np.broadcast_to(np.float32(0), (2, 4)), None, r"."),
    ],
)
def test_apply_refuses(logits, rows, message):
    with pytest.raises(SamplingError, match=message):
        apply_token_bitmask(logits, np.ones((2, 1), dtype=np.int32), rows=rows)


def test_a_device_bitmask_needs_logits_on_that_device():
    bitmask = torch.zeros(1, 1, dtype=torch.int32, device="meta")
    with pytest.raises(SamplingError, match="on the device of the logits"):
        apply_token_bitmask(np.zeros((1, 4), dtype=np.float32), bitmask)
