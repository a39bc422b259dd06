"""`$dynamicRef` and `$recursiveRef`: where they lead depends on how evaluation came there."""

from __future__ import annotations

import json
from typing import Any

import pytest
import referencing
import referencing.jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain.errors import LimitExceededError, SchemaError, UnsatisfiableError
from constrain.frontends.json_schema import from_json_schema
from constrain.frontends.json_schema.refs import Source
from constrain.frontends.json_schema.scope import NO_SCOPE
from constrain.limits import DEFAULT_LIMITS
from tests.frontends.json_schema.interpreter import Interpreter
from tests.frontends.json_schema.texts import Texts

# A list whose items whoever refers to it may choose.
LIST = {
    "$id": "list",
    "type": "array",
    "items": {"$dynamicRef": "#item"},
    "$defs": {"default": {"$dynamicAnchor": "item"}},
}


def _of(kind: str) -> dict[str, Any]:
    """Lists of one kind."""
    item = {"$dynamicAnchor": "item", "type": kind}
    return {"$id": f"{kind}s", "$ref": "list", "$defs": {"item": item}}


def test_the_outermost_anchor_counts() -> None:
    schema = {
        "$id": "https://example.com/root",
        "properties": {
            "n": {"$ref": "integers"},
            "s": {"$ref": "strings"},
            "any": {"$ref": "list"},
        },
        "$defs": {"list": LIST, "n": _of("integer"), "s": _of("string")},
    }
    texts = Texts(schema, style="any")
    assert texts.accepts('{"n":[1],"s":["x"],"any":[1,"x"]}')
    assert not texts.accepts('{"n":["x"]}')
    assert not texts.accepts('{"s":[1]}')


def test_a_static_reference_to_a_dynamic_anchor_is_static() -> None:
    plain = {**LIST, "items": {"$ref": "#item"}}
    schema = {"$ref": "integers", "$defs": {"list": plain, "n": _of("integer")}}
    assert Texts(schema, style="any").accepts('["x"]')


def test_without_a_dynamic_anchor_where_it_first_leads_it_is_static() -> None:
    plain = {**LIST, "$defs": {"default": {"$anchor": "item"}}}
    schema = {"$ref": "integers", "$defs": {"list": plain, "n": _of("integer")}}
    assert Texts(schema, style="any").accepts('["x"]')
    pointer = {**LIST, "items": {"$dynamicRef": "#/$defs/default"}}
    schema = {"$ref": "integers", "$defs": {"list": pointer, "n": _of("integer")}}
    assert Texts(schema, style="any").accepts('["x"]')


def test_what_was_left_is_not_in_scope() -> None:
    """`first` applies to the same value, but `list` is not reached through it."""
    first = {"$id": "first", "$defs": {"item": {"$dynamicAnchor": "item", "type": "integer"}}}
    schema = {"allOf": [first, {"$ref": "list"}], "$defs": {"list": LIST}}
    assert Texts(schema, style="any").accepts('["x"]')


TREE = {
    "$id": "tree",
    "$dynamicAnchor": "node",
    "type": "object",
    "properties": {"data": True, "children": {"items": {"$dynamicRef": "#node"}}},
}
STRICT_TREE = {
    "$id": "https://example.com/strict",
    "$dynamicAnchor": "node",
    "$ref": "tree",
    "unevaluatedProperties": False,
}


def test_extending_a_recursive_schema() -> None:
    texts = Texts({**STRICT_TREE, "$defs": {"tree": TREE}}, style="any")
    assert texts.accepts('{"children":[{"data":1,"children":[{}]}]}')
    assert not texts.accepts('{"children":[{"children":[{"daat":1}]}]}')
    loose = {"$id": "https://example.com/x", "$ref": "tree", "$defs": {"tree": TREE}}
    assert Texts(loose, style="any").accepts('{"children":[{"daat":1}]}')


def test_across_the_documents_of_a_registry() -> None:
    tree = referencing.jsonschema.DRAFT202012.create_resource(
        {**TREE, "$id": "https://example.com/tree"}
    )
    registry: Any = referencing.Registry().with_resource("https://example.com/tree", tree)
    texts = Texts(STRICT_TREE, style="any", registry=registry)
    assert texts.accepts('{"children":[{"data":1}]}')
    assert not texts.accepts('{"children":[{"daat":1}]}')


