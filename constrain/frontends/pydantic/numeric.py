"""Numbers: int, float, Decimal and Fraction as pydantic reads them out of JSON.

A number of a JSON text is an exact decimal; pydantic makes a double of it unless it is written as
an integer. Rounding never passes a bound that is a double itself, but it can land on one: a text
just above 1 is 1.0, which is not greater than 1. So an open bound moves to the next double. Texts
of numbers have no exponent and at most 300 digits (see `from_pydantic`), so nothing overflows or
vanishes.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, Final

from constrain.frontends.pydantic.core import JSON, Core, Never, Place, refuse, setting
from constrain.frontends.pydantic.ranges import integer_between

__all__ = [
    "MOST_DIGITS",
    "bounds_of_int",
    "read_decimal",
    "read_float",
    "read_fraction",
    "read_int",
]

MOST_DIGITS: Final = 300
"""Digits before and after the point; the largest double has 309."""
_EXACT: Final = 15
"""Every decimal of so many digits is what its nearest double prints."""
_PRECISION: Final = 28
"""Digits to which Python's decimal module computes a remainder."""
_FLOAT_MULTIPLES: Final = 4_000_000
"""pydantic takes a float for a multiple if it is off by 1e-9 at most, which doubles of this size
are in a multiple of a decimal fraction."""


def bounds_of_int(core: Core) -> tuple[int | None, int | None]:
    """The least and the largest integer that the bounds of `core` allow."""
    lows = [int(core[k]) + extra for k, extra in (("ge", 0), ("gt", 1)) if core.get(k) is not None]
    highs = [int(core[k]) - extra for k, extra in (("le", 0), ("lt", 1)) if core.get(k) is not None]
    return (max(lows) if lows else None), (min(highs) if highs else None)


def read_int(core: Core, place: Place) -> JSON:
    """An int; as a key, its digits."""
    low, high = bounds_of_int(core)
    multiple = core.get("multiple_of")
    if place.as_key:
        if multiple is not None:
            raise refuse("keys that are multiples", place)
        if low is not None and high is not None and low > high:
            raise Never
        return {"type": "string", "pattern": f"^{integer_between(low, high)}$"}
    schema: Core = {"type": "integer"}
    if low is not None:
        schema["minimum"] = low
    if high is not None:
        schema["maximum"] = high
    if multiple is not None:
        schema["multipleOf"] = abs(multiple)
    return schema


def _decimal_of(value: Any) -> Decimal:  # noqa: ANN401 - int, float, Decimal or a Fraction
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, (int, Decimal, str)):
        return Decimal(value)
    return Decimal(value.numerator) / Decimal(value.denominator)


def _rounded_bounds(core: Core, place: Place) -> Core:
    """`minimum` and the like for a number that is rounded to a double before it is compared."""
    schema: Core = {}
    for names, keyword, exclusive, way in (
        (("ge", "gt"), "minimum", "exclusiveMinimum", math.inf),
        (("le", "lt"), "maximum", "exclusiveMaximum", -math.inf),
    ):
        found: list[Decimal] = []
        for name in names:
            if core.get(name) is None:
                continue
            bound = _decimal_of(core[name])
            if bound.is_nan() or bound == Decimal(way):
                raise refuse(f"a bound of {bound}", place)
            if bound.is_infinite():
                continue
            if bound == 0 and name in ("gt", "lt"):
                schema[exclusive] = 0
                continue
            if not math.isfinite(float(bound)):
                if (bound < 0) == (way > 0):
                    continue  # no number of MOST_DIGITS is beyond it
                raise refuse(f"a bound of {bound}, beyond the largest double,", place)
            if name in ("gt", "lt") or len(bound.as_tuple().digits) > _EXACT + 2:
                steps = 1 if len(bound.as_tuple().digits) <= _EXACT + 2 else 2
                bound = _decimal_of(_next(float(bound), way, steps))
                if bound.is_infinite():
                    raise refuse(f"a bound of {core[name]}, beyond which is no double,", place)
            found.append(bound)
        if found:
            schema[keyword] = max(found) if way > 0 else min(found)
    return schema


def _next(value: float, way: float, steps: int) -> float:
    for _ in range(steps):
        value = math.nextafter(value, way)
    return value


def read_float(core: Core, place: Place) -> JSON:
    """A float; as a key, a decimal of few digits."""
    bounds = _rounded_bounds(core, place)
    multiple = core.get("multiple_of")
    if place.as_key:
        if bounds or multiple is not None:
            raise refuse("keys that are bounded floats", place)
        return {"type": "string", "pattern": r"^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?$"}
    parts: list[Core] = [{"type": "number", **bounds}]
    if multiple is not None:
        exact = _decimal_of(abs(multiple))
        limit = _largest_exact_multiple(abs(float(multiple)))
        parts.append({"multipleOf": exact, "minimum": -limit, "maximum": limit})
    return parts[0] if len(parts) == 1 else {"allOf": parts}


