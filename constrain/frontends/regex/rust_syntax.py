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

from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.frontends.regex.byte_nodes import OfBytes, utf8_node
from constrain.frontends.regex.nodes import Anchor, AnchorKind, RegexNode, chars
from constrain.frontends.regex.reader import GroupKind, Quantifier
from constrain.frontends.regex.rust_anchors import BOUNDARIES, boundary, line_anchor
from constrain.frontends.regex.rust_class_sets import ClassReader
from constrain.frontends.regex.rust_classes import ASCII, is_blank, is_named_with
from constrain.frontends.regex.rust_flags import CRLF, DOT_ALL, FLAGS, MULTILINE
from constrain.limits import Limits

__all__ = ["NotText", "RustReader", "read_rust"]

_DIGITS: Final = "0123456789"
_MAX_COUNT: Final = 2**32 - 1
_BOUNDS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_LOOKS: Final = ("?=", "?!", "?<=", "?<!")
_BOUNDARY_HINT: Final = "write \\b{start}, \\b{end}, \\b{start-half} or \\b{end-half}"


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


class RustReader(ClassReader):
    """Reads one pattern of the crate regex."""

    def __init__(self, pattern: str, limits: Limits, flags: str, *, of_bytes: bool) -> None:
        super().__init__(pattern, limits, flags, of_bytes=of_bytes)
        self._names: set[str] = set()
        self._literals: dict[tuple[int, int], RegexNode] = {}

    def read(self) -> RegexNode:
        """The tree of the pattern, or a `RegexSyntaxError`."""
        source = self.source
        while self.at_more():
            start = self.at
            this = source[start]
            self.at += 1
            if this == "\\":
                self._escape(start)
            elif this == "[":
                self.add(self._one_of(self.read_class(start)), start)
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

    # Single code points and bytes.

    def _one_of(self, points: CodepointSet) -> RegexNode:
        """A set as a node: of code points with Unicode, else of bytes."""
        if not self.unicode:
            if not points.issubset(ASCII) and not self.of_bytes:
                raise NotText
            return chars(points)
        return utf8_node(points) if self.of_bytes else chars(points)

    def _literal(self, point: int, start: int) -> None:
        """A character as it is written; without Unicode it is itself all the same."""
        key = (point, self.flags)
        node = self._literals.get(key)
        if node is None:
            points = self.folded(CodepointSet.of(point))
            node = utf8_node(points) if self.of_bytes else chars(points)
            self._literals[key] = node
        self.add(node, start)

    def _dot(self) -> CodepointSet:
        if self.flags & DOT_ALL:
            return self.complement(CodepointSet.NONE)
        return self.complement(
            CodepointSet.of("\r\n") if self.flags & CRLF else CodepointSet.of("\n")
        )

    # Anchors and escapes.

    def _line_anchor(self, this: str) -> RegexNode:
        multiline, crlf = bool(self.flags & MULTILINE), bool(self.flags & CRLF)
        return line_anchor(this, multiline=multiline, crlf=crlf)

    def _boundary(self, kind: str) -> RegexNode:
        return boundary(kind, self.perl_set("w"), utf8=self.of_bytes and self.unicode)

    def _escape(self, start: int) -> None:
        this = self.peek()
        if this and this in "dswDSW":
            self.at += 1
            self.add(self._one_of(self.perl_set(this)), start)
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
            self.add(self._one_of(self.read_property(this, start)), start)
        else:
            point = self.read_escaped_point(start)
            if self.is_byte(start):
                self.add(self._one_of(self.folded(CodepointSet.of(point))), start)
            else:
                self._literal(point, start)

    def _word_edge(self, start: int) -> str:
        r"""What follows `\b`: a kind in braces, or nothing. `\b{2}` is a boundary twice."""
        opened = self.at
        if self.peek() != "{":
            return "b"
        self.at += 1
        if not self.at_more():
            raise self.error(
                "a brace after \\b begins a kind of boundary or a count, and has no }",
                start,
                self.at,
                hint=_BOUNDARY_HINT,
            )
        word = ""
        first = self.at
        while self.at < len(self.source) and (
            self.peek() == "-" or (self.peek().isascii() and self.peek().isalpha())
        ):
            word += self.peek()
            self.at += 1
            self.at_more()
        if not word:
            self.at = opened
            return "b"
        if self.peek() != "}":
            raise self.error(
                "a kind of boundary without its }",
                opened,
                self.at,
                hint=_BOUNDARY_HINT,
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
            self.at_more()
            hi = None if self.peek() == "}" else self._count(start)
        if not self.match("}"):
            raise self._unclosed_count(start)
        end = self.at
        self.at_more()
        if self.peek() != "?":
            self.at = end
        return lo, hi

    def _count(self, start: int) -> int:
        while self.at_more() and is_blank(self.peek()):
            self.at += 1
        first = self.at
        digits = self.take_more(_DIGITS, len(self.source))
        end = self.at
        while self.at_more() and is_blank(self.peek()):
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
        if not self.at_more():
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
        """`(?i-s)` for the rest of a group, `(?i-s:...)` for a group of its own, or `(?:...)`."""
        first = self.at
        on, off = self._flags(start)
        if self.match(":"):
            self.open(GroupKind.PLAIN, start)
        else:
            empty = self.at == first
            self.at += 1
            if empty:
                raise self.error(
                    "a group with ? and nothing else",
                    start,
                    self.at,
                    hint="write (?:...) for a group, or name flags: (?i)",
                )
            self.groups[-1].last_repeatable = False
        self.flags = (self.flags | on) & ~off

    def _flags(self, start: int) -> tuple[int, int]:
        """The flags that a group turns on, and those it turns off; `at` is before : or )."""
        on = off = 0
        minus = None
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
                flag = self._flag(this)
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
        return on, off

    def _flag(self, this: str) -> int:
        flag = FLAGS.get(this)
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
