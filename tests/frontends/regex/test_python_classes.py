"""Classes and case folding of the dialect "python", against `re` over all code points."""

from __future__ import annotations

import random
import re

import pytest

from constrain.algebra.codepoints import CodepointSet
from constrain.frontends.regex import parse
from constrain.frontends.regex.nodes import Chars

EVERYTHING = "".join(map(chr, CodepointSet.ANY))
CASED = "".join([c for c in EVERYTHING if c.lower() != c or c.upper() != c or c.title() != c])

CASED_POINTS = CodepointSet.of(CASED)


def points_of(pattern: str) -> CodepointSet:
    node = parse(pattern)
    assert isinstance(node, Chars)
    return node.points


def found_by_re(pattern: str, among: str) -> set[int]:
    return {ord(c) for c in re.findall(pattern, among)}


@pytest.mark.parametrize(
    "pattern",
    [
        *[rf"{flag}\{letter}" for letter in "dDsSwW" for flag in ("", "(?a)", "(?i)", "(?ia)")],
        *[".", "(?s).", "[^a]", r"[\w]", r"[^\W\d_]", r"[\s\S]", r"(?i)[\W]", r"(?i)[^\w]"],
        *["(?i)[a-z]", "(?ia)[a-z]", "(?i)[^a-z]", "(?i)[à-ÿ]", "(?i)[\u0370-\u03ff]", "(?i)[ǄǇ]"],
        *["(?i)[\U00010400-\U00010410]", "(?i)[^\U0001e900]", "(?i)[a-\U0001f600]", "(?i)[^ß]"],
        *["(?i)[ßa]", "(?i)[K-Å]", "(?i)[İı]", "(?ia)[Ka-k]", r"(?i)[\dſ]"],
    ],
)
def test_a_class_has_the_code_points_that_re_finds(pattern):
    assert set(points_of(pattern)) == found_by_re(pattern, EVERYTHING)


def test_every_cased_letter_alone_matches_what_re_matches():
    for letter in {*CASED[::5], *"kKsSſßẞıİμµΩωŉΐǅ"}:
        points = points_of(f"(?i){letter}")
        assert set(points) == found_by_re(f"(?i){letter}", CASED), letter


def test_classes_of_random_letters_match_what_re_matches():
    basic = [c for c in CASED if c < "\U00010000"]
    rng = random.Random(3)
    for _ in range(300):
        body = "".join(rng.sample(basic, rng.randint(1, 4)))
        first, last = sorted(rng.sample(basic, 2))
        pattern = f"(?i)[{rng.choice(['', '^'])}{body}{first}-{last}]"
        assert set(points_of(pattern) & CASED_POINTS) == found_by_re(pattern, CASED), pattern


def test_two_faults_of_re_are_not_copied():
    # In a class with other members, `re` forgets an upper-case letter outside of the basic plane,
    # and a range that ends outside of it also takes what its upper-case form begins with.
    assert "\U00010400" in points_of("(?i)[\U00010400a]")
    assert "\u0149" not in points_of("(?i)[\u024a-\U0001e940]")


def test_lone_surrogates_match_nothing():
    assert points_of("[\ud800-\udfff]") == CodepointSet.NONE
    assert points_of("\ud800") == CodepointSet.NONE
    assert points_of("[^\ud800]") == CodepointSet.ANY
