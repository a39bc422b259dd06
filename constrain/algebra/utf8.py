"""Code points to bytes: an `Alphabet` says how one code point is spelled.

UTF-8 here; a JSON string is another alphabet, with escapes beside the raw bytes. What is written
once over an alphabet (a regex, a string schema) works for all of them.

A set becomes a tree of depth at most 4: code points of one length are split by their lead byte,
lead bytes with the same continuation stand in one class, and so on down. That is the minimal
automaton.

    >>> UTF8.spell(CodepointSet.of("abc")).mask == 0b111 << 97
    True

Cost: O(ranges); a lead byte whose continuations are all there costs nothing of its own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Protocol

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import EPS, ByteClass, Term, alt, byte_range, cat, literal, star

__all__ = ["UTF8", "Alphabet", "Utf8"]

_Ranges = tuple[tuple[int, int], ...]


class Alphabet(Protocol):
    """How code points are spelled in bytes. No two texts have a spelling in common."""

    def spell(self, points: CodepointSet) -> Term:
        """Every spelling of one code point out of `points`; `EMPTY` if there is none."""
        ...

    @property
    def text(self) -> Term:
        """Every spelling of every text: `star(spell(ANY))`, always the same object."""
        ...


class Utf8(Alphabet):
    """Raw UTF-8: one spelling for each code point. Use the constant `UTF8`."""

    def __init__(self) -> None:
        self._text = star(_spell(CodepointSet.ANY))

    def spell(self, points: CodepointSet) -> Term:
        """The UTF-8 bytes of one code point out of `points`. ASCII alone is one `ByteClass`."""
        return _spell(points)

    @property
    def text(self) -> Term:
        """Every well-formed UTF-8 text."""
        return self._text


# First and last code point of each length, and the lead byte of code point 0 in that length.
_LENGTHS: Final = (
    (0x00, 0x7F, 0x00),
    (0x80, 0x7FF, 0xC0),
    (0x800, 0xFFFF, 0xE0),
    (0x10000, 0x10FFFF, 0xF0),
)


# The terms are immutable, so callers may share them; the bound keeps a server's memory flat.
@lru_cache(maxsize=4096)
def _spell(points: CodepointSet) -> Term:
    if len(points.ranges) == 1 and points.ranges[0][0] == points.ranges[0][1]:
        return literal(chr(points.ranges[0][0]).encode())
    parts = []
    for tail, (first, last, lead) in enumerate(_LENGTHS):
        here = [(max(lo, first), min(hi, last)) for lo, hi in points.ranges if lo <= last]
        kept = tuple([(lo, hi) for lo, hi in here if lo <= hi])
        if kept:
            parts.append(_sequences(kept, tail, lead))
    return alt(parts)


@lru_cache(maxsize=4096)
def _sequences(ranges: _Ranges, tail: int, lead: int) -> Term:
    """Sequences of a first byte and `tail` continuation bytes.

    Args:
        ranges: Values, sorted and disjoint: the bits of all bytes of the sequence.
        tail: How many continuation bytes follow, 0 to 3. The recursion is as deep.
        lead: Added to the value of the first byte.
    """
    if tail == 0:
        return ByteClass(sum([((1 << (hi - lo + 1)) - 1) << (lead + lo) for lo, hi in ranges]))
    groups = _by_first_byte(ranges, 6 * tail)
    return alt([cat(ByteClass(m << lead), _continuation(k, tail)) for k, m in groups.items()])


def _by_first_byte(ranges: _Ranges, shift: int) -> dict[_Ranges, int]:
    """Group values by their high bits: {ranges of the low bits: mask of the high values}."""
    full = (1 << shift) - 1
    parts: dict[int, list[tuple[int, int]]] = {}
    whole = 0
    for lo, hi in ranges:
        first, last = lo >> shift, hi >> shift
        for value, a, b in _ends(lo, hi, shift):
            parts.setdefault(value, []).append((a, b))
        inner_lo = first if lo & full == 0 else first + 1
        inner_hi = last if hi & full == full else last - 1
        if inner_lo <= inner_hi:
            whole |= ((1 << (inner_hi - inner_lo + 1)) - 1) << inner_lo
    grouped: dict[_Ranges, int] = {((0, full),): whole} if whole else {}
    for value, spans in parts.items():
        key = tuple(spans)
        grouped[key] = grouped.get(key, 0) | 1 << value
    return grouped


def _ends(lo: int, hi: int, shift: int) -> list[tuple[int, int, int]]:
    """The first and last high value of lo..hi unless covered whole, with the low bits there."""
    full = (1 << shift) - 1
    first, last = lo >> shift, hi >> shift
    if first == last:
        return [] if lo & full == 0 and hi & full == full else [(first, lo & full, hi & full)]
    ends = []
    if lo & full:
        ends.append((first, lo & full, full))
    if hi & full != full:
        ends.append((last, 0, hi & full))
    return ends


def _continuation(ranges: _Ranges, tail: int) -> Term:
    """`tail` continuation bytes with these values."""
    if ranges == ((0, (1 << 6 * tail) - 1),):
        return _ANY_TAIL[tail]
    return _sequences(ranges, tail - 1, 0x80)


_CONTINUATION_BYTE: Final = byte_range(0x80, 0xBF)
_ANY_TAIL: Final = (
    EPS,
    _CONTINUATION_BYTE,
    cat(_CONTINUATION_BYTE, _CONTINUATION_BYTE),
    cat(_CONTINUATION_BYTE, _CONTINUATION_BYTE, _CONTINUATION_BYTE),
)

UTF8: Final[Alphabet] = Utf8()
"""Raw UTF-8."""
