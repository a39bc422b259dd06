"""Dialect "openapi-3.0": the Schema Object of OpenAPI 3.0.3."""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import jsonschema
import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT4

from constrain.errors import SchemaError, UnsatisfiableError, UnsupportedFeatureError
from constrain.frontends.json_schema import KeywordUse, from_json_schema
from tests.frontends.json_schema.texts import Texts, strict_loads

PETS: dict[str, Any] = {
    "Cat": {
        "type": "object",
        "properties": {"kind": {"type": "string"}, "lives": {"type": "integer"}},
    },
    "Dog": {
        "type": "object",
        "properties": {"kind": {"type": "string"}, "barks": {"type": "boolean"}},
        "required": ["barks"],
    },
}


def openapi(schema: Any, **options: Any) -> Texts:
    return Texts(schema, dialect="openapi-3.0", style=options.pop("style", "any"), **options)


def pet(discriminator: dict[str, Any], keyword: str = "oneOf", **others: Any) -> dict[str, Any]:
    return {
        keyword: [{"$ref": f"#/components/schemas/{name}"} for name in PETS],
        "discriminator": {"propertyName": "kind", **discriminator},
        "components": {"schemas": PETS},
        **others,
    }


def uses(schema: Any, **options: Any) -> dict[tuple[str, str], tuple[str, str]]:
    report = from_json_schema(schema, dialect="openapi-3.0", **options).report
    return {(use.pointer, use.keyword): (use.use, use.reason) for use in report}


class TestNullable:
    @pytest.mark.parametrize(
        ("schema", "good", "bad"),
        [
            ({"type": "string", "nullable": True}, ["null", '"a"'], ["1"]),
            ({"type": "string", "nullable": False}, ['"a"'], ["null"]),
            ({"type": "string"}, ['"a"'], ["null"]),
            ({"type": "string", "nullable": True, "enum": ["a"]}, ['"a"'], ["null", '"b"']),
            ({"type": "string", "nullable": True, "enum": ["a", None]}, ['"a"', "null"], ['"b"']),
            ({"nullable": True}, ["null", "1"], []),
            ({"nullable": False}, ["null", "1"], []),
            ({"nullable": True, "minLength": 2}, ["null", '"ab"', "1"], ['"a"']),
            ({"nullable": True, "allOf": [{"type": "string"}]}, ['"a"'], ["null"]),
            (
                {"type": "object", "nullable": True, "properties": {"a": {"type": "number"}}},
                ["null", "{}", '{"a":1}'],
                ['{"a":null}', "[]"],
            ),
            ({"not": {"type": "string", "nullable": True}}, ["1"], ["null", '"a"']),
        ],
    )
    def test_it_adds_null_to_the_type_beside_it(
        self, schema: Any, good: list[str], bad: list[str]
    ) -> None:
        texts = openapi(schema)
        assert [t for t in good if not texts.accepts(t)] == []
        assert [t for t in bad if texts.accepts(t)] == []

    def test_the_report_says_where_it_has_no_effect(self) -> None:
        schema = {
            "properties": {
                "a": {"type": "string", "nullable": True},
                "b": {"nullable": True},
                "c": {"type": "string", "nullable": False},
                "d": {"$ref": "#/properties/a", "nullable": True},
            }
        }
        found = uses(schema)
        assert found["#/properties/a", "nullable"] == ("enforced", "")
        assert found["#/properties/a", "type"] == ("enforced", "")
        assert found["#/properties/b", "nullable"] == (
            "annotation",
            "it takes effect only where `type` stands beside it",
        )
        assert found["#/properties/c", "nullable"] == ("annotation", "false is the default")
        assert found["#/properties/d", "nullable"] == (
            "annotation",
            "`$ref` overrides what stands beside it in openapi-3.0",
        )


