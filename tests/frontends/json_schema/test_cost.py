"""What schemas cost: the large and the nested ones answer quickly, or refuse by a budget.

Work is counted in what does not depend on the machine: terms that a text made, and whether a part
of the budget is enough. The clock only sees to it that nothing hangs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from constrain.algebra.program import write_program
from constrain.algebra.store import DEAD, TermStore
from constrain.errors import LimitExceededError, UnsatisfiableError
from constrain.frontends.json_schema import from_json_schema
from constrain.limits import DEFAULT_LIMITS, Limits
from tests.patience import fails_after

HANGS_SECONDS = 20
SMALL = replace(DEFAULT_LIMITS, max_source_nodes=500_000)
"""A quarter of the default budget."""


@pytest.fixture(autouse=True)
def _guard() -> Iterator[None]:
    with fails_after(HANGS_SECONDS):
        yield


class Language:
    """A schema's language, with the terms that it made counted."""

    def __init__(self, schema: Any, style: str = "any", limits: Limits = SMALL) -> None:
        grammar = from_json_schema(schema, style=style, limits=limits)
        self.store = TermStore()
        self.start = self.store.intern(grammar.term)
        self.store.next_bytes(self.start)

    def accepts(self, value: Any) -> bool:
        state = self.store.advance(self.start, json.dumps(value).encode())
        return state != DEAD and self.store.nullable(state)


def nested(depth: int, step: Callable[[Any, int], Any], start: Any) -> Any:
    """`step` applied to its own result."""
    for i in range(depth):
        start = step(start, i)
    return start


def by_definitions(depth: int, step: Callable[[Any, int], Any], start: Any) -> dict[str, Any]:
    """The same where `step` uses its argument more than once: each result is a definition."""
    definitions = {"d0": start}
    for i in range(depth):
        definitions[f"d{i + 1}"] = step({"$ref": f"#/$defs/d{i}"}, i)
    return {"$defs": definitions, "$ref": f"#/$defs/d{depth}"}


def some_object(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **more}


def chain(depth: int, key: str, end: Any) -> Any:
    return nested(depth, lambda value, _: {key: value}, end)


INTEGER = {"type": "integer"}
CLOSED = {"additionalProperties": False}

