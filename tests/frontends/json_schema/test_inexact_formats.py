"""Formats of which only a part is known: what is outside that part is not taken for invalid."""

from __future__ import annotations

from typing import Any

import pytest

from constrain.errors import UnsupportedFeatureError
from tests.frontends.json_schema.texts import Texts

NAMES = {"type": "object", "propertyNames": {"format": "regex"}}

IN_NO_KNOWN_PART: list[Any] = [
    {"not": NAMES},
    {"oneOf": [NAMES, {"required": ["(?=a)b"]}]},
    {"if": NAMES, "then": {"maxProperties": 1}},
    {"enum": ["a*", "(?=a)b"], "format": "regex"},
    {"type": "string", "format": "hostname", "pattern": "^xn--"},
    {"not": {"type": "string", "format": "hostname", "pattern": "^xn--"}},
    {"not": {"allOf": [{"format": "regex"}, {"const": "(?=a)b"}]}},
    {"oneOf": [{"type": "string", "format": "regex"}, {"const": "(?=a)b"}]},
    {"oneOf": [{"type": "string", "format": "regex"}, {"type": "string", "pattern": "^[(][?]="}]},
    {
        "oneOf": [
            {"type": "object", "required": ["h"], "properties": {"h": {"format": "regex"}}},
            {"type": "object", "required": ["h"], "properties": {"h": {"const": "(?=a)b"}}},
        ]
    },
]


@pytest.mark.parametrize("schema", IN_NO_KNOWN_PART)
def test_what_is_in_no_known_part_of_a_format_is_not_taken_for_invalid(schema: Any) -> None:
    """`(?=a)b` is a valid regular expression; that it is not in our part of them proves nothing."""
    with pytest.raises(UnsupportedFeatureError, match="only a part of the format"):
        Texts(schema, style="any")


def test_a_part_of_a_format_beside_what_is_apart_anyway() -> None:
    either = {"oneOf": [{"type": "string", "format": "regex"}, {"const": 5}]}
    assert Texts(either, style="any").accepts('"a*"')
    by_key = {"type": "object", "required": ["h"]}
    schema = {
        "oneOf": [
            {**by_key, "properties": {"h": {"type": "string", "format": "regex"}}},
            {**by_key, "properties": {"h": {"const": 5}}},
        ]
    }
    texts = Texts(schema, style="any")
    assert texts.accepts('{"h":"a*"}')
    assert texts.accepts('{"h":5}')
    assert not texts.accepts('{"h":"("}')


def test_no_hostname_is_a_uri() -> None:
    texts = Texts({"oneOf": [{"type": "string", "format": f} for f in ("uri", "hostname")]})
    assert texts.accepts('"http://a.b/"')
    assert texts.accepts('"a.b"')
    assert not texts.accepts('"a b"')


def test_names_in_a_format_of_which_a_part_is_known() -> None:
    texts = Texts({**NAMES, "required": ["a+"]}, style="any")
    assert texts.accepts('{"a+":1,"b*":2}')
    assert not texts.accepts('{"a+":1,"(":2}')
    assert not texts.accepts('{"b*":2}')
    apart = {"oneOf": [{**NAMES, "required": ["a"]}, {"type": "object", "maxProperties": 0}]}
    texts = Texts(apart, style="any")
    assert [texts.accepts(t) for t in ("{}", '{"a":1}', '{"b":1}')] == [True, True, False]
