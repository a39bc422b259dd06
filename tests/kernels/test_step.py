"""A step by one byte without a row leads where the row leads, and makes what the row makes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from constrain import Grammar, Limits
from constrain.algebra import terms as t
from constrain.algebra.store import DEAD, PATIENCE, TermStore
from constrain.automaton import Automaton
from constrain.kernels.derive import layout as lay
from tests.algebra.strategies import (
    ALPHABET,
    Tokens,
    boolean_terms,
    capturing_terms,
    plain_terms,
    token_terms,
)
from tests.matcher.vocabularies import NASTY


def patient_store():
    """A store that makes no row unless it is asked for one."""
    store = TermStore(tokens=Tokens())
    store.arena[lay.PATIENCE] = lay.MAX_PATIENCE
    return store


@settings(max_examples=300)
@given(st.one_of(plain_terms, boolean_terms, capturing_terms, token_terms))
def test_steps_lead_to_the_states_of_rows(term):
    store = patient_store()
    todo = [store.intern(term)]
    for state in todo:
        if state == DEAD or store.is_bytewise(state):
            continue
        stepped = [store.advance(state, bytes([b])) for b in ALPHABET]
        store.make_first(state)
        assert stepped == [store.advance(state, bytes([b])) for b in ALPHABET]
        if len(todo) < 8:
            todo += stepped


def test_what_comes_again_gets_a_row():
    store = TermStore()
    state = store.intern(t.star(t.literal(b"ab")))
    other = store.advance(state, b"a")
    for rounds in range(PATIENCE + 1):
        assert bool(store.arena[lay.NODE * state + lay.ROW_STATE]) == (rounds == PATIENCE), rounds
        assert store.advance(state, b"a") == other


def test_parts_that_share_parts_take_no_time_that_is_exponential():
    x = t.literal(b"c")
    for _ in range(100):
        x = t.alt((t.cat(t.optional(t.literal(b"a")), x), t.cat(t.optional(t.literal(b"b")), x)))
    store = TermStore()
    assert store.nullable(store.advance(store.intern(x), b"c"))


def test_a_far_bound_takes_two_terms_a_byte():
    store = TermStore()
    bounded = t.repeat(t.alt((t.byte_class(range(32, 128)), t.literal("é".encode()))), 0, 10**6)
    state = store.advance(store.intern(t.cat(bounded, t.literal(b"\x00"))), b"a" * 100)
    before = store.num_terms
    assert store.advance(state, b"a" * 1000) != DEAD
    assert store.num_terms <= before + 2000


def test_rules_are_made_where_an_intersection_is_dead_already():
    # As a whole `ab` is outside of what begins with a: only the rule says that it may come.
    ab = NASTY.token_bytes.index(b"ab")
    names = t.Rule("names", lambda: t.alt((t.token(ab), t.literal(b"c"))))
    outside = t.complement(t.cat(t.literal(b"a"), t.ALL))
    # That something may come is plain from the b: nothing is searched, which would make rules.
    both, other = t.intersect((outside, names)), t.cat(t.literal(b"b"), outside)
    for members in ((both, other), (other, both)):
        automaton = Automaton(Grammar(t.alt(members), "test"), NASTY, Limits())
        assert automaton.after_token(automaton.start, ab) != DEAD
