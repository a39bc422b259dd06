"""What was probably meant: ways out for mistakes that people make in schemas.

Each function returns one sentence for the hint of an error or for the report, or None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final

from constrain.frontends.json_schema.keywords import DIALECTS, TYPES, Dialect, Keyword
from constrain.frontends.json_schema.read import JSON, escape_pointer
from constrain.frontends.json_schema.resources import item_index, split_pointer

__all__ = [
    "about_keyword",
    "about_reference",
    "about_value",
    "is_bare_properties",
    "wrapped_schema",
]

_CALLED: Final = {
    "str": "string",
    "text": "string",
    "char": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "dict": "object",
    "map": "object",
    "struct": "object",
    "none": "null",
    "nonetype": "null",
    "nil": "null",
}
"""Names of types in programming languages."""

_FORMATS: Final = {"date": "date", "datetime": "date-time", "time": "time", "uuid": "uuid"}
_MOST_KEYS: Final = 10_000
"""Keys among which a similar one is looked for."""


_WRAPPERS: Final = ("schema", "json_schema", "parameters", "input_schema", "inputSchema")
"""Under which names APIs carry schemas: of a response format, a function, a tool."""

_KEYWORDS: Final = frozenset().union(*[dialect.keywords for dialect in DIALECTS.values()])
_OF_WRAPPERS: Final = frozenset(("title", "description", "strict", "examples"))


def wrapped_schema(root: JSON) -> str | None:
    """Under which name an object that says nothing itself has a schema, as in a request.

    As a schema it would let every value through, for names that are no keywords are annotations.
    """
    if not isinstance(root, dict) or not _KEYWORDS.isdisjoint(root.keys() - _OF_WRAPPERS):
        return None
    return next((name for name in _WRAPPERS if _has_keywords(root.get(name))), None)


def _has_keywords(value: JSON) -> bool:
    """Whether something is an object with keywords of some draft."""
    return isinstance(value, dict) and not _KEYWORDS.isdisjoint(value)


def is_bare_properties(value: JSON) -> bool:
    """Whether something has schemas or types by names, and is none: `{"city": {"type": "string"}}`.

    As a schema it would let every value through.
    """
    if not isinstance(value, dict) or _has_keywords(value):
        return False
    return any([_has_keywords(v) or (isinstance(v, str) and v in TYPES) for v in value.values()])


def about_value(keyword: Keyword, value: JSON, dialect: Dialect) -> str | None:
    """A keyword has a value of the wrong form."""
    name = keyword.name
    if name == "type":
        return _about_type(value, dialect)
    if value is None:  # as libraries write a field that is not set
        return f"leave `{name}` out where there is none"
    if name == "items" and isinstance(value, list):
        if "prefixItems" in dialect.keywords:
            return "an array of schemas is `prefixItems` since draft 2020-12"
        return None
    if name == "required" and isinstance(value, bool):
        return "it stands beside `properties` and lists names"
    if name == "required" and isinstance(value, str):
        return f'write ["{value}"]'
    if name.startswith("exclusive"):
        if isinstance(value, bool):
            return "a boolean is draft 4: set $schema or dialect="
        if not isinstance(value, (str, list, dict)) and "const" not in dialect.keywords:
            bound = "minimum" if name == "exclusiveMinimum" else "maximum"
            return f"in {dialect.name} it is true beside `{bound}`, which has the number"
    if value in ("true", "false"):
        return f"write {value} without quotes"
    if isinstance(value, str) and value.lstrip("-").isdecimal():
        return f"write {value} without quotes"
    return _about_schemas(keyword, value)


def _about_type(value: JSON, dialect: Dialect) -> str | None:
    if "nullable" in dialect.keywords and (value == "null" or isinstance(value, list)):
        return "in OpenAPI 3.0 write one type, and `nullable: true` beside it to allow null"
    given = value if isinstance(value, list) else [value]
    if None in given:  # as YAML reads `type: null`
        return 'write "null" in quotes for null, or leave `type` out to allow every type'
    for name in given:
        if not isinstance(name, str) or name in TYPES:
            continue
        lower = name.lower()
        if lower in _FORMATS:
            return f'write {{"type": "string", "format": "{_FORMATS[lower]}"}}'
        if lower == "json_schema":
            return "a response_format is none: pass response_format['json_schema']['schema']"
        if lower == "json_object":
            return 'write {"type": "object"} for any object'
        if lower == "any":
            return "leave `type` out to allow every type"
        called = _CALLED.get(lower) or _similar(lower, TYPES)
        if called is not None:
            return f"JSON Schema calls it {called!r}"
    return None


def _about_schemas(keyword: Keyword, value: JSON) -> str | None:
    """Something that is no schema stands where there should be one."""
    parts: Iterable[tuple[object, JSON]] = ()
    if keyword.children == "schema":
        return _no_schema("it", value)
    if keyword.children == "schema map" and isinstance(value, dict):
        parts = value.items()
    elif keyword.children in ("schemas", "items") and isinstance(value, list):
        parts = enumerate(value)
    elif keyword.children == "schema map" and isinstance(value, list):
        return "write an object: each name with its schema"
    elif keyword.children == "schemas" and isinstance(value, dict):
        return "write an array of schemas, also for one"
    for step, part in parts:
        if not isinstance(part, (dict, bool)):
            return _no_schema(repr(step) if isinstance(step, str) else f"item {step}", part)
    return None


def _no_schema(what: str, value: JSON) -> str | None:
    if isinstance(value, str) and (value in TYPES or value.lower() in _CALLED):
        called = value if value in TYPES else _CALLED[value.lower()]
        return f'for {what} write {{"type": "{called}"}}'
    shown = "null" if value is None else repr(value)
    if len(shown) > 40:
        shown = shown[:37] + "..."
    return f"{what} is {shown}, which is no schema" if what != "it" else None


def about_keyword(name: str, dialect: Dialect) -> str | None:
    """A keyword is none of a dialect: another has it, or a similar one was meant."""
    for other in DIALECTS.values():
        if name in other.keywords:
            return f"no keyword of {dialect.name}, but of {other.name}"
    if name == "schema":  # of the object with `name` and `strict` that a response_format has
        return f"no keyword of {dialect.name}; if it is the schema that is meant, pass it alone"
    similar = _similar(name, dialect.keywords)
    if similar is not None:
        return f"no keyword of {dialect.name}; {similar!r} is one"
    return None


def about_reference(
    ref: str, root: JSON, pointer: str, above: JSON = None, key: str = ""
) -> str | None:
    """A reference leads nowhere.

    Args:
        ref: The reference.
        root: The document.
        pointer: Where the reference stands in it.
        above: The value in which `key` was looked for in vain, if it leads into the document.
        key: See `above`.
    """
    if not isinstance(root, dict):
        return None
    name = ref.rsplit("/", 1)[-1].removeprefix("#")
    for schema, place in _around(root, pointer):
        for container in ("$defs", "definitions"):
            held = schema.get(container)
            if name and isinstance(held, dict) and name in held:
                return f"there is a schema at {place}/{container}/{escape_pointer(name)}"
    if isinstance(above, dict) and key:
        if key in ("$defs", "definitions"):
            return next((f"it has {k!r}" for k in ("$defs", "definitions") if k in above), None)
        similar = _similar(key, above)
        return None if similar is None else f"it has {similar!r}"
    return None


def _around(root: JSON, pointer: str) -> list[tuple[dict[str, JSON], str]]:
    """The objects around a place with their pointers, the innermost first.

    A schema with definitions that was put into another has references that begin at its own root.
    """
    found: list[tuple[dict[str, JSON], str]] = []
    value, place = root, "#"
    for step in split_pointer(pointer):
        if isinstance(value, dict):
            found.append((value, place))
            value = value.get(step)
        elif isinstance(value, list) and (index := item_index(step, len(value))) is not None:
            value = value[index]
        else:
            break
        place += f"/{escape_pointer(step)}"
    return found[::-1]


def _similar(name: str, names: Iterable[str] | Mapping[str, object]) -> str | None:
    known = list(names)
    if len(known) > _MOST_KEYS or len(name) > 100:
        return None
    in_other_case = next((k for k in known if k.lower() == name.lower()), None)
    return in_other_case or next(iter(get_close_matches(name, known, 1, 0.75)), None)
