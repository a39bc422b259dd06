"""What is outside some code points is spelled as the set of all others is."""

from __future__ import annotations

import pytest

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.store import TermStore
from constrain.algebra.terms import alt, complement, intersect
from constrain.algebra.utf8 import UTF8
from constrain.frontends.json_schema.text import alphabet

ALPHABETS = [UTF8, *[alphabet(e, a) for e in ("minimal", "any") for a in (False, True)]]


@pytest.mark.parametrize("points", ["", "a", "ab", '"', "\\", "é", "aé", "aa", "\n", "/", "😀z"])
@pytest.mark.parametrize(
    "letters", ALPHABETS, ids=["UTF-8", "json", "json-ascii", "any", "any-ascii"]
)
def test_others(letters, points):
    others = letters.spell_others([ord(c) for c in points])
    expected = letters.spell(CodepointSet.ANY - CodepointSet.of(*points))
    store = TermStore()
    difference = alt(
        (
            intersect((others, complement(expected))),
            intersect((expected, complement(others))),
        )
    )
    assert store.is_empty(store.intern(difference))
