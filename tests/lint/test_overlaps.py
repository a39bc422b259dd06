"""Overlaps of terminals, against brute force, against lark itself, and against interegular."""

from __future__ import annotations

import contextlib
import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.frontends.regex import from_regex
from constrain.limits import DEFAULT_LIMITS
from constrain.lint import lint
from constrain.lint.witness import Witnesses

ATOMS = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", "c", "(?:ab)", "é"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda ab: f"(?:{ab[0]}|{ab[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{1,2}"])).map(
            lambda x: f"(?:{x[0]}){x[1]}"
        ),
    ),
    max_leaves=6,
)
TEXTS = ["".join(t) for n in range(4) for t in itertools.product("abcé", repeat=n)]


@settings(max_examples=150)
@given(PATTERNS, PATTERNS)
def test_the_example_is_a_shortest_text_of_both(one, two):
    found = Witnesses(DEFAULT_LIMITS).shortest([from_regex(one), from_regex(two)])
    both = [t for t in TEXTS if re.fullmatch(one, t) and re.fullmatch(two, t)]
    if found is not None:
        assert re.fullmatch(one, found), found
        assert re.fullmatch(two, found), found
    if both:
        assert found is not None
        assert len(found.encode()) <= min(len(t.encode()) for t in both)


@settings(max_examples=100)
@given(PATTERNS, PATTERNS)
def test_interegular_agrees(one, two):
    interegular = pytest.importorskip(
        "interegular", reason="interegular is not installed; it is the second opinion only"
    )
    comparator = interegular.Comparator.from_regexes({"one": one, "two": two})
    disjoint = comparator.isdisjoint("one", "two")
    found = Witnesses(DEFAULT_LIMITS).shortest([from_regex(one), from_regex(two)])
    assert (found is None) == disjoint


PAIRS = [
    ("[0-9]{1,3}", "[0-9a-f]{2,3}"),
    ("[a-c]+x", "c[x-z]*"),
    ("(?:ab)+", "a[b-z]{1,5}"),
    ("[^x]", "[a-z]"),
]


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_who_wins_is_what_lark_does(one, two):
    lark = pytest.importorskip("lark")
    text = f"start: A | B\nA: /{one}/\nB: /{two}/"
    (finding,) = [f for f in lint(text, kind="lark") if f.code == "terminal-overlap"]
    tree = lark.Lark(text, parser="lalr").parse(finding.example)
    assert f"terminal {tree.children[0].type} wins" in finding.message


NEVER = [
    ("A: /[a-z]+/\nB: /[a-c]+/", "B"),
    ("A.2: /[a-z]+/\nB: /ab/", "B"),
    ("A: /[a-z]{1,4}/\nB: /[a-c]{2}/", "B"),
    ("A: /x/\nB: /xy/", None),
    ("A.1: /x/\nB: /xy/", "B"),
    ("A: /[ab]/\nB: /[bc]/", None),
    ("A: /a(?!b)/\nB: /a/", None),
]


@pytest.mark.parametrize(("terminals", "never"), NEVER)
def test_what_never_wins_is_never_produced(terminals, never):
    lark = pytest.importorskip("lark")
    text = f"start: (A | B)*\n{terminals}"
    found = [f for f in lint(text, kind="lark") if f.code == "terminal-never-wins"]
    assert [f.message.split()[5].rstrip(":") for f in found] == ([never] if never else [])
    parser = lark.Lark(text, parser="lalr")
    produced = set()
    for letters in itertools.product("abcxy", repeat=4):
        with contextlib.suppress(lark.exceptions.UnexpectedInput):
            for token in parser.lex("".join(letters)):
                produced.add(token.type)
    assert ("A" in produced, "B" in produced) == (never != "A", never != "B")
