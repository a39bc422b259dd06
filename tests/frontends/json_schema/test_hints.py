"""Errors that teach: what was probably meant."""

from __future__ import annotations

from typing import Any

import pytest

from constrain.errors import SchemaError
from constrain.frontends.json_schema import from_json_schema

BYTE_ORDER_MARK = "read the file with encoding='utf-8-sig', which takes the byte order mark away"
FENCE = "pass the JSON alone, without the fence around it"
LAST_COMMA = "there is no comma after the last one"
NULL_TYPE = 'write "null" in quotes for null, or leave `type` out to allow every type'


@pytest.mark.parametrize(
    ("schema", "pointer", "hint"),
    [
        ({"type": "str"}, "#/type", "JSON Schema calls it 'string'"),
        ({"type": "Integer"}, "#/type", "JSON Schema calls it 'integer'"),
        ({"type": "strng"}, "#/type", "JSON Schema calls it 'string'"),
        ({"type": ["string", "None"]}, "#/type", "JSON Schema calls it 'null'"),
        ({"type": "datetime"}, "#/type", 'write {"type": "string", "format": "date-time"}'),
        ({"type": "any"}, "#/type", "leave `type` out to allow every type"),
        (
            {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
            "#/type",
            "a response_format is none: pass response_format['json_schema']['schema']",
        ),
        (
            {"name": "n", "strict": True, "schema": {"type": "object"}},
            "#/schema",
            "pass that alone: schema['schema']",
        ),
        (
            {"name": "f", "description": "A tool.", "parameters": {"properties": {}}},
            "#/parameters",
            "pass that alone: schema['parameters']",
        ),
        ({"type": "json_object"}, "#/type", 'write {"type": "object"} for any object'),
        ({"type": "qwertz"}, "#/type", None),
        ({"type": 3}, "#/type", None),
        ({"type": None}, "#/type", NULL_TYPE),
        ({"type": ["string", None]}, "#/type", NULL_TYPE),
        ({"pattern": None}, "#/pattern", "leave `pattern` out where there is none"),
        ({"items": None}, "#/items", "leave `items` out where there is none"),
        (
            {"properties": {"a": {"enum": None}}},
            "#/properties/a/enum",
            "leave `enum` out where there is none",
        ),
        ({"items": [{}]}, "#/items", "an array of schemas is `prefixItems` since draft 2020-12"),
        ({"required": True}, "#/required", "it stands beside `properties` and lists names"),
        ({"required": "a"}, "#/required", 'write ["a"]'),
        (
            {"exclusiveMinimum": True},
            "#/exclusiveMinimum",
            "a boolean is draft 4: set $schema or dialect=",
        ),
        ({"additionalProperties": "false"}, "#/additionalProperties", "write false without quotes"),
        ({"uniqueItems": "true"}, "#/uniqueItems", "write true without quotes"),
        ({"minimum": "18"}, "#/minimum", "write 18 without quotes"),
        ({"maxLength": "-1"}, "#/maxLength", "write -1 without quotes"),
        ({"minLength": -1}, "#/minLength", None),
        ({"properties": {"a": "string"}}, "#/properties", 'for \'a\' write {"type": "string"}'),
        ({"properties": {"a": "int"}}, "#/properties", 'for \'a\' write {"type": "integer"}'),
        ({"properties": {"a": 1}}, "#/properties", "'a' is 1, which is no schema"),
        ({"properties": ["a"]}, "#/properties", "write an object: each name with its schema"),
        ({"items": "string"}, "#/items", 'for it write {"type": "string"}'),
        ({"anyOf": {"type": "null"}}, "#/anyOf", "write an array of schemas, also for one"),
        ({"anyOf": [{}, None]}, "#/anyOf", "item 1 is null, which is no schema"),
        (
            {"$ref": "#/definitions/a", "$defs": {"a": {}}},
            "#/$ref",
            "there is a schema at #/$defs/a",
        ),
        ({"$ref": "a", "$defs": {"a": {}}}, "#/$ref", "there is a schema at #/$defs/a"),
        (
            {"$ref": "#a", "definitions": {"a": {}}},
            "#/$ref",
            "there is a schema at #/definitions/a",
        ),
        ({"$ref": "#/$defs/pett", "$defs": {"pet": {}}}, "#/$ref", "it has 'pet'"),
        ({"$ref": "#/definitions/b", "$defs": {"a": {}}}, "#/$ref", "it has '$defs'"),
        ({"$ref": "#/$defs/b", "$defs": {"a": {}}}, "#/$ref", None),
        ({"$ref": "#/$defs/B", "$defs": {"a": {}, "b": {}}}, "#/$ref", "it has 'b'"),
        (
            {"items": {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {}}}},
            "#/items/properties/a/$ref",
            "there is a schema at #/items/$defs/A",
        ),
        (
            {
                "properties": {
                    "x/y": {"definitions": {"A": {}}, "items": {"$ref": "#/definitions/A"}}
                },
                "definitions": {},
            },
            "#/properties/x~1y/items/$ref",
            "there is a schema at #/properties/x~1y/definitions/A",
        ),
        (
            {"$ref": "other.json"},
            "#/$ref",
            "schemas of other documents come from registry=, and are never fetched",
        ),
        ('\ufeff{"type": "string"}', None, BYTE_ORDER_MARK),
        ('// a schema\n{"type": "string"}', None, "JSON has no comments"),
        ('{"type": "string" /* text */}', None, "JSON has no comments"),
        ('```json\n{"type": "string"}\n```', None, FENCE),
        ('{"minLength": 2.5}', "#/minLength", None),
        ("schema.json", None, "pass what the file holds, not its name: Path(name).read_text()"),
        (
            "{'type': 'string'}",
            None,
            "JSON has double quotes only; Python data can be passed as it is, without str()",
        ),
        (
            '{"uniqueItems": True}',
            None,
            "JSON writes true, false and null; Python data can be passed as it is",
        ),
        ('{"a": 1,}', None, LAST_COMMA),
        ('{"enum": [1 , ]}', None, LAST_COMMA),
        (b"{}", "#", "decode it, and pass the text"),
        (int, "#", "for Python types there is Grammar.from_pydantic"),
        ({"a": (1,)}, "#/a", "a schema holds dict, list, str, int, float, bool and None"),
    ],
)
def test_what_was_probably_meant(schema: Any, pointer: str | None, hint: str | None) -> None:
    with pytest.raises(SchemaError) as caught:
        from_json_schema(schema)
    assert (caught.value.pointer, caught.value.hint) == (pointer, hint)


