"""States after tokens that a walk has listed are those that the bytes lead to."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain import Grammar, Limits
from constrain.algebra import terms as t
from constrain.automaton import Automaton
from tests.algebra.strategies import boolean_terms, plain_terms
from tests.matcher.vocabularies import JSON, NASTY


def check_steps(automaton, most):
    """Every step known after the masks of states reached by tokens is that of its bytes."""
    by_hand = Automaton(automaton.grammar, automaton.vocab, Limits())
    texts = automaton.vocab.token_bytes
    todo = [(automaton.start, b"")]
    seen = {automaton.start}
    while todo and len(seen) < most:
        state, text = todo.pop(0)
        for token_id in automaton.mask_row(state).token_ids():
            after = automaton.after_token(state, token_id)
            if token_id in automaton.vocab.eos_token_ids:
                continue
            assert after == automaton.after_bytes(state, texts[token_id]), (text, token_id)
            expected = by_hand.walk_mask(by_hand.after_bytes(by_hand.start, text + texts[token_id]))
            assert (automaton.walk_mask(after) == expected).all(), (text, token_id)
            if after not in seen:
                seen.add(after)
                todo.append((after, text + texts[token_id]))


@pytest.mark.parametrize("bounds", ["{1,30}", "{0,9}", "{8}", "{2,17}", "{0,8}"])
@pytest.mark.parametrize("pattern", ["[ab]%s(é|b)?", "(?!ab|ba)[ab]%s", "a(b[ab]%s)?", "(ab|b)%sa"])
def test_counters_far_from_their_bound(pattern, bounds):
    # A walk looks at a far bound as if there were none. What it lists must not.
    check_steps(Automaton(Grammar.from_regex(pattern % bounds), NASTY, Limits()), 40)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "maxLength": 9},
        {"type": "array", "items": {"type": "boolean"}, "maxItems": 9},
        {"type": "object", "properties": {"a": {"type": "string", "maxLength": 20}}},
        {"enum": ["ab", "abab", 12, 1]},
    ],
    ids=["string", "array", "object", "enum"],
)
def test_schemas(schema):
    check_steps(Automaton(Grammar.from_json_schema(schema), JSON, Limits()), 40)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(boolean_terms, st.tuples(plain_terms, st.integers(0, 20)).map(lambda p: (p,))))
def test_random_terms(term):
    if isinstance(term, tuple):
        ((body, count),) = term
        term = t.repeat(body, count // 2, count)
    automaton = Automaton(Grammar(term, "test"), NASTY, Limits())
    if not automaton.is_empty(automaton.start):
        check_steps(automaton, 12)
