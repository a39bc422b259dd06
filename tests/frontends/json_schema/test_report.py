"""The report: what was done with each keyword that can be reached."""

from __future__ import annotations

import pytest

from constrain.frontends.json_schema import KeywordUse, from_json_schema
from constrain.frontends.json_schema.keywords import DIALECTS, dialect_of


def test_each_keyword_is_listed_with_its_place() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "T",
        "properties": {"a/b": {"type": "string", "x-note": 1}},
        "$defs": {"unused": {"type": "null"}},
        "then": {"type": "null"},
    }
    assert from_json_schema(schema).report == (
        KeywordUse("#", "$schema", "annotation"),
        KeywordUse("#", "title", "annotation"),
        KeywordUse("#", "properties", "enforced"),
        KeywordUse("#", "$defs", "annotation"),
        KeywordUse("#", "then", "annotation", "no `if` stands beside it"),
        KeywordUse("#/properties/a~1b", "type", "enforced"),
        KeywordUse("#/properties/a~1b", "x-note", "annotation"),
    )


@pytest.mark.parametrize(
    ("schema", "dialect", "keyword", "reason"),
    [
        (
            {"name": "n", "schema": {}},
            None,
            "schema",
            "no keyword of draft2020-12; if it is the schema that is meant, pass it alone",
        ),
        ({"minimun": 3}, None, "minimun", "no keyword of draft2020-12; 'minimum' is one"),
        ({"const": 3}, "draft4", "const", "no keyword of draft4, but of draft6"),
        ({"format": "zip-code"}, None, "format", "no format that is known: zip-code"),
        ({"else": False}, None, "else", "no `if` stands beside it"),
        (
            {"$ref": "#/definitions/a", "type": "null", "definitions": {"a": {}}},
            "draft7",
            "type",
            "`$ref` overrides what stands beside it in draft7",
        ),
    ],
)
def test_what_looks_like_an_assertion_and_is_none_has_a_reason(
    schema: dict[str, object], dialect: str | None, keyword: str, reason: str
) -> None:
    report = from_json_schema(schema, dialect=dialect).report
    assert KeywordUse("#", keyword, "annotation", reason) in report


def test_formats_are_reported_as_they_are_used() -> None:
    schema = {"anyOf": [{"format": "date"}, {"format": "made-up"}]}
    uses = {u.pointer: u.use for u in from_json_schema(schema).report if u.keyword == "format"}
    assert uses == {"#/anyOf/0": "enforced", "#/anyOf/1": "annotation"}
    report = from_json_schema(schema, format="annotate").report
    formats = [use for use in report if use.keyword == "format"]
    assert {use.use for use in formats} == {"annotation"}
    assert {use.reason for use in formats} == {"formats are not asserted"}


def test_overridden_siblings_are_no_more_than_annotations() -> None:
    schema = {"definitions": {"a": True}, "$ref": "#/definitions/a", "minimum": 3}
    uses = {use.keyword: use.use for use in from_json_schema(schema, dialect="draft7").report}
    assert uses == {"definitions": "annotation", "$ref": "enforced", "minimum": "annotation"}


def test_every_keyword_of_a_schema_used_twice_is_listed_once() -> None:
    schema = {
        "$id": "http://x.example/",
        "$dynamicAnchor": "n",
        "properties": {"a": {"$ref": "tree"}, "b": {"$dynamicRef": "#n"}},
        "$defs": {
            "tree": {"$id": "tree", "$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}},
        },
    }
    report = from_json_schema(schema).report
    assert len({(use.pointer, use.keyword) for use in report}) == len(report)
    assert sum(use.keyword == "$dynamicRef" for use in report) == 2


def test_the_input_is_not_changed() -> None:
    schema = {"properties": {"a": {"minimum": 1.5, "enum": [1, "a"]}}, "required": ["a"]}
    before = repr(schema)
    from_json_schema(schema)
    assert repr(schema) == before


def test_dialects_are_known_by_uri() -> None:
    for dialect in DIALECTS.values():
        assert dialect_of(dialect.uri) is dialect
        assert dialect_of(dialect.uri + "#") is dialect
    assert dialect_of("http://json-schema.org/draft-03/schema#") is None
    assert dialect_of("json-schema.org/draft-07/schema") is None
    for uri in ("oas/3.1/dialect/base", "oas/3.1/dialect/2024-11-10", "oas/3.2/dialect/2025-09-17"):
        assert dialect_of(f"https://spec.openapis.org/{uri}") is DIALECTS["draft2020-12"]
    assert dialect_of("https://spec.openapis.org/oas/3.0/dialect/base") is None