def _recursive(anchor: object, outer: object) -> dict[str, Any]:
    inner = {
        "$id": "inner",
        "$recursiveAnchor": anchor,
        "anyOf": [{"type": "string"}, {"additionalProperties": {"$recursiveRef": "#"}}],
        "type": ["string", "object"],
    }
    return {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$id": "https://example.com/outer",
        "$recursiveAnchor": outer,
        "anyOf": [{"type": "integer"}, {"$ref": "inner"}],
        "$defs": {"inner": inner},
    }


@pytest.mark.parametrize(
    ("anchor", "outer", "integers"),
    [(True, True, True), (True, False, False), (False, True, False), (False, False, False)],
)
def test_recursive_references(anchor: bool, outer: bool, integers: bool) -> None:
    """Only where it first leads to a root that says so, and then to the outermost that does."""
    texts = Texts(_recursive(anchor, outer), style="any")
    assert texts.accepts("1")
    assert texts.accepts('{"a":{"b":"x"}}')
    assert texts.accepts('{"a":1}') == integers
    assert texts.accepts('{"a":{"b":1}}') == integers


def test_a_recursive_reference_says_nothing_but_a_hash() -> None:
    with pytest.raises(SchemaError, match=r"\$recursiveRef"):
        from_json_schema({"$recursiveRef": "other"}, dialect="draft2019-09")
    with pytest.raises(SchemaError, match=r"\$recursiveAnchor"):
        from_json_schema({"$recursiveAnchor": 1}, dialect="draft2019-09")


def test_a_dynamic_reference_that_leads_nowhere() -> None:
    with pytest.raises(SchemaError, match=r"\$dynamicRef '#a' leads nowhere") as caught:
        from_json_schema({"$dynamicRef": "#a"})
    assert caught.value.pointer == "#/$dynamicRef"


def test_circles_through_dynamic_references_are_refused() -> None:
    circle = {
        "$id": "https://example.com/root",
        "$dynamicAnchor": "a",
        "$ref": "inner",
        "$defs": {
            "i": {
                "$id": "inner",
                "$dynamicRef": "#a",
                "$defs": {"a": {"$dynamicAnchor": "a"}},
            }
        },
    }
    with pytest.raises(SchemaError, match="applies itself to the same value"):
        from_json_schema(circle)


def test_each_keyword_is_reported_once() -> None:
    schema = {
        "$id": "https://example.com/root",
        "properties": {"n": {"$ref": "integers"}, "s": {"$ref": "strings"}},
        "$defs": {"list": LIST, "n": _of("integer"), "s": _of("string")},
    }
    report = from_json_schema(schema).report
    uses = [(use.pointer, use.keyword) for use in report]
    assert len(uses) == len(set(uses))
    assert ("#/$defs/list/items", "$dynamicRef", "enforced") in [tuple(use)[:3] for use in report]


def test_scopes_are_followed_only_where_a_reference_asks() -> None:
    schema: dict[str, Any] = {
        "$id": "https://example.com/root",
        "$dynamicAnchor": "a",
        "properties": {"p": {"$ref": "other"}, "q": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"type": "null"}, "o": {"$id": "other", "$dynamicAnchor": "a"}},
    }
    plain = Source(schema, None, None, DEFAULT_LIMITS)
    assert all(node.scope is NO_SCOPE for node in plain.nodes)
    assert len(plain.nodes) == 5
    schema["$defs"]["x"]["$dynamicRef"] = "#a"
    scoped = Source(schema, None, None, DEFAULT_LIMITS)
    assert not any(node.scope is NO_SCOPE for node in scoped.nodes)
    assert len(scoped.nodes) == 5  # all are reached in one scope


