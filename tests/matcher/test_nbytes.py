"""`CompiledGrammar.nbytes` beside what the allocator and the system say, within a factor of two."""

import gc
import itertools
import json
import os
import random
import tracemalloc
from pathlib import Path

import pytest

import constrain
from constrain import CompiledGrammar, Grammar, Vocabulary
from constrain.algebra import arena
from constrain.automaton import Automaton

FACTOR = 2

_draw = random.Random(5)
_WORDS = sorted(
    {"".join(_draw.choices('abcdefgh ",:{}[]0123', k=3)).encode() for _ in range(6_000)}
)
VOCAB = Vocabulary([*(bytes([b]) for b in range(256)), *_WORDS, None], [256 + len(_WORDS)])

SCHEMAS = {
    "plain": {
        "type": "object",
        "properties": {f"name{n}": {"type": "string", "maxLength": n} for n in range(20)},
    },
    "any keys": {"type": "object", "additionalProperties": {"type": "array", "items": {}}},
    "words": {"type": "array", "items": {"enum": [f"word {n * 7919}" for n in range(300)]}},
    "patterns": {"type": "array", "items": {"pattern": "^[a-h]{2,90}( [0-3]{1,30}){0,3}$"}},
    "different": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    "tagged": {
        "anyOf": [
            {"type": "object", "properties": {"kind": {"const": f"k{n}"}, f"f{n}": {}}}
            for n in range(30)
        ]
    },
}
TEXTS = {
    "plain": [json.dumps({f"name{n}": "abc"[: n % 4] for n in range(20)})],
    "any keys": [json.dumps({f"a{n}": ["b", n, {"c": n}] for n in range(40)})],
    "words": [json.dumps([f"word {n * 7919}" for n in range(100)])],
    "patterns": [json.dumps(["abcdefgh" * n + " 012" for n in range(1, 9)])],
    "different": [json.dumps([f"a{n}" for n in range(60)])],
    "tagged": [json.dumps({"kind": f"k{n}", f"f{n}": [1]}) for n in range(0, 30, 5)],
}


@pytest.fixture(autouse=True)
def no_memory_is_used_again(monkeypatch):
    """What arenas before have left is no allocation when it is used again."""
    monkeypatch.setattr(arena, "MAX_ALL_KEPT", 0)
    monkeypatch.setattr(arena, "_kept", {})


def play(compiled: CompiledGrammar, texts: list[str]) -> None:
    bitmask = constrain.allocate_token_bitmask(1, VOCAB.vocab_size)
    for text in texts:
        matcher = compiled.matcher()
        matcher.fill_next_token_bitmask(bitmask)
        for byte in text.encode():
            if not matcher.accept_token(byte):
                break
            matcher.fill_next_token_bitmask(bitmask)
        assert matcher.num_steps > 20, text[: matcher.num_steps]


def compiled_and_played(name: str) -> CompiledGrammar:
    compiled = constrain.compile(Grammar.from_json_schema(SCHEMAS[name]), VOCAB)
    play(compiled, TEXTS[name])
    return compiled


@pytest.mark.parametrize("name", SCHEMAS)
def test_nbytes_is_what_was_allocated(name):
    compiled_and_played(name)  # what grammars share is there
    gc.collect()
    tracemalloc.start(1)
    try:
        compiled = compiled_and_played(name)
        gc.collect()
        allocated = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    allocated += of_pages(compiled.automaton)
    assert allocated / FACTOR < compiled.nbytes < allocated * FACTOR


def of_pages(automaton: Automaton) -> int:
    """What is not memory of Python's."""
    terms = automaton._store.arena
    held = arena.held_bytes(terms)
    return held if held != terms.nbytes else 0


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="no /proc, so what is resident is not told here"
)
def test_nbytes_of_a_large_automaton_is_what_the_process_grows_by():
    compiled = constrain.compile(Grammar.from_regex("(?:[a-h]{1,99}[0-3]{2,99}x){1,90000}"), VOCAB)
    play(compiled, ["abc01x" * 20])
    gc.collect()
    before, counted = resident(), compiled.nbytes
    matcher = compiled.matcher()
    for _ in itertools.repeat(None, 15_000):
        assert matcher.accept_bytes(b"abcdefgh0123x")
    gc.collect()
    grown = resident() - before
    assert grown > 5_000_000
    assert grown / FACTOR < compiled.nbytes - counted < grown * FACTOR
