"""Validators that are Python functions: pydantic's own by name, a user's as what cannot be seen.

pydantic builds some types out of functions of its own. Those that only convert are passed through;
those that check are said in JSON Schema, or refused by name. A user's function is code: texts that
it rejects may be generated. Only what says nothing of its input at all, a `PlainValidator` without
a JSON schema, is refused.
"""

from __future__ import annotations

import functools
import inspect
import zoneinfo
from typing import TYPE_CHECKING, Any, Final

from constrain.frontends.pydantic.core import (
    JSON,
    Core,
    Never,
    Place,
    function_name,
    refuse,
)
from constrain.frontends.pydantic.network import EMAIL, IP_PATTERNS
from constrain.frontends.pydantic.strings import BASE64, BASE64_ASCII, BASE64_URL

if TYPE_CHECKING:
    from constrain.frontends.pydantic.reader import CoreReader

__all__ = ["read_function"]

_VALIDATORS: Final = "pydantic._internal._validators"
_LENGTHS: Final = ("min_length", "max_length")
_REFUSED: Final = {
    "pydantic.types.PathType.validate_file": "whether a file exists is nothing that a text says,",
    "pydantic.types.PathType.validate_directory": "whether a folder exists is nothing that a text "
    "says,",
    "pydantic.types.PathType.validate_new": "whether a path is free is nothing that a text says,",
    "pydantic.types.PathType.validate_socket": "whether a socket exists is nothing that a text "
    "says,",
    f"{_VALIDATORS}.import_string": "what can be imported is nothing that a text says,",
    "pydantic.types.PaymentCardNumber.validate": "the check digit of a card number",
    f"{_VALIDATORS}.pattern_either_validator": "a text that is a Python regular expression",
    f"{_VALIDATORS}.pattern_str_validator": "a text that is a Python regular expression",
    f"{_VALIDATORS}.pattern_bytes_validator": "a text that is a Python regular expression",
    f"{_VALIDATORS}.max_digits_validator": "a number of digits of a union",
    f"{_VALIDATORS}.decimal_places_validator": "a number of digits of a union",
    f"{_VALIDATORS}.multiple_of_validator": "`multiple_of` of a union",
}
_PREDICATE: Final = (
    "pydantic._internal._known_annotated_metadata.apply_known_metadata.<locals>.val_func"
)
_PASSED: Final = (
    "collections.",
    "operator.",
    "pydantic.functional_validators.",
    "pydantic.networks._Base",
    "pydantic.types.Secret",
    "pydantic.types._Secret",
    "pydantic._internal._generate_schema.",
    "pydantic._internal._std_types_schema.",
    "pydantic._internal._known_annotated_metadata.",
    "pydantic._internal._fields.",
    "pydantic._internal._decorators",
    "pydantic.root_model.",
    "pydantic.main.",
    "pydantic._internal._model_construction.",
    f"{_VALIDATORS}.sequence_validator",
    f"{_VALIDATORS}.defaultdict_validator",
    f"{_VALIDATORS}.deque_validator",
    f"{_VALIDATORS}.forbid_inf_nan_check",
    "pydantic._migration.",
)
"""Starts of the names of functions that accept whatever the schema inside of them accepts."""
_LIKE_THEIR_INNER: Final = (
    "pydantic.types.Secret",
    "pydantic.types._Secret",
    f"{_VALIDATORS}.deque_validator",
    _PREDICATE,
)
"""Those whose result is as long as that of the schema inside."""


def read_function(reader: CoreReader, core: Core, place: Place) -> JSON:
    """What a validating function takes, as far as can be seen."""
    name = function_name(core)
    if name is None:
        return _user_function(reader, core, place)
    if name in _REFUSED:
        raise refuse(_REFUSED[name], place)
    if name in IP_PATTERNS:
        return IP_PATTERNS[name]
    if name in ("pydantic.networks.EmailStr._validate", "pydantic.networks.NameEmail._validate"):
        return {"type": "string", "pattern": EMAIL}
    if name == "pydantic.types.ByteSize._validate":
        return {"type": "integer", "minimum": 0}
    if name == f"{_VALIDATORS}.validate_str_is_valid_iana_tz" or name.endswith(
        "validate_str_is_valid_iana_tz"
    ):
        return {"enum": sorted(zoneinfo.available_timezones())}
    if name.startswith("pydantic.types.Encoded"):
        return _encoded(reader, core, place)
    predicate = _predicate(core, name)
    if predicate in _PREDICATES:
        said = {"type": "string", "pattern": _PREDICATES[predicate]}
        return {"allOf": [reader.read(core["schema"], place), said]}
    bound = _known_bound(core, name)
    if bound is not None:
        return _bounded(reader, core, place, *bound)
    if name.startswith(_PASSED) and "schema" in core:
        return reader.read(core["schema"], place)
    raise refuse(f"the validator {name}", place)


