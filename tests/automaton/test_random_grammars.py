"""Rows of grammars made at random, with strings, words, counts and rules, are those of plain walks.

The grammars of `tests/algebra/strategies.py` let few bytes through. These let many, as the rest of
a string does, so that each way past the walk is taken by some: another state's row, a head that a
quote closes, bounds far off, plain text, runs of bytes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from constrain import Grammar, LimitExceededError, Limits, Vocabulary
from constrain.algebra import terms as t
from constrain.algebra.store import TermStore
from constrain.automaton import Automaton

LOWER, UPPER, DIGITS = bytes(range(97, 123)), bytes(range(65, 91)), b"0123456789"
PRINTABLE = bytes(byte for byte in range(32, 127) if byte not in b'"\\')
CLASSES = [
    *(LOWER, LOWER + UPPER, LOWER + UPPER + DIGITS, PRINTABLE, PRINTABLE + b'"'),
    *(PRINTABLE.replace(b"z", b""), PRINTABLE.replace(b"-", b""), LOWER[:25] + UPPER + b"@"),
]
SHORT_TEXTS = [b"a", b"z", b"zz", b"-", b"9", b"@1234567,", b"z" * 10, b'"', b","]
WORD_ENDS = [b"-", b",", b"@1234567,", b"zz", b"-z", b"9"]
BEGINNINGS = [
    *(b"", b"a", b"z", b"9", b"a" * 10, b"a" * 20, b'"', b'a"', b'","a', b'a","b', b"a,b,"),
    *(b"a-", b"a-" * 8, b"a-a-a-b", b"ab@1234567,", b"ab@1234567,ab@1234567,a"),
]


def _texts() -> Iterator[bytes]:
    yield from (bytes([byte]) for byte in range(256))
    pieces = ["a", "ab", "zz", "é", "9", "-", "@", "@1234567,", " ", "ab-", "a-", "Z", ",", "x" * 9]
    pieces += ['"', '"', '",', '","', '"]', "\\n"]
    rng = random.Random(1)
    for _ in range(700):
        text = "".join(rng.choices(pieces, k=rng.choice([1, 1, 2, 3, 5, 8, 12])))
        yield text.encode()[:90]
    for n in range(1, 30):
        yield from (b"a-" * n, b"a" * n, b"z" * n + b'"', b"ab@1234567," * (n % 6 + 1))


TEXTS = sorted(set(_texts()))
VOCABULARY = Vocabulary([*TEXTS, None], eos_token_ids=[len(TEXTS)])


class Maker:
    """Terms made at random."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.num_rules = 0

    def grammar(self) -> t.Term:
        """A string and what follows it, a list of them, or one of two."""
        body, quote, end = self.term(self.rng.randint(1, 3)), t.literal(b'"'), self.rule(_END)
        kind = self.rng.choice(["string", "two", "list", "either", "text"])
        if kind == "string":
            return t.cat(body, quote, end)
        if kind == "two":
            return t.cat(body, t.literal(b'","'), self.term(1), quote, end)
        if kind == "list":
            item = self.rule(t.cat(body, quote))
            more = t.cat(t.literal(b',"'), item)
            return t.cat(item, t.repeat(more, 0, self.rng.choice([3, None])), end)
        if kind == "either":
            return t.alt((t.cat(body, quote, end), t.cat(self.term(1), quote, end)))
        return body

    def term(self, depth: int) -> t.Term:
        """A term of others up to a depth."""
        kind = self.rng.choice(["leaf"] * 2 + _KINDS) if depth else "leaf"
        below = depth - 1
        if kind == "cat":
            return t.cat(self.term(below), self.term(below))
        if kind == "alt":
            return t.alt((self.term(below), self.term(below)))
        if kind == "and":
            return t.intersect((self.term(below), self.rng.choice([self.leaf, self.text])()))
        if kind == "both":
            return t.intersect((self.term(below), self.term(below)))
        if kind == "not":
            return t.intersect((self.text(), t.complement(self.term(below))))
        if kind == "repeat":
            body = t.non_nullable(t.cat(self.term(below), self.literal()))
            return t.repeat(body, self.rng.randint(0, 2), self.rng.choice([2, 4, 12, 20, None]))
        if kind == "rule":
            return self.rule(self.term(below))
        if kind == "rules":
            return self.rule(t.cat(self.literal(), self.rule(self.term(below))))
        return self.leaf()

    def leaf(self) -> t.Term:
        kinds = [self.literal, self.text, self.text, self.word, self.words]
        return self.rng.choice(kinds)()

    def literal(self) -> t.Term:
        return t.literal(self.rng.choice(SHORT_TEXTS))

    def text(self) -> t.Term:
        """Many letters, each one of many."""
        letter = self.letter()
        if self.rng.random() < 0.2:
            letter = t.alt((letter, t.literal("é".encode()), t.literal("ê".encode())))
        return t.repeat(letter, self.rng.choice([0, 0, 3]), self.rng.choice([13, 30, 40, 64, None]))

    def letter(self) -> t.Term:
        return t.byte_class(self.rng.choice(CLASSES))

    def word(self) -> t.Term:
        letters = t.repeat(self.letter(), self.rng.choice([0, 1, 1, 2]), None)
        return t.cat(letters, t.literal(self.rng.choice(WORD_ENDS)))

    def words(self) -> t.Term:
        return t.repeat(self.word(), 0, self.rng.choice([2, 4, 5, 9, 20, None]))

    def rule(self, term: t.Term) -> t.Term:
        body = t.non_nullable(term)
        store = TermStore()
        if store.is_empty(store.intern(body)):
            body = t.literal(b"yy")
        self.num_rules += 1
        return t.Rule(f"rule {self.num_rules}", lambda: body)


_END = t.alt((t.literal(b"]"), t.literal(b",x")))
_KINDS = [*["cat", "alt", "and"] * 2, "both", "not", "repeat", "rule", "rules"]


@pytest.mark.parametrize("seed", range(10))
def test_rows_are_those_of_the_plain_walk(seed: int) -> None:
    rng = random.Random(seed)
    for number in range(200):
        term = Maker(rng).grammar()
        limits = Limits(max_mask_rows_bytes=rng.choice([1, 1 << 20]), max_emptiness_states=2_000)
        automaton = Automaton(Grammar(term, "test"), VOCABULARY, limits)
        try:
            compare(automaton, number)
        except LimitExceededError:
            continue


def compare(automaton: Automaton, number: int) -> None:
    """Compare the rows of some states with those of plain walks."""
    if automaton.is_empty(automaton.start):
        return
    for text in BEGINNINGS:
        state = automaton.after_bytes(automaton.start, text)
        if state != 0:
            row = automaton.mask_row(state).words
            assert (row == automaton.walk_mask(state)).all(), (number, text)
