r"""Assertions in their smallest form, and what of the left a pattern asks about.

Every anchor and lookaround becomes one of three:

- `Left`: the last code point is in a set, or this is the start of the text, or not so;
- `Behind`: a longer lookbehind, numbered;
- `Look` ahead: `$` is `(?![\s\S])`, and `\b` is `(?<=\w)(?!\w)|(?<!\w)(?=\w)`.

A lookbehind for alternatives is alternatives of lookbehinds, so `(?<=^|,)` needs only `Left`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.errors import UnsupportedFeatureError
from constrain.frontends.regex.nodes import (
    EMPTY_TEXT,
    Alternation,
    Anchor,
    AnchorKind,
    Chars,
    Concat,
    Look,
    RegexNode,
    Repeat,
    alternation,
    concat,
    repetition,
)
from constrain.frontends.regex.plain import children, postorder

__all__ = ["AT_START", "Behind", "Left", "Resolved"]

AT_START: Final = 1
"""The bits of the left memory at the start of the text: bit 0 alone."""

# The work of a followed lookaround recurses as deep as they nest.
_MAX_LOOKAROUND_DEPTH: Final = 16


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Left(RegexNode):
    """Bit `bit` of the left memory is set, or, negated, is not."""

    bit: int
    negative: bool

    def __post_init__(self) -> None:
        self._set(False, True, 0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Behind(RegexNode):
    """What came before ends with a match of the lookbehind number `index`, or does not."""

    index: int
    negative: bool

    def __post_init__(self) -> None:
        self._set(False, True, 0, 0)


class Resolved:
    """A node in which assertions are `Left`, `Behind` and `Look` ahead.

    Attributes:
        root: The node.
        left_sets: Set i is asked for by `Left` with bit i + 1; bit 0 is the start of the text.
        behind: The bodies of long lookbehinds; those that stand in another come before it.
    """

    def __init__(self, node: RegexNode) -> None:
        """Resolve a node.

        Raises:
            UnsupportedFeatureError: Lookaround nests too deep.
        """
        self.left_sets: list[CodepointSet] = []
        self.behind: list[RegexNode] = []
        self._first_left: dict[RegexNode, int] = {}
        self._behind_in: dict[RegexNode, int] = {}
        self._left_bits: dict[int, int] = {}
        self._depth: dict[RegexNode, int] = {}
        self._anchors: dict[tuple[AnchorKind, CodepointSet], RegexNode] = {}
        made: dict[RegexNode, RegexNode] = {}
        for this in postorder(node):
            self._check_depth(this)
            made[this] = self._rebuild(this, made)
        self.root = made[node]
        for body in (*self.behind, self.root):
            for this in postorder(body):
                self._learn(this)

    def first_left(self, node: RegexNode) -> int:
        """Bits of the left memory that `node` may ask for before it reads a code point."""
        return self._first_left.get(node, 0)

    def behind_in(self, node: RegexNode) -> int:
        """Long lookbehinds in `node`, a bit each."""
        return self._behind_in.get(node, 0)

    def left_bits(self, point: int) -> int:
        """The left memory after reading `point`."""
        bits = self._left_bits.get(point)
        if bits is None:
            held = [s.contains(point) for s in self.left_sets]
            bits = self._left_bits[point] = sum([b << i + 1 for i, b in enumerate(held)])
        return bits

    # Rewriting.

    def _check_depth(self, node: RegexNode) -> None:
        depth = max([self._depth[c] for c in children(node)], default=0)
        if isinstance(node, Look):
            depth += 1
            if depth > _MAX_LOOKAROUND_DEPTH:
                place = node.place
                raise UnsupportedFeatureError(
                    f"lookaround that nests more than {_MAX_LOOKAROUND_DEPTH} deep",
                    source=None if place is None else place.source,
                    span=None if place is None else place.span,
                    hint="most lookarounds inside of a lookaround can stand beside it",
                )
        self._depth[node] = depth

    def _rebuild(self, node: RegexNode, made: dict[RegexNode, RegexNode]) -> RegexNode:
        if isinstance(node, Anchor):
            key = (node.kind, node.points)
            if key not in self._anchors:
                self._anchors[key] = self._anchor(node)
            return self._anchors[key]
        if isinstance(node, Look):
            return self._look(made[node.body], node.behind, node.negative)
        if all(made[c] is c for c in children(node)):
            return node
        if isinstance(node, Concat):
            return concat([made[p] for p in node.parts])
        if isinstance(node, Alternation):
            return alternation([made[m] for m in node.members])
        assert isinstance(node, Repeat), node
        return repetition(made[node.body], node.lo, node.hi)

    def _anchor(self, node: Anchor) -> RegexNode:
        kind, points = node.kind, node.points
        if kind is AnchorKind.TEXT_START:
            return Left(0, negative=False)
        if kind is AnchorKind.TEXT_END:
            return _ahead(CodepointSet.ANY, negative=True)
        if kind is AnchorKind.LINE_START:
            return alternation([Left(0, negative=False), self._left(points, negative=False)])
        if kind is AnchorKind.LINE_END:
            return _ahead(~points, negative=True)
        other = kind is AnchorKind.BOUNDARY
        return alternation(
            [
                concat([self._left(points, negative), _ahead(points, negative=negative != other)])
                for negative in (False, True)
            ]
        )

    def _left(self, points: CodepointSet, negative: bool) -> RegexNode:
        if points not in self.left_sets:
            self.left_sets.append(points)
        return Left(self.left_sets.index(points) + 1, negative)

    def _look(self, body: RegexNode, behind: bool, negative: bool) -> RegexNode:
        if body.max_width == 0 and not negative:
            return body  # it reads nothing, so it says the same by itself
        if body.plain and body.nullable:  # it holds everywhere: the empty text matches
            return Chars(CodepointSet.NONE) if negative else EMPTY_TEXT
        if not behind or body.max_width == 0:
            return Look(body, behind=False, negative=negative)
        members = body.members if isinstance(body, Alternation) else (body,)
        looks = [self._look_behind(m, negative) for m in members]
        return concat(looks) if negative else alternation(looks)

    def _look_behind(self, body: RegexNode, negative: bool) -> RegexNode:
        if isinstance(body, Alternation) or body.max_width == 0:
            return self._look(body, True, negative)
        if isinstance(body, Chars):
            return self._left(body.points, negative)
        self.behind.append(body)
        return Behind(len(self.behind) - 1, negative)

    # What nodes ask about.

    def _learn(self, node: RegexNode) -> None:
        first = behind = 0
        if isinstance(node, Left):
            first = 1 << node.bit
        elif isinstance(node, Behind):
            behind = 1 << node.index
        elif isinstance(node, Concat):
            for part in node.parts:
                first |= self._first_left.get(part, 0)
                if not part.nullable:
                    break
        else:
            for child in children(node):
                first |= self._first_left.get(child, 0)
        for child in children(node):
            behind |= self._behind_in.get(child, 0)
        if first:
            self._first_left[node] = first
        if behind:
            self._behind_in[node] = behind


def _ahead(points: CodepointSet, *, negative: bool) -> RegexNode:
    return Look(Chars(points), behind=False, negative=negative)
