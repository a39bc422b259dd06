"""Bad input: each a typed error with the place and the way out, nothing lost, no crash."""

from __future__ import annotations

import math
from typing import Any

import pytest

from constrain.errors import (
    LimitExceededError,
    RegexSyntaxError,
    SchemaError,
    UnsatisfiableError,
    UnsupportedFeatureError,
)
from constrain.frontends.json_schema import from_json_schema
from constrain.limits import Limits
from tests.frontends.json_schema.texts import Texts


@pytest.mark.parametrize(
    ("schema", "pointer", "words"),
    [
        ({"type": "str"}, "#/type", "null, boolean, integer, number, string, array, object"),
        ({"properties": {"a": {"type": []}}}, "#/properties/a/type", "not empty"),
        ({"required": "a"}, "#/required", "an array of strings"),
        ({"properties": {"a": {"required": True}}}, "#/properties/a/required", "lists names"),
        ({"minLength": -1}, "#/minLength", "an integer >= 0"),
        ({"minLength": 1.5}, "#/minLength", "an integer >= 0"),
        ({"minimum": "1"}, "#/minimum", "a number"),
        ({"multipleOf": 0}, "#/multipleOf", "a number > 0"),
        ({"items": [{}]}, "#/items", "prefixItems"),
        ({"anyOf": []}, "#/anyOf", "not empty"),
        ({"anyOf": [1]}, "#/anyOf", "schemas"),
        ({"properties": {"a/b": 1}}, "#/properties", "values are schemas"),
        ({"exclusiveMinimum": True}, "#/exclusiveMinimum", "draft 4"),
        ({"enum": 1}, "#/enum", "an array"),
        ({"$ref": 1}, "#/$ref", "a string"),
        ({"a": math.nan}, "#/a", "nan"),
        ({"a": {"b": [math.inf]}}, "#/a/b/0", "inf"),
        ({"a": [object()]}, "#/a/0", "object"),
        ({"a": {1: 2}}, "#/a", "no string"),
        ({"a": (1,)}, "#/a", "tuple"),
        ({"enum": ["\ud800"]}, "#/enum/0", "surrogate"),
        ([], "#", "an object or a boolean"),
        ("3", "#", "an object or a boolean"),
    ],
)
def test_invalid_schemas(schema: Any, pointer: str, words: str) -> None:
    with pytest.raises(SchemaError) as caught:
        from_json_schema(schema)
    assert caught.value.pointer == pointer
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a":1,"a":2}', '{"minimum": NaN}', '{"a":1,}', "{'a':1}", '{"a":01}', "{} {}"],
)
def test_texts_that_are_no_json(text: str) -> None:
    with pytest.raises(SchemaError):
        from_json_schema(text)


def test_a_pattern_that_does_not_parse() -> None:
    with pytest.raises(RegexSyntaxError) as caught:
        from_json_schema({"properties": {"a": {"pattern": "(a"}}})
    assert caught.value.pointer == "#/properties/a/pattern"


NESTED = f"#{2_500 * '/not'}/maximum"


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"$schema": "http://json-schema.org/draft-03/schema#"}, "#/$schema"),
        ({"not": {"format": "hostname"}}, "#/not"),
        ({"pattern": r"(a)\1"}, "#/pattern"),
        ({"maximum": 10**2000}, "#/maximum"),
        (f'{{"maximum": 1e{"9" * 5_000}}}', "#/maximum"),
        (f'{{"const": [0e-{"9" * 30}]}}', "#/const"),
        (2_500 * '{"not":' + f'{{"maximum": 1e{"9" * 30}}}' + 2_500 * "}", NESTED),
        ({"propertyNames": {"$ref": "#"}}, "#/propertyNames"),
    ],
)
def test_what_is_refused_is_named(schema: Any, pointer: str) -> None:
    with pytest.raises(UnsupportedFeatureError) as caught:
        from_json_schema(schema, limits=Limits(max_nesting=3_000))
    assert caught.value.pointer == pointer


@pytest.mark.parametrize(
    ("schema", "names", "pointer"),
    [
        (False, ["false"], "#"),
        ({"type": "array", "minItems": 3, "maxItems": 2}, ["minItems", "maxItems"], "#"),
        (
            {
                "properties": {"t": {"type": "string", "enum": [1]}},
                "required": ["t"],
                "type": "object",
            },
            ["type", "enum", "required", "properties"],
            "#/properties/t",
        ),
        ({"type": "string", "pattern": "^a$", "maxLength": 0}, ["pattern", "maxLength"], "#"),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, ["allOf", "type"], "#/allOf/1"),
        ({"type": "integer", "minimum": 1, "maximum": 1, "multipleOf": 2}, ["multipleOf"], "#"),
        ({"type": "object", "required": ["a"], "additionalProperties": False}, ["required"], "#"),
        (
            {"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#"}}},
            ["$ref", "required", "properties"],
            "#/properties/x",
        ),
        (
            {"contains": {"type": "null"}, "items": {"type": "integer"}, "type": "array"},
            ["contains"],
            "#/items",
        ),
    ],
)
def test_collisions_are_named(schema: Any, names: list[str], pointer: str) -> None:
    with pytest.raises(UnsatisfiableError) as caught:
        from_json_schema(schema)
    assert caught.value.pointer == pointer
    assert [name for name in names if name not in caught.value.reason] == []


def test_a_collision_names_nothing_needless() -> None:
    schema = {
        "type": "array",
        "minItems": 3,
        "maxItems": 2,
        "items": {"type": "string"},
        "title": "t",
    }
    with pytest.raises(UnsatisfiableError) as caught:
        from_json_schema(schema)
    assert "items`" not in caught.value.reason
    assert "string" not in caught.value.reason


