"""Documents: which schemas have names, where pointers lead, and what a registry is asked for."""

from __future__ import annotations

from typing import Any

import pytest
import referencing
import referencing.jsonschema

from constrain.errors import SchemaError, UnsupportedFeatureError
from constrain.frontends.json_schema import from_json_schema
from tests.frontends.json_schema.texts import Texts


def _registry(documents: dict[str, Any], draft: Any = referencing.jsonschema.DRAFT202012) -> Any:
    resources = [(uri, draft.create_resource(contents)) for uri, contents in documents.items()]
    return referencing.Registry().with_resources(resources)


def test_values_are_no_schemas() -> None:
    """An identifier in an `enum`, or below an unknown keyword, names nothing."""
    schema = {
        "$id": "https://example.com/root",
        "$ref": "https://example.com/a",
        "enum": [{"$id": "https://example.com/a", "type": "null"}],
        "x-unknown": {"$id": "https://example.com/a", "type": "null"},
    }
    with pytest.raises(SchemaError, match="leads nowhere"):
        from_json_schema(schema)
    texts = Texts({**schema, "$defs": {"a": {"$id": "a", "type": ["object", "null"]}}}, style="any")
    assert texts.accepts('{"$id":"https://example.com/a","type":"null"}')


def test_a_document_inside_a_document_of_the_registry() -> None:
    outer = {"$defs": {"x": {"$id": "https://example.com/inner", "type": "null"}}}
    registry = _registry({"https://example.com/outer": outer})
    texts = Texts({"$ref": "https://example.com/inner"}, style="any", registry=registry)
    assert texts.accepts("null")
    assert not texts.accepts("1")


def test_a_document_under_the_name_it_gives_itself() -> None:
    document = {"$id": "https://example.com/b", "items": {"$ref": "#/$defs/x"}, "type": "array"}
    document["$defs"] = {"x": {"$id": "c", "type": "null"}}
    registry = _registry({"https://example.com/a": document})
    for name in ("a", "b"):
        texts = Texts({"$ref": f"https://example.com/{name}"}, style="any", registry=registry)
        assert texts.accepts("[null]")
        assert not texts.accepts("[1]")
    assert Texts({"$ref": "https://example.com/c"}, style="any", registry=registry).accepts("null")


def test_what_nobody_refers_to_harms_nobody() -> None:
    """Documents that some draft cannot read, and dialects that nobody knows."""
    documents = {
        "https://example.com/new": {"$defs": {"x": True}, "properties": {"y": True}},
        "https://example.com/odd": {"$schema": "https://example.com/nope", "type": "null"},
        "https://example.com/old": {"id": "https://example.com/older", "type": "null"},
    }
    registry = _registry(documents, referencing.jsonschema.DRAFT4)
    for name in ("old", "older"):
        schema = {"$ref": f"https://example.com/{name}"}
        texts = Texts(schema, style="any", dialect="draft4", registry=registry)
        assert texts.accepts("null")
        assert not texts.accepts("1")
    with pytest.raises(UnsupportedFeatureError, match=r"https://example\.com/nope"):
        from_json_schema({"$ref": "https://example.com/odd"}, registry=registry)


def test_identifiers_beside_a_reference_in_old_drafts() -> None:
    schema = {
        "$id": "https://example.com/base/",
        "definitions": {
            "a": {"$id": "https://example.com/other/x", "type": "string"},
            "b": {"$id": "x", "type": "number"},
        },
        "allOf": [{"$id": "https://example.com/other/", "$ref": "x"}],
    }
    assert Texts(schema, style="any", dialect="draft7").accepts("1")
    new = {**schema, "$defs": schema["definitions"]}
    del new["definitions"]
    assert Texts(new, style="any", dialect="draft2020-12").accepts('"x"')


def test_plain_names_in_old_drafts() -> None:
    schema = {
        "$id": "https://example.com/root",
        "allOf": [{"$ref": "#a"}, {"$ref": "part#b"}],
        "definitions": {
            "a": {"$id": "#a", "minimum": 1},
            "p": {"$id": "part", "definitions": {"b": {"$id": "#b", "maximum": 2}}},
        },
    }
    texts = Texts(schema, style="any", dialect="draft7")
    assert [texts.accepts(text) for text in ("0", "1", "2", "3")] == [False, True, True, False]


@pytest.mark.parametrize("base", ["urn:uuid:2e3b8e9a-0b0a-4b5e-8c26-9e5ab6a5f0ce", "tag:x,2020:y"])
def test_names_that_are_no_locators(base: str) -> None:
    schema = {
        "$id": base,
        "$defs": {"a": {"$anchor": "a", "type": "null"}},
        "prefixItems": [{"$ref": "#/$defs/a"}, {"$ref": f"{base}#a"}, {"$ref": "#a"}],
    }
    texts = Texts(schema, style="any")
    assert texts.accepts("[null,null,null]")
    for bad in ("[1]", "[null,1]", "[null,null,1]"):
        assert not texts.accepts(bad)


def test_percent_signs_are_decoded_before_steps_are_told_apart() -> None:
    schema = {"$defs": {"a": {"b": {"type": "null"}}}, "$ref": "#/$defs/a%2Fb"}
    assert not Texts(schema, style="any").accepts("1")


def test_a_pointer_into_what_no_keyword_holds() -> None:
    schema = {
        "$id": "https://example.com/root",
        "x-parts": {"a": {"$ref": "#/x-parts/b"}, "b": {"$id": "sub/b", "$ref": "c"}},
        "$defs": {"c": {"$id": "sub/c", "type": "null"}},
        "$ref": "#/x-parts/a",
    }
    texts = Texts(schema, style="any")
    assert texts.accepts("null")
    assert not texts.accepts("1")


@pytest.mark.parametrize("ref", ["http://[", "https://example.com/%zz", "::", "#%zz"])
def test_references_that_are_hardly_any(ref: str) -> None:
    with pytest.raises(SchemaError, match="leads nowhere"):
        from_json_schema({"$id": "https://example.com/root", "$ref": ref})


def test_a_registry_that_fetches_is_the_callers() -> None:
    asked = []

    def retrieve(uri: str) -> Any:
        asked.append(uri)
        return referencing.jsonschema.DRAFT202012.create_resource({"type": "null"})

    registry: Any = referencing.Registry(retrieve=retrieve)  # type: ignore[call-arg]
    texts = Texts({"$ref": "https://example.com/far"}, style="any", registry=registry)
    assert texts.accepts("null")
    assert asked == ["https://example.com/far"]
