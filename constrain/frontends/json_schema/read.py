"""A schema as the caller gave it -> plain JSON values of our own, with exact numbers.

Values are None, bool, int, `Decimal`, str, list and dict; whole numbers written with a point or
exponent stay `Decimal` (`1.0`), and compare by value where they are used. The caller's objects are
copied, so that they may change later: subschemas are looked at when a text gets there.

Text is read by the `json` module; where its recursion ends, by a reader with a stack of its own.
"""

from __future__ import annotations

import json
import math
import re
from decimal import MAX_EMAX, Decimal, InvalidOperation
from fractions import Fraction
from json.decoder import scanstring  # type: ignore[attr-defined]
from os import PathLike
from typing import Any, Final, NoReturn, TypeAlias

from constrain.errors import SchemaError, UnsupportedFeatureError
from constrain.limits import Limits

__all__ = ["JSON", "escape_pointer", "exact", "is_too_long", "parse_json", "read_schema"]

JSON: TypeAlias = Any
"""None, bool, int, Decimal, str, list of JSON, dict from str to JSON."""

_LONGEST_NAME: Final = 300
"""A text that is no longer may be the name of a file."""

_MAX_DIGITS: Final = 1_100
"""Digits of a number written out. The largest double has 309; the least, 1,074 after the point."""


def read_schema(schema: object, limits: Limits) -> JSON:
    """The schema as JSON values: a copy of a dict or bool, or what a JSON text says.

    Raises:
        SchemaError: The text is no JSON, has a key twice, or the dict holds what JSON cannot say.
        LimitExceededError: It is too long or too deep.
    """
    if isinstance(schema, str):
        limits.check("max_input_bytes", len(schema), "a schema text")
        value = parse_json(schema, limits)
        if _MAYBE_SURROGATE.search(schema):
            _refuse_surrogates(value)
    else:
        value = _copy(schema, limits)
    if not isinstance(value, (dict, bool)):
        raise SchemaError(
            f"a schema is an object or a boolean, not {_kind(value)}",
            pointer="#",
            hint="pass a dict, a bool, or the JSON text of a schema",
        )
    return value


_MAYBE_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and _SURROGATE.search(text) is not None


def _refuse_surrogates(value: JSON) -> None:
    """Raise if a string or key has half a surrogate pair: no text has one."""
    todo: list[tuple[JSON, str]] = [(value, "#")]
    for v, pointer in todo:
        if isinstance(v, str) and _has_surrogate(v):
            raise SchemaError(
                "a string with half a surrogate pair, which is no text", pointer=pointer
            )
        if isinstance(v, dict):
            for key, part in v.items():
                if _has_surrogate(key):
                    raise SchemaError(
                        f"the key {key!r} has half a surrogate pair, which is no text",
                        pointer=pointer,
                    )
                todo.append((part, f"{pointer}/{escape_pointer(key)}"))
        elif isinstance(v, list):
            todo += [(part, f"{pointer}/{i}") for i, part in enumerate(v)]


def exact(value: int | Decimal | float, pointer: str) -> Fraction:
    """A number of the schema as a fraction; a float, out of a registry, as the decimal it prints.

    Raises:
        UnsupportedFeatureError: Written out it has more than 1,100 digits.
    """
    if isinstance(value, float):
        value = Decimal(repr(value))
    if is_too_long(value):
        raise UnsupportedFeatureError(
            f"a number with more than {_MAX_DIGITS:,} digits when written out", pointer=pointer
        )
    return Fraction(value)


def is_too_long(value: int | Decimal) -> bool:
    """Whether `exact` refuses a number."""
    if isinstance(value, Decimal):
        digits = abs(value.adjusted()) + len(value.as_tuple().digits)
    else:
        digits = value.bit_length() * 3 // 10
    return digits > _MAX_DIGITS


def escape_pointer(key: str) -> str:
    """One step of a JSON pointer in a URI fragment."""
    return key.replace("~", "~0").replace("/", "~1")


def _kind(value: object) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    if value is None:
        return "null"
    return names.get(type(value), "a number" if isinstance(value, (int, Decimal)) else "")


# Text


