"""`unevaluatedProperties` and `unevaluatedItems`: what other keywords look at is left alone."""

from __future__ import annotations

import json
import random
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain.errors import LimitExceededError, UnsatisfiableError
from constrain.frontends.json_schema.meaning import Meaning
from constrain.frontends.json_schema.read import read_schema
from constrain.frontends.json_schema.refs import Source
from constrain.limits import DEFAULT_LIMITS
from tests.frontends.json_schema.interpreter import Interpreter
from tests.frontends.json_schema.texts import Texts, strict_loads

NOTHING_ELSE = {"unevaluatedProperties": False}
A, B = {"properties": {"a": {"const": 1}}}, {"properties": {"b": {"const": 1}}}
HAS_A, HAS_B = {**A, "required": ["a"]}, {**B, "required": ["b"]}


@pytest.mark.parametrize(
    ("schema", "accepted", "rejected"),
    [
        (NOTHING_ELSE, ["{}", "1", "[1]"], ['{"a":1}']),
        ({**NOTHING_ELSE, **A}, ['{"a":1}', "{}"], ['{"a":2}', '{"b":1}']),
        ({"unevaluatedProperties": {"type": "null"}, **A}, ['{"a":1,"z":null}'], ['{"z":1}']),
        ({**NOTHING_ELSE, "patternProperties": {"^x": True}}, ['{"xa":1}'], ['{"ax":1}']),
        ({**NOTHING_ELSE, "additionalProperties": {"type": "null"}}, ['{"z":null}'], ['{"z":1}']),
        ({**NOTHING_ELSE, "allOf": [A, B]}, ['{"a":1,"b":1}'], ['{"c":1}', '{"a":2}']),
        ({**NOTHING_ELSE, "$ref": "#/$defs/a", "$defs": {"a": A}}, ['{"a":1}'], ['{"b":1}']),
        # What failed has evaluated nothing.
        ({**NOTHING_ELSE, "anyOf": [A, B]}, ['{"a":1}', '{"a":1,"b":1}'], ['{"a":2}', '{"c":1}']),
        ({**NOTHING_ELSE, "anyOf": [HAS_A, True]}, ["{}", '{"a":1}'], ['{"a":2}', '{"b":1}']),
        ({**NOTHING_ELSE, "oneOf": [HAS_A, HAS_B]}, ['{"a":1}'], ['{"a":1,"b":1}', "{}"]),
        ({**NOTHING_ELSE, "oneOf": [HAS_A, HAS_B]}, ['{"b":1}'], ['{"a":1,"b":2}']),
        ({**NOTHING_ELSE, "not": {"not": A}}, ["{}"], ['{"a":1}']),
        # `if` counts where it holds, with or without `then`.
        ({**NOTHING_ELSE, "if": HAS_A}, ['{"a":1}', "{}"], ['{"a":2}']),
        (
            {**NOTHING_ELSE, "if": HAS_A, "then": B, "else": {"properties": {"a": True}}},
            ['{"a":1,"b":1}', '{"a":2}', "{}"],
            ['{"a":1,"b":2}', '{"a":2,"b":1}'],
        ),
        (
            {**NOTHING_ELSE, "properties": {"k": True}, "dependentSchemas": {"k": A}},
            ['{"k":0,"a":1}', '{"k":0}', "{}"],
            ['{"a":1}', '{"k":0,"a":2}'],
        ),
        # Cousins see nothing of each other; what is around sees both.
        ({"allOf": [A, NOTHING_ELSE]}, ["{}"], ['{"a":1}']),
        ({"allOf": [A, {"unevaluatedProperties": True}], **NOTHING_ELSE}, ['{"z":1}'], ['{"a":2}']),
        ({"allOf": [{**NOTHING_ELSE, **A}], "properties": {"b": True}}, ['{"a":1}'], ['{"b":1}']),
        (
            {"anyOf": [{"unevaluatedProperties": {"const": 1}}, B], **NOTHING_ELSE},
            ['{"z":1}', '{"b":1,"z":1}'],
            ['{"z":2}', '{"b":1,"z":2}'],
        ),
        # Keys and values of what is inside are another matter.
        ({**NOTHING_ELSE, "propertyNames": {"maxLength": 1}}, ["{}"], ['{"a":1}']),
        ({"properties": {"p": A}, **NOTHING_ELSE}, ['{"p":{"z":1}}'], ['{"z":1}']),
        # As a complement.
        ({"not": {**NOTHING_ELSE, **A}}, ['{"b":1}', '{"a":2}'], ['{"a":1}', "{}", "1"]),
        # A key that a pattern evaluates on a condition, and one by its name.
        (
            {"anyOf": [{"patternProperties": {"^a": {"const": 1}}}, HAS_B], **NOTHING_ELSE},
            ['{"ab":1,"a":1}', '{"b":1,"a":1}'],
            ['{"a":2}', '{"b":1,"a":2}', '{"c":1}'],
        ),
    ],
)
def test_members(schema: Any, accepted: list[str], rejected: list[str]) -> None:
    texts = Texts(schema, style="any")
    assert [t for t in accepted if not texts.accepts(t)] == []
    assert [t for t in rejected if texts.accepts(t)] == []


