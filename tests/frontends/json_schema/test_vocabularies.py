"""Schemas whose `$schema` is a metaschema of the caller: which keywords count, and which do not."""

from __future__ import annotations

from typing import Any

import pytest
import referencing
import referencing.jsonschema

from constrain.errors import UnsupportedFeatureError
from constrain.frontends.json_schema import from_json_schema
from tests.frontends.json_schema.texts import Texts

META = "https://example.com/meta"
DRAFT = "https://json-schema.org/draft/2020-12"


def _registry(vocabularies: dict[str, bool] | None, draft: str = f"{DRAFT}/schema") -> Any:
    metaschema: dict[str, Any] = {"$schema": draft, "$id": META}
    if vocabularies is not None:
        metaschema["$vocabulary"] = vocabularies
    resource = referencing.jsonschema.DRAFT202012.create_resource(metaschema)
    return referencing.Registry().with_resource(META, resource)


def _vocabularies(*names: str) -> dict[str, bool]:
    return {f"{DRAFT}/vocab/{name}": True for name in ("core", *names)}


SCHEMA = {
    "$schema": META,
    "type": "object",
    "properties": {"n": {"minimum": 10}, "never": False},
    "unevaluatedProperties": False,
}


@pytest.mark.parametrize(
    ("names", "accepted", "rejected"),
    [
        (("applicator",), ["1", '{"n":1,"z":1}'], ['{"never":1}']),
        (("applicator", "unevaluated"), ["1", '{"n":1}'], ['{"z":1}']),
        (("validation",), ['{"never":1,"n":1}'], ["1"]),
        (("applicator", "validation"), ['{"z":1,"n":10}'], ['{"n":1}', "1"]),
        ((), ["1", '{"never":1}'], []),
    ],
)
def test_keywords_of_other_vocabularies_are_annotations(
    names: tuple[str, ...], accepted: list[str], rejected: list[str]
) -> None:
    texts = Texts(SCHEMA, style="any", registry=_registry(_vocabularies(*names)))
    assert [t for t in accepted if not texts.accepts(t)] == []
    assert [t for t in rejected if texts.accepts(t)] == []


def test_the_report_says_so() -> None:
    report = from_json_schema(SCHEMA, registry=_registry(_vocabularies("applicator"))).report
    uses = {use.keyword: use.use for use in report if use.pointer == "#"}
    assert uses["properties"] == "enforced"
    assert uses["type"] == uses["unevaluatedProperties"] == "annotation"


def test_a_metaschema_without_vocabularies_is_its_draft() -> None:
    texts = Texts(SCHEMA, style="any", registry=_registry(None))
    assert texts.accepts('{"n":10}')
    assert not texts.accepts('{"n":1}')
    old = "http://json-schema.org/draft-07/schema#"
    assert Texts(SCHEMA, style="any", registry=_registry(None, old)).accepts('{"z":1}')


def test_a_named_draft_does_not_hide_the_vocabularies() -> None:
    registry = _registry(_vocabularies("applicator"))
    assert Texts(SCHEMA, style="any", dialect="draft2020-12", registry=registry).accepts("1")
    assert not Texts(SCHEMA, style="any", dialect="draft2019-09", registry=registry).accepts("1")


def test_vocabularies_that_are_not_known() -> None:
    custom = "https://example.com/vocab"
    optional = _registry({**_vocabularies("validation"), custom: False})
    assert not Texts(SCHEMA, style="any", registry=optional).accepts("1")
    required = _registry({**_vocabularies("validation"), custom: True})
    with pytest.raises(UnsupportedFeatureError, match=custom) as caught:
        from_json_schema(SCHEMA, registry=required)
    assert caught.value.pointer == "#/$schema"


def test_a_metaschema_that_nobody_has() -> None:
    with pytest.raises(UnsupportedFeatureError, match=META):
        from_json_schema(SCHEMA)
    circular = _registry(None, META)
    with pytest.raises(UnsupportedFeatureError, match=META):
        from_json_schema(SCHEMA, registry=circular)


@pytest.mark.parametrize(("name", "asserts"), [("annotation", False), ("assertion", True)])
def test_a_vocabulary_may_assert_formats(name: str, asserts: bool) -> None:
    schema = {"$schema": META, "format": "date"}
    registry = _registry(_vocabularies(f"format-{name}"))
    texts = Texts(schema, style="any", format="annotate", registry=registry)
    assert texts.accepts('"2020-02-30"') != asserts
    uses = [u.use for u in texts.grammar.report if u.keyword == "format"]
    assert uses == ["enforced" if asserts else "annotation"]


def test_parts_of_a_document_may_have_their_own() -> None:
    schema = {
        "items": {"$id": "https://example.com/part", "$schema": META, "type": "null"},
        "type": "array",
    }
    texts = Texts(schema, style="any", registry=_registry(_vocabularies("applicator")))
    assert texts.accepts("[1]")
    assert not texts.accepts("1")
