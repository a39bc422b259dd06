"""Why nothing satisfies a schema: a smallest set of keywords that collide, and where they are."""

from __future__ import annotations

from typing import Any

import pytest

from constrain.errors import UnsatisfiableError
from constrain.frontends.json_schema import from_json_schema


def explained(schema: Any, **options: Any) -> UnsatisfiableError:
    with pytest.raises(UnsatisfiableError) as caught:
        from_json_schema(schema, **options)
    return caught.value


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (False, "nothing satisfies the schema: it is false"),
        (
            {"type": "array", "minItems": 3, "maxItems": 2, "items": {"type": "string"}},
            "no value satisfies `type` (array), `minItems` (3) and `maxItems` (2) at # together",
        ),
        ({"enum": []}, "no value satisfies `enum` at #"),
        (
            {"$ref": "#/$defs/a", "minimum": 5, "$defs": {"a": {"maximum": 3, "type": "integer"}}},
            "no value satisfies `maximum` (3) and `type` (integer) at #/$defs/a; "
            "`$ref` (#/$defs/a) and `minimum` (5) at # together",
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "integer"}], "type": "boolean"},
            "no value satisfies `type` (integer) at #/oneOf/1; `type` (string) at #/oneOf/0; "
            "`oneOf` and `type` (boolean) at # together",
        ),
        (
            {"oneOf": [{"type": "object", "required": ["a"], "properties": {"a": False}}]},
            "no value satisfies `type` (object), `required` and `properties` at #/oneOf/0; "
            "`oneOf` at # together",
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "string", "title": "t"}], "maxLength": 3},
            "no value satisfies exactly one schema of `oneOf` at #",
        ),
        (
            {
                "type": "object",
                "properties": {"n": {"minimum": 5, "maximum": 3, "type": "integer"}, "m": {}},
                "required": ["n", "m"],
                "additionalProperties": False,
            },
            "no value satisfies `minimum` (5), `maximum` (3) and `type` (integer) at "
            "#/properties/n; `type` (object), `properties` and `required` at # together",
        ),
        (
            {
                "type": "object",
                "properties": {"m": {}},
                "required": ["n"],
                "additionalProperties": False,
            },
            "no value satisfies `type` (object), `required` and `additionalProperties` (false) "
            "at # together",
        ),
        (
            {"type": "array", "prefixItems": [False], "items": False, "minItems": 1},
            "no value satisfies `type` (array), `prefixItems` and `minItems` (1) at # together",
        ),
        (
            {
                "type": "object",
                "allOf": [{"properties": {"n": {"const": 1, "type": "null"}}}],
                "required": ["n"],
                "unevaluatedProperties": False,
            },
            "no value satisfies `const` (1) and `type` (null) at #/allOf/0/properties/n; "
            "`properties` at #/allOf/0; `type` (object), `allOf` and `required` at # together",
        ),
        ({"not": {}}, "no value satisfies `not` at #"),
        (
            {"type": "string", "not": {"minLength": 3}, "minLength": 3, "maxLength": 9},
            "no value satisfies `not` and `minLength` (3) at # together",
        ),
        (
            {
                "allOf": [{"$ref": "#/$defs/a"}, {"not": {"$ref": "#/$defs/a"}}],
                "$defs": {"a": {"minLength": 2}},
            },
            "no value satisfies `not` at #/allOf/1; `$ref` (#/$defs/a) at #/allOf/0; "
            "`allOf` at # together",
        ),
        (
            {"if": {"type": "string"}, "then": False, "else": False, "title": "t"},
            "no value satisfies `if`, `then` (false) and `else` (false) at # together",
        ),
        (
            {"type": "array", "contains": {"type": "null"}, "maxContains": 0},
            "no value satisfies `type` (array), `contains` and `maxContains` (0) at # together",
        ),
    ],
)
def test_the_keywords_and_their_places(schema: Any, reason: str) -> None:
    for style in ("canonical", "any"):
        assert explained(schema, style=style).reason == reason


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ({"enum": []}, "without this keyword some value would"),
        ({"type": "string", "const": 1}, "without any one of these keywords some value would"),
        (
            {"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#"}}},
            "a value for # would hold another one for it, and so on without end",
        ),
        (
            {
                "type": "object",
                "required": ["x", "y"],
                "properties": {"x": {"type": "array", "items": {"$ref": "#"}}, "y": False},
            },
            "without any one of these keywords some value would",
        ),
    ],
)
def test_the_way_out(schema: Any, hint: str) -> None:
    assert explained(schema).hint == hint


def test_leaving_out_any_one_keyword_helps() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "pattern": "^a+$", "minLength": 2, "maxLength": 9},
            "b": {"type": "integer", "minimum": 1, "maximum": 10, "multipleOf": 11},
        },
        "required": ["a", "b"],
        "title": "t",
    }
    error = explained(schema)
    assert error.pointer == "#/properties/b"
    assert "`minimum` (1), `maximum` (10) and `multipleOf` (11)" in error.reason
    for name in ("type", "minimum", "maximum", "multipleOf"):
        assert f"`{name}`" in error.reason
        b = {k: v for k, v in schema["properties"]["b"].items() if k != name}
        from_json_schema({**schema, "properties": {**schema["properties"], "b": b}})
    assert "#/properties/a" not in error.reason


def test_one_of_many_properties() -> None:
    properties: dict[str, Any] = {f"p{i}": {"type": "string", "minLength": i} for i in range(500)}
    properties["bad"] = {"type": "string", "const": 1}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    error = explained(schema)
    assert error.pointer == "#/properties/bad"
    assert error.hint == "without any one of these keywords some value would"


def test_too_many_to_leave_each_out() -> None:
    branches = [
        {"properties": {"k": {"const": i}, "v": {"type": "string", "const": 1}}} for i in range(120)
    ]
    schema = {"type": "object", "required": ["k", "v"], "oneOf": branches}
    error = explained(schema)
    assert "more places" in error.reason
    assert (
        error.hint == "not all of these keywords may matter; there were too many to leave each out"
    )


def test_the_nodes_are_as_before_for_the_report() -> None:
    schema = {"oneOf": [{"type": "string"}], "type": "null", "pattern": r"(a)\1"}
    error = explained({**schema, "pattern": "a"})
    assert "`oneOf`" in error.reason
    assert "anyOf" not in error.reason
