"""`on_unsupported="relax"`: more is valid, never less, and the report says what was dropped."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import jsonschema
import pytest

from constrain.errors import (
    GrammarError,
    LimitExceededError,
    SchemaError,
    UnsatisfiableError,
    UnsupportedFeatureError,
)
from constrain.frontends.json_schema import from_json_schema
from tests.frontends.json_schema.texts import Texts, spell

BAD = r"(a)\1"
"""A pattern with a back-reference: strings with `aa` in them. Python's `re` knows it."""
REASON = "a back-reference makes a language that is not regular"


def relaxed(schema: Any, **options: Any) -> Texts:
    return Texts(schema, style="any", on_unsupported="relax", **options)


def dropped(schema: Any, **options: Any) -> dict[str, str]:
    report = relaxed(schema, **options).grammar.report
    return {f"{u.pointer}/{u.keyword}": u.reason for u in report if u.use == "relaxed"}


def test_by_default_it_is_refused() -> None:
    with pytest.raises(UnsupportedFeatureError, match="back-reference"):
        from_json_schema({"pattern": BAD})


def test_nothing_is_relaxed_that_can_be_honoured() -> None:
    schema = {"type": "string", "pattern": "^a+$", "not": {"const": "aa"}}
    assert dropped(schema) == {}
    assert [relaxed(schema).accepts(t) for t in ('"a"', '"aa"')] == [True, False]


@pytest.mark.parametrize(
    ("schema", "good", "bad", "places"),
    [
        ({"pattern": BAD, "maxLength": 3}, ['"aa"', '"b"'], ['"bbbb"'], ["#/pattern"]),
        (
            {"properties": {"a": {"pattern": BAD, "type": "string"}}},
            ['{"a":"b"}'],
            ['{"a":1}'],
            ["#/properties/a/pattern"],
        ),
        ({"not": {"pattern": BAD}}, ['"aa"', '"b"', "1"], [], ["#/not", "#/not/pattern"]),
        (
            {"type": "string", "not": {"not": {"pattern": BAD, "minLength": 2}}},
            ['"b"'],
            ["1"],
            ["#/not", "#/not/not", "#/not/not/pattern", "#/not/not/minLength"],
        ),
        (
            {"oneOf": [{"type": "string", "pattern": BAD}, {"minimum": 3, "type": "number"}]},
            ['"b"', "3"],
            ["2", "null"],
            ["#/oneOf", "#/oneOf/0/pattern"],
        ),
        (
            {"oneOf": [{"pattern": BAD}, {"minLength": 3}], "anyOf": [{"type": "string"}, False]},
            ['"b"', '"bbb"', '"aab"'],
            ["1"],
            ["#/oneOf", "#/oneOf/0/pattern"],
        ),
        (
            {"if": {"pattern": BAD}, "then": {"maxLength": 3}, "else": {"maxLength": 5}},
            ['"bbbbb"', '"aabbb"'],
            ['"bbbbbb"'],
            ["#/if", "#/then", "#/else", "#/if/pattern"],
        ),
        (
            {"if": {"minLength": 3}, "then": {"pattern": BAD, "maxLength": 5}},
            ['"bbb"', '"b"'],
            ['"bbbbbb"'],
            ["#/then/pattern"],
        ),
        (
            {"contains": {"pattern": BAD, "type": "string"}, "maxContains": 1},
            ['["b","b"]'],
            ["[1]", "[]"],
            ["#/maxContains", "#/contains/pattern"],
        ),
        (
            {"patternProperties": {BAD: {"type": "null"}, "b": {}}, "additionalProperties": False},
            ['{"aa":1}', '{"c":1}'],
            [],
            ["#/patternProperties", "#/additionalProperties", rf"#/patternProperties/{BAD}/type"],
        ),
        (
            {
                "$ref": "#/$defs/x",
                "not": {"properties": {"b": {"$ref": "#/$defs/x"}}, "required": ["b"]},
                "$defs": {"x": {"properties": {"a": {"pattern": BAD, "maxLength": 1}}}},
            },
            ['{"a":"b"}', '{"b":1}'],
            ['{"a":"bb"}'],
            [
                *("#/not", "#/not/properties", "#/not/required", "#/not/properties/b/$ref"),
                "#/$defs/x/properties/a/pattern",
            ],
        ),
        ({"maximum": 10**2000, "type": "number"}, ["3"], ['"a"'], ["#/maximum"]),
        ({"const": 10**2000, "type": "number"}, ["3"], ['"a"'], ["#/const"]),
        (
            {"not": {"format": "hostname"}, "maxLength": 3},
            ['"a"', '"-"'],
            ['"bbbb"'],
            ["#/not", "#/not/format"],
        ),
        (
            {
                "allOf": [{"patternProperties": {BAD: {}, "^b": {}}}],
                "unevaluatedProperties": False,
                "maxProperties": 1,
            },
            ['{"aa":1}', '{"b":1}', '{"c":1}'],
            ['{"c":1,"d":1}'],
            ["#/allOf/0/patternProperties", "#/unevaluatedProperties"],
        ),
        (
            {"if": {"properties": {"a": {"pattern": BAD}}}, "unevaluatedProperties": False},
            ['{"a":"aa"}', '{"c":1}'],
            ["#"],
            ["#/if", "#/unevaluatedProperties", "#/if/properties", "#/if/properties/a/pattern"],
        ),
    ],
)
def test_what_is_dropped(schema: Any, good: list[str], bad: list[str], places: list[str]) -> None:
    texts = relaxed(schema)
    assert [t for t in good if not texts.accepts(t)] == []
    assert [t for t in bad if texts.accepts(t)] == []
    assert sorted(dropped(schema)) == sorted(places)
    assert all(dropped(schema).values())


