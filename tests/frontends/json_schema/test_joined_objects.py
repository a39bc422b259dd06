"""Objects of which at least one of some keys must be there: one shape for a union of them."""

from __future__ import annotations

import itertools
import json
import random

import pytest

from constrain import Grammar, Limits
from constrain.frontends.json_schema import lower
from constrain.frontends.json_schema.expr import TRUE
from constrain.frontends.json_schema.joined_objects import MOST_CLAUSES, join
from constrain.frontends.json_schema.object import ObjectShape
from tests.frontends.json_schema.texts import Texts

KEYS = "abcd"
INTEGER = {"type": "integer"}


def drawn(rng: random.Random, keys: str = KEYS) -> list[list[str]]:
    return [rng.sample(keys, rng.randint(0, 3)) for _ in range(rng.randint(1, 4))]


def satisfies(shape: ObjectShape, keys: set[str]) -> bool:
    asked = [set(s.only or ()) for key_set, _ in shape.some for s in key_set]
    return keys >= set(shape.required) and all(keys & some for some in asked)


def test_joined_shapes_have_the_same_objects():
    rng = random.Random(5)
    named = dict.fromkeys(KEYS, TRUE)
    fewer = 0
    for _ in range(500):
        shapes = [ObjectShape(named, required=tuple(keys)) for keys in drawn(rng)]
        joined = join(shapes, in_order=True)
        fewer += len(joined) < len(shapes)
        for n in range(len(KEYS) + 1):
            for keys in map(set, itertools.combinations(KEYS, n)):
                assert any(satisfies(s, keys) for s in joined) == any(
                    satisfies(s, keys) for s in shapes
                )
    assert fewer > 100


def test_shapes_that_differ_in_more_than_keys_that_must_be_there_stay():
    a, b = ObjectShape({"a": TRUE}, required=("a",)), ObjectShape({"b": TRUE}, required=("b",))
    assert join([a, b], in_order=False) == [a, b]
    undeclared = [ObjectShape(required=("a",)), ObjectShape(required=("b",))]
    assert join(undeclared, in_order=True) == undeclared  # each has its own key first
    assert len(join(undeclared, in_order=False)) == 1


def test_too_many_sets_of_keys_stay_a_union():
    named = dict.fromkeys("abcdefgh", TRUE)
    pairs = [ObjectShape(named, required=pair) for pair in ("ab", "cd", "ef", "gh")]
    assert 2 ** len(pairs) > MOST_CLAUSES
    assert join(pairs, in_order=True) == pairs
    assert len(join(pairs[:3], in_order=True)) == 1


@pytest.mark.parametrize("options", [{}, {"property_order": "any"}, {"style": "any"}], ids=str)
def test_texts_are_those_of_the_union(options, monkeypatch):
    rng = random.Random(3)
    texts = [
        json.dumps(dict.fromkeys(keys, 1))
        for n in range(5)
        for keys in itertools.permutations(KEYS + "e", n)
    ]
    for _ in range(6):
        schema = {
            "type": "object",
            "properties": dict.fromkeys(KEYS[: rng.randint(2, 4)], INTEGER),
            "anyOf": [{"required": keys} for keys in drawn(rng)],
            "additionalProperties": rng.random() < 0.5,
        }
        if not schema["additionalProperties"]:
            schema["anyOf"].append({"required": ["a"]})
        joined = [Texts(schema, **options).accepts(text) for text in texts]
        with monkeypatch.context() as patch:
            patch.setattr(lower, "join", lambda shapes, in_order: list(shapes))
            assert [Texts(schema, **options).accepts(text) for text in texts] == joined


@pytest.mark.parametrize("order", ["declared", "any"])
def test_one_of_many_keys_takes_as_many_states_as_there_are_keys(order):
    keys = [f"key {i}" for i in range(24)]
    schema = {
        "type": "object",
        "properties": dict.fromkeys(keys, INTEGER),
        "anyOf": [{"required": [key]} for key in keys],
        "additionalProperties": False,
    }
    limits = Limits(max_terms=20_000)
    grammar = Grammar.from_json_schema(schema, property_order=order, limits=limits)
    assert grammar.accepts(json.dumps(dict.fromkeys(keys[1::2], 1)).encode())
    assert not grammar.accepts(b"{}")
