"""Keys that came, one more at a time, are a set."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from constrain.algebra.reference import Reference
from constrain.algebra.terms import EMPTY, literal
from constrain.frontends.json_schema.taken import NOTHING

keys = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abcdef")), unique=True, max_size=9)


def taken(entries):
    found = NOTHING
    for region, key in entries:
        found = found.with_key(region, key, literal(key.encode()))
    return found


@given(keys, st.data())
def test_it_is_the_set_of_its_keys(entries, data):
    other = data.draw(st.one_of(st.permutations(entries), keys))
    assert (taken(entries) == taken(other)) == (set(entries) == set(other))
    assert set(entries) != set(other) or hash(taken(entries)) == hash(taken(other))
    assert bool(taken(entries)) == bool(entries)
    assert sorted(taken(entries).regions()) == sorted(region for region, _ in entries)


@given(keys)
def test_the_next_key_is_told_by_the_spellings_of_its_region(entries):
    found, slow = taken(entries), Reference()
    for region in range(3):
        here = {key for r, key in entries if r == region}
        spellings = found.spellings(region)
        assert (spellings is EMPTY) == (not here)
        assert found.count(region) == len(here)
        assert {k for k in "abcdef" if slow.accepts(slow.intern(spellings), k.encode())} == here


def test_sets_of_one_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr("constrain.frontends.json_schema.taken._HASH_MASK", 0)
    one, other = taken([(0, "a")]), taken([(0, "b")])
    assert hash(one) == hash(other)
    assert one != other
    assert taken([(0, "a"), (0, "b")]) == taken([(0, "b"), (0, "a")])
