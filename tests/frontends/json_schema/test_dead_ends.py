"""No dead ends: random walks over the tokens of a real vocabulary, on real schemas.

Each walk takes some tokens uniformly among those allowed, then prefers tokens that close what is
open. Every walk must end; its text must be JSON, and satisfy the schema, formats included.

`python -m tests.frontends.json_schema.test_dead_ends 300 5` walks over 300 schemas drawn with seed
5, and prints what it finds.
"""

from __future__ import annotations

import functools
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import constrain
from constrain import Grammar, Vocabulary
from constrain.errors import LimitExceededError, UnsatisfiableError, UnsupportedFeatureError
from tests.conftest import requires_shared
from tests.frontends.json_schema.oracles import NotJSON, Oracles, Undecided, draft_of, parse
from tests.frontends.json_schema.test_real_schemas import sample
from tests.vocab.real_tokenizers import tokenizer_file

STYLES = ("canonical", "any")
LONGEST = 1500
"""Tokens after which a walk is given up. A schema may ask for long texts."""
_CLOSERS = b'"}]'


class Walk(NamedTuple):
    """One walk: how it went ("ended", or what is wrong), and its text."""

    outcome: str
    text: bytes


@functools.cache
def vocabulary() -> Vocabulary:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tokenizer_file("llama2")))
    return Vocabulary.from_tokenizers(tokenizer, None, eos_token_ids=[2])


@functools.cache
def preferences() -> np.ndarray:
    """How much a token is liked when a walk should end: it closes, or it opens nothing."""
    vocab = vocabulary()
    liked = np.zeros(vocab.vocab_size, np.int32)
    for token, text in enumerate(vocab.token_bytes[: vocab.vocab_size]):
        if not text:
            continue
        if all(b in _CLOSERS for b in text):
            liked[token] = 3
        elif text[0] in _CLOSERS and not any(b in b"[{," for b in text):
            liked[token] = 2
        elif not any(b in b'[{," \n\t\r' for b in text):
            liked[token] = 1
    liked[list(vocab.eos_token_ids)] = 4
    return liked


@functools.cache
def ids() -> dict[bytes, int]:
    """A token for each text."""
    texts = vocabulary().token_bytes
    return {text: token for token, text in enumerate(texts) if text}


def known_names(schema: Any) -> list[bytes]:
    """The rest of the text of a key, after its first quote: first for every required name."""
    required: dict[str, None] = {}
    declared: dict[str, None] = {}
    todo = [schema]
    for at in todo:
        if isinstance(at, dict):
            wanted, named = at.get("required"), at.get("properties")
            required |= dict.fromkeys(wanted if isinstance(wanted, list) else ())
            declared |= dict.fromkeys(named if isinstance(named, dict) else ())
        todo += at if isinstance(at, list) else at.values() if isinstance(at, dict) else ()
    names = [name for name in required | declared if isinstance(name, str)]
    return [json.dumps(name, ensure_ascii=False)[1:].encode() + b":" for name in names]


class Walker:
    """Walks of one grammar. `names`: keys that it tries when a walk should end."""

    def __init__(self, grammar: Grammar, names: list[bytes]) -> None:
        self.compiled = constrain.compile(grammar, vocabulary())
        self.names = names

    def walk(self, rng: random.Random, steps: int) -> Walk:
        """One walk: `steps` tokens uniformly, then towards the end.

        Raises:
            DeadEndError: After some prefix no token is allowed.
        """
        vocab = vocabulary()
        matcher = self.compiled.matcher()
        mask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
        out = b""
        path = b""  # bytes that the walk means to write
        while matcher.num_steps < LONGEST:
            matcher.fill_next_token_bitmask(mask)
            bits = np.unpackbits(mask.view(np.uint8), bitorder="little")[: vocab.vocab_size]
            allowed = np.flatnonzero(bits)
            assert allowed.size, out
            towards_end = matcher.num_steps >= steps and rng.random() < 0.98
            in_key = out.endswith(b'"') and out[:-1].rstrip()[-1:] in (b"{", b",")
            if towards_end and not path and in_key:
                fits = (name for name in self.names if matcher.fork().accept_bytes(name))
                path = next(fits, b"")
            if path:
                lengths = range(len(path), 0, -1)
                token = next(ids()[path[:n]] for n in lengths if path[:n] in ids())
                path = path[len(vocab.token_bytes[token] or b"") :]
                assert bits[token], (token, out, "a mask lacks a token that a sentence begins with")
            else:
                if towards_end:
                    liked = preferences()[allowed]
                    allowed = allowed[liked == liked.max()]
                token = int(allowed[rng.randrange(allowed.size)])
            assert matcher.accept_token(token), (token, out)
            if matcher.is_terminated:
                return Walk("ended", out)
            out += vocab.token_bytes[token] or b""
        return Walk("too long", out)


def faults(
    schema: Any, style: str, rng: random.Random, walks: int, counts: Counter[str]
) -> Iterator[Walk]:
    """Walks of one schema that end badly."""
    try:
        grammar = Grammar.from_json_schema(schema, style=style)
        anything = grammar if style == "any" else Grammar.from_json_schema(schema, style="any")
    except (UnsatisfiableError, UnsupportedFeatureError, LimitExceededError) as error:
        counts[type(error).__name__] += 1
        return
    oracles = Oracles(schema, draft_of(schema), formats=True)
    walker = Walker(grammar, known_names(schema))
    for _ in range(walks):
        try:
            outcome, text = walker.walk(rng, rng.choice([0, 3, 10, 30, 60]))
        except (LimitExceededError, UnsupportedFeatureError) as error:
            counts[f"late {type(error).__name__}"] += 1
            return
        except constrain.DeadEndError as error:
            yield Walk(f"dead end: {error}", b"")
            return
        counts[outcome] += 1
        if outcome != "ended":
            continue
        try:
            valid = oracles.is_valid(parse(text, oracles.draft))
        except NotJSON as error:
            yield Walk(f"no JSON: {error}", text)
            continue
        except Undecided:
            counts["undecided"] += 1
            continue
        if not valid:
            yield Walk("invalid", text)
        if not anything.accepts(text):
            yield Walk("not in style any", text)


@requires_shared
@pytest.mark.parametrize("style", STYLES)
def test_walks_end_in_valid_texts(style: str) -> None:
    counts: Counter[str] = Counter()
    found = []
    size = 25
    for row in sample(11, size):
        rng = random.Random(row["id"])
        found += [(row["id"], fault) for fault in faults(row["schema"], style, rng, 2, counts)]
    assert found == []
    assert counts["ended"] > 1.5 * size, counts
    assert counts["too long"] + counts["undecided"] <= 0.04 * size, counts


def main(size: int, seed: int) -> None:
    """Walk over many schemas and print every fault."""
    counts: Counter[str] = Counter()
    for row in sample(seed, size):
        for style in STYLES:
            rng = random.Random(row["id"])
            for fault in faults(row["schema"], style, rng, 3, counts):
                print(row["id"], style, fault.outcome, fault.text[:400], flush=True)  # noqa: T201
    print(dict(counts))  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
