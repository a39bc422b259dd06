"""What users say of their JSON Schema: `json_schema_extra`, `WithJsonSchema` and the hooks.

Such words can narrow what a text may be, and they can be wrong. So both hold: what the core schema
says, and what the user says, if it differs in more than titles. Only where a function of the user's
reads the text first (`BeforeValidator` and its like) do the user's words stand alone.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from constrain.errors import SchemaError, UnsupportedFeatureError
from constrain.frontends.pydantic.core import (
    JSON,
    Core,
    Never,
    Omitted,
    Place,
    function_name,
    refuse,
)

if TYPE_CHECKING:
    from constrain.frontends.pydantic.reader import CoreReader

__all__ = ["class_extra", "with_hooks"]

_ANNOTATIONS: Final = (
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "discriminator",
    "$comment",
)


class _Handler:
    """What a hook calls to get the schema that it changes."""

    mode = "validation"

    def __init__(self, reader: CoreReader, schema: JSON | None, core: Core, place: Place) -> None:
        self._reader = reader
        self._schema = schema
        self._core = core
        self._place = place

    def __call__(self, core: Core, /) -> JSON:
        if core is self._core:
            if self._schema is None:
                self._schema = self._reader.read_bare(core, self._place)
            return copy.deepcopy(self._schema)
        return copy.deepcopy(self._reader.read(core, self._place))

    def resolve_ref_schema(self, schema: JSON, /) -> JSON:
        """The schema that a reference means; as a copy, for it belongs to others, too."""
        while isinstance(schema, dict) and "$ref" in schema:
            schema = copy.deepcopy(self._reader.definition(schema["$ref"]))
        return schema


def with_hooks(reader: CoreReader, core: Core, place: Place) -> JSON:
    """The schema of `core`, and what its metadata says of it."""
    metadata = core.get("metadata") or {}
    functions = [f for f in metadata.get("pydantic_js_functions", ()) if not _says_nothing(f)]
    later = list(metadata.get("pydantic_js_annotation_functions", ()))
    updates, extra = metadata.get("pydantic_js_updates"), metadata.get("pydantic_js_extra")
    if not (functions or later or updates or extra):
        return reader.read_bare(core, place)
    try:
        own: JSON | None = reader.read_bare(core, place)
    except (UnsupportedFeatureError, Never):
        if not any(map(_is_users, (*functions, *later))):
            raise
        own = None
    told: JSON = own
    if own is not None:
        told = copy.deepcopy(own)
        if updates and _is_schema(told):
            told = {**told, **updates}
        if extra and _is_schema(told):
            told = _with_extra(told, extra)
    from pydantic_core import PydanticOmit

    for function in (*functions, *later):
        if told is None and not _is_users(function):
            continue  # pydantic's own hook would ask for what has been refused
        handler = _Handler(reader, told, core, place)
        try:
            told = function(core, handler)
        except PydanticOmit:
            raise Omitted(own) from None
    return _both(own, told, opaque=_reads_first(reader, core), place=place)


def _is_schema(schema: JSON) -> bool:
    return isinstance(schema, dict)


def _with_extra(schema: Core, extra: Any, cls: type | None = None) -> Core:  # noqa: ANN401 - a dict or a function
    if isinstance(extra, (staticmethod, classmethod)):
        extra = extra.__get__(cls)
    if callable(extra):
        extra(schema, cls) if _num_parameters(extra) > 1 else extra(schema)
        return schema
    return {**schema, **extra}


def _num_parameters(function: Callable[..., Any]) -> int:
    return len(inspect.signature(function).parameters)


def class_extra(schema: JSON, extra: Any, cls: type, place: Place) -> JSON:  # noqa: ANN401 - a dict or a function
    """The schema of a class, and what `json_schema_extra` of its configuration says."""
    if not extra or not isinstance(schema, dict):
        return schema
    told = _with_extra(_open(schema), extra, cls)
    return _both(schema, _hidden(schema, told), opaque=False, place=place)


def _open(schema: Core) -> Core:
    """A copy in which other keys are not spoken of, as in what pydantic publishes."""
    told: Core = copy.deepcopy(schema)
    if told.get("additionalProperties") is False:
        del told["additionalProperties"]
    return told


def _hidden(own: Core, told: Core) -> Core:
    """`told`, in which properties that were taken out may not come; those that must come may."""
    if "properties" not in own or not isinstance(told.get("properties"), dict):
        return told
    gone = [key for key in own["properties"] if key not in told["properties"]]
    optional = {key: False for key in gone if key not in own.get("required", ())}
    told = {**told, "properties": {**told["properties"], **optional}}
    if "additionalProperties" in own and "additionalProperties" not in told and not gone:
        told["additionalProperties"] = own["additionalProperties"]
    return told


def _both(own: JSON | None, told: JSON, *, opaque: bool, place: Place) -> JSON:
    if not isinstance(told, (dict, bool)):
        raise SchemaError(f"a JSON schema hook returned {told!r} at {place.path}, which is none")
    if own is not None and _bare(own) == _bare(told):
        return own
    told = _bare(told)
    if own is None and told in ({}, True):
        raise refuse("a type whose JSON schema says nothing", place, hint="say its `type` there")
    return told if own is None or opaque else {"allOf": [own, told]}


def _bare(schema: JSON) -> JSON:
    """A schema without its annotations, which pydantic and users write at the top."""
    if not isinstance(schema, dict):
        return schema
    return {key: value for key, value in schema.items() if key not in _ANNOTATIONS}


def _is_users(function: Any) -> bool:  # noqa: ANN401 - any callable
    """Whether a hook is the user's: their function, or their words in WithJsonSchema."""
    inner = getattr(function, "__func__", function)
    module = getattr(inner, "__module__", None) or ""
    name = getattr(inner, "__qualname__", "")
    return module.partition(".")[0] != "pydantic" or name.startswith("WithJsonSchema.")


def _says_nothing(function: Any) -> bool:  # noqa: ANN401 - any callable
    """Whether it is the hook that each model has and that changes nothing."""
    inner = getattr(function, "__func__", function)
    return getattr(inner, "__qualname__", "") == "BaseModel.__get_pydantic_json_schema__"


def _reads_first(reader: CoreReader, core: Core) -> bool:
    """Whether a user's function reads the text before pydantic does."""
    while True:
        kind = core["type"]
        if kind in ("function-before", "function-wrap", "function-plain"):
            if function_name(core) is None:
                return True
            if kind == "function-plain":
                return False
        if kind == "definition-ref":
            core = reader.resolve(core)
        elif kind in ("function-before", "function-wrap", "function-after", "default", "model"):
            core = core["schema"]
        elif kind.endswith("-field"):
            core = core["schema"]
        else:
            return False
