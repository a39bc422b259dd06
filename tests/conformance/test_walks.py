"""Real schemas, masks and tokens: each random walk ends in a text that `jsonschema` finds valid."""

from __future__ import annotations

import gzip
import json
import random

import jsonschema

import constrain
from tests.conftest import SHARED, requires_shared
from tests.matcher.vocabularies import allowed_ids

CORPUS = SHARED / "data" / "jsonschemabench" / "dev"


def sample(count, seed):
    """A seeded sample, spread over the collections."""
    rows = []
    for path in sorted(CORPUS.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            found = [json.loads(line) for line in lines]
        rows += random.Random(seed).sample(found, min(len(found), -(-count // 21)))
    return rows


def grammar_of(row):
    """The grammar, or None where a keyword is refused."""
    try:
        return constrain.Grammar.from_json_schema(json.dumps(row["schema"]))
    except (constrain.UnsupportedFeatureError, constrain.SchemaError):
        return None


# A byte-level vocabulary with some longer tokens: every text can be spelled.
WORDS = ['{"', '":', '", "', '"}', "}", "]", "true", "null", "the ", "abc", "12", "-", " ", "\n  "]
VOCAB = constrain.Vocabulary(
    [*(bytes([b]) for b in range(256)), *map(str.encode, WORDS), None], [256 + len(WORDS)]
)


@requires_shared
def test_random_walks_end_in_valid_texts():
    rng = random.Random(7)
    walked = 0
    unfinished = []  # chance does not find a key that must match `7777`
    for row in sample(84, seed=2):
        grammar = grammar_of(row)
        if grammar is None:
            continue
        text = walk(constrain.compile(grammar, VOCAB), rng)
        if text is None:
            unfinished.append(row["id"])
            continue
        value = json.loads(text)
        checker = jsonschema.validators.validator_for(
            row["schema"], default=jsonschema.Draft202012Validator
        )
        assert checker(row["schema"]).is_valid(value), (row["id"], text)
        walked += 1
    assert walked > 60
    assert len(unfinished) < 3, unfinished


def walk(compiled, rng, patience=60):
    """Choose uniformly among the allowed tokens, and after a while what closes soonest.

    None if that does not come to an end.
    """
    matcher = compiled.matcher()
    bitmask = constrain.allocate_token_bitmask(1, VOCAB.vocab_size)
    text = b""
    for step in range(5_000):
        matcher.fill_next_token_bitmask(bitmask)
        ids = sorted(allowed_ids(bitmask, 0, VOCAB.vocab_size))
        if VOCAB.eos_token_ids[0] in ids and (step > patience or len(ids) == 1):
            return text
        ids = [i for i in ids if i != VOCAB.eos_token_ids[0]]
        if step > patience and rng.random() < 0.9:
            spelled = {VOCAB.token_bytes[i]: i for i in ids}
            # In a string nearly everything is allowed, and only the quote closes it.
            closers = (b'"',) if b"z" in spelled else (b"}", b"]", b'"', b",", b"0", b"n")
            ids = [spelled[c] for c in closers if c in spelled][:1] or ids
        token = rng.choice(ids)
        assert matcher.accept_token(token)
        text += VOCAB.token_bytes[token]
    return None
