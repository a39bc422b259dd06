import numpy as np
import pytest

from constrain.algebra import arena
from constrain.algebra.store import TermStore
from constrain.algebra.terms import alt, byte_class, cat, literal, repeat
from constrain.errors import LimitExceededError
from constrain.kernels.derive import layout as lay

WORDS = [f"{n * 7919 % 10_007:05}" for n in range(2_000)]


def grown_store() -> TermStore:
    """A store that has grown several times, while it interned and while it derived."""
    store = TermStore()
    words = alt([literal(word.encode()) for word in WORDS])
    either = store.intern(cat(words, repeat(byte_class(b"ab"), 1, 3_000), words))
    for word in WORDS[::7]:
        state = store.advance(either, word.encode() + b"ab" * 3)
        assert store.advance(state, word.encode()) != 0
    return store


def test_a_large_arena_holds_what_a_small_one_would(monkeypatch):
    monkeypatch.setattr(arena, "_MAPPED", 1 << 40)
    plain = grown_store().arena
    monkeypatch.setattr(arena, "_MAPPED", 0)
    monkeypatch.setattr(arena, "_BLOCK", 16)
    mapped = grown_store().arena
    assert plain.nbytes > 1_000_000
    assert np.array_equal(plain[lay.OFFSETS :][:24], mapped[lay.OFFSETS :][:24])
    for (section, one), (_, other) in zip(arena._filled(plain), arena._filled(mapped), strict=True):
        assert np.array_equal(one, other), section


def test_a_section_that_cannot_grow_with_its_tables_is_refilled():
    small = arena.empty_arena(arena.FIRST_CAPACITY)
    small[int(small[lay.TABLE])] = 7
    small[int(small[lay.TOKEN_IDS])] = 9
    small[int(small[lay.WORK])] = 5
    more = {**arena.FIRST_CAPACITY, "work": 2 * arena.FIRST_CAPACITY["work"]}
    kept = arena.grown_arena(small, more, tables=True)
    left = arena.grown_arena(small, more, tables=False)
    assert [int(a[int(a[lay.TABLE])]) for a in (kept, left)] == [7, 0]
    assert [int(a[int(a[lay.TOKEN_IDS])]) for a in (kept, left)] == [9, 9]
    assert [int(a[int(a[lay.WORK])]) for a in (kept, left)] == [0, 0], "scratch"


def test_what_a_large_arena_holds_is_what_was_used_of_it():
    store = grown_store()
    assert store.arena.nbytes > arena._MAPPED
    assert store.arena.nbytes / 4 < store.nbytes < store.arena.nbytes
    small = TermStore()
    assert small.nbytes == small.arena.nbytes < arena._MAPPED


def test_an_arena_past_what_offsets_reach_is_refused():
    with pytest.raises(LimitExceededError, match="MAX_ARENA_BYTES"):
        arena.empty_arena({**arena.FIRST_CAPACITY, "nodes": 1 << 28})


@pytest.fixture
def nothing_kept(monkeypatch):
    kept = {}
    monkeypatch.setattr(arena, "_kept", kept)
    return kept


def test_memory_is_used_again_and_is_empty_then(nothing_kept):
    first = arena.empty_arena(arena.FIRST_CAPACITY)
    at = first.ctypes.data
    first[:] = -1
    del first
    again = arena.empty_arena(arena.FIRST_CAPACITY)
    assert again.ctypes.data == at
    assert not again[lay.HEAD :].any()
    other = arena.empty_arena(arena.FIRST_CAPACITY)
    assert other.ctypes.data != at, "it is in use"


def test_memory_that_somebody_looks_at_is_not_used_again(nothing_kept):
    one = arena.empty_arena(arena.FIRST_CAPACITY)
    view = one[lay.HEAD :][5:]
    at = one.ctypes.data
    del one
    view[0] = 7
    assert arena.empty_arena(arena.FIRST_CAPACITY).ctypes.data != at
    assert view[0] == 7


def test_memory_is_kept_up_to_a_bound(nothing_kept):
    def held():
        return sum(memory.nbytes for some in nothing_kept.values() for memory in some)

    many = [arena.empty_arena(arena.FIRST_CAPACITY) for _ in range(40)]
    assert held() == 0
    del many
    assert 0 < held() <= arena.MAX_ALL_KEPT
    before = held()
    large = arena.empty_arena({**arena.FIRST_CAPACITY, "targets": arena.MAX_KEPT})
    del large
    assert held() == before, "large memory goes back to the system"
