"""Rows of heads that a quote closes, and of what follows them, are those of the plain walk."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from constrain import Grammar, Limits, Vocabulary
from constrain.algebra import terms as t
from constrain.algebra.store import TermStore
from constrain.algebra.structure import Structure
from constrain.automaton import Automaton, closed
from constrain.automaton.closed import ClosedHeads
from tests.algebra.strategies import boolean_terms, plain_terms

QUOTED = Vocabulary(
    [bytes(p) for n in range(1, 5) for p in itertools.product(b'ab",', repeat=n)] + [None],
    eos_token_ids=[4 + 16 + 64 + 256],
)
TEXTS = [bytes(p) for n in range(4) for p in itertools.product(b'ab"', repeat=n)]
QUOTE = t.literal(b'"')


def rule_of(term, name="after"):
    """A rule with this language, without the empty text."""
    body = t.non_nullable(term)
    store = TermStore()
    assume(not store.is_empty(store.intern(body)))
    return t.Rule(name, lambda: body)


def check(term, texts=TEXTS):
    """How many states have a closed head; their rows are those of the plain walk."""
    automaton = Automaton(Grammar(term, "test"), QUOTED, Limits())
    count = 0
    if automaton.is_empty(automaton.start):
        return count
    for text in texts:
        state = automaton.after_bytes(automaton.start, text)
        row = None if state == 0 else automaton._rows._make_of_closed(state)
        if row is not None:
            assert (row.words == automaton.walk_mask(state)).all(), text
            count += 1
    return count


letters = st.sampled_from([t.byte_class(b"ab"), t.byte_class(b'ab"'), t.byte_class(b"a,")])
repeats = st.builds(t.repeat, letters, st.integers(0, 2), st.sampled_from([2, 3, 7, None]))
pieces = st.one_of(plain_terms, boolean_terms, repeats)


@settings(max_examples=200)
@given(st.lists(pieces, min_size=1, max_size=3), plain_terms, st.booleans())
def test_heads_before_a_rule(parts, after, is_list):
    item = t.cat(*parts, QUOTE)
    end = rule_of(after)
    more = t.Rule("more", lambda: t.cat(t.literal(b'"'), t.cat(*parts), t.literal(b'"')))
    check(t.cat(item, t.repeat(more, 0, 3), end) if is_list else t.cat(item, end))


@settings(max_examples=200)
@given(st.lists(st.lists(pieces, max_size=2), min_size=2, max_size=3), pieces, plain_terms)
def test_unions_of_which_all_members_end_alike(begins, shared, after):
    end = rule_of(after)
    members = [t.cat(*begin, shared, QUOTE, end) for begin in begins]
    check(t.alt(members))
    check(t.cat(shared, t.alt([*members, t.cat(QUOTE, end)])))


@settings(max_examples=100)
@given(pieces, pieces, plain_terms)
def test_rules_in_a_head_are_taken_for_their_bodies(pattern, bound, after):
    string = rule_of(pattern, "string")
    check(t.cat(t.intersect((string, bound)), QUOTE, rule_of(after)))
    check(t.cat(string, QUOTE, rule_of(after)))


@settings(max_examples=100)
@given(pieces, pieces, pieces, plain_terms)
def test_rules_deeper_in_an_intersection_stay_where_they_are(pattern, other, bound, after):
    string = rule_of(pattern, "string")
    for inside in (t.cat(other, string), t.alt((other, string)), t.repeat(string, 0, 3)):
        check(t.cat(t.intersect((inside, bound)), QUOTE, rule_of(after)))


@pytest.mark.parametrize(
    ("text", "head"),
    [
        (b'["', True),
        (b'["a', True),
        (b'["a,b', True),
        (b'["a,b,a', True),
        (b"[", False),  # not in the string
        (b'["a"', False),
    ],
)
def test_which_states_have_one(text, head):
    word = t.repeat(t.byte_class(b"ab"), 1, None)
    words = t.cat(t.repeat(t.cat(word, t.literal(b",")), 0, 5), word)
    item = t.Rule("item", lambda: t.cat(QUOTE, words, QUOTE))
    term = t.cat(t.literal(b"["), item, t.repeat(t.cat(t.literal(b","), item), 0, 4))
    end = t.Rule("end", lambda: t.literal(b"]"))
    vocab = Vocabulary([*(bytes([b]) for b in range(256)), b'a"', b'"]', None], [258])
    automaton = Automaton(Grammar(t.cat(term, end), "test"), vocab, Limits())
    state = automaton.after_bytes(automaton.start, text)
    assert (automaton._rows._make_of_closed(state) is not None) == head


def test_what_a_union_ends_with_is_taken_out_of_it():
    store = TermStore()
    end = t.Rule("end", lambda: t.literal(b"]"))
    x = t.repeat(t.byte_class(b"ab"), 0, None)
    state = store.intern(
        t.cat(x, t.alt((t.cat(QUOTE, end), t.cat(t.literal(b","), x, QUOTE, end))))
    )
    heads = ClosedHeads(store, Structure(store), QUOTED, None, None, None)
    head, after = heads.split(state)
    assert head == store.intern(t.cat(x, t.alt((t.EPS, t.cat(t.literal(b","), x))), QUOTE))
    assert after == store.intern(end)
    # The members below end with different rules.
    other = t.Rule("other", lambda: t.literal(b"]"))
    assert heads.split(store.intern(t.alt((t.cat(x, QUOTE, end), t.cat(QUOTE, other))))) is None


def test_a_head_is_looked_at_once_for_all_places_and_grammars(monkeypatch):
    looked_at = []
    ends = ClosedHeads._ends
    spy = lambda heads, head, n: looked_at.append(head) or ends(heads, head, n)  # noqa: E731 - short
    monkeypatch.setattr(ClosedHeads, "_ends", spy)
    tokens = [bytes([b]) for b in range(256)] + [b'",', b'","', b'"}', b'"]', b"aa", None]
    vocab = Vocabulary(tokens, eos_token_ids=[len(tokens) - 1])
    item = {"type": "string", "pattern": "^[a-z]+( [a-z]+){0,3}$"}
    lists = {"type": "array", "items": item, "maxItems": 5}
    for schema in (lists, {"properties": {"x": item, "y": lists}, "required": ["x", "y"]}):
        automaton = Automaton(Grammar.from_json_schema(schema), vocab, Limits())
        for start in (b'["ab', b'["cd","ab', b'{"x":"ab', b'{"x":"xy","y":["z","ab'):
            state = automaton.after_bytes(automaton.start, start)
            if state != 0:
                row = automaton.mask_row(state).words
                assert (row == automaton.walk_mask(state)).all(), start
    assert len(looked_at) == 1


def test_heads_are_kept_within_a_bound(monkeypatch):
    monkeypatch.setattr(closed, "MAX_BYTES", 3000)
    vocab = Vocabulary([bytes([b]) for b in range(256)] + [None], eos_token_ids=[256])
    schema = {"type": "string", "pattern": "^[a-z]{0,20}[A-Z]+$"}
    automaton = Automaton(Grammar.from_json_schema({"items": schema}), vocab, Limits())
    for n in range(20):
        state = automaton.after_bytes(automaton.start, b'["' + b"a" * n)
        assert (automaton.mask_row(state).words == automaton.walk_mask(state)).all()
    known = closed._closed_heads_of(vocab)
    assert 0 < sum(head.nbytes for head in known._heads.values()) <= 3000
    assert known._nbytes == sum(head.nbytes for head in known._heads.values())
