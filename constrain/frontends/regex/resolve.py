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
    Ended,
    Look,
    RegexNode,
    alternation,
    children,
    concat,
    postorder,
    rebuilt,
)

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
        for this in _with_assertions(node):
            self._check_depth(this)
            made[this] = this if this.plain else self._rebuild(this, made)
        for body in (*self.behind, made[node]):
            for this in _with_assertions(body):
                self._learn(this)
        self.root = self._join_ends(_trim(made[node]))
        for this in _with_assertions(self.root):
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
        parts = () if node.plain else children(node)
        depth = max([self._depth[c] for c in parts], default=0)
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
        return rebuilt(node, made)

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

    def _join_ends(self, root: RegexNode) -> RegexNode:
        """Long lookbehinds after a part without assertions are intersections with that part.

        So its counters stay counters. Only at the start of the text, and only where nothing
        further on looks back.
        """
        parts = _parts(root)
        at = 0
        while at < len(parts) and parts[at].plain:
            at += 1
        ends = []
        for part in parts[at:]:
            if not isinstance(part, Behind) or not self.behind[part.index].plain:
                break
            ends.append((self.behind[part.index], part.negative))
        rest = parts[at + len(ends) :]
        if not ends or any(self.behind_in(p) for p in rest):
            return root
        for part in rest:
            if self.first_left(part):
                return root
            if not part.nullable:
                break
        return concat([Ended(concat(parts[:at]), tuple(ends)), *rest])

    # What nodes ask about.

    def _learn(self, node: RegexNode) -> None:
        first = behind = 0
        if isinstance(node, Left):
            first = 1 << node.bit
        elif isinstance(node, Behind):
            behind = 1 << node.index
        elif node.plain:
            return
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


def _with_assertions(node: RegexNode) -> list[RegexNode]:
    """Every node of a tree, parts before wholes, and nothing of those without assertions."""
    return postorder(node, into=lambda n: not n.plain)


def _parts(node: RegexNode) -> tuple[RegexNode, ...]:
    return node.parts if isinstance(node, Concat) else (node,)


def _trim(root: RegexNode) -> RegexNode:
    """Without anchors at the ends that say nothing, and without what they leave no room for.

    `[^]*^abc$[^]*` is `abc`: before `^` and after `$` only the empty text can be.
    """
    parts = _parts(root)
    start = 0
    for at, part in enumerate(parts):
        if isinstance(part, Left) and part.bit == 0 and not part.negative:
            start = at + 1
        elif not (part.plain and part.nullable):
            break
    end = len(parts)
    for at in range(len(parts) - 1, start - 1, -1):
        part = parts[at]
        if isinstance(part, Look) and part.negative and not part.body.nullable:
            # It is true at the end of the text. Only the anchor says that this is the end.
            body = part.body
            if at == end - 1 or (isinstance(body, Chars) and body.points == CodepointSet.ANY):
                end = at
                continue
        if not (part.plain and part.nullable):
            break
    return concat(parts[start:end])


def _ahead(points: CodepointSet, *, negative: bool) -> RegexNode:
    return Look(Chars(points), behind=False, negative=negative)
