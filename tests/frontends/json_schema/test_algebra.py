"""The schema algebra by brute force: and, or, not and emptiness on small values."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from constrain.errors import UnsatisfiableError
from constrain.frontends.json_schema.expr import FALSE, TRUE, Exprs, implies
from tests.frontends.json_schema.texts import Texts, compare, strict_loads

ATOMS: list[Any] = [
    True,
    False,
    {"type": "object"},
    {"type": ["array", "null"]},
    {"required": ["a"]},
    {"required": ["a", "b"]},
    {"properties": {"a": {"const": 1}}},
    {"properties": {"a": {"const": 2}, "b": {"type": "null"}}, "required": ["a"]},
    {"properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    {"maxProperties": 1},
    {"minProperties": 1},
    {"propertyNames": {"enum": ["a"]}},
    {"dependentRequired": {"a": ["b"]}},
    {"minItems": 1},
    {"maxItems": 1},
    {"items": {"const": 1}},
    {"prefixItems": [{"const": 1}, {"const": 2}]},
    {"contains": {"const": 1}},
    {"contains": {"const": 2}, "minContains": 0, "maxContains": 1},
    {"enum": [[1], {"a": 1}, None]},
    {"const": {"a": 2, "b": None}},
]


def small_values() -> list[Any]:
    leaves = [None, 1, 2]
    arrays = [list(t) for n in range(4) for t in itertools.product(leaves, repeat=n)]
    objects = []
    for keys in ((), ("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("a", "b", "c")):
        for chosen in itertools.product(leaves, repeat=len(keys)):
            objects.append(dict(zip(keys, chosen, strict=True)))
    return [*leaves, *arrays, *objects]


VALUES = small_values()


def random_combination(rng: random.Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(ATOMS)
    kind = rng.choice(["not", "allOf", "anyOf", "oneOf", "if"])
    parts = [random_combination(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    if kind == "not":
        return {"not": parts[0]}
    if kind == "if":
        return dict(zip(("if", "then", "else"), parts, strict=False))
    return {kind: parts}


@pytest.mark.parametrize("seed", range(8))
def test_combinations(seed: int) -> None:
    rng = random.Random(seed)
    refused = 0
    for _ in range(40):
        schema = random_combination(rng, 3)
        outcome = compare(schema, VALUES)
        refused += outcome == "refused"
        if outcome != "same":
            continue
        shortest = Texts(schema)
        witness = shortest.shortest_end(shortest.start)
        assert witness is not None
        assert Draft202012Validator(schema).is_valid(strict_loads(witness)), (schema, witness)
    assert refused < 20


def test_emptiness_goes_through_recursion() -> None:
    infinite = {
        "$defs": {
            "a": {"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#/$defs/b"}}}
        },
        "$ref": "#/$defs/a",
    }
    infinite["$defs"]["b"] = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/a"}}
    with pytest.raises(UnsatisfiableError):
        Texts(infinite)
    infinite["$defs"]["b"]["minItems"] = 0
    assert Texts(infinite, style="any").accepts('{"x":[{"x":[]}]}')


def test_what_is_impossible_is_never_offered() -> None:
    hopeless = {"type": "object", "required": ["x"], "properties": {"x": False}}
    schema = {
        "properties": {"a": hopeless, "b": {"items": hopeless}},
        "additionalProperties": False,
        "type": "object",
    }
    texts = Texts(schema, style="any")
    state = texts.store.advance(texts.start, b'{"')
    assert texts.store.next_bytes(state) == b"\\b"
    assert [texts.accepts(t) for t in ('{"b":[]}', '{"b":1}', "{}")] == [True, True, True]
    assert not texts.accepts('{"b":[{}]}')


class TestExprs:
    def test_laws(self) -> None:
        table = Exprs()
        a, b, c = (table.literal(name) for name in "abc")
        both = table.all_of((a, b))
        assert both is table.all_of((b, a, TRUE, b))
        assert both.dual is table.any_of((a.dual, b.dual))
        assert table.all_of((both, c)) is table.all_of((a, table.all_of((b, c))))
        assert table.any_of((a, a.dual)) is TRUE
        assert table.all_of((a, table.any_of((a, b)))) is a
        assert table.any_of((a, both)) is a
        assert table.all_of(()) is TRUE
        assert table.any_of(()) is FALSE
        assert table.all_of((both, FALSE)) is FALSE

    def test_finite_sets_are_combined_at_once(self) -> None:
        table = Exprs()
        one_two, two = table.finite(("1", "2")), table.finite(("2",))
        assert table.all_of((one_two, table.finite(("2", "3")))) is two
        assert table.all_of((one_two, two.dual)) is table.finite(("1",))
        assert table.all_of((one_two, table.finite(("3",)))) is FALSE
        assert table.any_of((two, table.finite(("1",)))) is one_two
        assert table.any_of((one_two.dual, two)) is table.finite(("1",)).dual

    def test_implication_is_sound(self) -> None:
        table = Exprs()
        a, b = table.literal("a"), table.literal("b")
        assert implies(table.all_of((a, b)), a)
        assert implies(a, table.any_of((a, b)))
        assert not implies(table.any_of((a, b)), a)
        assert implies(table.finite(("1",)), table.finite(("1", "2")))
        assert implies(table.finite(("1",)), table.finite(("2",)).dual)
        assert not implies(table.finite(("1", "2")), table.finite(("2",)).dual)


@pytest.mark.parametrize("pattern", ["^(?=.*a)$", "^(?=.*a)[b-z]{0,9}$", "^(?!b)(b|bc){2,}$"])
def test_a_pattern_without_texts_is_empty_however_large(pattern: str) -> None:
    # A large one is a rule of its own, and a store takes it that a rule has a text.
    for more in ("", "|^(?=c)d(e|f|g|h)(i|j|k|l)(m|n|o|p)(q|r|s|t)(u|v|w|x)(y|z)(0|1|2|3)$"):
        string = {"type": "string", "pattern": pattern + more}
        with pytest.raises(UnsatisfiableError):
            Texts(string)
        texts = Texts({"anyOf": [string, {"const": "b"}]}, style="any")
        assert texts.accepts(b'"b"')
        assert texts.store.next_bytes(texts.store.advance(texts.start, b'"')) == b"\\b"


@pytest.mark.parametrize("pattern", ["c*", "(?=.*c*)", "a|^[^a]*$", "^(a|[^])*$"])
def test_nothing_is_outside_a_pattern_of_all_texts(pattern: str) -> None:
    string = {"type": "string", "pattern": pattern}
    for schema in (
        {"type": "string", "not": {"pattern": pattern}},
        {"items": {"type": "string"}, "type": "array", "contains": string, "maxContains": 0}
        | {"minItems": 1},
    ):
        with pytest.raises(UnsatisfiableError):
            Texts(schema)
    texts = Texts({"oneOf": [string, {"type": "string"}, {"const": 1}]})
    assert texts.store.next_bytes(texts.start) == b"1"


@pytest.mark.parametrize(
    "schema",
    [
        {
            "required": ["ab"],
            "patternProperties": {"^a": False},
            "not": {"propertyNames": {"pattern": "a"}},
        },
        {
            "required": ["ab"],
            "patternProperties": {"^a": False},
            "minProperties": 2,
            "maxProperties": 3,
        },
        {"minProperties": 3, "properties": {"a": {}, "b": {}}, "additionalProperties": False},
        {"minProperties": 2, "properties": {"a": {}, "b": False}, "additionalProperties": False},
        {"minProperties": 1, "propertyNames": False},
        {
            "properties": {"a": {}, "b": {}},
            "additionalProperties": False,
            "dependentRequired": {"a": ["b"], "b": ["a"]},
            "minProperties": 1,
            "maxProperties": 1,
        },
        {
            "dependentRequired": {"a": ["b"], "b": ["c"]},
            "required": ["a"],
            "properties": {"c": False},
        },
        {"not": {"properties": {"a": True}}},
        {"not": {"patternProperties": {"^a": {}}}},
        {"items": {"enum": [1]}, "contains": {"const": 1}, "maxContains": 1, "minItems": 2},
        {
            "prefixItems": [{"const": 1}],
            "items": {"const": 2},
            "contains": {"const": 1},
            "minContains": 2,
        },
    ],
)
def test_empty_shapes(schema: Any) -> None:
    kind = "array" if "items" in schema else "object"
    with pytest.raises(UnsatisfiableError):
        Texts({"type": kind, **schema})


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (
            {
                "properties": {"a": {}, "b": {}, "c": {}},
                "additionalProperties": False,
                "dependentRequired": {"a": ["b"], "b": ["a"]},
                "minProperties": 1,
                "maxProperties": 2,
            },
            ['{"c":1}', '{"a":1,"b":2}', '{"b":1,"a":2}'],
            ["{}", '{"a":1}', '{"a":1,"c":2}', '{"a":1,"b":2,"c":3}'],
        ),
        (
            {"dependentRequired": {"a": ["b"], "b": ["c"]}},
            ['{"c":1}', '{"b":1,"c":2}', '{"c":1,"a":2,"b":3}', '{"d":1}'],
            ['{"a":1}', '{"a":1,"b":2}', '{"a":1,"c":2}', '{"b":1}'],
        ),
        (
            {"not": {"propertyNames": {"pattern": "^a"}}, "maxProperties": 2},
            ['{"b":1}', '{"a":1,"b":2}', '{"b":1,"a":2}'],
            ["{}", '{"a":1}', '{"a":1,"ab":2}', '{"a":1,"ab":2,"b":3}'],
        ),
        (
            {
                "properties": {"a": {"type": "null"}},
                "not": {"properties": {"a": {}, "b": {"const": 1}}},
            },
            ['{"b":2}', '{"a":null,"b":null}', '{"b":2,"c":1}'],
            ["{}", '{"a":null}', '{"b":1}', '{"a":1,"b":2}'],
        ),
    ],
)
def test_obligations(schema: Any, good: list[str], bad: list[str]) -> None:
    texts = Texts({"type": "object", **schema}, style="any")
    assert [t for t in good if not texts.accepts(t)] == []
    assert [t for t in bad if texts.accepts(t)] == []


def test_distinct_items_are_matched() -> None:
    schema = {
        "type": "array",
        "uniqueItems": True,
        "prefixItems": [{"enum": ["a", "b"]}, {"enum": ["a"]}],
        "items": {"enum": ["b", "c"]},
        "minItems": 3,
    }
    texts = Texts(schema, style="any")
    assert texts.accepts('["b","a","c"]')
    state = texts.store.advance(texts.start, b'["')
    assert texts.store.next_bytes(state) == b"\\b"  # after "a" the second item would have no value
    with pytest.raises(UnsatisfiableError):
        Texts({**schema, "minItems": 4})
