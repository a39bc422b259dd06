r"""What `\p{...}` means: general categories, scripts, script extensions and binary properties.

The tables are data of one Unicode version, so a schema means the same on every Python.
"""

from __future__ import annotations

import zlib
from base64 import b85decode
from functools import cache, lru_cache

from constrain.algebra.codepoints import CodepointSet
from constrain.frontends.regex.unicode_names import (
    BINARY,
    CATEGORIES,
    CATEGORY_ALIASES,
    SCRIPT_ALIASES,
    SCRIPTS,
)
from constrain.frontends.regex.unicode_tables import TABLES

__all__ = ["property_set"]


def property_set(name: str, value: str | None) -> CodepointSet | None:
    """The code points of a property, or None if ECMA-262 knows none of that name.

    Args:
        name: Of `name=value`, General_Category, Script, Script_Extensions or their short names;
            alone, a category or a binary property.
        value: A category or script; None if the name stands alone.
    """
    if value is None:
        category = _category(name)
        return _binary(name) if category is None else category
    if name in ("General_Category", "gc"):
        return _category(value)
    script = _SCRIPTS.get(value)
    if script is None:
        return None
    if name in ("Script", "sc"):
        return _table(f"sc={script}")
    if name in ("Script_Extensions", "scx"):
        own = f"scx={script}"
        return _table(own if own in _lines() else f"sc={script}")
    return None


_CATEGORIES = (
    {short: short for short in CATEGORIES}
    | {long: short for short, long in CATEGORIES.items()}
    | CATEGORY_ALIASES
)
_BINARY = {long: long for long in BINARY} | {short: long for long, short in BINARY.items()}
_SCRIPTS = (
    {long: long for long in SCRIPTS}
    | {short: long for long, short in SCRIPTS.items()}
    | SCRIPT_ALIASES
)
_UNIONS = {"LC": ("Ll", "Lt", "Lu"), "Cs": ()}


def _category(name: str) -> CodepointSet | None:
    short = _CATEGORIES.get(name)
    if short is None:
        return None
    if len(short) == 1:
        parts = [c for c in CATEGORIES if len(c) == 2 and c[0] == short and c not in _UNIONS]
    else:
        parts = list(_UNIONS.get(short, (short,)))
    return CodepointSet.from_ranges([r for part in parts for r in _table(f"gc={part}").ranges])


def _binary(name: str) -> CodepointSet | None:
    if name == "Any":
        return CodepointSet.ANY
    if name == "ASCII":
        return CodepointSet.from_ranges([(0, 0x7F)])
    if name == "Assigned":
        return ~_table("gc=Cn")
    long = _BINARY.get(name)
    return None if long is None else _table(long)


@cache
def _lines() -> dict[str, str]:
    text = zlib.decompress(b85decode(TABLES)).decode("ascii")
    return dict([line.split(" ", 1) for line in text.split("\n")])


@lru_cache(maxsize=64)
def _table(name: str) -> CodepointSet:
    ranges = []
    end = 0
    numbers = [int(n, 16) for n in _lines()[name].split()]
    for gap, length in zip(numbers[::2], numbers[1::2], strict=True):
        start = end + gap
        end = start + length
        ranges.append((start, end - 1))
    return CodepointSet.from_ranges(ranges)
