"""Shortcuts against the plain way: what is decided at sight, and what is not looked at early."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from constrain.algebra.store import TermStore
from constrain.errors import ConstrainError
from constrain.frontends.json_schema import (
    audit,
    compile,
    emptiness,
    from_json_schema,
    lower,
    lower_object,
    meaning,
    reading,
    same,
)
from constrain.frontends.json_schema.lower_object import ObjectLowering
from tests.conftest import requires_shared
from tests.frontends.json_schema.generators import DRAFTS, Maker
from tests.frontends.json_schema.test_real_schemas import sample


def outcome(schema: Any, **options: Any) -> str:
    """The error of a schema, or none."""
    try:
        from_json_schema(schema, **options)
    except ConstrainError as error:
        return f"{type(error).__name__}: {error}"
    return "fine"


def plainly(patch: pytest.MonkeyPatch) -> None:
    """Decide nothing at sight, look at everything, and compare all nodes."""
    patch.setattr(emptiness, "_plainly_has_value", lambda _: False)
    is_needed = audit.places
    patch.setattr(reading, "places", lambda source: is_needed(source) and (lambda _: True))
    patch.setattr(compile, "READINGS", reading.Readings(0))

    def everything(source: Any, frozen: Any) -> Any:
        source.is_rewritten = True
        return canonical(source, frozen)

    canonical = same.canonical_nodes
    patch.setattr("constrain.frontends.json_schema.meaning.canonical_nodes", everything)


@pytest.mark.parametrize("draft", DRAFTS)
def test_made_schemas(draft: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(200):
        rng = random.Random(seed)
        schema = Maker(rng, draft).root(depth=rng.choice([2, 3]))
        found = outcome(schema, dialect=draft)
        with monkeypatch.context() as patch:
            plainly(patch)
            assert outcome(schema, dialect=draft) == found, schema


@requires_shared
def test_real_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in sample(seed=5, size=60):
        schema = row["schema"]
        found = outcome(schema)
        with monkeypatch.context() as patch:
            plainly(patch)
            assert outcome(schema) == found


@pytest.mark.parametrize(
    "schema",
    [
        {"additionalProperties": {"type": "boolean"}},
        {"additionalProperties": {"type": "boolean"}, "minProperties": 2},
        {"additionalProperties": {"type": "boolean"}, "maxProperties": 2},
        {"properties": {"a": {}}, "minProperties": 1, "maxProperties": 1},
        {"properties": {"a": {"const": 1}, "b": {}}, "required": ["b"]},
        {"propertyNames": {"maxLength": 0}},
        {"propertyNames": {"pattern": "^(a|b)$"}, "minProperties": 2},
        {"propertyNames": {"pattern": "^[ab]{1,2}$"}},
        {"patternProperties": {"^a$": {"const": 1}}, "additionalProperties": {"const": 2}},
        {"patternProperties": {"^a": {"const": 1}, "b$": {"type": "null"}}, "minProperties": 3},
        {"patternProperties": {"^(a|b)$": {}}, "additionalProperties": False, "maxProperties": 3},
        {"patternProperties": {"^x?$": {"const": 3}}, "required": ["x", "y"]},
        {"not": {"additionalProperties": {"const": 1}}},
    ],
    ids=str,
)
@pytest.mark.parametrize("style", ["canonical", "any"])
def test_what_follows_a_key_that_the_schema_does_not_name(
    schema: dict[str, Any], style: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare({"type": "object", **schema}, style, with_all_after_keys, monkeypatch)


def with_all_after_keys(patch: pytest.MonkeyPatch) -> None:
    """Let nothing stand before what depends on a key."""
    patch.setattr(ObjectLowering, "_only_others_follow", lambda *_: False)
    patch.setattr(ObjectLowering, "_free", None)


def one_by_one(patch: pytest.MonkeyPatch) -> None:
    """Make a rule for what follows each member and for each value, and none in a way of its own."""
    make = ObjectLowering.__init__

    def make_plain(self: ObjectLowering, *args: Any) -> None:
        make(self, *args)
        self._is_simple = False

    patch.setattr(ObjectLowering, "__init__", make_plain)
    patch.setattr(lower_object, "ANY_OBJECT", None)
    patch.setattr(ObjectLowering, "_free", None)
    patch.setattr(lower, "_has_few_values", lambda _: False)
    patch.setattr(meaning, "_OF_OBJECTS_ONLY", frozenset())
    patch.setattr(compile, "READINGS", reading.Readings(0))


MANY = {f"k{i}": {"enum": [i]} if i % 3 else {"type": "boolean"} for i in range(40)}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {"a": {}, "b": {"enum": [1, "x"]}, "c": {"const": {}}}},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
        {"type": "object", "properties": MANY, "required": ["k9", "k11", "k20", "k36"]},
        {"type": "object", "properties": MANY, "additionalProperties": {"const": 1}},
        {"items": {"properties": {"a": {"const": 1}, "b": {}, "c": {}}, "required": ["b"]}},
        {"properties": {"a": {"properties": {"b": {}, "c": {}}, "required": ["c"]}}},
        {"additionalProperties": {"properties": {"a": {}}, "additionalProperties": False}},
        {"patternProperties": {"^x": {"const": 1}}, "properties": {"y": {}}, "required": ["y"]},
        {"anyOf": [{"required": ["a"]}, {"properties": {"b": {"const": 1}}, "required": ["b"]}]},
        {"type": "object", "properties": {"a": {"const": 1}}, "minProperties": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("style", ["canonical", "any"])
def test_what_is_made_ahead(schema: dict[str, Any], style: Any, monkeypatch: Any) -> None:
    compare(schema, style, one_by_one, monkeypatch)


@pytest.mark.parametrize("draft", DRAFTS)
def test_what_is_made_ahead_of_made_schemas(draft: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(40):
        rng = random.Random(seed)
        schema = Maker(rng, draft).root(depth=rng.choice([2, 3]))
        if outcome(schema, dialect=draft) == "fine":
            compare(schema, "canonical", one_by_one, monkeypatch, times=4, dialect=draft)


def compare(
    schema: dict[str, Any],
    style: Any,
    plainly: Callable[[pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
    *,
    times: int = 30,
    **options: Any,
) -> None:
    """Compare what may come next, along random texts, with what may where `plainly` patches."""
    grammar = from_json_schema(schema, style=style, **options)
    with monkeypatch.context() as patch:
        plainly(patch)
        plain = from_json_schema(schema, style=style, **options)
    for seed in range(times):
        rng = random.Random(seed)
        ours, theirs = TermStore(), TermStore()
        state, other = ours.intern(grammar.term), theirs.intern(plain.term)
        for _ in range(60):
            # Each text is made as it is met, so that one patch decides for all of the plain one.
            choices = ours.next_bytes(state)
            with monkeypatch.context() as patch:
                plainly(patch)
                assert theirs.next_bytes(other) == choices
                assert theirs.nullable(other) == ours.nullable(state)
                if not choices:
                    break
                short = bytes(set(choices) & set(b'{},:"abckxtrueflsn123')) or choices
                byte = bytes([rng.choice(short)])
                other = theirs.advance(other, byte)
            state = ours.advance(state, byte)
