"""`%json {...}` in a rule: the JSON texts whose value satisfies a schema.

What is documented for that engine, said as a style: properties in the order of the schema, any
whitespace between the tokens of a text and none around it, only escapes that JSON needs. The key
"x-guidance" at the top of a schema changes that. How numbers are written is not documented; they
are plain here, without an exponent, and integers without a point.
"""

from __future__ import annotations

import json
from typing import Any, Final

from constrain.algebra.prelude import Prelude
from constrain.algebra.terms import Term
from constrain.errors import GrammarError, UnsupportedFeatureError
from constrain.frontends.json_schema import JSONStyle, from_json_schema
from constrain.frontends.json_schema.staples import staples
from constrain.frontends.llguidance.syntax import Schema
from constrain.limits import Limits

__all__ = ["lower_schema", "prelude_of"]

_ANY_WHITESPACE: Final = r"[ \t\n\r]*"
_OPTIONS: Final = (
    "item_separator",
    "key_separator",
    "whitespace_flexible",
    "whitespace_pattern",
    "coerce_one_of",
    "lenient",
    "json_allowed_escapes",
    "json_allow_general_unicode_escapes",
)
_ESCAPES: Final = 'nrbtf\\"u'
_SUBSCHEMA: Final = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_SUBSCHEMAS: Final = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_NAMED_SUBSCHEMAS: Final = (
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
    "properties",
)


def lower_schema(schema: Schema, source: str, limits: Limits) -> Term:
    """The JSON texts of a schema that stands in a grammar.

    Raises:
        GrammarError: As `Grammar.from_json_schema`, with the place in the grammar.
    """
    text = schema.text
    try:
        options = _options(schema.value)
        if options:
            style, relaxed = _style(options)
            value = {k: v for k, v in schema.value.items() if k != "x-guidance"}
            if options.get("coerce_one_of") or options.get("lenient"):
                value = _any_of_for_one_of(value)
            text = json.dumps(value)
        else:
            style, relaxed = _style({})
        made = from_json_schema(
            text, style=style, on_unsupported="relax" if relaxed else "refuse", limits=limits
        )
    except GrammarError as error:
        error.source, error.span = source, schema.span
        raise
    return made.term


def prelude_of(text: str) -> Prelude | None:
    """What a grammar's schemas have in common with those of other grammars; None without any."""
    return staples(_style({})[0]).prelude if "%json" in text else None


def _options(value: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    found = value.get("x-guidance", {}) if isinstance(value, dict) else {}
    if not isinstance(found, dict):
        raise GrammarError('"x-guidance" is an object')
    for name in found:
        if name not in _OPTIONS:
            raise GrammarError(
                f'"x-guidance" has no {name!r}', hint=f"it has {', '.join(_OPTIONS)}"
            )
    return found


def _style(options: dict[str, Any]) -> tuple[JSONStyle, bool]:
    """The style that options ask for, and whether what is unsupported is let through."""
    whitespace = options.get("whitespace_pattern")
    if whitespace is None:
        whitespace = _ANY_WHITESPACE if options.get("whitespace_flexible", True) else "compact"
    elif not isinstance(whitespace, str):
        raise GrammarError("whitespace_pattern is a string")
    else:
        whitespace = f"(?:{whitespace})?"  # it is matched at most once in each place
    separators = (options.get("item_separator", ","), options.get("key_separator", ":"))
    if separators == (", ", ": ") and whitespace == "compact":
        whitespace = "spaced"
    elif separators != (",", ":"):
        raise UnsupportedFeatureError(
            f"item_separator {separators[0]!r} with key_separator {separators[1]!r}",
            hint='"," with ":" are honoured, and ", " with ": " where whitespace_flexible is false',
        )
    allowed = options.get("json_allowed_escapes")
    if allowed is not None and set(allowed) != set(_ESCAPES):
        raise UnsupportedFeatureError(
            f"json_allowed_escapes {allowed!r}", hint="leave it out: what needs an escape has one"
        )
    every_escape = bool(options.get("json_allow_general_unicode_escapes"))
    style = JSONStyle(whitespace=whitespace, escapes="any" if every_escape else "minimal")
    return style, bool(options.get("lenient"))


def _any_of_for_one_of(root: Any) -> Any:  # noqa: ANN401 - JSON
    """A copy of a schema in which every `oneOf` is an `anyOf`."""
    made: dict[str, Any] = {}
    todo: list[tuple[Any, Any, Any]] = [(root, made, "root")]
    while todo:
        schema, into, key = todo.pop()
        if not isinstance(schema, dict):
            into[key] = schema
            continue
        copied = into[key] = dict(schema)
        for name in _SUBSCHEMA:
            if isinstance(schema.get(name), dict):
                todo.append((schema[name], copied, name))
        for name in _SUBSCHEMAS:
            if isinstance(schema.get(name), list):
                copied[name] = list(schema[name])
                todo += [(member, copied[name], n) for n, member in enumerate(schema[name])]
        for name in _NAMED_SUBSCHEMAS:
            if isinstance(schema.get(name), dict):
                copied[name] = dict(schema[name])
                todo += [(member, copied[name], n) for n, member in schema[name].items()]
        if "oneOf" in copied:
            members = {"anyOf": copied.pop("oneOf")}
            if "anyOf" in copied:
                copied["allOf"] = [*copied.get("allOf", []), members]
            else:
                copied.update(members)
    return made["root"]
