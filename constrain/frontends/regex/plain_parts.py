"""What is known of the parts of a pattern that have no assertions, where others stand around them.

A part is one term, with its counters, if nothing asks about the code point that it ends with, or
all code points that it may end with answer alike: `Last` says which questions those are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import Term
from constrain.algebra.utf8 import Alphabet
from constrain.frontends.regex.nodes import (
    Alternation,
    Chars,
    Concat,
    Ended,
    RegexNode,
    Repeat,
    alternation,
    children,
    concat,
    postorder,
    repetition,
)
from constrain.frontends.regex.plain import lower_plain
from constrain.frontends.regex.resolve import AT_START, Resolved
from constrain.limits import Limits

__all__ = ["Last", "PlainParts", "Work"]

# A lookahead as short as this, with as few nodes, is followed code point by code point; another
# one is intersected.
_SHORT_LOOKAHEAD: Final = 16
_SMALL_LOOKAHEAD: Final = 500

# What one step costs in `Limits.max_source_nodes`. It takes about 15 us, and reading a node of a
# pattern about 1.5 us (CPython 3.11 on one core of a shared server, 2026).
_STEP_COST: Final = 10

Last = tuple[int, int]
"""Of the last code point of a part: bits of the left memory that are set, and that are not."""

_NO_LAST: Final[Last] = (-1, -1)
_MIXED: Final[Last] = (0, 0)


class Work:
    """Steps of work on one pattern so far."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._spent = 0

    def spend(self, steps: int) -> None:
        """Count some more.

        Raises:
            LimitExceededError: There are too many.
        """
        self._spent += _STEP_COST * steps
        self._limits.check("max_source_nodes", self._spent, "the assertions of a pattern")


class PlainParts:
    """Facts about parts without assertions, each found once.

    Args:
        resolved: The pattern.
        alphabet: How code points are spelled.
        spend: Called with steps of work that are more than a look at each node.
    """

    def __init__(
        self, resolved: Resolved, alphabet: Alphabet, spend: Callable[[int], None]
    ) -> None:
        self._resolved = resolved
        self._alphabet = alphabet
        self._spend = spend
        self._terms: dict[RegexNode, Term] = {}
        self._nonempty: dict[RegexNode, RegexNode | None] = {}
        self._runs: dict[Concat, list[tuple[int, int, Last]]] = {}
        self._lasts: dict[RegexNode, Last] = {}
        self._lasts_of_points: dict[CodepointSet, Last] = {}
        self._sizes: dict[RegexNode, int] = {}

    def term(self, node: RegexNode) -> Term:
        """The term of a plain node."""
        return lower_plain(node, self._alphabet, self._terms)

    def run(self, node: Concat, at: int) -> tuple[int, int, Last]:
        """Where the run of plain parts from `at` on ends, and where its last one begins.

        The last one that cannot be empty, that is: what asks how the run ended asks about that one
        and those after it, of which the third value tells; `_MIXED` if there is none, and then the
        second is `at`.
        """
        runs = self._runs.get(node)
        if runs is None:
            runs = []
            end = solid = len(node.parts)
            last = _NO_LAST
            for i in range(len(node.parts) - 1, -1, -1):
                part = node.parts[i]
                if not part.plain:
                    end = solid = i
                    last = _NO_LAST
                elif solid == end:
                    last = _both(last, self.last_of(part))
                    if not part.nullable:
                        solid = i
                runs.append((end, solid, last))
            runs.reverse()
            self._runs[node] = runs
        end, solid, last = runs[at]
        return (end, solid, last) if solid < end else (end, at, _MIXED)

    def last_of(self, node: RegexNode) -> Last:
        """What is known of the last code point of a plain node, if it reads one."""
        made = self._lasts
        for this in () if node in made else postorder(node):
            if this in made:
                continue
            if isinstance(this, Chars):
                made[this] = self._last_in(this.points)
                continue
            parts = children(this)
            if isinstance(this, Concat):
                ends = next((i for i in range(len(parts) - 1, -1, -1) if not parts[i].nullable), 0)
                parts = parts[ends:]
            elif isinstance(this, Ended):
                parts = parts[:1]
            last = _NO_LAST
            for part in parts:
                last = _both(last, made[part])
            made[this] = last
        return made[node]

    def _last_in(self, points: CodepointSet) -> Last:
        made = self._lasts_of_points.get(points)
        if made is None:
            inside = outside = 0
            for i, asked in enumerate(self._resolved.left_sets):
                inside |= points.issubset(asked) << i + 1
                outside |= points.isdisjoint(asked) << i + 1
            made = self._lasts_of_points[points] = inside, outside | AT_START
        return made

    def is_small(self, node: RegexNode) -> bool:
        """Whether a lookahead for `node` may be followed code point by code point."""
        size = self._sizes.get(node)
        if size is None:
            size = len(postorder(node, most=_SMALL_LOOKAHEAD + 1))
            self._sizes[node] = size
        widest = node.max_width
        return widest is not None and widest <= _SHORT_LOOKAHEAD and size <= _SMALL_LOOKAHEAD

    def nonempty(self, node: RegexNode) -> RegexNode | None:
        """A plain node without the empty text; None if nothing is left."""
        made = self._nonempty
        for this in postorder(node):
            if this not in made:
                made[this] = self._without_empty(this)
        return made[node]

    def _without_empty(self, node: RegexNode) -> RegexNode | None:
        if not node.nullable:
            return node
        made = self._nonempty
        if isinstance(node, Repeat):
            body = made[node.body]
            return None if body is None else repetition(body, 1, node.hi)
        alternatives: list[RegexNode] = []
        if isinstance(node, Alternation):
            alternatives = [n for m in node.members if (n := made[m]) is not None]
        elif isinstance(node, Concat):
            self._spend(len(node.parts) ** 2 // 8)
            for i, part in enumerate(node.parts):
                first = made[part]
                if first is not None:
                    alternatives.append(concat([first, *node.parts[i + 1 :]]))
        return alternation(alternatives) if alternatives else None


def _both(one: Last, other: Last) -> Last:
    """What is known if the last code point may be that of either."""
    return one[0] & other[0], one[1] & other[1]
