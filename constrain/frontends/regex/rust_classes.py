r"""What Rust's crate `regex` means by \d, \s, \w and `[:alpha:]`: with Unicode, and without."""

from __future__ import annotations

from functools import cache
from typing import Final

from constrain.algebra.codepoints import CodepointSet, union
from constrain.frontends.regex.unicode_properties import loose_property_set

__all__ = ["ASCII", "ASCII_CLASSES", "is_blank", "is_named_with", "perl_class"]


def _ranges(*pairs: tuple[int, int]) -> CodepointSet:
    return CodepointSet.from_ranges(pairs)


ASCII: Final = _ranges((0, 0x7F))
ASCII_CLASSES: Final = {
    "alnum": _ranges((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": _ranges((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ASCII,
    "blank": CodepointSet.of(" \t"),
    "cntrl": _ranges((0, 0x1F), (0x7F, 0x7F)),
    "digit": _ranges((0x30, 0x39)),
    "graph": _ranges((0x21, 0x7E)),
    "lower": _ranges((0x61, 0x7A)),
    "print": _ranges((0x20, 0x7E)),
    "punct": _ranges((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": _ranges((9, 13), (0x20, 0x20)),
    "upper": _ranges((0x41, 0x5A)),
    "word": _ranges((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "xdigit": _ranges((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
"""The classes that are written `[:name:]` in a class."""

_ASCII_NAMES: Final = {"d": "digit", "s": "space", "w": "word"}


@cache
def perl_class(letter: str, *, unicode: bool) -> CodepointSet:
    """What the escape of a class means.

    Args:
        letter: One of d, s, w.
        unicode: The flag u is on.
    """
    if not unicode:
        return ASCII_CLASSES[_ASCII_NAMES[letter]]
    if letter == "w":
        parts = ("Alphabetic", "M", "Nd", "Pc", "Join_Control")
        return union([_property(p) for p in parts])
    return _property("Nd" if letter == "d" else "White_Space")


def is_blank(letter: str) -> bool:
    """Whether a code point is left out under the flag x."""
    return _property("White_Space").contains(letter)


def is_named_with(letter: str, *, first: bool) -> bool:
    """Whether the name of a group may have this code point, or begin with it."""
    if letter == "_" or _property("Alphabetic").contains(letter):
        return True
    return not first and (letter in ".[]" or _property("N").contains(letter))


@cache
def _property(name: str) -> CodepointSet:
    found = loose_property_set(name, None)
    assert found is not None, name
    return found
