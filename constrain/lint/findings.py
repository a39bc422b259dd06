"""What a linter says: what it found, where, and what to do."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from constrain.errors import GrammarError

__all__ = ["CODES", "Finding", "Severity", "Source"]

Severity = Literal["error", "warning", "note"]

CODES: Final[Mapping[str, Severity]] = MappingProxyType(
    {
        "syntax": "error",
        "undefined-name": "error",
        "unsupported": "error",
        "unsatisfiable": "error",
        "limit": "error",
        "invalid": "error",
        "never-finishes": "warning",
        "unused-rule": "warning",
        "unused-terminal": "warning",
        "cyclic-rule": "warning",
        "nullable-loop": "warning",
        "nullable-repeat": "note",
        "duplicate-alternative": "warning",
        "terminal-never-wins": "warning",
        "terminal-overlap": "warning",
        "ambiguous-terminals": "note",
        "unbounded-whitespace": "note",
        "unbounded-repetition": "note",
        "absent-token": "error",
        "token-as-text": "warning",
        "unspellable": "error",
        "unused-definition": "warning",
    }
)
"""Every code, and how severe what it names is.

An *error* is a grammar that will not do what it says; a *warning* is almost surely a mistake; a
*note* may be meant, and has a price.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        code: One of `CODES`; stable.
        severity: "error", "warning" or "note".
        message: What is wrong, in one sentence.
        advice: What to do about it.
        span: Half-open (start, end) offsets in code points into the text, or None.
        line: From 1; 0 without a place.
        column: In code points, from 1; 0 without a place.
        excerpt: The line of the place and carets under it, or "".
        example: The shortest text that shows it, where there is one: two terminals match it.
    """

    code: str
    severity: Severity
    message: str
    advice: str
    span: tuple[int, int] | None = None
    line: int = 0
    column: int = 0
    excerpt: str = ""
    example: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the form that `--json` prints."""
        found: dict[str, Any] = {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "advice": self.advice,
            "line": self.line or None,
            "column": self.column or None,
            "span": None if self.span is None else list(self.span),
        }
        if self.example is not None:
            found["example"] = self.example
        return found


class Source:
    """A text, which knows the places in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = [0, *[found.end() for found in re.finditer("\n", text)]]

    def finding(
        self,
        code: str,
        message: str,
        advice: str,
        span: tuple[int, int] | None = None,
        *,
        example: str | None = None,
    ) -> Finding:
        """A finding at a span."""
        severity = CODES[code]
        if span is None:
            return Finding(code, severity, message, advice, example=example)
        start = max(0, min(span[0], len(self.text)))
        span = (start, max(start, min(span[1], len(self.text))))
        line = self.line(start)
        return Finding(
            code,
            severity,
            message,
            advice,
            span,
            line,
            start - self._lines[line - 1] + 1,
            self._excerpt(span),
            example,
        )

    def line(self, at: int) -> int:
        """The line of a place, from 1."""
        return bisect_right(self._lines, at)

    def _excerpt(self, span: tuple[int, int]) -> str:
        """As the errors of `constrain` draw it, without the line that says line and column."""
        line = self.line(span[0])
        first = self._lines[line - 1]
        end = self._lines[line] - 1 if line < len(self._lines) else len(self.text)
        inside = (span[0] - first, span[1] - first)
        drawn = str(GrammarError("", source=self.text[first:end], span=inside)).split("\n")
        return "\n".join([shown[2:] for shown in drawn[2:4]])