NO_MORE = {"unevaluatedItems": False}


@pytest.mark.parametrize(
    ("schema", "accepted", "rejected"),
    [
        (NO_MORE, ["[]", "{}", "1"], ["[1]"]),
        ({**NO_MORE, "prefixItems": [True]}, ["[1]", "[]"], ["[1,2]"]),
        ({**NO_MORE, "items": {"const": 1}}, ["[1,1]"], ["[1,2]"]),
        ({"unevaluatedItems": {"const": 1}, "prefixItems": [True]}, ["[0,1,1]"], ["[1,0]"]),
        ({**NO_MORE, "contains": {"const": 1}}, ["[1]", "[1,1]"], ["[]", "[1,2]"]),
        ({**NO_MORE, "contains": {"const": 1}, "minContains": 0}, ["[]", "[1]"], ["[2]"]),
        (
            {**NO_MORE, "anyOf": [{"prefixItems": [True, {"const": 1}]}, {"prefixItems": [True]}]},
            ["[]", "[5]", "[5,1]"],
            ["[5,2]", "[5,1,1]"],
        ),
        (
            {**NO_MORE, "if": {"contains": {"const": 1}}, "then": {"prefixItems": [{"const": 2}]}},
            ["[]", "[2,1,1]"],
            ["[1]", "[2]", "[2,1,2]"],
        ),
        ({"allOf": [{"prefixItems": [True]}, NO_MORE]}, ["[]"], ["[1]"]),
        ({"allOf": [{"unevaluatedItems": {"const": 1}}], **NO_MORE}, ["[1,1]"], ["[2]"]),
    ],
)
def test_items(schema: Any, accepted: list[str], rejected: list[str]) -> None:
    texts = Texts(schema, style="any")
    assert [t for t in accepted if not texts.accepts(t)] == []
    assert [t for t in rejected if texts.accepts(t)] == []


def test_items_of_draft_2019() -> None:
    """`contains` evaluates nothing there, and `items` may be an array."""
    texts = Texts({**NO_MORE, "contains": {"const": 1}}, style="any", dialect="draft2020-12")
    assert texts.accepts("[1]")
    schema = {**NO_MORE, "contains": {"const": 1}, "items": [True]}
    texts = Texts(schema, style="any", dialect="draft2019-09")
    assert texts.accepts("[1]")
    assert not texts.accepts("[1,1]")
    texts = Texts({**schema, "additionalItems": True}, style="any", dialect="draft2019-09")
    assert texts.accepts("[1,1]")
    texts = Texts({**NO_MORE, "additionalItems": True}, style="any", dialect="draft2019-09")
    assert not texts.accepts("[1]")


