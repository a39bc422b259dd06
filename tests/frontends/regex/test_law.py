"""The law, by brute force, with tokens that split code points and tokens that span several.

A pattern is cut down to texts over a few letters up to a length. Which of those it matches is known
from `re` or from the recorded answers of other engines, so what begins a sentence is known too.
"""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings

from constrain import Vocabulary
from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import Term, byte_class, intersect, repeat
from constrain.algebra.utf8 import UTF8
from constrain.frontends.regex import from_regex
from tests.frontends.regex.languages import texts
from tests.frontends.regex.patterns import patterns
from tests.frontends.regex.test_against_re import compiled, lowered
from tests.frontends.regex.test_answers import rows, utf8_texts
from tests.matcher.test_law import check_law

EMOJI = "aé\U0001f600"


def vocabulary(alphabet: bytes | str) -> Vocabulary:
    """Every byte, every letter, pairs, a letter with half of the next, halves of two, no text."""
    letters = [bytes([b]) for b in alphabet] if isinstance(alphabet, bytes) else []
    letters = letters or [letter.encode() for letter in alphabet]
    pieces = {bytes([b]) for letter in letters for b in letter} | set(letters)
    for one, other in itertools.product(letters, repeat=2):
        both = one + other
        pieces |= {both, both[:-1], both[1:], both[1:-1]}
    tokens = [*sorted(pieces - {b""}), b"\xff", b"\x80", b""]
    return Vocabulary([*tokens, b"</s>"], eos_token_ids=[len(tokens)])


def check(term: Term, alphabet: bytes | str, longest: int, sentences: list[bytes]) -> None:
    if isinstance(alphabet, bytes):
        letter = byte_class(alphabet)
    else:
        letter = UTF8.spell(CodepointSet.of(alphabet))
    bounded = intersect((term, repeat(letter, 0, longest)))
    known = set(sentences)
    begins = {text[:n] for text in known for n in range(len(text) + 1)}
    check_law(
        bounded,
        vocabulary(alphabet),
        begins.__contains__,
        known.__contains__,
        depth=2,
        width=2,
    )


@settings(max_examples=60)
@given(patterns)
def test_patterns_of_python(pattern):
    expected = compiled(pattern)
    term = lowered(pattern)
    if term is not None:
        alphabet = "aé\n"
        sentences = [t.encode() for t in texts(alphabet, 3) if expected.fullmatch(t)]
        check(term, alphabet, 3, sentences)


@pytest.mark.parametrize(
    "pattern",
    [
        *[r".", r"[^a]+", r"\w*", r"[é-\U0001f600]{2}", r"(?i)É.", r"\W|a", r"(?=.*é).{2}"],
        *[r"(?!é).+", r"(?<=é)?a?.", r"(?:a\B|[^a]\b)*a?", r".*(?<!é.)", r"\b.\b|\B..\B"],
        *[r"(?:(?!aé)[aé])*", "\U0001f600+|é{2}", r"[\U0001f5ff-\U0001f601]a"],
    ],
)
def test_patterns_about_code_points_of_two_and_four_bytes(pattern):
    sentences = [t.encode() for t in texts(EMOJI, 3) if re.fullmatch(pattern, t)]
    check(from_regex(pattern), EMOJI, 3, sentences)


@pytest.mark.parametrize(("name", "step"), [("rust", 10), ("ecma", 8), ("ecma_v", 8)])
def test_recorded_patterns(name, step):
    checked = 0
    for row in rows(name)[::step]:
        pattern, flags = row[0], row[1] if name != "rust" else ""
        alphabet, longest, answer = row[-3:]
        if answer in (None, "bytes"):
            continue
        longest = min(longest, 3)
        tried = utf8_texts(alphabet, longest)
        bits = f"{int(answer, 16):0{len(utf8_texts(alphabet, row[-2]))}b}"
        sentences = [t for t, bit in zip(tried, bits, strict=False) if bit == "1"]
        term = from_regex(pattern, name.split("_")[0], flags=flags)
        check(term, alphabet, longest, sentences)
        checked += 1
    assert checked > 25


def test_recorded_patterns_over_bytes():
    checked = 0
    for pattern, alphabet, longest, answer in rows("rust_bytes")[::8]:
        tried = [bytes(t) for n in range(4) for t in itertools.product(alphabet, repeat=n)]
        total = sum([len(alphabet) ** n for n in range(longest + 1)])
        bits = f"{int(answer, 16):0{total}b}"
        sentences = [t for t, bit in zip(tried, bits, strict=False) if bit == "1"]
        check(from_regex(pattern, "rust"), bytes(alphabet), 3, sentences)
        checked += 1
    assert checked > 20
