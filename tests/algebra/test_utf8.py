"""The UTF-8 terms of code point sets, written out in full and compared with Python's encoder."""

from __future__ import annotations

import random

import pytest

from constrain.algebra.codepoints import MAX_CODEPOINT, CodepointSet
from constrain.algebra.reference import Reference
from constrain.algebra.terms import EMPTY, Alt, ByteClass, Cat, Literal, Term
from constrain.algebra.utf8 import UTF8

BORDERS = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xE000, 0xFFFF]
BORDERS += [0x10000, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, MAX_CODEPOINT]


def written_out(term: Term) -> set[bytes]:
    """All strings of a term without repeats. Two alternatives must not share one."""
    if isinstance(term, ByteClass):
        return {bytes([b]) for b in range(256) if term.mask >> b & 1}
    if isinstance(term, Literal):
        return {term.text}
    if isinstance(term, Cat):
        tails = written_out(term.tail)
        return {a + b for a in written_out(term.head) for b in tails}
    if isinstance(term, Alt):
        strings: set[bytes] = set()
        for member in term.members:
            new = written_out(member)
            assert not strings & new
            strings |= new
        return strings
    assert term is EMPTY
    return set()


def spelled(points: CodepointSet) -> set[bytes]:
    return {chr(p).encode() for p in points}


def test_all_code_points_are_all_well_formed_sequences():
    assert written_out(UTF8.spell(CodepointSet.ANY)) == spelled(CodepointSet.ANY)


@pytest.mark.parametrize("border", BORDERS)
def test_every_range_around_a_border(border):
    near = [p for p in range(border - 3, border + 4) if 0 <= p <= MAX_CODEPOINT]
    for first in near:
        for last in near:
            if first <= last:
                points = CodepointSet.from_ranges([(first, last)])
                assert written_out(UTF8.spell(points)) == spelled(points)


def test_sets_of_ranges_between_borders():
    rng = random.Random(7)
    for _ in range(150):
        ranges = []
        for _ in range(rng.randint(0, 4)):
            first = max(0, rng.choice(BORDERS) + rng.randint(-70, 70))
            last = first + rng.choice([0, 1, 63, 64, 100, 5000])
            ranges.append((min(first, MAX_CODEPOINT), min(last, MAX_CODEPOINT)))
        points = CodepointSet.from_ranges(ranges)
        assert written_out(UTF8.spell(points)) == spelled(points)


def test_ascii_is_one_class():
    term = UTF8.spell(CodepointSet.of("az_"))
    assert isinstance(term, ByteClass)
    assert term.mask == 1 << ord("a") | 1 << ord("z") | 1 << ord("_")


def test_no_code_point_is_the_empty_term():
    assert UTF8.spell(CodepointSet.NONE) is EMPTY


def test_lead_bytes_with_one_continuation_share_a_class():
    # U+0400..U+04FF: leads D0..D3, any continuation byte.
    term = UTF8.spell(CodepointSet.from_ranges([(0x400, 0x4FF)]))
    assert isinstance(term, Cat)
    assert isinstance(term.head, ByteClass)
    assert term.head.mask == 0b1111 << 0xD0


def test_text_is_well_formed_and_nothing_else():
    engine = Reference()
    node = engine.intern(UTF8.text)
    for text in ["", "a", "é", "日本", "\U0010ffff\x00\ue000"]:
        assert engine.accepts(node, text.encode())
    for data in [b"\x80", b"\xc0\x80", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff"]:
        assert not engine.accepts(node, data)
    assert UTF8.text is UTF8.text
