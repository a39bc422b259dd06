"""How large rules become when lark writes their alternatives out, known before it does.

lark makes productions without groups: `a? b?` is `a b | a | b |`, so each optional part of a
sequence doubles them, and 24 of them make lark work for minutes.

    (x)  [x]  x?     as many alternatives as x has; with ? or in brackets one more
    x* x+            a rule of its own, written out once more in front of itself
    x~2..3           x x | x x x
    a b              each of a with each of b

Cost: O(length of the text).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from constrain.limits import Limits

__all__ = ["check_alternatives"]

_TOKEN: Final = re.compile(
    r"""[ \t]++ | (?://|\#)[^\n]*+ | (?P<or>\s*+\|) | (?P<line>\n\s*+)
    | (?P<times>~\s*+(?P<least>\d{1,9}+)(?:\s*+\.\.\s*+(?P<most>\d{1,9}+))?)
    | (?P<open>[(\[]) | (?P<close>[)\]]) | (?P<quantifier>[?*+])
    | (?P<item>(?:"(?:\\.|[^"\\\n])*+"|/(?!/)(?:\\.|[^/\\])++/|\w++)[imslux]*+)
    | (?P<arguments>\{[^{}\n]*+\} | ->[ \t]*+\w++ | \.\.\s*+"[^"]*+") | .""",
    re.VERBOSE | re.DOTALL,
)
_HEAD: Final = re.compile(
    r"(?m)^[ \t]*+(?:%\w++[ \t]++)?[?!]*+(_*+[a-z]\w*+)(?:\.-?\d++)?(?:\{[^}\n]*+\})?[ \t]*+:"
)
_SYMBOL_COST: Final = 10
"""What a symbol of an alternative costs in `Limits.max_source_nodes`: lark, and the table and the
proofs after it, need some 0.1 ms for it."""
_MOST: Final = 10**18
_WRITTEN_OUT: Final = 50
"""Counts from here on get rules of their own, of no more than so many copies:"""
_COPIES: Final = 5


@dataclass(slots=True)
class _Size:
    """How many alternatives something has, and how many symbols they have together."""

    ways: int = 1
    symbols: int = 0

    def then(self, other: _Size) -> _Size:
        """Each of one with each of the other."""
        symbols = self.symbols * other.ways + other.symbols * self.ways
        return _Size(min(self.ways * other.ways, _MOST), min(symbols, _MOST))

    def or_else(self, other: _Size) -> _Size:
        """Those of both."""
        return _Size(min(self.ways + other.ways, _MOST), min(self.symbols + other.symbols, _MOST))


@dataclass(slots=True)
class _Group:
    """What has been read of a group.

    Attributes:
        optional: Whether it is in brackets.
        before: The alternatives that have ended.
        sequence: The one that has not, without its last part.
        last: That part, which a quantifier may follow.
    """

    optional: bool = False
    before: _Size = field(default_factory=lambda: _Size(0, 0))
    sequence: _Size = field(default_factory=_Size)
    last: _Size = field(default_factory=_Size)

    def add(self, part: _Size) -> None:
        """Go on with a part."""
        self.sequence, self.last = self.sequence.then(self.last), part

    def end_alternative(self) -> None:
        """Go on with another alternative."""
        self.add(_Size())
        self.before, self.sequence = self.before.or_else(self.sequence), _Size()

    def whole(self) -> _Size:
        """All of it."""
        self.end_alternative()
        return self.before.or_else(_Size()) if self.optional else self.before


def check_alternatives(text: str, limits: Limits) -> None:
    """Refuse a grammar with a rule that lark would not write out in good time.

    Raises:
        LimitExceededError: It needs more than `max_source_nodes`.
    """
    for name, symbols in _sizes(text):
        what = f"Lark rule {name!r}, whose alternatives each optional part doubles,"
        limits.check("max_source_nodes", _SYMBOL_COST * symbols, what)


def _sizes(text: str) -> Iterator[tuple[str, int]]:
    for head in _HEAD.finditer(text):
        yield head[1], _symbols(text, head.end())


def _symbols(text: str, at: int) -> int:
    """Of the rule whose alternatives begin at a place."""
    apart = 0  # in rules that lark makes of parts of this one
    groups = [_Group()]
    for found in _TOKEN.finditer(text, at):
        kind, group = found.lastgroup, groups[-1]
        if kind == "line":
            break
        if kind == "or":
            group.end_alternative()
        elif kind == "open":
            groups.append(_Group(found[0] == "["))
        elif kind == "close" and len(groups) > 1:
            groups.pop()
            groups[-1].add(group.whole())
        elif kind == "item":
            group.add(_Size(1, 1))
        elif kind == "times":
            group.last = _repeated(group.last, int(found["least"]), found["most"])
        elif found[0] == "?":
            group.last = group.last.or_else(_Size())
        elif kind == "quantifier":
            apart += 2 * group.last.symbols + group.last.ways
            group.last = _Size(1, 1) if found[0] == "+" else _Size(2, 1)
    return min(apart + sum([group.whole().symbols for group in groups]), _MOST)


def _repeated(part: _Size, least: int, written: str | None) -> _Size:
    most = least if written is None else int(written)
    if most >= _WRITTEN_OUT:
        least = most = _COPIES
    found, copies = _Size(0, 0), _Size()
    for n in range(most + 1):
        if n >= least:
            found = found.or_else(copies)
        copies = copies.then(part)
    return found