def parse_json(text: str, limits: Limits) -> JSON:
    """The value of a JSON text, its numbers exact.

    Raises:
        SchemaError: It is not JSON.
        LimitExceededError: It is nested deeper than `max_nesting`.
    """
    if text.count("[") + text.count("{") > limits.max_nesting:
        limits.check("max_nesting", _depth(text), "a schema text")
    try:
        value = json.loads(
            text,
            parse_float=_parse_float,
            parse_int=_parse_int,
            parse_constant=_refuse_constant,
            object_pairs_hook=_object,
        )
    except (RecursionError, _HasKeyTwiceError):
        value = _parse_deep(text)  # it also says where a key comes again
    except json.JSONDecodeError as e:
        raise _not_json(e.msg, text, e.pos) from None
    return value


def _not_json(reason: str, text: str, at: int) -> SchemaError:
    hint = None
    if not text.strip():
        reason = "it is empty"
    elif text.startswith("\ufeff"):
        hint = "read the file with encoding='utf-8-sig', which takes the byte order mark away"
    elif text.startswith(("//", "/*"), at):
        hint = "JSON has no comments"
    elif text.startswith("```", at):
        hint = "pass the JSON alone, without the fence around it"
    elif _has_last_comma(text, at):
        hint = "there is no comma after the last one"
    elif text[at : at + 1] == "'":
        hint = "JSON has double quotes only; Python data can be passed as it is, without str()"
    elif text[at : at + 4] in ("True", "None") or text[at : at + 5] == "False":
        hint = "JSON writes true, false and null; Python data can be passed as it is"
    elif len(text) < _LONGEST_NAME and not text.lstrip().startswith(("{", "[", '"')):
        hint = "pass what the file holds, not its name: Path(name).read_text()"
    return SchemaError(
        f"the schema text is not JSON: {reason}",
        source=text,
        span=(at, min(at + 1, len(text))),
        hint=hint,
    )


def _has_last_comma(text: str, at: int) -> bool:
    """Whether a comma stands before a bracket that closes; Python points at one or the other."""
    comma = at if text.startswith(",", at) else len(text[:at].rstrip()) - 1
    return text.startswith(",", max(comma, 0)) and text[comma + 1 :].lstrip()[:1] in ("}", "]")


