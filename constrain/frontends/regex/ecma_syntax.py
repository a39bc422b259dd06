r"""Reads the syntax of ECMA-262, as JSON Schema's `pattern` uses it.

The meaning is that of the flag u: a text is code points, `.` leaves out line terminators only, \d
and \w are ASCII. The syntax is that of u plus what real schemas write and only Annex B (no u)
allows, where it cannot mean anything else: unescaped `]`, `}` and `{`, `\-` or `\_` or `\@`,
`[\w-.]`, `\07`, `(?=x)*`. A backslash before another ASCII letter stays an error: `\A`, `\Z` or
`\h` mean something elsewhere, and would silently match a letter here. Refused by name:
back-references. With the flag v classes are sets of sets (`ecma_class_sets`), without Annex B.

A pattern without u and v is not read: there a text is UTF-16 code units, so `.` is half of an
emoji, and letters are the same if their upper-case forms are.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from constrain.algebra.codepoints import CodepointSet, union
from constrain.errors import GrammarError
from constrain.frontends.regex.case_folding import ignore_case_simple
from constrain.frontends.regex.ecma_class_sets import ClassSetReader
from constrain.frontends.regex.nodes import Anchor, AnchorKind, RegexNode, chars
from constrain.frontends.regex.reader import GroupKind, Quantifier
from constrain.frontends.regex.unicode_properties import property_set
from constrain.limits import Limits

__all__ = ["EcmaReader", "read_ecma"]

_DIGITS: Final = "0123456789"
_OCTAL: Final = "01234567"
_HEX: Final = "0123456789abcdefABCDEF"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CONTROLS: Final = {"f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_LINE_ENDS: Final = CodepointSet.of("\n\r\u2028\u2029")
_DIGIT: Final = CodepointSet.from_ranges([(0x30, 0x39)])
_WORD: Final = CodepointSet.from_ranges([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
_SPACE: Final = CodepointSet.from_ranges(
    [
        (9, 13),
        (0x20, 0x20),
        (0xA0, 0xA0),
        (0x1680, 0x1680),
        (0x2000, 0x200A),
        (0x2028, 0x2029),
        (0x202F, 0x202F),
        (0x205F, 0x205F),
        (0x3000, 0x3000),
        (0xFEFF, 0xFEFF),
    ]
)
_CLASSES: Final = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
_BRACES: Final = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_PROPERTY: Final = re.compile(r"\{([A-Za-z_]+)(?:=([A-Za-z_]+))?\}")
_MODIFIERS: Final = re.compile(r"([ims]*)(-([ims]*))?:")
_IGNORE_CASE, _MULTILINE, _DOT_ALL, _UNICODE_SETS = 1, 2, 4, 8
_FLAGS: Final = {"i": _IGNORE_CASE, "m": _MULTILINE, "s": _DOT_ALL}

_LOOKS: Final = {
    ":": GroupKind.PLAIN,
    "=": GroupKind.AHEAD,
    "!": GroupKind.NOT_AHEAD,
    "<=": GroupKind.BEHIND,
    "<!": GroupKind.NOT_BEHIND,
}


def read_ecma(pattern: str, limits: Limits, flags: str = "") -> RegexNode:
    """The node of a pattern in the syntax of ECMA-262.

    Args:
        pattern: The pattern, without slashes and flags.
        limits: Budgets for input bytes, nesting and nodes.
        flags: Letters out of "imsuv"; u is always on.
    """
    return EcmaReader(pattern, limits, flags).read()


class _Item(NamedTuple):
    """One member of a class: a code point (to begin a range with; maybe a surrogate), or a set."""

    point: int | None
    points: CodepointSet


class EcmaReader(ClassSetReader):
    """Reads one pattern of ECMA-262."""

    def __init__(self, pattern: str, limits: Limits, flags: str) -> None:
        super().__init__(pattern, limits)
        letters = {**_FLAGS, "u": 0, "v": _UNICODE_SETS}
        for letter in flags:
            if letter not in letters:
                raise GrammarError(
                    f"flags of the dialect 'ecma' are letters out of 'imsuv', not {letter!r}"
                )
            self.flags |= letters[letter]
        self._captures: int | None = None
        # For each open group: names in the alternative being read, and in those before it.
        self._names: list[tuple[set[str], set[str]]] = [(set(), set())]
        self._literals: dict[tuple[int, int], RegexNode] = {}

    def read(self) -> RegexNode:
        """The tree of the pattern, or a `RegexSyntaxError`."""
        source = self.source
        while self.at < len(source):
            start = self.at
            this = source[start]
            self.at += 1
            if this == "\\":
                self._escape(start)
            elif this == "[":
                self.add(self._class_node(start), start)
            elif this in "*+?{":
                self._quantifier(this, start)
            elif this == ".":
                dot = CodepointSet.ANY if self.flags & _DOT_ALL else ~_LINE_ENDS
                self.add(chars(dot), start)
            elif this == "(":
                self._group(start)
            elif this == ")":
                self._close()
            elif this == "|":
                self._bar()
            elif this in "^$":
                self.add(self.keep(this, self._line_anchor), start, repeatable=False)
            else:
                self._literal(ord(this), start)
        return self.finish()

    def _literal(self, point: int, start: int) -> None:
        key = (point, self.flags)
        node = self._literals.get(key)
        if node is None:
            node = self._literals[key] = chars(self._folded(CodepointSet.of(point)))
        self.add(node, start)

    def _folded(self, points: CodepointSet) -> CodepointSet:
        return ignore_case_simple(points) if self.flags & _IGNORE_CASE else points

    def read_category(self, letter: str) -> CodepointSet:
        r"""What `\d`, `\w`, `\s` and their capitals stand for."""
        # Only \w has letters; with i it has those that fold to one, ſ and the Kelvin sign.
        points = self._folded(_CLASSES[letter.lower()])
        return ~points if letter.isupper() else points

    def _line_anchor(self, this: str) -> RegexNode:
        if self.flags & _MULTILINE:
            kind = AnchorKind.LINE_START if this == "^" else AnchorKind.LINE_END
            return Anchor(kind, _LINE_ENDS)
        return Anchor(AnchorKind.TEXT_START if this == "^" else AnchorKind.TEXT_END)

    def _boundary(self, this: str) -> RegexNode:
        kind = AnchorKind.BOUNDARY if this == "b" else AnchorKind.NO_BOUNDARY
        return Anchor(kind, self.read_category("w"))

    # Escapes.

    def _escape(self, start: int) -> None:
        this = self.peek()
        if this and this in "dswDSW":
            self.at += 1
            self.add(chars(self.read_category(this)), start)
        elif this in ("b", "B"):
            self.at += 1
            self.add(self.keep(this, self._boundary), start, repeatable=False)
        elif this in ("p", "P"):
            self.at += 1
            self.add(chars(self._property_set(this, start)), start)
        elif this == "k":
            raise self._named_reference(start)
        elif this and this in "123456789":
            self._decimal_escape(start)
        else:
            self._literal(self.read_escaped_point(start), start)

    def _decimal_escape(self, start: int) -> None:
        """A back-reference, or what Annex B makes of a number that no group has."""
        digits = self.take_while(_DIGITS, 10)
        if int(digits) <= self._num_captures():
            raise self.unsupported(
                "a back-reference makes a language that is not regular",
                start,
                self.at,
                hint="write out what the group may match",
            )
        raise self.error(
            f"invalid escape \\{digits}: the pattern has no such group",
            start,
            self.at,
            hint="write \\xHH for a code point",
        )

    def _named_reference(self, start: int) -> Exception:
        end = self.source.find(">", self.at)
        if self.peek(2) != "k<" or end < 0:
            return self.error(
                "invalid escape \\k: a named reference is written \\k<name>",
                start,
                start + 2,
                hint="write k without backslash for the letter",
            )
        return self.unsupported(
            "a back-reference makes a language that is not regular",
            start,
            end + 1,
            hint="write out what the group may match",
        )

    def read_escaped_point(self, start: int) -> int:
        """The code point that an escape means, in a class or not; `at` is after the backslash."""
        this = self.peek()
        if not this:
            raise self.error(
                "invalid escape: the pattern ends after a backslash",
                start,
                hint="write \\\\ for one",
            )
        self.at += 1
        if this in _CONTROLS:
            return _CONTROLS[this]
        if this == "0":
            return int("0" + self.take_while(_OCTAL, 2), 8)
        if this == "x":
            return self._hex(2, start)
        if this == "u":
            return self._unicode_escape(start)
        if this == "c":
            letter = self.peek()
            if not letter or letter not in _LETTERS:
                raise self.error(
                    "invalid escape \\c: a letter is needed",
                    start,
                    self.at,
                    hint="\\cA to \\cZ are control characters; write \\\\c for the two signs",
                )
            self.at += 1
            return ord(letter) % 32
        if this in _LETTERS or this in _DIGITS:
            raise self.error(
                f"invalid escape \\{this}: ECMA-262 gives it no meaning",
                start,
                self.at,
                hint="write the character without backslash, or ^ and $ for the ends of the text",
            )
        return ord(this)

    def _hex(self, width: int, start: int) -> int:
        digits = self.take_while(_HEX, width)
        if len(digits) < width:
            raise self.error(
                f"invalid escape {self.source[start : self.at]}: {width} hexadecimal digits are "
                "needed",
                start,
                self.at,
                hint="write \\xHH, \\uHHHH or \\u{H...}",
            )
        return int(digits, 16)

    def _unicode_escape(self, start: int) -> int:
        if self.match("{"):
            digits = self.take_while(_HEX, len(self.source))
            if not digits or not self.match("}") or int(digits, 16) > 0x10FFFF:
                raise self.error(
                    "invalid escape \\u{...}: a code point is needed, at most 10FFFF",
                    start,
                    self.at,
                    hint="write \\u{1F600} for one",
                )
            return int(digits, 16)
        high = self._hex(4, start)
        if 0xD800 <= high <= 0xDBFF and self.peek(2) == "\\u":
            after = self.at
            self.at += 2
            low = self.take_while(_HEX, 4)
            if len(low) == 4 and 0xDC00 <= int(low, 16) <= 0xDFFF:
                return 0x10000 + ((high - 0xD800) << 10) + int(low, 16) - 0xDC00
            self.at = after
        return high

    def read_property(self, this: str, start: int) -> CodepointSet:
        r"""The set of `\p{...}` or `\P{...}`; `at` is after the letter."""
        written = _PROPERTY.match(self.source, self.at)
        if written is None:
            raise self.error(
                f"invalid escape \\{this}: a property is needed",
                start,
                self.at,
                hint=f"write \\{this}{{Lu}}, \\{this}{{Script=Greek}} or the like",
            )
        self.at = written.end()
        name, value = written.groups()
        points = property_set(name, value)
        if points is None:
            raise self.error(
                f"ECMA-262 knows no property {written.group()}",
                start,
                self.at,
                hint="names are spelled as in Unicode: \\p{Lu}, \\p{Letter}, \\p{Script=Greek}",
            )
        return ~points if this == "P" else points

    def _property_set(self, this: str, start: int) -> CodepointSet:
        if self.flags & _UNICODE_SETS:  # first what folds to the property, then the complement
            points = self._folded(self.read_property("p", start))
            return ~points if this == "P" else points
        return self._folded(self.read_property(this, start))

    # Classes.

    def ignores_case(self) -> bool:
        """Whether the flag i is on."""
        return bool(self.flags & _IGNORE_CASE)

    def _class_node(self, start: int) -> RegexNode:
        if self.flags & _UNICODE_SETS:
            return self.read_class_set(start)
        return chars(self._class(start))

    def _class(self, start: int) -> CodepointSet:
        negated = self.match("^")
        ranges: list[tuple[int, int]] = []
        sets: dict[CodepointSet, None] = {}
        while not self.match("]"):
            at = self.at
            item = self._class_item(start)
            if self.peek() == "-" and self.peek(2) not in ("-]", "-"):
                self.at += 1
                last = self._class_item(start)
                if item.point is not None and last.point is not None:
                    if last.point < item.point:
                        raise self.error(
                            f"range out of order in a class: {self.source[at : self.at]}",
                            at,
                            self.at,
                            hint="write \\- for the character",
                        )
                    ranges.append((item.point, last.point))
                    continue
                # [\w-.]: Annex B takes the three as they are.
                sets.update(dict.fromkeys([item.points, last.points, CodepointSet.of("-")]))
                ranges += [(p, p) for p in (item.point, last.point) if p is not None]
            elif item.point is None:
                sets[item.points] = None
            else:
                ranges.append((item.point, item.point))
        points = self._folded(CodepointSet.from_ranges(ranges) | union(sets))
        return ~points if negated else points

    def _class_item(self, start: int) -> _Item:
        this = self.peek()
        if not this:
            raise self.error(
                "unterminated class: the class that begins here has no ]",
                start,
                hint="write \\[ for the character",
            )
        at = self.at
        self.at += 1
        if this != "\\":
            return _Item(ord(this), CodepointSet.NONE)
        letter = self.peek()
        if letter and letter in "dswDSW":
            self.at += 1
            return _Item(None, self.read_category(letter))
        if letter in ("p", "P"):
            self.at += 1
            return _Item(None, self.read_property(letter, at))
        if letter == "b":
            self.at += 1
            return _Item(8, CodepointSet.NONE)
        return _Item(self.read_escaped_point(at), CodepointSet.NONE)

    # Quantifiers.

    def _quantifier(self, this: str, start: int) -> None:
        bounds: tuple[int, int | None]
        if this == "{":
            braces = _BRACES.match(self.source, start)
            if braces is None:
                self._literal(ord("{"), start)
                return
            self.at = braces.end()
            lo, comma, hi = braces.groups()
            if max(len(lo), len(hi or "")) > 18:
                raise self.error(
                    "the repetition number is too large",
                    start,
                    self.at,
                    hint="leave the upper bound out: {2,}",
                )
            bounds = int(lo), int(hi) if hi else None if comma else int(lo)
        else:
            bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}[this]
        how = Quantifier.LAZY if self.match("?") else Quantifier.GREEDY
        self.quantify(*bounds, how, start)

    # Groups.

    def _group(self, start: int) -> None:
        if not self.match("?"):
            self._open(GroupKind.PLAIN, start)
            return
        for written, kind in _LOOKS.items():
            if self.match(written):
                self._open(kind, start)
                return
        if self.match("<"):
            self._name(start)
            self._open(GroupKind.PLAIN, start)
            return
        modifiers = _MODIFIERS.match(self.source, self.at)
        if modifiers is None:
            raise self.error(
                f"invalid group {self.source[start : self.at + 1]}",
                start,
                self.at + 1,
                hint="ECMA-262 has (?:...), (?<name>...), (?i:...), (?=...), (?!...), (?<=...) and "
                "(?<!...)",
            )
        self.at = modifiers.end()
        on, _, off = modifiers.groups(default="")
        if len({*on, *off}) < len(on + off) or not on + off:
            raise self.error(
                "invalid modifiers: each letter may stand once",
                start,
                self.at,
                hint="letters out of ims, before or after one -: (?i:...), (?s-i:...)",
            )
        self._open(GroupKind.PLAIN, start)
        for letter in on:
            self.flags |= _FLAGS[letter]
        for letter in off:
            self.flags &= ~_FLAGS[letter]

    def _open(self, kind: GroupKind, start: int) -> None:
        self.open(kind, start)
        self._names.append((set(), set()))

    def _name(self, start: int) -> None:
        """The name of a group. Two groups may share one in different alternatives."""
        end = self.source.find(">", self.at)
        name = self.source[self.at : max(end, self.at)]
        if not name.replace("$", "_").isidentifier():
            raise self.error(
                "invalid group name: a group is named (?<name>...)",
                start,
                self.at,
                hint="a name has letters, digits, _ and $ and begins with no digit",
            )
        self.spend(len(self._names) // 8)
        if any(name in here for here, _ in self._names):
            raise self.error(
                f"duplicate group name {name!r}",
                start,
                end + 1,
                hint="two groups share a name only in different alternatives",
            )
        self._names[-1][0].add(name)
        self.at = end + 1

    def _bar(self) -> None:
        here, before = self._names[-1]
        before |= here
        here.clear()
        self.bar()

    def _close(self) -> None:
        group = self.close()
        here, before = self._names.pop()
        self.spend((len(here) + len(before)) // 8)
        self._names[-1][0].update(here, before)
        self.groups[-1].last_repeatable = not group.kind.behind

    def _num_captures(self) -> int:
        """Capturing groups in the whole pattern, open, closed or still to come."""
        if self._captures is None:
            opened = re.findall(r"\\.|\[(?:\\.|[^\]\\])*\]|(\((?!\?)|\(\?<(?![=!]))", self.source)
            self._captures = sum([bool(o) for o in opened])
        return self._captures
