"""A core schema, read into a JSON Schema that says what validates and no more.

One function for each type of core schema, found in a table. Named schemas (models, enums) become
definitions, read one after the other, so that models may refer to each other without end. Depth
inside of one definition is that of the annotation, which Python's own recursion has gone through
before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from constrain.frontends.pydantic.containers import (
    SCALAR,
    read_dict,
    read_list,
    read_set,
    read_tuple,
)
from constrain.frontends.pydantic.core import (
    JSON,
    Core,
    Never,
    Place,
    function_name,
    read_bounds,
    refuse,
    setting,
    step_in,
)
from constrain.frontends.pydantic.functions import read_function
from constrain.frontends.pydantic.hooks import class_extra, with_hooks
from constrain.frontends.pydantic.json_text import read_json_text
from constrain.frontends.pydantic.network import read_multi_host_url, read_url
from constrain.frontends.pydantic.numeric import read_decimal, read_float, read_fraction, read_int
from constrain.frontends.pydantic.objects import (
    FIELD_TYPES,
    read_arguments,
    read_fields,
    read_named_tuple,
)
from constrain.frontends.pydantic.results import read_text_steps
from constrain.frontends.pydantic.strings import read_bytes, read_complex, read_str, read_uuid
from constrain.frontends.pydantic.temporal import (
    read_date,
    read_datetime,
    read_time,
    read_timedelta,
)
from constrain.frontends.pydantic.unions import (
    read_enum,
    read_literal,
    read_nullable,
    read_tagged_union,
    read_union,
)

__all__ = ["CoreReader"]


class CoreReader:
    """Reads the core schema of one type, with all that it refers to."""

    def __init__(self, core: Core, config: Core, name: str) -> None:
        self._root = core
        self._place = Place(name, config)
        self._named: dict[str, Core] = {}
        self._names: dict[tuple[str, int, bool, bool], str] = {}
        self._bodies: dict[str, JSON] = {}
        self._todo: list[tuple[str, Core, Place]] = []
        self._reading: set[str] = set()
        self._validators: dict[int, tuple[Core, Any]] = {}

    def schema(self) -> JSON:
        """The whole schema, with its definitions.

        Raises:
            UnsupportedFeatureError: Something of the type cannot be said.
        """
        try:
            root = self.read(self._root, self._place)
        except Never:
            raise refuse("a type that no JSON text validates as", self._place) from None
        while self._todo:
            name, core, place = self._todo.pop()
            self._read_body(name, core, place)
        if not self._bodies:
            return root
        return {**({"allOf": [root]} if root in (True, False) else root), "$defs": self._bodies}

    def _read_body(self, name: str, core: Core, place: Place) -> None:
        if name in self._bodies:
            return
        self._reading.add(name)
        try:
            self._bodies[name] = with_hooks(self, core, place)
        except Never:
            self._bodies[name] = False
        self._reading.discard(name)

    # Names

    def resolve(self, core: Core) -> Core:
        """The schema that a reference means; any other as it is."""
        while core["type"] in ("definition-ref", "definitions"):
            if core["type"] == "definitions":
                self._note(core)
                core = core["schema"]
            else:
                core = self._named[core["schema_ref"]]
        return core

    def _note(self, core: Core) -> None:
        for one in core["definitions"]:
            self._named.setdefault(one["ref"], one)

    def definition(self, pointer: str) -> JSON:
        """What `#/$defs/name` is, read now if it was not yet.

        Raises:
            UnsupportedFeatureError: It is being read: a hook looks at the model that it is part of.
        """
        name = pointer.rpartition("/")[2]
        if name in self._reading:
            raise refuse(
                "a JSON schema hook that looks into a recursive model",
                self._place,
                hint="let the hook return what it adds, without resolve_ref_schema",
            )
        for waiting, core, place in list(self._todo):
            if waiting == name:
                self._read_body(name, core, place)
        return self._bodies[name]

    def read(self, core: Core, place: Place) -> JSON:
        """The schema of `core`, or a reference to it.

        Raises:
            UnsupportedFeatureError: It cannot be said.
            Never: No JSON text is one.
        """
        core = self.resolve(core)
        ref = core.get("ref")
        if ref is None:
            return with_hooks(self, core, place)
        self._named.setdefault(ref, core)
        key = (ref, 0 if _has_config(core) else id(place.config), place.as_key, place.hashed)
        name = self._names.get(key)
        if name is None:
            name = self._new_name(ref)
            self._names[key] = name
            path = name if not place.as_key else place.path
            self._todo.append((name, core, replace(place, path=path)))
        return {"$ref": f"#/$defs/{name}"}

    def _new_name(self, ref: str) -> str:
        short = re.sub(r"[^A-Za-z0-9_]+", "_", re.sub(r":\d+", "", ref).rpartition(".")[2]).strip(
            "_"
        )
        name, number = short or "T", 1
        taken = set(self._names.values())
        while name in taken:
            number += 1
            name = f"{short}_{number}"
        return name

    def read_bare(self, core: Core, place: Place) -> JSON:
        """The schema of `core` without what its metadata says."""
        kind = core["type"]
        if place.as_key and kind not in _KEYS:
            raise Never
        read = _READERS.get(kind)
        if read is None:
            raise refuse(f"pydantic's {kind!r} schema", place)
        return read(self, read_bounds(core), place)

    def read_field(self, field: Core, place: Place) -> JSON:
        """The schema of a field's value, and what the field's metadata says of it."""
        return with_hooks(self, field, place)

    # Questions of other readers

    def choices(self, core: Core) -> list[Core]:
        """The choices of a union, without their labels."""
        return [one[0] if isinstance(one, tuple) else one for one in core["choices"]]

    def field_schemas(self, core: Core) -> list[Core]:
        """The schemas of an object's fields; of anything else, itself."""
        if core["type"] not in FIELD_TYPES:
            return [core]
        fields = core["fields"]
        values = fields.values() if isinstance(fields, dict) else fields
        return [field["schema"] for field in values]

    def needs_value(self, core: Core, place: Place) -> bool:
        """Whether a field must be written because its default is validated and would fail."""
        if core["type"] != "default" or not setting(core, place, "validate_default"):
            return False
        if "default" not in core:
            return True  # made by a function, which is not called here
        try:
            self._validator(core["schema"], place.config).validate_python(core["default"])
        except Exception:  # pydantic's, or whatever a validator of the user's raises
            return True
        return False

    def takes(self, core: Core, text: str, place: Place) -> bool:
        """Whether pydantic validates a text as `core`."""
        return self._validates(core, text, place)

    def takes_key(self, core: Core, key: str, place: Place) -> bool:
        """Whether pydantic validates a key as `core`."""
        import json

        keyed = {"type": "dict", "keys_schema": _without_ref(core)}
        return self._validates(core, json.dumps({key: None}), place, keyed)

    def _validates(self, core: Core, text: str, place: Place, keyed: Core | None = None) -> bool:
        known = self._validators.get(id(core))
        if known is None:
            known = (core, self._validator(keyed or _without_ref(core), place.config))
            self._validators[id(core)] = known
        try:
            known[1].validate_json(text)
        except Exception:  # pydantic's, or whatever a validator of the user's raises
            return False
        return True

    def _validator(self, core: Core, config: Core) -> Any:  # noqa: ANN401 - pydantic is imported late
        from pydantic_core import SchemaValidator

        named = list(self._named.values())
        whole = {"type": "definitions", "schema": core, "definitions": named} if named else core
        return SchemaValidator(whole, config or None)  # type: ignore[arg-type]


