"""The dialects "rust" and "ecma" on random patterns, beside what other engines answered.

`make_answers` asked them: Rust's crate `regex` 1.12 and V8 of Node.js 24, on all texts up to a
length. `test_against_re` has the same for the dialect "python", with new patterns each time.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from constrain.errors import RegexSyntaxError
from constrain.frontends.regex import from_regex, parse
from constrain.frontends.regex.byte_nodes import OfBytes
from tests.frontends.regex.languages import Language, texts

FOLDER = Path(__file__).with_name("answers")


def rows(name: str) -> list[list[Any]]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def verdicts(language: Language, tried: list[bytes]) -> str:
    """In the form of the records: a hexadecimal number, the first text in its highest bit."""
    bits = ""
    for text in tried:
        state = language.after(text)
        bits += "1" if state != 0 and language.store.nullable(state) else "0"
    return f"{int(bits, 2):x}"


def utf8_texts(alphabet: str, longest: int) -> list[bytes]:
    return [text.encode() for text in texts(alphabet, longest)]


def test_rust():
    kept = {"refused": 0, "bytes": 0, "compared": 0}
    for pattern, alphabet, longest, answer in rows("rust"):
        if answer is None:
            kept["refused"] += 1
            with pytest.raises(RegexSyntaxError):
                parse(pattern, "rust")
        elif answer == "bytes":  # Rust takes it for bytes only
            kept["bytes"] += 1
            assert isinstance(parse(pattern, "rust"), OfBytes), pattern
        else:
            kept["compared"] += 1
            assert not isinstance(parse(pattern, "rust"), OfBytes), pattern
            language = Language(from_regex(pattern, "rust"))
            assert verdicts(language, utf8_texts(alphabet, longest)) == answer, pattern
    assert min(kept.values()) > 0
    assert kept["compared"] > 300


def test_rust_over_bytes():
    compared = 0
    for pattern, alphabet, longest, answer in rows("rust_bytes"):
        if answer is None:
            with pytest.raises(RegexSyntaxError):
                parse(pattern, "rust")
            continue
        sizes = range(longest + 1)
        tried = [bytes(t) for n in sizes for t in itertools.product(alphabet, repeat=n)]
        assert verdicts(Language(from_regex(pattern, "rust")), tried) == answer, pattern
        compared += 1
    assert compared > 150


@pytest.mark.parametrize("name", ["ecma", "ecma_v"])
def test_ecma(name):
    compared = 0
    for pattern, flags, alphabet, longest, answer in rows(name):
        if answer is None:
            with pytest.raises(RegexSyntaxError):
                parse(pattern, "ecma", flags=flags)
            continue
        language = Language(from_regex(pattern, "ecma", flags=flags))
        assert verdicts(language, utf8_texts(alphabet, longest)) == answer, (pattern, flags)
        compared += 1
    assert compared > 250
