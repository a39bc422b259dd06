r"""What `\p{...}` means: general categories, scripts, script extensions and binary properties.

The tables are data of one Unicode version, so a schema means the same on every Python. ECMA-262
takes names as they are spelled, Rust as it likes: case, blanks, `_`, `-` and a leading "is" do not
matter there, and a name alone may be a script.
"""

from __future__ import annotations

import zlib
from base64 import b85decode
from functools import cache, lru_cache

from constrain.algebra.codepoints import CodepointSet, union
from constrain.frontends.regex.unicode_names import (
    BINARY,
    BREAKS,
    CATEGORIES,
    CATEGORY_ALIASES,
    MORE_BINARY,
    SCRIPT_ALIASES,
    SCRIPTS,
)
from constrain.frontends.regex.unicode_tables import TABLES

__all__ = ["loose_property_set", "property_set", "simple_folding"]


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
    if name in ("Script", "sc", "Script_Extensions", "scx"):
        return _script(script, extended=name in ("Script_Extensions", "scx"))
    return None


def loose_property_set(name: str, value: str | None) -> CodepointSet | None:
    """The code points of a property, or None if Rust's crate `regex` knows none of that name.

    Args:
        name: Of `name=value`, as above; alone, a binary property, a category or a script.
        value: A category, a script or a kind of break; None if the name stands alone.
    """
    name = _loose(name)
    if value is None:
        # Cf, Sc and LC are short names of properties too, but those are not binary.
        binary = _LOOSE_BINARY.get(name)
        if binary is not None:
            return _table(binary)
        category = _LOOSE_CATEGORIES.get(name)
        if category is not None:
            return _binary(category) if category in _COMPUTED else _category(category)
        script = _LOOSE_SCRIPTS.get(name)
        return None if script is None else _table(f"sc={script}")
    value = _loose(value)
    if name in ("gc", "generalcategory"):
        category = _LOOSE_CATEGORIES.get(value, "")
        return _binary(category) if category in _COMPUTED else _category(category)
    if name in _LOOSE_BREAKS:
        return _break(_LOOSE_BREAKS[name], value)
    script = _LOOSE_SCRIPTS.get(value)
    prefix = {"sc": "sc", "script": "sc", "scx": "scx", "scriptextensions": "scx"}.get(name)
    if script is None or prefix is None:
        return None
    return _script(script, extended=prefix == "scx")


@cache
def simple_folding() -> dict[int, int]:
    """The first letter of its class under simple case folding, for each letter that is not it."""
    folded = {}
    point = 0
    numbers = [int(n, 16) for n in _lines()["fold"].split()]
    for gap, step in zip(numbers[::2], numbers[1::2], strict=True):
        point += gap
        folded[point] = point - step
    return folded


_COMPUTED = ("Any", "ASCII", "Assigned")
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


def _loose(name: str) -> str:
    """A name in the form that loose matching compares."""
    kept = "".join([c for c in name.lower() if c.isascii() and c not in " _-"])
    starts_with_is = name.lower().startswith("is")
    return kept[2:] if starts_with_is and kept != "isc" else kept


_LOOSE_BINARY = {
    _loose(spelled): long
    for long, short in (BINARY | MORE_BINARY).items()
    for spelled in (long, short)
}
_LOOSE_CATEGORIES = {_loose(n): c for n, c in _CATEGORIES.items() if c != "Cs"} | {
    _loose(n): n for n in _COMPUTED
}
_LOOSE_BREAKS = {
    "gcb": "GCB",
    "graphemeclusterbreak": "GCB",
    "sb": "SB",
    "sentencebreak": "SB",
    "wb": "WB",
    "wordbreak": "WB",
}
_LOOSE_SCRIPTS = {_loose(n): long for n, long in _SCRIPTS.items()}


def _category(name: str) -> CodepointSet | None:
    short = _CATEGORIES.get(name)
    if short is None:
        return None
    if len(short) == 1:
        parts = [c for c in CATEGORIES if len(c) == 2 and c[0] == short and c not in _UNIONS]
    else:
        parts = list(_UNIONS.get(short, (short,)))
    return CodepointSet.from_ranges([r for part in parts for r in _table(f"gc={part}").ranges])


def _script(name: str, *, extended: bool) -> CodepointSet:
    own = f"scx={name}"
    return _table(own if extended and own in _lines() else f"sc={name}")


def _break(kind: str, value: str) -> CodepointSet | None:
    """The code points of one kind of break, by its loose name."""
    kinds = {_loose(n): long for long, short in BREAKS[kind].items() for n in (long, short)}
    long = kinds.get(value)
    if long == "Other":
        return ~union([_table(f"{kind}={k}") for k in BREAKS[kind] if k != "Other"])
    return None if long is None else _table(f"{kind}={long}")


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
