"""Structural tags: the JSON that says what a text is made of, read in both of its generations.

`{"type": "structural_tag", "format": {...}}` holds a format (`formats`); the older
`{"structures": [{"begin", "schema", "end"}], "triggers": [...]}` is a list of tags in free text.
"""

from __future__ import annotations

from typing import Any

from constrain.algebra.terms import Term, cat
from constrain.errors import GrammarError, SchemaError
from constrain.frontends.json_schema import JSONStyle
from constrain.frontends.json_schema.read import JSON, read_schema
from constrain.frontends.json_schema.style import resolve_style
from constrain.frontends.tags.fields import Fields
from constrain.frontends.tags.formats import (
    Options,
    Tag,
    lower_format,
    lower_schema,
    lower_tag_list,
)
from constrain.frontends.tags.markers import marker
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["from_structural_tag"]


def from_structural_tag(
    tag: dict[str, Any] | str,
    *,
    style: str | JSONStyle = "canonical",
    limits: Limits = DEFAULT_LIMITS,
) -> Term:
    """The texts of a structural tag.

    Args:
        tag: As Python data or as JSON text: of type "structural_tag", or one format by itself.
        style: How JSON Schemas inside are written, see `json_schema.style`.
        limits: Budgets.

    Raises:
        GrammarError: It is no structural tag, or something inside it is wrong; the error has a
            JSON pointer.
        UnsupportedFeatureError: A type or field is not known, or cannot be honoured exactly.
        UnsatisfiableError: No text fits.
        LimitExceededError: It is larger than the limits allow.
    """
    options = Options(resolve_style(style), limits)
    fields = Fields(_read(tag, limits), "#", "a structural tag")
    if "structures" in fields:
        return _older(fields, options)
    if fields.get("type", str) != "structural_tag":
        return lower_format(fields.value, "#", options)
    fields.only(["type", "format"])
    return lower_format(fields.get("format", dict), fields.at("format"), options)


def _read(tag: object, limits: Limits) -> JSON:
    if not isinstance(tag, (dict, str)):
        raise GrammarError(
            f"a structural tag is a dict or a JSON text, not {type(tag).__name__}",
            hint="of a pydantic model, pass model.model_dump(by_alias=True)",
        )
    try:
        return read_schema(tag, limits)
    except SchemaError as error:
        raise GrammarError(
            error.reason.replace("schema", "structural tag"),
            source=error.source,
            span=error.span,
            pointer=error.pointer,
            hint=error.hint,
        ) from None


def _older(fields: Fields, options: Options) -> Term:
    fields.only(["type", "structures", "triggers"])
    if fields.get("type", str, "structural_tag") != "structural_tag":
        raise GrammarError(
            "an object with 'structures' is of type 'structural_tag'", pointer=fields.at("type")
        )
    tags = []
    for i, value in enumerate(fields.get("structures", list)):
        item = Fields(value, fields.at("structures", i), "a structure")
        item.only(["begin", "schema", "end"])
        rest = cat(lower_schema(item, "schema", options), marker(item.get("end", str)))
        tags.append(Tag(item.get("begin", str), None, rest, item.pointer))
    if not tags:
        raise GrammarError("there are no structures", pointer=fields.at("structures"))
    return lower_tag_list(fields, tags, None, options.limits)