def test_the_reason_says_what_is_unsupported_and_where() -> None:
    schema = {"properties": {"a": {"not": {"pattern": BAD}}}}
    assert dropped(schema) == {
        "#/properties/a/not": f"{REASON}, at #/properties/a/not/pattern",
        "#/properties/a/not/pattern": REASON,
    }


def test_the_other_keywords_are_enforced() -> None:
    schema = {"not": {"pattern": BAD}, "minLength": 2, "title": "t", "format": "no-such-format"}
    uses = {f"{u.pointer}/{u.keyword}": u.use for u in relaxed(schema).grammar.report}
    assert uses == {
        "#/not": "relaxed",
        "#/not/pattern": "relaxed",
        "#/minLength": "enforced",
        "#/title": "annotation",
        "#/format": "annotation",
    }


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"maximum": 10**2000}, "maximum"),
        ("as text", "multipleOf"),
        ({"enum": [1, [{"a": 10**2000}]]}, "enum"),
        (
            {"type": ["number", "object", "string"], "format": "hostname", "pattern": "^xn--"},
            "format",
        ),
    ],
)
def test_nothing_is_refused_only_when_a_text_gets_there(schema: Any, place: str) -> None:
    if isinstance(schema, str):  # a number that only a text has exactly
        schema = '{"items": {"items": {"multipleOf": 1e-1200}}}'
    else:
        schema = {"items": {"items": schema}}
    with pytest.raises(UnsupportedFeatureError) as caught:
        from_json_schema(schema)
    assert caught.value.pointer is not None
    assert caught.value.pointer.startswith(f"#/items/items/{place}")
    assert f"#/items/items/{place}" in dropped(schema)
    assert relaxed(schema).accepts('[[1,{"(":1}]]')


@pytest.mark.parametrize("names", [{"format": "regex"}, {"anyOf": [{"format": "hostname"}]}])
def test_keys_in_a_format_that_is_known_in_part_need_no_relaxing(names: Any) -> None:
    schema = {"items": {"items": {"propertyNames": names}}}
    assert dropped(schema) == {}
    texts = Texts(schema, style="any")
    assert texts.accepts('[[1,{"ab":1}]]')
    assert not texts.accepts('[[1,{"(":1}]]')


def test_a_format_of_keys_is_dropped_where_it_stands() -> None:
    schema = {"items": {"propertyNames": {"format": "hostname", "pattern": "^xn--"}}}
    with pytest.raises(UnsupportedFeatureError) as caught:
        from_json_schema(schema)
    assert caught.value.pointer == "#/items/propertyNames/format"
    assert list(dropped(schema)) == ["#/items/propertyNames/format"]
    assert relaxed(schema).accepts('[{"xn--a":1}]')
    assert not relaxed(schema).accepts('[{"a":1}]')


def test_many_of_them() -> None:
    schema = {
        "properties": {f"p{i}": {"type": "string", "pattern": rf"(a{i})\1"} for i in range(1000)}
    }
    assert len(dropped(schema)) == 1000
    assert [relaxed(schema).accepts(t) for t in ('{"p3":"x"}', '{"p3":1}')] == [True, False]


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ({"$schema": "http://json-schema.org/draft-03/schema#"}, UnsupportedFeatureError),
        ({"propertyNames": {"$ref": "#"}}, UnsupportedFeatureError),
        ({"pattern": "(a"}, SchemaError.__mro__[1]),
        ({"type": "strng", "pattern": BAD}, SchemaError),
        ({"type": "string", "pattern": BAD, "maxLength": -1}, SchemaError),
        ({"type": "integer", "enum": ["a"], "not": {"pattern": BAD}}, UnsatisfiableError),
        ({"$ref": "#/nowhere"}, SchemaError),
    ],
)
def test_other_errors_stay(schema: Any, error: type[GrammarError]) -> None:
    with pytest.raises(error):
        relaxed(schema)


