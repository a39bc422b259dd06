"""The law holds when many threads share one compiled grammar, and for rows made by workers.

Threads write down which tokens they were allowed after which text; afterwards each such mask is
compared with brute force: every token of the vocabulary, byte by byte.
"""

from __future__ import annotations

import random
import sys
import threading

import numpy as np
import pytest

import constrain
import constrain.matcher.batch as batch_module
from constrain import Grammar, Limits
from tests.matcher.test_law import by_store
from tests.matcher.vocabularies import JSON, NASTY, allowed_ids

NUM_THREADS = 16


@pytest.fixture(autouse=True)
def threads_take_turns_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def schema(**keywords):
    return Grammar.from_json_schema(keywords)


GRAMMARS = {
    "other keys": lambda: schema(
        type="object", properties={"a": {"type": "integer"}, "ab": {"type": "boolean"}}
    ),
    "different items": lambda: schema(type="array", items={"enum": [1, 12, "a"]}, uniqueItems=True),
    "counters": lambda: schema(type="array", items={"type": "string", "maxLength": 3}, maxItems=3),
    "recursion": lambda: Grammar.from_json_schema(
        {
            "$ref": "#/$defs/t",
            "$defs": {"t": {"type": ["array", "null"], "items": {"$ref": "#/$defs/t"}}},
        }
    ),
    "not this text": lambda: Grammar.from_regex("(?!ab|ba)[ab]{1,30}(é|b)?"),
    "never the same state": lambda: Grammar.from_gbnf('root ::= "a" root "b" | ""'),
}


