"""What was given where a grammar's text belongs: what to say to whoever gave something else.

In: a value, or a text that does not parse. Out: a hint, or None. It is asked only when reading has
failed, so a grammar that is right never meets these guesses.
"""

from __future__ import annotations

import re
from os import PathLike
from typing import Final, Literal

__all__ = ["hint_on_text", "hint_on_type"]

_FILE_NAME: Final = re.compile(r"[^\s:\"'|*<>(){}\[\]]+\.[A-Za-z]\w*")
_LONGEST_NAME: Final = 4096
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