def _parse_float(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent that `decimal` cannot hold; it is too long with any such
        mantissa, _, exponent = text.lower().partition("e")
        return Decimal(f"{mantissa}e{'-' if exponent.startswith('-') else ''}{MAX_EMAX // 2}")


def _parse_int(text: str) -> int | Decimal:
    return int(text) if len(text) <= _MAX_DIGITS else Decimal(text)


def _refuse_constant(text: str) -> NoReturn:
    raise SchemaError(f"the schema text is not JSON: {text} is no JSON number")


class _HasKeyTwiceError(Exception):
    """Some object has; it is not known where."""


def _object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _HasKeyTwiceError
    return value


_BRACKETS: Final = re.compile(r'[\[\]{}]|"(?:[^"\\]|\\.)*"', re.DOTALL)
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_SCALAR: Final = re.compile(
    r"(?P<literal>true|false|null)"
    r"|(?P<number>-?(?:0|[1-9]\d*)(?P<real>(?:\.\d+)?(?:[eE][+-]?\d+)?))",
    re.ASCII,
)
_LITERALS: Final = {"true": True, "false": False, "null": None}


def _depth(text: str) -> int:
    """How deep arrays and objects are nested."""
    depth = deepest = 0
    for token in _BRACKETS.findall(text):
        if token in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token in "]}":
            depth -= 1
    return deepest


class _DeepReader:
    """A JSON reader with a stack of its own, for texts nested too deep for the `json` module."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self) -> JSON:
        """The value of the whole text."""
        holder: list[JSON] = []
        open_values: list[tuple[JSON, list[str]]] = [(holder, [])]
        while True:
            value = self._value()
            container, key = open_values[-1]
            if isinstance(container, list):
                container.append(value)
            else:
                container[key.pop()] = value
            if isinstance(value, (list, dict)) and not self._next(
                "]" if isinstance(value, list) else "}"
            ):
                open_values.append((value, []))
                self._key(open_values[-1])
                continue
            while len(open_values) > 1 and not self._next(","):
                end = "]" if isinstance(open_values[-1][0], list) else "}"
                if not self._next(end):
                    raise _not_json(f"expected ',' or {end!r}", self._text, self._at)
                open_values.pop()
            if len(open_values) == 1:
                self._skip()
                if self._at < len(self._text):
                    raise _not_json("extra data", self._text, self._at)
                return holder[0]
            self._key(open_values[-1])

    def _skip(self) -> None:
        found = _SPACE.match(self._text, self._at)
        assert found is not None
        self._at = found.end()

    def _next(self, wanted: str) -> bool:
        self._skip()
        found = self._text.startswith(wanted, self._at)
        self._at += found
        return found

    def _string(self) -> str:
        try:
            value, self._at = scanstring(self._text, self._at, True)
        except json.JSONDecodeError as e:
            raise _not_json(e.msg, self._text, e.pos) from None
        return str(value)

    def _key(self, into: tuple[JSON, list[str]]) -> None:
        """Read a key and a colon, if `into` is an object."""
        container, key = into
        if isinstance(container, list):
            return
        if not self._next('"'):
            raise _not_json("expected a key in double quotes", self._text, self._at)
        start = self._at - 1
        name = self._string()
        if name in container:
            raise SchemaError(
                f"an object of the schema text has the key {name!r} twice",
                source=self._text,
                span=(start, self._at),
                hint="only one of them would count; leave the other out",
            )
        if not self._next(":"):
            raise _not_json("expected ':'", self._text, self._at)
        key.append(name)

    def _value(self) -> JSON:
        """A scalar, or an empty array or object whose bracket was read."""
        if self._next("["):
            return []
        if self._next("{"):
            return {}
        if self._next('"'):
            return self._string()
        found = _SCALAR.match(self._text, self._at)
        if found is None:
            raise _not_json("expected a value", self._text, self._at)
        self._at = found.end()
        if found["literal"]:
            return _LITERALS[found["literal"]]
        return _parse_float(found["number"]) if found["real"] else _parse_int(found["number"])


def _parse_deep(text: str) -> JSON:
    return _DeepReader(text).read()


# Python objects


def _copy(schema: object, limits: Limits) -> JSON:
    holder: list[JSON] = []
    suspicious = False
    todo: list[tuple[Any, Any, int]] = [([schema], holder, 0)]  # source, copy, depth
    count = 0
    for source, copy, depth in todo:
        if depth > limits.max_nesting:
            limits.check("max_nesting", depth, "a schema")
        count += len(source)
        if count > limits.max_source_nodes:
            limits.check("max_source_nodes", count, "a schema")
        items: Any = source.items() if isinstance(source, dict) else enumerate(source)
        for key, value in items:
            if isinstance(value, str):
                new: JSON = str.__str__(value)
                suspicious = suspicious or _has_surrogate(value)
            elif isinstance(value, dict):
                new = {}
                todo.append((value, new, depth + 1))
            elif isinstance(value, list):
                new = []
                todo.append((value, new, depth + 1))
            elif value is None or isinstance(value, bool):
                new = value
            else:
                new = _number(value)
                if new is None:
                    _refuse(schema, value)
            if isinstance(copy, list):
                copy.append(new)
            elif isinstance(key, str):
                copy[str.__str__(key)] = new
                suspicious = suspicious or _has_surrogate(key)
            else:
                _refuse(schema, key)
    if suspicious:
        _refuse_surrogates(holder[0])
    return holder[0]


def _number(value: object) -> int | Decimal | None:
    """An exact number, or None where `value` is no JSON number."""
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float) and math.isfinite(value):
        return Decimal(float.__repr__(value))
    if isinstance(value, Decimal) and value.is_finite():
        return value
    return None


def _refuse(schema: object, culprit: object) -> NoReturn:
    """Raise for a value or key that JSON cannot say, after finding where it is."""
    todo: list[tuple[Any, str]] = [(schema, "#")]
    pointer = "#"
    for value, at in todo:
        if value is culprit:
            pointer = at
            break
        if isinstance(value, dict):
            for key, part in value.items():
                if key is culprit:
                    raise SchemaError(
                        f"an object of a schema has the key {key!r}, which is no string", pointer=at
                    )
                todo.append((part, f"{at}/{escape_pointer(key)}"))
        elif isinstance(value, list):
            todo += [(part, f"{at}/{i}") for i, part in enumerate(value)]
    kind = type(culprit).__name__
    shown = repr(culprit) if isinstance(culprit, (float, Decimal)) else f"a Python {kind}"
    hint = "a schema holds dict, list, str, int, float, bool and None"
    if culprit is schema and isinstance(culprit, (bytes, bytearray)):
        hint = "decode it, and pass the text"
    elif culprit is schema and isinstance(culprit, PathLike):
        hint = "pass what the file holds: Path(name).read_text()"
    elif culprit is schema and isinstance(culprit, type):
        hint = "for Python types there is Grammar.from_pydantic"
    raise SchemaError(f"{shown} is no JSON value", pointer=pointer, hint=hint)
