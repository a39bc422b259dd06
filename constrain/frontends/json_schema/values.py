"""JSON values in a form that compares as JSON Schema says: by value, and 1 is 1.0 but not true.

Arrays and objects are kept once each, so comparing two of them is comparing identities, however
deep they are.

    >>> keep = Values()
    >>> a = keep.freeze([1, {"x": True, "y": None}], "#")
    >>> a is keep.freeze([1.0, {"y": None, "x": True}], "#")
    True
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from constrain.frontends.json_schema.read import JSON, exact

__all__ = ["ArrayValue", "Frozen", "ObjectValue", "Values", "Word"]


class Word(enum.Enum):
    """The values that are words."""

    NULL = "null"
    FALSE = "false"
    TRUE = "true"


@dataclass(frozen=True, slots=True, eq=False)
class ArrayValue:
    """An array."""

    items: tuple[Frozen, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ObjectValue:
    """An object, its members in the order in which they were first written."""

    members: tuple[tuple[str, Frozen], ...]


Frozen: TypeAlias = str | Fraction | Word | ArrayValue | ObjectValue
_WORDS = {None: Word.NULL, False: Word.FALSE, True: Word.TRUE}


class Values:
    """The arrays and objects among the values of one schema."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, ArrayValue | ObjectValue] = {}

    def freeze(self, value: JSON, pointer: str) -> Frozen:
        """The frozen form of a JSON value.

        Args:
            value: The value.
            pointer: Where it stands, for messages.

        Raises:
            UnsupportedFeatureError: A number in it has too many digits.

        Cost: one pass, with a stack of its own.
        """
        if isinstance(value, str):
            return value
        done: list[Frozen] = []
        todo: list[tuple[bool, JSON]] = [(False, value)]
        while todo:
            complete, v = todo.pop()
            if isinstance(v, (list, dict)):
                if complete:
                    done.append(self._keep(v, done))
                else:
                    todo.append((True, v))
                    parts = v.values() if isinstance(v, dict) else v
                    todo += [(False, part) for part in reversed(parts)]
            elif v is None or isinstance(v, bool):
                done.append(_WORDS[v])
            elif isinstance(v, str):
                done.append(v)
            else:
                done.append(exact(v, pointer))
        return done[0]

    def _keep(self, value: JSON, done: list[Frozen]) -> Frozen:
        """The array or object whose parts are the last ones of `done`, which are taken away."""
        count = len(value)
        parts = done[len(done) - count :]
        del done[len(done) - count :]
        if isinstance(value, list):
            items = tuple(parts)
            return self._kept.setdefault(("array", items), ArrayValue(items))
        members = tuple(zip(value, parts, strict=True))
        return self._kept.setdefault(("object", frozenset(members)), ObjectValue(members))
