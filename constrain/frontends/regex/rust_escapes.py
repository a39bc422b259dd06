r"""Escapes of Rust's crate `regex` that mean a code point or a property: `\x{FF}`, `\pL`."""

from __future__ import annotations

from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.frontends.regex.rust_flags import VERBOSE, FlaggedReader
from constrain.frontends.regex.unicode_properties import loose_property_set

__all__ = ["EscapeReader"]

_DIGITS: Final = "0123456789"
_HEX: Final = "0123456789abcdefABCDEF"
_HEX_WIDTHS: Final = {"x": 2, "u": 4, "U": 8}
_CONTROLS: Final = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}


class EscapeReader(FlaggedReader):
    """Reads escapes that mean a code point or a property, the same in a class and outside."""

    _in_braces = False

    def read_escaped_point(self, start: int) -> int:
        """The code point that an escape means, in a class or not; `at` is after the backslash."""
        this = self.peek()
        if not this:
            raise self.error(
                "incomplete escape: the pattern ends after a backslash",
                start,
                hint="write \\\\ for one",
            )
        if this in _HEX_WIDTHS:
            self.at += 1
            return self._hex(_HEX_WIDTHS[this], start)
        self.at += 1
        if this in _DIGITS:
            raise self.error(
                f"\\{this} would be a back-reference, and Rust has none",
                start,
                self.at,
                hint="write out what the group may match, or \\xHH for a code point",
            )
        if this in _CONTROLS:
            return _CONTROLS[this]
        if not this.isascii() or this.isalnum() or this in "<>":
            raise self.error(
                f"unrecognized escape \\{this}",
                start,
                self.at,
                hint="write the character without backslash",
            )
        return ord(this)

    def is_byte(self, start: int) -> bool:
        r"""Whether the escape read last was \xHH, which is a byte without Unicode."""
        return not self.unicode and self.source.startswith("\\x", start) and not self._in_braces

    def _hex(self, width: int, start: int) -> int:
        """The number of an escape; `at` is after its letter."""
        self._in_braces = False
        if not self.at_more():
            raise self._hex_error("the pattern ends in an escape", start, self.at)
        if self.match("{"):
            self._in_braces = True
            digits = self.take_more(_HEX, len(self.source))
            self._check_hex_digit("}")
            if not self.match("}"):
                raise self._hex_error("a code point in braces without its }", start, self.at)
            if not digits:
                raise self._hex_error("an escape without digits", start, self.at)
        else:
            digits = self.take_more(_HEX, width)
            if len(digits) < width:
                self._check_hex_digit("")
                raise self._hex_error(
                    f"an escape needs {width} digits, not {len(digits)}", start, self.at
                )
        value = int(digits[-9:], 16) if len(digits.lstrip("0")) <= 8 else 2**32
        if value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
            raise self._hex_error("no code point of a text has this number", start, self.at)
        return value

    def _check_hex_digit(self, end: str) -> None:
        """Refuse what comes next, unless it is `end` or the end of the pattern."""
        this = self.peek()
        if this and this != end:
            raise self._hex_error(f"{this!r} is no hexadecimal digit", self.at, self.at + 1)

    def _hex_error(self, reason: str, start: int, end: int) -> Exception:
        hint = "write \\xHH, \\uHHHH, \\UHHHHHHHH or \\x{H...}, at most 10FFFF and no surrogate"
        return self.error(f"invalid escape: {reason}", start, end, hint=hint)

    def read_property(self, this: str, start: int) -> CodepointSet:
        r"""The set of `\p{...}` or `\pL`; `at` is after the letter."""
        if not self.at_more():
            raise self.error(
                f"\\{this} without a property", start, self.at, hint="write \\pL or \\p{Greek}"
            )
        name, equals, value = self.peek(), "", ""
        negated = this == "P"
        first = self.at
        self.at += 1
        if name == "\\":
            raise self.error(
                f"\\{this} needs a letter or a name in braces",
                start,
                self.at,
                hint="write \\pL or \\p{Greek}",
            )
        if name == "{":
            name = self._until_brace()
            if not self.match("}"):
                raise self.error(
                    "a property without its }",
                    first,
                    self.at,
                    hint="write \\p{Greek}, or \\pL for one letter",
                )
            for equals in ("!=", ":", "="):
                if equals in name:
                    name, _, value = name.partition(equals)
                    negated ^= equals == "!="
                    break
            else:
                equals = ""
        if not self.unicode:
            raise self.error(
                "a property of Unicode where (?-u) turned Unicode off",
                start,
                self.at,
                hint="turn it on again: (?u:...)",
            )
        points = loose_property_set(name, value if equals else None)
        if points is None:
            raise self._no_property(name, value, start)
        points = self.folded(points)
        return ~points if negated else points

    def _until_brace(self) -> str:
        """The text up to the next closing brace, without blanks."""
        if not self.flags & VERBOSE:
            start = self.at
            end = self.source.find("}", start)
            self.at = len(self.source) if end < 0 else end
            return self.source[start : self.at]
        letters = []
        while self.at_more() and self.peek() != "}":
            letters.append(self.peek())
            self.at += 1
        return "".join(letters)

    def _no_property(self, name: str, value: str, start: int) -> Exception:
        if value and name.lower().strip(" _-") == "age":
            return self.unsupported(
                "the property Age is not in the tables",
                start,
                self.at,
                hint="write the code points as a class",
            )
        return self.error(
            f"Rust knows no property {self.source[start : self.at]}",
            start,
            self.at,
            hint="such as \\pL, \\p{Greek}, \\p{Lowercase}, \\p{gc=Nd}, \\p{scx!=Cyrillic}",
        )
