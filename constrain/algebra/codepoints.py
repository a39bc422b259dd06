r"""Sets of Unicode code points, as sorted disjoint ranges.

Surrogates (U+D800..U+DFFF) are no code points of a text, so no set holds them: every constructor
drops them. All operations are one merge over the ranges, O(ranges); an intersection with a set of
few ranges is a few binary searches.

    >>> CodepointSet.of("a", "b", 0x63).ranges
    ((97, 99),)
    >>> (CodepointSet.ANY - CodepointSet.of("\n")).contains("\n")
    False
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

__all__ = ["MAX_CODEPOINT", "CodepointSet", "union"]

MAX_CODEPOINT: Final = 0x10FFFF
_SURROGATES: Final = (0xD800, 0xDFFF)

_Ranges = tuple[tuple[int, int], ...]


class CodepointSet:
    """An immutable set of code points.

    Attributes:
        ranges: Inclusive (first, last) pairs: sorted, disjoint, never adjacent (the surrogate gap
            counts as a gap), without surrogates. Equal sets have equal ranges.
    """

    __slots__ = ("_hash", "ranges")

    ANY: ClassVar[CodepointSet]
    NONE: ClassVar[CodepointSet]

    ranges: _Ranges

    def __init__(self, ranges: _Ranges) -> None:
        """Take ranges that are already in the form that `ranges` describes; see `from_ranges`."""
        self.ranges = ranges
        self._hash = hash(ranges)

    @classmethod
    def from_ranges(cls, ranges: Iterable[tuple[int, int]]) -> CodepointSet:
        """Make a set of inclusive ranges, in any order; surrogates are dropped."""
        done: list[tuple[int, int]] = []
        for lo, hi in sorted(_without_surrogates(ranges)):
            if done and lo <= done[-1][1] + 1:
                if hi > done[-1][1]:
                    done[-1] = (done[-1][0], hi)
            else:
                done.append((lo, hi))
        return cls(tuple(done))

    @classmethod
    def of(cls, *members: str | int) -> CodepointSet:
        """Make a set of single code points: ints, and the characters of strings."""
        points: set[int] = set()
        for member in members:
            if isinstance(member, int):
                points.add(member)
            else:
                points.update(map(ord, member))
        return cls.from_ranges([(p, p) for p in points])

    def contains(self, point: int | str) -> bool:
        """Whether one code point is in the set. O(log ranges)."""
        p = point if isinstance(point, int) else ord(point)
        at = bisect_right(self.ranges, (p, MAX_CODEPOINT + 1)) - 1
        return at >= 0 and p <= self.ranges[at][1]

    def issubset(self, other: CodepointSet) -> bool:
        """Whether every member is in `other`."""
        return not (self - other)

    def isdisjoint(self, other: CodepointSet) -> bool:
        """Whether no member is in `other`."""
        return not (self & other)

    def __contains__(self, point: int | str) -> bool:
        return self.contains(point)

    def __or__(self, other: CodepointSet) -> CodepointSet:
        if not self.ranges or self is other:
            return other
        if not other.ranges:
            return self
        return CodepointSet.from_ranges(self.ranges + other.ranges)

    def __and__(self, other: CodepointSet) -> CodepointSet:
        if self is other:
            return self
        a, b = self.ranges, other.ranges
        if len(a) > len(b):
            a, b = b, a
        if 8 * len(a) < len(b):
            return _intersect_few(a, b)
        done = []
        i = j = 0
        while i < len(a) and j < len(b):
            lo = max(a[i][0], b[j][0])
            hi = min(a[i][1], b[j][1])
            if lo <= hi:
                done.append((lo, hi))
            if a[i][1] < b[j][1]:
                i += 1
            else:
                j += 1
        return CodepointSet(tuple(done))

    def __sub__(self, other: CodepointSet) -> CodepointSet:
        return self & ~other

    def __invert__(self) -> CodepointSet:
        return CodepointSet(tuple(_without_surrogates(_gaps(self.ranges))))

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __len__(self) -> int:
        return sum([hi - lo + 1 for lo, hi in self.ranges])

    def __iter__(self) -> Iterator[int]:
        for lo, hi in self.ranges:
            yield from range(lo, hi + 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CodepointSet) and self.ranges == other.ranges

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        shown = [f"{lo:04X}" if lo == hi else f"{lo:04X}-{hi:04X}" for lo, hi in self.ranges[:8]]
        more = f" ... {len(self.ranges)} ranges" if len(self.ranges) > 8 else ""
        return f"CodepointSet({' '.join(shown)}{more})"


def union(sets: Iterable[CodepointSet]) -> CodepointSet:
    """All members of the sets; one sort, however many there are."""
    return CodepointSet.from_ranges([pair for points in sets for pair in points.ranges])


def _intersect_few(few: _Ranges, many: _Ranges) -> CodepointSet:
    """The intersection by binary search: O(few * log many + what comes out)."""
    done = []
    for lo, hi in few:
        at = max(0, bisect_right(many, (lo, MAX_CODEPOINT + 1)) - 1)
        while at < len(many) and many[at][0] <= hi:
            if many[at][1] >= lo:
                done.append((max(lo, many[at][0]), min(hi, many[at][1])))
            at += 1
    return CodepointSet(tuple(done))


def _gaps(ranges: _Ranges) -> Iterator[tuple[int, int]]:
    """The ranges between sorted disjoint ranges."""
    start = 0
    for lo, hi in ranges:
        if start < lo:
            yield start, lo - 1
        start = hi + 1
    if start <= MAX_CODEPOINT:
        yield start, MAX_CODEPOINT


def _without_surrogates(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The ranges with surrogates cut out. Keeps the order."""
    first, last = _SURROGATES
    for lo, hi in ranges:
        if not 0 <= lo <= hi <= MAX_CODEPOINT:
            raise ValueError(f"no range of code points: {lo:#x}..{hi:#x}")
        if hi < first or lo > last:
            yield lo, hi
        else:
            if lo < first:
                yield lo, first - 1
            if hi > last:
                yield last + 1, hi


CodepointSet.NONE = CodepointSet(())
CodepointSet.ANY = CodepointSet(((0, 0xD7FF), (0xE000, MAX_CODEPOINT)))
