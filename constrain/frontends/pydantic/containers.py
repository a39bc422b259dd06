"""Lists, tuples, sets and dicts.

Sets and dicts can come out smaller than the text is long: `{"1": 0, "01": 0}` is one key of a
`dict[int, int]`. So where at least two members are asked for, their type must be one whose
different texts are different values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from constrain.frontends.pydantic.core import (
    JSON,
    Core,
    Never,
    Place,
    function_name,
    refuse,
    step_in,
)

if TYPE_CHECKING:
    from constrain.frontends.pydantic.reader import CoreReader

__all__ = ["SCALAR", "read_dict", "read_list", "read_set", "read_tuple"]

_SCALARS: Final = {
    "none", "bool", "int", "float", "decimal", "str", "bytes", "date", "time", "datetime",
    "timedelta", "literal", "enum", "url", "multi-host-url", "uuid", "complex", "fraction",
}  # fmt: skip
SCALAR: Final = {"type": ["null", "boolean", "number", "string"]}
"""What any value must be to go into a set: arrays and objects cannot be hashed."""
_FAITHFUL: Final = {"int", "date", "str"}


def _lengths(schema: Core, core: Core, least: str, most: str) -> JSON:
    if core.get("min_length"):
        schema[least] = core["min_length"]
    if core.get("max_length") is not None:
        schema[most] = core["max_length"]
    return schema


def _item(reader: CoreReader, core: Core | None, place: Place) -> JSON:
    """The schema of an item; False where there can be none."""
    if core is None:
        return True
    try:
        return reader.read(core, place)
    except Never:
        return False


def read_list(reader: CoreReader, core: Core, place: Place) -> JSON:
    """A list, and what else is an array of items of one type."""
    items = _item(reader, core.get("items_schema"), place.at("[]"))
    return _lengths({"type": "array", "items": items}, core, "minItems", "maxItems")


def read_tuple(reader: CoreReader, core: Core, place: Place) -> JSON:
    """A tuple of fixed length, or with items of one type at its end."""
    items = core["items_schema"]
    rest = core.get("variadic_item_index")
    if rest is not None and rest != len(items) - 1:
        raise refuse("a tuple with items after the repeated ones", place)
    fixed = items if rest is None else items[:rest]
    schema: Core = {"type": "array", "minItems": len(fixed)}
    if fixed:
        schema["prefixItems"] = [
            reader.read(item, place.at(f"[{index}]")) for index, item in enumerate(fixed)
        ]
    if rest is None:
        schema["maxItems"] = len(fixed)
    else:
        schema["items"] = _item(reader, items[rest], place.at("[]"))
    bounds = _lengths({}, core, "minItems", "maxItems")
    return {"allOf": [schema, bounds]} if bounds else schema


def read_set(reader: CoreReader, core: Core, place: Place) -> JSON:
    """A set or frozenset: different items, of a type that can be in a set."""
    item = core.get("items_schema")
    inner = replace(place.at("[]"), hashed=True)
    items: JSON = SCALAR
    if item is not None:
        items = _item(reader, item, inner) if _hashable(reader, item, set()) else False
    if (core.get("min_length") or 0) >= 2 and not _faithful(reader, item, inner):
        raise refuse("a set of at least two items whose texts may differ for one value", inner)
    schema = {"type": "array", "items": items, "uniqueItems": True}
    return _lengths(schema, core, "minItems", "maxItems")


def read_dict(reader: CoreReader, core: Core, place: Place) -> JSON:
    """A dict, and what else is an object of keys and values of one type each."""
    values = _item(reader, core.get("values_schema"), place.at(".*"))
    schema: Core = {"type": "object", "additionalProperties": values}
    keys = core.get("keys_schema")
    if keys is not None:
        inner = Place(f"{place.path}.keys()", place.config, as_key=True)
        try:
            names = reader.read(keys, inner) if _hashable(reader, keys, set()) else False
        except Never:
            names = False
        if names not in (True, {"type": "string"}):
            schema["propertyNames"] = names
        if (core.get("min_length") or 0) >= 2 and not _faithful(reader, keys, inner):
            raise refuse("a dict of at least two keys whose texts may differ for one value", inner)
    return _lengths(schema, core, "minProperties", "maxProperties")


def _faithful(reader: CoreReader, core: Core | None, place: Place) -> bool:
    """Whether different values of a text are surely different Python values."""
    if core is None:
        return False
    core = reader.resolve(core)
    if core["type"] == "str":
        names = ("strip_whitespace", "to_lower", "to_upper")
        return not any([core.get(n) or place.config.get(f"str_{n}") for n in names])
    if core["type"] == "literal":
        return _are_of_one_type(core["expected"])
    if core["type"] == "enum":
        return _are_of_one_type([member.value for member in core["members"]])
    if core["type"] == "nullable":
        return _faithful(reader, core["schema"], place)
    if core["type"] == "tuple":
        return all([_faithful(reader, item, place) for item in core["items_schema"]])
    if core["type"] in ("bool", "none"):
        return not place.as_key  # a key can be `true`, `1` or `yes`
    return core["type"] in _FAITHFUL


def _are_of_one_type(values: list[Any]) -> bool:
    """Whether all are str, or all int: 1, True and 1.0 are equal."""
    ints = [isinstance(value, int) and not isinstance(value, bool) for value in values]
    return all(ints) or all([isinstance(value, str) for value in values])


def _hashable(reader: CoreReader, core: Core, seen: set[int]) -> bool:
    """Whether what a core schema makes can be put into a set, as far as can be seen."""
    core = reader.resolve(core)
    if id(core) in seen:
        return True
    seen.add(id(core))
    kind = core["type"]
    if kind.startswith("function-") and function_name(core) is None:
        return True
    if kind in _SCALARS or kind == "any":
        return True
    if kind == "nullable":
        return _hashable(reader, core["schema"], seen)
    if kind == "tuple":
        return all([_hashable(reader, item, seen) for item in core["items_schema"]])
    if kind in ("frozenset", "frozendict"):
        return True
    if kind == "union":
        return all([_hashable(reader, one, seen) for one in reader.choices(core)])
    if kind == "tagged-union":
        return all([_hashable(reader, one, seen) for one in core["choices"].values()])
    if kind in ("model", "dataclass"):
        cls = core["cls"]
        if cls.__hash__ is None:
            return False
        parts = reader.field_schemas(core["schema"])
        return all([_hashable(reader, part, seen) for part in parts])
    if kind == "function-plain":
        return True
    inner = step_in(core)
    return inner is not None and _hashable(reader, inner, seen)