def _has_config(core: Core) -> bool:
    """Whether what a schema says is the same in every configuration around it."""
    inner: Core | None = core
    while inner is not None:
        if inner["type"] in ("model", "dataclass", "enum") or inner.get("config") is not None:
            return True
        inner = step_in(inner)
    return False


def _without_ref(core: Core) -> Core:
    return {key: value for key, value in core.items() if key not in ("ref", "metadata")}


Read = Callable[[CoreReader, Core, Place], JSON]


def _scalar(read: Callable[[Core, Place], JSON]) -> Read:
    return lambda reader, core, place: read(core, place)


def _inner(reader: CoreReader, core: Core, place: Place) -> JSON:
    return reader.read(core["schema"], place)


def _never(reader: CoreReader, core: Core, place: Place) -> JSON:
    raise Never


def _missing(reader: CoreReader, core: Core, place: Place) -> JSON:
    if "schema" not in core:
        raise Never
    return reader.read(core["schema"], place)


def _bool(reader: CoreReader, core: Core, place: Place) -> JSON:
    return {"enum": ["true", "false"]} if place.as_key else {"type": "boolean"}


def _json_or_python(reader: CoreReader, core: Core, place: Place) -> JSON:
    return reader.read(core["json_schema"], place)


def _lax_or_strict(reader: CoreReader, core: Core, place: Place) -> JSON:
    strict = setting(core, place, "strict")
    return reader.read(core["strict_schema" if strict else "lax_schema"], place)