def test_older_drafts_do_not_know_them() -> None:
    assert Texts(NOTHING_ELSE, style="any", dialect="draft7").accepts('{"a":1}')


# The law


LEAVES = [True, False, {}, {"type": "integer"}, {"const": 1}, {"enum": [1, "x"]}, {"type": "null"}]
leaves = st.sampled_from(LEAVES)
REFERENCES = st.sampled_from(["#/$defs/p", "#/$defs/q"])

MEMBERS: dict[str, Any] = {
    "properties": st.dictionaries(st.sampled_from("abc"), leaves, min_size=1, max_size=2),
    "required": st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True),
    "patternProperties": st.dictionaries(
        st.sampled_from(["^a", "[bc]", "^[a-z]$"]), leaves, max_size=1
    ),
    "additionalProperties": leaves,
    "maxProperties": st.integers(1, 2),
}
ITEMS_2020: dict[str, Any] = {
    "prefixItems": st.lists(leaves, min_size=1, max_size=2),
    "items": leaves,
    "contains": leaves,
    "minContains": st.integers(0, 2),
    "maxContains": st.integers(1, 2),
    "minItems": st.integers(1, 2),
}
ITEMS_2019: dict[str, Any] = {
    "items": st.one_of(leaves, st.lists(leaves, min_size=1, max_size=2)),
    "additionalItems": leaves,
    "contains": leaves,
    "maxItems": st.integers(1, 2),
}


