"""Random schemas: arguments of a call are those that `jsonschema` finds valid, in each style."""

from __future__ import annotations

import random
from dataclasses import replace

import jsonschema
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import constrain
from constrain import Grammar
from constrain.frontends.tags import TOOL_FORMATS
from constrain.frontends.tags.arguments import arguments
from tests.frontends.json_schema.schemas import NAMES, schemas, values
from tests.frontends.json_schema.texts import exact
from tests.frontends.tags.families import READ
from tests.frontends.tags.test_arguments import STYLES, WRITE
from tests.frontends.tags.test_tools import walk_to_the_marks

# Of these a text says what kind of value each argument is.
TYPED = ["deepseek_xml", "kimi_k3_xml", "cohere_xml", "gemma", "python"]
objects = st.dictionaries(st.sampled_from([*NAMES, "x"]), values, max_size=3)
SLOW = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])


@given(st.sampled_from(TYPED), schemas(combinators=True), st.lists(objects, min_size=3, max_size=8))
@SLOW
def test_what_is_accepted_is_what_is_valid(name, schema, instances):
    validator = jsonschema.Draft202012Validator(exact(schema))
    valid = lambda value: validator.is_valid(exact(value))  # noqa: E731 - as floats are inexact
    try:
        term = arguments(schema, STYLES[name], style="any", property_order="any")
    except constrain.UnsatisfiableError:
        assert not any(map(valid, instances))
        return
    except (constrain.UnsupportedFeatureError, constrain.LimitExceededError):
        assume(False)
    grammar = Grammar(term, "test")
    for instance in instances:
        text = WRITE[name](instance)
        assert grammar.accepts(text.encode()) == valid(instance), (schema, text)


@given(
    st.sampled_from(["deepseek-v3.2", "kimi-k3", "gemma4", "pythonic"]),
    schemas(combinators=True),
    st.integers(0, 99),
)
@SLOW
def test_what_is_generated_is_valid(name, schema, seed):
    how = replace(TOOL_FORMATS[name], always_text=False)
    tools = [{"name": "f", "parameters": schema if isinstance(schema, dict) else {"not": {}}}]
    try:
        grammar = Grammar.from_tools(tools, "required", format=how)
    except (
        constrain.UnsatisfiableError,
        constrain.UnsupportedFeatureError,
        constrain.LimitExceededError,
    ):
        assume(False)
    text = walk_to_the_marks(grammar, how, random.Random(seed))
    if text is None:
        return
    text = text[text.index(how.first_trigger.encode()) :].decode()
    ((called, given_arguments),) = READ[name](text, {"f": {}})[:1]
    assert called == "f"
    assert jsonschema.Draft202012Validator(exact(schema)).is_valid(exact(given_arguments))
