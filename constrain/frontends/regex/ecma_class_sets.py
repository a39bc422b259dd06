r"""Classes of ECMA-262 under the flag v: sets of sets such as `[\p{L}--[a-z]]` and `\q{ab|c}`.

A class may have members that are texts and no single code points, by `\q{...}`. Without regard to
case, all members are closed under case folding before they are combined, so a complement is what
no member folds to. Properties of texts (`\p{RGI_Emoji}`) are refused by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.frontends.regex.case_folding import ignore_case_simple
from constrain.frontends.regex.nodes import RegexNode, alternation, chars, concat
from constrain.frontends.regex.reader import PatternReader

__all__ = ["ClassSetReader", "Members"]

_SYNTAX: Final = "()[]{}/-\\|"
_RESERVED: Final = "&-!#%,:;<=>@`~"
_DOUBLED: Final = "&!#$%*+,.:;<=>?@^`~"
_OF_TEXTS: Final = (
    "Basic_Emoji",
    "Emoji_Keycap_Sequence",
    "RGI_Modifier_Sequence",
    "RGI_Flag_Sequence",
    "RGI_Emoji_Flag_Sequence",
    "RGI_Emoji_Modifier_Sequence",
    "RGI_Emoji_Tag_Sequence",
    "RGI_Emoji_ZWJ_Sequence",
    "RGI_Emoji",
)


@dataclass(frozen=True, slots=True)
class Members:
    """What a class matches: one code point out of `points`, or one of `texts`.

    Attributes:
        texts: None is one code point long. Each code point stands for its class of letters.
        may_have_texts: Something in it is written as a text, which a negated class may not have.
    """

    points: CodepointSet
    texts: frozenset[tuple[int, ...]] = frozenset()
    may_have_texts: bool = False


_NOTHING: Final = Members(CodepointSet.NONE)


@dataclass(slots=True)
class _Level:
    """A class that is still open.

    Attributes:
        operator: "" until the second member or an operator, then " " for a union, "&&" or "--".
        members: How many so far.
        waiting: An operator was the last thing read.
    """

    start: int
    negated: bool
    operator: str = ""
    members: int = 0
    waiting: bool = False
    value: Members = _NOTHING


class ClassSetReader(PatternReader, ABC):
    """A reader with classes of the flag v. The dialect gives what an escape means."""

    @abstractmethod
    def read_escaped_point(self, start: int) -> int:
        """The code point that an escape means; `at` is after the backslash."""

    @abstractmethod
    def read_category(self, letter: str) -> CodepointSet:
        r"""What \d, \s or \w is, closed under case folding if that is on."""

    @abstractmethod
    def read_property(self, letter: str, start: int) -> CodepointSet:
        r"""The set of `\p{...}` with the letter p; `at` is after it."""

    @abstractmethod
    def ignores_case(self) -> bool:
        """Whether the flag i is on."""

    def read_class_set(self, start: int) -> RegexNode:
        """The node of a class; `at` is after its bracket. Levels are on a list: no recursion."""
        levels = [self._open_level(start)]
        while True:
            level = levels[-1]
            self.spend(1)
            if self.at >= len(self.source):
                raise self.error(
                    "unterminated class: the class that begins here has no ]",
                    level.start,
                    hint="write \\[ for the character",
                )
            at = self.at
            if self.peek(2) in ("&&", "--"):
                self._operator(level)
            elif self.match("["):
                self._check_union(level, at)
                levels.append(self._open_level(at))
                nesting = len(levels) + len(self.groups) - 2
                self.limits.check("max_nesting", nesting, "reading a pattern")
            elif self.match("]"):
                value = self._close_level(level)
                levels.pop()
                if not levels:
                    return self._node(value)
                self._combine(levels[-1], value)
            else:
                self._check_union(level, at)
                self._combine(level, self._member(level))

    def _open_level(self, start: int) -> _Level:
        return _Level(start, self.match("^"))

    def _close_level(self, level: _Level) -> Members:
        value = level.value
        if level.waiting:
            raise self.error(
                f"a class ends after {level.operator}, where a set is needed", self.at - 1
            )
        if not level.negated:
            return value
        if value.may_have_texts:
            raise self.error(
                "a negated class may not have a text as a member",
                level.start,
                self.at,
                hint="say with a lookahead (?!...) what may not come",
            )
        return Members(~value.points)

    def _operator(self, level: _Level) -> None:
        start, operator = self.at, self.peek(2)
        self.at += 2
        if level.waiting or not level.members or level.operator not in ("", operator):
            raise self.error(
                f"{operator} stands between two sets, and one class has one kind of operator",
                start,
                self.at,
                hint="put each part into brackets: [[a-z&&\\w]--[aeiou]]",
            )
        if operator == "&&" and self.peek() == "&":
            raise self.error("&&& in a class", start, self.at + 1, hint="write \\& for the sign")
        level.operator, level.waiting = operator, True

    def _check_union(self, level: _Level, at: int) -> None:
        if level.operator in ("&&", "--") and not level.waiting:
            raise self.error(
                f"a set follows another in a class with {level.operator}",
                at,
                hint="put the union into brackets: [[a-z_]--[aeiou]]",
            )

    def _combine(self, level: _Level, value: Members) -> None:
        before = level.value
        level.members += 1
        if level.operator == "&&":
            may = before.may_have_texts and value.may_have_texts
            texts = before.texts & value.texts
            level.value = Members(before.points & value.points, texts, may)
        elif level.operator == "--":
            texts = before.texts - value.texts
            level.value = Members(before.points - value.points, texts, before.may_have_texts)
        else:
            level.operator = " " if level.members > 1 else level.operator
            may = before.may_have_texts or value.may_have_texts
            level.value = Members(before.points | value.points, before.texts | value.texts, may)
        level.waiting = False

    def _member(self, level: _Level) -> Members:
        start = self.at
        if self.peek() == "\\":
            letter = self.peek(2)[1:]
            if letter and letter in "dswDSW":
                self.at += 2
                return Members(self.read_category(letter))
            if letter and letter in "pP":
                self.at += 2
                self._refuse_properties_of_texts(start)
                points = self._closed(self.read_property("p", start))
                return Members(points if letter == "p" else ~points)
            if letter == "q":
                self.at += 2
                return self._quoted(start)
        first = self._point()
        if self.peek() != "-" or self.peek(2) == "--":
            return Members(self._closed(CodepointSet.of(first)))
        if level.operator in ("&&", "--"):
            raise self.error(
                f"a range in a class with {level.operator}",
                start,
                self.at + 1,
                hint="put the range into brackets: [\\w--[a-z]]",
            )
        self.at += 1
        last = self._point()
        if last < first:
            raise self.error(
                f"range out of order in a class: {self.source[start : self.at]}", start, self.at
            )
        level.operator = " "
        return Members(self._closed(CodepointSet.from_ranges([(first, last)])))

    def _point(self) -> int:
        """One character of a class."""
        start = self.at
        this = self.peek()
        self.at += 1
        if this == "\\":
            if self.peek() and self.peek() in _RESERVED:
                self.at += 1
                return ord(self.source[start + 1])
            if self.match("b"):
                return 8
            return self.read_escaped_point(start)
        doubled = this in _DOUBLED and this == self.peek() and bool(this)
        if not this or this in _SYNTAX or doubled:
            shown = 2 * this if doubled else this
            raise self.error(
                f"{shown or 'the end'} in a class, where a character is needed",
                start,
                start + len(shown),
                hint=f"write \\{this or ']'} for the character",
            )
        return ord(this)

    def _quoted(self, start: int) -> Members:
        r"""What stands in `\q{ab|c|}`; `at` is after the q."""
        if not self.match("{"):
            raise self.error("\\q needs braces: \\q{ab|c}", start, self.at)
        points: list[int] = []
        texts = []
        text: list[int] = []
        while True:
            if self.peek() in ("|", "}", ""):
                points.extend(text if len(text) == 1 else [])
                texts.extend([tuple(text)] if len(text) != 1 else [])
                text = []
                if self.match("|"):
                    continue
                if not self.match("}"):
                    raise self.error("\\q without its }", start, self.at)
                break
            text.append(self._point())
            self.spend(1)
        folded = frozenset([tuple([self._first(p) for p in t]) for t in texts])
        return Members(self._closed(CodepointSet.of(*points)), folded, bool(texts))

    def _refuse_properties_of_texts(self, start: int) -> None:
        for name in _OF_TEXTS:
            if self.source.startswith(f"{{{name}}}", self.at):
                raise self.unsupported(
                    f"{name} is a property of texts, which is not in the tables",
                    start,
                    self.at + len(name) + 2,
                    hint="write the texts as alternatives",
                )

    def _closed(self, points: CodepointSet) -> CodepointSet:
        return ignore_case_simple(points) if self.ignores_case() else points

    def _first(self, point: int) -> int:
        """What stands for a letter in a text."""
        closed = self._closed(CodepointSet.of(point))
        return closed.ranges[0][0] if closed else point

    def _node(self, members: Members) -> RegexNode:
        alternatives = [chars(members.points)]
        for text in sorted(members.texts):
            letters = [chars(self._closed(CodepointSet.of(p))) for p in text]
            alternatives.append(concat(letters))
        return alternation(alternatives)
