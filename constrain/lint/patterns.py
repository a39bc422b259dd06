r"""A regular expression as it is written: its groups, quantifiers and alternatives, with places.

The front-end for patterns keeps no places, and drops what does not change the language, such as the
inner star of `(a*)*`. So the pattern is cut up once more: groups, `|` and quantifiers here, what
stands between them (a class, an escape) by that front-end.

    (a|b)+\d      Sequence(Repetition(Choice(a, b), 1, None), \d)

Anchors and lookarounds become the empty text. Cost: O(length); nothing here recurses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from constrain.algebra.terms import ANY_BYTE, EPS, Term, literal
from constrain.errors import ConstrainError
from constrain.frontends.cfg import Choice, Expression, Repetition, Sequence, Terminal
from constrain.frontends.regex import from_regex
from constrain.lint.outline import Span

__all__ = ["PatternChoice", "PatternRepetition", "outline_pattern"]

_QUANTIFIER: Final = re.compile(r"([*+?]|\{ *(\d*) *(?:(,) *(\d*) *)?\})[?+]?")
_ESCAPE: Final = re.compile(
    r"\\(?:x[0-9A-Fa-f]{2}|x\{[^}]*\}|u[0-9A-Fa-f]{4}|u\{[^}]*\}|U[0-9A-Fa-f]{8}|N\{[^}]*\}"
    r"|[pP]\{[^}]*\}|[pP].|k<[^>]*>|c[A-Za-z]|[0-7]{1,3}|.)",
    re.DOTALL,
)
_OPENS: Final = re.compile(
    r"\((?:\?P?<(?P<name>[A-Za-z_]\w*)>|\?(?P<look>=|!|<=|<!)|\?P=(?P<back>\w+)\)"
    r"|\?(?P<comment>#[^)]*)\)|\?(?P<atomic>>)|\?(?P<flags>[a-zA-Z-]*)(?P<scoped>[:)]))?"
)
_SIMPLE: Final = re.compile(r"[^\\\[\](){}.*+?|^$]+")


@dataclass(frozen=True, slots=True, eq=False)
class PatternChoice(Choice):
    """Alternatives of a pattern, in which every blank counts."""


@dataclass(frozen=True, slots=True, eq=False)
class PatternRepetition(Repetition):
    """A repeat in a pattern, where counts are written `{lo,hi}` whatever is around the pattern."""


@dataclass(slots=True)
class _Group:
    """A group that is open."""

    start: int
    flags: str
    is_look: bool = False
    members: list[Expression] = field(default_factory=list)
    parts: list[Expression] = field(default_factory=list)


def outline_pattern(
    pattern: str,
    places: dict[Expression, Span],
    *,
    offset: int = 0,
    dialect: str = "python",
    flags: str = "",
) -> Expression:
    """The expression of a pattern that the front-end has accepted.

    Args:
        pattern: The pattern. One that does not parse gives some expression.
        places: Spans are put into it.
        offset: Where the pattern begins in its text.
        dialect: As of `Grammar.from_regex`.
        flags: Of the whole pattern.
    """
    return _PatternReader(pattern, places, offset, dialect, flags).read()


class _PatternReader:
    def __init__(
        self, pattern: str, places: dict[Expression, Span], offset: int, dialect: str, flags: str
    ) -> None:
        self._pattern = pattern
        self._places = places
        self._offset = offset
        self._dialect = dialect
        self._groups = [_Group(0, flags)]
        self._at = 0

    def read(self) -> Expression:
        pattern = self._pattern
        while self._at < len(pattern):
            start = self._at
            here = pattern[start]
            if here == "(":
                self._open(start)
            elif here == ")":
                self._at += 1
                if len(self._groups) > 1:
                    self._close()
            elif here == "|":
                self._at += 1
                self._bar(self._groups[-1], start)
            elif not self._quantify(start):
                self._leaf(start, here)
        while len(self._groups) > 1:
            self._close()
        return self._finish(self._groups[0])

    def _add(self, part: Expression, start: int) -> None:
        self._groups[-1].parts.append(part)
        self._places[part] = (start + self._offset, self._at + self._offset)

    def _open(self, start: int) -> None:
        found = _OPENS.match(self._pattern, start)
        assert found is not None
        self._at = found.end()
        flags = self._groups[-1].flags
        if found["back"] or found["comment"]:
            if found["back"]:
                self._add(Terminal(ANY_BYTE), start)
            return
        if found["scoped"]:
            on, _, off = found["flags"].partition("-")
            flags = "".join(sorted((set(flags) | set(on)) - set(off)))
            if found["scoped"] == ")":
                self._groups[-1].flags = flags
                return
        self._groups.append(_Group(start, flags, found["look"] is not None))

    def _close(self) -> None:
        group = self._groups.pop()
        body = self._finish(group)
        self._add(Terminal(EPS) if group.is_look else body, group.start)

    def _bar(self, group: _Group, end: int) -> None:
        parts = group.parts
        whole = parts[0] if len(parts) == 1 else Sequence(tuple(parts))
        if parts and len(parts) > 1:
            self._places[whole] = (self._places[parts[0]][0], self._places[parts[-1]][1])
        elif not parts:
            self._places[whole] = (end + self._offset, end + self._offset)
        group.members.append(whole)
        group.parts = []

    def _finish(self, group: _Group) -> Expression:
        self._bar(group, self._at)
        members = group.members
        return members[0] if len(members) == 1 else PatternChoice(tuple(members))

    def _quantify(self, start: int) -> bool:
        """Read a quantifier; False where none stands."""
        found = _QUANTIFIER.match(self._pattern, start)
        parts = self._groups[-1].parts
        if found is None or not parts:
            return False
        kind = found[1][0]
        lo, hi = {"*": (0, None), "+": (1, None), "?": (0, 1), "{": (0, None)}[kind]
        if kind == "{":
            if not found[2] and not found[4]:
                return False
            lo = int((found[2] or "0")[:18])
            hi = lo if found[3] is None else (int(found[4][:18]) if found[4] else None)
            if hi is not None and hi < lo:
                return False
        self._at = found.end()
        body = parts.pop()
        self._add(PatternRepetition(body, lo, hi), self._places[body][0] - self._offset)
        return True

    def _leaf(self, start: int, here: str) -> None:
        pattern, flags = self._pattern, self._groups[-1].flags
        if here in "^$":
            self._at += 1
            self._add(Terminal(EPS), start)
            return
        if here == "\\":
            found = _ESCAPE.match(pattern, start)
            self._at = len(pattern) if found is None else found.end()
            anchors = "AZbB" if self._dialect == "python" else "bBAz"
            if pattern[start + 1 : self._at] in tuple(anchors):
                self._add(Terminal(EPS), start)
                return
        elif here == "[":
            self._at = _end_of_class(pattern, start)
        else:
            run = None if "x" in flags else _SIMPLE.match(pattern, start)
            self._at = start + 1
            if "x" in flags and (here.isspace() or here == "#"):
                end = pattern.find("\n", start) if here == "#" else start
                self._at = len(pattern) if end < 0 else end + 1
                return
            if run is not None and run.end() - start > 1:
                # A quantifier takes the last code point only.
                behind = pattern[run.end() : run.end() + 1]
                self._at = run.end() - (behind in ("*", "+", "?", "{") and behind != "")
        self._add(Terminal(_leaf_term(pattern[start : self._at], self._dialect, flags)), start)


def _end_of_class(pattern: str, start: int) -> int:
    at = start + 1
    if pattern.startswith("^", at):
        at += 1
    at += 1  # a bracket that comes first is a member
    if pattern[at - 1 : at] == "\\":
        at += 1
    depth = 1
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] == "[" and pattern[at + 1 : at + 2] == ":":
            depth += 1
        elif pattern[at] == "]":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return len(pattern)


@lru_cache(maxsize=4096)  # terms are immutable; most classes come again
def _leaf_term(text: str, dialect: str, flags: str) -> Term:
    if _SIMPLE.fullmatch(text) and "i" not in flags and "x" not in flags:
        return literal(text.encode("utf-8", "surrogatepass"))
    kept = "".join(f for f in flags if f in "ismau") if dialect == "python" else ""
    try:
        return from_regex(text, dialect, flags=kept)
    except (ConstrainError, ValueError):
        return ANY_BYTE
