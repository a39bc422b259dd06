"""The law, by brute force.

A token is allowed exactly if the text so far and its bytes begin some sentence, an end token
exactly if the text so far is a sentence. Every prefix that tokens reach up to some length, every
token.
"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import constrain
from constrain import CompiledGrammar, Grammar, Limits
from constrain.algebra import reference as ref
from constrain.algebra import terms as t
from constrain.kernels.derive import layout as lay
from tests.algebra.strategies import ALPHABET, boolean_terms
from tests.matcher.vocabularies import JSON, NASTY, allowed_ids
from tests.reference.recogniser import accepts


def check_law(term, vocab, begins_a_sentence, is_sentence, depth, width=3):
    """Compare every mask down to `depth` tokens, following `width` allowed tokens at each place."""
    # Not by `compile`, which refuses what this vocabulary cannot spell.
    compiled = CompiledGrammar(Grammar(term, "test"), vocab, Limits())
    assert compiled.automaton.is_empty(compiled.automaton.start) == (not begins_a_sentence(b""))
    if compiled.automaton.is_empty(compiled.automaton.start):
        return
    bitmask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
    # Without masks states have no rows: texts are stepped through, for ever, or each makes a row.
    unmasked = []
    for patience in (0, lay.MAX_PATIENCE):
        without = CompiledGrammar(Grammar(term, "test"), vocab, Limits())
        without.automaton._store.arena[lay.PATIENCE] = patience
        unmasked.append(without.matcher())
    todo = [(compiled.matcher(), unmasked, b"", 0)]
    while todo:
        matcher, unmasked, prefix, length = todo.pop()
        expected = {
            i
            for i, text in enumerate(vocab.token_bytes)
            if text and begins_a_sentence(prefix + text)
        }
        assert matcher.is_accepting == is_sentence(prefix)
        if matcher.is_accepting:
            expected |= set(vocab.eos_token_ids)
        if not expected:  # the bytes go on, but no token of this vocabulary spells them
            with pytest.raises(constrain.DeadEndError):
                matcher.fill_next_token_bitmask(bitmask)
            continue
        restricts = matcher.fill_next_token_bitmask(bitmask)
        assert allowed_ids(bitmask, 0, vocab.vocab_size) == expected, (prefix, expected)
        assert restricts == (len(expected) < vocab.vocab_size)
        for i in range(vocab.vocab_size):
            for one in (*unmasked, matcher):
                assert (one.validate_tokens([i]) == 1) == (i in expected), (prefix, i)
        text_ids = sorted(i for i in expected if i not in vocab.eos_token_ids)
        for i in text_ids[:: max(1, len(text_ids) // width)]:
            if length < depth:
                after, *others = forks = [one.fork() for one in (matcher, *unmasked)]
                assert all(one.accept_token(i) for one in forks)
                todo.append((after, others, prefix + vocab.token_bytes[i], length + 1))


def by_reference(term):
    slow = ref.Reference()
    root = slow.intern(term)
    alive = {}

    def begins(text):
        node = slow.after(root, text)
        if node not in alive:
            alive[node] = not slow.empty(node)
        return alive[node]

    return begins, lambda text: slow.accepts(root, text)


@settings(max_examples=150)
@given(boolean_terms)
def test_masks_of_random_terms(term):
    check_law(term, NASTY, *by_reference(term), depth=2)


# Languages whose sentences have at most 4 bytes, so that all of them can be listed.
finite_leaves = st.one_of(
    st.just(t.EPS),
    st.sets(st.sampled_from(list(ALPHABET)), min_size=1).map(t.byte_class),
)
up_to_4 = t.repeat(t.byte_class(ALPHABET), 0, 4)
finite_terms = st.recursive(
    finite_leaves,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda ts: t.cat(*ts)),
        st.lists(inner, min_size=1, max_size=3).map(t.alt),
        st.tuples(inner, st.integers(0, 2), st.integers(0, 2)).map(
            lambda p: t.repeat(p[0], p[1], p[1] + p[2])
        ),
        st.lists(inner, min_size=2, max_size=2).map(t.intersect),
        inner.map(t.complement),
    ),
    max_leaves=6,
).map(lambda term: t.intersect((term, up_to_4)))


@settings(max_examples=60)
@given(finite_terms)
def test_masks_against_the_list_of_all_sentences(term):
    sentences = {
        text
        for length in range(5)
        for text in map(bytes, itertools.product(ALPHABET, repeat=length))
        if accepts(term, text)
    }
    prefixes = {s[:i] for s in sentences for i in range(len(s) + 1)}
    check_law(term, NASTY, prefixes.__contains__, sentences.__contains__, depth=4)


REGEXES = [
    "a|b|ab",
    "(ab)*",
    "(a|ab)(ba|b)?",
    "é{2}|a",
    "[😀-😂]+",
    "(?=ab).*b",
    "(?!aa)[ab]{2,5}",
    "a{3,}b?",
    "(|a)b",
]


@pytest.mark.parametrize("pattern", REGEXES)
def test_masks_of_regexes(pattern):
    term = Grammar.from_regex(pattern).term
    check_law(term, NASTY, *by_reference(term), depth=4)


SCHEMAS = [
    {"type": "boolean"},
    {"type": "integer", "minimum": -1, "maximum": 12},
    {"type": "string", "maxLength": 2},
    {"type": "string", "pattern": "^a+b$", "maxLength": 3},
    {"enum": ["a", "ab", 1, 12, None, [1]]},
    {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
    {"type": "array", "prefixItems": [{"const": 1}], "items": {"type": "null"}, "minItems": 1},
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"const": "x"}},
        "required": ["b"],
        "additionalProperties": False,
    },
    {
        "$ref": "#/$defs/t",
        "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}, "maxItems": 1}},
    },
]


@pytest.mark.parametrize("style", ["canonical", "any"])
@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
def test_masks_of_schemas(schema, style):
    term = Grammar.from_json_schema(schema, style=style).term
    # Numbers and whitespace without bound: the slow search is kept to what these texts reach.
    begins, sentence = by_store(term)
    check_law(term, JSON, begins, sentence, depth=5, width=2)


def by_store(term):
    """The slow answer from single bytes: the walk over tokens is what is tested."""
    grammar = Grammar(term, "test")

    def begins(text):
        rejection = grammar.first_rejection(text)
        return rejection is None or rejection.at_end

    return begins, grammar.accepts


def test_a_token_may_span_several_lexemes():
    compiled = constrain.compile(
        Grammar.from_json_schema({"type": "object", "properties": {"a": {"type": "array"}}}), JSON
    )
    matcher = compiled.matcher()
    bitmask = constrain.allocate_token_bitmask(1, JSON.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    allowed = {JSON.token_bytes[i] for i in allowed_ids(bitmask, 0, JSON.vocab_size)}
    assert {b"{", b'{"', b'{"a":'} <= allowed
    assert b"}" not in allowed
