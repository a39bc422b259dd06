"""Reads the syntax of Python's `re` for `str` patterns.

Flags i, s, m, x, a, u, for the whole pattern or scoped; `re`'s escapes and classes; named groups,
comments, lazy and possessive quantifiers, atomic groups, lookaround. Refused by name:
back-references, conditional groups. What `re` rejects is rejected here, at the same place.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from constrain.algebra.codepoints import CodepointSet, union
from constrain.errors import GrammarError
from constrain.frontends.regex.case_folding import ignore_case_python
from constrain.frontends.regex.nodes import (
    Anchor,
    AnchorKind,
    Look,
    RegexNode,
    alternation,
    chars,
    concat,
)
from constrain.frontends.regex.python_classes import category
from constrain.frontends.regex.reader import GroupKind, PatternReader, Quantifier
from constrain.limits import Limits

__all__ = ["PythonReader", "read_python"]

_DIGITS: Final = "0123456789"
_OCTAL: Final = "01234567"
_HEX: Final = "0123456789abcdefABCDEF"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Plain numbers: the enum of `re` is slow to compute with.
_IGNORECASE, _DOTALL, _MULTILINE, _VERBOSE, _ASCII, _UNICODE, _LOCALE = [1 << i for i in range(7)]
_FLAGS: Final = {
    "i": _IGNORECASE,
    "s": _DOTALL,
    "m": _MULTILINE,
    "x": _VERBOSE,
    "a": _ASCII,
    "u": _UNICODE,
    "L": _LOCALE,
}
_TYPE_FLAGS: Final = _ASCII | _UNICODE | _LOCALE
_ESCAPES: Final = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
_HEX_WIDTHS: Final = {"x": 2, "u": 4, "U": 8}
_NEWLINE: Final = CodepointSet.of("\n")
_MAX_REPEAT: Final = 2**32 - 1  # what `re` takes as a count, on all 64-bit machines

_LOOKS: Final = {
    "=": GroupKind.AHEAD,
    "!": GroupKind.NOT_AHEAD,
    "<=": GroupKind.BEHIND,
    "<!": GroupKind.NOT_BEHIND,
}


def read_python(pattern: str, limits: Limits, flags: str = "") -> RegexNode:
    """The node of a pattern in the syntax of `re`.

    Args:
        pattern: The pattern.
        limits: Budgets for input bytes, nesting and nodes.
        flags: Letters out of "ismxau", as if by `(?...)` at the start.
    """
    return PythonReader(pattern, limits, flags).read()


class _Item(NamedTuple):
    """One member of a class: a code point (to begin a range with), or a set."""

    point: int | None
    points: CodepointSet


class PythonReader(PatternReader):
    """Reads one pattern of the module `re`."""

    def __init__(self, pattern: str, limits: Limits, flags: str) -> None:
        super().__init__(pattern, limits)
        for letter in flags:
            if letter not in _FLAGS or letter == "L":
                raise GrammarError(
                    f"flags of the dialect 'python' are letters out of 'ismxau', not {letter!r}"
                )
            self.flags |= _FLAGS[letter]
        self._num_groups = 0
        self._names: dict[str, int] = {}
        self._literals: dict[tuple[int, int], RegexNode] = {}
        self._open_groups: list[
            int
        ] = []  # number of each group in self.groups; 0: captures nothing

    def read(self) -> RegexNode:
        """The tree of the pattern, or a `RegexSyntaxError`."""
        source = self.source
        while self.at < len(source):
            start = self.at
            this = source[start]
            self.at += 1
            if self.flags & _VERBOSE and this in " \t\n\r\v\f":
                continue
            if self.flags & _VERBOSE and this == "#":
                end = source.find("\n", self.at)
                self.at = len(source) if end < 0 else end + 1
            elif this == "\\":
                self._escape(start)
            elif this == "[":
                self.add(chars(self._class(start)), start)
            elif this in "*+?{":
                self._quantifier(this, start)
            elif this == ".":
                dot = CodepointSet.ANY if self.flags & _DOTALL else ~_NEWLINE
                self.add(chars(dot), start)
            elif this == "(":
                self._group(start)
            elif this == ")":
                self._close()
            elif this == "|":
                self.bar()
            elif this in "^$":
                self.add(self.keep(this, self._line_anchor), start, repeatable=False)
            else:
                self._literal(ord(this), start)
        return self.finish()

    # Single code points.

    def _literal(self, point: int, start: int) -> None:
        key = (point, self.flags)
        node = self._literals.get(key)
        if node is None:
            node = self._literals[key] = chars(self._folded(CodepointSet.of(point)))
        self.add(node, start)

    def _folded(self, points: CodepointSet) -> CodepointSet:
        if self.flags & _IGNORECASE:
            return ignore_case_python(points, ascii_only=bool(self.flags & _ASCII))
        return points

    def _category(self, letter: str) -> CodepointSet:
        points = category(letter.lower(), ascii_only=bool(self.flags & _ASCII))
        return ~points if letter.isupper() else points

    # Anchors.

    def _line_anchor(self, this: str) -> RegexNode:
        multiline = self.flags & _MULTILINE
        if this == "^":
            return Anchor(AnchorKind.LINE_START if multiline else AnchorKind.TEXT_START, _NEWLINE)
        if multiline:
            return Anchor(AnchorKind.LINE_END, _NEWLINE)
        # Before the end of the text or before its last newline: nothing else may follow.
        more = alternation([chars(~_NEWLINE), concat([chars(_NEWLINE), chars(CodepointSet.ANY)])])
        return Look(more, behind=False, negative=True)

    def _boundary(self, this: str) -> RegexNode:
        word = self._category("w")
        if this == "b":
            return Anchor(AnchorKind.BOUNDARY, word)
        inside = Anchor(AnchorKind.NO_BOUNDARY, word)
        if _NO_BOUNDARY_IN_EMPTY_TEXT:
            return inside
        anything = chars(CodepointSet.ANY)
        before = Look(anything, behind=True, negative=False)
        after = Look(anything, behind=False, negative=False)
        return concat([inside, alternation([before, after])])

    # Escapes.

    def _escape(self, start: int) -> None:
        this = self.peek()
        if this in ("A", "Z"):
            self.at += 1
            self.add(self.keep(this, _text_anchor), start, repeatable=False)
        elif this in ("b", "B"):
            self.at += 1
            self.add(self.keep(this, self._boundary), start, repeatable=False)
        elif this and this in "dswDSW":
            self.at += 1
            self.add(chars(self._category(this)), start)
        elif this and this in "123456789":
            self._decimal_escape(start)
        else:
            self._literal(self._escaped_point(start), start)

    def _decimal_escape(self, start: int) -> None:
        digits = self.peek(3)
        if len(digits) == 3 and all(d in _OCTAL for d in digits):
            self.at += 3
            self._literal(self._octal(digits, start), start)
            return
        number = self.take_while(_DIGITS, 2)
        if int(number) > self._num_groups:
            raise self.error(
                f"invalid group reference {number}: the pattern has no such group before it",
                start,
                self.at,
                hint="write \\xHH for a code point",
            )
        if int(number) in self._open_groups:
            raise self.error(
                "cannot refer to an open group",
                start,
                self.at,
                hint="a back-reference stands behind its group",
            )
        raise self._back_reference(start)

    def _escaped_point(self, start: int) -> int:
        """The code point that an escape means, in a class or not; `at` is after the backslash."""
        this = self.peek()
        if not this:
            raise self.error(
                "bad escape: the pattern ends after a backslash", start, hint="write \\\\ for one"
            )
        self.at += 1
        if this in _ESCAPES:
            return _ESCAPES[this]
        if this in _HEX_WIDTHS:
            return self._hex(this, start)
        if this == "N":
            return self._named_point(start)
        if this in _OCTAL:
            return self._octal(this + self.take_while(_OCTAL, 2), start)
        if this in _LETTERS or this in _DIGITS:
            hint = "write the character without backslash"
            if this in "pP":
                hint = "re has no properties; the dialects 'ecma' and 'rust' have them"
            raise self.error(f"bad escape \\{this}", start, self.at, hint=hint)
        return ord(this)

    def _octal(self, digits: str, start: int) -> int:
        value = int(digits, 8)
        if value > 0o377:
            raise self.error(
                f"octal escape value \\{digits} is outside of 0-0o377",
                start,
                self.at,
                hint="write \\uHHHH for a code point",
            )
        return value

    def _hex(self, this: str, start: int) -> int:
        width = _HEX_WIDTHS[this]
        digits = self.take_while(_HEX, width)
        if len(digits) < width:
            raise self.error(
                f"incomplete escape \\{this}{digits}: {width} hexadecimal digits are needed",
                start,
                self.at,
                hint="write \\xHH, \\uHHHH or \\UHHHHHHHH",
            )
        value = int(digits, 16)
        if value > 0x10FFFF:
            raise self.error(
                f"bad escape \\{this}{digits}: no such code point",
                start,
                self.at,
                hint="the last code point is \\U0010FFFF",
            )
        return value

    def _named_point(self, start: int) -> int:
        end = self.source.find("}", self.at)
        if not self.match("{") or end < 0:
            raise self.error(
                "\\N needs a character name: \\N{EM DASH}",
                start,
                self.at,
                hint="or write \\uHHHH for a code point",
            )
        name = self.source[self.at : end]
        self.at = end + 1
        try:
            return ord(unicodedata.lookup(name))
        except (KeyError, TypeError, UnicodeEncodeError):  # the last where a name has a surrogate
            raise self.error(
                f"undefined character name {name!r}",
                start,
                self.at,
                hint="write its number instead: \\uHHHH",
            ) from None

    # Classes.

    def _class(self, start: int) -> CodepointSet:
        negated = self.match("^")
        literals: list[tuple[int, int]] = []
        sets: dict[CodepointSet, None] = {}
        first = self.at
        while True:
            at = self.at
            if self.peek() == "]" and at > first:
                self.at += 1
                break
            item = self._class_item(start)
            if self.peek() == "-" and self.peek(2) != "-]":
                self.at += 1
                literals.append(self._range(item, self._class_item(start), at))
            elif item.point is None:
                sets[item.points] = None
            else:
                literals.append((item.point, item.point))
        points = self._folded(CodepointSet.from_ranges(literals)) | union(sets)
        return ~points if negated else points

    def _class_item(self, start: int) -> _Item:
        this = self.peek()
        if not this:
            raise self.error(
                "unterminated character set: the class that begins here has no ]",
                start,
                hint="write \\[ for the character",
            )
        at = self.at
        self.at += 1
        if this != "\\":
            return _Item(ord(this), CodepointSet.NONE)
        if self.peek() and self.peek() in "dswDSW":
            self.at += 1
            return _Item(None, self._category(self.source[self.at - 1]))
        return _Item(self._escaped_point(at), CodepointSet.NONE)

    def _range(self, first: _Item, last: _Item, start: int) -> tuple[int, int]:
        if first.point is None or last.point is None or last.point < first.point:
            both = first.point is not None and last.point is not None
            why = "ends before it begins" if both else "needs two characters"
            raise self.error(
                f"bad character range {self.source[start : self.at]}: it {why}",
                start,
                self.at,
                hint="write \\- for the character",
            )
        return first.point, last.point

    # Quantifiers.

    def _quantifier(self, this: str, start: int) -> None:
        bounds: tuple[int, int | None] | None
        if this == "{":
            bounds = self._braces(start)
            if bounds is None:
                self._literal(ord("{"), start)
                return
        else:
            bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}[this]
        how = Quantifier.GREEDY
        if self.match("?"):
            how = Quantifier.LAZY
        elif self.match("+"):
            how = Quantifier.POSSESSIVE
        self.quantify(*bounds, how, start)

    def _braces(self, start: int) -> tuple[int, int | None] | None:
        """The counts of `{2,5}`, or None where it is text; then `at` is after the brace."""
        after = self.at
        lo = self.take_while(_DIGITS, len(self.source))
        comma = self.match(",")
        hi = self.take_while(_DIGITS, len(self.source)) if comma else lo
        if self.source[after : after + 1] == "}" or not self.match("}"):
            self.at = after
            return None
        if (
            len(lo) > 10
            or len(hi) > 10
            or int(lo or 0) >= _MAX_REPEAT
            or int(hi or 0) >= _MAX_REPEAT
        ):
            raise self.error(
                "the repetition number is too large",
                start,
                self.at,
                hint="leave the upper bound out: {2,}",
            )
        return int(lo or 0), int(hi) if hi else None

    # Groups.

    def _group(self, start: int) -> None:
        if not self.match("?"):
            self._capture(start)
            return
        this = self.peek(1)
        if this == "P":
            self._python_group(start)
        elif this == ":":
            self.at += 1
            self._open(GroupKind.PLAIN, start)
        elif this == ">":
            self.at += 1
            self._open(GroupKind.ATOMIC, start)
        elif this == "#":
            end = self.source.find(")", self.at)
            if end < 0:
                raise self.error(
                    "missing ), unterminated comment",
                    start,
                    hint="write (?#...), or \\( for the sign",
                )
            self.at = end + 1
        elif this == "(":
            raise self._conditional(start)
        elif this and (this in _FLAGS or this == "-"):
            self._flags_group(start)
        else:
            width = 2 if this == "<" else 1
            kind = _LOOKS.get(self.peek(width))
            if kind is None:
                raise self._unknown_extension(start, width)
            self.at += width
            self._open(kind, start)

    def _open(self, kind: GroupKind, start: int, number: int = 0) -> None:
        self.open(kind, start)
        self._open_groups.append(number)

    def _close(self) -> None:
        group = self.close()
        self._open_groups.pop()
        body = self.groups[-1].parts[-1]
        if group.kind.behind and isinstance(body, Look):
            inner = body.body
            if inner.min_width != inner.max_width:
                raise self.error(
                    "look-behind requires fixed-width pattern: all its matches must be as long",
                    group.start,
                    self.at,
                    hint="write alternatives of one width each, as (?:(?<=a)|(?<=bc))",
                )

    def _capture(self, start: int, name: str | None = None) -> None:
        self._num_groups += 1
        if name is not None:
            if name in self._names:
                raise self.error(
                    f"redefinition of group name {name!r}",
                    start,
                    self.at,
                    hint="give each group a name of its own",
                )
            self._names[name] = self._num_groups
        self._open(GroupKind.PLAIN, start, self._num_groups)

    def _python_group(self, start: int) -> None:
        self.at += 1
        if self.match("<"):
            self._capture(start, self._name(">", start))
        elif self.match("="):
            name = self._name(")", start)
            if name not in self._names:
                raise self.error(
                    f"unknown group name {name!r}",
                    start,
                    self.at,
                    hint="name the group (?P<name>...) before it",
                )
            raise self._back_reference(start)
        else:
            raise self._unknown_extension(start, 1)

    def _name(self, terminator: str, start: int) -> str:
        end = self.source.find(terminator, self.at)
        if end < 0:
            raise self.error(
                f"missing {terminator}, unterminated name",
                start,
                len(self.source),
                hint="write (?P<name>...) and (?P=name)",
            )
        name = self.source[self.at : end]
        at, self.at = self.at, end + 1
        if not name.isidentifier():
            raise self.error(
                f"bad character in group name {name!r}",
                at,
                end,
                hint="a name has letters, digits and _ and begins with no digit",
            )
        return name

    def _flags_group(self, start: int) -> None:
        on = self._flag_letters()
        off = self._flag_letters() if self.match("-") else None
        changed = on | (off or 0)
        end = self.peek()
        if end not in (":", ")") or (not on and off is None) or off == 0:
            raise self.error(
                "unknown flag, or a missing -, : or )",
                self.at,
                hint="flags are (?i), (?i:...) or (?i-s:...) with letters out of ismxau",
            )
        self.at += 1
        if changed & _LOCALE:
            raise self.error(
                "cannot use the flag L with a str pattern",
                start,
                self.at,
                hint="leave it out: text has no locale",
            )
        if (on & _ASCII and on & _UNICODE) or (off or 0) & _TYPE_FLAGS or on & (off or 0):
            raise self.error(
                "bad inline flags: they contradict each other",
                start,
                self.at,
                hint="of a, u and L one may be on and none off; a flag is on or off",
            )
        if end == ")":
            self._global_flags(on, off, start)
            return
        self._open(GroupKind.PLAIN, start)
        if on & _TYPE_FLAGS:
            self.flags &= ~_TYPE_FLAGS
        self.flags = (self.flags | on) & ~(off or 0)

    def _flag_letters(self) -> int:
        flags = 0
        while self.peek() in _FLAGS:
            flags |= _FLAGS[self.peek()]
            self.at += 1
        return flags

    def _global_flags(self, on: int, off: int | None, start: int) -> None:
        top = self.groups[-1]
        if off is not None:
            raise self.error(
                "flags can be turned off in a group only: (?-i:...)",
                start,
                self.at,
                hint="write (?-i:...) around what it is about",
            )
        if len(self.groups) > 1 or top.parts or top.members:
            raise self.error(
                "global flags not at the start of the expression",
                start,
                self.at,
                hint="put them first, or use a group (?i:...)",
            )
        self.flags |= on
        if self.flags & _ASCII and self.flags & _UNICODE:
            raise self.error(
                "the flags a and u are incompatible",
                start,
                self.at,
                hint="choose one: a for ASCII classes, u for Unicode",
            )

    # Refusals.

    def _unknown_extension(self, start: int, width: int) -> Exception:
        text = self.source[start : self.at + width]
        if self.at + width > len(self.source):
            return self.error(
                "unexpected end of pattern in a group",
                start,
                len(self.source),
                hint="write (?:...) for a group, \\( for the sign",
            )
        return self.error(
            f"unknown extension {text[1:]}",
            start,
            self.at + width,
            hint="groups are (?:...), (?P<name>...), (?i:...), (?>...) and lookaround",
        )

    def _back_reference(self, start: int) -> Exception:
        return self.unsupported(
            "a back-reference makes a language that is not regular",
            start,
            self.at,
            hint="write out what the group may match",
        )

    def _conditional(self, start: int) -> Exception:
        end = self.source.find(")", self.at)
        end = len(self.source) if end < 0 else end + 1
        return self.unsupported(
            "a conditional group (?(...)...) asks what another group matched",
            start,
            end,
            hint="write the cases as alternatives",
        )


def _text_anchor(this: str) -> RegexNode:
    return Anchor(AnchorKind.TEXT_START if this == "A" else AnchorKind.TEXT_END)


# Since Python 3.14, \B holds in the empty text.
_NO_BOUNDARY_IN_EMPTY_TEXT: Final = re.fullmatch(r"\B", "") is not None