def test_metaschemas() -> None:
    """The draft's own metaschema: six documents, each of which extends the others by reference."""
    schema = {"$ref": "https://json-schema.org/draft/2020-12/meta/applicator"}
    texts = Texts(schema, style="any", format="annotate")
    assert texts.accepts('{"properties":{"a":{"allOf":[{"not":true}]}}}')
    assert not texts.accepts('{"properties":{"a":{"allOf":[]}}}')
    assert not texts.accepts('{"properties":{"a":{"allOf":[1]}}}')
    assert texts.accepts('{"properties":{"a":{"minLength":-1}}}')  # another vocabulary's


# The law

KINDS = [{"type": "integer"}, {"type": "string"}, {"type": ["object", "integer"]}, True]
RESOURCES = ["r0", "r1", "r2"]


@st.composite
def _references(draw: Any, draft: int) -> Any:
    where = draw(st.sampled_from(RESOURCES))
    if draft == 2019:
        return draw(st.sampled_from([{"$ref": where}, {"$recursiveRef": "#"}]))
    name = draw(st.sampled_from("xy"))
    forms: list[dict[str, str]] = [{"$ref": where}, {"$ref": f"{where}#/$defs/s"}]
    forms += [{"$dynamicRef": f"#{name}"}, {"$dynamicRef": f"{where}#{name}"}]
    forms += [{"$dynamicRef": f"#{name}"}, {"$ref": f"#{name}"}]
    return draw(st.sampled_from(forms))


@st.composite
def _bodies(draw: Any, draft: int) -> Any:
    value = st.one_of(_references(draft), _references(draft), st.sampled_from(KINDS))
    table = {
        "properties": st.dictionaries(st.sampled_from("ab"), value, min_size=1),
        "additionalProperties": value,
        "type": st.sampled_from(["object", ["object", "integer"]]),
        "required": st.just(["a"]),
        "anyOf": st.lists(st.sampled_from(KINDS), min_size=1, max_size=2),
    }
    names = draw(st.lists(st.sampled_from(sorted(table)), min_size=1, max_size=2, unique=True))
    return {name: draw(table[name]) for name in names}


@st.composite
def _documents(draw: Any, draft: int) -> Any:
    resources = {}
    for i, name in enumerate(RESOURCES):
        definitions: dict[str, Any] = {"s": draw(_bodies(draft))}
        resource = {"$id": name, **draw(_bodies(draft)), "$defs": definitions}
        if draft == 2019:
            resource["$recursiveAnchor"] = draw(st.booleans())
        else:
            for anchor in "xy":
                keyword = draw(st.sampled_from(["$dynamicAnchor", "$dynamicAnchor", "$anchor"]))
                definitions[anchor] = {keyword: anchor, **draw(_bodies(draft))}
        if i > 0 and draw(st.booleans()):
            resource["allOf"] = [{"$ref": RESOURCES[draw(st.integers(0, i - 1))]}]
        resources[name] = resource
    root: dict[str, Any] = {"$id": "root", "$ref": "r2", "$defs": resources}
    if draft == 2019:
        root["$recursiveAnchor"] = draw(st.booleans())
    elif draw(st.booleans()):
        resources["z"] = {"$dynamicAnchor": "x", **draw(_bodies(draft))}
        resources["w"] = {"$anchor": "y", "type": "object"}
    return root


def _values(depth: int) -> list[Any]:
    below = _values(depth - 1) if depth else []
    found: list[Any] = [1, "s", {}]
    for value in below:
        found += [{"a": value}, {"b": value}, {"a": value, "b": 1}]
    return found


VALUES = _values(3)
LAW = settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])


def _check_law(schema: Any, draft: int) -> None:
    oracle = Interpreter(schema, draft)
    dialect = "draft2020-12" if draft == 2020 else "draft2019-09"
    try:
        texts = Texts(schema, style="any", dialect=dialect)
    except UnsatisfiableError:
        texts = None
    except LimitExceededError:
        return
    for value in VALUES:
        got = texts is not None and texts.accepts(json.dumps(value))
        assert got == oracle.is_valid(value), (schema, value)


@given(_documents(2020))
@LAW
def test_the_law_of_dynamic_references(schema: Any) -> None:
    _check_law(schema, 2020)


@given(_documents(2019))
@LAW
def test_the_law_of_recursive_references(schema: Any) -> None:
    _check_law(schema, 2019)
