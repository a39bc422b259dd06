"""Fields of JSON objects that a person wrote, and errors that say where they are wrong."""

from __future__ import annotations

import reprlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from constrain.errors import GrammarError, UnsupportedFeatureError
from constrain.frontends.json_schema.read import JSON, escape_pointer
from constrain.frontends.mistaken import hint_on_name

__all__ = ["Fields", "check", "placed"]

_Kind: TypeAlias = type | tuple[type, ...]
_KINDS: Final[dict[_Kind, str]] = {
    str: "a string",
    int: "an integer",
    bool: "a boolean",
    list: "an array",
    dict: "an object",
    (dict, bool): "an object or a boolean",
    (str, int): "a string or an integer",
    (str, list, dict): "a string, an array of strings or a token",
    (str, dict): "a string or a token",
    (str, dict, bool): "a JSON Schema",
}


@contextmanager
def placed(pointer: str) -> Iterator[None]:
    """Put the JSON pointer of a part before those of the errors that it raises."""
    try:
        yield
    except GrammarError as error:
        error.pointer = pointer + (error.pointer or "#")[1:]
        raise


class Fields:
    """The fields of one object.

    Args:
        value: What stands there.
        pointer: Where.
        what: What it should be, for messages: "a format".

    Attributes:
        value: The object.

    Raises:
        GrammarError: It is no object.
    """

    def __init__(self, value: JSON, pointer: str, what: str) -> None:
        if not isinstance(value, dict):
            raise GrammarError(f"{what} is an object, not {_shown(value)}", pointer=pointer)
        self.pointer = pointer
        self.what = what
        self.value = value

    def __contains__(self, key: str) -> bool:
        return self.value.get(key) is not None

    def only(self, known: Collection[str]) -> None:
        """Refuse fields that are not known, unless they are null.

        Raises:
            UnsupportedFeatureError: There is one.
        """
        for key in self.value:
            if key not in known and key in self:
                raise UnsupportedFeatureError(
                    f"{self.what} with a field {key!r}, which is not known here",
                    pointer=self.at(key),
                    hint=hint_on_name(key, known, f"the fields are {', '.join(map(repr, known))}"),
                )

    def at(self, *keys: str | int) -> str:
        """The pointer of a field, or of what is inside it."""
        return "/".join([self.pointer, *[escape_pointer(str(key)) for key in keys]])

    def get(self, key: str, kind: _Kind, default: JSON = None) -> Any:  # noqa: ANN401 - of `kind`
        """A field of a kind, or the default if it is absent or null.

        Raises:
            GrammarError: It is of another kind, or it is absent and there is no default.
        """
        value = self.value.get(key)
        if value is None:
            if default is None:
                raise GrammarError(
                    f"{self.what} needs a field {key!r}, {_KINDS[kind]}", pointer=self.pointer
                )
            return default
        check(value, kind, f"{key!r} of {self.what}", self.at(key))
        return value

    def strings(self, key: str, *, required: bool = False, kind: _Kind = str) -> list[Any]:
        """A field that is an array of strings, or of strings and integers; empty if absent."""
        items: list[Any] = self.get(key, list, None if required else [])
        for i, item in enumerate(items):
            check(item, kind, f"item {i} of {key!r}", self.at(key, i))
        return items


def check(value: JSON, kind: _Kind, what: str, pointer: str) -> None:
    """Refuse a value that is not of a kind. A boolean is no integer.

    Raises:
        GrammarError: It is not.
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise GrammarError(f"{what} is {_KINDS[kind]}, not {_shown(value)}", pointer=pointer)


def _shown(value: JSON) -> str:
    return reprlib.repr(value)
