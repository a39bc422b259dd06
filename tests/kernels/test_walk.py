"""The walk against the reference, which tries every token alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from constrain import Grammar, Limits
from constrain.algebra import terms as t
from constrain.algebra.store import DEAD
from constrain.automaton import Automaton
from constrain.kernels.walk.reference import allowed_tokens
from tests.algebra.strategies import boolean_terms, capturing_terms, texts
from tests.matcher.vocabularies import JSON, NASTY


def token_ids(words):
    """The ids whose bits are set, ascending."""
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist()


def check(automaton, vocab):
    if automaton.is_empty(automaton.start):
        return
    allowed = token_ids(automaton.walk_mask(automaton.start))
    expected = allowed_tokens(automaton.start, vocab.token_bytes, automaton.after_bytes)
    assert set(allowed) - set(vocab.eos_token_ids) == expected


@given(boolean_terms)
def test_random_terms(term):
    check(Automaton(Grammar(term, "test"), NASTY, Limits()), NASTY)


@given(capturing_terms, texts)
def test_terms_that_capture(term, text):
    automaton = Automaton(Grammar(term, "test"), NASTY, Limits())
    state = automaton.start
    for b in text:
        if state == DEAD or automaton.is_empty(state):
            return
        allowed = token_ids(automaton.walk_mask(state))
        expected = allowed_tokens(state, NASTY.token_bytes, automaton.after_bytes)
        assert set(allowed) - set(NASTY.eos_token_ids) == expected
        assert allowed == automaton.mask_row(state).token_ids()
        for token in expected:  # what a short walk has told of the states after tokens is so
            after = automaton.after_bytes(state, NASTY.token_bytes[token])
            assert automaton.after_token(state, token) == after
        state = automaton.after_bytes(state, bytes([b]))


@pytest.mark.parametrize("pattern", [r'"[^"]*"', r"\{.*\}", "(?:[a-z]|é)+", r"[\s\S]*"])
def test_patterns(pattern):
    check(Automaton(Grammar.from_regex(pattern), JSON, Limits()), JSON)


def test_a_token_that_ends_inside_a_captured_text_leads_to_what_follows_that_text():
    words = (b"abababab", b"bbbbbbbb")  # longer than any token, so that none reaches past them
    term = t.cat(
        t.literal(b"a"), t.capture(t.alt(map(t.literal, words)), lambda word: t.literal(word[:2]))
    )
    automaton = Automaton(Grammar(term, "test"), NASTY, Limits())
    automaton.mask_row(automaton.start)
    token = NASTY.token_bytes.index(b"ab")
    after = automaton.after_token(automaton.start, token)
    assert after == automaton.after_bytes(automaton.start, b"ab")
    assert automaton.after_bytes(after, b"bbbbbbbbb") != DEAD
    assert automaton.after_bytes(after, b"bbbbbbba") == DEAD


@pytest.mark.parametrize("letters", [b"a", b"ab"])
@pytest.mark.parametrize("text", [b"aa", b"ab", b"ba"])
@pytest.mark.parametrize("negate", [False, True])
def test_texts_that_are_not_known_are_not_taken_for_the_same(letters, text, negate):
    # Both sides have captured a text; blurred they look alike, and are not.
    def follow(word):
        return t.literal(word + b"a")

    one = t.capture(t.byte_class(letters), follow, before=t.byte_class(b"ab"))
    other = t.capture(t.capture(t.literal(text), follow, before=t.EPS), follow, before=t.EPS)
    for term in (
        t.intersect((one, t.complement(other) if negate else other)),
        t.intersect((one, t.capture(t.byte_class(b"ab"), lambda w: t.literal(b"b" + w)))),
    ):
        check(Automaton(Grammar(term, "test"), NASTY, Limits()), NASTY)
