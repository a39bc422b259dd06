"""How lexemes compete: every short text, against a slow reading; and the law, by brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import constrain
from constrain import Grammar
from tests.frontends.llguidance.slow_reading import ALPHABET, Slow

CASES = {
    "longest": (
        "start: A | AB | B\nA: /a+/\nAB: /ab/\nB: /b/",
        Slow({"start": [("A",), ("AB",), ("B",)]}, {"A": "a+", "AB": "ab", "B": "b"}),
    ),
    "no-way-back": (
        'start: ("a" | "abc" | "b" | "c")+',
        Slow(
            {
                "start": [("x", "more")],
                "more": [(), ("x", "more")],
                "x": [("a",), ("abc",), ("b",), ("c",)],
            },
            {"a": "a", "abc": "abc", "b": "b", "c": "c"},
        ),
    ),
    "contextual": (
        'start: "a" /b+/ "c" | "b" /[bc]/',
        Slow(
            {"start": [("a", "bs", "c"), ("b", "bc")]},
            {"a": "a", "b": "b", "c": "c", "bs": "b+", "bc": "[bc]"},
        ),
    ),
    "several-win": (
        'start: "ab" "a" | W "b"\nW: /[ab]b/',
        Slow(
            {"start": [("ab", "a"), ("W", "b")]},
            {"ab": "ab", "a": "a", "b": "b", "W": "[ab]b"},
        ),
    ),
    "ignored": (
        'start: "a" (B | "c")*\nB: /b+/\n%ignore /_+|b_/',
        Slow(
            {"start": [("a", "more")], "more": [(), ("B", "more"), ("c", "more")]},
            {"a": "a", "B": "b+", "c": "c", "_": "_+|b_"},
            ignored="_",
        ),
    ),
    "lazy": (
        'start: x "a" | "ab" "c"\nx[lazy]: /[ab]+b/',
        Slow(
            {"start": [("x", "a"), ("ab", "c")]},
            {"x": "[ab]+b", "a": "a", "ab": "ab", "c": "c"},
            frozenset({"x"}),
        ),
    ),
    "lazy-loop": (
        'start: x* T\nx[lazy]: T "ab"\nT: /[abc]*/',
        Slow(
            {"start": [("x", "start"), ("T",), ()]},
            {"x": "[abc]*ab", "T": "[abc]+"},
            frozenset({"x"}),
        ),
    ),
    "suffix": (
        'start: x x "a"?\nx[suffix=/b|cc/]: /[ac]*/',
        Slow(
            {"start": [("x", "x"), ("x", "x", "a")]},
            {"x": "[ac]*(b|cc)", "a": "a"},
            frozenset({"x"}),
        ),
    ),
    "stop-read-again": (
        'start: x "ba"\nx[stop="b"]: /[abc]*/',
        Slow({"start": [("x", "a")]}, {"x": "[abc]*b", "a": "a"}, frozenset({"x"})),
    ),
    "stop-left-behind": (
        'start: x ("a" | "bc")\nx[stop="b"]: /[abc]*/',
        Slow(
            {"start": [("x", "a"), ("x", "bc")]},
            {"x": "[abc]*b", "a": "a", "bc": "bc"},
            frozenset({"x"}),
        ),
    ),
    "stop-is-all-that-follows": (
        'start: x "b" x "b"\nx[stop="b"]: /[ac]*/',
        Slow({"start": [("x", "x")]}, {"x": "[ac]*b"}, frozenset({"x"})),
    ),
    "ambiguous-around-a-contest": (
        'start: z /[^a]/ z\nz: w | "ba"\nw: z{1,2} | z{2}',
        Slow(
            {"start": [("z", "not", "z")], "z": [("ba",), ("ba", "z")]},
            {"ba": "ba", "not": "[bc_]"},
        ),
    ),
    "recursion": (
        'start: "a" start "b" | X\nX: /b?c/',
        Slow({"start": [("a", "start", "b"), ("X",)]}, {"a": "a", "b": "b", "X": "b?c"}),
    ),
}
LONGEST = 5
TEXTS = ["".join(t) for n in range(LONGEST + 1) for t in product(ALPHABET, repeat=n)]


@pytest.mark.parametrize("name", CASES)
def test_every_short_text(name):
    text, slow = CASES[name]
    grammar = Grammar.from_lark(text, dialect="llguidance")
    assert [t for t in TEXTS if grammar.accepts(t.encode())] == [
        t for t in TEXTS if slow.accepts(t)
    ]


@pytest.mark.parametrize("name", CASES)
def test_the_law_at_token_level(name):
    """With tokens that span lexemes, end inside one, or end where it may still go on."""
    text, slow = CASES[name]
    grammar = Grammar.from_lark(text, dialect="llguidance")
    tokens = [t for t in TEXTS if 1 <= len(t) <= 2] + ["abc", "bab", "a_b"]
    vocab = constrain.Vocabulary([*[t.encode() for t in tokens], None], [len(tokens)])
    compiled = constrain.compile(grammar, vocab)
    sentences = [t for t in TEXTS if slow.accepts(t)]
    begun = {t[:n] for t in sentences for n in range(len(t) + 1)}
    for prefix in sorted(begun):
        matcher = compiled.matcher()
        if not matcher.accept_bytes(prefix.encode()):
            pytest.fail(f"{prefix!r} begins a sentence")
        if len(prefix) > LONGEST - 3:
            continue
        bitmask = constrain.allocate_token_bitmask(1, len(tokens) + 1)
        matcher.fill_next_token_bitmask(bitmask)
        bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")
        allowed = {t for t, bit in zip(tokens, bits, strict=False) if bit}
        begins = {t for t in tokens if prefix + t in begun}
        assert begins <= allowed, prefix
        for token in allowed - begins:  # a sentence too long for the table goes on from here
            assert finds_a_sentence(grammar, (prefix + token).encode()), (prefix, token)
        assert bool(bits[len(tokens)]) == slow.accepts(prefix)


def finds_a_sentence(grammar, text, more=5):
    return any(
        grammar.accepts(text + "".join(end).encode())
        for count in range(more + 1)
        for end in product(ALPHABET, repeat=count)
    )
