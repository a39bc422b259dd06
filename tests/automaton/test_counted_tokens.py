"""The law where tokens are counted, against a slow reading of texts that knows where tokens end.

Bit t of a mask is set if and only if the run so far and token t begin a sentence; the end token is
allowed if and only if the run is one.
"""

from __future__ import annotations

import itertools
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import constrain
from constrain import Grammar, GrammarError, UnsupportedFeatureError, Vocabulary
from constrain.automaton import Automaton
from constrain.limits import DEFAULT_LIMITS
from constrain.matcher import Matcher, fill_next_token_bitmasks
from tests.matcher.vocabularies import allowed_ids

TOKENS = [b"a", b"b", b"c", b"ab", b"ba", b"bc", b"aab", b"cab", "<t>"]
END = len(TOKENS)
VOCAB = Vocabulary([*[None if t == "<t>" else t for t in TOKENS], None], [END], {"<t>": END - 1})


class Reading:
    """A run of tokens as symbols: bytes, and special tokens as they are."""

    def __init__(self, run):
        self.symbols = [s for i in run for s in ([TOKENS[i]] if i == END - 1 else TOKENS[i])]
        lengths = [1 if i == END - 1 else len(TOKENS[i]) for i in run]
        self.ends = list(itertools.accumulate(lengths))

    def read(self, g, at):
        """Where a text of `g` from a place on may end, and where it may be in progress."""
        kind, *parts = g
        whole, begun = set(), {at}
        if kind == "text":
            for n, symbol in enumerate(parts[0]):
                if self.symbols[at + n : at + n + 1] != [symbol]:
                    return whole, begun
                begun.add(at + n + 1)
            return {at + len(parts[0])}, begun
        if kind == "or":
            for part in parts:
                ends, inside = self.read(part, at)
                whole |= ends
                begun |= inside
        elif kind == "then":
            whole = {at}
            for part in parts:
                read = [self.read(part, p) for p in whole]
                whole = set().union(*[ends for ends, _ in read])
                begun |= set().union(*[inside for _, inside in read])
        elif kind == "repeat":
            body, lo, hi = parts
            now, seen = {at}, set()
            for n in range(len(self.symbols) + lo + 2):
                if n >= lo:
                    whole |= now
                if n == hi:
                    break
                read = [self.read(body, p) for p in now]
                now = set().union(*[ends for ends, _ in read])
                begun |= set().union(*[inside for _, inside in read])
                if n >= lo and now <= seen:
                    break
                seen |= now
        else:
            body, most = parts
            after = [end for end in self.ends if end > at]
            last = len(self.symbols) + 1 if len(after) < most else after[most - 1] if most else at
            ends, inside = self.read(body, at) if most else ({at}, {at})
            whole = {p for p in ends if p <= last} | ({last} & inside)
            begun = {p for p in inside if p < last} | whole
        return whole, begun

    def verdict(self, g):
        """Whether it is a sentence, and whether it begins one."""
        whole, begun = self.read(g, 0)
        return len(self.symbols) in whole, len(self.symbols) in begun


def grammar(g):
    kind, *parts = g
    if kind == "text":
        made = [Grammar.token(s) if s == "<t>" else Grammar.text(bytes([s])) for s in parts[0]]
        return sum(made, Grammar.text(""))
    if kind in ("or", "then"):
        made = grammar(parts[0])
        for part in map(grammar, parts[1:]):
            made = made | part if kind == "or" else made + part
        return made
    if kind == "repeat":
        return grammar(parts[0]).repeat(*parts[1:])
    return grammar(parts[0]).within_tokens(parts[1])


def text(data):
    return ("text", ["<t>" if c == "!" else ord(c) for c in data])


texts = st.sampled_from(["a", "b", "c", "ab", "ba", "abc", "!", "b!", ""]).map(text)


def larger(parts):
    lists = st.lists(parts, min_size=2, max_size=3)
    return st.one_of(
        lists.map(lambda p: ("or", *p)),
        lists.map(lambda p: ("then", *p)),
        st.tuples(st.just("repeat"), parts, st.integers(0, 2), st.sampled_from([2, 3, None])),
        st.tuples(st.just("within"), parts, st.integers(0, 3)),
        st.tuples(st.just("within"), parts, st.integers(1, 3)),
    )


grammars = st.recursive(texts, larger, max_leaves=6)