ANSWERED: dict[str, tuple[Any, list[Any], list[Any], int]] = {
    # schema, values in it, values outside, terms at most
    "oneOf in place, 20 deep": (
        nested(20, lambda s, i: {"oneOf": [s, {"const": f"s{i}"}]}, INTEGER),
        [3, "s4"],
        ["x", 1.5],
        2_000,
    ),
    "oneOf of closed objects, 20 deep": (
        by_definitions(
            20,
            lambda s, _: {"oneOf": [some_object({k: s}, k, **CLOSED) for k in ("a", "b")]},
            INTEGER,
        ),
        [chain(20, "a", 1), chain(20, "b", 1)],
        [chain(20, "a", 1.5), chain(19, "a", 1)],
        10_000,
    ),
    "oneOf with an optional discriminator, 20 deep": (
        by_definitions(
            20,
            lambda s, _: {
                "oneOf": [
                    some_object({"t": {"const": "x"}, "a": s}),
                    some_object({"t": {"const": "y"}, "b": s}),
                ]
            },
            INTEGER,
        ),
        [nested(20, lambda value, _: {"t": "x", "a": value}, 1)],
        [nested(20, lambda value, _: {"t": "x", "a": value}, 1.5), {}],
        20_000,
    ),
    "10,000 strings": (
        {"enum": [f"value number {i}" for i in range(10_000)]},
        ["value number 9999"],
        ["value number 10000"],
        2_000,
    ),
    "10,000 numbers": ({"enum": [7 * i for i in range(10_000)]}, [7, 69_993], [8], 2_000),
    "none of 10,000 strings": (
        {"type": "string", "not": {"enum": [f"value number {i}" for i in range(10_000)]}},
        ["x"],
        ["value number 77"],
        3_000,
    ),
    "deep values": (
        {"enum": [chain(300, "k", j) for j in range(5)]},
        [chain(300, "k", 3)],
        [chain(300, "k", 7)],
        200_000,
    ),
    "2,000 properties": (
        some_object({f"p{i}": INTEGER for i in range(2_000)}),
        [{"p1": 1, "p1999": 2, "x": 3}, {}],
        [{"p7": "x"}, {"p1": 1, "p2": None}],
        200_000,
    ),
    "2,000 properties, some required": (
        some_object({f"p{i}": INTEGER for i in range(2_000)}, *[f"p{i}" for i in range(3)]),
        [{"p0": 1, "p1": 2, "p2": 3}],
        [{"p0": 1, "p1": 2}],
        200_000,
    ),
    "maxLength": ({"type": "string", "maxLength": 10**9}, ["abc"], [1], 500),
    "minLength": ({"type": "string", "minLength": 10**9}, [], ["abc"], 500),
    "not maxLength": ({"type": "string", "not": {"maxLength": 10**9}}, [], [""], 500),
    "pattern beside maxLength": (
        {"type": "string", "maxLength": 10**9, "pattern": "^[a-z]+$"},
        ["abc"],
        ["", "A"],
        500,
    ),
    "maxItems": (
        {"type": "array", "maxItems": 10**6, "items": INTEGER},
        [[1] * 1_000],
        [["a"]],
        50_000,
    ),
    "minItems": ({"type": "array", "minItems": 10**6}, [], [[1]], 1_000),
    "maxProperties": ({"type": "object", "maxProperties": 10**6}, [{"a": 1}], [1], 2_000),
    "1,000 definitions that use each other": (
        {
            "$ref": "#/$defs/d0",
            "$defs": {
                f"d{i}": {
                    "anyOf": [
                        {"type": "null"},
                        {"type": "array", "items": {"$ref": f"#/$defs/d{(7 * i + 1) % 1000}"}},
                        some_object({"b": {"$ref": f"#/$defs/d{(3 * i + 2) % 1000}"}}, "b"),
                    ]
                }
                for i in range(1_000)
            },
        },
        [[[None]], {"b": [{"b": None}]}],
        [[1], {}],
        5_000,
    ),
    "allOf of 50 objects": (
        {"allOf": [some_object({f"a{i}": INTEGER}) for i in range(50)]},
        [{"a1": 1, "b": "x"}],
        [{"a1": "x"}],
        20_000,
    ),
    "allOf of 50 oneOf": (
        {
            "type": "object",
            "allOf": [
                {
                    "oneOf": [
                        {
                            "required": ["t"],
                            "properties": {"t": {"const": f"{i}"}, f"a{i}": INTEGER},
                        },
                        {"required": ["t"], "properties": {"t": {"not": {"const": f"{i}"}}}},
                    ]
                }
                for i in range(50)
            ],
        },
        [{"t": "7", "a7": 1}, {"t": "x"}],
        [{}, {"t": "7", "a7": "x"}],
        20_000,
    ),
    "allOf of 50 if/then": (
        {
            "type": "object",
            "allOf": [
                {
                    "if": {"properties": {"t": {"const": f"{i}"}}, "required": ["t"]},
                    "then": some_object({f"a{i}": INTEGER}, f"a{i}"),
                }
                for i in range(50)
            ],
        },
        [{"t": "7", "a7": 1}, {"t": "x"}, {}],
        [{"t": "7"}, {"t": "7", "a7": "x"}],
        20_000,
    ),
    "else-if, 50 long": (
        nested(
            50,
            lambda s, i: {
                "if": {"properties": {"t": {"const": f"{i}"}}, "required": ["t"]},
                "then": {"required": [f"a{i}"]},
                "else": s,
            },
            {"type": "object"},
        ),
        [{"t": "7", "a7": 1}, {"t": "x"}, {}],
        [{"t": "7"}],
        20_000,
    ),
    "anyOf of 200 objects": (
        {
            "anyOf": [
                some_object({"kind": {"const": f"k{i}"}, f"v{i}": INTEGER}, "kind")
                for i in range(200)
            ]
        },
        [{"kind": "k7", "v7": 1}],
        [{"kind": "k7", "v7": "x"}, {"v7": 1}],
        50_000,
    ),
    "oneOf of 200 objects": (
        {
            "oneOf": [
                some_object({"kind": {"const": f"k{i}"}, f"v{i}": INTEGER}, "kind")
                for i in range(200)
            ]
        },
        [{"kind": "k7", "v7": 1}],
        [{"kind": "k7", "v7": "x"}, {"v7": 1}],
        50_000,
    ),
    "oneOf of 200 closed objects": (
        {"oneOf": [some_object({f"v{i}": INTEGER}, f"v{i}", **CLOSED) for i in range(200)]},
        [{"v7": 1}],
        [{"v7": "x"}, {"v7": 1, "v8": 1}, {}],
        20_000,
    ),
    "oneOf of 30 open objects": (
        {"oneOf": [some_object({f"v{i}": INTEGER}, f"v{i}") for i in range(30)]},
        [{"v7": 1}, {"v7": 1, "v8": "x"}],
        [{"v7": "x"}, {"v7": 1, "v8": 1}],
        50_000,
    ),
    "oneOf whose objects a pattern tells apart, and nothing else": (
        {
            "required": ["file"],
            "properties": {"file": {"type": "string"}},
            "oneOf": [
                {
                    "properties": {
                        "file": {"pattern": f"\\.x{i}$"},
                        "options": {"properties": {f"o{k}": INTEGER for k in range(i, i + 9)}},
                    }
                }
                for i in range(12)
            ],
        },
        [{"file": "a.x1"}, {"file": "a.x1", "options": {"o1": 1, "o0": "x"}}],
        [{"file": "a.x1", "options": {"o1": "x"}}, {"file": "a"}, {}, 1],
        50_000,
    ),
    "30 dependentSchemas that want one value": (
        some_object(
            {**{f"a{i}": True for i in range(30)}, "t": {"enum": list(range(30))}},
            dependentSchemas={f"a{i}": {"properties": {"t": {"const": i}}} for i in range(30)},
            **CLOSED,
        ),
        [{"a1": 1, "t": 1}, {"a1": 1, "a2": 1}],
        [{"a1": 1, "t": 2}, {"a1": 1, "a2": 1, "t": 1}],
        20_000,
    ),
    "dependentRequired, 100 long": (
        {"type": "object", "dependentRequired": {f"a{i}": [f"a{i + 1}"] for i in range(100)}},
        [{}, {"a99": 1, "a100": 2}],
        [{"a98": 1}, {"a98": 1, "a99": 1}],
        20_000,
    ),
    "$ref, 5,000 long": (
        {
            "$ref": "#/$defs/d0",
            "$defs": {
                **{f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(5_000)},
                "d5000": INTEGER,
            },
        },
        [1],
        ["a"],
        1_000,
    ),
    "$ref with siblings, 1,000 long": (
        {
            "$ref": "#/$defs/d0",
            "$defs": {
                **{f"d{i}": {"$ref": f"#/$defs/d{i + 1}", "maximum": 9 + i} for i in range(1_000)},
                "d1000": INTEGER,
            },
        },
        [9],
        ["a", 10],
        3_000,
    ),
    "not, 1,000 deep": (nested(1_000, lambda s, _: {"not": s}, INTEGER), [1], ["a"], 1_000),
    "not, 999 deep": (
        nested(999, lambda s, _: {"not": s}, some_object({"a": INTEGER}, "a")),
        [1, {}, {"a": "x"}],
        [{"a": 1}],
        2_000,
    ),
    "not of 300 properties": (
        {"type": "object", "not": some_object({f"p{i}": INTEGER for i in range(300)})},
        [{"p1": "x"}],
        [{"p1": 1}, {}],
        50_000,
    ),
    "steps and steps to avoid": (
        {"type": "integer", "multipleOf": 2, "allOf": [{"not": {"multipleOf": 3}}]},
        [2, 4],
        [6, 3],
        1_000,
    ),
    "bounds of 200 digits": (
        {"type": "integer", "minimum": 10**200, "maximum": 10**201},
        [10**200],
        [1],
        10_000,
    ),
    "a long description": ({"description": "x" * 10**6}, [1], [], 1_000),
}