class TestKeywords:
    def test_bounds_are_flags(self) -> None:
        texts = openapi({"type": "number", "minimum": 1, "exclusiveMinimum": True})
        assert [texts.accepts(t) for t in ("1", "1.5", "0")] == [False, True, False]

    def test_references_have_no_siblings(self) -> None:
        schema = {
            "$ref": "#/components/schemas/A",
            "maxLength": 1,
            "components": {"schemas": {"A": {"type": "string"}}},
        }
        assert openapi(schema).accepts('"long"')

    def test_integers_have_no_fraction(self) -> None:
        texts = openapi({"type": "integer"})
        assert [texts.accepts(t) for t in ("1", "1.0", "1e2")] == [True, False, False]

    def test_annotations(self) -> None:
        names = ("title", "description", "default", "readOnly", "writeOnly", "xml", "externalDocs")
        schema = {"x-own": 1, **{n: {} for n in (*names, "example", "deprecated")}}
        assert {use for use, _ in uses(schema).values()} == {"annotation"}
        assert {reason for _, reason in uses(schema).values()} == {""}

    @pytest.mark.parametrize("name", ["const", "patternProperties", "if", "contains", "$id"])
    def test_keywords_of_other_drafts_are_named_as_none(self, name: str) -> None:
        use, reason = uses({name: {}})["#", name]
        assert use == "annotation"
        assert reason.startswith("no keyword of openapi-3.0, but of draft")

    @pytest.mark.parametrize(
        ("schema", "pointer", "words"),
        [
            ({"type": "null"}, "#/type", "one of boolean, integer"),
            ({"type": ["string", "null"]}, "#/type", "one of boolean, integer"),
            ({"type": "string", "nullable": "yes"}, "#/nullable", "a boolean"),
            ({"items": [{}]}, "#/items", "a schema"),
            ({"exclusiveMinimum": 3}, "#/exclusiveMinimum", "a boolean"),
            ({"discriminator": "kind"}, "#/discriminator", "propertyName"),
            ({"discriminator": {"mapping": {}}}, "#/discriminator", "propertyName"),
            (
                {"discriminator": {"propertyName": "a", "mapping": {"x": 1}}},
                "#/discriminator",
                "mapping",
            ),
        ],
    )
    def test_what_is_wrong_is_named(self, schema: Any, pointer: str, words: str) -> None:
        with pytest.raises(SchemaError) as caught:
            openapi(schema)
        assert caught.value.pointer == pointer
        assert words in str(caught.value)

    def test_examples_are_no_schemas(self) -> None:
        schema = {
            "example": {"id": "x", "$ref": "nowhere", "type": "strng"},
            "properties": {"id": {"$ref": "#/components/schemas/Id"}},
            "components": {"schemas": {"Id": {"type": "integer"}}},
        }
        assert [openapi(schema).accepts(t) for t in ('{"id":1}', '{"id":"a"}')] == [True, False]

    def test_other_documents_come_from_the_registry(self) -> None:
        common = {"Name": {"type": "string", "nullable": True, "maxLength": 3}}
        registry = Registry().with_contents(
            [("http://a.example/common.json", common)], default_specification=DRAFT4
        )
        texts = openapi({"$ref": "http://a.example/common.json#/Name"}, registry=registry)
        assert [texts.accepts(t) for t in ("null", '"abc"', '"abcd"')] == [True, True, False]
        assert common["Name"]["type"] == "string"


class TestFormats:
    @pytest.mark.parametrize(
        ("schema", "good", "bad"),
        [
            (
                {"type": "integer", "format": "int32"},
                ["2147483647", "-2147483648"],
                ["2147483648", "-2147483649"],
            ),
            (
                {"type": "integer", "format": "int64"},
                ["9223372036854775807", "-9223372036854775808"],
                ["9223372036854775808", "-9223372036854775809"],
            ),
            (
                {"type": "integer", "format": "int32", "nullable": True, "minimum": 5},
                ["null", "5"],
                ["4", "2147483648"],
            ),
            (
                {"type": "string", "format": "byte", "pattern": "^a", "allOf": [{"minLength": 4}]},
                ['"abcd"', '"a+=="', '"abc="'],
                ['"bbcd"', '"abc"', '"abcde"', '"a==="', '"ab-_"'],
            ),
            ({"type": "string", "format": "date"}, ['"2024-02-29"'], ['"2023-02-29"']),
            ({"type": "number", "format": "int32"}, ["2147483648.5"], []),
            ({"type": "number", "format": "double"}, ["1e400"], []),
            ({"type": "string", "format": "binary"}, ['"\u20ac"'], []),
        ],
    )
    def test_what_they_say(self, schema: Any, good: list[str], bad: list[str]) -> None:
        texts = openapi(schema)
        assert [t for t in good if not texts.accepts(t)] == []
        assert [t for t in bad if texts.accepts(t)] == []
        annotated = openapi(schema, format="annotate")
        if "pattern" not in schema and "minimum" not in schema:
            assert [t for t in good + bad if not annotated.accepts(t)] == []

    def test_the_report(self) -> None:
        formats = ("int32", "int64", "byte", "date", "float", "password", "zip")
        schema = {
            "properties": {
                name: {"type": "integer" if "int" in name else "string", "format": name}
                for name in formats
            }
        }
        enforced = {
            pointer.rsplit("/", 1)[-1]
            for (pointer, keyword), (use, _) in uses(schema).items()
            if keyword == "format" and use == "enforced"
        }
        assert enforced == {"int32", "int64", "byte", "date"}
        assert not any(k == "allOf" for _, k in uses(schema)), "only what was written is listed"
        found = uses(schema, format="annotate")
        assert found["#/properties/int32", "format"] == ("annotation", "formats are not asserted")


