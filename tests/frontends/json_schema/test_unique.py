"""Keys that come once, items that differ, items of which two are equal."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from constrain.errors import UnsatisfiableError, UnsupportedFeatureError
from tests.frontends.json_schema.texts import Texts, compare, strict_loads

STYLES = ("any", "canonical")

ITEMS: list[Any] = [
    True,
    {"type": "string"},
    {"type": "integer"},
    {"type": ["string", "null"]},
    {"enum": [1, "a", None]},
    {"type": "array", "items": {"enum": [1, "a"]}},
    {"type": "array", "uniqueItems": True, "maxItems": 1},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    {"type": "object", "additionalProperties": {"const": 1}},
    {"not": {"type": "string"}},
]
SCALARS: list[Any] = [1, 2, "a", "b", None]
COMPOUNDS: list[Any] = [[], [1], ["a", 1], {"a": 1}, {"a": 2}, {"a": 1, "b": 1}]


def _shapes(item: Any) -> list[Any]:
    return [
        {"items": item},
        {"items": item, "minItems": 2},
        {"items": item, "minItems": 2, "maxItems": 2},
        {"prefixItems": [item, {"enum": ["a", 1]}]},
        {"prefixItems": [{"enum": ["a", 1]}, item], "minItems": 2, "items": False},
        {"prefixItems": [item, item], "items": {"type": "null"}, "minItems": 3},
        {"items": item, "contains": {"type": "string"}},
        {"items": item, "contains": {"const": 1}, "maxContains": 1, "minItems": 1},
        {"items": item, "contains": {"const": 1}},
        {"items": item, "contains": {"enum": ["a", 1]}, "minContains": 2, "maxItems": 3},
        {"prefixItems": [item, {"const": {"a": 1}}], "minItems": 2},
        {"prefixItems": [item, {"enum": [[], [1]]}], "minItems": 2, "maxItems": 3},
    ]


def _arrays(values: list[Any], most: int) -> list[Any]:
    return [list(p) for n in range(most + 1) for p in itertools.product(values, repeat=n)]


ARRAYS = _arrays(SCALARS, 3) + _arrays(COMPOUNDS, 2) + [[1, 1.0, "a"], [{"b": 1, "a": 1}] * 2]


@pytest.mark.parametrize("unique", [{"uniqueItems": True}, {"not": {"uniqueItems": True}}])
@pytest.mark.parametrize("item", ITEMS, ids=json.dumps)
def test_items_are_compared_as_the_oracle_does(item: Any, unique: Any) -> None:
    refused = 0
    for shape in _shapes(item):
        refused += compare({"type": "array", **unique, **shape}, ARRAYS) == "refused"
    assert refused <= (0 if "not" in unique else 1)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("item", ITEMS, ids=json.dumps)
def test_every_text_of_different_items_can_be_completed(item: Any, style: str) -> None:
    rng = random.Random(5)
    for shape in _shapes(item):
        schema = {"type": "array", "uniqueItems": True, **shape}
        try:
            texts = Texts(schema, style=style)
        except (UnsatisfiableError, UnsupportedFeatureError):
            continue
        oracle = Draft202012Validator(schema)
        for _ in range(4):
            text = texts.draw(rng, rng.randrange(40))
            if text is not None:
                assert oracle.is_valid(strict_loads(text)), (schema, text)


EQUAL = [
    ["1", "1.0", "1e0", "10e-1", "0.1e1", "100E-02", "1.000", "0.0001e4", "0.01E+2"],
    ["0", "-0", "0.0", "0e5", "-0.0e-7"],
    ["-25", "-2.5e1", "-250e-1", "-25.0"],
    ["1" + "0" * 45, "1e45", "1" + "0" * 30 + "e15"],
    ['"a"', '"\\u0061"'],
    ['"\\/"', '"/"', '"\\u002f"', '"\\u002F"'],
    ['"😀"', '"\\ud83d\\ude00"', '"\\uD83D\\ude00"'],
    ["[1, 2]", "[1,2]", " [ 1.0 , 2e0 ] "],
    ['{"a": 1, "b": [2]}', '{"b":[2.0],"a":1}', '{ "\\u0061":1,"b" :[2]}'],
    ["[]", "[ ]"],
    ["{}", "{\n}"],
]


@pytest.mark.parametrize("spellings", EQUAL, ids=lambda texts: texts[0])
def test_equal_items_are_equal_however_they_are_written(spellings: list[str]) -> None:
    different = Texts({"type": "array", "uniqueItems": True}, style="any")
    equal = Texts({"type": "array", "not": {"uniqueItems": True}}, style="any")
    for a, b in itertools.product(spellings, repeat=2):
        if not different.accepts(f"[{a}]") or not different.accepts(f"[{b}]"):
            continue  # numbers of so many digits are not compared
        assert not different.accepts(f"[{a},{b}]"), (a, b)
        assert different.accepts(f'[{a},"other",3.5]')
    assert any(equal.accepts(f"[{a},null,{spellings[0]}]") for a in spellings)


def test_a_number_is_compared_in_every_spelling_that_is_let_through() -> None:
    """Random spellings of one value: alone they are items, side by side they are not."""
    texts = Texts({"type": "array", "uniqueItems": True, "items": {"type": "number"}}, style="any")
    rng = random.Random(11)
    compared = 0
    for _ in range(300):
        digits = str(rng.randrange(1, 400)).rstrip("0") or "1"
        exponent = rng.randrange(-30, 30)
        a, b = (_spelling(digits, exponent, rng) for _ in range(2))
        if texts.accepts(f"[{a}]") and texts.accepts(f"[{b}]"):
            assert not texts.accepts(f"[{a}, {b}]"), (a, b)
            compared += 1
    assert compared > 200


def _spelling(digits: str, exponent: int, rng: random.Random) -> str:
    """A spelling of 0.digits * 10^exponent."""
    shift = rng.randrange(-45, 45)
    whole, fraction = digits + "0" * rng.randrange(3), ""
    if shift >= len(whole):
        whole, fraction = whole + "0" * (shift - len(whole)), "0" * rng.randrange(3)
    elif shift > 0:
        whole, fraction = whole[:shift], whole[shift:]
    else:
        whole, fraction = "0", "0" * -shift + whole
    left = exponent - shift
    text = whole + ("." + fraction if fraction else "")
    return text if left == 0 and rng.random() < 0.7 else f"{text}e{left}"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({}, ['{"a":1,"b":{"a":1}}', '{"a":1,"A":1}'], ['{"a":1,"a":1}', '{"b":{"a":1,"a":2}}']),
        ({"properties": {"a": True}}, ['{"a":1,"b":1}'], ['{"a":1,"b":1,"b":1}', '{"a":1,"a":1}']),
        ({"minProperties": 2}, ['{"a":1,"b":2}'], ['{"a":1,"a":2}', '{"a":1}']),
        (
            {"patternProperties": {"^[ab]$": {}}, "additionalProperties": False},
            ['{"a":1,"b":2}', '{"b":1}', "{}"],
            ['{"a":1,"b":2,"a":3}', '{"a":1,"b":2,'],
        ),
        (
            {
                "patternProperties": {"^[ab]$": {}},
                "additionalProperties": False,
                "minProperties": 2,
            },
            ['{"a":1,"b":2}', '{"b":1,"a":1}'],
            ['{"a":1}', '{"a":1,"a":2}'],
        ),
        (
            {"propertyNames": {"maxLength": 1}, "minProperties": 1, "maxProperties": 2},
            ['{"a":1}', '{"":1,"é":2}'],
            ["{}", '{"ab":1}', '{"":1,"a":2,"b":3}', '{"":1,"":2}'],
        ),
        (
            {"not": {"additionalProperties": {"type": "integer"}}},
            ['{"a":"x","b":1}', '{"a":1,"b":null}'],
            ['{"a":1}', '{"a":"x","a":1}'],
        ),
    ],
    ids=str,
)
def test_no_key_comes_twice(schema: Any, good: list[str], bad: list[str], style: str) -> None:
    texts = Texts({"type": "object", **schema}, style=style)
    assert [text for text in good if not texts.accepts(text)] == []
    assert [text for text in bad if texts.accepts(text)] == []


def test_a_key_is_the_same_however_it_is_written() -> None:
    texts = Texts({"type": "object"}, style="any")
    for a, b in itertools.product(['"a/"', '"\\u0061\\/"', '"a\\u002F"'], repeat=2):
        assert not texts.accepts(f'{{{a}:1,"x":2,{b}:3}}')
    assert texts.accepts('{"\\u0061":1,"b":2}')


def test_equal_items_beside_counted_ones_in_a_union() -> None:
    for schema in (
        {"anyOf": [{"maxItems": 1}, {"not": {"uniqueItems": True}, "contains": {"type": "null"}}]},
        {"oneOf": [{"uniqueItems": True}, {"contains": {"type": "null"}}]},
        {
            "not": {"uniqueItems": True},
            "contains": {"const": 1},
            "minContains": 2,
            "maxContains": 3,
        },
        {"not": {"uniqueItems": True}, "contains": {"const": 1}, "maxContains": 1, "minItems": 4},
    ):
        oracle = Draft202012Validator(schema)
        texts = Texts(schema, style="any")
        for value in ARRAYS + _arrays([1, None, "a"], 5):
            assert texts.accepts(json.dumps(value)) == oracle.is_valid(value), (schema, value)


def test_many_items_to_be_counted_are_one_state_at_a_time() -> None:
    texts = Texts({"type": "array", "contains": {"type": "integer"}, "minContains": 300})
    assert texts.accepts(json.dumps([1, "a"] * 300))
    assert not texts.accepts(json.dumps([1, "a"] * 299))
    assert texts.store.num_terms < 100_000


def test_too_many_different_items_are_known_not_to_be() -> None:
    few = {"type": "array", "uniqueItems": True, "items": {"type": "integer", "minimum": 1}}
    few["items"]["maximum"] = 100
    assert Texts({**few, "minItems": 100}).accepts(json.dumps(list(range(1, 101))))
    with pytest.raises(UnsatisfiableError, match="uniqueItems"):
        Texts({**few, "minItems": 101})


def test_the_comma_waits_where_no_other_item_may_be_left() -> None:
    items = {"type": "array", "items": {"enum": [1, 2]}, "minItems": 6, "maxItems": 6}
    texts = Texts({"type": "array", "uniqueItems": True, "items": items})
    all_of_them = [list(p) for p in itertools.product([1, 2], repeat=6)]
    assert texts.accepts(json.dumps(all_of_them))
    text = json.dumps(all_of_them)[:-1].encode()
    assert texts.store.next_bytes(texts.store.advance(texts.start, text)) in (b"]", b"\n ]")


def test_what_is_empty_anyway_is_not_refused() -> None:
    few = {"uniqueItems": True, "items": {"type": "object", "maxProperties": 0}}
    nothing = {"allOf": [few, {"not": {"items": {"properties": {}}}}]}
    texts = Texts({"anyOf": [nothing, {"type": "null"}]})
    assert texts.accepts("null")
    assert not texts.accepts("[{}]")
