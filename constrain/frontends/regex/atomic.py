"""Atomic groups and possessive quantifiers, rewritten without them.

`(?>x)` matches as the first successful way through x does, and no other way. Only the place where
the match ends matters to a language, so:

- where all matches of x have one width there is nothing to choose: `(?>x)` is `x`;
- `(?>a|b)` is `(?>a)|(?!a)(?>b)`: the second only where the first has no match;
- `(?>fy)` with f of one width is `f(?>y)`, and `(?>(a|b)y)` is `(?>ay|by)`;
- `(?>f*y)` is `f*(?!f+y)(?>y)`: as many f as can be followed by y;
- `(?>f*?y)` is `(?:(?!y)f)*(?>y)`: as few;
- `(?>f{2,5})` is `f{2,4}(?!f)|f{5}`, and `(?>f{2,5}?)` is `f{2}`.

What is none of these is refused: the way a backtracking engine would go is not a property of a
language.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from constrain.errors import UnsupportedFeatureError
from constrain.frontends.regex.nodes import (
    EMPTY_TEXT,
    Alternation,
    Concat,
    Look,
    Place,
    RegexNode,
    Repeat,
    alternation,
    concat,
    repetition,
)

__all__ = ["atomic"]

# Distributing over alternations doubles, and each part that repeats is one level of recursion; real
# atomic groups need a handful of pieces.
_MAX_PIECES: Final = 100


def atomic(body: RegexNode, place: Place) -> RegexNode:
    """A node for `(?>body)` without atomic groups.

    Raises:
        UnsupportedFeatureError: The first match cannot be told by the rules above.
    """
    return _Rewriter(place).rewrite(body)


def _one_width(node: RegexNode) -> bool:
    return node.min_width == node.max_width


class _Rewriter:
    """One rewriting. Counts the pieces it makes, which bounds its depth too."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._pieces = 0

    def rewrite(self, body: RegexNode) -> RegexNode:
        """`(?>body)`. Alternatives are worked off from a list, in order of preference."""
        done: list[RegexNode] = []
        before: list[RegexNode] = []  # alternatives that are preferred and must not match
        todo: list[tuple[list[RegexNode], RegexNode]] = [([], body)]
        while todo:
            fixed, node = todo.pop()
            piece = self._split(fixed, node)
            if isinstance(piece, RegexNode):
                guards = [self._not_ahead(b) for b in before]
                done.append(concat([*guards, piece]))
                before.append(concat([*fixed, node]))
            else:
                todo.extend(reversed(piece))
        return alternation(done)

    def _split(
        self, fixed: Sequence[RegexNode], node: RegexNode
    ) -> RegexNode | list[tuple[list[RegexNode], RegexNode]]:
        """`fixed` then `(?>node)`, or the alternatives it splits into."""
        self._pieces += 1
        if self._pieces > _MAX_PIECES:
            raise self._refusal()
        if _one_width(node):
            return concat([*fixed, node])
        parts = list(node.parts) if isinstance(node, Concat) else [node]
        lead = 0
        while _one_width(parts[lead]):
            lead += 1
        fixed = [*fixed, *parts[:lead]]
        first, rest = parts[lead], concat(parts[lead + 1 :])
        if isinstance(first, Alternation):
            return [(fixed, concat([m, rest])) for m in first.members]
        if isinstance(first, Repeat) and _one_width(first.body) and first.body.min_width:
            return concat([*fixed, self._repeat(first, rest)])
        raise self._refusal()

    def _repeat(self, first: Repeat, rest: RegexNode) -> RegexNode:
        """`(?>first rest)` where the body of `first` has one width."""
        body, lo, hi = first.body, first.lo, first.hi
        if rest is EMPTY_TEXT:
            if first.lazy:
                return repetition(body, lo, lo)
            more = self._not_ahead(body)
            if hi is None:
                return concat([repetition(body, lo, None), more])
            fewer = concat([repetition(body, lo, hi - 1), more])
            return alternation([fewer, repetition(body, hi, hi)])
        if first.lazy:
            skipped = concat([self._not_ahead(rest), body])
            more = repetition(skipped, 0, None if hi is None else hi - lo)
            return concat([repetition(body, lo, lo), more, self.rewrite(rest)])
        if hi is not None:
            raise self._refusal()
        longer = concat([repetition(body, 1, None), rest])
        return concat([repetition(body, lo, None), self._not_ahead(longer), self.rewrite(rest)])

    def _not_ahead(self, body: RegexNode) -> RegexNode:
        return Look(body, behind=False, negative=True, place=self._place)

    def _refusal(self) -> UnsupportedFeatureError:
        return UnsupportedFeatureError(
            f"{self._place.construct} whose match depends on how an engine backtracks",
            source=self._place.source,
            span=self._place.span,
            hint="write a plain group and say with a lookahead (?!...) what must not follow",
        )
