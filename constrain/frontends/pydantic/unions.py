"""Unions, literals and enums.

pydantic tries the choices of a union and takes one that validates, so a text of any choice will
do. Not so a discriminated union: there the tag decides, and it must be there even where the choice
has a default for it.
"""

from __future__ import annotations

import enum
import json
from typing import TYPE_CHECKING, Any

from constrain.frontends.pydantic.core import JSON, Core, Never, Place, refuse, step_in
from constrain.frontends.pydantic.objects import FIELD_TYPES, field_paths

if TYPE_CHECKING:
    from constrain.frontends.pydantic.reader import CoreReader

__all__ = ["read_enum", "read_literal", "read_nullable", "read_tagged_union", "read_union"]


def _any_of(schemas: list[JSON]) -> JSON:
    if not schemas:
        raise Never
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def read_nullable(reader: CoreReader, core: Core, place: Place) -> JSON:
    """None, or what is inside."""
    if place.as_key:
        return reader.read(core["schema"], place)
    try:
        return {"anyOf": [reader.read(core["schema"], place), {"type": "null"}]}
    except Never:
        return {"type": "null"}


def read_union(reader: CoreReader, core: Core, place: Place) -> JSON:
    """Any of the choices that a JSON text can be."""
    schemas = []
    for choice in reader.choices(core):
        try:
            schemas.append(reader.read(choice, place))
        except Never:
            continue
    return _any_of(schemas)


def read_tagged_union(reader: CoreReader, core: Core, place: Place) -> JSON:
    """One choice for each tag. A callable discriminator is code; its choices are a plain union."""
    discriminator = core["discriminator"]
    tags: dict[int, list[Any]] = {}
    cores: dict[int, Core] = {}
    for tag, choice in core["choices"].items():
        while isinstance(choice, (str, int)):  # the tag of another choice, in older versions
            choice = core["choices"][choice]
        key = id(reader.resolve(choice))
        tags.setdefault(key, []).append(tag.value if isinstance(tag, enum.Enum) else tag)
        cores.setdefault(key, choice)
    schemas = []
    for key, choice in cores.items():
        try:
            schema = reader.read(choice, place)
        except Never:
            continue
        if not callable(discriminator):
            name = _tag_key(reader, discriminator, choice, place)
            tagged = {"properties": {name: {"enum": tags[key]}}, "required": [name]}
            schema = {"allOf": [schema, tagged]}
        schemas.append(schema)
    return _any_of(schemas)


def _tag_key(reader: CoreReader, discriminator: Any, choice: Core, place: Place) -> str:  # noqa: ANN401 - as pydantic has it
    """The key under which a choice has its tag."""
    paths = [discriminator] if isinstance(discriminator, str) else list(discriminator)
    if isinstance(discriminator, list) and not any([isinstance(p, list) for p in discriminator]):
        paths = [discriminator]  # one path
    keys = [p if isinstance(p, str) else p[0] for p in paths if isinstance(p, str) or len(p) == 1]
    written = _written_keys(reader, choice, place)
    for key in keys:
        if key in written:
            return str(key)
    raise refuse("a discriminator that is no key of each choice", place)


def _written_keys(reader: CoreReader, choice: Core, place: Place) -> set[str]:
    """The keys that every text of a choice may have."""
    choice = reader.resolve(choice)
    config = choice.get("config") or place.config
    if choice["type"] in FIELD_TYPES:
        fields = choice["fields"]
        pairs = fields.items() if isinstance(fields, dict) else [(f["name"], f) for f in fields]
        found = set()
        for name, field in pairs:
            plain = [p for p in field_paths(name, field, choice, place) if len(p) == 1]
            if plain:
                found.add(str(plain[0][0]))
        return found
    if choice["type"] == "tagged-union":
        inner = [
            _written_keys(reader, one, place)
            for one in choice["choices"].values()
            if not isinstance(one, (str, int))
        ]
        return set.intersection(*inner) if inner else set()
    if choice["type"] == "dataclass":
        following: Core | None = choice["schema"]
    else:
        following = step_in(choice)
    if following is None:
        return set()
    return _written_keys(reader, following, Place(place.path, config))


def read_literal(reader: CoreReader, core: Core, place: Place) -> JSON:
    """The values of a Literal that JSON can say."""
    values = [v.value if isinstance(v, enum.Enum) else v for v in core["expected"]]
    return _values(reader, core, values, place)


def read_enum(reader: CoreReader, core: Core, place: Place) -> JSON:
    """The values of an Enum that JSON can say."""
    return _values(reader, core, [member.value for member in core["members"]], place)


def _values(reader: CoreReader, core: Core, values: list[Any], place: Place) -> JSON:
    """The values that pydantic itself takes, tried one by one."""
    found: list[Any] = []
    for value in values:
        text = _text(value)
        if text is None:
            continue
        if place.as_key:
            key = value if isinstance(value, str) else text
            if key not in found and reader.takes_key(core, key, place):
                found.append(key)
        elif reader.takes(core, text, place) and not any(
            [value == one and type(value) is type(one) for one in found]
        ):
            found.append(value)
    if not found:
        raise Never
    return {"enum": [json.loads(json.dumps(value)) for value in found]}


def _text(value: object) -> str | None:
    """The JSON text of a value, or None where it has none that reads back as it was."""
    if value is None or isinstance(value, (str, int, float)):
        try:
            return json.dumps(value, allow_nan=False)
        except ValueError:
            return None
    return None
