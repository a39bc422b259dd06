"""Sets of code points against Python's sets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.algebra.codepoints import MAX_CODEPOINT, CodepointSet

EDGES = [0, 0x7F, 0x80, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFFFF, 0x10000, MAX_CODEPOINT]
points = st.one_of(
    st.integers(0, 40),
    st.sampled_from(EDGES),
    st.integers(0xD7F0, 0xE010),
    st.integers(0, 0x10FFFF),
)
ranges = st.builds(
    lambda first, width: (first, min(first + width, MAX_CODEPOINT)), points, st.integers(0, 30)
)
sets = st.builds(CodepointSet.from_ranges, st.lists(ranges, max_size=6))


def is_canonical(points: CodepointSet) -> bool:
    flat = [bound for pair in points.ranges for bound in pair]
    apart = all(b > a + 1 for (_, a), (b, _) in zip(points.ranges, points.ranges[1:], strict=False))
    return (
        flat == sorted(flat)
        and apart
        and not any(0xD800 <= bound <= 0xDFFF for bound in flat)
        and not any(lo < 0xD800 and hi > 0xDFFF for lo, hi in points.ranges)
    )


@given(st.lists(ranges, max_size=6))
def test_ranges_are_joined_sorted_and_without_surrogates(given_ranges):
    made = CodepointSet.from_ranges(given_ranges)
    members = {p for lo, hi in given_ranges for p in range(lo, hi + 1)}
    assert set(made) == {p for p in members if not 0xD800 <= p <= 0xDFFF}
    assert is_canonical(made)


@given(sets, sets)
def test_operations_agree_with_sets(a, b):
    in_a, in_b = set(a), set(b)
    for made, expected in [(a | b, in_a | in_b), (a & b, in_a & in_b), (a - b, in_a - in_b)]:
        assert set(made) == expected
        assert is_canonical(made)
        assert len(made) == len(expected)
        assert bool(made) == bool(expected)
    assert a.issubset(b) == in_a.issubset(in_b)
    assert a.isdisjoint(b) == in_a.isdisjoint(in_b)


@given(sets)
def test_complement_is_everything_else(a):
    assert is_canonical(~a)
    assert ~~a == a
    assert not a & ~a
    assert a | ~a == CodepointSet.ANY
    assert len(a) + len(~a) == 0x110000 - 0x800


@given(sets, points)
def test_membership_is_that_of_the_ranges(a, point):
    assert a.contains(point) == any(lo <= point <= hi for lo, hi in a.ranges)
    if not 0xD800 <= point <= 0xDFFF:
        assert (chr(point) in a) == a.contains(point)


@given(sets)
def test_equal_sets_are_equal_keys(a):
    again = CodepointSet.from_ranges([(p, p) for p in a])
    assert again == a
    assert {a: 1}[again] == 1
    assert a != object()


def test_members_may_be_given_as_texts_and_numbers():
    assert CodepointSet.of("ab", 99, "\n").ranges == ((10, 10), (97, 99))
    assert CodepointSet.of() == CodepointSet.NONE
    assert repr(CodepointSet.of("ab", 0x10FFFF)) == "CodepointSet(0061-0062 10FFFF)"


@pytest.mark.parametrize("bounds", [(-1, 3), (5, 4), (0, 0x110000)])
def test_what_is_no_range_of_code_points_is_refused(bounds):
    with pytest.raises(ValueError, match="no range of code points"):
        CodepointSet.from_ranges([bounds])