def test_limits_stay() -> None:
    from constrain.limits import Limits

    with pytest.raises(LimitExceededError):
        relaxed({"items": {"items": {"pattern": BAD}}}, limits=Limits(max_source_nodes=2))


def test_the_input_is_not_changed() -> None:
    schema = {"oneOf": [{"pattern": BAD}, {"type": "null"}], "anyOf": [{}]}
    before = repr(schema)
    relaxed(schema)
    assert repr(schema) == before


# By brute force


KEYWORDS: dict[str, list[Any]] = {
    "pattern": [BAD, BAD, "^b"],
    "type": ["string", "array", "object", "integer", ["string", "object"]],
    "minLength": [1, 2],
    "maxLength": [1, 2],
    "minimum": [1],
    "required": [["a"], ["aa"]],
    "maxProperties": [1],
    "minItems": [1],
    "const": ["aa", 1],
}
SUBSCHEMA = ("not", "additionalProperties", "items", "contains", "propertyNames", "if", "then")
SUBSCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems")
VALUES: list[Any] = [
    *("", "a", "b", "aa", "ba", "aab", "bbb", 0, 1, True, None),
    *([], ["aa"], ["b"], ["aa", "b"], ["b", "b"], ["aa", "aa"], [1], [["aa"]], [1, "aa"]),
    *({}, {"a": "aa"}, {"a": "b"}, {"aa": 1}, {"aa": "aa"}, {"b": "b"}, {"a": "aa", "b": 1}),
    *({"aa": "b", "a": 1}, {"a": ["aa"]}, {"a": {"aa": "b"}}),
]


def draw_schema(rng: random.Random, depth: int) -> Any:
    schema: dict[str, Any] = {}
    for _ in range(rng.randint(1, 3)):
        if depth == 0 or rng.random() < 0.4:
            name = rng.choice(sorted(KEYWORDS))
            schema[name] = rng.choice(KEYWORDS[name])
            continue
        name = rng.choice((*SUBSCHEMA, *SUBSCHEMAS, *SUBSCHEMAS, "map", "ref", "unevaluated"))
        if name == "map":
            schema["properties"] = {"a": draw_schema(rng, depth - 1)}
            if rng.random() < 0.5:
                key = rng.choice([BAD, "^b"])
                schema["patternProperties"] = {key: draw_schema(rng, depth - 1)}
        elif name == "ref":
            schema["$ref"] = "#/$defs/x"
        elif name == "unevaluated":
            schema[rng.choice(["unevaluatedProperties", "unevaluatedItems"])] = False
        elif name in SUBSCHEMAS:
            schema[name] = [draw_schema(rng, depth - 1) for _ in range(rng.randint(1, 2))]
        else:
            schema[name] = draw_schema(rng, depth - 1)
            if name == "if" and rng.random() < 0.7:
                schema["else"] = draw_schema(rng, depth - 1)
            if name == "contains" and rng.random() < 0.5:
                schema["maxContains"] = rng.randint(0, 1)
    return schema


@pytest.mark.parametrize("seed", range(8))
def test_it_only_widens(seed: int) -> None:
    """Against a validator that knows back-references, over all values of a small set."""
    rng = random.Random(seed)
    compiled = with_relaxed = narrower = wider = 0
    for _ in range(60):
        schema = {**draw_schema(rng, 3), "$defs": {"x": draw_schema(rng, 0)}}
        oracle = jsonschema.Draft202012Validator(schema)
        valid = [value for value in VALUES if oracle.is_valid(value)]
        try:
            texts = relaxed(schema)
        except UnsatisfiableError:
            assert valid == [], schema
            continue
        except (UnsupportedFeatureError, LimitExceededError):
            continue
        compiled += 1
        accepted = [value for value in VALUES if texts.accepts(spell(value, rng))]
        assert [value for value in valid if value not in accepted] == [], json.dumps(schema)
        if any(use.use == "relaxed" for use in texts.grammar.report):
            with_relaxed += 1
            wider += len(accepted) > len(valid)
            narrower += len(accepted) < len(VALUES)
        else:
            assert len(accepted) == len(valid), json.dumps(schema)
            assert not re.search(
                r"\\\\1", json.dumps(schema["pattern"] if "pattern" in schema else "")
            )
    assert compiled > 40
    assert with_relaxed > 10, "the schemas of this test have something to relax"
    assert wider > 3
    assert narrower > 3, "what is left of them still says something"
