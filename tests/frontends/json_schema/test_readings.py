"""What is remembered of schemas changes no grammar, holds no text, and stays within its bound."""

from __future__ import annotations

import gc
import json
import random
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referencing import Registry

from constrain.algebra.store import TermStore
from constrain.algebra.terms import Term
from constrain.errors import GrammarError
from constrain.frontends.json_schema import compile as compiling
from constrain.frontends.json_schema import from_json_schema
from constrain.frontends.json_schema.read import read_schema
from constrain.frontends.json_schema.reading import Readings, content_of
from constrain.frontends.tags import arguments as tag_arguments
from constrain.frontends.tags.argument_styles import PARAMETERS
from constrain.frontends.tags.arguments import arguments
from constrain.limits import DEFAULT_LIMITS, Limits
from tests.frontends.json_schema.schemas import schemas

STYLES = ("canonical", "any", "pretty")
PLAIN = {
    "type": "object",
    "properties": {
        "a": {"type": "array", "items": {"$ref": "#/$defs/x"}, "minItems": 1},
        "b": {"anyOf": [{"type": "integer", "minimum": 3}, {"$ref": "#"}]},
        "c": {"const": "é"},
    },
    "$defs": {"x": {"type": "object", "additionalProperties": {"type": "string"}}},
    "required": ["b"],
}


