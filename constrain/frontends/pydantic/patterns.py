r"""The patterns of pydantic, which are Rust's or Python's, as patterns of ECMA-262.

pydantic matches a `pattern` with the regex crate of Rust, or with Python's `re`; JSON Schema reads
it as ECMA-262. The three agree on most of what people write, and differ where it hurts: `\d` has
every script's digits in the first two, `.` leaves out other line ends, `\A`, `\z`, `(?i)`, `(?x)`
and `[[:alpha:]]` are errors or mean something else in the third.

The pattern is read token by token and written anew. What a class leaves in is what JSON Schema
means by it (`\d` is `[0-9]`), what it leaves out is what pydantic means by it (`\D` has no digit of
any script): so what the result matches, pydantic matches, and what is lost are other scripts'
digits, letters and spaces, and other scripts' case in `(?i)`. Where neither can be kept, the
pattern is refused.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from constrain.errors import UnsupportedFeatureError

__all__ = ["to_ecma"]

# What a class surely holds: a member for ECMA-262, Rust and Python. ...
_INSIDE: Final = {"d": "0-9", "w": "A-Za-z0-9_", "s": "\\t-\\r "}
# ... and what it may hold in one of them. \p{Cn} is what our tables do not know yet.
_OUTSIDE: Final = {
    "d": "\\p{Nd}\\p{Cn}",
    "w": "\\p{L}\\p{M}\\p{N}\\p{Pc}\\p{Alphabetic}\\u200c\\u200d\\p{Cn}",
    "s": "\\s\\x1c-\\x1f\\x85\\p{White_Space}\\p{Cn}",
}
_BOUNDARY: Final = (
    f"(?:(?<=[{_INSIDE['w']}])(?![{_OUTSIDE['w']}])|(?<![{_OUTSIDE['w']}])(?=[{_INSIDE['w']}]))"
)
_NO_BOUNDARY: Final = (
    f"(?:(?<=[{_INSIDE['w']}])(?=[{_INSIDE['w']}])|(?<![{_OUTSIDE['w']}])(?![{_OUTSIDE['w']}]))"
)
_POSIX: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-\\/:-@\\[-`{-~",
    "space": "\\t-\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_CONTROLS: Final = {"a": 7, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_GENERAL: Final = frozenset(
    "L Lu Ll Lt LC Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl "
    "Zp".split()
)
_REPEAT: Final = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")
_HEX: Final = re.compile(r"\{([0-9A-Fa-f]{1,8})\}")
_GROUP: Final = re.compile(r"P?<[A-Za-z_][^>]*>")
_FLAGS: Final = re.compile(r"([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAME: Final = re.compile(r"[A-Za-z]+")


def to_ecma(pattern: str, engine: str, *, flags: str = "", place: str) -> str:
    """An ECMA-262 pattern that matches only where `pattern` does.

    Args:
        pattern: As pydantic has it.
        engine: "rust-regex" or "python-re".
        flags: Letters out of "imsx", as if by `(?...)` at the start.
        place: Where it stands, for messages.

    Raises:
        UnsupportedFeatureError: It has what cannot be said, or is no pattern at all.
    """
    return _Reader(pattern, engine == "python-re", place).read(flags)


@dataclass(frozen=True, slots=True)
class _Group:
    """An open group: the flags inside, and whether a match of it stands in the way of one."""

    flags: frozenset[str]
    negated: bool


@dataclass(slots=True)
class _Class:
    """The members of `[...]` so far."""

    negated: bool
    ranges: list[tuple[int, int]] = field(default_factory=list)
    inside: list[str] = field(default_factory=list)
    """Members in ECMA-262's syntax."""
    outside: list[str] = field(default_factory=list)
    """The same, with all they may hold."""
    complements: list[str] = field(default_factory=list)
    """Letters of `\\D`, `\\W` and `\\S`."""