def _applicators(inner: Any, unevaluated: str, *, references: bool) -> dict[str, Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    table = dict.fromkeys(("not", "if", "then", "else"), inner)
    table |= dict.fromkeys(("allOf", "anyOf", "oneOf"), some)
    table[unevaluated] = st.one_of(st.just(False), leaves)
    if unevaluated == "unevaluatedProperties":
        table["dependentSchemas"] = st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    return {**table, "$ref": REFERENCES} if references else table


@st.composite
def _schema(
    draw: Any, table: dict[str, Any], unevaluated: str, depth: int, references: bool
) -> Any:
    if depth == 0:
        names = draw(st.lists(st.sampled_from(sorted(table)), max_size=2, unique=True))
        return {name: draw(table[name]) for name in names}
    inner = st.one_of(leaves, _schema(table, unevaluated, depth - 1, references))
    whole = {**table, **_applicators(inner, unevaluated, references=references)}
    names = draw(st.lists(st.sampled_from(sorted(whole)), min_size=1, max_size=3, unique=True))
    return {name: draw(whole[name]) for name in names}


@st.composite
def _documents(draw: Any, table: dict[str, Any], unevaluated: str) -> Any:
    schema = draw(_schema(table, unevaluated, 2, references=True))
    schema = {**schema, unevaluated: draw(st.one_of(st.just(False), leaves))}
    if draw(st.integers(0, 9)) == 0:
        schema = {"not": schema}
    definitions = _schema(table, unevaluated, 1, references=False)
    return {**schema, "$defs": {"p": draw(definitions), "q": draw(definitions)}}


OBJECTS = [
    dict(zip(keys, values, strict=True))
    for size in range(4)
    for keys in combinations("abcd", size)
    for values in product([1, "x"], repeat=size)
]
ARRAYS = [list(items) for size in range(4) for items in product([1, "x", None], repeat=size)]
LAW = settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def _check_law(schema: Any, draft: str, values: list[Any], seed: int) -> None:
    oracle = Interpreter(schema, int(draft[5:9]))
    try:
        texts = Texts(schema, style="any", dialect=draft)
    except UnsatisfiableError:
        texts = None
    except LimitExceededError:
        return
    for value in [*values, None, 1]:
        got = texts is not None and texts.accepts(json.dumps(value))
        assert got == oracle.is_valid(value), (schema, value)
    if texts is None:
        return
    canonical = Texts(schema, dialect=draft)
    rng = random.Random(seed)
    for steps in (0, 10):
        text = canonical.draw(rng, steps)
        if text is not None:
            assert texts.accepts(text), (schema, text)
            assert oracle.is_valid(strict_loads(text)), (schema, text)


@given(_documents(MEMBERS, "unevaluatedProperties"), st.integers(0, 9))
@LAW
def test_the_law_of_members(schema: Any, seed: int) -> None:
    _check_law(schema, "draft2020-12", OBJECTS, seed)


@given(_documents(ITEMS_2020, "unevaluatedItems"), st.integers(0, 9))
@LAW
def test_the_law_of_items(schema: Any, seed: int) -> None:
    _check_law(schema, "draft2020-12", ARRAYS, seed)


@given(_documents(ITEMS_2019, "unevaluatedItems"), st.integers(0, 9))
@LAW
def test_the_law_of_items_in_draft_2019(schema: Any, seed: int) -> None:
    _check_law(schema, "draft2019-09", ARRAYS, seed)


# Cost


def shapes_of(schema: Any) -> int:
    """The shapes of objects that a schema becomes."""
    root = read_schema(schema, DEFAULT_LIMITS)
    meaning = Meaning(
        Source(root, None, None, DEFAULT_LIMITS), DEFAULT_LIMITS, asserts_formats=True
    )
    return len(meaning.shapes(meaning.expr(root)).objects)


def _integer(i: int) -> dict[str, Any]:
    return {"properties": {f"p{i}": {"type": "integer"}}}


def _kind(i: int) -> dict[str, Any]:
    return {"properties": {"kind": {"const": i}, f"p{i}": True}, "required": ["kind"]}


def _shared(i: int) -> dict[str, Any]:
    return {"properties": {f"p{i}": True, "s": {"type": "integer"}}, "required": [f"p{i}"]}


@pytest.mark.parametrize(
    ("schema", "most"),
    [
        ({"allOf": [_integer(i) for i in range(50)]}, 1),
        ({"anyOf": [_integer(i) for i in range(20)]}, 20),
        ({"anyOf": [{**_integer(i), "required": [f"p{i}"]} for i in range(12)]}, 12),
        ({"anyOf": [_shared(i) for i in range(12)]}, 12),
        ({"anyOf": [{"required": [f"p{i}"]} for i in range(30)], **_integer(0)}, 1),
        ({"anyOf": [_kind(i) for i in range(60)]}, 60),
        ({"oneOf": [_kind(i) for i in range(60)]}, 60),
    ],
)
def test_what_people_write_makes_few_shapes(schema: Any, most: int) -> None:
    assert shapes_of({"type": "object", **NOTHING_ELSE, **schema}) <= most


def test_items_that_see_to_their_branch_make_one_clause() -> None:
    schema = {**NO_MORE, "anyOf": [{"contains": {"const": i}} for i in range(12)]}
    texts = Texts(schema, style="any")
    assert texts.accepts("[3,3,11]")
    assert not texts.accepts("[3,12]")


def test_deep_nesting() -> None:
    schema: Any = True
    for i in range(400):
        schema = {"allOf": [schema], "properties": {f"p{i}": True}}
    texts = Texts({**schema, **NOTHING_ELSE}, style="any")
    assert texts.accepts('{"p0":1,"p399":1}')
    assert not texts.accepts('{"q":1}')


def test_too_many_combinations_are_an_error_when_the_grammar_is_made() -> None:
    """Branches that can all hold, and overlap: below a member, where nobody looks at first."""
    branches = [
        {"properties": {f"p{i}": {"type": "integer"}, f"p{j}": {"type": "string"}}}
        for i in range(12)
        for j in range(i)
    ]
    schema = {"properties": {"deep": {"type": "object", "anyOf": branches, **NOTHING_ELSE}}}
    with pytest.raises(LimitExceededError):
        Texts(schema)
