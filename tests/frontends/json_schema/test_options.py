"""The options of `from_json_schema`: a wrong value is an error that says what is allowed."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from constrain import Grammar
from constrain.errors import GrammarError
from constrain.frontends.json_schema import from_json_schema

DIALECTS = "None, 'draft4', 'draft6', 'draft7', 'draft2019-09', 'draft2020-12' or 'openapi-3.0'"


@pytest.mark.parametrize("make", [from_json_schema, Grammar.from_json_schema])
def test_the_signature(make: Any) -> None:
    parameters = list(inspect.signature(make).parameters.values())
    defaults = {p.name: p.default for p in parameters if p.name not in ("schema", "limits")}
    assert defaults == {
        "style": "canonical",
        "dialect": None,
        "registry": None,
        "format": "assert",
        "property_order": "declared",
        "on_unsupported": "refuse",
    }
    assert {p.kind for p in parameters[1:]} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("make", [from_json_schema, Grammar.from_json_schema])
@pytest.mark.parametrize(
    ("option", "given", "allowed"),
    [
        ("style", "x", "'canonical', 'compact', 'pretty', 'flexible', 'any', or a JSONStyle"),
        ("style", None, "'canonical', 'compact', 'pretty', 'flexible', 'any', or a JSONStyle"),
        ("dialect", "draft3", DIALECTS),
        ("dialect", "2020-12", DIALECTS),
        ("dialect", ["draft7"], DIALECTS),
        ("format", "off", "'assert' or 'annotate'"),
        ("format", True, "'assert' or 'annotate'"),
        ("property_order", "free", "'declared' or 'any'"),
        ("on_unsupported", "ignore", "'refuse' or 'relax'"),
        ("on_unsupported", None, "'refuse' or 'relax'"),
    ],
)
def test_wrong_values(make: Any, option: str, given: Any, allowed: str) -> None:
    with pytest.raises(GrammarError) as caught:
        make({}, **{option: given})
    message = caught.value.reason
    assert message.startswith(f"{option} must be ")
    assert message.endswith(f"not {given!r}")
    assert allowed in message


def test_a_registry_is_one_of_the_referencing_library() -> None:
    with pytest.raises(GrammarError, match=r"registry must be a referencing\.Registry, not a dict"):
        from_json_schema({}, registry={"http://a.example": {}})


@pytest.mark.parametrize("schema", [True, "true", {}, "{}"])
def test_options_are_looked_at_whatever_the_schema_is(schema: Any) -> None:
    with pytest.raises(GrammarError, match="dialect"):
        from_json_schema(schema, dialect="draft3")