class _Reader:
    def __init__(self, source: str, python: bool, place: str) -> None:
        self._source = source
        self._python = python
        self._place = place
        self._at = 0
        self._out: list[str] = []
        self._groups: list[_Group] = []

    def read(self, flags: str) -> str:
        self._groups = [_Group(frozenset(flags), negated=False)]
        while self._at < len(self._source):
            self._token()
        if len(self._groups) != 1:
            raise self._refuse("a group that is not closed", len(self._source))
        return "".join(self._out)

    def _refuse(self, what: str, start: int) -> UnsupportedFeatureError:
        dialect = "Python's re" if self._python else "Rust's regex crate"
        return UnsupportedFeatureError(
            f"{what} in a pattern of {dialect} at {self._place}",
            source=self._source,
            span=(start, max(self._at, start + 1)),
            hint="write it in the syntax that ECMA-262, Rust and Python share",
        )

    @property
    def _flags(self) -> frozenset[str]:
        return self._groups[-1].flags

    def _positive(self, what: str, start: int) -> None:
        """Refuse what is narrowed where narrower would mean more."""
        if self._groups[-1].negated:
            raise self._refuse(f"{what} inside of a negative lookaround", start)

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._source, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def _token(self) -> None:
        start = self._at
        character = self._source[start]
        self._at += 1
        if character == "\\":
            self._escape(start)
        elif character == "[":
            self._out.append(self._class(start))
        elif character == "(":
            self._open(start)
        elif character == ")":
            if len(self._groups) == 1:
                raise self._refuse("a bracket without its partner", start)
            self._groups.pop()
            self._out.append(")")
        elif character == ".":
            self._out.append("[^]" if "s" in self._flags else "[^\\n]")
        elif character == "^":
            self._out.append("(?<![^\\n])" if "m" in self._flags else "^")
        elif character == "$":
            self._end()
        elif character == "|":
            self._out.append("|")
        elif character in "*+?{":
            self._repeat(character, start)
        elif "x" in self._flags and character.isspace():
            return
        elif "x" in self._flags and character == "#":
            line_end = self._source.find("\n", self._at)
            self._at = len(self._source) if line_end < 0 else line_end + 1
        else:
            self._literal(ord(character), start)

    def _end(self) -> None:
        if "m" in self._flags:
            self._out.append("(?![^\\n])")
        else:
            self._out.append("(?=\\n?$)" if self._python else "$")

    def _repeat(self, character: str, start: int) -> None:
        text = character
        if character == "{":
            self._at = start
            found = self._take(_REPEAT)
            if found is None or found[0] in ("{}", "{,}"):
                self._at = start + 1
                if not self._python:
                    raise self._refuse("a brace that opens no repeat", start)
                self._literal(ord("{"), start)
                return
            text = f"{{{found[1] or '0'}{found[2]}{found[3]}}}"
        self._out.append(text)
        following = self._source[self._at : self._at + 1]
        if following == "?":
            self._at += 1  # which match comes first is nothing to a whole string
        elif following and following in "*+":
            raise self._refuse("a repeat of a repeat", start)

    def _open(self, start: int) -> None:
        group = self._groups[-1]
        if not self._source.startswith("?", self._at):
            self._out.append("(?:")
            self._groups.append(group)
            return
        self._at += 1
        if self._take(_GROUP):
            self._out.append("(?:")
            self._groups.append(group)
            return
        for look in ("<=", "<!", "=", "!"):
            if self._source.startswith(look, self._at):
                self._at += len(look)
                self._out.append(f"(?{look}")
                self._groups.append(_Group(group.flags, group.negated or "!" in look))
                return
        if self._python and self._source.startswith("#", self._at):
            self._at = self._source.find(")", self._at) + 1
            return
        found = self._take(_FLAGS)
        if found is None or not set(found[1] + (found[2] or "")) <= set("imsxuUa"):
            raise self._refuse("a group of this kind", start)
        if "u" in (found[2] or ""):
            raise self._refuse("a flag of this kind", start)
        flags = (group.flags | set(found[1])) - set(found[2] or "")
        if found[3] == ")":
            self._groups[-1] = _Group(flags, group.negated)
        else:
            self._out.append("(?:")
            self._groups.append(_Group(flags, group.negated))

    # Characters

    def _literal(self, codepoint: int, start: int) -> None:
        character = chr(codepoint)
        if "i" in self._flags:
            if character.isascii() and character.isalpha():
                self._positive("a letter whose case does not matter", start)
                self._out.append(f"[{character.lower()}{character.upper()}]")
                return
            if not character.isascii():
                self._positive("a letter whose case does not matter", start)
        self._out.append(_spell(codepoint))

    def _escape(self, start: int) -> None:
        letter = self._source[self._at : self._at + 1]
        self._at += 1
        if letter in ("d", "w", "s") and letter:
            self._positive(f"\\{letter}", start)
            self._out.append(f"[{_INSIDE[letter]}]")
        elif letter in ("D", "W", "S") and letter:
            self._positive(f"\\{letter}", start)
            self._out.append(f"[^{_OUTSIDE[letter.lower()]}]")
        elif letter in ("b", "B") and letter:
            if self._source.startswith("{", self._at):
                raise self._refuse("a word boundary of this kind", start)
            self._positive(f"\\{letter}", start)
            self._out.append(_BOUNDARY if letter == "b" else _NO_BOUNDARY)
        elif letter == "A":
            self._out.append("^")
        elif letter == ("Z" if self._python else "z"):
            self._out.append("$")
        elif letter in ("p", "P") and letter:
            self._positive(f"\\{letter}", start)
            self._out.append(f"[{_old_members(self._property(letter, start))}]")
        else:
            self._literal(self._codepoint(letter, start), start)

    def _property(self, letter: str, start: int) -> str:
        """The name of a general category; no other properties are read."""
        name = self._source[self._at : self._at + 1]
        self._at += 1
        if name == "{":
            end = self._source.find("}", self._at)
            name = self._source[self._at : end]
            self._at = end + 1
        if name not in _GENERAL or self._python:
            raise self._refuse(f"the property {name!r}", start)
        if letter == "p":
            return name
        raise self._refuse(f"the complement of the property {name!r}", start)

    def _codepoint(self, letter: str, start: int) -> int:
        """What an escape of one character stands for; `letter` is read."""
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter in ("x", "u", "U") and letter:
            found = None if self._python else self._take(_HEX)
            if found is not None:
                return self._valid(int(found[1], 16), start)
            length = {"x": 2, "u": 4, "U": 8}[letter]
            digits = self._source[self._at : self._at + length]
            self._at += length
            if len(digits) == length and all(d in "0123456789abcdefABCDEF" for d in digits):
                return self._valid(int(digits, 16), start)
            raise self._refuse("an escape of this kind", start)
        if not letter or letter.isalnum():
            raise self._refuse("an escape of this kind", start)
        return ord(letter)

    def _valid(self, codepoint: int, start: int) -> int:
        if codepoint > 0x10FFFF or 0xD800 <= codepoint < 0xE000:
            raise self._refuse("an escape of no character", start)
        return codepoint

    # Classes

    def _class(self, start: int) -> str:
        members = _Class(self._source.startswith("^", self._at))
        self._at += members.negated
        first = True
        while True:
            if self._at >= len(self._source):
                raise self._refuse("a class that is not closed", start)
            character = self._source[self._at]
            if character == "]" and not first:
                self._at += 1
                break
            first = False
            if "x" in self._flags and not self._python and character.isspace():
                self._at += 1
                continue
            self._member(members, start)
        return self._written(members, start)

    def _member(self, members: _Class, start: int) -> None:
        low = self._atom(members, start)
        rest = self._source[self._at : self._at + 2]
        if low is None or len(rest) < 2 or rest[0] != "-" or rest[1] == "]":
            if low is not None:
                members.ranges.append((low, low))
            return
        self._at += 1
        high = self._atom(members, start)
        if high is None or high < low:
            raise self._refuse("a range of this kind", start)
        members.ranges.append((low, high))

    def _atom(self, members: _Class, start: int) -> int | None:
        """One code point, or None where a class inside of the class was read."""
        character = self._source[self._at]
        following = self._source[self._at : self._at + 2]
        if not self._python and following in ("&&", "--", "~~"):
            raise self._refuse("operators between classes", start)
        self._at += 1
        if character == "[" and not self._python:
            self._posix(members, start)
            return None
        if character != "\\":
            return ord(character)
        letter = self._source[self._at : self._at + 1]
        self._at += 1
        if letter in ("d", "w", "s") and letter:
            members.inside.append(_INSIDE[letter])
            members.outside.append(_OUTSIDE[letter])
            return None
        if letter in ("D", "W", "S") and letter:
            members.complements.append(letter.lower())
            return None
        if letter in ("p", "P") and letter:
            name = self._property(letter, start)
            members.inside.append(_old_members(name))
            members.outside.append(f"\\p{{{name}}}\\p{{Cn}}")
            return None
        if letter == "b" and self._python:
            return 8
        return self._codepoint(letter, start)

    def _posix(self, members: _Class, start: int) -> None:
        name = _NAME.match(self._source, self._at + 1)
        if (
            not self._source.startswith(":", self._at)
            or name is None
            or name[0] not in _POSIX
            or not self._source.startswith(":]", name.end())
            or "i" in self._flags
        ):
            raise self._refuse("a class inside of a class", start)
        self._at = name.end() + 2
        members.inside.append(_POSIX[name[0]])
        members.outside.append(_POSIX[name[0]])

    def _written(self, members: _Class, start: int) -> str:
        ranges = list(members.ranges)
        ignore_case = "i" in self._flags
        if ignore_case:
            for low, high in members.ranges:
                ranges += _other_case(low, high)
            if members.negated:
                if any(high > 0x7F for _, high in members.ranges):
                    raise self._refuse("letters beyond ASCII whose case does not matter", start)
                ranges += [(0x212A, 0x212A), (0x17F, 0x17F)]  # K and s have a third case
        if members.inside or members.complements or ignore_case:
            self._positive("a class that is narrowed", start)
        spelled = "".join([_spell_range(low, high) for low, high in ranges])
        if not members.negated:
            parts = [spelled + "".join(members.inside)]
            for letter in members.complements:
                if _INSIDE[letter] in members.inside:
                    return "[^]"  # such as [\s\S]
            alternatives = [f"[{part}]" for part in parts if part]
            alternatives += [f"[^{_OUTSIDE[letter]}]" for letter in members.complements]
            if len(alternatives) == 1:
                return alternatives[0]
            return f"(?:{'|'.join(alternatives)})" if alternatives else "[]"
        if not members.complements:
            return f"[^{spelled}{''.join(members.outside)}]"
        if spelled or members.outside or len(members.complements) > 1:
            raise self._refuse("the complement of a complement", start)
        return f"[{_INSIDE[members.complements[0]]}]"


