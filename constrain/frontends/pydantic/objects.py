"""Models, dataclasses, TypedDicts and named tuples: fields under the names that pydantic reads.

A field can have several names: aliases in an order of preference, paths into other values, its own
name. One of them is written, the first that is a plain key; the others are kept out of the text,
because pydantic would find them. Keys that no field has are written only for `extra="allow"`:
pydantic ignores them otherwise, or refuses them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from constrain.errors import UnsupportedFeatureError
from constrain.frontends.pydantic.core import JSON, Core, Never, Omitted, Place, refuse

if TYPE_CHECKING:
    from constrain.frontends.pydantic.reader import CoreReader

__all__ = ["FIELD_TYPES", "field_paths", "read_arguments", "read_fields", "read_named_tuple"]

FIELD_TYPES: Final = ("model-fields", "typed-dict", "dataclass-args")
_AS_MODEL: Final = "make the parameters the fields of a model"
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Field:
    """One field.

    Attributes:
        name: In Python.
        core: The schema of its value.
        field: The core field around it.
        required: It has no default.
        paths: Where pydantic looks for it, in its order of preference.
    """

    name: str
    core: Core
    field: Core
    required: bool
    paths: tuple[Path, ...]


def _fields(core: Core, place: Place) -> Iterable[_Field]:
    fields = core["fields"]
    pairs = fields.items() if isinstance(fields, dict) else [(f["name"], f) for f in fields]
    for name, field in pairs:
        if field.get("init") is False:
            continue
        required = field.get("required")
        if required is None:
            required = field["schema"]["type"] != "default"
            if core["type"] == "typed-dict":
                total = core.get("total")
                total = place.config.get("typed_dict_total") if total is None else total
                required = total is not False
        yield _Field(name, field["schema"], field, required, field_paths(name, field, core, place))


def field_paths(name: str, field: Core, core: Core, place: Place) -> tuple[Path, ...]:
    """Where pydantic looks for a field, in its order of preference."""
    alias = field.get("validation_alias")
    config = place.config
    by_alias = config.get("validate_by_alias")
    by_name = config.get("validate_by_name") or config.get("populate_by_name")
    by_name = by_name or core.get("populate_by_name")
    paths: list[Path] = []
    if alias is not None and by_alias is not False:
        if isinstance(alias, str):
            paths.append((alias,))
        elif alias and isinstance(alias[0], list):
            paths += [tuple(path) for path in alias]
        else:
            paths.append(tuple(alias))
    if not paths or by_name:
        paths.append((name,))
    return tuple(dict.fromkeys(paths))


class _Properties:
    """The properties of one object, as they are found."""

    def __init__(self, forbids: bool) -> None:
        self._forbids = forbids
        self.schemas: dict[str, list[JSON]] = {}
        self.required: list[str] = []
        self.shadows: list[str] = []

    def add(self, path: Path, schema: JSON, *, required: bool) -> None:
        """Ask for a value at a path; not required, it must fit where it is there."""
        key = path[0]
        assert isinstance(key, str)
        for step in reversed(path[1:]):
            # Where other keys are forbidden, a key in which nothing is found is another.
            schema = _inside(step, schema, required or self._forbids)
        self.schemas.setdefault(key, []).append(schema)
        if required and key not in self.required:
            self.required.append(key)


def _inside(step: str | int, schema: JSON, required: bool) -> JSON:
    """A value whose part at `step` fits."""
    if isinstance(step, str):
        made: Core = {"type": "object", "properties": {step: schema}, "additionalProperties": False}
        return {**made, "required": [step]} if required else made
    array: Core = {"type": "array", "prefixItems": [True] * step + [schema]}
    return {**array, "minItems": step + 1} if required else array


def read_fields(reader: CoreReader, core: Core, place: Place) -> JSON:
    """An object with the fields of a class."""
    properties = _Properties(_extra(core, place) == "forbid")
    fields = list(_fields(core, place))
    for field in fields:
        _add_field(reader, field, properties, place)
    for field in fields:
        written = field.paths.index(_written(field))
        for index, path in enumerate(field.paths):
            if index == written:
                continue
            key = path[0]
            assert isinstance(key, str)
            if key not in properties.schemas:
                properties.shadows.append(key)
            elif index < written or not _must_be_written(reader, field, place):
                # pydantic may look there, and it has another use: what is there must do for both.
                _add_other(reader, field, path, properties, place)
    schema: Core = {"type": "object", "properties": {}}
    for key, parts in properties.schemas.items():
        schema["properties"][key] = parts[0] if len(parts) == 1 else {"allOf": parts}
    if properties.required:
        schema["required"] = properties.required
    return _with_extra(reader, core, schema, properties.shadows, place)


def _written(field: _Field) -> Path:
    plain = [path for path in field.paths if len(path) == 1]
    return plain[0] if plain else field.paths[0]


def _must_be_written(reader: CoreReader, field: _Field, place: Place) -> bool:
    return field.required or reader.needs_value(field.core, place)


def _check_path(field: _Field, path: Path, place: Place) -> None:
    if any([isinstance(step, int) and step < 0 for step in path]):
        raise refuse(
            "an alias that counts from the end of an array",
            place.at(f".{field.name}"),
            hint="count from the start, or give it another alias",
        )


def _add_field(reader: CoreReader, field: _Field, properties: _Properties, place: Place) -> None:
    inner = place.at(f".{field.name}")
    path = _written(field)
    _check_path(field, path, inner)
    required = _must_be_written(reader, field, place)
    try:
        schema = reader.read_field(field.field, inner)
    except Never as never:
        if required and isinstance(never, Omitted):
            schema = never.schema
        elif required:
            raise refuse(
                "a type that no JSON text validates as",
                inner,
                hint="give the field a default, or a type that JSON can say",
            ) from None
        else:
            schema, required = False, False
    properties.add(path, schema, required=required)


def _add_other(
    reader: CoreReader, field: _Field, path: Path, properties: _Properties, place: Place
) -> None:
    _check_path(field, path, place)
    if _written(field)[0] == path[0]:
        raise refuse(
            "two aliases below one key",
            place.at(f".{field.name}"),
            hint="leave all but one of them out",
        )
    try:
        schema = reader.read_field(field.field, place.at(f".{field.name}"))
    except (Never, UnsupportedFeatureError):
        schema = False
    properties.add(path, schema, required=False)


def _extra(core: Core, place: Place) -> str | None:
    return core.get("extra_behavior") or place.config.get("extra_fields_behavior")


def _with_extra(
    reader: CoreReader, core: Core, schema: Core, shadows: list[str], place: Place
) -> JSON:
    if _extra(core, place) != "allow":
        return {**schema, "additionalProperties": False}
    inner = place.at(".*")
    values: Any = True
    if core.get("extras_schema") is not None:
        try:
            values = reader.read(core["extras_schema"], inner)
        except Never:
            values = False
    for key in shadows:
        schema["properties"].setdefault(key, False)
    schema["additionalProperties"] = values
    if core.get("extras_keys_schema") is not None:
        try:
            names = reader.read(core["extras_keys_schema"], Place(inner.path, place.config, True))
        except Never:
            names = False
        declared = list(schema["properties"])
        schema["propertyNames"] = {"anyOf": [{"enum": declared}, names]} if declared else names
    return schema


def read_named_tuple(reader: CoreReader, core: Core, place: Place) -> JSON:
    """A named tuple: an array of its fields, of which the last may be missing."""
    fields = [(field["name"], field["schema"]) for field in core["fields"]]
    return _positional(reader, fields, None, place)


def read_arguments(reader: CoreReader, core: Core, place: Place) -> JSON:
    """The arguments of a call: an array; an object, where some can only be named."""
    arguments = core["arguments_schema"]
    modes = [argument.get("mode", "positional_or_keyword") for argument in arguments]
    if core.get("var_kwargs_schema") is not None or not set(modes) <= {
        "positional_only",
        "positional_or_keyword",
        "keyword_only",
    }:
        raise refuse("arguments of any name", place, hint=_AS_MODEL)
    if "keyword_only" not in modes:
        fields = [(argument["name"], argument["schema"]) for argument in arguments]
        return _positional(reader, fields, core.get("var_args_schema"), place)
    if "positional_only" in modes or core.get("var_args_schema") is not None:
        raise refuse("arguments by name and by position", place, hint=_AS_MODEL)
    if any([argument.get("alias") is not None for argument in arguments]):
        raise refuse("arguments with aliases", place, hint=_AS_MODEL)
    named = {a["name"]: {"type": "model-field", "schema": a["schema"]} for a in arguments}
    return read_fields(reader, {"type": "model-fields", "fields": named}, place)


def _positional(
    reader: CoreReader, fields: list[tuple[str, Core]], rest: Core | None, place: Place
) -> JSON:
    items = [reader.read(field, place.at(f".{name}")) for name, field in fields]
    needed = [
        index
        for index, (_, field) in enumerate(fields)
        if field["type"] != "default" or reader.needs_value(field, place)
    ]
    schema: Core = {"type": "array", "minItems": max(needed) + 1 if needed else 0}
    if items:
        schema["prefixItems"] = items
    if rest is None:
        schema["maxItems"] = len(items)
    else:
        schema["items"] = reader.read(rest, place.at("[]"))
    return schema
