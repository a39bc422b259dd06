"""What grammars share changes no mask: each is compared with one that shares nothing."""

from __future__ import annotations

import random

import numpy as np
import pytest

import constrain
from constrain import Grammar, Vocabulary
from constrain.frontends.json_schema.staples import staples
from constrain.frontends.json_schema.style import resolve_style
from tests.matcher.vocabularies import JSON_TOKENS

VOCAB = Vocabulary(
    [*[bytes([b]) for b in range(256)], *map(str.encode, JSON_TOKENS), None],
    eos_token_ids=[256 + len(JSON_TOKENS)],
)

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "maxLength": 3},
        "b": {"type": "array", "items": {"type": "number"}},
        "c": {"enum": ["a", "b", 1]},
    },
    "required": ["b"],
}
TOOLS = [{"name": "a", "parameters": SCHEMA}, {"name": "b"}, {"name": "ab", "parameters": SCHEMA}]
TAG = {"type": "tag", "begin": "[", "content": {"type": "json_schema", "json_schema": SCHEMA}}
GRAMMARS = {
    "schema": lambda: Grammar.from_json_schema(SCHEMA),
    "tools": lambda: Grammar.from_tools(TOOLS, "required", format="llama3"),
    "tag": lambda: Grammar.from_structural_tag({**TAG, "end": "]"}),
    "%json": lambda: Grammar.from_lark('start: %json {"type": "object"}'),
    "optional": lambda: Grammar.from_json_schema(SCHEMA).optional(),
    "repeat": lambda: Grammar.from_json_schema(SCHEMA).repeat(1, 3, separator=","),
    "bounded": lambda: Grammar.from_json_schema(SCHEMA).within_tokens(20),
    "reasoning": lambda: Grammar.from_json_schema(SCHEMA).with_reasoning("}"),
}


@pytest.mark.parametrize("name", GRAMMARS)
def test_masks_of_a_store_that_begins_with_a_prelude(name):
    grammar = GRAMMARS[name]()
    assert grammar.prelude is not None
    alone = Grammar(grammar.term, "alone")
    check_same_masks(grammar, alone, random.Random(name))


def test_one_prelude_for_one_style():
    canonical = staples(resolve_style("canonical")).prelude
    assert all(GRAMMARS[name]().prelude is canonical for name in GRAMMARS if name not in ("%json",))
    compact = Grammar.from_tools(TOOLS, format="llama3", style="compact").prelude
    assert compact is staples(resolve_style("compact")).prelude


def check_same_masks(grammar, other, rng, *, texts=4, length=40):
    """Compare all masks along some texts, and with those of the plain walk."""
    compiled = [constrain.compile(g, VOCAB) for g in (grammar, other)]
    bitmask = constrain.allocate_token_bitmask(2, VOCAB.vocab_size)
    for _ in range(texts):
        matchers = [c.matcher() for c in compiled]
        for _ in range(length):
            for row, matcher in enumerate(matchers):
                matcher.fill_next_token_bitmask(bitmask, row)
            assert np.array_equal(bitmask[0], bitmask[1])
            bits = np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")
            ids = np.flatnonzero(bits).tolist()
            token_id = rng.choice(ids)
            if token_id in VOCAB.eos_token_ids:
                break
            assert all([matcher.accept_token(token_id) for matcher in matchers])