def _user_function(reader: CoreReader, core: Core, place: Place) -> JSON:
    declared = core.get("json_schema_input_schema")
    if declared is None:
        declared = core.get("metadata", {}).get("pydantic_js_input_core_schema")
    if declared is not None and ("schema" in core or declared["type"] != "any"):
        return reader.read(declared, place)
    if "schema" in core:
        return reader.read(core["schema"], place)
    function = core["function"]["function"]
    raise refuse(
        f"a plain validator, {getattr(function, '__qualname__', function)}, which says nothing of "
        "its input,",
        place,
        hint="give it json_schema_input_type=..., or annotate with WithJsonSchema",
    )


def _encoded(reader: CoreReader, core: Core, place: Place) -> JSON:
    """Base64Bytes and its like; an encoder of the user's own is code."""
    function = core["function"]["function"]
    of_bytes = type(function.__self__).__name__ == "EncodedBytes"
    encoder = getattr(function.__self__.encoder, "__name__", "")
    if getattr(function.__self__.encoder, "__module__", "") != "pydantic.types":
        return reader.read(core["schema"], place)
    inner = core["schema"]
    if inner.get("min_length") or inner.get("max_length") is not None:
        raise refuse("the length of an encoded text", place)
    if not of_bytes:
        pattern = BASE64_ASCII
    else:
        pattern = BASE64_URL if encoder == "Base64UrlEncoder" else BASE64
    return {"type": "string", "pattern": pattern}


_PREDICATES: Final[dict[object, str]] = {
    str.islower: "^[\\x00-@\\[-\\x7f]*[a-z][\\x00-@\\[-\\x7f]*$",
    str.isupper: "^[\\x00-`{-\\x7f]*[A-Z][\\x00-`{-\\x7f]*$",
    str.isdigit: "^[0-9]+$",
    str.isascii: "^[\\x00-\\x7f]*$",
}
"""What `annotated_types.LowerCase` and its like ask, said of ASCII. Other predicates are code."""


def _predicate(core: Core, name: str) -> object:
    """The function that an `annotated_types.Predicate` calls, or None."""
    if name != _PREDICATE:
        return None
    annotation = inspect.getclosurevars(core["function"]["function"]).nonlocals.get("annotation")
    return getattr(annotation, "func", None) if type(annotation).__name__ == "Predicate" else None


def _known_bound(core: Core, name: str) -> tuple[str, Any] | None:
    """The constraint that pydantic could not put into the schema, such as `ge` of a union."""
    function = core["function"]["function"]
    if not isinstance(function, functools.partial) or not name.startswith(_VALIDATORS):
        return None
    known = [k for k in function.keywords if k in ("gt", "ge", "lt", "le", *_LENGTHS)]
    return (known[0], function.keywords[known[0]]) if len(known) == 1 else None


def _bounded(reader: CoreReader, core: Core, place: Place, name: str, value: Any) -> JSON:  # noqa: ANN401 - as pydantic has it
    """A bound that is checked on the result, said of each kind of result that it can be said of."""
    parts = []
    for one in _alternatives(reader, core["schema"]):
        if one["type"] not in _bounded_types(name):
            raise refuse(f"`{name}` of a type that it cannot be said of", place)
        try:
            parts.append(reader.read(_with_bound(one, name, value), place))
        except Never:
            continue
    if not parts:
        raise Never
    bounded = parts[0] if len(parts) == 1 else {"anyOf": parts}
    if reader.resolve(core["schema"])["type"] == "function-after":
        return {"allOf": [reader.read(core["schema"], place), bounded]}
    return bounded


def _alternatives(reader: CoreReader, core: Core) -> list[Core]:
    """The kinds of value that a schema makes, with the bounds around them put into each."""
    core = reader.resolve(core)
    if core["type"] in ("json-or-python", "lax-or-strict"):
        inner = core["json_schema"] if core["type"] == "json-or-python" else core["lax_schema"]
        return _alternatives(reader, inner)
    if core["type"] == "union":
        return [one for choice in reader.choices(core) for one in _alternatives(reader, choice)]
    if core["type"] in ("function-after", "function-wrap"):
        name = function_name(core)
        if name is None or name.startswith(_LIKE_THEIR_INNER):  # or a user's
            return _alternatives(reader, core["schema"])
        bound = _known_bound(core, name)
        if bound is not None:
            return [_with_bound(one, *bound) for one in _alternatives(reader, core["schema"])]
    return [core]


def _with_bound(core: Core, name: str, value: Any) -> Core:  # noqa: ANN401 - as pydantic has it
    """A schema with one more bound; the tighter of two of one name."""
    if core.get(name) is not None:
        tighter = max if name in ("gt", "ge", "min_length") else min
        value = tighter(core[name], value)
    return {**core, name: value}


def _bounded_types(name: str) -> frozenset[str]:
    if name in _LENGTHS:
        return frozenset({"str", "bytes", "list", "deque", "set", "frozenset", "dict"})
    return frozenset({"int", "float", "decimal", "date", "datetime", "timedelta"})