REFUSED: dict[str, Any] = {
    "exactly one of 20 overlapping steps": nested(
        20, lambda s, i: {"oneOf": [s, {"multipleOf": i + 2}]}, INTEGER
    ),
    "allOf of 50 anyOf": {
        "type": "object",
        "allOf": [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(50)],
    },
    "allOf of 20 oneOf": {
        "type": "object",
        "allOf": [{"oneOf": [{"required": [f"{k}{i}"]} for k in "abc"]} for i in range(20)],
    },
    "allOf of 30 not": {
        "type": "object",
        "allOf": [{"not": {"required": [f"p{i}", f"q{i}"]}} for i in range(30)],
    },
    "oneOf of 30 objects, none of whose members is required": {
        "oneOf": [
            some_object({"kind": {"const": f"k{i}"}, f"v{i}": INTEGER, f"w{i}": INTEGER})
            for i in range(30)
        ]
    },
    "30 dependentSchemas": {
        "type": "object",
        "dependentSchemas": {f"a{i}": some_object({f"b{i}": INTEGER}, f"b{i}") for i in range(30)},
    },
    "12 patterns that overlap": {
        "type": "object",
        "patternProperties": {chr(97 + i): {"minimum": i} for i in range(12)},
    },
    "not 300 objects": {"not": {"enum": [{"id": i, "name": f"n{i}"} for i in range(300)]}},
}


