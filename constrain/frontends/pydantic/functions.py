"""Validators that are Python functions: pydantic's own by name, a user's as what cannot be seen.

pydantic builds some types out of functions of its own. Those that only convert are passed through;
those that check are said in JSON Schema, or refused by name. A user's function is code: texts that
it rejects may be generated. Only what says nothing of its input at all, a `PlainValidator` without
a JSON schema, is refused.
"""

from __future__ import annotations

import inspect
import math
import zoneinfo
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from constrain.frontends.pydantic.core import (
    JSON,
    VALIDATORS,
    Core,
    Never,
    Place,
    function_name,
    refuse,
    setting,
)
from constrain.frontends.pydantic.network import EMAIL, IP_PATTERNS
from constrain.frontends.pydantic.results import (
    BYTE_SIZE,
    PREDICATE,
    known_bound,
    read_bounded,
    read_finite,
)
from constrain.frontends.pydantic.strings import BASE64, BASE64_ASCII, BASE64_URL

if TYPE_CHECKING:
    from constrain.frontends.pydantic.reader import CoreReader

__all__ = ["read_function"]

_REFUSED: Final = {
    "pydantic.types.PathType.validate_file": "whether a file exists is nothing that a text says,",
    "pydantic.types.PathType.validate_directory": "whether a folder exists is nothing that a text "
    "says,",
    "pydantic.types.PathType.validate_new": "whether a path is free is nothing that a text says,",
    "pydantic.types.PathType.validate_socket": "whether a socket exists is nothing that a text "
    "says,",
    f"{VALIDATORS}.import_string": "what can be imported is nothing that a text says,",
    "pydantic.types.PaymentCardNumber.validate": "the check digit of a card number",
    f"{VALIDATORS}.pattern_either_validator": "a text that is a Python regular expression",
    f"{VALIDATORS}.pattern_str_validator": "a text that is a Python regular expression",
    f"{VALIDATORS}.pattern_bytes_validator": "a text that is a Python regular expression",
    f"{VALIDATORS}.max_digits_validator": "a number of digits of a union",
    f"{VALIDATORS}.decimal_places_validator": "a number of digits of a union",
    f"{VALIDATORS}.multiple_of_validator": "`multiple_of` of a union",
}
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
    f"{VALIDATORS}.sequence_validator",
    f"{VALIDATORS}.defaultdict_validator",
    f"{VALIDATORS}.deque_validator",
    "pydantic._migration.",
)
"""Starts of the names of functions that accept whatever the schema inside of them accepts."""


def read_function(reader: CoreReader, core: Core, place: Place) -> JSON:
    """What a validating function takes, as far as can be seen."""
    name = function_name(core)
    if name is None:
        return _user_function(reader, core, place)
    if name in _REFUSED:
        raise refuse(_REFUSED[name], place)
    if name in IP_PATTERNS:
        return _text(reader, core, place, IP_PATTERNS[name])
    if name in ("pydantic.networks.EmailStr._validate", "pydantic.networks.NameEmail._validate"):
        return _text(reader, core, place, {"type": "string", "pattern": EMAIL})
    if name == BYTE_SIZE:
        return {"type": "integer", "minimum": 0}
    if name == f"{VALIDATORS}.validate_str_is_valid_iana_tz" or name.endswith(
        "validate_str_is_valid_iana_tz"
    ):
        return {"enum": sorted(zoneinfo.available_timezones())}
    if name.startswith("pydantic.types.Encoded"):
        return _encoded(reader, core, place)
    said = _predicate(core, name)
    if said is not None:
        return _text(reader, core, place, said)
    bound = known_bound(core, name)
    if bound is not None:
        return read_bounded(reader, core, place, *bound)
    if name == f"{VALIDATORS}.forbid_inf_nan_check":
        return read_finite(reader, core, place)
    if name.startswith(_PASSED) and "schema" in core:
        return reader.read(core["schema"], place)
    raise refuse(f"the validator {name}", place)


def _text(reader: CoreReader, core: Core, place: Place, said: JSON) -> JSON:
    """What a function takes that gets a str, which may be bounded itself, by the configuration."""
    inner = reader.read(core["schema"], place) if "schema" in core else {"type": "string"}
    return said if inner == {"type": "string"} else {"allOf": [inner, said]}


def _user_function(reader: CoreReader, core: Core, place: Place) -> JSON:
    place = replace(place, hashed=False)  # what it makes is what must be hashable
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
    if of_bytes:
        if place.config.get("val_json_bytes") not in (None, "utf8"):
            raise refuse("an encoded text of encoded bytes", place)
        pattern = BASE64_URL if encoder == "Base64UrlEncoder" else BASE64
    else:
        pattern = BASE64_ASCII
        if any([setting(core["schema"], place, f"to_{c}", f"str_to_{c}") for c in _CASES]):
            raise refuse("an encoded text after a change of case", place)
    return _text(reader, core, place, {"type": "string", "pattern": pattern})


_CASES: Final = ("lower", "upper")


_ASCII: Final = "^[\\x00-\\x7f]*$"
_PREDICATES: Final[tuple[tuple[object, str], ...]] = (
    (str.islower, "^[\\x00-@\\[-\\x7f]*[a-z][\\x00-@\\[-\\x7f]*$"),
    (str.isupper, "^[\\x00-`{-\\x7f]*[A-Z][\\x00-`{-\\x7f]*$"),
    (str.isdigit, "^[0-9]+$"),
)
"""What `annotated_types.LowerCase` and its like ask, said of ASCII. Other predicates are code."""
_OF_EVERY_NUMBER: Final[tuple[tuple[object, bool], ...]] = (
    (math.isfinite, True),
    (math.isnan, False),
    (math.isinf, False),
)
"""What predicates answer for each number that is written: none is infinite."""


def _predicate(core: Core, name: str) -> JSON | None:
    """What an `annotated_types.Predicate` or `Not` says of a text; None where it is code.

    Raises:
        Never: It is true of no number that can be written.
    """
    if name != PREDICATE:
        return None
    asked = inspect.getclosurevars(core["function"]["function"]).nonlocals.get("annotation")
    if type(asked).__name__ == "Predicate":
        asked = getattr(asked, "func", None)
    holds = True
    while type(asked).__name__ == "Not":
        asked, holds = getattr(asked, "func", None), not holds
    # By identity: a callable of the user's need not be hashable, and may compare as it likes.
    for function, answer in _OF_EVERY_NUMBER:
        if asked is function and answer != holds:
            raise Never
    if asked is str.isascii:
        ascii_only: Core = {"pattern": _ASCII}
        return {"type": "string", **(ascii_only if holds else {"not": ascii_only})}
    for function, pattern in _PREDICATES:
        if asked is function and holds:
            return {"type": "string", "pattern": pattern}
        if asked is function:
            return {"type": "string", "pattern": _ASCII, "not": {"pattern": pattern}}
    return None
