"""Random grammars in every mode, all short texts: lark says what is right."""

from __future__ import annotations

import itertools
import random

import lark
import pytest

from tests.frontends.lark.agreement import MODES, assert_agrees

TERMINALS = [
    *('"a"', '"b"', '"ab"', '"aba"', '"c"', '"a"i'),
    *("/a+/", "/[ab]+/", "/a|ab/", "/ab|a/", "/a*?b/", "/b(?=a)/", "/b(?!a)/", "/(?<=a)b/"),
    *("/(?<!a)b/", "/[^c]*?c/", "/a??b/", "/(ab)*c/", r"/\bb/", "/a$/", "/a{1,3}/", "/^a/"),
    *("/(a|b)*?c/", "/(?:a(?!c)|b)+/", "/c+?/", "/(?:|a)*b/", "/a(?=b*c)|b/", "/(?<=ab)c/"),
    *("/c(?=[ab]c|$)/", "/(a|aa)(?!a)b?/"),
]
IGNORED = ['" "', "/ +/", "/[ c]/", '"b"']
WORDS = ["".join(t) for n in range(6) for t in itertools.product("abc", repeat=n)]


def random_grammar(draw: random.Random) -> str:
    rules = ["start", "r0", "r1"][: draw.randint(1, 3)]
    terminals = ["T0", "T1", "T2", "T3"][: draw.randint(1, 4)]

    def atom(depth: int) -> str:
        kind = draw.random()
        if kind < 0.45:
            return draw.choice(terminals)
        if kind < 0.6:
            return draw.choice(['"a"', '"b"', '"c"', '"ab"'])
        if kind < 0.85 or depth > 1:
            return draw.choice(rules)
        return f"({choice(depth + 1)}){draw.choice(['', '?', '*', '+'])}"

    def sequence(depth: int) -> str:
        length = draw.randint(0 if depth == 0 and draw.random() < 0.2 else 1, 3)
        return " ".join(
            atom(depth) + draw.choice([""] * 6 + ["?", "*", "+"]) for _ in range(length)
        )

    def choice(depth: int) -> str:
        return " | ".join(sequence(depth) for _ in range(draw.randint(1, 3)))

    lines = [f"{rule}: {choice(0)}" for rule in rules]
    for terminal in terminals:
        priority = draw.choice([""] * 5 + [".2", ".-1"])
        lines.append(f"{terminal}{priority}: {draw.choice(TERMINALS)}")
    if draw.random() < 0.4:
        lines.append(f"%ignore {draw.choice(IGNORED)}")
    return "\n".join(lines) + "\n"


# A fixed list of seeds: lark itself takes exponential time on some ambiguous grammars.
@pytest.mark.parametrize("seed", range(5000, 5030))
def test_verdicts_of_random_grammars(seed):
    draw = random.Random(seed)
    text = random_grammar(draw)
    for parser, lexer in MODES:
        try:
            lark.Lark(text, parser=parser, lexer=lexer)
        except lark.exceptions.LarkError:
            continue
        if lexer == "dynamic_complete" and any(mark in text for mark in ("(?", "$", "^a", r"\b")):
            continue  # refused: the test of errors
        words = draw.sample(WORDS, 25)
        words += ["".join(draw.choices("abc ", k=draw.randint(0, 9))) for _ in range(8)]
        assert_agrees(text, parser, lexer, words)
