"""What pydantic checks of a result, once the text has been read.

A constraint stands in the schema of a type that has it. For a union, and for a type that has not,
pydantic calls a Python function on the result instead. That one compares as Python does: exactly,
`1 >= 0.5` as well as `datetime >= datetime`, and with a `TypeError` where Python cannot, which
comes out of the validation as it is. So a bound is said of each kind of result that it can be
compared with, and refused by name if there is another.
"""

from __future__ import annotations

import datetime
import functools
import math
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from constrain.frontends.pydantic.core import (
    JSON,
    VALIDATORS,
    Core,
    Never,
    Place,
    function_name,
    read_bounds,
    refuse,
    setting,
)

if TYPE_CHECKING:
    from constrain.frontends.pydantic.reader import CoreReader

__all__ = [
    "BYTE_SIZE",
    "PREDICATE",
    "known_bound",
    "read_bounded",
    "read_finite",
    "read_text_steps",
]

PREDICATE: Final = (
    "pydantic._internal._known_annotated_metadata.apply_known_metadata.<locals>.val_func"
)
BYTE_SIZE: Final = "pydantic.types.ByteSize._validate"
_TEXT_STEP: Final = (
    "pydantic._internal._known_annotated_metadata.apply_known_metadata.<locals>."
    "_apply_constraint_with_incompatibility_info"
)
_LENGTHS: Final = ("min_length", "max_length")
_LONG: Final = frozenset({"str", "bytes", "list", "deque", "set", "frozenset", "dict"})
_AS_LONG: Final = (
    "pydantic.types.Secret",
    "pydantic.types._Secret",
    f"{VALIDATORS}.deque_validator",
    PREDICATE,
)
"""Functions whose result is as long as that of the schema inside."""
_NUMBERS: Final = frozenset({"int", "float", "decimal"})
_NO_STRINGS: Final = frozenset(
    {
        "none", "bool", "int", "float", "list", "tuple", "set", "frozenset", "deque", "dict",
        "named-tuple", "model-fields", "typed-dict", "dataclass",
    }
)  # fmt: skip
"""Types that no JSON string is read as."""


def known_bound(core: Core, name: str) -> tuple[str, Any] | None:
    """The constraint that a function of pydantic's checks, such as `ge` of a union."""
    function = core["function"]["function"]
    if not isinstance(function, functools.partial) or not name.startswith(VALIDATORS):
        return None
    known = [k for k in function.keywords if k in ("gt", "ge", "lt", "le", *_LENGTHS)]
    return (known[0], function.keywords[known[0]]) if len(known) == 1 else None


def read_bounded(reader: CoreReader, core: Core, place: Place, name: str, value: Any) -> JSON:  # noqa: ANN401 - as pydantic has it
    """A bound that is checked on the result, said of each kind of result that it can be said of."""
    parts = []
    for one in _results(reader, core["schema"], name, place):
        try:
            parts.append(reader.read(_with_bound(one, name, value, place), place))
        except Never:
            continue
    if not parts:
        raise Never
    bounded = parts[0] if len(parts) == 1 else {"anyOf": parts}
    if reader.resolve(core["schema"])["type"] == "function-after":
        return {"allOf": [reader.read(core["schema"], place), bounded]}
    return bounded


def read_finite(reader: CoreReader, core: Core, place: Place) -> JSON:
    """`allow_inf_nan=False` of a union: its results must be numbers, and all that are read are."""
    for one in _results(reader, core["schema"], "allow_inf_nan", place):
        if one["type"] not in _NUMBERS | {"bool", "fraction"}:
            raise _refused("allow_inf_nan", place)
    return reader.read(core["schema"], place)


def read_text_steps(reader: CoreReader, first: Core, steps: list[Core], place: Place) -> list[JSON]:
    """Constraints of a str that are checked one by one on what another schema makes of the text.

    Args:
        reader: Of the type.
        first: The schema that reads the text.
        steps: What follows it in a chain.
        place: Where they stand.

    Raises:
        UnsupportedFeatureError: `first` makes something else of a string than this string.
    """
    texts = [step["schema"] for step in steps if _is_text_step(step)]
    parts = [reader.read(step, place) for step in steps if not _is_text_step(step)]
    if not texts:
        return parts
    name = next((key for key in texts[0] if key != "type"), "str")
    before = _results(reader, first, name, place)
    if not all([one["type"] == "str" or _is_its_string(one, place) for one in before]):
        raise _refused(name, place)
    before = [one for one in before if one["type"] == "str"]
    for text in texts:
        checks = text.get("pattern") is not None or text.get("ascii_only")
        if checks and any([_has_been(f"to_{case}", before, place) for case in ("lower", "upper")]):
            raise refuse("a pattern after a change of case", place)
        stripped = _has_been("strip_whitespace", before, place)
        parts.append(reader.read({**text, "strip_whitespace": True} if stripped else text, place))
        before.append(text)
    return parts


