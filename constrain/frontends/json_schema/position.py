"""Where the beginning of a JSON text stops: in which objects and arrays, and in what."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Final, Literal

__all__ = ["Level", "Position", "position_of"]

State = Literal["value", "string", "number", "word", "key", "in key", "colon", "after"]

_BLANKS: Final = re.compile(rb"[ \t\n\r]*+")
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_NUMBER: Final = re.compile(rb"[-+0-9.eE]++")
_WORD: Final = re.compile(rb"[a-z]++")


@dataclass(slots=True)
class Level:
    """An object or array that is open.

    Attributes:
        keys: Of an object, those that were read, the one in progress last; None of an array.
        index: Of an array, the number of the item in progress or, after a comma, to come.
    """

    keys: list[str] | None
    index: int = 0


@dataclass(slots=True)
class Position:
    """Where a text stops.

    Attributes:
        levels: What is open, the outermost first.
        state: "value": one begins here. "string", "number", "word": in the middle of one. "key": a
            key or the end of the object. "in key", "colon": after that. "after": after a value.
        begun: The bytes of the string, number, word or key in progress.
        first: Nothing is in the innermost level yet.
    """

    levels: list[Level] = field(default_factory=list)
    state: State = "value"
    begun: bytes = b""
    first: bool = False


def position_of(text: bytes) -> Position:
    """Read the beginning of a JSON text.

    Args:
        text: It may stop anywhere; no byte in it is wrong.

    Cost: O(bytes).
    """
    here = Position()
    at = 0
    while True:
        found = _BLANKS.match(text, at)
        assert found is not None
        at = found.end()
        if at == len(text):
            return here
        at = _step(here, text, at)


def _step(here: Position, text: bytes, at: int) -> int:
    """Read one token; where it ends."""
    byte = text[at : at + 1]
    if byte in b"{[":
        here.levels.append(Level([] if byte == b"{" else None))
        here.state, here.first = ("key" if byte == b"{" else "value"), True
        return at + 1
    if byte in b"}]":
        if here.levels:
            here.levels.pop()
        here.state, here.first = "after", False
        return at + 1
    if byte == b",":
        inner = here.levels[-1] if here.levels else Level(None)
        here.state, here.first = ("value" if inner.keys is None else "key"), False
        inner.index += inner.keys is None
        return at + 1
    if byte == b":":
        here.state = "value"
        return at + 1
    return _scalar(here, text, at)


def _scalar(here: Position, text: bytes, at: int) -> int:
    is_key = here.state == "key"
    if text[at : at + 1] == b'"':
        found = _STRING.match(text, at)
        if found is None:
            here.state, here.begun = ("in key" if is_key else "string"), text[at:]
            return len(text)
        if is_key and here.levels and here.levels[-1].keys is not None:
            here.levels[-1].keys.append(_decoded(found.group()))
        here.state, here.first = ("colon" if is_key else "after"), False
        return found.end()
    is_number = text[at : at + 1] in b"-0123456789"
    found = (_NUMBER if is_number else _WORD).match(text, at)
    end = at + 1 if found is None else found.end()
    here.first = False
    if end == len(text):
        here.state, here.begun = ("number" if is_number else "word"), text[at:end]
    else:
        here.state = "after"
    return end


def _decoded(text: bytes) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""