@contextmanager
def remembering(readings: Readings) -> Iterator[Readings]:
    """Use these instead of those of the process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "READINGS", readings)
        patch.setattr(tag_arguments, "READINGS", readings)
        yield readings


def outcome(make: Any, *args: Any, **options: Any) -> Any:
    """The term, or what the error says."""
    try:
        made = make(*args, **options)
    except GrammarError as error:
        return type(error), str(error)
    return made if isinstance(made, Term) else made.term


def check_same(one: Any, other: Any, rng: random.Random, *, texts: int = 3) -> None:
    """Two outcomes say the same, byte by byte along some texts."""
    if not (isinstance(one, Term) and isinstance(other, Term)):
        assert one == other
        return
    stores = [TermStore(), TermStore()]
    starts = [store.intern(term) for store, term in zip(stores, (one, other), strict=True)]
    for _ in range(texts):
        states = starts
        for _ in range(60):
            pairs = list(zip(stores, states, strict=True))
            nullable = {store.nullable(state) for store, state in pairs}
            following = {store.next_bytes(state) for store, state in pairs}
            assert len(nullable) == len(following) == 1
            (choices,) = following
            if not choices:
                break
            byte = bytes((rng.choice(choices),))
            states = [store.advance(state, byte) for store, state in pairs]


@given(schemas(combinators=True), st.sampled_from(STYLES), st.sampled_from(STYLES), st.randoms())
@settings(max_examples=150, deadline=None)
def test_a_grammar_of_a_known_schema_is_that_of_a_new_one(
    schema: Any, first: str, style: str, rng: random.Random
) -> None:
    with remembering(Readings(0)):
        alone = outcome(from_json_schema, schema, style=style)
    with remembering(Readings()):
        outcome(from_json_schema, schema, style=first)
        check_same(outcome(from_json_schema, schema, style=style), alone, rng)


@pytest.mark.parametrize("style", STYLES)
def test_it_is_known(style: str) -> None:
    with remembering(Readings()) as readings:
        made = [from_json_schema(PLAIN, style=style) for _ in range(3)]
        assert len(readings) == 1
        assert made[0].term is not made[1].term  # rules are made for each grammar
        assert made[0].report == made[1].report != ()
        from_json_schema(json.dumps(PLAIN), style=style)
        assert len(readings) == 1
    with remembering(Readings(0)) as readings:
        alone = from_json_schema(PLAIN, style=style)
        assert len(readings) == 0
    for one in made:
        check_same(one.term, alone.term, random.Random(1))


@pytest.mark.parametrize("how", ["qwen_xml", "deepseek_xml"])
def test_arguments_in_other_styles(how: str) -> None:
    with remembering(Readings(0)):
        alone = outcome(arguments, PLAIN, PARAMETERS[how])
    with remembering(Readings()) as readings:
        for _ in range(2):
            check_same(outcome(arguments, PLAIN, PARAMETERS[how]), alone, random.Random(1))
        assert len(readings) == 1


OPTIONS: list[dict[str, Any]] = [
    {"format": "annotate"},
    {"dialect": "draft7"},
    {"limits": Limits(max_nesting=30)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_what_else_is_asked_for_is_told_apart(options: dict[str, Any]) -> None:
    with remembering(Readings()) as readings:
        from_json_schema(PLAIN)
        from_json_schema(PLAIN, **options)
        assert len(readings) == 2


NOT_KEPT: list[tuple[Any, dict[str, Any]]] = [
    ({"type": "array", "uniqueItems": True}, {}),  # items are compared with those of a text
    ({"not": {"type": "string"}}, {}),
    ({"oneOf": [{"type": "string"}, {"maxLength": 3}]}, {}),
    ({"unevaluatedProperties": False, "anyOf": [{"required": ["a"]}, {"type": "null"}]}, {}),
    ({"pattern": "^a"}, {}),
    ({"allOf": [{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"minimum": 1}]}, {}),
    ({"$ref": "#/$defs/a", "minimum": 1, "$defs": {"a": {"maximum": 3}}}, {}),
    ({"contains": {"const": 1}}, {}),
    ({"properties": {f"p{i}": {"type": "string"} for i in range(300)}}, {}),
    ({"patternProperties": {"^a": False}}, {}),
    (PLAIN, {"on_unsupported": "relax"}),
    (PLAIN, {"registry": Registry()}),
    ({"type": "object", "required": ["a"], "properties": {"a": False}}, {}),  # an error
]


@pytest.mark.parametrize(("schema", "options"), NOT_KEPT, ids=str)
def test_what_is_not_kept(schema: Any, options: dict[str, Any]) -> None:
    with remembering(Readings()) as readings:
        results = [outcome(from_json_schema, schema, **options) for _ in range(2)]
        assert len(readings) == 0
        check_same(*results, random.Random(1))


def test_contents_are_told_apart() -> None:
    values = [1, True, "1", Decimal("1.0"), "Decimal('1.0')", None, [], {}, [1], "[1]", {"a": 1}]
    schemas = [{"const": value} for value in values]
    schemas += [{"properties": {"a": True, "b": True}}, {"properties": {"b": True, "a": True}}]
    contents = [content_of(read_schema(schema, DEFAULT_LIMITS)) for schema in schemas]
    assert None not in contents
    assert len(set(contents)) == len(schemas)


def test_large_contents_are_left_alone() -> None:
    deep: Any = True
    for _ in range(5000):
        deep = {"not": deep}
    assert content_of(deep) is None
    assert content_of({"minimum": 10**5000}) is None


def test_those_used_last_are_kept_within_the_bound() -> None:
    with remembering(Readings()) as readings:
        from_json_schema({"const": 0})
        one = readings.num_bytes
        assert one > 0
    with remembering(Readings(10 * one)) as readings:
        for i in range(100):
            from_json_schema({"const": i})
            from_json_schema({"const": 0})
            assert 0 < readings.num_bytes <= 10 * one
        assert 5 < len(readings) <= 10
        before = len(readings)
        from_json_schema({"const": 0})
        from_json_schema({"const": 99})
        assert len(readings) == before
        from_json_schema({"enum": [f"{i:0>20}" for i in range(one)]})  # larger than the bound
        assert len(readings) == before


def test_it_holds_no_text() -> None:
    secret = b"k3y-of-one-request"
    text = b'{"b": 3, "%s": {"%s": "%s"}}' % (secret, secret, secret)
    with remembering(Readings()) as readings:
        for style in ("canonical", "any"):
            store = TermStore()
            start = store.intern(from_json_schema(PLAIN, style=style).term)
            assert store.nullable(store.advance(start, text))
        assert len(readings) == 1
        seen: dict[int, Any] = {}
        todo: list[Any] = [readings]
        for held in todo:
            for part in gc.get_referents(held):
                is_global = isinstance(part, dict) and "__builtins__" in part
                if id(part) in seen or is_global or isinstance(part, (type, types.ModuleType)):
                    continue
                seen[id(part)] = part
                todo.append(part)
        words = [part for part in todo if isinstance(part, (str, bytes))]
        assert "const" in words
        assert not any(secret in w for w in words if isinstance(w, bytes))
        assert not any(secret.decode() in w for w in words if isinstance(w, str))


def test_threads_agree_on_one_reading() -> None:
    texts = [b'{"a":[{"x":"y"},{}],"b":{"b":3}}', b'{"b":{"b":2}}', b'{"b":7,"q":[{"r":1}]}']

    def run(number: int) -> list[bool]:
        store = TermStore()
        start = store.intern(from_json_schema(PLAIN, style=STYLES[number % 2]).term)
        states = [store.advance(start, text) for text in texts]
        return [store.nullable(state) for state in states]

    with remembering(Readings()), ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(32))) == [[True, False, True]] * 32
