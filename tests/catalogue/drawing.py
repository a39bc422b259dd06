"""Random walks under a grammar that end: every step a token that the mask allows.

A walk wanders for a number of tokens, then takes a shortest way to an end of the text, spelled in
long tokens where the mask allows them. Wandering draws places, not bytes: candidates that lead to
the same state count once, so that a rare operator is as likely as the letters of a name.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Iterable, Sequence
from math import exp, inf

import numpy as np
import numpy.typing as npt
from lark import Lark

from constrain import CompiledGrammar, Grammar, Vocabulary, compile
from constrain.algebra.store import DEAD, StateId
from constrain.matcher.matcher import Matcher
from tests.catalogue.distance import Distances

__all__ = ["Walker", "vocabulary_of"]

CANDIDATES = 12
SEARCHED_STATES = 20_000
"""States looked at in search of an end; with exact distances it is as many as the way is long."""


def vocabulary_of(texts: Iterable[bytes], seed: int = 0, count: int = 400) -> Vocabulary:
    """All single bytes, and pieces of texts that begin and end anywhere in lexemes."""
    draw = random.Random(seed)
    texts = [text for text in texts if len(text) > 1]
    pieces: set[bytes] = set()
    for _ in range(count if texts else 0):
        text = draw.choice(texts)
        at = draw.randrange(len(text) - 1)
        pieces.add(text[at : at + draw.choice((2, 2, 3, 4, 6, 9))])
    tokens = [bytes([b]) for b in range(256)]
    tokens += sorted(piece for piece in pieces if len(piece) > 1)
    return Vocabulary([*tokens, None], [len(tokens)])


class Walker:
    """Draws texts of one grammar over one vocabulary. The same seed draws the same texts.

    Args:
        grammar: The grammar.
        vocab: The tokens.
        theirs: lark's own reading of a Lark grammar.
        seed: Of what is drawn.
    """

    def __init__(
        self,
        grammar: Grammar,
        vocab: Vocabulary,
        *,
        theirs: Lark | None = None,
        seed: int = 0,
    ) -> None:
        self.compiled: CompiledGrammar = compile(grammar, vocab)
        self._automaton = self.compiled.automaton
        self._store = self._automaton._store
        self._distances = Distances(self._store, theirs)
        self._draw = random.Random(seed)
        self._ends = vocab.eos_token_ids
        self._ids = {text: i for i, text in enumerate(vocab.token_bytes) if text}
        self._longest = min(max(map(len, self._ids)), 16)
        self._ways: dict[StateId, list[tuple[StateId, bytes]]] = {}

    def walk(self, steps: int, begin: bytes = b"") -> bytes:
        """A sentence: `begin`, about `steps` tokens at random, and a way to the end.

        Raises:
            AssertionError: A dead end, or a token that the mask does not allow where bytes do.
        """
        matcher = Matcher(self._automaton)
        assert matcher.accept_bytes(begin), ("no sentence begins so", begin)
        text = bytearray(begin)
        for _ in range(steps):
            token = self._wander(matcher, bytes(text))
            if token is None:
                break
            text += self._take(matcher, token)
        for token in self._spell(matcher, self._way_out(matcher._states[-1], bytes(text))):
            text += self._take(matcher, token)
        assert matcher.is_accepting, ("a way out that is none", bytes(text))
        end = self._ends[0]
        assert end in self._allowed(matcher), ("no end token at the end", bytes(text))
        assert matcher.accept_token(end)
        return bytes(text)

    def _take(self, matcher: Matcher, token: int) -> bytes:
        assert matcher.accept_token(token), ("a token of the mask is refused", token)
        return self.compiled.vocab.token_bytes[token] or b""

    def _allowed(self, matcher: Matcher) -> npt.NDArray[np.int64]:
        words = matcher._mask_row().words
        return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))

    def _wander(self, matcher: Matcher, text: bytes) -> int | None:
        """A token for the next step; None if only the end may come."""
        allowed = self._allowed(matcher)
        for end in self._ends:
            allowed = allowed[allowed != end]
        if not allowed.size:
            assert matcher.is_accepting, ("a dead end", text)
            return None
        draw = self._draw
        found: dict[StateId, int] = {}
        for _ in range(CANDIDATES):
            # The later half of the ids are pieces of texts, or longer tokens.
            at = draw.randrange(len(allowed)) if draw.random() < 0.7 else -draw.randrange(1, 9)
            token = int(allowed[max(at, -len(allowed))])
            state = self._automaton.after_token(matcher._states[-1], token)
            assert state != DEAD, ("a token of the mask is refused", text, token)
            found[state] = token
        far = {state: self._distance(state) for state in found}
        for state, token in found.items():
            assert far[state] < inf, ("a dead end", text, self.compiled.vocab.token_bytes[token])
        nearest = min(far.values())
        weights = [exp((nearest - far[state]) / 6) for state in found]
        return draw.choices(list(found.values()), weights)[0]

    def _distance(self, state: StateId) -> float:
        with self._store.lock:
            return self._distances.of(state)

    def _steps(self, state: StateId) -> list[tuple[StateId, bytes]]:
        """States one byte on, each with the bytes that lead there."""
        found = self._ways.get(state)
        if found is None:
            automaton, store = self._automaton, self._store
            with store.lock:
                by_state: dict[StateId, list[int]] = {}
                if store.is_bytewise(state):
                    for b in automaton.next_bytes(state):
                        by_state.setdefault(automaton.after_bytes(state, bytes([b])), []).append(b)
                elif not store.is_empty(state):
                    classes, targets = store._row(state)
                    for b, target in enumerate(targets[classes].tolist()):
                        if target != DEAD:
                            by_state.setdefault(StateId(target), []).append(b)
            found = self._ways[state] = [(s, bytes(bs)) for s, bs in by_state.items()]
        return found

    def _way_out(self, state: StateId, text: bytes) -> bytes:
        """Bytes from a state to an end: a best-first search by distance."""
        tie = itertools.count()
        came: dict[StateId, tuple[StateId, bytes] | None] = {state: None}
        todo: list[tuple[float, float, int, StateId]] = [(0.0, 0.0, next(tie), state)]
        looked = 0
        while todo:
            _, gone, _, now = heapq.heappop(todo)
            if self._store.nullable(now):
                return _path(came, now)
            looked += 1
            assert looked < SEARCHED_STATES, ("no end within reach", text)
            steps = self._steps(now)
            for after, choices in self._draw.sample(steps, len(steps)):
                far = self._distance(after)
                if after not in came and far < inf:
                    came[after] = now, bytes([self._draw.choice(choices)])
                    heapq.heappush(todo, (gone + 1 + 1.2 * far, gone + 1, next(tie), after))
        raise AssertionError(("a dead end", text))

    def _spell(self, matcher: Matcher, way: bytes) -> Iterable[int]:
        """Tokens that spell some bytes, long ones first; asserts that masks allow them."""
        at = 0
        while at < len(way):
            longest = min(self._longest, len(way) - at)
            pieces = (way[at : at + n] for n in range(longest, 0, -1))
            piece = next((p for p in pieces if p in self._ids), None)
            assert piece is not None, ("the vocabulary lacks the byte", way[at])
            token = self._ids[piece]
            word, bit = divmod(token, 32)
            words: Sequence[int] = matcher._mask_row().words
            assert (int(words[word]) >> bit) & 1, ("the mask lacks a token", way[:at], piece)
            yield token
            at += len(piece)


def _path(came: dict[StateId, tuple[StateId, bytes] | None], state: StateId) -> bytes:
    path = bytearray()
    while (step := came[state]) is not None:
        state, byte = step
        path += byte
    path.reverse()
    return bytes(path)