def test_a_number_is_shown_as_it_is_written() -> None:
    with pytest.raises(SchemaError, match=r"not 2\.5 "):
        from_json_schema('{"minLength": 2.5}')


@pytest.mark.parametrize(
    ("schema", "dialect", "hint"),
    [
        (
            {"type": "null"},
            "openapi-3.0",
            "in OpenAPI 3.0 write one type, and `nullable: true` beside it to allow null",
        ),
        (
            {"exclusiveMaximum": 3},
            "draft4",
            "in draft4 it is true beside `maximum`, which has the number",
        ),
        ({"items": [{}]}, "openapi-3.0", None),
    ],
)
def test_dialects_differ(schema: Any, dialect: str, hint: str | None) -> None:
    with pytest.raises(SchemaError) as caught:
        from_json_schema(schema, dialect=dialect)
    assert caught.value.hint == hint


@pytest.mark.parametrize("text", ['{"x": {"b": 1},\n "a": [{"k": 2, "k" : 3}]}', '{"k":1,"k":2}'])
def test_a_key_that_comes_twice_is_pointed_at(text: str) -> None:
    with pytest.raises(SchemaError, match="the key 'k' twice") as caught:
        from_json_schema(text)
    assert caught.value.span == (text.rindex('"k"'), text.rindex('"k"') + 3)


@pytest.mark.parametrize(
    ("name", "dialect", "reason"),
    [
        ("minimun", None, "no keyword of draft2020-12; 'minimum' is one"),
        ("nullable", None, "no keyword of draft2020-12, but of openapi-3.0"),
        ("additionalItems", None, "no keyword of draft2020-12, but of draft4"),
        ("const", "draft4", "no keyword of draft4, but of draft6"),
        ("patternProperties", "openapi-3.0", "no keyword of openapi-3.0, but of draft4"),
        ("colour", None, "no keyword of draft2020-12"),
        ("x-colour", None, ""),
        ("components", None, ""),
    ],
)
def test_unknown_keywords(name: str, dialect: str | None, reason: str) -> None:
    (use,) = from_json_schema({name: {}}, dialect=dialect).report
    assert (use.use, use.reason) == ("annotation", reason)


@pytest.mark.parametrize(
    "schema",
    [
        {"schema": {}},
        {"schema": {"maker": "x"}},
        {"type": "object", "schema": {"type": "string"}},
        {"$defs": {}, "parameters": {"type": "object"}},
        {"properties": {"schema": {"type": "string"}}},
    ],
)
def test_other_names_beside_keywords_are_annotations(schema):
    assert from_json_schema(schema).report
