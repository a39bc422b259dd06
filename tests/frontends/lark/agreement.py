"""Compare a grammar with lark itself: verdicts, and that no prefix of a sentence is a dead end."""

from __future__ import annotations

import random
from collections.abc import Iterable

import lark

from constrain import Grammar, UnsatisfiableError

MODES = [
    ("lalr", "contextual"),
    ("lalr", "basic"),
    ("earley", "dynamic"),
    ("earley", "dynamic_complete"),
    ("earley", "basic"),
]


def lark_accepts(parser: lark.Lark, text: str) -> bool | None:
    """What lark says; None where lark fails with an error that says nothing of the text."""
    try:
        parser.parse(text)
    except lark.exceptions.LarkError:
        return False
    except RuntimeError:  # "Earley should not generate multiple start symbol items!"
        return None
    return True


def near_misses(texts: Iterable[str], count: int, seed: int = 0) -> list[str]:
    """Texts that differ from some of `texts` in one place."""
    draw = random.Random(seed)
    texts = list(texts)
    alphabet = sorted(set("".join(texts))) or ["a"]
    found = []
    for text in texts:
        for _ in range(count):
            at = draw.randrange(len(text) + 1)
            kept = text[at + draw.randrange(2) :]
            found.append(text[:at] + draw.choice(["", draw.choice(alphabet)]) + kept)
    return found


def assert_agrees(text: str, parser: str, lexer: str, sentences: Iterable[str], **options) -> int:
    """All verdicts are lark's; returns how many texts both accept."""
    theirs = lark.Lark(text, parser=parser, lexer=lexer, **options)
    try:
        ours = Grammar.from_lark(text, parser=parser, lexer=lexer, **options)
    except UnsatisfiableError:
        ours = None
    accepted = 0
    for sentence in sentences:
        expected = lark_accepts(theirs, sentence)
        if expected is None:
            continue
        found = ours is not None and ours.accepts(sentence.encode())
        assert found == expected, (parser, lexer, sentence, text)
        accepted += expected
        if ours is None or expected:
            continue
        where = ours.first_rejection(sentence.encode())
        assert where is not None
        assert where.complete or where.expected, ("a dead end", parser, lexer, sentence, text)
    return accepted
