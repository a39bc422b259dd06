"""The forest of plain text is kept on disk with the vocabulary, and made again where it is none."""

from __future__ import annotations

import numpy as np
import pytest

# Imported before the cache is another one: kernels that are compiled are kept in it too.
from constrain import Grammar, allocate_token_bitmask, compile
from constrain.automaton import slices
from constrain.kernels.walk import layout as lay
from constrain.vocab import Vocabulary, disk_cache

TOKENS = [
    *(bytes([byte]) for byte in range(256)),
    *(b'"' + word for word in (b"a", b"ab", b'a"', b'a": ', b'",', b'", "')),
    *(b'"' + bytes([65 + i, 66 + k]) for i in range(8) for k in range(8)),
    *(b"word", b'word"', b'word",', "é".encode(), "é".encode()[:1], b'"\n', b"\\n"),
    None,
]
FIELDS = ("children", "starts", "tokens", "end", "plain", "max_depth")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(disk_cache, "MIN_TOKENS", 1)
    return tmp_path


def vocabulary():
    return Vocabulary(TOKENS, [len(TOKENS) - 1], vocab_size=400)


def contents(vocab):
    forest = slices.forest_of(vocab)
    return {field: np.asarray(getattr(forest, field)).tolist() for field in FIELDS}


def test_it_is_read_in_the_next_process(folder, monkeypatch):
    made = contents(vocabulary())
    assert len(list(folder.rglob("*.forest.arrays"))) == 1

    def refuse(_):
        raise AssertionError("it should have been read")

    monkeypatch.setattr(slices, "_make", refuse)
    vocab = vocabulary()
    assert contents(vocab) == made
    assert not any(getattr(slices.forest_of(vocab), field).flags.writeable for field in FIELDS[:-1])


def test_masks_are_the_same():
    grammar = Grammar.from_json_schema({"type": "array", "items": {"type": "string"}})
    rows = []
    for _ in range(2):
        vocab = vocabulary()
        matcher = compile(grammar, vocab).matcher()
        bitmask = allocate_token_bitmask(1, vocab.vocab_size)
        for byte in b'["ab", "word\xc3\xa9\\n"]':
            matcher.fill_next_token_bitmask(bitmask)
            rows.append(bitmask[0].tolist())
            assert matcher.accept_token(byte)
    half = len(rows) // 2
    assert rows[:half] == rows[half:]


def damaged(arrays):
    """Arrays that lead a walk astray, each in another way."""
    plain = arrays["plain"]
    jump = int(plain[lay.JUMPS_AT])
    assert plain[lay.NUM_JUMPS] > 0

    def changed(name, at, value):
        array = arrays[name].copy()
        array[at] = value
        return {**arrays, name: array}

    for name in arrays:
        yield {**arrays, name: arrays[name][:-1]}
        yield {**arrays, name: arrays[name].astype(np.uint8)}
        yield {other: array for other, array in arrays.items() if other != name}
    for at in range(lay.PLAIN_HEAD + 1):
        yield changed("plain", at, 1 << 30)
        yield changed("plain", at, -7)
    for at in range(lay.JUMP):
        yield changed("plain", jump + at, 1 << 30)
        yield changed("plain", jump + at, -7)
    for name in ("children", "starts", "tokens", "end"):
        for at in (0, -1, -2):
            yield changed(name, at, 1 << 30)
            yield changed(name, at, -7)


def test_what_is_no_forest_is_made_again(folder):
    made = contents(vocabulary())
    (path,) = folder.rglob("*.forest.arrays")
    arrays = disk_cache.load_arrays(path)
    count = 0
    for wrong in damaged(arrays):
        assert disk_cache.save_arrays(path, wrong)
        assert contents(vocabulary()) == made
        count += 1
    assert count == 68