@pytest.mark.parametrize("style", ["any", "canonical"])
@pytest.mark.parametrize("name", ANSWERED)
def test_answers_within_a_quarter_of_the_budget(name: str, style: str) -> None:
    schema, good, bad, most_terms = ANSWERED[name]
    language = Language(schema, style)
    assert [v for v in good if not language.accepts(v)] == []
    assert [v for v in bad if language.accepts(v)] == []
    assert language.store.num_terms <= most_terms


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_by_a_budget(name: str) -> None:
    with pytest.raises(LimitExceededError) as caught:
        Language(REFUSED[name], limits=DEFAULT_LIMITS)
    error = caught.value
    assert (error.limit, error.allowed) == ("max_source_nodes", DEFAULT_LIMITS.max_source_nodes)
    assert error.given > error.allowed
    assert f"{error.given:,}" in str(error)
    assert f"{error.allowed:,}" in str(error)


def test_nothing_ends_among_1_000_definitions() -> None:
    schema = {
        "$ref": "#/$defs/d0",
        "$defs": {
            f"d{i}": some_object({"a": {"$ref": f"#/$defs/d{(i + 1) % 1000}"}}, "a")
            for i in range(1_000)
        },
    }
    with pytest.raises(UnsatisfiableError):
        Language(schema)


def test_every_property_of_100_in_any_order() -> None:
    """Each member costs what is left to choose from, not the choices that were made."""
    keys = [f"p{i}" for i in range(100)]
    language = Language(some_object(dict.fromkeys(keys, INTEGER), *keys))
    before = language.store.num_terms
    assert language.accepts(dict.fromkeys(reversed(keys), 1))
    assert language.store.num_terms - before < 16 * 100 * 100 / 2
    assert not language.accepts(dict.fromkeys(keys[1:], 1))


def test_2_000_properties_in_declared_order() -> None:
    value = {f"p{i}": i for i in range(2_000)}
    language = Language(some_object(dict.fromkeys(value, INTEGER), *value), "canonical")
    assert language.accepts(value)
    assert not language.accepts({**value, "p1999": "x"})
    assert language.store.num_terms < 200_000


@pytest.mark.parametrize("style", ["canonical", "any"])
def test_a_key_that_nobody_names_costs_the_same_however_many_came(
    style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a store reads of each object of n keys does not grow with n."""
    language = Language({"type": "object"}, style)
    read: list[int] = []

    def counted(*args: Any) -> Any:
        made = write_program(*args)
        read.append(len(made[0]))
        return made

    monkeypatch.setattr("constrain.algebra.store.write_program", counted)
    assert language.accepts({f"key {i}": True for i in range(400)})
    assert len(read) >= 400
    assert max(read[-100:]) <= max(read[100:200])
