"""`Json[...]`: a JSON text inside of a string, as a pattern.

The text is compact: no spaces, properties in their order. What a pattern can say is said: scalars,
arrays, objects of known keys, dicts. Bounded numbers that are no integers, strings with patterns of
their own, distinct items and models that contain themselves are refused.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from constrain.frontends.pydantic.core import JSON, Core, Place, refuse
from constrain.frontends.pydantic.ranges import integer_between

if TYPE_CHECKING:
    from constrain.frontends.pydantic.reader import CoreReader

__all__ = ["read_json_text"]

_STRING: Final = r'"(?:[^"\\\x00-\x1f]|\\["\\\/bfnrt])*"'
_NUMBER: Final = r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?"
_SCALAR: Final = f"(?:null|true|false|{_NUMBER}|{_STRING})"
_MEANT: Final = {
    "integer": {"type", "minimum", "maximum"},
    "number": {"type"},
    "string": {"type"},
    "boolean": {"type"},
    "null": {"type"},
    "array": {"type", "items", "prefixItems", "minItems", "maxItems"},
    "object": {"type", "properties", "required", "additionalProperties"},
}
"""The keywords that are read, for each type."""


def read_json_text(reader: CoreReader, core: Core, place: Place) -> JSON:
    """A string that is a JSON text of the inner type; of any scalar, where there is none."""
    inner = core.get("schema")
    schema: JSON = True if inner is None else reader.read(inner, place)
    return {"type": "string", "pattern": f"^{_Texts(reader, place).of(schema)}$"}


class _Texts:
    """Patterns for the texts of schemas; `of` goes as deep as the type is nested."""

    def __init__(self, reader: CoreReader, place: Place) -> None:
        self._reader = reader
        self._place = place
        self._inside: list[str] = []

    def of(self, schema: JSON) -> str:
        """The texts of the values of a schema.

        Raises:
            UnsupportedFeatureError: No pattern can say it.
        """
        if schema is True:
            return _SCALAR
        if schema is False:
            return "[]"
        if "$ref" in schema and len(schema) == 1:
            return self._definition(schema["$ref"])
        if "anyOf" in schema and len(schema) == 1:
            return f"(?:{'|'.join([self.of(one) for one in schema['anyOf']])})"
        if "enum" in schema and len(schema) == 1:
            texts = [_escaped(json.dumps(value, ensure_ascii=False)) for value in schema["enum"]]
            return f"(?:{'|'.join(texts)})"
        kind = schema.get("type")
        if not isinstance(kind, str) or not set(schema) <= _MEANT[kind]:
            raise refuse("Json, a JSON text inside of a string, of this type", self._place)
        if kind == "integer":
            return integer_between(schema.get("minimum"), schema.get("maximum"))
        if kind == "array":
            return self._array(schema)
        if kind == "object":
            return self._object(schema)
        plain = {"number": _NUMBER, "string": _STRING, "boolean": "(?:true|false)", "null": "null"}
        return plain[kind]

    def _definition(self, pointer: str) -> str:
        if pointer in self._inside:
            raise refuse("Json of a model that contains itself", self._place)
        self._inside.append(pointer)
        text = self.of(self._reader.definition(pointer))
        self._inside.pop()
        return text

    def _array(self, schema: Core) -> str:
        fixed = [self.of(item) for item in schema.get("prefixItems", ())]
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        if fixed:
            if least != len(fixed) or most != len(fixed):
                raise refuse("Json of a tuple that may have more or fewer items", self._place)
            return rf"\[{','.join(fixed)}\]"
        if most == 0 or schema.get("items") is False:
            return r"\[\]"
        item = self.of(schema.get("items", True))
        bounds = f"{{{max(least - 1, 0)},{'' if most is None else most - 1}}}"
        items = f"{item}(?:,{item}){bounds}"
        return rf"\[{items}\]" if least else rf"\[(?:{items})?\]"

    def _object(self, schema: Core) -> str:
        rest = schema.get("additionalProperties", True)
        if "properties" in schema and rest is not False:
            raise refuse("Json of a model with keys of any name", self._place)
        if "properties" not in schema:
            member = f"{_STRING}:{self.of(rest)}"
            return rf"\{{(?:{member}(?:,{member})*)?\}}" if rest is not False else r"\{\}"
        required = schema.get("required", ())
        members = [
            (_escaped(json.dumps(key, ensure_ascii=False)) + ":" + self.of(value), key in required)
            for key, value in schema["properties"].items()
            if value is not False
        ]
        return rf"\{{{_ordered(members)}\}}"


def _ordered(members: list[tuple[str, bool]]) -> str:
    """Members in their order, with commas between; those that are not required may be missing."""
    first = next((i for i, (_, required) in enumerate(members) if required), None)
    if first is None:
        starts = [
            text + "".join([f"(?:,{later})?" for later, _ in members[i + 1 :]])
            for i, (text, _) in enumerate(members)
        ]
        return f"(?:{'|'.join(starts)})?" if starts else ""
    before = "".join([f"(?:{text},)?" for text, _ in members[:first]])
    after = "".join([f",{t}" if required else f"(?:,{t})?" for t, required in members[first + 1 :]])
    return before + members[first][0] + after


def _escaped(text: str) -> str:
    return "".join([f"\\{c}" if c in "^$\\.*+?()[]{}|/" else c for c in text])
