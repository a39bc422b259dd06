"""The report: what was done with each keyword that can be reached."""

from __future__ import annotations

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
    report = from_json_schema(schema).report
    assert set(report) == {
        KeywordUse("#", "$schema", "annotation"),
        KeywordUse("#", "title", "annotation"),
        KeywordUse("#", "properties", "enforced"),
        KeywordUse("#", "$defs", "annotation"),
        KeywordUse("#", "then", "annotation"),
        KeywordUse("#/properties/a~1b", "type", "enforced"),
        KeywordUse("#/properties/a~1b", "x-note", "annotation"),
    }


def test_formats_are_reported_as_they_are_used() -> None:
    schema = {"anyOf": [{"format": "date"}, {"format": "made-up"}]}
    uses = {u.pointer: u.use for u in from_json_schema(schema).report if u.keyword == "format"}
    assert uses == {"#/anyOf/0": "enforced", "#/anyOf/1": "annotation"}
    uses = {
        u.pointer: u.use
        for u in from_json_schema(schema, format="annotate").report
        if u.keyword == "format"
    }
    assert set(uses.values()) == {"annotation"}


def test_overridden_siblings_are_no_more_than_annotations() -> None:
    schema = {"definitions": {"a": True}, "$ref": "#/definitions/a", "minimum": 3}
    report = from_json_schema(schema, dialect="draft7").report
    assert KeywordUse("#", "minimum", "annotation") in report
    assert KeywordUse("#", "$ref", "enforced") in report


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