def _is_text_step(core: Core) -> bool:
    return core["type"] == "function-wrap" and function_name(core) == _TEXT_STEP


def _has_been(change: str, before: list[Core], place: Place) -> bool:
    return any([setting(one, place, change, f"str_{change}") for one in before])


def _is_its_string(core: Core, place: Place) -> bool:
    """Whether a string is read as itself, if it is read at all."""
    kind = core["type"]
    if kind == "literal":
        return all([isinstance(value, str) for value in core["expected"]])
    if kind == "enum":
        return issubclass(core["cls"], str)
    if kind == "bytes":
        return place.config.get("val_json_bytes") in (None, "utf8")
    return kind == "any" or kind in _NO_STRINGS


def _refused(name: str, place: Place) -> Exception:
    return refuse(f"`{name}` of a type that it cannot be said of", place)


def _results(reader: CoreReader, core: Core, check: str, place: Place) -> list[Core]:
    """The kinds of value that a schema makes, with the bounds around them put into each."""
    core = reader.resolve(core)
    kind = core["type"]
    if kind == "json-or-python":
        return _results(reader, core["json_schema"], check, place)
    if kind == "lax-or-strict":
        strict = setting(core, place, "strict")
        return _results(reader, core["strict_schema" if strict else "lax_schema"], check, place)
    if kind == "union":
        choices = [_results(reader, choice, check, place) for choice in reader.choices(core)]
        return [one for choice in choices for one in choice]
    if kind in ("function-after", "function-wrap"):
        name = function_name(core)
        as_inner = _AS_LONG if check in _LENGTHS else (PREDICATE,)
        if name is None or name.startswith(as_inner):  # or a user's
            return _results(reader, core["schema"], check, place)
        if name == BYTE_SIZE:
            return [{"type": "int", "ge": 0}]
        bound = known_bound(core, name)
        if bound is not None:
            inner = _results(reader, core["schema"], check, place)
            return [_with_bound(one, *bound, place) for one in inner]
    return [core]


def _with_bound(core: Core, name: str, value: Any, place: Place) -> Core:  # noqa: ANN401 - as pydantic has it
    """A schema with one more bound; the tighter of two of one name."""
    value = _bound_of(core["type"], name, value, place)
    given = read_bounds(core).get(name)
    if given is not None:
        tighter = max if name in ("gt", "ge", "min_length") else min
        try:
            value = tighter(given, value)
        except TypeError:  # datetimes with and without a time zone
            raise _refused(name, place) from None
    return {**core, name: value}


def _bound_of(kind: str, name: str, value: Any, place: Place) -> Any:  # noqa: ANN401 - as pydantic has it
    """The bound of a type that says what Python's comparison with `value` does.

    Raises:
        UnsupportedFeatureError: Python cannot compare the two.
    """
    if name in _LENGTHS:
        if kind in _LONG:
            return value
    elif kind in _NUMBERS and isinstance(value, (int, float, Decimal)):
        if isinstance(value, int) or math.isfinite(value):
            return _number(kind, name, value)
        if kind == "float" and not math.isnan(value):
            return value
    elif kind in ("date", "datetime", "timedelta") and type(value) is getattr(datetime, kind):
        return value
    raise _refused(name, place)


def _number(kind: str, name: str, value: float | Decimal) -> float | Decimal:
    """The bound in the type whose values are compared with it."""
    up = name in ("ge", "lt")
    if kind == "int":
        return math.ceil(value) if up else math.floor(value)
    exact = Decimal(value)
    if kind == "decimal" or abs(exact) > Decimal(sys.float_info.max):
        return exact
    nearest = float(value)
    if Decimal(nearest) != exact and (Decimal(nearest) < exact) == up:
        nearest = math.nextafter(nearest, math.inf if up else -math.inf)
    return nearest
