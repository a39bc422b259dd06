r"""A grammar text and a position in it: blanks, names, counts, characters and their escapes.

Characters are llama.cpp's: `\n \r \t \\ \" \[ \] \-`, `\xHH`, `\uHHHH`, `\UHHHHHHHH`, and raw code
points. xgrammar's further escapes of single characters are read too; its `\x` with any number of
digits is not, since `\x414` is two characters in llama.cpp.
"""

from __future__ import annotations

import re
from typing import Final

from constrain.errors import GrammarSyntaxError, UnsupportedFeatureError
from constrain.limits import Limits

__all__ = ["Reader", "quoted"]

_BLANKS: Final = re.compile(r"(?:[ \t]++|#[^\r\n]*+)*+")
_BLANK_LINES: Final = re.compile(r"(?:[ \t\r\n]++|#[^\r\n]*+)*+")
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_DIGITS: Final = re.compile(r"[0-9]+")
_ESCAPES: Final = {
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
    "0": "\0",
    "e": "\x1b",
}
_THEMSELVES: Final = frozenset("\\\"[]-'/?^$.*+(){}|")
_HEX_DIGITS: Final = {"x": 2, "u": 4, "U": 8}


class Reader:
    """A grammar text, read from left to right."""

    def __init__(self, source: str, limits: Limits) -> None:
        limits.check(
            "max_input_bytes", len(source.encode("utf-8", "surrogatepass")), "reading a grammar"
        )
        self.source = source
        self.limits = limits
        self.at = 0
        self._num_nodes = 0
        nul = source.find("\0")
        if nul >= 0:
            raise self.error("a NUL byte in a grammar", nul, hint="write \\x00 for the character")

    def spend(self) -> None:
        """Count one more part of the grammar."""
        self._num_nodes += 1
        self.limits.check("max_source_nodes", self._num_nodes, "reading a grammar")

    @property
    def at_end(self) -> bool:
        """Nothing is left."""
        return self.at >= len(self.source)

    def peek(self, width: int = 1) -> str:
        """The next code points; fewer, or none, near the end."""
        return self.source[self.at : self.at + width]

    def match(self, text: str) -> bool:
        """Step over `text` if it comes next."""
        if self.source.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def skip(self, *, lines: bool) -> None:
        """Step over blanks and comments, and over the ends of lines too if `lines`."""
        found = (_BLANK_LINES if lines else _BLANKS).match(self.source, self.at)
        assert found is not None
        self.at = found.end()

    def name(self) -> str:
        """The name that comes next; empty if none does."""
        return self._take(_NAME)

    def count(self, what: str) -> int:
        """The whole number that comes next."""
        start = self.at
        digits = self._take(_DIGITS)
        if not digits:
            raise self.error(f"expected {what}, found {self.found()}", start)
        if len(digits) > 18:
            raise self.error(f"{what} has more than 18 digits", start, self.at)
        return int(digits)

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.source, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found.group()

    def character(self, what: str) -> str:
        """One character of a literal or class, escaped or not."""
        start = self.at
        if self.at_end:
            raise self.error(f"{what} is not closed", start)
        self.at += 1
        character = self.source[start]
        return self._escape(start) if character == "\\" else character

    def _escape(self, start: int) -> str:
        letter = self.peek()
        self.at += len(letter)
        if letter in _HEX_DIGITS:
            return self._hex(start, _HEX_DIGITS[letter])
        if letter and letter in _THEMSELVES:
            return letter
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        raise self.error(
            f"unknown escape {self.source[start : self.at]!r}",
            start,
            self.at,
            hint="there is no \\d, \\w or \\s: write [0-9], [a-zA-Z0-9_] or [ \\t\\n\\r]"
            if letter in ("d", "D", "w", "W", "s", "S")
            else 'escapes are \\n \\r \\t \\\\ \\" \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH',
        )

    def _hex(self, start: int, width: int) -> str:
        digits = self.peek(width)
        if len(digits) < width or any(d not in "0123456789abcdefABCDEF" for d in digits):
            raise self.error(
                f"{self.source[start : self.at]} needs {width} hexadecimal digits", start, self.at
            )
        self.at += width
        point = int(digits, 16)
        if point > 0x10FFFF:
            raise self.error(
                f"{self.source[start : self.at]} is past U+10FFFF, the last code point",
                start,
                self.at,
            )
        return chr(point)

    def found(self) -> str:
        """What comes next, for a message."""
        return "the end of the grammar" if self.at_end else repr(self.peek())

    def error(
        self, reason: str, start: int, end: int | None = None, *, hint: str | None = None
    ) -> GrammarSyntaxError:
        """An error at `start`, one code point wide if `end` is not given."""
        span = (start, start + 1 if end is None else end)
        return GrammarSyntaxError(reason, source=self.source, span=span, hint=hint)

    def unsupported(
        self, reason: str, start: int, end: int, *, hint: str | None = None
    ) -> UnsupportedFeatureError:
        """What is valid, but cannot be honoured exactly."""
        return UnsupportedFeatureError(reason, source=self.source, span=(start, end), hint=hint)


def quoted(name: str) -> str:
    """A name for a message, which may be as long as a text."""
    return repr(name if len(name) <= 60 else f"{name[:50]}...")
