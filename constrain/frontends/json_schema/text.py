r"""Strings in a JSON text: how one code point is spelled between the quotes.

JSON wants `"`, `\` and U+0000..U+001F escaped; all else may be raw. Style "minimal" escapes those
only, in their shortest form (`\n`, else `\u001f`). Style "any" allows every escape beside the raw
form: `\u0061` for `a`, `\/` for `/`, a pair `\ud83d\ude00` for a code point above U+FFFF. A
surrogate alone is no code point, so it has no spelling. No two texts share a spelling: what is
exact over code points is exact over spellings.

    >>> from constrain.algebra.store import TermStore
    >>> store = TermStore()
    >>> a = store.intern(alphabet("any", False).spell(CodepointSet.of("A")))
    >>> [store.nullable(store.advance(a, w)) for w in (b"A", rb"\u0041", rb"\u0042")]
    [True, True, False]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import ByteClass, Term, alt, byte_class, cat, literal, star
from constrain.algebra.utf8 import UTF8, Alphabet

__all__ = ["QUOTE", "JSONAlphabet", "alphabet"]

QUOTE: Final = literal(b'"')

_SHORT: Final = {
    0x08: b"\\b",
    0x09: b"\\t",
    0x0A: b"\\n",
    0x0C: b"\\f",
    0x0D: b"\\r",
    0x22: b'\\"',
    0x5C: b"\\\\",
}
_SHORT_IN_ANY: Final = {**_SHORT, 0x2F: b"\\/"}
_MUST_ESCAPE: Final = CodepointSet.from_ranges([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)])
_ASCII: Final = CodepointSet.from_ranges([(0, 0x7F)])
_ESCAPE: Final = literal(b"\\u")
_Ranges = tuple[tuple[int, int], ...]
_PLAIN: Final = re.compile(r"[ !#-\[\]-~]*")
"""Text that is written as it is in every style."""
_LOWER_HEX: Final = b"0123456789abcdef"


class JSONAlphabet(Alphabet):
    """An `Alphabet` of JSON strings. Get one from `alphabet`: equal ones are one object."""

    def __init__(self, escapes: Literal["minimal", "any"], ensure_ascii: bool) -> None:
        self._any = escapes == "any"
        self._raw = CodepointSet.ANY - _MUST_ESCAPE
        if ensure_ascii:
            self._raw = self._raw & _ASCII
        self.one_spelling = not self._any
        self._text = star(self.spell(CodepointSet.ANY))

    @property
    def text(self) -> Term:
        """Every spelling of every text, without quotes."""
        return self._text

    def spell(self, points: CodepointSet) -> Term:
        """Every spelling of one code point out of `points`."""
        return _spell(points, self._raw, self._any)

    def spell_run(self, run: Sequence[int]) -> Term:
        """Every spelling of one text, given as code points."""
        if not self.one_spelling:
            return cat(*[self.spell(CodepointSet.of(p)) for p in run])
        return literal(b"".join([self.only_spelling(p) for p in run]))

    def spell_text(self, text: str) -> Term:
        """As `spell_run`; at once for the usual text, of which nothing is escaped."""
        if self.one_spelling and _PLAIN.fullmatch(text):
            return literal(text.encode())
        return self.spell_run([ord(c) for c in text])

    def spell_quoted(self, text: str) -> Term:
        """As `spell_text`, with quotes."""
        if self.one_spelling and _PLAIN.fullmatch(text):
            return literal(b'"%b"' % text.encode())
        return cat(QUOTE, self.spell_text(text), QUOTE)

    def only_spelling(self, point: int) -> bytes:
        """The spelling of one code point in style "minimal"."""
        if self._raw.contains(point):
            return chr(point).encode()
        return _SHORT.get(point) or _escaped(point)


@lru_cache(maxsize=16)
def alphabet(escapes: Literal["minimal", "any"], ensure_ascii: bool) -> JSONAlphabet:
    """The alphabet of a style."""
    return JSONAlphabet(escapes, ensure_ascii)


# The terms are immutable, so callers may share them; the bound keeps a server's memory flat.
@lru_cache(maxsize=4096)
def _spell(points: CodepointSet, raw: CodepointSet, escapes_too: bool) -> Term:
    parts = [UTF8.spell(points & raw)]
    escaped = points if escapes_too else points - raw
    short = _SHORT_IN_ANY if escapes_too else _SHORT
    letters = [text[1:] for point, text in short.items() if escaped.contains(point)]
    if letters:
        parts.append(cat(literal(b"\\"), byte_class(b"".join(letters))))
    if not escapes_too:
        escaped = escaped - CodepointSet.of(*short)
    if escaped:
        parts.append(cat(_ESCAPE, _hex_escapes(escaped, both_cases=escapes_too)))
    return alt(parts)


def _escaped(point: int) -> bytes:
    r"""A code point as `\uXXXX`, or as a pair of them."""
    if point <= 0xFFFF:
        return b"\\u%04x" % point
    point -= 0x10000
    return b"\\u%04x\\u%04x" % (0xD800 + (point >> 10), 0xDC00 + (point & 0x3FF))


def _hex_escapes(points: CodepointSet, *, both_cases: bool) -> Term:
    r"""What follows `\u`, for every code point."""
    basic = [(lo, min(hi, 0xFFFF)) for lo, hi in points.ranges if lo <= 0xFFFF]
    parts = [_hex_ranges(tuple(basic), 4, both_cases)] if basic else []
    high: dict[_Ranges, list[tuple[int, int]]] = {}
    for lo, hi in points.ranges:
        if hi > 0xFFFF:
            for first, last, low in _pairs(max(lo, 0x10000) - 0x10000, hi - 0x10000):
                high.setdefault(low, []).append((0xD800 + first, 0xD800 + last))
    parts += [
        cat(
            _hex_ranges(tuple(sorted(leads)), 4, both_cases),
            _ESCAPE,
            _hex_ranges(tuple([(0xDC00 + a, 0xDC00 + b) for a, b in low]), 4, both_cases),
        )
        for low, leads in high.items()
    ]
    return alt(parts)


def _pairs(lo: int, hi: int) -> list[tuple[int, int, _Ranges]]:
    """lo..hi (20 bits) as (first lead, last lead, ranges of trails)."""
    first, last = lo >> 10, hi >> 10
    if first == last:
        return [(first, first, ((lo & 0x3FF, hi & 0x3FF),))]
    pieces: list[tuple[int, int, _Ranges]] = []
    if lo & 0x3FF:
        pieces.append((first, first, ((lo & 0x3FF, 0x3FF),)))
        first += 1
    if hi & 0x3FF != 0x3FF:
        pieces.append((last, last, ((0, hi & 0x3FF),)))
        last -= 1
    if first <= last:
        pieces.append((first, last, ((0, 0x3FF),)))
    return pieces


def _hex_ranges(ranges: _Ranges, width: int, both_cases: bool) -> Term:
    """`width` hex digits whose value is in `ranges` (sorted, disjoint)."""
    shift = 4 * (width - 1)
    if width == 1:
        return _hex_class([d for lo, hi in ranges for d in range(lo, hi + 1)], both_cases)
    tails: dict[int, list[tuple[int, int]]] = {}
    for lo, hi in ranges:
        for digit in range(lo >> shift, (hi >> shift) + 1):
            base = digit << shift
            tail = (max(lo, base) - base, min(hi, base + (1 << shift) - 1) - base)
            tails.setdefault(digit, []).append(tail)
    groups: dict[_Ranges, list[int]] = {}
    for digit, tail_ranges in tails.items():
        groups.setdefault(tuple(tail_ranges), []).append(digit)
    return alt(
        [
            cat(_hex_class(digits, both_cases), _hex_ranges(tail, width - 1, both_cases))
            for tail, digits in groups.items()
        ]
    )


def _hex_class(digits: list[int], both_cases: bool) -> Term:
    mask = 0
    for d in digits:
        byte = _LOWER_HEX[d]
        mask |= 1 << byte
        if both_cases and d > 9:
            mask |= 1 << (byte - 0x20)
    return ByteClass(mask)
