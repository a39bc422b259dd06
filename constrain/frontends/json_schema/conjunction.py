"""The "and" of unions as one union, without multiplying out what need not be.

Fifty `if`/`then` beside each other would be 2^50 products, though nearly all of them want two
constants under one key. So the products are searched for: one shape stands for the choices made so
far, and at every step a union

- is met, and not looked at again, if one of its members plainly holds on all of the shape;
- loses the members that plainly contradict the shape. If none is left the choices lead nowhere; if
  one is left it is taken at once;
- is multiplied out only where every union leaves a choice, and then the one that leaves the fewest.

A union is looked at again only when the shape got a part that speaks of what the union speaks of:
its topics.

    >>> from constrain.frontends.json_schema.expr import FALSE, Exprs
    >>> from constrain.frontends.json_schema.object import ObjectShape, Objects
    >>> from constrain.frontends.json_schema.string import StringSets
    >>> from constrain.limits import DEFAULT_LIMITS
    >>> table = Exprs()
    >>> def implication(kind, forbidden):
    ...     is_it = table.finite((kind,))
    ...     return [
    ...         ObjectShape({"kind": is_it, forbidden: FALSE}, required=("kind",)),
    ...         ObjectShape({"kind": is_it.dual}, required=("kind",)),
    ...     ]
    >>> unions = [implication(str(i), f"not {i}") for i in range(50)]
    >>> objects = Objects(table, StringSets(DEFAULT_LIMITS), lambda amount: None)
    >>> len(conjunction(unions, objects))
    51

Cost: in the worst case the product. Where one key tells the members apart, as many looks as there
are unions for each shape of the result.
Source: Davis, Logemann, Loveland, "A machine program for theorem-proving" (1962), which here goes
on after each answer.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, Protocol, TypeVar

__all__ = ["Algebra", "Seen", "conjunction"]

Shape = TypeVar("Shape")
Topics = frozenset[Hashable] | None
_Other = TypeVar("_Other", contravariant=True)


class Seen(Protocol[_Other]):
    """A shape, prepared for many comparisons. What it does not see costs time, never exactness."""

    def is_inside(self, other: _Other) -> bool:
        """Whether it is plain that every value of the shape is in `other`."""

    def excludes(self, other: _Other) -> bool:
        """Whether it is plain that no value of the shape is in `other`."""


class Algebra(Protocol[Shape]):
    """The operations on the shapes of one kind."""

    @property
    def whole(self) -> Shape:
        """The shape that everything of the kind is in."""

    def both(self, a: Shape, b: Shape) -> Shape | None:
        """What is in both, or None where that is plainly empty."""

    def all_of(self, shapes: Sequence[Shape]) -> Shape | None:
        """What is in every one of some shapes, at least one, or None as for `both`."""

    def seen(self, shape: Shape) -> Seen[Shape]:
        """A shape, prepared for many comparisons."""

    def loosened(self, union: Sequence[Shape]) -> Sequence[Shape]:
        """The same union in wider shapes, which hold on more."""

    def topics(self, shape: Shape) -> Topics:
        """What the shape speaks of; None if it speaks of everything."""

    def news(self, before: Shape, part: Shape, after: Shape) -> Topics:
        """The topics of `part` on which `after`, which is inside both, says more than `before`."""

    def charge(self, comparisons: int) -> None:
        """Count work."""


class _Union(Generic[Shape]):
    """A union that is not met yet."""

    __slots__ = ("members", "topics")

    def __init__(self, members: Sequence[Shape], topics: Topics) -> None:
        self.members = members
        self.topics = topics


def conjunction(unions: Iterable[Sequence[Shape]], algebra: Algebra[Shape]) -> list[Shape]:
    """A union of what is in every one of some unions.

    Args:
        unions: Each is a list of shapes; an empty one is the empty set.
        algebra: What can be done with the shapes.

    Returns:
        Shapes, some of which may be inside others, or turn out to be empty.
    """
    single: list[Shape] = [algebra.whole]
    left: list[_Union[Shape]] = []
    for members in dict.fromkeys(map(tuple, unions)):
        if not members:
            return []
        if algebra.whole in members:
            continue
        if len(members) == 1:
            single += members
        else:
            left.append(_made(algebra.loosened(members), algebra))
    start = algebra.all_of(single)
    if start is None:
        return []
    found: list[Shape] = []
    todo: list[tuple[Shape, list[_Union[Shape]], Topics]] = [(start, left, None)]
    while todo:
        shape, left, fresh = todo.pop()
        settled = _settle(shape, left, fresh, algebra)
        if settled is None:
            continue
        shape, left = settled
        if not left:
            found.append(shape)
            continue
        at = min(range(len(left)), key=lambda i: len(left[i].members))
        rest = left[:at] + left[at + 1 :]
        ways = []
        for member in left[at].members:
            both = algebra.both(shape, member)
            if both is not None:
                ways.append((both, rest, algebra.news(shape, member, both)))
        todo += reversed(ways)
    return found


def _settle(
    shape: Shape,
    left: list[_Union[Shape]],
    fresh: Topics,
    algebra: Algebra[Shape],
) -> tuple[Shape, list[_Union[Shape]]] | None:
    """Take what is forced, until every union leaves a choice; None if the choices lead nowhere.

    Args:
        shape: The choices so far.
        left: Unions that are not met.
        fresh: What the last choice speaks of; None at the start, for everything.
        algebra: What can be done with the shapes.
    """
    while left:
        seen = algebra.seen(shape)
        kept: list[_Union[Shape]] = []
        forced: list[Shape] = []
        looks = 0
        for union in left:
            if not _touches(union.topics, fresh):
                kept.append(union)
                continue
            looks += len(union.members)
            if any(map(seen.is_inside, union.members)):
                continue
            members = [m for m in union.members if not seen.excludes(m)]
            if not members:
                algebra.charge(looks)
                return None
            if len(members) == 1:
                forced.append(members[0])
            elif len(members) == len(union.members):
                kept.append(union)
            else:
                kept.append(_made(members, algebra))
        algebra.charge(looks)
        left = kept
        if not forced:
            break
        joined = algebra.all_of([shape, *forced])
        if joined is None:
            return None
        fresh = _together([algebra.news(shape, member, joined) for member in forced])
        shape = joined
    return shape, left


def _made(members: Sequence[Shape], algebra: Algebra[Shape]) -> _Union[Shape]:
    return _Union(members, _together(map(algebra.topics, members)))


def _together(topics: Iterable[Topics]) -> Topics:
    found: set[Hashable] = set()
    for some in topics:
        if some is None:
            return None
        found |= some
    return frozenset(found)


def _touches(a: Topics, b: Topics) -> bool:
    return a is None or b is None or not a.isdisjoint(b)