def _chain(reader: CoreReader, core: Core, place: Place) -> JSON:
    """The first step reads the text, and the others what it made: the same, unless a user's did."""
    first, *others = core["steps"]
    if first["type"] == "any" and [step["type"] for step in others] == ["is-instance"]:
        return _instances(others[0]["cls"])
    parts = [reader.read(first, place)]
    inner = first
    while inner["type"] in ("function-after", "function-before", "function-wrap"):
        if function_name(inner) is None:
            return parts[0]
        inner = inner["schema"]
    parts += read_text_steps(reader, first, others, place)
    return parts[0] if len(parts) == 1 else {"allOf": parts}


def _instances(cls: type) -> JSON:
    """The values of JSON that are instances of a class, such as `Hashable`."""
    values: dict[str, Any] = {
        "null": None,
        "boolean": True,
        "string": "",
        "array": [],
        "object": {},
    }
    kinds = [kind for kind, value in values.items() if isinstance(value, cls)]
    if isinstance(0, cls):
        kinds.append("number" if isinstance(0.5, cls) else "integer")
    if not kinds:
        raise Never
    return {"type": kinds}


def _model(reader: CoreReader, core: Core, place: Place) -> JSON:
    cls = core["cls"]
    inner = place.within(core.get("config") or {})
    schema = reader.read(core["schema"], inner)
    extra = cls.model_config.get("json_schema_extra")
    if core.get("root_model"):
        extra = extra or cls.model_fields["root"].json_schema_extra
    return class_extra(schema, extra, cls, place)


def _dataclass(reader: CoreReader, core: Core, place: Place) -> JSON:
    cls, config = core["cls"], core.get("config")
    inner = place.within(place.config if config is None else config)
    schema = reader.read(core["schema"], inner)
    extra = (getattr(cls, "__pydantic_config__", None) or {}).get("json_schema_extra")
    return class_extra(schema, extra, cls, place)


def _typed_dict(reader: CoreReader, core: Core, place: Place) -> JSON:
    cls, config = core.get("cls"), core.get("config")
    inner = place.within(place.config if config is None else config)
    schema = read_fields(reader, core, inner)
    if cls is None:
        return schema
    extra = (getattr(cls, "__pydantic_config__", None) or {}).get("json_schema_extra")
    return class_extra(schema, extra, cls, place)


def _call(reader: CoreReader, core: Core, place: Place) -> JSON:
    return reader.read(core["arguments_schema"], place)


_READERS: Final[dict[str, Read]] = {
    "any": lambda reader, core, place: SCALAR if place.hashed else True,
    "none": lambda reader, core, place: {"type": "null"},
    "bool": _bool,
    "int": _scalar(read_int),
    "float": _scalar(read_float),
    "decimal": _scalar(read_decimal),
    "fraction": _scalar(read_fraction),
    "complex": _scalar(read_complex),
    "str": _scalar(read_str),
    "bytes": _scalar(read_bytes),
    "uuid": _scalar(read_uuid),
    "url": _scalar(read_url),
    "multi-host-url": _scalar(read_multi_host_url),
    "date": _scalar(read_date),
    "time": _scalar(read_time),
    "datetime": _scalar(read_datetime),
    "timedelta": _scalar(read_timedelta),
    "literal": read_literal,
    "enum": read_enum,
    "nullable": read_nullable,
    "union": read_union,
    "tagged-union": read_tagged_union,
    "list": read_list,
    "deque": read_list,
    "generator": read_list,
    "tuple": read_tuple,
    "set": read_set,
    "frozenset": read_set,
    "dict": read_dict,
    "frozendict": read_dict,
    "ordered-dict": read_dict,
    "counter": read_dict,
    "model": _model,
    "model-fields": read_fields,
    "dataclass": _dataclass,
    "dataclass-args": read_fields,
    "typed-dict": _typed_dict,
    "named-tuple": read_named_tuple,
    "arguments": read_arguments,
    "call": _call,
    "function-before": read_function,
    "function-after": read_function,
    "function-wrap": read_function,
    "function-plain": read_function,
    "default": _inner,
    "custom-error": _inner,
    "model-field": _inner,
    "dataclass-field": _inner,
    "typed-dict-field": _inner,
    "chain": _chain,
    "lax-or-strict": _lax_or_strict,
    "json-or-python": _json_or_python,
    "json": read_json_text,
    "is-instance": _never,
    "is-subclass": _never,
    "callable": _never,
    "missing-sentinel": _missing,
    "ellipsis": _never,
}

_KEYS: Final = frozenset(
    {
        "any", "bool", "int", "float", "decimal", "fraction", "complex", "str", "bytes", "uuid",
        "url", "multi-host-url", "date", "time", "datetime", "timedelta", "literal", "enum",
        "nullable", "union", "function-before", "function-after", "function-wrap",
        "function-plain", "default", "custom-error", "chain", "lax-or-strict", "json-or-python",
        "model",
    }
)  # fmt: skip
"""Types that the key of an object can be read as. A model is one only by its root."""
