"""Rows made ahead are the rows made on the way, and no more of them than was asked for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

import constrain
from constrain import Grammar, Limits
from constrain.algebra import terms as t
from constrain.automaton import Automaton
from tests.algebra.strategies import boolean_terms
from tests.matcher.vocabularies import JSON, NASTY

FINITE = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "maxLength": 3},
        "b": {"type": "array", "items": {"enum": [1, 12, "x"]}, "maxItems": 2},
    },
    "required": ["a"],
    "additionalProperties": False,
}
ANY_KEYS = {"type": "object", "properties": {"a": {"type": "integer"}, "ab": {"const": "x"}}}
NESTED = {"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}}


def states_that_tokens_reach(automaton, most):
    seen, todo = {automaton.start}, [automaton.start]
    while todo and len(seen) < most:
        state = todo.pop(0)
        for token_id in automaton.mask_row(state).token_ids():
            after = automaton.after_token(state, token_id)
            if after and after not in seen:
                seen.add(after)
                todo.append(after)
    return seen


def num_rows(automaton):
    return sum(automaton.known_row(s) is not None for s in range(automaton.num_terms))


@settings(max_examples=60)
@given(boolean_terms)
def test_once_all_is_explored_every_mask_is_there(term):
    automaton = Automaton(Grammar(term, "test"), NASTY, Limits())
    if automaton.is_empty(automaton.start) or not automaton.explore(1_000):
        return
    before = num_rows(automaton)
    lazy = Automaton(Grammar(term, "test"), NASTY, Limits())
    for state in states_that_tokens_reach(automaton, 100):
        assert automaton.known_row(state) is not None
        assert (automaton.mask_row(state).words == automaton.walk_mask(state)).all()
    assert num_rows(automaton) == before
    assert len(states_that_tokens_reach(lazy, 100)) == len(states_that_tokens_reach(automaton, 100))


def test_a_schema_that_is_finite_is_explored_whole():
    automaton = Automaton(Grammar.from_json_schema(FINITE), JSON, Limits())
    assert automaton.explore(4_000)
    for state in states_that_tokens_reach(automaton, 300):
        assert automaton.known_row(state) is not None


@pytest.mark.parametrize("schema", [FINITE, ANY_KEYS, NESTED], ids=["finite", "keys", "nested"])
@pytest.mark.parametrize("num_states", [0, 1, 7, 60])
def test_no_more_than_the_budget(schema, num_states):
    automaton = Automaton(Grammar.from_json_schema(schema), JSON, Limits())
    assert not automaton.explore(num_states)
    assert num_rows(automaton) <= 2 * num_states  # a row may be made from another state's
    assert num_states < 2 or num_rows(automaton) > num_states // 2


@pytest.mark.parametrize("schema", [ANY_KEYS, NESTED], ids=["keys", "nested"])
def test_what_has_no_end_stops_at_the_budget(schema):
    limits = Limits(max_terms=16_000)
    automaton = Automaton(Grammar.from_json_schema(schema), JSON, limits)
    assert not automaton.explore(100_000)
    assert not automaton.is_full
    assert automaton.num_terms < limits.max_terms // 8


def test_large_bodies_of_rules_leave_room_for_states():
    # Indentation has no end, and that of each level is longer: 1,024 levels are 3 million terms.
    grammar = Grammar.from_json_schema({"type": "object"}, style="pretty")
    limits = Limits(max_terms=80_000)
    compiled = constrain.compile(grammar, JSON, limits=limits, eager=True)
    assert not compiled.automaton.is_full
    assert compiled.num_terms < limits.max_terms // 8
    assert num_rows(compiled.automaton) > 100


@pytest.mark.parametrize("schema", [FINITE, ANY_KEYS, NESTED], ids=["finite", "keys", "nested"])
def test_eager_and_lazy_allow_the_same(schema):
    grammar = Grammar.from_json_schema(schema)
    eager, lazy = constrain.compile(grammar, JSON, eager=True), constrain.compile(grammar, JSON)
    bitmasks = constrain.allocate_token_bitmask(2, JSON.vocab_size)
    todo = [(eager.matcher(), lazy.matcher())]
    for _ in range(200):
        pair = todo.pop(0)
        try:
            constrain.fill_next_token_bitmasks(pair, bitmasks)
        except constrain.DeadEndError:  # this vocabulary has halves of characters
            continue
        assert (bitmasks[0] == bitmasks[1]).all()
        for token_id in pair[0]._mask_row().token_ids():
            if len(todo) < 300:
                after = pair[0].fork(), pair[1].fork()
                assert after[0].accept_token(token_id)
                assert after[1].accept_token(token_id)
                if not after[0].is_terminated:
                    todo.append(after)


def test_what_is_past_the_limits_is_left_to_whoever_comes_there():
    # Whether anything follows "b" takes a search that is not allowed; after "a" none is needed.
    hard = Grammar.from_regex("(?=[ab]*a[ab]{9}c)(?=[ab]*b[ab]{7}c)[ab]*c").term
    after_b = t.cat(t.literal(b"b"), t.Rule("hard", lambda: hard))
    term = t.alt((t.literal(b"aaa"), after_b))
    automaton = Automaton(Grammar(term, "test"), NASTY, Limits(max_emptiness_states=3))
    assert not automaton.explore(1_000)
    with pytest.raises(constrain.LimitExceededError):
        automaton.mask_row(automaton.start)  # of which "b" and "ba" begin the hard part
    after_a = automaton.known_row(automaton.after_bytes(automaton.start, b"a"))
    assert after_a is not None
    assert after_a.token_ids() == [0, 4]


def test_what_comes_after_a_token_as_a_whole_is_explored_too():
    vocab = constrain.Vocabulary(
        [*(bytes([b]) for b in b"abcdefgh"), None, None], [8], special_tokens={"<call>": 9}
    )
    grammar = Grammar.from_regex("a?") + Grammar.token("<call>") + Grammar.from_regex("b?c")
    automaton = Automaton(grammar, vocab, Limits())
    assert not automaton.explore(100)  # whether that was all is not told
    state = automaton.after_token(automaton.start, 9)
    for token_id in (1, 2):
        assert automaton.known_row(state) is not None
        state = automaton.after_token(state, token_id)


def object_of(properties, **more):
    return {"type": "object", "properties": properties, **more}


def test_what_stands_deep_in_open_objects_comes_before_white_space_and_digits():
    # Breadth first, byte by byte, none of these is there after a thousand states.
    selector = object_of({"matchLabels": object_of({"app": {"type": "string"}})})
    peer = object_of({"ipBlock": {"type": "number"}, "namespaceSelector": selector})
    schema = object_of({"from": {"type": "array", "items": peer}, "to": {"type": "string"}})
    automaton = Automaton(Grammar.from_json_schema(schema), JSON, Limits())
    assert not automaton.explore(400)
    for text in (
        b'{"from": [{"',
        b'{"from": [{"ipBlock": ',
        b'{"from": [{"ipBlock": 1, "',
        b'{"from": [{"namespaceSelector": {"',
        b'{"from": [{"namespaceSelector": {"matchLabels": {"app": "',
        b'{"from": [{"namespaceSelector": {"matchLabels": {"app": "x"}',
        b'{"from": [], "',
        b'{"from": [], "to": "',
    ):
        state = automaton.after_bytes(automaton.start, text)
        assert automaton.known_row(automaton._store.blur(state)) is not None, text


def test_what_follows_a_rule_inside_of_a_union_is_explored_at_once():
    long = t.Rule("long", lambda: t.repeat(t.byte_class(b"ab"), 30, 30))
    last = t.Rule("last", lambda: t.literal(b"!"))
    term = t.cat(t.alt((t.cat(t.literal(b"c"), long), t.cat(t.literal(b"d"), long))), last)
    automaton = Automaton(Grammar(term, "test"), NASTY, Limits())
    assert not automaton.explore(10)
    assert automaton.known_row(automaton._store.intern(last)) is not None


def test_after_some_states_there_is_room_for_as_many_terms_again():
    automaton = Automaton(Grammar.from_json_schema(ANY_KEYS), JSON, Limits())
    assert not automaton.explore(400)
    store = automaton._store
    arena, before = store.arena, automaton.num_terms
    state = automaton.after_bytes(automaton.start, b'{"')
    while automaton.num_terms < 2 * before - 100:
        state = automaton.after_bytes(state, b"k")
    assert store.arena is arena
