"""Code points that no terminal of a grammar tells apart, as one *atom*: an alphabet of tens.

A set of atoms is an int, bit i for atom i.

    {a..z}, {0..9}, {e}      atoms  {a..d, f..z}  {e}  {0..9}  {all others}

Cost: O(ranges of all sets).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from constrain.algebra.codepoints import MAX_CODEPOINT, CodepointSet, union
from constrain.algebra.terms import Term
from constrain.algebra.utf8 import UTF8

__all__ = ["Atoms"]


class Atoms:
    """A partition of all code points.

    Attributes:
        everything: All atoms.
    """

    def __init__(self, sets: Iterable[CodepointSet]) -> None:
        members = list(dict.fromkeys(sets))
        toggles: dict[int, int] = {0: 0}
        for i, points in enumerate((CodepointSet.ANY, *members)):
            for lo, hi in points.ranges:
                toggles[lo] = toggles.get(lo, 0) ^ 1 << i
                toggles[hi + 1] = toggles.get(hi + 1, 0) ^ 1 << i
        pieces: dict[int, list[tuple[int, int]]] = {}
        places = sorted(toggles)
        inside = 0
        for at, after in zip(places, [*places[1:], MAX_CODEPOINT + 1], strict=True):
            inside ^= toggles[at]
            if inside & 1 and at < after:
                pieces.setdefault(inside, []).append((at, after - 1))
        self._points = [CodepointSet.from_ranges(ranges) for ranges in pieces.values()]
        self._numbers = {piece: n for n, piece in enumerate(pieces)}
        firsts = sorted(
            [(lo, n) for n, points in enumerate(self._points) for lo, _ in points.ranges]
        )
        self._starts = [lo for lo, _ in firsts]
        self._numbers_from = [n for _, n in firsts]
        self._masks: dict[CodepointSet, int] = {}
        for i, points in enumerate((CodepointSet.ANY, *members)):
            self._masks[points] = sum(
                [1 << n for piece, n in self._numbers.items() if piece >> i & 1]
            )
        self.everything = self._masks[CodepointSet.ANY]
        self._spelled: dict[int, Term] = {}

    def mask(self, points: CodepointSet) -> int:
        """The atoms of one of the sets that the alphabet was made of."""
        return self._masks[points]

    def spell(self, mask: int) -> Term:
        """The UTF-8 bytes of one code point out of some atoms."""
        made = self._spelled.get(mask)
        if made is None:
            points = union([p for n, p in enumerate(self._points) if mask >> n & 1])
            made = self._spelled[mask] = UTF8.spell(points)
        return made

    def example(self, mask: int) -> str:
        """One code point out of some atoms: a letter, a digit, or what else can be printed."""
        points = union([p for n, p in enumerate(self._points) if mask >> n & 1])
        for lo, hi in ((0x61, 0x7A), (0x41, 0x5A), (0x30, 0x39), (0x21, 0x7E)):
            for point in range(lo, hi + 1):
                if points.contains(point):
                    return chr(point)
        return chr(points.ranges[0][0])

    def of(self, codepoint: int) -> int:
        """The atom of a code point."""
        return 1 << self._numbers_from[bisect_right(self._starts, codepoint) - 1]

    def partition(self, masks: Iterable[int], within: int | None = None) -> list[int]:
        """The coarsest partition of some atoms in which each of `masks` is a union of parts.

        Args:
            masks: Sets of atoms.
            within: What is cut up, else all atoms.
        """
        parts = [self.everything if within is None else within]
        for mask in masks:
            parts = [p for part in parts for p in (part & mask, part & ~mask) if p]
        return parts

    def each(self, mask: int) -> list[int]:
        """The atoms of a set, one by one."""
        return [1 << n for n in range(mask.bit_length()) if mask >> n & 1]
