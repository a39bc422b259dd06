r"""Reads the syntax of Rust's crate `regex`.

Unicode is on unless `(?-u)` turns it off: \d, \w, \s and \b are Unicode's, `(?i)` is simple case
folding, a class may hold classes and the operators `&&`, `--` and `~~`. Quantifiers may follow each
other and anchors. There is no lookaround and no back-reference; what Rust rejects is rejected here,
at the same place. Its limits on nesting and size are not copied: `Limits` says what is too large.

Without Unicode a pattern may match bytes that are no text: `(?-u)\xff` or `(?-u)[^a]`. Rust takes
those in `regex::bytes` only; here such a pattern becomes `OfBytes` and means what it does there.

Source: the crate's documentation and answers, version 1.13; its tables are of Unicode 16, and those
here are of Unicode 17.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from constrain.algebra.codepoints import CodepointSet, union
from constrain.errors import GrammarError
from constrain.frontends.regex.byte_nodes import BYTES, OfBytes, utf8_node
from constrain.frontends.regex.case_folding import ignore_case_ascii, ignore_case_simple
from constrain.frontends.regex.nodes import Anchor, AnchorKind, RegexNode, chars
from constrain.frontends.regex.reader import GroupKind, PatternReader, Quantifier
from constrain.frontends.regex.rust_anchors import BOUNDARIES, boundary, line_anchor
from constrain.frontends.regex.rust_classes import (
    ASCII,
    ASCII_CLASSES,
    is_blank,
    is_named_with,
    perl_class,
)
from constrain.frontends.regex.unicode_properties import loose_property_set
from constrain.limits import Limits

__all__ = ["NotText", "RustReader", "read_rust"]

_DIGITS: Final = "0123456789"
_HEX: Final = "0123456789abcdefABCDEF"
_HEX_WIDTHS: Final = {"x": 2, "u": 4, "U": 8}
_CONTROLS: Final = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_MAX_COUNT: Final = 2**32 - 1

_IGNORE_CASE, _MULTILINE, _DOT_ALL, _SWAP_GREED, _UNICODE, _CRLF, _VERBOSE = [
    1 << i for i in range(7)
]
_FLAGS: Final = {
    "i": _IGNORE_CASE,
    "m": _MULTILINE,
    "s": _DOT_ALL,
    "U": _SWAP_GREED,
    "u": _UNICODE,
    "R": _CRLF,
    "x": _VERBOSE,
}
_LOOKS: Final = ("?=", "?!", "?<=", "?<!")


def read_rust(
    pattern: str, limits: Limits, flags: str = "", *, of_bytes: bool = False
) -> RegexNode:
    """The node of a pattern in the syntax of Rust's crate `regex`.

    Args:
        pattern: The pattern.
        limits: Budgets for input bytes, nesting and nodes.
        flags: Letters out of "imsUuRx", as if by `(?...)` at the start; "-u" turns Unicode off.
        of_bytes: Read it over bytes, also if all that it matches is text.
    """
    try:
        if of_bytes:
            raise NotText
        return RustReader(pattern, limits, flags, of_bytes=False).read()
    except NotText:
        return OfBytes(RustReader(pattern, limits, flags, of_bytes=True).read())


class NotText(Exception):
    """The pattern may match bytes that are no text: it is read again, over bytes."""


class _Item(NamedTuple):
    """One member of a class: a literal (to begin a range with), or a set."""

    point: int | None
    points: CodepointSet


@dataclass(slots=True)
class _ClassLevel:
    """A class that is still open.

    Attributes:
        start: Offset of its bracket.
        members: Sets that stand in it since the last operator.
        ranges: Characters and ranges that do.
        left: What stands before that operator.
    """

    start: int
    negated: bool
    members: list[CodepointSet] = field(default_factory=list)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    operator: str = ""
    left: CodepointSet = CodepointSet.NONE


class RustReader(PatternReader):
    """Reads one pattern of the crate regex."""

    def __init__(self, pattern: str, limits: Limits, flags: str, *, of_bytes: bool) -> None:
        super().__init__(pattern, limits)
        self.flags = 0 if "-u" in flags else _UNICODE
        for letter in flags.replace("-u", ""):
            if letter not in _FLAGS:
                raise GrammarError(
                    f"flags of the dialect 'rust' are letters out of 'imsUuRx', not {letter!r}"
                )
            self.flags |= _FLAGS[letter]
        self._of_bytes = of_bytes
        self._in_braces = False
        self._names: set[str] = set()
        self._literals: dict[tuple[int, int], RegexNode] = {}

    def read(self) -> RegexNode:
        """The tree of the pattern, or a `RegexSyntaxError`."""
        source = self.source
        while self._at_more():
            start = self.at
            this = source[start]
            self.at += 1
            if this == "\\":
                self._escape(start)
            elif this == "[":
                self.add(self._one_of(self._class(start)), start)
            elif this in "*+?{":
                self._quantifier(this, start)
            elif this == ".":
                self.add(self._one_of(self._dot()), start)
            elif this == "(":
                self._group(start)
            elif this == ")":
                self.close()
            elif this == "|":
                self.bar()
            elif this in "^$":
                self.add(self.keep(this, self._line_anchor), start)
            else:
                self._literal(ord(this), start)
        return self.finish()

    # Blanks that mean nothing under the flag x.

    def _at_more(self) -> bool:
        """Step over them; False at the end of the pattern."""
        source = self.source
        if self.flags & _VERBOSE:
            while self.at < len(source):
                if is_blank(source[self.at]):
                    self.at += 1
                elif source[self.at] == "#":
                    end = source.find("\n", self.at)
                    self.at = len(source) if end < 0 else end + 1
                else:
                    break
        return self.at < len(source)

    def _take_more(self, allowed: str, most: int) -> str:
        """Step over code points out of `allowed`, and blanks between and after them."""
        taken = ""
        while self._at_more() and len(taken) < most and self.peek() in allowed:
            taken += self.take_while(allowed, most - len(taken))
        return taken

    def _peek_more(self) -> str:
        """The code point after the next one, blanks left out."""
        at = self.at
        self.at += 1
        self._at_more()
        found = self.peek()
        self.at = at
        return found

    # Single code points and bytes.

    @property
    def _unicode(self) -> bool:
        return bool(self.flags & _UNICODE)

    def _one_of(self, points: CodepointSet) -> RegexNode:
        """A set as a node: of code points with Unicode, else of bytes."""
        if not self._unicode:
            if not points.issubset(ASCII) and not self._of_bytes:
                raise NotText
            return chars(points)
        return utf8_node(points) if self._of_bytes else chars(points)

    def _literal(self, point: int, start: int) -> None:
        """A character as it is written; without Unicode it is itself all the same."""
        key = (point, self.flags)
        node = self._literals.get(key)
        if node is None:
            points = self._folded(CodepointSet.of(point))
            node = utf8_node(points) if self._of_bytes else chars(points)
            self._literals[key] = node
        self.add(node, start)

    def _folded(self, points: CodepointSet) -> CodepointSet:
        if not self.flags & _IGNORE_CASE:
            return points
        return ignore_case_simple(points) if self._unicode else ignore_case_ascii(points)

    def _negated(self, points: CodepointSet) -> CodepointSet:
        return (CodepointSet.ANY if self._unicode else BYTES) - points

    def _dot(self) -> CodepointSet:
        if self.flags & _DOT_ALL:
            return self._negated(CodepointSet.NONE)
        return self._negated(
            CodepointSet.of("\r\n") if self.flags & _CRLF else CodepointSet.of("\n")
        )

    def _perl_class(self, letter: str) -> CodepointSet:
        points = perl_class(letter.lower(), unicode=self._unicode)
        return self._negated(points) if letter.isupper() else points

    # Anchors.

    def _line_anchor(self, this: str) -> RegexNode:
        multiline, crlf = bool(self.flags & _MULTILINE), bool(self.flags & _CRLF)
        return line_anchor(this, multiline=multiline, crlf=crlf)

    def _boundary(self, kind: str) -> RegexNode:
        return boundary(kind, self._perl_class("w"), utf8=self._of_bytes and self._unicode)

    # Escapes.

    def _escape(self, start: int) -> None:
        this = self.peek()
        if this and this in "dswDSW":
            self.at += 1
            self.add(self._one_of(self._perl_class(this)), start)
        elif this in ("A", "z"):
            self.at += 1
            self.add(self.keep(this, _text_anchor), start)
        elif this in ("b", "B", "<", ">"):
            self.at += 1
            kind = {"<": "start", ">": "end"}.get(this, this)
            kind = self._word_edge(start) if this == "b" else kind
            self.add(self.keep(kind, self._boundary), start)
        elif this in ("p", "P"):
            self.at += 1
            self.add(self._one_of(self._property(this, start)), start)
        else:
            point = self._escaped_point(start)
            if self._is_byte(start):
                self.add(self._one_of(self._folded(CodepointSet.of(point))), start)
            else:
                self._literal(point, start)

    def _is_byte(self, start: int) -> bool:
        r"""Whether the escape read last was \xHH, which is a byte without Unicode."""
        return not self._unicode and self.source.startswith("\\x", start) and not self._in_braces

    def _word_edge(self, start: int) -> str:
        r"""What follows `\b`: a kind in braces, or nothing. `\b{2}` is a boundary twice."""
        opened = self.at
        if self.peek() != "{":
            return "b"
        self.at += 1
        if not self._at_more():
            raise self.error(
                "a brace after \\b begins a kind of boundary or a count, and has no }",
                start,
                self.at,
                hint="write \\b{start}, \\b{end}, \\b{start-half} or \\b{end-half}",
            )
        word = ""
        first = self.at
        while self.at < len(self.source) and (
            self.peek() == "-" or (self.peek().isascii() and self.peek().isalpha())
        ):
            word += self.peek()
            self.at += 1
            self._at_more()
        if not word:
            self.at = opened
            return "b"
        if self.peek() != "}":
            raise self.error(
                "a kind of boundary without its }",
                opened,
                self.at,
                hint="write \\b{start}, \\b{end}, \\b{start-half} or \\b{end-half}",
            )
        if word not in BOUNDARIES:
            raise self.error(
                f"unknown kind of boundary {word!r}",
                first,
                self.at,
                hint="it is one of start, end, start-half, end-half",
            )
        self.at += 1
        return word

    def _escaped_point(self, start: int) -> int:
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

    def _hex(self, width: int, start: int) -> int:
        """The number of an escape; `at` is after its letter."""
        self._in_braces = False
        if not self._at_more():
            raise self._hex_error("the pattern ends in an escape", start, self.at)
        if self.match("{"):
            self._in_braces = True
            digits = self._take_more(_HEX, len(self.source))
            self._check_hex_digit("}")
            if not self.match("}"):
                raise self._hex_error("a code point in braces without its }", start, self.at)
            if not digits:
                raise self._hex_error("an escape without digits", start, self.at)
        else:
            digits = self._take_more(_HEX, width)
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

    # Properties.

    def _property(self, this: str, start: int) -> CodepointSet:
        r"""The set of `\p{...}` or `\pL`; `at` is after the letter."""
        if not self._at_more():
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
        if not self._unicode:
            raise self.error(
                "a property of Unicode where (?-u) turned Unicode off",
                start,
                self.at,
                hint="turn it on again: (?u:...)",
            )
        points = loose_property_set(name, value if equals else None)
        if points is None:
            raise self._no_property(name, value, start)
        points = self._folded(points)
        return ~points if negated else points

    def _until_brace(self) -> str:
        """The text up to the next closing brace, without blanks."""
        if not self.flags & _VERBOSE:
            start = self.at
            end = self.source.find("}", start)
            self.at = len(self.source) if end < 0 else end
            return self.source[start : self.at]
        letters = []
        while self._at_more() and self.peek() != "}":
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

    # Classes.

    def _class(self, start: int) -> CodepointSet:
        """The set of a class; `at` is after its bracket. Levels are on a list: no recursion."""
        levels = [self._open_class(start)]
        while True:
            level = levels[-1]
            if not self._at_more():
                raise self._unclosed(level)
            at = self.at
            this = self.source[at]
            if this == "[":
                named = self._named_class()
                if named is not None:
                    level.members.append(named)
                else:
                    self.at += 1
                    levels.append(self._open_class(at))
                    nesting = len(levels) + len(self.groups) - 2
                    self.limits.check("max_nesting", nesting, "reading a pattern")
            elif this == "]":
                self.at += 1
                done = self._operate(level)
                done = self._negated(done) if level.negated else done
                levels.pop()
                if not levels:
                    return done
                levels[-1].members.append(done)
            elif this in "&-~" and self.peek(2) == 2 * this:
                self.at += 2
                level.left = self._operate(level)
                level.operator, level.members, level.ranges = this, [], []
            else:
                self._class_range(level)
            self.spend(1)

    def _open_class(self, start: int) -> _ClassLevel:
        level = _ClassLevel(start, negated=False)
        if self._at_more() and self.peek() == "^":
            self.at += 1
            level.negated = True
        while self._at_more() and self.peek() == "-":
            self.at += 1
            level.ranges.append((ord("-"), ord("-")))
        if not level.ranges and self.peek() == "]":
            self.at += 1
            level.ranges.append((ord("]"), ord("]")))
        return level

    def _operate(self, level: _ClassLevel) -> CodepointSet:
        """What stands in a class so far."""
        points = self._folded(union(level.members) | CodepointSet.from_ranges(level.ranges))
        left = level.left
        if level.operator == "&":
            return left & points
        if level.operator == "-":
            return left - points
        return (left - points) | (points - left) if level.operator == "~" else points

    def _named_class(self) -> CodepointSet | None:
        """`[:alpha:]` or `[:^alpha:]`, or None: then it is a class in a class."""
        if self.peek(2) != "[:":
            return None
        end = self.source.find(":", self.at + 2)
        name = self.source[self.at + 2 : end]
        negated = name.startswith("^")
        points = ASCII_CLASSES.get(name[1:] if negated else name)
        if end < 0 or points is None or not self.source.startswith(":]", end):
            return None
        self.at = end + 2
        points = self._folded(points)
        return self._negated(points) if negated else points

    def _class_range(self, level: _ClassLevel) -> None:
        """Add a character, a set or a range to a class."""
        start = self.at
        first = self._class_item()
        first_end = self.at
        if not self._at_more():
            raise self._unclosed(level)
        if self.peek() != "-" or self._peek_more() in ("]", "-"):
            if first.point is None:
                level.members.append(first.points)
            else:
                level.ranges.append((first.point, first.point))
            return
        self.at += 1
        if not self._at_more():
            raise self._unclosed(level)
        last_start = self.at
        last = self._class_item()
        hint = "write \\- for the character"
        if first.point is None or last.point is None:
            wrong = (start, first_end) if first.point is None else (last_start, self.at)
            raise self.error(
                "a range in a class goes from one character to another, not to a set",
                *wrong,
                hint=hint,
            )
        if last.point < first.point:
            raise self.error(
                f"range out of order in a class: {self.source[start : self.at]}",
                start,
                self.at,
                hint=hint,
            )
        level.ranges.append((first.point, last.point))

    def _class_item(self) -> _Item:
        start = self.at
        this = self.peek()
        self.at += 1
        if this != "\\":
            return self._class_literal(ord(this), start)
        letter = self.peek()
        if letter and letter in "dswDSW":
            self.at += 1
            return _Item(None, self._perl_class(letter))
        if letter in ("p", "P"):
            self.at += 1
            return _Item(None, self._property(letter, start))
        if letter and letter in "Azb<>B":
            self.at += 1
            raise self.error(
                f"\\{letter} is an assertion, and no member of a class",
                start,
                self.at,
                hint="write \\x08 for a backspace, and an anchor outside of the class",
            )
        return self._class_literal(self._escaped_point(start), start)

    def _class_literal(self, point: int, start: int) -> _Item:
        if not self._unicode and point > 0x7F and not self._is_byte(start):
            raise self.error(
                "a character beyond ASCII in a class where (?-u) turned Unicode off",
                start,
                self.at,
                hint="write \\xHH for a byte, or turn Unicode on again: (?u:...)",
            )
        return _Item(point, CodepointSet.NONE)

    def _unclosed(self, level: _ClassLevel) -> Exception:
        return self.error(
            "unclosed class: the class that begins here has no ]",
            level.start,
            hint="write \\[ for the character",
        )

    # Quantifiers.

    def _quantifier(self, this: str, start: int) -> None:
        bounds: tuple[int, int | None]
        bounds = self._braces(start) if this == "{" else _BOUNDS[this]
        how = Quantifier.GREEDY
        if self.match("?"):
            how = Quantifier.LAZY
        self.quantify(*bounds, how, start)
        self.groups[-1].last_is_repeat = False  # a** is fine

    def _braces(self, start: int) -> tuple[int, int | None]:
        """The counts of `{2,5}`; `at` is after the brace, and after blanks."""
        group = self.groups[-1]
        if not group.parts or not group.last_repeatable:
            return 0, None  # `quantify` says so
        lo = self._count(start)
        hi: int | None = lo
        if self.match(","):
            self._at_more()
            hi = None if self.peek() == "}" else self._count(start)
        if not self.match("}"):
            raise self._unclosed_count(start)
        end = self.at
        self._at_more()
        if self.peek() != "?":
            self.at = end
        return lo, hi

    def _count(self, start: int) -> int:
        while self._at_more() and is_blank(self.peek()):
            self.at += 1
        first = self.at
        digits = self._take_more(_DIGITS, len(self.source))
        end = self.at
        while self._at_more() and is_blank(self.peek()):
            self.at += 1
        if not digits:
            if self.at >= len(self.source) and first == start + 1:
                raise self._unclosed_count(start)
            raise self.error(
                "a count is needed here: Rust takes {2}, {2,} and {2,5}",
                first,
                hint="write {0,5} for at most 5, and \\{ for the character",
            )
        digits = digits.lstrip("0") or "0"
        if len(digits) > 10 or int(digits) > _MAX_COUNT:
            raise self.error(
                "the repetition number is too large",
                first,
                end,
                hint="leave the upper bound out, {2,}, or nest repeats",
            )
        return int(digits)

    def _unclosed_count(self, start: int) -> Exception:
        return self.error(
            "a count without its }", start, self.at, hint="write \\{ for the character"
        )

    # Groups.

    def _group(self, start: int) -> None:
        if not self._at_more():
            self.open(GroupKind.PLAIN, start)
            return
        for look in _LOOKS:
            if self.match(look):
                raise self.error(
                    "Rust has no lookaround",
                    start,
                    self.at,
                    hint='the dialects "python" and "ecma" have it',
                )
        if self.match("?P<") or self.match("?<"):
            self._name()
            self.open(GroupKind.PLAIN, start)
        elif self.match("?"):
            self._flags_group(start)
        else:
            self.open(GroupKind.PLAIN, start)

    def _name(self) -> None:
        start = self.at
        while self.at < len(self.source) and self.peek() != ">":
            if not is_named_with(self.peek(), first=self.at == start):
                raise self.error(
                    "invalid character in a group name",
                    self.at,
                    hint="a name has letters, digits, _ . [ ] and begins with a letter or _",
                )
            self.at += 1
        name = self.source[start : self.at]
        if not self.match(">"):
            raise self.error(
                "a group name without its >", start, len(self.source), hint="write (?<name>...)"
            )
        if not name:
            raise self.error(
                "an empty group name", start, hint="write (?<name>...), or (...) without a name"
            )
        if name in self._names:
            raise self.error(
                f"duplicate group name {name!r}",
                start,
                self.at - 1,
                hint="give each group a name of its own",
            )
        self._names.add(name)

    def _flags_group(self, start: int) -> None:
        on = off = 0
        minus = None
        first = self.at
        while self.peek() not in (":", ")"):
            this = self.peek()
            if not this:
                raise self.error(
                    "the pattern ends in the flags of a group",
                    start,
                    self.at,
                    hint="write (?i) for the rest, (?i:...) for a group",
                )
            if this == "-":
                if minus is not None:
                    raise self.error(
                        "a second - among flags",
                        self.at,
                        hint="one - turns off all flags behind it: (?i-sm)",
                    )
                minus = self.at
            else:
                flag = self._flag(this, start)
                if (on | off) & flag:
                    raise self.error(
                        f"the flag {this} stands twice",
                        self.at,
                        hint="each flag stands once, after - if it is turned off",
                    )
                on, off = (on | flag, off) if minus is None else (on, off | flag)
            self.at += 1
        if minus is not None and minus == self.at - 1:
            raise self.error(
                "a - without flags to turn off", minus, hint="name the flags: (?-i), (?i-s:...)"
            )
        end = self.peek()
        self.at += 1
        if end == ":":
            self.open(GroupKind.PLAIN, start)
        elif self.at - 1 == first:
            raise self.error(
                "a group with ? and nothing else",
                start,
                self.at,
                hint="write (?:...) for a group, or name flags: (?i)",
            )
        else:
            self.groups[-1].last_repeatable = False
        self.flags = (self.flags | on) & ~off

    def _flag(self, this: str, start: int) -> int:
        flag = _FLAGS.get(this)
        if flag is not None:
            return flag
        hint = "flags are letters out of imsUuRx: (?i), (?i-s:...)"
        if this == ">":
            hint = "Rust has no atomic groups"
        elif this == "#":
            hint = "Rust has no comments but those under the flag x"
        elif self.peek(2) in ("P=", "P>"):
            hint = "Rust has no back-references and no recursion"
        raise self.error(f"unknown flag {this!r}", self.at, hint=hint)


def _text_anchor(this: str) -> RegexNode:
    return Anchor(AnchorKind.TEXT_START if this == "A" else AnchorKind.TEXT_END)


_BOUNDS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
