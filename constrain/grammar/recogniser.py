"""Which texts are in a language, and where a text leaves it: without any vocabulary.

A `Recogniser` walks the derivatives of a term byte by byte. What it has made for one text is there
for the next, up to a bound: then it begins anew.
"""

from __future__ import annotations

import threading
from functools import cache, partial

from constrain.algebra.prelude import Prelude
from constrain.algebra.printer import byte_ranges
from constrain.algebra.store import DEAD, StateId, TermStore
from constrain.algebra.terms import Term
from constrain.frontends.explanation import Explainer
from constrain.grammar.rejection import Rejection
from constrain.limits import Limits

__all__ = ["Recogniser", "as_bytes", "has_no_tokens"]


class Recogniser:
    """Judges texts. Thread-safe, one text at a time.

    Args:
        term: The language.
        prelude: Terms that are in it: a store starts with them.
        limits: Budgets. Past an eighth of `max_terms` the store is made anew.
    """

    def __init__(self, term: Term, prelude: Prelude | None, limits: Limits) -> None:
        self._term = term
        self._prelude = prelude
        self._limits = limits
        self._lock = threading.Lock()
        self._store: TermStore | None = None
        self._start = DEAD
        self._num_first_terms = 0

    def accepts(self, text: bytes) -> bool:
        """Whether the whole of a text is in the language."""
        with self._lock:
            store, state = self._ready()
            state = store.advance(state, text)
            return state != DEAD and store.nullable(state)

    def first_rejection(self, text: bytes, explainer: Explainer | None) -> Rejection | None:
        """Where a text leaves the language, or None if it is in it."""
        with self._lock:
            store, start = self._ready()
            state, read = store.advance_until_dead(start, text)
            at_end = state != DEAD
            if at_end and store.nullable(state):
                return None
            offset = len(text) if at_end else max(read - 1, 0)
            state = state if at_end else store.advance(start, text[:offset])
            if state == DEAD:  # the language has no sentence at all
                return Rejection(0, (), complete=False, at_end=False)
            expected = store.next_bytes(state)
            look = None
            if explainer is not None:
                look = cache(partial(explainer.explain, text, offset, expected))
            complete = store.nullable(state)
            return Rejection(offset, tuple(byte_ranges(expected)), complete, at_end, look)

    def is_empty(self) -> bool:
        """Whether no text at all is in the language."""
        with self._lock:
            store, start = self._ready()
            return store.is_empty(start)

    def _ready(self) -> tuple[TermStore, StateId]:
        """The store and the state before any text; made anew when many texts have filled it."""
        full = max(self._limits.max_terms // 8, 4 * self._num_first_terms)
        if self._store is None or self._store.num_terms > full:
            prelude = self._prelude
            store = TermStore(self._limits, start=None if prelude is None else prelude.start())
            self._start = store.intern(self._term)
            self._num_first_terms = store.num_terms
            self._store = store
        return self._store, self._start


def has_no_tokens(term: Term, limits: Limits) -> bool:
    """Whether nothing is in a language even where a vocabulary has all tokens that it names."""
    store = TermStore(limits, tokens=_EveryToken())
    return store.is_empty(store.intern(term))


class _EveryToken:
    """A vocabulary in which each name is a token of its own, none of them special."""

    def __init__(self) -> None:
        self.special_tokens: dict[str, int] = {}
        self._ids: dict[str | int, int] = {}

    def id_of(self, name: str | int) -> int:
        return self._ids.setdefault(name, len(self._ids))


def as_bytes(text: bytes) -> bytes:
    """A text as bytes.

    Raises:
        TypeError: It is no bytes.
    """
    if isinstance(text, str):
        raise TypeError("a grammar reads bytes: pass text.encode()")
    if not isinstance(text, (bytes, bytearray, memoryview)):
        raise TypeError(f"a grammar reads bytes, not {type(text).__name__}")
    return bytes(text)
