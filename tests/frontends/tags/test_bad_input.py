"""Whatever stands anywhere in a structural tag or a request: it is read, or a typed error."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import constrain
from constrain import Grammar
from constrain.frontends.tags import TOOL_FORMATS
from tests.frontends.tags.test_law import formats

WORDS = ["tag", "<t>", "any_text", "object", "string", "auto", "required", "function", ""]
KEYS = [
    *("type", "begin", "end", "content", "elements", "tags", "triggers", "excludes", "rules"),
    *("token", "separator", "min", "max", "json_schema", "style", "pattern", "grammar", "x"),
    *("name", "parameters", "properties", "required", "items", "enum", "function", "mode", "tools"),
]
scalars = st.one_of(
    *(st.none(), st.booleans(), st.integers(-3, 2**33), st.floats(), st.text(max_size=3)),
    st.sampled_from(WORDS),
)
junk = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=6,
)
FUNCTION = {
    "name": "f",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"enum": ["x"]}}},
        "required": ["a"],
    },
}
REQUEST = {
    "tools": [{"type": "function", "function": FUNCTION}],
    "tool_choice": {
        "type": "allowed_tools",
        "allowed_tools": {
            "mode": "auto",
            "tools": [{"type": "function", "function": {"name": "f"}}],
        },
    },
}
MANY = settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from places(inner, (*path, i))


def put(value, path, new):
    """A copy with something else in one place."""
    if not path:
        return new
    copy = json.loads(json.dumps(value))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return copy


def refused(make):
    """The error of bad input, or None. Any other exception is a failure."""
    try:
        make()
    except constrain.ConstrainError as error:
        return error
    return None


@given(formats, junk, st.randoms(use_true_random=False))
@MANY
def test_structural_tags(value, new, random):
    changed = put(value, random.choice(list(places(value))), new)
    error = refused(lambda: Grammar.from_structural_tag(changed))
    if isinstance(error, constrain.GrammarError) and isinstance(changed, dict):
        assert error.pointer.startswith("#")


@given(st.sampled_from(list(TOOL_FORMATS)), junk, st.randoms(use_true_random=False))
@MANY
def test_requests(name, new, random):
    changed = put(REQUEST, random.choice([p for p in places(REQUEST) if p]), new)
    refused(lambda: Grammar.from_tools(**changed, format=name))
