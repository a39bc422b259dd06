"""Random patterns in the syntax of each dialect, over a few letters, and the texts to try them on.

A seed gives the same patterns everywhere: `make_answers` records what other engines say of them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

ALPHABETS = [("ab", 5), ("aAé", 4), ("a\r\n", 4), ("a _é", 3), ("sſSß", 3), ("kK\u212a1", 3)]
BYTES = [b"a\xc3\xa9\xff", b"\n\r\xe2\x84", b"kA\xc5\xbf"]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}", "*?", "+?", "??", "{1,2}?"]


@dataclass(frozen=True)
class Words:
    """What a dialect is written with."""

    atoms: list[str]
    anchors: list[str]
    scopes: list[str]
    flags: list[str]
    looks: list[str]
    members: list[str]
    operators: list[str]
    nested: bool


RUST = Words(
    atoms=[".", r"\w", r"\W", r"\s", r"\d", r"\pL", r"\P{Lu}", r"\p{Greek}", "[[:lower:]]"],
    anchors=[
        *["^", "$", r"\b", r"\B", r"\A", r"\z", r"\<", r"\>"],
        *[r"\b{start}", r"\b{end}", r"\b{start-half}", r"\b{end-half}"],
    ],
    scopes=["(?:", "(", "(?i:", "(?s:", "(?m:", "(?R:", "(?mR:", "(?-u:", "(?i-u:", "(?U:", "(?x:"],
    flags=["", "", "", "(?i)", "(?s)", "(?m)", "(?mR)", "(?x)"],
    looks=[],
    members=[r"\w", r"\W", r"\d", r"\pL", "a-z", r"\p{Lu}", "[:alpha:]", "[:^upper:]"],
    operators=["", "", "", "&&", "--", "~~"],
    nested=True,
)
ECMA = Words(
    atoms=[".", r"\w", r"\W", r"\s", r"\d", r"\p{L}", r"\P{Lu}", r"\p{Script=Greek}", "[^]"],
    anchors=["^", "$", r"\b", r"\B"],
    scopes=["(?:", "(", "(?:"],
    flags=[""],
    looks=["(?=", "(?!", "(?<=", "(?<!"],
    members=[r"\w", r"\W", r"\d", r"\p{L}", "a-z", r"\p{Lu}", r"\P{Lu}"],
    operators=[""],
    nested=False,
)
ECMA_V = Words(
    atoms=ECMA.atoms[:-1],  # V8 takes [^] for the empty text too, under v
    anchors=ECMA.anchors,
    scopes=ECMA.scopes,
    flags=[""],
    looks=ECMA.looks,
    members=[*ECMA.members, r"\q{aa|ab|}"],  # V8 forgets to fold a\q{a}
    operators=["", "", "&&", "--"],
    nested=True,
)
WORDS = {"rust": RUST, "ecma": ECMA, "ecma-v": ECMA_V}


def _class(rng: random.Random, words: Words, letters: list[str], depth: int) -> str:
    operator = rng.choice(words.operators)

    def operand() -> str:
        if words.nested and depth and rng.random() < 0.3:
            return _class(rng, words, letters, depth - 1)
        return rng.choice([*letters, *words.members])

    count = rng.randint(2, 3) if operator else rng.randint(1, 3)
    body = operator.join([operand() for _ in range(count)])
    return f"[{rng.choice(['', '^'])}{body}]"


def random_pattern(rng: random.Random, words: Words, letters: list[str]) -> str:
    """One pattern, with some letters given as they are written."""

    def piece(depth: int) -> str:
        kind = rng.random()
        if depth == 0 or kind < 0.3:
            atom = rng.choice([rng.choice(letters), rng.choice(letters), rng.choice(words.atoms)])
            if rng.random() < 0.25:
                atom = _class(rng, words, letters, 1)
            return atom + (rng.choice(QUANTIFIERS) if rng.random() < 0.4 else "")
        if kind < 0.42:
            return rng.choice(words.anchors)
        if kind < 0.5 and words.looks:
            return f"{rng.choice(words.looks)}{alternatives(depth - 1)})"
        quantifier = rng.choice(QUANTIFIERS) if rng.random() < 0.4 else ""
        return f"{rng.choice(words.scopes)}{alternatives(depth - 1)}){quantifier}"

    def alternatives(depth: int) -> str:
        count = rng.choice([1, 1, 1, 2, 3])
        return "|".join(
            ["".join([piece(depth) for _ in range(rng.randint(0, 3))]) for _ in range(count)]
        )

    return rng.choice(words.flags) + alternatives(3)


def random_cases(
    dialect: str, seed: int, count: int, *, longest: int = 50
) -> list[tuple[str, str, int]]:
    """Patterns up to a length, each with an alphabet and the length of its texts."""
    rng = random.Random(f"{dialect} {seed}")
    cases: list[tuple[str, str, int]] = []
    while len(cases) < count:
        alphabet, length = rng.choice(ALPHABETS)
        letters = [{"\n": r"\n", "\r": r"\r", " ": r"[ ]"}.get(c, c) for c in alphabet]
        pattern = random_pattern(rng, WORDS[dialect], letters)
        if 2 < len(pattern) <= longest:
            cases.append((pattern, alphabet, length))
    return cases


def random_byte_cases(seed: int, count: int, *, longest: int = 80) -> list[tuple[str, bytes, int]]:
    """Patterns of Rust over bytes, up to a length, with the alphabet and length of their texts.

    Without boundaries of Unicode words: next to bytes that are no text, Rust takes the letter
    before such a byte for the one at its left.
    """
    rng = random.Random(f"bytes {seed}")
    cases: list[tuple[str, bytes, int]] = []
    while len(cases) < count:
        alphabet = rng.choice(BYTES)
        escapes = [rf"(?-u:\x{b:02x})" for b in alphabet]
        letters = [*escapes, "(?-u:.)", r"(?-u:[^a])", r"(?-u:\W)", r"(?-u:\b)", "é", "ſ", "a"]
        pattern = random_pattern(rng, RUST, letters)
        bare = pattern.replace("[[:lower:]]", "").replace("[^a]", "").replace(r"(?-u:\b)", "")
        edges = (r"\b", r"\B", r"\<", r"\>", "[")
        if 2 < len(pattern) <= longest and not any(e in bare for e in edges):
            cases.append((pattern, alphabet, 4))
    return cases
