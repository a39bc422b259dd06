r"""What `%import common.NAME` brings: the terminals of Lark's library `common`, as patterns.

They are the texts of Lark's, but for `ESCAPED_STRING`, in which a newline may stand here, and the
comments, which end where they first can: no lookaround and no lazy quantifier is needed to say so.
"""

from __future__ import annotations

from typing import Final

__all__ = ["COMMON"]

_DECIMAL: Final = r"(?:[0-9]+\.[0-9]*|\.[0-9]+)"
_EXP: Final = r"[eE][+-]?[0-9]+"
_FLOAT: Final = rf"(?:[0-9]+{_EXP}|{_DECIMAL}(?:{_EXP})?)"
_NUMBER: Final = rf"(?:{_FLOAT}|[0-9]+)"

COMMON: Final[dict[str, str]] = {
    "DIGIT": r"[0-9]",
    "HEXDIGIT": r"[a-fA-F0-9]",
    "INT": r"[0-9]+",
    "SIGNED_INT": r"[+-]?[0-9]+",
    "DECIMAL": _DECIMAL,
    "_EXP": _EXP,
    "FLOAT": _FLOAT,
    "SIGNED_FLOAT": rf"[+-]?{_FLOAT}",
    "NUMBER": _NUMBER,
    "SIGNED_NUMBER": rf"[+-]?{_NUMBER}",
    "ESCAPED_STRING": r'"(?:[^"\\]|\\[^\n])*"',
    "LCASE_LETTER": r"[a-z]",
    "UCASE_LETTER": r"[A-Z]",
    "LETTER": r"[A-Za-z]",
    "WORD": r"[A-Za-z]+",
    "CNAME": r"[_A-Za-z][_A-Za-z0-9]*",
    "WS_INLINE": r"[ \t]+",
    "WS": r"[ \t\f\r\n]+",
    "CR": r"\r",
    "LF": r"\n",
    "NEWLINE": r"(?:\r?\n)+",
    "SH_COMMENT": r"#[^\n]*",
    "CPP_COMMENT": r"//[^\n]*",
    "C_COMMENT": r"/\*(?:[^*]|\*+[^*/])*\*+/",
    "SQL_COMMENT": r"--[^\n]*",
}
"""Patterns by name."""