def together(work):
    """Run work(seed) in many threads at once; what they return, one after another."""
    gate = threading.Barrier(NUM_THREADS)
    found, failures = [], []

    def body(seed):
        gate.wait()
        try:
            found.append(work(seed))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=body, args=(seed,)) for seed in range(NUM_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    return [seen for part in found for seen in part]


def check_law(grammar, vocab, observed):
    """Each mask seen is that of brute force; masks are (text, allowed ids, whether it may end)."""
    begins, is_sentence = by_store(grammar.term)
    for text, allowed, accepting in set(observed):
        assert accepting == is_sentence(text)
        expected = {i for i, b in enumerate(vocab.token_bytes) if b and begins(text + b)}
        if accepting:
            expected |= set(vocab.eos_token_ids)
        assert allowed == expected, text


def observe(matcher, bitmask, row, vocab, text):
    return text, frozenset(allowed_ids(bitmask, row, vocab.vocab_size)), matcher.is_accepting


def play(compiled, vocab, rng, num_steps, opening=b""):
    """A random sequence of tokens, forks and steps back; every mask on the way."""
    bitmask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
    matcher, texts = compiled.matcher(), [b"", opening]
    assert matcher.accept_bytes(opening)
    for _ in range(num_steps):
        if rng.random() < 0.1 and len(texts) > 1:
            back = rng.randrange(1, len(texts))
            matcher.rollback(back)
            del texts[-back:]
        if rng.random() < 0.1:
            matcher = matcher.fork()
        try:
            matcher.fill_next_token_bitmask(bitmask)
        except constrain.DeadEndError:  # these vocabularies have halves of characters
            yield texts[-1], frozenset(), False
            matcher.reset()
            texts = [b""]
            continue
        yield observe(matcher, bitmask, 0, vocab, texts[-1])
        choices = sorted(allowed_ids(bitmask, 0, vocab.vocab_size) - set(vocab.eos_token_ids))
        if not choices:
            matcher.reset()
            texts = [b""]
            continue
        token = rng.choice(choices)
        assert matcher.accept_token(token)
        texts.append(texts[-1] + vocab.token_bytes[token])


@pytest.mark.parametrize("tight", [False, True], ids=["roomy", "tight"])
@pytest.mark.parametrize("name", GRAMMARS)
def test_one_compiled_grammar_in_many_threads(name, tight):
    # With little room the automaton is left for a fresh one while other threads are in it.
    unbounded = name == "never the same state"
    limits = Limits(max_terms=1_000 if unbounded else 12_000) if tight else Limits()
    grammar = GRAMMARS[name]()
    vocab = NASTY if name in ("not this text", "never the same state") else JSON
    compiled = constrain.CompiledGrammar(grammar, vocab, limits)
    first = compiled.automaton

    def work(seed):
        opening = b"a" * (20 * seed) if unbounded else b""
        return list(play(compiled, vocab, random.Random(f"{name}{seed}"), 40, opening))

    observed = together(work)
    check_law(GRAMMARS[name](), vocab, observed)
    if unbounded:
        assert (compiled.automaton is first) == (not tight)


@pytest.fixture
def any_row_is_long(monkeypatch):
    monkeypatch.setattr(batch_module, "_LONG_S", 0)
    monkeypatch.setattr(batch_module, "_LONG_ROW_S", 0)


@pytest.mark.usefixtures("any_row_is_long")
def test_workers_make_rows_of_many_grammars_in_many_threads():
    names = [n for n in GRAMMARS if n not in ("not this text", "never the same state")]
    grammars = [GRAMMARS[name]() for name in names]
    shared = [constrain.compile(grammar, JSON) for grammar in grammars]

    def work(seed):
        rng = random.Random(seed)
        bitmask = constrain.allocate_token_bitmask(len(names), JSON.vocab_size)
        matchers = [compiled.matcher() for compiled in shared]
        texts = [b""] * len(names)
        seen = []
        for _ in range(25):
            try:
                constrain.fill_next_token_bitmasks(matchers, bitmask, workers=1 + seed % 4)
            except constrain.DeadEndError:
                matchers = [compiled.matcher() for compiled in shared]
                texts = [b""] * len(names)
                continue
            for row, matcher in enumerate(matchers):
                seen.append((row, observe(matcher, bitmask, row, JSON, texts[row])))
                choices = allowed_ids(bitmask, row, JSON.vocab_size) - set(JSON.eos_token_ids)
                if not choices:
                    matcher.reset()
                    texts[row] = b""
                    continue
                token = rng.choice(sorted(choices))
                assert matcher.accept_token(token)
                texts[row] += JSON.token_bytes[token]
        return seen

    observed = together(work)
    for row, name in enumerate(names):
        check_law(GRAMMARS[name](), JSON, [seen for at, seen in observed if at == row])


@pytest.mark.parametrize("long", [0, 60])
def test_other_workers_join_in_where_rows_are_long(long, monkeypatch):
    monkeypatch.setattr(batch_module, "_LONG_S", long)
    monkeypatch.setattr(batch_module, "_LONG_ROW_S", 0)
    asked = []
    pool = batch_module._pool
    monkeypatch.setattr(batch_module, "_pool", lambda *args: asked.append(args) or pool(*args))
    batch = [
        constrain.CompiledGrammar(Grammar.from_regex(p), NASTY, Limits()).matcher()
        for p in ("a", "b", "ab")
    ]
    bitmask = constrain.allocate_token_bitmask(len(batch), NASTY.vocab_size)
    constrain.fill_next_token_bitmasks(batch, bitmask, workers=2)
    assert bool(asked) == (long == 0)


@pytest.mark.usefixtures("any_row_is_long")
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_workers_make_the_same_rows(workers):
    patterns = ["(ab)+", "a{2,9}", "(?!aa)[ab]{2,5}", "é{2}|a", "b+"] * 3
    batch = [constrain.compile(Grammar.from_regex(p), NASTY).matcher() for p in patterns]
    batch += [matcher.fork() for matcher in batch]
    bitmask = constrain.allocate_token_bitmask(len(batch), NASTY.vocab_size)
    constrain.fill_next_token_bitmasks(batch, bitmask, workers=workers)
    expected = np.zeros_like(bitmask)
    for row, pattern in enumerate(patterns * 2):
        alone = constrain.compile(Grammar.from_regex(pattern), NASTY).matcher()
        alone.fill_next_token_bitmask(expected, row)
    assert (bitmask == expected).all()
