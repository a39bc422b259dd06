"""Branches that constants, required keys and patterns tell apart, or not quite: by enumeration."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from constrain.errors import LimitExceededError, UnsatisfiableError, UnsupportedFeatureError
from tests.frontends.json_schema.texts import Texts, compare, strict_loads

KEYS = ["t", "a", "ab"]
LEAVES = [1, 2, "x", "xy"]
VALUES: list[Any] = [
    *[
        dict(zip(keys, chosen, strict=True))
        for keys in itertools.chain.from_iterable(itertools.combinations(KEYS, n) for n in range(4))
        for chosen in itertools.product(LEAVES, repeat=len(keys))
    ],
    {"b": 1, "t": 1},
    {"b": "x"},
    1,
    "x",
    [1],
]


def member(rng: random.Random) -> Any:
    return rng.choice(
        [
            {"const": rng.choice(LEAVES)},
            {"enum": rng.sample(LEAVES, 2)},
            {"not": {"const": rng.choice(LEAVES)}},
            {"type": rng.choice(["integer", "string"])},
            {"pattern": "y$"},
            {"minimum": 2},
            False,
            True,
        ]
    )


def branch(rng: random.Random) -> dict[str, Any]:
    schema: dict[str, Any] = {"properties": {k: member(rng) for k in rng.sample(KEYS, 2)}}
    if rng.random() < 0.5:
        schema["required"] = rng.sample(KEYS, rng.randint(1, 2))
    if rng.random() < 0.3:
        schema["type"] = "object"
    extra = rng.choice(
        [
            {},
            {},
            {"additionalProperties": False},
            {"additionalProperties": member(rng)},
            {"patternProperties": {"^a": member(rng)}},
            {"patternProperties": {"^a": member(rng)}, "additionalProperties": False},
            {"propertyNames": {"pattern": "a"}},
            {"minProperties": 2},
            {"maxProperties": 1},
            {"dependentRequired": {rng.choice(KEYS): [rng.choice(KEYS)]}},
        ]
    )
    return {**schema, **extra}


def combination(rng: random.Random) -> dict[str, Any]:
    """Keywords that put branches together, one inside another at times."""
    kind = rng.choice(["oneOf", "oneOf", "allOf", "if", "dependentSchemas", "not"])
    inner = [combination(rng) if rng.random() < 0.15 else branch(rng) for _ in range(3)]
    if kind == "oneOf":
        return {**(branch(rng) if rng.random() < 0.5 else {}), "oneOf": inner}
    if kind == "allOf":
        return {"allOf": [{"if": s, "then": branch(rng)} for s in inner]}
    if kind == "if":
        return dict(zip(("if", "then", "else"), inner, strict=True))
    if kind == "dependentSchemas":
        return {"dependentSchemas": dict(zip(KEYS, inner, strict=True))}
    return {"not": inner[0], "anyOf": inner[1:]}


def check(seed: int, schemas: int) -> int:
    """Compare some schemas with `jsonschema`; how many were answered."""
    rng = random.Random(seed)
    answered = 0
    for _ in range(schemas):
        schema = combination(rng)
        validator = Draft202012Validator(schema)
        expected = [validator.is_valid(value) for value in VALUES]
        try:
            texts = Texts(schema, style="any")
        except UnsatisfiableError:
            assert not any(expected), schema
            continue
        except (UnsupportedFeatureError, LimitExceededError):
            continue
        answered += 1
        got = [texts.accepts(json.dumps(value)) for value in VALUES]
        wrong = [v for v, g, e in zip(VALUES, got, expected, strict=True) if g != e]
        assert wrong == [], (schema, wrong)
        canonical = Texts(schema)
        witness = canonical.shortest_end(canonical.start)
        if witness is not None:  # else it was too far away
            assert validator.is_valid(strict_loads(witness)), (schema, witness)
    return answered


@pytest.mark.parametrize("seed", range(6))
def test_small_objects(seed: int) -> None:
    assert check(seed, 15) >= 11


@pytest.mark.parametrize("made", ["c{}".format, int, float], ids=["strings", "integers", "floats"])
def test_hundreds_of_constants_are_told_apart_by_their_values(made):
    constants = [made(i) for i in range(700)]
    branches = [{"const": value, "title": f"Number {i}"} for i, value in enumerate(constants)]
    texts = Texts({"oneOf": [*branches, {"enum": [constants[5], "more"]}]}, style="any")
    assert texts.accepts(json.dumps(constants[699]))
    assert texts.accepts('"more"')
    assert not texts.accepts(json.dumps(constants[5]))  # in two branches
    assert not texts.accepts('"other"')


def test_constants_beside_other_branches_count_in_each_of_them():
    rng = random.Random(11)
    leaves = [*LEAVES, 1.5, True, None]
    kept = 0
    for _ in range(150):
        branches = [
            rng.choice(
                [member(rng), {"const": rng.choice(leaves)}, {"enum": rng.sample(leaves, 3)}]
            )
            for _ in range(rng.randint(2, 5))
        ]
        kept += compare({"oneOf": branches}, [*leaves, "y", 3, [1]]) == "same"
    assert kept > 100
