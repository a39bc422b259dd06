"""What was probably meant: what to say to whoever gave something else.

In: a value or a text where a grammar's text belongs, or a name that nothing has. Out: a hint. It is
asked only when reading has failed, so a grammar that is right never meets these guesses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from os import PathLike
from typing import Final, Literal

__all__ = ["hint_on_name", "hint_on_text", "hint_on_type", "nearest"]

_FILE_NAME: Final = re.compile(r"[^\s:\"'|*<>(){}\[\]]+\.[A-Za-z]\w*")
_LONGEST_NAME: Final = 4096
_COMPARED: Final = 2000
"""Names, of up to `_COMPARED_LENGTH` code points, that a name is compared with."""
_COMPARED_LENGTH: Final = 100
_GBNF_RULE: Final = re.compile(r"(?m)^[ \t]*[A-Za-z0-9_-]+[ \t]*::=")
_LARK_RULE: Final = re.compile(r"(?m)^[ \t]*[?!]*[A-Za-z_]\w*(?:\.-?\d+)?[ \t]*:(?![:=])")


def hint_on_type(value: object) -> str | None:
    """The way from a value that is no text to the text that it stands for."""
    if isinstance(value, PathLike):
        return "pass what the file holds: Path(name).read_text()"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "decode it: data.decode()"
    if isinstance(value, re.Pattern):
        return "pass its text and its flags: from_regex(compiled.pattern, flags='i')"
    return None


def hint_on_text(text: str, kind: Literal["lark", "gbnf"]) -> str | None:
    """What a text that does not parse looks like, if not like a grammar of its kind."""
    if len(text) <= _LONGEST_NAME and _FILE_NAME.fullmatch(text):
        return "pass what the file holds, not its name: Path(name).read_text()"
    if kind == "lark" and _GBNF_RULE.search(text) and not _LARK_RULE.search(text):
        return "this looks like GBNF, which Grammar.from_gbnf reads; in Lark a rule is `name: ...`"
    if kind == "gbnf" and _LARK_RULE.search(text) and not _GBNF_RULE.search(text):
        return "this looks like Lark, which Grammar.from_lark reads; in GBNF it is `name ::= ...`"
    return None


def hint_on_name(name: str, known: Iterable[str], otherwise: str) -> str:
    """What to write for a name that nothing has, or another hint if no name is near it."""
    near = nearest(name, known)
    return otherwise if near is None else f"did you mean {near!r}?"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that was probably meant."""
    few = [n for n, _ in zip(known, range(_COMPARED), strict=False) if len(n) <= _COMPARED_LENGTH]
    return next(iter(get_close_matches(name[:_COMPARED_LENGTH], few, 1)), None)
