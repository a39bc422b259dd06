r"""The syntax tree of a regular expression, the same for every dialect.

Dialects differ in spelling and in what `\d`, `.` or `$` mean; a node says what is meant: which
code points, which assertion. Groups are gone, and so are laziness (it does not change a language)
and atomic groups (rewritten with lookaheads, see `atomic`).

Nodes compare by identity and carry a few facts about their language, so nothing needs to walk a
tree to ask. Make them with the functions of this file, which simplify; only `chars` is as small as
it gets.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from constrain.algebra.codepoints import CodepointSet

__all__ = [
    "EMPTY_TEXT",
    "Alternation",
    "Anchor",
    "AnchorKind",
    "Chars",
    "Concat",
    "EmptyText",
    "Ended",
    "Look",
    "Place",
    "RegexNode",
    "Repeat",
    "alternation",
    "chars",
    "children",
    "concat",
    "postorder",
    "rebuilt",
    "repetition",
]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a pattern, for messages.

    Attributes:
        source: The whole pattern.
        span: Half-open (start, end) offsets in code points.
        construct: What it is called, such as "lookbehind (?<=...)".
    """

    source: str
    span: tuple[int, int]
    construct: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RegexNode:
    """A part of a pattern; see the subclasses. Immutable, compared by identity.

    Attributes:
        plain: No assertion occurs in it, so its language does not depend on what stands around it.
        nullable: It may match the empty text (where its assertions hold).
        min_width: Code points of the shortest match, a lower bound.
        max_width: Code points of the longest match, an upper bound; None without bound.
    """

    plain: bool = field(init=False)
    nullable: bool = field(init=False)
    min_width: int = field(init=False)
    max_width: int | None = field(init=False)

    def _set(self, plain: bool, nullable: bool, min_width: int, max_width: int | None) -> None:
        object.__setattr__(self, "plain", plain)
        object.__setattr__(self, "nullable", nullable)
        object.__setattr__(self, "min_width", min_width)
        object.__setattr__(self, "max_width", max_width)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EmptyText(RegexNode):
    """The empty text. Use the constant `EMPTY_TEXT`."""

    def __post_init__(self) -> None:
        self._set(True, True, 0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chars(RegexNode):
    """One code point out of `points`; no match at all if that is empty."""

    points: CodepointSet

    def __post_init__(self) -> None:
        self._set(True, False, 1, 1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Concat(RegexNode):
    """The parts one after another; two or more."""

    parts: tuple[RegexNode, ...]

    def __post_init__(self) -> None:
        parts = self.parts
        widest = [p.max_width for p in parts]
        self._set(
            all(p.plain for p in parts),
            all(p.nullable for p in parts),
            sum([p.min_width for p in parts]),
            None if None in widest else sum([w for w in widest if w is not None]),
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Alternation(RegexNode):
    """Any of the members; two or more."""

    members: tuple[RegexNode, ...]

    def __post_init__(self) -> None:
        members = self.members
        widest = [m.max_width for m in members]
        self._set(
            all(m.plain for m in members),
            any(m.nullable for m in members),
            min([m.min_width for m in members]),
            None if None in widest else max([w for w in widest if w is not None]),
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Repeat(RegexNode):
    """`body` lo to hi times (None: without bound), hi >= 1.

    Attributes:
        lazy: It was written so. The language is the same; atomic groups ask.
    """

    body: RegexNode
    lo: int
    hi: int | None
    lazy: bool = False

    def __post_init__(self) -> None:
        body = self.body
        widest = None
        if body.max_width == 0:
            widest = 0
        elif body.max_width is not None and self.hi is not None:
            widest = body.max_width * self.hi
        self._set(body.plain, self.lo == 0 or body.nullable, body.min_width * self.lo, widest)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Look(RegexNode):
    """What comes next begins with `body` (behind: what came before ends with it), or does not."""

    body: RegexNode
    behind: bool
    negative: bool
    place: Place | None = None

    def __post_init__(self) -> None:
        self._set(False, True, 0, 0)


class AnchorKind(enum.Enum):
    """The assertions that have no body."""

    TEXT_START = "start of text"
    TEXT_END = "end of text"
    LINE_START = "start of a line"
    LINE_END = "end of a line"
    BOUNDARY = "boundary"
    NO_BOUNDARY = "no boundary"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Anchor(RegexNode):
    """A place between two code points.

    Attributes:
        points: What ends a line, or what makes a word; empty where it does not matter.
    """

    kind: AnchorKind
    points: CodepointSet = CodepointSet.NONE

    def __post_init__(self) -> None:
        self._set(False, True, 0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ended(RegexNode):
    """Matches of `body` that end as each of `ends` says.

    It stands at the start of a text only, so that what came before is what `body` matches.

    Attributes:
        body: Has no assertions.
        ends: (node, negative): a match of the node ends there, or none does. The node has no
            assertions and is not nullable.
    """

    body: RegexNode
    ends: tuple[tuple[RegexNode, bool], ...]

    def __post_init__(self) -> None:
        nullable = self.body.nullable and all(negative for _, negative in self.ends)
        self._set(True, nullable, self.body.min_width, self.body.max_width)


EMPTY_TEXT: Final = EmptyText()
# Longer ones stay as they are: copying them at every level of a deep nest would be quadratic.
_FLATTENED: Final = 32


def chars(points: CodepointSet) -> RegexNode:
    """One code point out of `points`."""
    return Chars(points)


def concat(parts: Iterable[RegexNode]) -> RegexNode:
    """The parts one after another."""
    flat: list[RegexNode] = []
    for part in parts:
        if isinstance(part, Concat) and len(part.parts) <= _FLATTENED:
            flat.extend(part.parts)
        elif part.max_width == 0 and flat and part is flat[-1]:
            continue  # an assertion twice is the assertion
        elif part is not EMPTY_TEXT:
            flat.append(part)
    if len(flat) <= 1:
        return flat[0] if flat else EMPTY_TEXT
    return Concat(tuple(flat))


def alternation(members: Sequence[RegexNode]) -> RegexNode:
    """Any of the members, one or more; the first that matches where a group is atomic."""
    flat: list[RegexNode] = []
    for member in members:
        if isinstance(member, Alternation) and len(member.members) <= _FLATTENED:
            flat.extend(member.members)
        else:
            flat.append(member)
    return flat[0] if len(flat) == 1 else Alternation(tuple(flat))


def repetition(body: RegexNode, lo: int, hi: int | None, *, lazy: bool = False) -> RegexNode:
    """`body` lo to hi times, 0 <= lo <= hi; hi None: without bound."""
    if hi == 0 or body is EMPTY_TEXT:
        return EMPTY_TEXT
    if lo == 1 and hi == 1:
        return body
    return Repeat(body, lo, hi, lazy)


def children(node: RegexNode) -> Sequence[RegexNode]:
    """The direct parts of a node."""
    if isinstance(node, Concat):
        return node.parts
    if isinstance(node, Alternation):
        return node.members
    if isinstance(node, (Repeat, Look)):
        return (node.body,)
    if isinstance(node, Ended):
        return (node.body, *[end for end, _ in node.ends])
    return ()


def postorder(
    node: RegexNode, *, into: Callable[[RegexNode], bool] | None = None, most: int | None = None
) -> list[RegexNode]:
    """Every node of a tree once, parts before wholes; nodes may be shared.

    Args:
        node: The root.
        into: Whether to list what stands in a node too; None: in every node.
        most: Stop when this many are listed.
    """
    order: dict[RegexNode, None] = {}
    todo = [(node, False)]
    while todo and (most is None or len(order) < most):
        this, parts_done = todo.pop()
        if parts_done:
            order[this] = None
        elif this not in order:
            parts = children(this) if into is None or into(this) else ()
            if not parts:
                order[this] = None
                continue
            todo.append((this, True))
            todo.extend([(c, False) for c in parts])
    return list(order)


def rebuilt(node: RegexNode, made: Mapping[RegexNode, RegexNode]) -> RegexNode:
    """A `Concat`, `Alternation` or `Repeat` of what was made of its parts; itself if that is they.

    Args:
        node: The node.
        made: What each of its parts has become.
    """
    if all(made[c] is c for c in children(node)):
        return node
    if isinstance(node, Concat):
        return concat([made[p] for p in node.parts])
    if isinstance(node, Alternation):
        return alternation([made[m] for m in node.members])
    assert isinstance(node, Repeat), node
    return repetition(made[node.body], node.lo, node.hi)
