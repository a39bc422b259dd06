"""The support table: every keyword of every draft, its form, and what is done with it.

A keyword is `enforced`, or an `annotation`: it says nothing about which values are valid, so it
cannot be broken. A keyword that is in no draft's vocabulary is an annotation too, as the
specification says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Final, Literal

from constrain.frontends.json_schema.read import JSON

__all__ = ["DIALECTS", "TYPES", "Children", "Dialect", "Keyword", "dialect_of"]

Use = Literal["enforced", "annotation"]
Children = Literal["", "schema", "schemas", "schema map", "items", "dependencies", "reference"]
"""Where the value of a keyword has subschemas, or that it names one."""

TYPES: Final = ("null", "boolean", "integer", "number", "string", "array", "object")


@dataclass(frozen=True, slots=True)
class Keyword:
    """One keyword.

    Attributes:
        name: As written.
        use: What is done with it.
        expects: What its value must be, for messages.
        valid: Whether a value has that form. Subschemas are checked where they stand.
        children: Where its value has subschemas.
        in_place: Its subschemas apply to the same value as the schema itself.
        note: What a reader of the table should know: where texts differ between styles, where this
            departs from the specification, and why.
    """

    name: str
    use: Use
    expects: str = ""
    valid: Callable[[JSON], bool] = lambda _: True
    children: Children = ""
    in_place: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """One draft, or a part of it that a metaschema chooses. Compare by identity.

    Attributes:
        name: As the caller writes it: `draft2020-12`.
        uri: What `$schema` says, without a trailing `#`.
        keywords: Its vocabulary.
        id_keyword: `$id`, or `id` in draft 4.
        ref_overrides: A schema with `$ref` has no other keywords (draft 7 and older).
        asserts_formats: `format` is enforced whatever the caller says.
    """

    name: str
    uri: str
    keywords: Mapping[str, Keyword]
    id_keyword: str
    ref_overrides: bool
    asserts_formats: bool = False


def _is_integer(value: JSON) -> bool:
    """A whole number; 2.0 is one."""
    if isinstance(value, Decimal):
        return value.adjusted() < 0x1000 and value == value.to_integral_value()
    if isinstance(value, float):  # out of a registry
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: JSON) -> bool:
    if isinstance(value, float):  # out of a registry
        return math.isfinite(value)
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def _is_count(value: JSON) -> bool:
    return _is_integer(value) and value >= 0


def _is_schema(value: JSON) -> bool:
    return isinstance(value, (dict, bool))


def _is_string_list(value: JSON) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_type(value: JSON) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, str) and item in TYPES for item in value)
    return isinstance(value, str) and value in TYPES


def _is_discriminator(value: JSON) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("propertyName"), str):
        return False
    mapping = value.get("mapping", {})
    return isinstance(mapping, dict) and all(isinstance(ref, str) for ref in mapping.values())


def _assertion(name: str, expects: str, valid: Callable[[JSON], bool]) -> Keyword:
    return Keyword(name, "enforced", expects, valid)


def _annotation(name: str) -> Keyword:
    return Keyword(name, "annotation")


def _schema(name: str, *, in_place: bool = False) -> Keyword:
    return Keyword(name, "enforced", "a schema", _is_schema, "schema", in_place)


def _schemas(name: str, *, in_place: bool = False) -> Keyword:
    return Keyword(
        name,
        "enforced",
        "an array of schemas, not empty",
        lambda v: isinstance(v, list) and bool(v) and all(map(_is_schema, v)),
        "schemas",
        in_place,
    )


def _schema_map(name: str, *, in_place: bool = False) -> Keyword:
    return Keyword(
        name,
        "enforced",
        "an object whose values are schemas",
        lambda v: isinstance(v, dict) and all(map(_is_schema, v.values())),
        "schema map",
        in_place,
    )


def _definitions(name: str) -> Keyword:
    """Holds subschemas that apply only where a reference names them."""
    return Keyword(name, "annotation", "an object", lambda v: isinstance(v, dict))


_OPENAPI_TYPES: Final = TYPES[1:]
_NOT_IN_OPENAPI: Final = ("type", "patternProperties", "dependencies", "definitions", "$schema")
_TYPE: Final = _assertion(
    "type", f"one of {', '.join(TYPES)}, or an array of them, not empty", _is_type
)
_ENUM: Final = _assertion("enum", "an array", lambda v: isinstance(v, list))
_STRING: Final = ("a string", lambda v: isinstance(v, str))
_COUNT: Final = ("an integer >= 0", _is_count)
_NUMBER: Final = ("a number", _is_number)
_BOOLEAN: Final = ("a boolean", lambda v: isinstance(v, bool))
_NAMES: Final = ("an array of strings", _is_string_list)

_EVERY_DRAFT: Final = (
    _TYPE,
    _ENUM,
    _assertion("multipleOf", "a number > 0", lambda v: _is_number(v) and v > 0),
    _assertion("maximum", *_NUMBER),
    _assertion("minimum", *_NUMBER),
    _assertion("maxLength", *_COUNT),
    _assertion("minLength", *_COUNT),
    _assertion("pattern", *_STRING),
    _assertion("format", *_STRING),
    _assertion("maxItems", *_COUNT),
    _assertion("minItems", *_COUNT),
    _assertion("uniqueItems", *_BOOLEAN),
    _assertion("maxProperties", *_COUNT),
    _assertion("minProperties", *_COUNT),
    _assertion("required", *_NAMES),
    _schema("additionalProperties"),
    _schema_map("properties"),
    _schema_map("patternProperties"),
    _schemas("allOf", in_place=True),
    _schemas("anyOf", in_place=True),
    _schemas("oneOf", in_place=True),
    _schema("not", in_place=True),
    Keyword("$ref", "enforced", *_STRING, "reference", in_place=True),
    Keyword(
        "dependencies",
        "enforced",
        "an object whose values are schemas or arrays of strings",
        lambda v: (
            isinstance(v, dict) and all(_is_schema(d) or _is_string_list(d) for d in v.values())
        ),
        "dependencies",
        in_place=True,
    ),
    _definitions("definitions"),
    _annotation("$schema"),
    _annotation("title"),
    _annotation("description"),
    _annotation("default"),
)
_BEFORE_2020: Final = (
    Keyword(
        "items",
        "enforced",
        "a schema or an array of schemas",
        lambda v: _is_schema(v) or (isinstance(v, list) and all(map(_is_schema, v))),
        "items",
    ),
    _schema("additionalItems"),
)
_DRAFT4: Final = (
    *_EVERY_DRAFT,
    *_BEFORE_2020,
    _assertion("exclusiveMaximum", *_BOOLEAN),
    _assertion("exclusiveMinimum", *_BOOLEAN),
    Keyword("id", "annotation", *_STRING),
)
_FROM_DRAFT6: Final = (
    _assertion("exclusiveMaximum", *_NUMBER),
    _assertion("exclusiveMinimum", *_NUMBER),
    _assertion("const", "any value", lambda _: True),
    _schema("contains"),
    _schema("propertyNames"),
    Keyword("$id", "annotation", *_STRING),
    _annotation("examples"),
)
_DRAFT6: Final = (*_EVERY_DRAFT, *_BEFORE_2020, *_FROM_DRAFT6)
_FROM_DRAFT7: Final = (
    _schema("if", in_place=True),
    _schema("then", in_place=True),
    _schema("else", in_place=True),
    _annotation("$comment"),
    _annotation("readOnly"),
    _annotation("writeOnly"),
    _annotation("contentMediaType"),
    _annotation("contentEncoding"),
)
_DRAFT7: Final = (*_DRAFT6, *_FROM_DRAFT7)
_FROM_2019: Final = (
    _definitions("$defs"),
    Keyword("$anchor", "annotation", *_STRING),
    _annotation("$vocabulary"),
    _annotation("deprecated"),
    _annotation("contentSchema"),
    Keyword(
        "dependentRequired",
        "enforced",
        "an object whose values are arrays of strings",
        lambda v: isinstance(v, dict) and all(map(_is_string_list, v.values())),
    ),
    _schema_map("dependentSchemas", in_place=True),
    _assertion("minContains", *_COUNT),
    _assertion("maxContains", *_COUNT),
    _schema("unevaluatedProperties"),
    _schema("unevaluatedItems"),
)
_DRAFT2019: Final = (
    *_DRAFT7,
    *_FROM_2019,
    Keyword("$recursiveRef", "enforced", "'#'", lambda v: v == "#", "reference", in_place=True),
    Keyword("$recursiveAnchor", "annotation", *_BOOLEAN),
)
_DRAFT2020: Final = (
    *_EVERY_DRAFT,
    *_FROM_DRAFT6,
    *_FROM_DRAFT7,
    *_FROM_2019,
    _schema("items"),
    _schemas("prefixItems"),
    Keyword("$dynamicRef", "enforced", *_STRING, "reference", in_place=True),
    Keyword("$dynamicAnchor", "annotation", *_STRING),
)

_OPENAPI_3_0: Final = (
    *[k for k in _EVERY_DRAFT if k.name not in _NOT_IN_OPENAPI],
    _assertion("type", f"one of {', '.join(_OPENAPI_TYPES)}", lambda v: v in _OPENAPI_TYPES),
    _schema("items"),
    _assertion("exclusiveMaximum", *_BOOLEAN),
    _assertion("exclusiveMinimum", *_BOOLEAN),
    _assertion("nullable", *_BOOLEAN),
    _assertion(
        "discriminator",
        "an object with a string as `propertyName`, and strings as `mapping` values if it has one",
        _is_discriminator,
    ),
    _annotation("readOnly"),
    _annotation("writeOnly"),
    _annotation("xml"),
    _annotation("externalDocs"),
    _annotation("example"),
    _annotation("deprecated"),
)
"""Of the OpenAPI Specification 3.0.3; see `openapi` for what it means."""


_BOUND: Final = "Exact, also beyond 2^53. In style `any` some exponents are left out, see Numbers."
_NAME: Final = "A name for references."
_NOTES: Final = {
    "type": "From draft 6 on 1.0 is an integer; in draft 4 and OpenAPI an integer has no point and "
    "no exponent. In other styles than `any` none has.",
    "enum": "Compared by value: 1 is 1.0, and the order of keys does not matter. Written as any "
    "other value is.",
    "const": "As `enum` with one value.",
    "multipleOf": "Exact, for decimals too. In style `any` some exponents are left out, see "
    "Numbers.",
    "maximum": _BOUND,
    "minimum": _BOUND,
    "exclusiveMaximum": _BOUND,
    "exclusiveMinimum": _BOUND,
    "maxLength": "Counts code points, not bytes or escapes.",
    "minLength": "Counts code points, not bytes or escapes.",
    "pattern": "ECMA-262 in Unicode mode, found anywhere in the string: `^` and `$` anchor it. "
    r"`\p{...}`, lookaround, `\b` and named groups count; back-references are refused.",
    "format": "Departs: enforced by default, for a generator should write what the name says; "
    "`format='annotate'` is the default of the specification. See Formats.",
    "uniqueItems": "Compared by value. In style `any` numbers are shorter in such arrays, see "
    "Numbers. Refused in part, see What is refused.",
    "properties": "In the order of the schema, other keys last; in any order in style `any`. A key "
    "never comes twice, declared or not, however it is escaped.",
    "patternProperties": "Patterns as in `pattern`; they may overlap each other and `properties`.",
    "propertyNames": "Refused where it leads back to its own schema.",
    "oneOf": "Exactly one: what two of them accept is left out.",
    "$ref": "Up to draft 7 and in OpenAPI nothing beside it counts. Other documents come from "
    "`registry`; nothing is fetched.",
    "$dynamicRef": "Resolved in the dynamic scope.",
    "$recursiveRef": "Resolved in the dynamic scope.",
    "dependencies": "Departs: holds also from draft 2019-09 on, where other keywords replaced it "
    "and the specification leaves it open.",
    "definitions": "Holds schemas for references, in every draft.",
    "$defs": "Holds schemas for references.",
    "$schema": "Chooses the draft, unless `dialect` does.",
    "$vocabulary": "Of a metaschema in `registry`: only keywords of its vocabularies count. One "
    "that is required and not known is refused.",
    "$id": _NAME,
    "id": _NAME,
    "$anchor": _NAME,
    "$dynamicAnchor": _NAME,
    "$recursiveAnchor": "Where `$recursiveRef` may lead.",
    "then": "Says nothing without `if`.",
    "else": "Says nothing without `if`.",
    "minContains": "Says nothing without `contains`.",
    "maxContains": "Says nothing without `contains`.",
    "contentMediaType": "An annotation in every draft, as the specification allows.",
    "contentEncoding": "An annotation in every draft, as the specification allows.",
    "contentSchema": "An annotation, as the specification wants.",
    "nullable": "Adds null to the `type` beside it; without one it says nothing.",
    "discriminator": "Its property selects one schema of the `oneOf` or `anyOf` beside it; without "
    "these an annotation. Schemas without a name are refused.",
}
"""What `Keyword.note` says, by the name of the keyword."""


def _dialect(
    name: str, uri: str, keywords: tuple[Keyword, ...], *, id_keyword: str = "$id", old: bool
) -> Dialect:
    noted = [replace(k, note=_NOTES.get(k.name, "")) for k in keywords]
    table = MappingProxyType({k.name: k for k in noted})
    return Dialect(name, uri, table, id_keyword, old)


DIALECTS: Final[Mapping[str, Dialect]] = MappingProxyType(
    {
        d.name: d
        for d in (
            _dialect(
                "draft4",
                "http://json-schema.org/draft-04/schema",
                _DRAFT4,
                id_keyword="id",
                old=True,
            ),
            _dialect("draft6", "http://json-schema.org/draft-06/schema", _DRAFT6, old=True),
            _dialect("draft7", "http://json-schema.org/draft-07/schema", _DRAFT7, old=True),
            _dialect(
                "draft2019-09",
                "https://json-schema.org/draft/2019-09/schema",
                _DRAFT2019,
                old=False,
            ),
            _dialect(
                "draft2020-12",
                "https://json-schema.org/draft/2020-12/schema",
                _DRAFT2020,
                old=False,
            ),
            _dialect(
                "openapi-3.0",
                "https://spec.openapis.org/oas/3.0/schema/2021-09-28",
                _OPENAPI_3_0,
                id_keyword="",  # its schemas have no identifiers
                old=True,
            ),
        )
    }
)
_BY_URI: Final = {d.uri.split("://")[1]: d for d in DIALECTS.values()}
_OPENAPI_3_1: Final = re.compile(
    r"spec\.openapis\.org/oas/3\.[12]/dialect/(?:base|\d{4}-\d\d-\d\d)"
)
"""Draft 2020-12 with a vocabulary that need not be known: `discriminator` and what else it has are
annotations, as its metaschema says."""


def dialect_of(uri: str) -> Dialect | None:
    """The dialect that a `$schema` names, or None. https is as good as http, `#` as none."""
    scheme, _, rest = uri.partition("://")
    if scheme not in ("http", "https"):
        return None
    rest = rest.rstrip("#")
    return DIALECTS["draft2020-12"] if _OPENAPI_3_1.fullmatch(rest) else _BY_URI.get(rest)
