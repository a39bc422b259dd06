"""Strings, bytes, UUIDs and the few other types that are written as one string."""

from __future__ import annotations

import re
from typing import Final

from constrain.frontends.pydantic.core import JSON, Core, Place, refuse, setting
from constrain.frontends.pydantic.patterns import to_ecma

__all__ = [
    "BASE64",
    "BASE64_ASCII",
    "BASE64_URL",
    "read_bytes",
    "read_complex",
    "read_str",
    "read_uuid",
]

_SPACE: Final = "\\s\\x1c-\\x1f\\x85\\u200b\\p{White_Space}"
_TRIMMED: Final = f"^(?:[^{_SPACE}](?:[^]*[^{_SPACE}])?)?$"
"""Nothing for `strip_whitespace` to strip, whoever's notion of white space counts."""
_FLAGS: Final = ((re.I, "i"), (re.M, "m"), (re.S, "s"), (re.X, "x"))


def read_str(core: Core, place: Place) -> JSON:
    """A str. Lengths and patterns hold for what is left after `strip_whitespace`."""
    schema: Core = {"type": "string"}
    patterns = []
    least = setting(core, place, "min_length", "str_min_length")
    most = setting(core, place, "max_length", "str_max_length")
    if least:
        schema["minLength"] = least
    if most is not None:
        schema["maxLength"] = most
    pattern = core.get("pattern")
    if pattern is not None:
        patterns.append(_ecma(pattern, core, place))
    if core.get("ascii_only") or place.config.get("str_ascii_only"):
        patterns.append("^[\\x00-\\x7f]*$")
    if setting(core, place, "strip_whitespace", "str_strip_whitespace") and (least or patterns):
        patterns.append(_TRIMMED)
    if len(patterns) == 1:
        schema["pattern"] = patterns[0]
    elif patterns:
        schema["allOf"] = [{"pattern": one} for one in patterns]
    return schema


def _ecma(pattern: str | re.Pattern[str], core: Core, place: Place) -> str:
    if isinstance(pattern, re.Pattern):
        flags = "".join([letter for flag, letter in _FLAGS if pattern.flags & flag])
        return to_ecma(pattern.pattern, "python-re", flags=flags, place=place.path)
    engine = setting(core, place, "regex_engine") or "rust-regex"
    return to_ecma(pattern, engine, place=place.path)


# A group of four characters is three bytes; what is left over ends in zero bits.


def _base64(letters: str, bounds: tuple[int, int | None] = (0, None)) -> str:
    """Padded base 64 of so many bytes, at least and at most."""
    low, high = bounds
    rests = (
        (0, ""),
        (1, f"[{letters}][AQgw]=="),
        (2, f"[{letters}]{{2}}[AEIMQUYcgkosw048]="),
    )
    parts = []
    for size, rest in rests:
        least = max(0, -(-(low - size) // 3))
        most = None if high is None else (high - size) // 3
        if most is None or least <= most:
            count = f"{{{least},{'' if most is None else most}}}"
            parts.append(f"(?:[{letters}]{{4}}){count}{rest}")
    return f"(?:{'|'.join(parts)})" if parts else "[]"


_STANDARD: Final = "A-Za-z0-9+/"
_URL: Final = "A-Za-z0-9_-"
BASE64: Final = f"^{_base64(_STANDARD)}$"
BASE64_URL: Final = f"^{_base64(_URL)}$"


def _ascii_base64() -> str:
    """Base 64 of bytes below 128, so of UTF-8 whatever they are, in letters of both alphabets."""
    half = "A-Za-f"  # a first bit of 0
    second = "A-HQ-Xg-nw-z0-3"  # xx0xxx
    third = "".join([chr(c) for c in map(ord, _LETTERS[:62]) if _LETTERS.index(chr(c)) & 2 == 0])
    whole = f"[{half}][{second}][{third}][A-Za-z0-9]"
    one = f"[{half}][Qgw]=="
    two = f"[{half}][{second}][EIMQUYcgkosw048]="
    return f"^(?:{whole})*(?:{one}|{two})?$"


_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
BASE64_ASCII: Final = _ascii_base64()


def read_bytes(core: Core, place: Place) -> JSON:
    """Bytes: a string in UTF-8, base 64 or hexadecimal, as `val_json_bytes` says.

    With lengths, which count bytes, UTF-8 is ASCII.
    """
    least, most = core.get("min_length") or 0, core.get("max_length")
    bounds = f"{{{least},{'' if most is None else most}}}"
    encoding = place.config.get("val_json_bytes") or "utf8"
    if encoding == "hex":
        return {"type": "string", "pattern": f"^(?:[0-9a-fA-F]{{2}}){bounds}$"}
    if encoding == "base64":
        either = "|".join([_base64(letters, (least, most)) for letters in (_STANDARD, _URL)])
        return {"type": "string", "pattern": f"^(?:{either})$"}
    if not least and most is None:
        return {"type": "string"}
    return {"type": "string", "pattern": f"^[\\x00-\\x7f]{bounds}$"}


def read_uuid(core: Core, place: Place) -> JSON:
    """A UUID with its hyphens; of one version, if it must be."""
    version = core.get("version")
    third = "[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}"
    if version is not None:
        third = f"{version}[0-9A-Fa-f]{{3}}-[89ABab][0-9A-Fa-f]{{3}}"
    pattern = f"^[0-9A-Fa-f]{{8}}-[0-9A-Fa-f]{{4}}-{third}-[0-9A-Fa-f]{{12}}$"
    return {"type": "string", "pattern": pattern}


def read_complex(core: Core, place: Place) -> JSON:
    """A complex number: `1.5-2j`, and `1.5` and `2j`."""
    if place.as_key:
        raise refuse("complex numbers as keys", place)
    number = r"[0-9]{1,15}(?:\.[0-9]{1,15})?"
    return {"type": "string", "pattern": f"^-?{number}(?:(?:[+-]{number})?j)?$"}