def nested(depth: int, wrap: Any, inner: Any) -> Any:
    for _ in range(depth):
        inner = wrap(inner)
    return inner


class TestDepth:
    def test_too_deep(self) -> None:
        deep = nested(3000, lambda s: {"items": s}, {})
        with pytest.raises(LimitExceededError, match="max_nesting"):
            from_json_schema(deep)
        with pytest.raises(LimitExceededError, match="max_nesting"):
            from_json_schema('{"items":' * 3000 + "{}" + "}" * 3000)

    def test_a_cycle_of_python_objects(self) -> None:
        schema: dict[str, Any] = {}
        schema["items"] = schema
        with pytest.raises(LimitExceededError, match="max_nesting"):
            from_json_schema(schema)

    def test_deep_texts_and_values(self) -> None:
        texts = Texts('{"items":' * 1500 + '{"type":"integer"}' + "}" * 1500, style="any")
        assert texts.accepts("[" * 1500 + "1" + "]" * 1500)
        assert not texts.accepts("[" * 1500 + '"a"' + "]" * 1500)

    @pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf", "not"])
    def test_combinators(self, keyword: str) -> None:
        def wrap(schema: Any) -> Any:
            return {keyword: schema if keyword == "not" else [schema]}

        texts = Texts(nested(900, wrap, {"type": "integer"}), style="any")
        assert [texts.accepts(t) for t in ("1", '"a"')] == [True, False]

    def test_long_chains_of_references(self) -> None:
        defs: dict[str, Any] = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(5000)}
        defs["d5000"] = {"allOf": [{"type": "integer"}]}
        texts = Texts({"$ref": "#/$defs/d0", "$defs": defs}, style="any")
        assert [texts.accepts(t) for t in ("1", '"a"')] == [True, False]

    def test_deep_constants(self) -> None:
        value = nested(900, lambda v: [v], 1)
        texts = Texts({"enum": [value, nested(900, lambda v: {"a": v}, 2)]}, style="any")
        assert texts.accepts("[" * 900 + "1" + "]" * 900)
        assert not texts.accepts("[" * 900 + "2" + "]" * 900)


class TestSize:
    """What is large answers, or is refused by budget."""

    @pytest.mark.parametrize(
        ("schema", "good", "bad"),
        [
            ({"enum": [f"value-{i}" for i in range(10_000)]}, '"value-77"', '"value-10000"'),
            ({"enum": list(range(0, 30_000, 3))}, "29997", "29998"),
            (
                {"type": "object", "properties": {f"p{i}": {"type": "null"} for i in range(2_000)}},
                '{"p1":null,"p1999":null}',
                '{"p1":1}',
            ),
            ({"type": "string", "maxLength": 10**9}, '"abc"', "1"),
            (
                {"type": "array", "items": {"type": "integer"}, "maxItems": 10**6, "minItems": 1},
                "[1]",
                "[]",
            ),
            ({"type": "array", "contains": {"type": "null"}, "maxItems": 10**6}, "[1,null]", "[1]"),
            (
                {"type": "object", "oneOf": [{"required": [f"p{i}"]} for i in range(20)]},
                '{"p3":1}',
                "{}",
            ),
            (
                {"type": "object", "dependentRequired": {f"a{i}": [f"b{i}"] for i in range(20)}},
                '{"a3":1,"b3":2}',
                '{"a3":1}',
            ),
            (
                {
                    "type": "object",
                    "required": ["k"],
                    "oneOf": [
                        {"properties": {"k": {"const": i}, "v": {"maximum": i}}} for i in range(50)
                    ],
                },
                '{"k":7,"v":7}',
                '{"k":7,"v":8}',
            ),
        ],
        ids=lambda value: str(value)[:40],
    )
    @pytest.mark.parametrize("style", ["canonical", "any"])
    def test_large_schemas(self, schema: Any, good: str, bad: str, style: str) -> None:
        texts = Texts(schema, style=style)
        assert texts.accepts(good)
        assert not texts.accepts(bad)

    def test_a_thousand_mutually_recursive_definitions(self) -> None:
        defs = {
            f"d{i}": {
                "type": "object",
                "properties": {"n": {"$ref": f"#/$defs/d{(i + 1) % 1000}"}, "v": {"const": i}},
                "required": ["v"],
            }
            for i in range(1000)
        }
        texts = Texts({"$ref": "#/$defs/d0", "$defs": defs}, style="any")
        assert texts.accepts('{"n":{"v":1},"v":0}')
        assert not texts.accepts('{"n":{"v":0},"v":0}')

    def test_combinations_past_the_budget(self) -> None:
        branch = {f"p{i}": {"type": "integer"} for i in range(30)}
        schema = {
            "oneOf": [{"properties": {f"{k}{i}": v for k, v in branch.items()}} for i in range(12)]
        }
        with pytest.raises(LimitExceededError, match="max_source_nodes"):
            from_json_schema(schema, limits=Limits(max_source_nodes=300_000))

    def test_input_bytes(self) -> None:
        with pytest.raises(LimitExceededError, match="max_input_bytes"):
            from_json_schema('{"title":"' + "x" * 200 + '"}', limits=Limits(max_input_bytes=100))


@pytest.mark.parametrize(
    ("name", "value"), [("style", "x"), ("dialect", "draft3"), ("format", "off")]
)
def test_unknown_options(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=value):
        from_json_schema({}, **{name: value})