def check(g, matcher, run):
    bitmask = constrain.allocate_token_bitmask(1, VOCAB.vocab_size)
    expected = {i for i in range(END) if Reading([*run, i]).verdict(g)[1]}
    sentence = Reading(run).verdict(g)[0]
    assert matcher.is_accepting == sentence, run
    expected |= {END} if sentence else set()
    assert expected, "tokens spell all texts, so there is a way on"
    matcher.fill_next_token_bitmask(bitmask)
    assert set(allowed_ids(bitmask, 0, VOCAB.vocab_size)) == expected, (g, run)
    return sorted(expected - {END})


def every_run(g, longest):
    compiled = constrain.compile(grammar(g), VOCAB)
    todo = [[]]
    while todo:
        run = todo.pop()
        matcher = compiled.matcher()
        assert matcher.validate_tokens(run) == len(run)
        assert all(map(matcher.accept_token, run))
        allowed = check(g, matcher, run)
        if len(run) < longest:
            todo += [[*run, token] for token in allowed]


WORD = ("repeat", ("or", text("a"), text("b")), 0, None)


@pytest.mark.parametrize("most", range(5))
@pytest.mark.parametrize(
    "g",
    [
        ("then", text("c"), "body", text("c")),
        ("then", ("repeat", text("a"), 0, None), "body", ("repeat", text("b"), 0, None)),
        ("repeat", ("then", "body", text("c")), 1, None),
        ("or", ("then", "body", text("ba")), ("then", WORD, text("c"))),
        ("then", ("or", "body", text("ab")), text("!"), "body"),
    ],
    ids=str,
)
@pytest.mark.parametrize("body", [WORD, text("abab"), ("repeat", text("ab"), 1, None)], ids=str)
def test_every_run(g, body, most):
    def put(part):
        if part == "body":
            return ("within", body, most)
        return tuple(put(p) if isinstance(p, (tuple, str)) and p != part[0] else p for p in part)

    every_run(put(g), 3)


@settings(max_examples=200)
@given(grammars, st.randoms(use_true_random=False))
def test_random_grammars(g, random):
    compiled = constrain.compile(grammar(g), VOCAB)
    for _ in range(3):
        matcher, run = compiled.matcher(), []
        while len(run) < 7 and (allowed := check(g, matcher, run)):
            run.append(random.choice(allowed))
            assert matcher.accept_token(run[-1])


@settings(max_examples=60)
@given(grammars, st.randoms(use_true_random=False))
def test_rollback_fork_and_batches(g, random):
    compiled = constrain.compile(grammar(g), VOCAB)
    matcher, run = compiled.matcher(), []
    seen = [(matcher.fork(), [])]
    for _ in range(8):
        if run and random.random() < 0.3:
            back = random.randint(1, len(run))
            matcher.rollback(back)
            del run[-back:]
        allowed = check(g, matcher, run)
        if not allowed:
            break
        run.append(random.choice(allowed))
        assert matcher.accept_token(run[-1])
        seen.append((matcher.fork(), run.copy()))
    alive = [(m, r) for m, r in seen if m.is_accepting or check(g, m, r)]
    bitmask = constrain.allocate_token_bitmask(len(alive), VOCAB.vocab_size)
    fill_next_token_bitmasks([m for m, _ in alive], bitmask)
    for row, (_, past) in enumerate(alive):
        expected = {i for i in range(END) if Reading([*past, i]).verdict(g)[1]}
        expected |= {END} if Reading(past).verdict(g)[0] else set()
        assert set(allowed_ids(bitmask, row, VOCAB.vocab_size)) == expected


@settings(max_examples=60)
@given(grammars, st.randoms(use_true_random=False))
def test_forced_text_is_forced_by_every_token(g, random):
    compiled = constrain.compile(grammar(g), VOCAB)
    matcher, run = compiled.matcher(), []
    for _ in range(5):
        forced = matcher.find_jump_forward_bytes()
        if forced:
            allowed = check(g, matcher, run)
            assert END - 1 not in allowed
            for token in allowed:
                said = TOKENS[token]
                assert forced.startswith(said) or said.startswith(forced)
                if len(said) < len(forced):
                    after = matcher.fork()
                    after.accept_token(token)
                    assert after.find_jump_forward_bytes().startswith(forced[len(said) :])
        allowed = check(g, matcher, run)
        if not allowed:
            break
        run.append(random.choice(allowed))
        assert matcher.accept_token(run[-1])


