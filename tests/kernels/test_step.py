"""A step by one byte without a row leads where the row leads, and makes what the row makes."""

from __future__ import annotations

import itertools

from hypothesis import example, given, settings
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


HOLLOW = t.complement(t.star(t.complement(t.EPS)))
"""Empty, which is found by a search only."""


@settings(max_examples=300)
@given(st.one_of(plain_terms, boolean_terms, capturing_terms, token_terms))
@example(t.alt((t.complement(t.byte_class(b"a")), HOLLOW)))
def test_steps_lead_to_the_states_of_rows(term):
    store = patient_store()
    todo = [store.intern(term)]
    for state in todo:
        if state == DEAD or store.is_bytewise(state):
            continue
        # The first time a part may not be known to be empty, which is left out from then on.
        for _ in range(2):
            stepped = [store.advance(state, bytes([b])) for b in ALPHABET]
        store.make_first(state)
        assert stepped == [store.advance(state, bytes([b])) for b in ALPHABET]
        if len(todo) < 8:
            todo += stepped


LONG_TEXTS = st.lists(st.sampled_from(list(ALPHABET)), max_size=12).map(bytes)
BYTE = t.byte_class(b"\xff")
keys = t.capture(
    t.cat(t.intersect((t.star(t.byte_class(b"ab")), t.complement(t.literal(b"abab")))), BYTE),
    lambda w: t.cat(t.literal(w), BYTE),
    before=t.cat(t.byte_class(b"a\x80"), t.literal(b"b")),
    instead=t.cat(t.byte_class(b"a\x80"), t.literal(b"ab")),
)
"""Like keys of an object, which a quote ends; `BYTE` is the quote."""
again = t.capture(keys.body, lambda w: t.literal(w[::-1]))
like_objects = st.builds(
    lambda names, rest, twice: t.cat(t.alt((*names, keys, *([again] * twice))), rest),
    st.lists(plain_terms, max_size=2),
    boolean_terms,
    st.integers(0, 1),
)


@settings(max_examples=300)
@given(
    st.one_of(plain_terms, boolean_terms, capturing_terms, token_terms, like_objects),
    LONG_TEXTS,
    st.sampled_from([0, 1, lay.MAX_PATIENCE]),
)
def test_several_bytes_lead_where_single_ones_do(term, text, patience):
    store = TermStore(tokens=Tokens())
    store.arena[lay.PATIENCE] = patience
    start = store.intern(term)
    if store.is_empty(start):
        return
    state, reached = store.advance_until_dead(start, text)
    single, count = start, 0
    while count < len(text) and single != DEAD:
        single = store.advance(single, text[count : count + 1])
        count += 1
    assert (state, reached) == (single, count)


@given(st.binary(min_size=1, max_size=12), st.sets(st.integers(1, 12)))
def test_a_captured_text_is_what_was_written(text, cuts):
    text = text.replace(b"\xff", b"\xfe") + b"\xff"
    seen = []
    body = t.cat(t.plus(t.byte_class(range(255))), BYTE)
    captured = t.capture(body, lambda w: seen.append(w) or t.literal(b"a"))
    store = TermStore()
    state = store.intern(captured)
    places = sorted({0, len(text), *[cut for cut in cuts if cut < len(text)]})
    for begin, end in itertools.pairwise(places):
        state = store.advance(state, text[begin:end])
    assert store.advance(state, b"a") != DEAD
    assert seen == [text]


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


def test_a_far_bound_takes_two_terms_a_token():
    store = TermStore()
    bounded = t.repeat(t.alt((t.byte_class(range(32, 128)), t.literal("é".encode()))), 0, 10**6)
    state = store.advance(store.intern(t.cat(bounded, t.literal(b"\x00"))), b"a" * 100)
    before = store.num_terms
    assert store.advance(state, b"a" * 1000) != DEAD
    assert store.num_terms <= before + 2


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