def _largest_exact_multiple(multiple: float) -> int:
    """A bound under which pydantic agrees that a decimal is a multiple."""
    numerator, denominator = multiple.as_integer_ratio()
    if Decimal(repr(multiple)) == Decimal(numerator) / denominator:
        return max(2**53 // denominator, 1)  # a double itself, and so is each multiple
    return _FLOAT_MULTIPLES


# Decimal


def read_decimal(core: Core, place: Place) -> JSON:
    """A Decimal: a JSON number, or a string of digits.

    The string is left out where bounds or a multiple cannot be said of its characters.
    """
    core = _with_few_digits(core)
    string = _decimal_string(core)
    if place.as_key:
        if string is None:
            raise refuse("keys that are bounded decimals", place)
        return string
    number = _decimal_number(core, place)
    return number if string is None else {"anyOf": [number, string]}


def _with_few_digits(core: Core) -> Core:
    """A schema that counts no more digits than there are; a Decimal has at least one, so not 0."""
    counts = [n for n in ("max_digits", "decimal_places") if core.get(n) is not None]
    if core.get("max_digits") == 0:
        raise Never
    return {**core, **{name: min(core[name], MOST_DIGITS) for name in counts}}


def _places(value: Decimal) -> int:
    """Digits after the point."""
    exponent = value.normalize().as_tuple().exponent
    return max(0, -int(exponent))


def _decimal_number(core: Core, place: Place) -> JSON:
    parts: list[JSON] = [{"type": "number", **_rounded_bounds(core, place)}]
    multiple = core.get("multiple_of")
    if multiple is not None:
        exact = _decimal_of(multiple)
        if _places(exact) >= _EXACT:
            raise refuse(f"multiples of {multiple}", place)
        limit = 10 ** (_EXACT - _places(exact))
        parts.append({"multipleOf": abs(exact), "minimum": -limit, "maximum": limit})
    digits, places = core.get("max_digits"), core.get("decimal_places")
    if digits is None and places is not None:
        parts.append({"multipleOf": _unit(places)})
    elif digits is not None and places is not None:
        parts.append(_digits_number(max(0, digits - places), min(places, digits)))
        if places >= digits:
            parts.append({"not": {"const": 0}})  # pydantic counts its only digit as a whole one
    elif digits is not None:
        few = min(digits, _EXACT)
        shapes = [_digits_number(whole, few - whole) for whole in range(few + 1)]
        if digits > few:
            shapes.append(_digits_number(digits, 0))
        parts.append({"anyOf": shapes})
    return parts[0] if len(parts) == 1 else {"allOf": parts}


def _unit(places: int) -> Decimal:
    return Decimal(1).scaleb(-places)


def _digits_number(whole: int, places: int) -> JSON:
    """Numbers of at most so many digits before and after the point, even after rounding."""
    limit: Decimal | int  # an int where a Decimal would be rounded to 28 digits
    if not places:
        limit = 10**whole - 1
    elif whole < _EXACT:
        limit = 10**whole - _unit(min(places, _EXACT - whole))
    else:
        limit = 10**whole - 10 ** (whole - _EXACT)
    return {"multipleOf": _unit(places), "minimum": -limit, "maximum": limit}


def _decimal_string(core: Core) -> JSON | None:
    signs = [name for name in ("ge", "gt", "le", "lt") if core.get(name) is not None]
    if any(core[name] != 0 for name in signs):
        return None
    digits, places = core.get("max_digits"), core.get("decimal_places")
    multiple = core.get("multiple_of")
    if multiple is not None:
        exact = abs(_decimal_of(multiple))
        if exact != _unit(_places(exact)) or _places(exact) > _EXACT:
            return None  # no power of ten
        places = min(_places(exact), _PRECISION if places is None else places)
        digits = _EXACT if digits is None else min(digits, _EXACT)
    patterns = [f"^-?(?:{_numeral(digits, places)})$"]
    if "ge" in signs or "gt" in signs:
        patterns.append("^[^-]")
    if "le" in signs or "lt" in signs:
        patterns.append("^(?:-|[0.]*$)")
    no_whole = digits is not None and places is not None and places >= digits
    if "gt" in signs or "lt" in signs or no_whole:
        patterns.append("[1-9]")
    return {"type": "string", "allOf": [{"pattern": pattern} for pattern in patterns]}


def _numeral(digits: int | None, places: int | None) -> str:
    if digits is None:
        return f"(?:0|[1-9][0-9]*){_fraction(_PRECISION if places is None else places)}"
    if places is not None:
        return f"{_whole(max(0, digits - places))}{_fraction(min(places, digits))}"
    shapes = [f"0{_fraction(digits)}"]
    for whole in range(1, digits + 1):
        shapes.append(f"[1-9][0-9]{{{whole - 1}}}{_fraction(digits - whole)}")
    return "|".join(shapes)


def _whole(digits: int) -> str:
    return f"(?:0|[1-9][0-9]{{0,{digits - 1}}})" if digits else "0"


def _fraction(places: int) -> str:
    return rf"(?:\.[0-9]{{1,{places}}})?" if places else ""


def read_fraction(core: Core, place: Place) -> JSON:
    """A Fraction: an integer, or a string such as `3/4` where there are no bounds."""
    if place.as_key or core.get("multiple_of") is not None:
        raise refuse("a Fraction with `multiple_of`, or as a key,", place)
    bounds = {name: core[name] for name in ("ge", "gt", "le", "lt") if core.get(name) is not None}
    if not bounds:
        numeral = r"^-?(?:0|[1-9][0-9]{0,17})(?:/[1-9][0-9]{0,17})?$"
        return {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": numeral}]}
    whole: Core = {}
    for name, value in bounds.items():
        if name in ("ge", "gt"):
            low = math.ceil(value) if name == "ge" else math.floor(value) + 1
            whole["ge"] = max(low, whole.get("ge", low))
        else:
            high = math.floor(value) if name == "le" else math.ceil(value) - 1
            whole["le"] = min(high, whole.get("le", high))
    return read_int(whole, place)


def is_finite(core: Core, place: Place) -> bool:
    """Whether infinities are refused; texts here never have one."""
    return setting(core, place, "allow_inf_nan") is False
