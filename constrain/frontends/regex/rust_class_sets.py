r"""Classes of Rust's crate `regex`, and classes in classes: `[\w&&[^a-c]--\d]`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from constrain.algebra.codepoints import CodepointSet, union
from constrain.frontends.regex.rust_classes import ASCII_CLASSES
from constrain.frontends.regex.rust_escapes import EscapeReader

__all__ = ["ClassReader"]


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


class ClassReader(EscapeReader):
    """Reads classes."""

    def read_class(self, start: int) -> CodepointSet:
        """The set of a class; `at` is after its bracket. Levels are on a list: no recursion."""
        levels = [self._open_class(start)]
        while True:
            level = levels[-1]
            if not self.at_more():
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
                done = self.complement(done) if level.negated else done
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
        if self.at_more() and self.peek() == "^":
            self.at += 1
            level.negated = True
        while self.at_more() and self.peek() == "-":
            self.at += 1
            level.ranges.append((ord("-"), ord("-")))
        if not level.ranges and self.peek() == "]":
            self.at += 1
            level.ranges.append((ord("]"), ord("]")))
        return level

    def _operate(self, level: _ClassLevel) -> CodepointSet:
        """What stands in a class so far."""
        points = self.folded(union(level.members) | CodepointSet.from_ranges(level.ranges))
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
        points = self.folded(points)
        return self.complement(points) if negated else points

    def _class_range(self, level: _ClassLevel) -> None:
        """Add a character, a set or a range to a class."""
        start = self.at
        first = self._class_item()
        first_end = self.at
        if not self.at_more():
            raise self._unclosed(level)
        if self.peek() != "-" or self.peek_more() in ("]", "-"):
            if first.point is None:
                level.members.append(first.points)
            else:
                level.ranges.append((first.point, first.point))
            return
        self.at += 1
        if not self.at_more():
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
            return _Item(None, self.perl_set(letter))
        if letter in ("p", "P"):
            self.at += 1
            return _Item(None, self.read_property(letter, start))
        if letter and letter in "Azb<>B":
            self.at += 1
            raise self.error(
                f"\\{letter} is an assertion, and no member of a class",
                start,
                self.at,
                hint="write \\x08 for a backspace, and an anchor outside of the class",
            )
        return self._class_literal(self.read_escaped_point(start), start)

    def _class_literal(self, point: int, start: int) -> _Item:
        if not self.unicode and point > 0x7F and not self.is_byte(start):
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
