"""What grammars over one vocabulary share in memory, and how it is bounded."""

import gc
import weakref

import numpy as np
import pytest

from constrain.automaton import Automaton, heads, scratch
from constrain.automaton.heads import Head, HeadRows, Places, head_rows_of
from constrain.automaton.named import others_of
from constrain.automaton.rows import SharedRows, shared_rows_of
from constrain.automaton.slices import forest_of
from constrain.grammar import Grammar
from constrain.limits import Limits
from constrain.vocab import Vocabulary

ALPHABET = [bytes([b]) for b in range(256)]
WORDS = [f"{a}{b}".encode() for a in "abcdefgh" for b in '",: abcdefgh']


def vocabulary() -> Vocabulary:
    return Vocabulary([*ALPHABET, *WORDS, None], [len(ALPHABET) + len(WORDS)])


def row_after(automaton: Automaton, text: bytes):
    return automaton.mask_row(automaton.after_bytes(automaton.start, text))


def test_grammars_with_equal_rows_have_one_of_them():
    vocab = vocabulary()
    one, other = (
        Automaton(Grammar.from_regex(pattern), vocab, Limits())
        for pattern in ("x[a-z]*", "y[a-z]*")
    )
    assert row_after(one, b"x") is row_after(other, b"y")
    assert row_after(one, b"") is not row_after(other, b"")


def test_a_row_goes_with_the_last_grammar_that_has_it():
    vocab = vocabulary()
    one, other = (Automaton(Grammar.from_regex("x[a-z]*"), vocab, Limits()) for _ in range(2))
    for automaton in (one, other):
        row_after(automaton, b"x")
    rows = shared_rows_of(vocab)._rows
    del one, automaton
    gc.collect()
    assert len(rows) == 1
    del other
    gc.collect()
    assert len(rows) == 0


@pytest.mark.parametrize("of", [forest_of, head_rows_of, shared_rows_of, others_of])
def test_what_a_vocabulary_shares_goes_with_it(of):
    vocab = vocabulary()
    assert row_after(Automaton(Grammar.from_regex('"[a-z]*"'), vocab, Limits()), b'"') is not None
    shared = of(vocab)
    assert of(vocab) is shared
    ends = weakref.ref(vocab)
    del vocab
    gc.collect()
    assert ends() is None


def test_rows_of_one_summary_are_told_apart():
    rows = SharedRows(64)
    first = rows.row(np.array([1, 0], np.int32), (1, 5, 5))
    second = rows.row(np.array([2, 0], np.int32), (1, 5, 5))
    assert (first.words.tolist(), second.words.tolist()) == ([1, 0], [2, 0])
    assert rows.row(np.array([2, 0], np.int32), (1, 5, 5)) is second


def test_walks_at_a_time_have_arrays_of_their_own():
    one = scratch.take(4, 100)
    other = scratch.take(4, 100)
    assert one is not other
    scratch.give_back(one)
    assert scratch.take(4, 100) is one
    scratch.give_back(one)
    larger = scratch.take(4, 10 * len(one.unsure))
    assert larger.fits(4, 10 * len(one.unsure))


def test_the_trie_lies_in_the_forest():
    vocab = vocabulary()
    before = vocab.trie.children.copy()
    forest = forest_of(vocab)
    for field in ("children", "starts", "tokens", "end"):
        assert np.shares_memory(getattr(vocab.trie, field), getattr(forest, field)), field
    assert np.array_equal(vocab.trie.children, before)
    assert not vocab.trie.children.flags.writeable


def a_head(vocab: Vocabulary) -> Head:
    counts = vocab.trie.depth.astype(np.int32)
    return Head(vocab, Places.of(vocab.trie), counts, np.zeros(len(counts), np.bool_))


def test_all_that_a_head_holds_is_counted():
    vocab = vocabulary()
    head = a_head(vocab)
    empty = head.nbytes
    words = (vocab.vocab_size + 31) // 32 * 4
    assert empty >= vocab.vocab_size
    for hi in range(3):
        head.row(0, hi)
    assert head.nbytes == empty + 2 * words  # tokens begin at most two


def test_heads_stay_within_their_bound(monkeypatch):
    vocab = vocabulary()
    size = a_head(vocab).nbytes
    monkeypatch.setattr(heads, "MAX_HEAD_BYTES", 3 * size + 10)
    rows = HeadRows(vocab)
    for number in range(5):
        rows.put(bytes([number]), a_head(vocab))
    assert [rows.get(bytes([number])) is not None for number in range(5)] == [False] * 2 + [
        True
    ] * 3
    assert rows.nbytes <= heads.MAX_HEAD_BYTES
    last = rows.get(b"\4")
    rows.row(last, 0, 0)  # a row more is too much
    assert [rows.get(bytes([number])) is not None for number in range(5)] == [False] * 3 + [
        True
    ] * 2


def test_one_head_that_is_too_large_is_kept(monkeypatch):
    vocab = vocabulary()
    monkeypatch.setattr(heads, "MAX_HEAD_BYTES", 1)
    rows = HeadRows(vocab)
    rows.put(b"a", a_head(vocab))
    rows.put(b"b", a_head(vocab))
    assert rows.get(b"a") is None
    assert rows.get(b"b") is not None
