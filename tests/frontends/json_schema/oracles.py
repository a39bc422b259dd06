"""What two other validators say, and which of them is right where they differ.

Numbers reach both as exact integers and decimals, so neither rounds.
"""

from __future__ import annotations

import decimal
import json
import re
from decimal import Decimal
from typing import Any, NamedTuple

import jsonschema
import jsonschema.exceptions
import jsonschema_rs

__all__ = [
    "EXAMPLES",
    "NotJSON",
    "Oracles",
    "Undecided",
    "UndocumentedError",
    "draft_of",
    "parse",
    "plain",
]

decimal_context = decimal.Context(prec=3000, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
"""Remainders of numbers like 1e400 need more digits than Python's default of 28."""

_PYTHON = {
    "draft4": jsonschema.Draft4Validator,
    "draft6": jsonschema.Draft6Validator,
    "draft7": jsonschema.Draft7Validator,
    "draft2019-09": jsonschema.Draft201909Validator,
    "draft2020-12": jsonschema.Draft202012Validator,
}
_RUST = {
    "draft4": jsonschema_rs.Draft4Validator,
    "draft6": jsonschema_rs.Draft6Validator,
    "draft7": jsonschema_rs.Draft7Validator,
    "draft2019-09": jsonschema_rs.Draft201909Validator,
    "draft2020-12": jsonschema_rs.Draft202012Validator,
}
_FARTHEST = 900
"""Larger exponents become this one. No keyword can tell: a bound is passed, and being a multiple of
a step no longer depends on the exponent."""


class NotJSON(ValueError):
    """A text that is no JSON text, or has a key twice, or a lone surrogate."""


class UndocumentedError(AssertionError):
    """The oracles differ, and nobody has looked up yet who is right."""


class Undecided(Exception):
    """No oracle has a say: a number is too long for them, or both fail."""


def parse(text: bytes, draft: str = "draft2020-12") -> Any:
    """The value of a JSON text, strictly. Whole numbers are integers, except `1.0` in draft 4.

    Draft 4 says that an integer is "a JSON number without a fraction or exponent part".

    Raises:
        NotJSON: It is none.
        Undecided: It has an integer of thousands of digits.
    """

    def members(found: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(found)
        if len(made) != len(found):
            raise NotJSON("a key twice")
        return made

    def constant(name: str) -> Any:
        raise NotJSON(name)

    def number(digits: str) -> Any:
        mantissa, _, exponent = digits.lower().partition("e")
        far = exponent.lstrip("+-0")
        if len(far) > 4 or int(far or "0") > _FARTHEST:
            exponent = f"-{_FARTHEST}" if exponent.startswith("-") else str(_FARTHEST)
        n = Decimal(f"{mantissa}e{exponent or 0}")
        if draft != "draft4" and n == n.to_integral_value():
            return int(n)
        return n

    try:
        decoded = text.decode("utf-8")
        with decimal.localcontext(decimal_context):
            value = json.loads(
                decoded, object_pairs_hook=members, parse_constant=constant, parse_float=number
            )
        json.dumps(value, ensure_ascii=False, default=str).encode()  # lone surrogates
    except (UnicodeError, json.JSONDecodeError, RecursionError) as error:
        raise NotJSON(str(error)) from error
    except ValueError as error:
        if "digits" in str(error):  # an integer of more than 4300 digits
            raise Undecided from error
        raise
    return value


def plain(value: Any) -> Any:
    """With integers and decimals for numbers, as both oracles want a schema."""
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else value
    if isinstance(value, list):
        return [plain(v) for v in value]
    return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value


_DOLLAR = re.compile(r"(?<!\\)\$(?=$|[|)])")


def _for_python(schema: Any) -> Any:
    r"""With patterns as `re` reads them: `$` also matches before a last line end there."""
    if isinstance(schema, list):
        return [_for_python(v) for v in schema]
    if not isinstance(schema, dict):
        return schema
    made = {}
    for name, value in schema.items():
        if name == "pattern" and isinstance(value, str):
            made[name] = _DOLLAR.sub(r"\\Z", value)
        elif name == "patternProperties" and isinstance(value, dict):
            made[name] = {_DOLLAR.sub(r"\\Z", k): _for_python(v) for k, v in value.items()}
        else:
            made[name] = _for_python(value)
    return made


def _for_rust(schema: Any) -> Any:
    """Without content keywords: `jsonschema_rs` checks them in draft 6 and 7.

    They are annotations there unless an application asks for more (draft 7 validation, 8.2).
    """
    if isinstance(schema, list):
        return [_for_rust(v) for v in schema]
    if not isinstance(schema, dict):
        return schema
    names = ("contentEncoding", "contentMediaType")
    return {k: _for_rust(v) for k, v in schema.items() if k not in names or not isinstance(v, str)}


_MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")


def _contains_apart(schema: Any) -> Any:
    """With `contains` of 2019-09 where no annotation comes out of it.

    Items that it matches count as evaluated from 2020-12 on; for 2019-09 `unevaluatedItems` looks
    at `items` and `additionalItems` (core 9.3.1.3). Both validators go by 2020-12 in both drafts.
    """
    if isinstance(schema, list):
        return [_contains_apart(v) for v in schema]
    if not isinstance(schema, dict):
        return schema
    made, moved = {}, {}
    for name, value in schema.items():
        inner: Any
        if name in _MAPS and isinstance(value, dict):
            inner = {k: _contains_apart(v) for k, v in value.items()}
        else:
            inner = _contains_apart(value)
        (moved if name in ("contains", "minContains", "maxContains") else made)[name] = inner
    if moved:
        made["allOf"] = [*made.get("allOf", []), {"not": {"not": moved}}]
    return made


def adapted(schema: Any, draft: str) -> tuple[Any, Any]:
    """A schema for each oracle, with what they are known to read wrongly said differently."""
    with decimal.localcontext(decimal_context):
        schema = plain(schema)
    if draft == "draft2019-09" and "'unevaluatedItems'" in repr(schema):
        schema = _contains_apart(schema)
    return _for_python(schema), _for_rust(schema)


def _decimals(value: Any) -> list[Decimal]:
    """The numbers of a value that are no integers in Python."""
    todo = [value]
    for at in todo:
        todo += at if isinstance(at, list) else at.values() if isinstance(at, dict) else ()
    return [at for at in todo if isinstance(at, Decimal)]


def _rust_is_right(draft: str, schema: Any, value: Any) -> bool | None:
    """Which oracle to believe, where a difference has been looked up; see EXAMPLES."""
    decimals = _decimals(value)
    if draft == "draft4" and any(n == n.to_integral_value() for n in decimals):
        return False
    used = repr(schema)
    if "'multipleOf'" in used and any(len(n.as_tuple().digits) > 15 for n in decimals):
        return False
    if draft == "draft2019-09" and "'unevaluatedProperties'" in used:
        return True
    return None


class Example(NamedTuple):
    """Where an oracle is wrong, found by generated schemas and looked up in the specification.

    Attributes:
        name: Which of the adaptations above it is about.
        draft: The draft.
        schema: The schema, as it is.
        text: A text of the value.
        says: What `jsonschema` and `jsonschema_rs` say; None where one fails.
        right: The verdict by the specification.
        formats: With formats as assertions.
    """

    name: str
    draft: str
    schema: Any
    text: bytes
    says: tuple[bool | None, bool | None]
    right: bool
    formats: bool = False


EXAMPLES = [
    # ECMA-262 without the m flag: $ is the end, while `re` also lets one line end follow.
    Example("dollar", "draft2020-12", {"pattern": "^a$"}, rb'"a\n"', (True, False), False),
    # Draft 7 validation 8.2: content keywords are annotations unless an application asks for more.
    Example("content", "draft7", {"contentEncoding": "base64"}, b'"-"', (True, False), True),
    # 2019-09 core 9.3.1.3: `unevaluatedItems` looks at `items` and `additionalItems`.
    Example(
        "contains",
        "draft2019-09",
        {"contains": True, "unevaluatedItems": False},
        b"[1]",
        (True, True),
        False,
    ),
    # Draft 4 core 3.5: an integer is "a JSON number without a fraction or exponent part".
    Example("exponent", "draft4", {"type": "integer"}, b"1e0", (False, True), False),
    # Draft 6 validation 6.9, 6.10: `items` may be a boolean; then `additionalItems` is ignored.
    Example(
        "boolean items",
        "draft6",
        {"items": True, "additionalItems": False},
        b"[1]",
        (None, True),
        True,
    ),
    # 2019-09 core 9.3.2.4: what `additionalProperties` and an inner `unevaluatedProperties` hold of
    # is evaluated; `jsonschema` only believes it of the schema `true`.
    Example(
        "evaluated by a schema",
        "draft2019-09",
        {"allOf": [{"additionalProperties": {}}], "unevaluatedProperties": False},
        b'{"a":1}',
        (False, True),
        True,
    ),
    # `jsonschema_rs` rounds: this number has a fraction.
    Example(
        "rounding", "draft7", {"multipleOf": 2}, b"8.0000000000000000001", (False, True), False
    ),
    # RFC 3339, 5.6: a year is four digits, and 1: "between 0000AD and 9999AD".
    Example("year", "draft7", {"format": "date"}, b'"0000-01-01"', (False, True), True, True),
    # A regular expression of ECMA-262, which `re` does not read.
    Example("regex", "draft7", {"format": "regex"}, rb'"\\cA"', (False, True), True, True),
]
_NOT_IN_PYTHON = ("date", "date-time", "regex")
"""Formats that only `jsonschema_rs` is asked about, see EXAMPLES."""


def draft_of(schema: Any) -> str:
    """What `$schema` says; the last draft if it says nothing that is known."""
    uri = schema.get("$schema", "") if isinstance(schema, dict) else ""
    for part, draft in (("04", "draft4"), ("06", "draft6"), ("07", "draft7")):
        if f"draft-{part}/" in str(uri):
            return draft
    return "draft2019-09" if "2019-09" in str(uri) else "draft2020-12"


class Oracles:
    """Both validators for one schema. Formats are annotations unless asked for."""

    def __init__(self, schema: Any, draft: str, *, formats: bool = False) -> None:
        self.draft = draft
        python, rust = adapted(schema, draft)
        self._make(python, rust, formats, frozenset(_NOT_IN_PYTHON))

    def _make(self, python: Any, rust: Any, formats: bool, leave_out: frozenset[str]) -> None:
        cls = _PYTHON[self.draft]
        names = [name for name in cls.FORMAT_CHECKER.checkers if name not in leave_out]
        checker = jsonschema.FormatChecker(names) if formats else None
        self._python_schema = python
        self._python = cls(python, format_checker=checker)
        try:
            self._rust = _RUST[self.draft](rust, validate_formats=formats)
        except (ValueError, jsonschema_rs.ReferencingError):
            self._rust = None

    @classmethod
    def as_they_are(cls, schema: Any, draft: str, *, formats: bool = False) -> Oracles:
        """The oracles for a schema that is not adapted."""
        made = cls.__new__(cls)
        made.draft = draft
        made._make(plain(schema), plain(schema), formats, frozenset())
        return made

    def check(self) -> None:
        """Check the schema against its metaschema."""
        _PYTHON[self.draft].check_schema(self._python_schema)

    def both(self, value: Any) -> tuple[bool | None, bool | None]:
        """What `jsonschema` and `jsonschema_rs` say; None where one fails."""
        with decimal.localcontext(decimal_context):
            try:
                python: bool | None = self._python.is_valid(value)
            except (RecursionError, decimal.DecimalException, TypeError, AttributeError, re.error):
                python = None
        try:
            rust: bool | None = None if self._rust is None else self._rust.is_valid(value)
        except ValueError:
            rust = None
        return python, rust

    def is_valid(self, value: Any) -> bool:
        """The verdict, by what `adapted` and EXAMPLES say where they differ.

        Raises:
            Undecided: Neither has one.
            UndocumentedError: They differ, and EXAMPLES does not say who is right.
        """
        python, rust = self.both(value)
        if python is None and rust is None:
            raise Undecided
        if python is None or rust is None or python == rust:
            return bool(rust if python is None else python)
        is_right = _rust_is_right(self.draft, self._python_schema, value)
        if is_right is not None:
            return rust if is_right else python
        raise UndocumentedError(f"jsonschema says {python}, jsonschema_rs {rust}")
