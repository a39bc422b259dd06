"""References: where they lead, in which base, and what happens where they lead nowhere."""

from __future__ import annotations

from typing import Any

import pytest
import referencing
import referencing.jsonschema

from constrain.errors import SchemaError
from constrain.frontends.json_schema import from_json_schema
from tests.frontends.json_schema.texts import Texts


@pytest.mark.parametrize(
    ("pointer", "schema"),
    [
        ("#/$defs/a", {"$defs": {"a": {"type": "null"}}}),
        ("#/$defs/a~1b", {"$defs": {"a/b": {"type": "null"}}}),
        ("#/$defs/a~0b", {"$defs": {"a~b": {"type": "null"}}}),
        ("#/$defs/a%25b", {"$defs": {"a%b": {"type": "null"}}}),
        ("#/$defs/%22", {"$defs": {'"': {"type": "null"}}}),
        ("#/$defs//x", {"$defs": {"": {"x": {"type": "null"}}}}),
        ("#/prefixItems/1", {"prefixItems": [True, {"type": "null"}]}),
        ("#/x-unknown/deep", {"x-unknown": {"deep": {"type": "null"}}}),
    ],
)
def test_json_pointers(pointer: str, schema: dict[str, Any]) -> None:
    texts = Texts({**schema, "properties": {"p": {"$ref": pointer}}}, style="any")
    assert texts.accepts('{"p":null}')
    assert not texts.accepts('{"p":1}')


def test_recursion() -> None:
    tree = {
        "type": "object",
        "properties": {"l": {"$ref": "#"}, "v": {"type": "integer"}},
        "required": ["v"],
    }
    texts = Texts(tree, style="any")
    assert texts.accepts('{"v":1,"l":{"l":{"v":3},"v":2}}')
    assert not texts.accepts('{"v":1,"l":{"l":{"v":"x"},"v":2}}')
    assert not texts.accepts('{"v":1,"l":{"l":{"v":3}}}')


def test_mutual_recursion_under_conditions() -> None:
    schema = {
        "$ref": "#/$defs/even",
        "$defs": {
            "even": {"anyOf": [{"const": None}, {"items": {"$ref": "#/$defs/odd"}, "minItems": 1}]},
            "odd": {"type": "array", "items": {"$ref": "#/$defs/even"}, "minItems": 1},
        },
    }
    texts = Texts(schema, style="any")
    assert texts.accepts("[[null]]")
    assert texts.accepts("[[[[null],[null]]],[null]]")
    assert not texts.accepts("[null]")
    assert not texts.accepts("[[[null]]]")


def test_booleans_can_be_referred_to() -> None:
    schema = {"$defs": {"no": False, "yes": True}, "properties": {"a": {"$ref": "#/$defs/no"}}}
    assert not Texts(schema, style="any").accepts('{"a":1}')
    assert Texts({**schema, "$ref": "#/$defs/yes"}, style="any").accepts("1")


def test_anchors_and_ids() -> None:
    schema = {
        "$id": "http://example.com/root.json",
        "$defs": {
            "a": {"$anchor": "here", "type": "null"},
            "b": {"$id": "sub/", "$defs": {"c": {"$id": "c.json", "type": "integer"}}},
        },
        "properties": {
            "anchor": {"$ref": "#here"},
            "absolute": {"$ref": "http://example.com/root.json#/$defs/a"},
            "id": {"$ref": "sub/c.json"},
            "own": {"$ref": "#/properties/anchor"},
        },
    }
    texts = Texts(schema, style="any")
    assert texts.accepts('{"anchor":null,"absolute":null,"id":1,"own":null}')
    for name in ("anchor", "absolute", "id", "own"):
        assert not texts.accepts(f'{{"{name}":"x"}}')


def test_remote_documents_come_from_the_registry_only() -> None:
    schema = {"$ref": "http://example.com/point.json"}
    with pytest.raises(SchemaError, match=r"http://example\.com/point\.json.*leads nowhere"):
        from_json_schema(schema)
    remote = referencing.jsonschema.DRAFT202012.create_resource(
        {"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"minimum": 0.5}}}
    )
    registry: Any = referencing.Registry().with_resource("http://example.com/point.json", remote)
    texts = Texts(schema, registry=registry, style="any")
    assert [texts.accepts(t) for t in ("[1,2]", "[0.5]", "[0.4]", "1")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("index", ["1", "00", "-1", "+0", "\u0660", "9" * 5_000])
@pytest.mark.parametrize("base", ["", "http://example.com/a"])
def test_what_is_no_index_of_an_array_leads_nowhere(index: str, base: str) -> None:
    schema: dict[str, Any] = {"$ref": f"{base}#/prefixItems/0", "prefixItems": [{"type": "null"}]}
    if base:
        schema["$id"] = base
    from_json_schema(schema)
    with pytest.raises(SchemaError, match="leads nowhere"):
        from_json_schema({**schema, "$ref": f"{base}#/prefixItems/{index}"})


@pytest.mark.parametrize(
    "ref", ["#/$defs/nope", "#nope", "other.json", "#/type/x", "#/$defs/a/type"]
)
def test_a_reference_that_leads_nowhere_is_named(ref: str) -> None:
    schema = {"$defs": {"a": {"type": "null"}}, "properties": {"p": {"$ref": ref}}}
    with pytest.raises(SchemaError) as caught:
        from_json_schema(schema)
    assert ref in caught.value.reason
    assert caught.value.pointer == "#/properties/p/$ref"


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"type": "string"}, {"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"not": {"$ref": "#/$defs/a"}}]}}},
    ],
)
def test_circles_that_consume_nothing_are_refused(schema: Any) -> None:
    with pytest.raises(SchemaError, match="applies itself to the same value"):
        from_json_schema(schema)


def test_unused_definitions_are_not_looked_at() -> None:
    schema = {"type": "null", "$defs": {"bad": {"type": "nope", "unevaluatedItems": 1}}}
    assert Texts(schema).accepts("null")


def test_the_schema_may_change_afterwards() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"type": "integer"}}, "type": "object"}
    grammar = Texts(schema, style="any")
    schema["properties"]["a"]["type"] = "string"
    schema["properties"].clear()
    assert grammar.accepts('{"a":1}')
    assert not grammar.accepts('{"a":"x"}')


def test_published_metaschemas_are_at_hand() -> None:
    texts = Texts(
        {"$ref": "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"}
    )
    assert texts.accepts("3")
    assert not texts.accepts("-3")