def test_counts_go_on_in_a_fresh_automaton():
    g = Grammar.any_text().within_tokens(6) + Grammar.text("!")
    vocab = Vocabulary([b"a", b"!", None], [2])
    lock, made = threading.Lock(), []

    def fresh():
        with lock:
            made.append(Automaton(g, vocab, DEFAULT_LIMITS))
            return made[-1]

    first = fresh()
    matcher = Matcher(first, fresh)
    for _ in range(3):
        assert matcher.accept_token(0)
    first._full = 0
    assert matcher.accept_token(0)
    assert len(made) == 2
    assert matcher.accept_token(0)
    assert matcher.accept_token(0)
    assert not matcher.accept_token(0)
    matcher.rollback(1)
    assert matcher.accept_token(0)
    assert matcher.accept_token(1)
    assert matcher.is_accepting
    assert not matcher.accept_token(1)


def test_long_walks_and_large_counts():
    texts = [b"%d" % n for n in range(3_000)]
    vocab = Vocabulary([*texts, b"x", b" ", None], [3_002])
    digits = Grammar.from_regex("[0-9]*")
    matcher = constrain.compile(digits.within_tokens(1_000) + Grammar.text("x"), vocab).matcher()
    for n in range(1_000):
        assert matcher.accept_token(n), n
    assert not matcher.fork().accept_token(0)
    assert matcher.find_jump_forward_bytes() == b"x"
    assert matcher.accept_token(3_000)
    assert matcher.is_accepting
    matcher.rollback(2)
    assert matcher.accept_token(0)
    assert not matcher.accept_token(0)


def test_json_is_cut():
    items = Grammar.from_json_schema({"type": "array", "items": {"type": "integer"}})
    g = items.within_tokens(3) + Grammar.text("END")
    vocab = Vocabulary([b"[", b"1", b",", b"2", b"END", b"]END", None], [6])
    matcher = constrain.compile(g, vocab).matcher()
    assert matcher.validate_tokens([0, 1, 2, 4]) == 4
    assert matcher.validate_tokens([0, 1, 2, 3]) == 3
    assert matcher.validate_tokens([0, 1, 5, 6]) == 4


def test_special_tokens_and_texts_without_tokens():
    g = Grammar.token("<t>").repeat().within_tokens(2) + Grammar.text("a")
    matcher = constrain.compile(g, VOCAB).matcher()
    t = END - 1
    assert matcher.validate_tokens([t, t, t]) == 2
    assert matcher.validate_tokens([t, t, 0, END]) == 4
    some = Grammar.from_regex("[a-z]*").within_tokens(2) + Grammar.text("!")
    assert some.accepts(b"abcdefg!")
    matcher = constrain.compile(some, Vocabulary([b"a", b"!", None], [2])).matcher()
    assert matcher.accept_bytes(b"abcdefg")  # no token ends in it
    assert matcher.validate_tokens([0, 0, 0]) == 2


def test_what_has_no_text_has_no_beginning():
    nothing = Grammar.from_regex("(?=.*a)(?:[b-z]{1,9})?")
    y = Grammar.text("y")
    assert nothing.within_tokens(3).is_empty()
    assert not nothing.within_tokens(0).is_empty()
    for g in (
        Grammar.text("x") + nothing.within_tokens(3) | y,
        (Grammar.text("x") + nothing | y).within_tokens(3),
        (Grammar.text("x") + nothing.within_tokens(2)).within_tokens(3) | y,
    ):
        assert g.first_rejection(b"x").offset == 0
        assert g.accepts(b"y")
    with pytest.raises(constrain.UnsatisfiableError):
        constrain.compile(nothing.within_tokens(3), Vocabulary([b"a", None], eos_token_ids=[1]))


def test_a_vocabulary_that_spells_a_cut_text_only():
    g = Grammar.text("aX").within_tokens(1) + Grammar.text("b")
    matcher = constrain.compile(g, Vocabulary([b"a", b"b", None], [2])).matcher()
    assert matcher.validate_tokens([0, 1, 2]) == 3


def test_a_count_is_no_operand_of_and_and_not():
    counted = Grammar.from_regex("a*").within_tokens(2)
    for combine in (lambda: counted & counted, lambda: ~counted, lambda: ~(counted + counted)):
        with pytest.raises(UnsupportedFeatureError, match="counts tokens"):
            combine()
    for most in (-1, True, 1.5, None):
        with pytest.raises(GrammarError, match="a number of tokens"):
            counted.within_tokens(most)
    assert "within-2-tokens" in repr(counted)