class TestDiscriminator:
    KINDS = ("Cat", "Dog", "cat", "c", "Bird", 1, None)

    @pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
    @pytest.mark.parametrize(
        ("mapping", "selected"),
        [
            (None, {"Cat": "Cat", "Dog": "Dog"}),
            ({"cat": "#/components/schemas/Cat"}, {"cat": "Cat", "Dog": "Dog"}),
            (
                {"cat": "Cat", "c": "#/components/schemas/Cat"},
                {"cat": "Cat", "c": "Cat", "Dog": "Dog"},
            ),
            ({"Cat": "Dog"}, {"Cat": "Dog"}),
            ({"Cat": "Dog", "Dog": "Cat"}, {"Cat": "Dog", "Dog": "Cat"}),
            ({"Bird": "#/components/schemas/Bird"}, {"Cat": "Cat", "Dog": "Dog"}),
        ],
    )
    def test_the_value_selects_the_schema(
        self, mapping: dict[str, str] | None, selected: dict[str, str], keyword: str
    ) -> None:
        texts = openapi(pet({} if mapping is None else {"mapping": mapping}, keyword))
        members = [{}, {"lives": 9}, {"lives": "x"}, {"barks": True}, {"barks": 1}]
        for kind, others in product(self.KINDS, members):
            value = {**others, "kind": kind}
            valid = kind in selected and jsonschema.Draft4Validator(PETS[selected[kind]]).is_valid(
                value
            )
            assert texts.accepts(json.dumps(value)) is valid, value
        assert [texts.accepts(t) for t in ("{}", '{"barks":true}', "1", "null")] == [False] * 4

    def test_generated_texts_name_their_schema(self) -> None:
        texts = openapi(pet({"mapping": {"woof": "Dog"}}), style="canonical")
        rng = random.Random(0)
        kinds = set()
        for steps in range(40):
            value = strict_loads(texts.draw(rng, steps) or b"")
            kinds.add(value["kind"])
            schema = PETS["Dog" if value["kind"] == "woof" else "Cat"]
            jsonschema.Draft4Validator(schema).validate(value)
        assert kinds == {"Cat", "woof"}

    def test_other_keywords_beside_it_hold(self) -> None:
        texts = openapi(pet({}, properties={"kind": {"enum": ["Dog"]}}))
        assert texts.accepts('{"kind":"Dog","barks":true}')
        assert not texts.accepts('{"kind":"Cat"}')

    def test_below_a_negation(self) -> None:
        texts = openapi(
            {
                "type": "object",
                "not": {"$ref": "#/components/schemas/Pet"},
                "components": {
                    "schemas": {
                        **PETS,
                        "Pet": {k: v for k, v in pet({}).items() if k != "components"},
                    }
                },
            }
        )
        assert texts.accepts('{"kind":"Bird"}')
        assert texts.accepts('{"kind":"Dog"}')
        assert not texts.accepts('{"kind":"Cat"}')

    def test_recursive_schemas(self) -> None:
        schemas = {
            "Node": {
                "oneOf": [
                    {"$ref": "#/components/schemas/Leaf"},
                    {"$ref": "#/components/schemas/Both"},
                ],
                "discriminator": {"propertyName": "t"},
            },
            "Leaf": {"type": "object", "properties": {"t": {"type": "string"}}},
            "Both": {
                "type": "object",
                "required": ["l", "r"],
                "properties": {
                    "t": {"type": "string"},
                    "l": {"$ref": "#/components/schemas/Node"},
                    "r": {"$ref": "#/components/schemas/Node"},
                },
            },
        }
        texts = openapi({"$ref": "#/components/schemas/Node", "components": {"schemas": schemas}})
        leaf = {"t": "Leaf"}
        both = {"t": "Both", "l": leaf, "r": {"t": "Both", "l": leaf, "r": leaf}}
        assert texts.accepts(json.dumps(both))
        assert not texts.accepts(json.dumps({**both, "l": {"t": "leaf"}}))

    def test_the_report(self) -> None:
        found = uses(pet({}))
        assert found["#", "discriminator"] == ("enforced", "")
        assert found["#", "oneOf"] == ("enforced", "")
        assert found["#/oneOf/0", "$ref"] == ("enforced", "")
        assert not [
            key for key in found if "discriminator/" in key[0] or key[0] == "#/discriminator"
        ]

    def test_in_a_base_schema_it_is_an_annotation(self) -> None:
        base = {"type": "object", "required": ["kind"], "discriminator": {"propertyName": "kind"}}
        assert openapi(base).accepts('{"kind":1}')
        assert uses(base)["#", "discriminator"] == (
            "annotation",
            "it selects out of a `oneOf` or `anyOf` beside it, and there is none",
        )

    @pytest.mark.parametrize("branch", [{"type": "object"}, True])
    def test_a_schema_without_a_name_is_refused(self, branch: Any) -> None:
        schema = pet({})
        schema["oneOf"] = [*schema["oneOf"], branch]
        with pytest.raises(UnsupportedFeatureError, match="has no name") as caught:
            openapi(schema)
        assert caught.value.pointer == "#/discriminator"
        relaxed = openapi(schema, on_unsupported="relax")
        for text in ('{"kind":"Cat"}', '{"kind":"x"}', '{"kind":"Dog","barks":true}'):
            assert relaxed.accepts(text)
        report = {use.keyword: use for use in relaxed.grammar.report if use.pointer == "#"}
        assert report["discriminator"].use == report["oneOf"].use == "relaxed"
        assert "only as `anyOf`" in report["oneOf"].reason

    def test_a_collision_names_the_discriminator(self) -> None:
        schema = pet({})
        schema["properties"] = {"kind": {"enum": ["Bird"]}}
        schema["required"] = ["kind"]
        with pytest.raises(UnsatisfiableError, match="#/discriminator"):
            openapi(schema)

    def test_it_is_for_this_dialect_only(self) -> None:
        texts = Texts(pet({}), style="any")
        assert texts.accepts('{"barks":3}')
        report = texts.grammar.report
        reason = "no keyword of draft2020-12, but of openapi-3.0"
        assert KeywordUse("#", "discriminator", "annotation", reason) in report


