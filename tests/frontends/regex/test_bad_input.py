"""Patterns that have brought engines down: each gives a term or a typed error, soon.

A term is also compiled for a small vocabulary and walked for some tokens, since a pattern may be
harmless to read and terrible to run. Times are processor time with much room: a test fails on what
hangs, not on a slow machine.
"""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

import constrain
from constrain.errors import (
    ConstrainError,
    LimitExceededError,
    RegexSyntaxError,
    UnsatisfiableError,
    UnsupportedFeatureError,
)

DIALECTS = ("python", "ecma", "rust")
SECONDS = 15.0
EOS = 260
TOKENS = [bytes([b]) for b in range(256)] + [b"ab", b"aaaa", b" the", "é".encode()[:1] + b"\xa9"]
VOCABULARY = constrain.Vocabulary([*TOKENS, b"</s>"], eos_token_ids=[EOS])


def outcome(pattern: str, dialect: str, steps: int = 12) -> type[ConstrainError] | str:
    """How it ends: an error, or "ended" or "walked" after some tokens at random."""
    began = time.process_time()
    rng = random.Random(1)
    try:
        grammar = constrain.Grammar.from_regex(pattern, dialect=dialect)
        matcher = constrain.compile(grammar, VOCABULARY).matcher()
        bitmask = np.zeros((1, (EOS + 32) // 32), dtype=np.int32)
        result = "walked"
        for _ in range(steps):
            matcher.fill_next_token_bitmask(bitmask)
            bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")
            allowed = [t for t in range(EOS) if bits[t]]
            if not allowed:
                assert bits[EOS]
                result = "ended"
                break
            matcher.accept_token(rng.choice(allowed))
    except ConstrainError as error:
        return type(error)
    finally:
        assert time.process_time() - began < SECONDS
    return result


WORDS = [f"w{random.Random(i).getrandbits(40):x}" for i in range(50_000)]
BIG_CLASS = "".join([chr(0x4000 + 3 * i) for i in range(5_000)])

NO_LOOKS = {"rust": RegexSyntaxError}
# What takes long is tried in one dialect: after the reader all are the same.
LONG = {"words", "words between boundaries", "no words", "many bars", "long alternation"}

# A pattern, and how it ends; in dialects where it ends otherwise, how.
CASES = {
    "nested groups": ("(" * 60_000 + "a" + ")" * 60_000, LimitExceededError, {}),
    "nested stars": ("(?:" * 60_000 + "a" + ")*" * 60_000, LimitExceededError, {}),
    "nested stars in bounds": ("(" * 500 + "a" + ")*" * 500, "walked", {}),
    "nested optional": ("(a" * 1_900 + ")?" * 1_900, "walked", {}),
    "nested empty": ("(|" * 1_900 + ")" * 1_900, "ended", {}),
    "nested brackets": ("[" * 60_000 + "]", "ended", {"rust": LimitExceededError}),
    "nested counts": ("(((a{0,1000}){0,1000}){0,1000})", "walked", {}),
    "counts with gaps": ("((a{2,3}){5,7}){1000,2000}", "walked", {}),
    "star of star": ("((a*)*)*", "walked", {}),
    "giant lower count": ("(a|b){1000000000,}", "walked", {}),
    "count over the limit": ("a{4294967294}", LimitExceededError, {}),
    "giant count": ("a{99999999999}", RegexSyntaxError, {"ecma": LimitExceededError}),
    "endless count": ("a{" + "9" * 500_000 + "}", RegexSyntaxError, {}),
    "empty": ("", "ended", {}),
    "nul": ("a\0b\x00[\0-\x01]", "ended", {}),
    "surrogate": ("a\ud800b", UnsatisfiableError, {}),
    "surrogates in a class": ("a|[\ud800-\udfff]", "ended", {}),
    "surrogate by number": (r"a|\ud800", "ended", {"rust": RegexSyntaxError}),
    "long text": ("abcdefghij" * 20_000, "walked", {}),
    "long alternation": ("|".join(["abcdefghi"] * 100_000), "ended", {}),
    "long class": ("[" + "abcdefghij" * 100_000 + "]", "ended", {}),
    "many stars": ("a*" * 100_000, "walked", {}),
    "many bars": ("|" * 1_000_000, "ended", {}),
    "many parentheses": ("(" * 1_000_000, LimitExceededError, {}),
    "many quantifiers": ("?" * 1_000_000, RegexSyntaxError, {}),
    "many backslashes": ("\\" * 999_999, RegexSyntaxError, {}),
    "many anchors": ("^" * 500_000 + "$" * 500_000, "ended", {}),
    "many boundaries": (r"a|" + r"\b" * 400_000, "ended", {}),
    "words": ("|".join(WORDS), "ended", {}),
    "words between boundaries": (rf"\b(?:{'|'.join(WORDS[:20_000])})\b", "ended", {}),
    "no words": (rf"(?!(?:{'|'.join(WORDS[:10_000])})$)\w+", "walked", NO_LOOKS),
    "big class": (f"[{BIG_CLASS}]+", "walked", {}),
    "lookaheads in lookaheads": ("(?=a" * 1_900 + ")" * 1_900, UnsupportedFeatureError, NO_LOOKS),
    "lookbehinds": ("(?<=a" * 1_900 + ")" * 1_900, UnsupportedFeatureError, NO_LOOKS),
    "lookaheads in a row": ("(?=.*a)" * 2_000 + ".*", "walked", NO_LOOKS),
    "a word in a loop": (r"(?:\b\w{1,30}\b\W?){1,100}", "walked", {}),
    # Exponential for backtracking, or as an automaton that is built whole.
    "(a|b)*a(a|b){20}": ("(a|b)*a(a|b){20}", "walked", {}),
    "(.*a){15}": ("(.*a){15}", "walked", {}),
    "(.*a){1,30}b": ("(.*a){1,30}b", "walked", {}),
    "a?^n a^n": ("(?:a?){100}a{100}", "walked", {}),
    "(a+)+b": ("(a+)+b", "ended", {}),
    "(x+x+)+y": ("(x+x+)+y", "ended", {}),
    "two windows": (".*a.{30}b.{30}c", "walked", {}),
    "five stars": ("(.*)(.*)(.*)(.*)(.*)[ab]{40}", "walked", {}),
    "nested windows": ("([ab]{0,50}a){30}", "walked", {}),
    "not a window": ("(?!.*(?:a|b)a(?:a|b){15}$)[ab]*", "walked", NO_LOOKS),
    "a window behind": ("a{15}b[ab]*(?<=a[ab]{12})", "walked", NO_LOOKS),
    "both windows": (
        "(?=(?:a|b)*a(?:a|b){20}$)(?=(?:a|b)*b(?:a|b){18}$)[ab]*",
        LimitExceededError,
        NO_LOOKS,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "dialect"),
    [(n, d) for n in CASES for d in (DIALECTS if n not in LONG else DIALECTS[:1])],
)
def test_ends_soon(name, dialect):
    pattern, expected, others = CASES[name]
    assert outcome(pattern, dialect) == others.get(dialect, expected)


@pytest.mark.parametrize(
    "pattern",
    [
        "[" * 60_000 + "a" + "]" * 60_000,
        "(?i)" * 200_000 + "a",
        "(?i:a)" * 100_000,
        r"\x{" + "0" * 500_000 + "41}",
        "(?x)#" + "#" * 1_000_000,
        "(?x)a" + " " * 1_000_000,
        "".join([f"(?<n{i}>a)" for i in range(30_000)]),
        "[" + "a&&" * 100_000 + "b]",
        r"(?-u)[^a]" * 10_000,
        r"(?:(?-u:\xff)\b)*",
        r"\b{" + "s" * 500_000,
        r"\p{" + "L" * 500_000 + "}",
    ],
    ids=range(12),
)
def test_what_only_rust_has(pattern):
    assert outcome(pattern, "rust")
