"""A store that starts with a prelude is any other store, and shares nothing with its siblings."""

from __future__ import annotations

import pytest
from hypothesis import given

from constrain.algebra.prelude import Prelude
from constrain.algebra.reference import Reference
from constrain.algebra.store import DEAD, TermStore
from constrain.algebra.terms import (
    Rule,
    alt,
    capture,
    cat,
    complement,
    intersect,
    literal,
    repeat,
    special_token,
    star,
)
from tests.algebra.strategies import boolean_terms, texts

WORD = star(alt((literal(b"a"), literal(b"b"))))
NUMBER = repeat(literal(b"0"), 1, 3)
PRELUDE = Prelude([WORD, NUMBER, intersect((WORD, complement(literal(b"ab"))))])


@given(boolean_terms, texts)
def test_terms_mean_the_same(term, tail):
    reference = Reference()
    whole = alt((cat(WORD, term), NUMBER))
    expected = reference.intern(whole)
    store = TermStore(start=PRELUDE.start())
    start = store.intern(whole)
    for text in (b"", b"ab", b"00", tail, b"a" + tail, b"bab" + tail):
        state = store.advance(start, text)
        assert (state != DEAD and store.nullable(state)) == reference.accepts(expected, text)


def test_what_is_in_it_is_there():
    stores = [TermStore(start=PRELUDE.start()), TermStore(start=PRELUDE.start())]
    before = [store.num_terms for store in stores]
    assert stores[0].intern(WORD) == stores[1].intern(WORD)
    assert [store.num_terms for store in stores] == before
    stores[0].intern(literal(b"something else"))
    assert stores[1].num_terms == before[1]
    assert TermStore(start=PRELUDE.start()).num_terms == before[1]


@pytest.mark.parametrize(
    "term",
    [
        Rule("r", lambda: WORD, nullable=True),
        cat(WORD, capture(WORD, lambda _: NUMBER)),
        special_token("<x>"),
    ],
)
def test_what_a_store_numbers_is_left_out(term):
    alone = TermStore(start=Prelude([WORD]).start())
    store = TermStore(start=Prelude([term, WORD]).start())
    assert store.num_terms == alone.num_terms
    state = store.intern(term)
    assert state != DEAD or term.parts == ()


def test_long_rows_of_shared_tails():
    parts = [literal(bytes([97 + i % 26])) for i in range(300)]
    tails = [cat(*parts[i:]) for i in range(300)]
    store = TermStore()
    start = store.intern(alt(tails))
    for i in (0, 1, 150, 298, 299):
        text = b"".join(bytes([97 + j % 26]) for j in range(i, 300))
        assert store.nullable(store.advance(start, text))
        assert not store.nullable(store.advance(start, text[:-1])) or i == 299