# By brute force


def selects(validator: Any, branches: Any, instance: Any, schema: Any) -> Any:
    """`oneOf` or `anyOf` as the specification words it, of which `discriminator` may select one."""
    fits = [validator.evolve(schema=branch).is_valid(instance) for branch in branches]
    if "discriminator" in schema:
        said = schema["discriminator"]
        kind = instance.get(said["propertyName"]) if isinstance(instance, dict) else None
        refs = [branch["$ref"] for branch in branches]
        mapping = said.get("mapping", {})
        to = mapping.get(kind) if isinstance(kind, str) else None
        if to is None and isinstance(kind, str):
            to = f"#/components/schemas/{kind}"
            if any(ref in (to, kind) for ref in mapping.values()):
                to = None  # it has another name
        full = to if to is None or to.startswith("#") else f"#/components/schemas/{to}"
        if full not in refs or not fits[refs.index(full)]:
            yield jsonschema.ValidationError("the selected schema does not fit")
    elif fits.count(True) != 1 and (branches is schema.get("oneOf") or True not in fits):
        yield jsonschema.ValidationError("none, or too many")


def has_type(validator: Any, name: str, instance: Any, schema: Any) -> Any:
    if not (instance is None and schema.get("nullable")):
        yield from jsonschema.Draft4Validator.VALIDATORS["type"](validator, name, instance, schema)


def has_format(validator: Any, name: str, instance: Any, schema: Any) -> Any:
    bits = {"int32": 31, "int64": 63}.get(name)
    if bits and schema.get("type") == "integer" and isinstance(instance, int):
        if not -(2**bits) <= instance < 2**bits:
            yield jsonschema.ValidationError(name)