@cache
def _old_members(category: str) -> str:
    """The code points that have been in a general category since Unicode 3.2.

    Those of later versions may be unknown to the one that Rust was built with.
    """
    wanted = ("Lu", "Ll", "Lt") if category == "LC" else category
    then = unicodedata.ucd_3_2_0.category
    found = [
        c
        for c in range(0x30000)
        if then(chr(c)).startswith(wanted) and unicodedata.category(chr(c)).startswith(wanted)
    ]
    ends = [i for i, c in enumerate(found) if i + 1 == len(found) or found[i + 1] != c + 1]
    starts = [0, *[i + 1 for i in ends[:-1]]]
    return "".join([_spell_range(found[i], found[j]) for i, j in zip(starts, ends, strict=True)])


def _other_case(low: int, high: int) -> list[tuple[int, int]]:
    """The ASCII letters of a range in their other case."""
    made = []
    for first, last, way in ((0x41, 0x5A, 32), (0x61, 0x7A, -32)):
        if max(low, first) <= min(high, last):
            made.append((max(low, first) + way, min(high, last) + way))
    return made


def _spell(codepoint: int) -> str:
    character = chr(codepoint)
    if character in "^$\\.*+?()[]{}|/":
        return f"\\{character}"
    return character if character.isprintable() else f"\\u{{{codepoint:x}}}"


def _spell_range(low: int, high: int) -> str:
    first, last = _spell_member(low), _spell_member(high)
    return first if low == high else f"{first}-{last}"


def _spell_member(codepoint: int) -> str:
    character = chr(codepoint)
    return character if character.isascii() and character.isalnum() else f"\\u{{{codepoint:x}}}"
