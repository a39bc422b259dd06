"""pydantic's core schemas as data: what a part of one is called, and where it stands.

A core schema is what pydantic validates with: nested dicts with a `type`. It is the only full
account of what is accepted; the JSON Schema that pydantic publishes leaves out what its keywords
cannot say.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from constrain.errors import UnsupportedFeatureError

__all__ = [
    "JSON",
    "VALIDATORS",
    "Core",
    "Never",
    "Omitted",
    "Place",
    "function_name",
    "read_bounds",
    "refuse",
    "setting",
    "step_in",
]

Core: TypeAlias = dict[str, Any]
JSON: TypeAlias = Any
"""A JSON Schema: a dict, or True and False."""


class Never(Exception):
    """No JSON text validates here: a type that only Python objects have."""


class Omitted(Never):
    """A hook asks to leave a type out of the schema.

    Attributes:
        schema: What it is, for where it cannot be left out.
    """

    def __init__(self, schema: JSON) -> None:
        super().__init__()
        self.schema = schema


@dataclass(frozen=True, slots=True)
class Place:
    """Where a core schema stands, and the configuration that holds there.

    Attributes:
        path: For messages: `Order.items[]`.
        config: pydantic's core config of the innermost model.
        as_key: The text is the key of an object, so it is a string whatever its type.
        hashed: It becomes part of a set, or of what is in one.
    """

    path: str
    config: Core
    as_key: bool = False
    hashed: bool = False

    def at(self, step: str) -> Place:
        """The place one step further in."""
        return replace(self, path=f"{self.path}{step}", as_key=False)

    def within(self, config: Core) -> Place:
        """The same place under the configuration of a class."""
        return replace(self, config=config)


def setting(core: Core, place: Place, name: str, config_name: str | None = None) -> Any:  # noqa: ANN401 - as pydantic has it
    """A setting of a core schema, or of the configuration around it; None where neither says."""
    value = core.get(name)
    return place.config.get(config_name or name) if value is None else value


_CONVERTED: Final = ("int", "fraction", "date", "datetime", "time", "timedelta")
"""Types whose bounds pydantic converts when it builds a validator: `ge="2024-02-29"` of a date."""
_BOUNDS: Final = ("ge", "gt", "le", "lt", "multiple_of")
_COUNTS: Final = ("min_length", "max_length", "max_digits", "decimal_places")


def read_bounds(core: Core) -> Core:
    """A core schema with bounds of its own type, as pydantic reads them."""
    kind = core["type"]
    read = {name: int(core[name]) for name in _COUNTS if isinstance(core.get(name), bool)}
    given = [name for name in _BOUNDS if core.get(name) is not None]
    if given and kind in _CONVERTED:
        from pydantic_core import SchemaValidator

        convert = SchemaValidator({"type": kind}).validate_python
        read |= {name: convert(core[name]) for name in given}
    return {**core, **read} if read else core


_WAY_OUT: Final = "say what is written instead: Annotated[..., WithJsonSchema({...})]"


def refuse(what: str, place: Place, hint: str = _WAY_OUT) -> UnsupportedFeatureError:
    """A refusal that names the field, and the way out: there the user's word is taken."""
    return UnsupportedFeatureError(f"{what} at {place.path}", hint=hint)


_STEPS: Final = ("function-after", "function-before", "function-wrap", "default", "custom-error")
"""Types that hold one schema, in `schema`, for the same input."""


def step_in(core: Core) -> Core | None:
    """The schema that gets the same input as `core` and decides most about it, if there is one."""
    kind = core["type"]
    if kind in _STEPS or kind == "model":
        return core["schema"]  # type: ignore[no-any-return]
    if kind == "json-or-python":
        return core["json_schema"]  # type: ignore[no-any-return]
    if kind == "lax-or-strict":
        return core["lax_schema"]  # type: ignore[no-any-return]
    if kind == "chain":
        return core["steps"][0]  # type: ignore[no-any-return]
    return None


def function_name(core: Core) -> str | None:
    """`module.qualified.name` of a validator that pydantic itself brings; None for a user's.

    A class counts by its own module: `ipaddress.IPv4Address`.
    """
    function = core["function"]["function"]
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    module = getattr(function, "__module__", None) or ""
    name = f"{module}.{getattr(function, '__qualname__', '')}"
    return name if module.partition(".")[0] in _OWN_MODULES else None


VALIDATORS: Final = "pydantic._internal._validators"
"""The module of the functions that pydantic checks with."""
_OWN_MODULES: Final = ("pydantic", "pydantic_core", "ipaddress", "collections", "operator")