Oracle = jsonschema.validators.extend(
    jsonschema.Draft4Validator,
    {"oneOf": selects, "anyOf": selects, "type": has_type, "format": has_format},
)
VALUES: list[Any] = [
    None,
    True,
    "",
    "Cat",
    "aaaa",
    0,
    1,
    7,
    2**31,
    -(2**31),
    2**63,
    [],
    [None],
    [1],
]
VALUES += [{}, {"kind": "Cat"}, {"kind": "c", "x": 1}, {"kind": "Dog", "x": None}, {"kind": None}]
VALUES += [{"kind": "Dog", "x": {"kind": "Cat"}}, {"x": 2**31}, {"x": "aaaa"}, {"kind": "Pet"}]


def draw(rng: random.Random, depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    types = ["string", "integer", "number", "object", "array", "boolean"]
    if rng.random() < 0.6:
        schema["type"] = rng.choice(types)
    for name, choices in {
        "nullable": [True, True, False],
        "format": ["int32", "int64", "float"],
        "enum": [[None, 1, "Cat"], ["aaaa", {}], [0, 2**31]],
        "minimum": [1],
        "exclusiveMinimum": [True],
        "maxLength": [2],
        "required": [["kind"], ["x"]],
    }.items():
        if rng.random() < 0.2:
            schema[name] = rng.choice(choices)
    if depth:
        refs = [{"$ref": f"#/components/schemas/{name}"} for name in ("Cat", "Dog", "Pet")]
        kind = rng.choice(["oneOf", "anyOf", "allOf", "not", "properties", "items", "selected", ""])
        if kind == "selected":
            schema[rng.choice(["oneOf", "anyOf"])] = refs[: rng.randint(1, 2)]
            mapping = {"c": rng.choice(["Cat", "#/components/schemas/Dog", "Bird"])}
            schema["discriminator"] = {"propertyName": "kind"}
            if rng.random() < 0.5:
                schema["discriminator"]["mapping"] = mapping
        elif kind in ("oneOf", "anyOf", "allOf"):
            schema[kind] = [rng.choice([*refs[:2], draw(rng, depth - 1)]) for _ in range(2)]
        elif kind == "properties":
            schema[kind] = {"x": rng.choice([*refs, draw(rng, depth - 1)])}
        elif kind:
            schema[kind] = rng.choice([*refs[:2], draw(rng, depth - 1)])
    return schema


@pytest.mark.parametrize("seed", range(6))
def test_against_the_words_of_the_specification(seed: int) -> None:
    rng = random.Random(seed)
    judged = [0, 0]
    for _ in range(60):
        schemas = {"Cat": draw(rng, 1), "Dog": draw(rng, 1), "Pet": draw(rng, 0)}
        for name in ("Cat", "Dog"):  # nothing applies itself to the same value
            for keyword in ("oneOf", "anyOf", "allOf", "not", "discriminator"):
                schemas[name].pop(keyword, None)
        schema = {**draw(rng, 2), "components": {"schemas": schemas}}
        oracle = Oracle(schema)
        try:
            texts = openapi(schema)
        except UnsatisfiableError:
            assert not any(map(oracle.is_valid, VALUES)), json.dumps(schema)
            continue
        for value in VALUES:
            valid = oracle.is_valid(value)
            judged[valid] += 1
            assert texts.accepts(json.dumps(value)) is valid, (json.dumps(schema), value)
    assert min(judged) > 150


def test_a_whole_document_names_its_schema() -> None:
    document = {"openapi": "3.0.3", "paths": {}, "components": {"schemas": PETS}}
    with pytest.raises(SchemaError, match="an OpenAPI document") as caught:
        openapi(document)
    assert "$ref" in (caught.value.hint or "")
    texts = openapi({**document, "$ref": "#/components/schemas/Dog"})
    assert [texts.accepts(t) for t in ('{"barks":true}', "{}")] == [True, False]


def test_the_input_is_not_changed() -> None:
    schema = pet(
        {"mapping": {"d": "Dog"}}, properties={"kind": {"type": "string", "nullable": True}}
    )
    before = repr(schema)
    from_json_schema(schema, dialect="openapi-3.0")
    assert repr(schema) == before
