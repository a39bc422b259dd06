"""`Automaton`: the states of a grammar over a vocabulary, and which tokens lead where."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import DEAD, StateId, TermStore
from constrain.automaton.eager import explore
from constrain.automaton.masks import MaskRow, MaskRows
from constrain.grammar import Grammar
from constrain.limits import Limits
from constrain.vocab import Vocabulary

__all__ = ["Automaton"]


class Automaton:
    """The lazy automaton of a grammar over a vocabulary.

    States and rows are added as sequences visit them; what a state means never changes, so any
    number of sequences, in any number of threads, share one automaton. One lock guards growth.

    Attributes:
        grammar: What was compiled.
        vocab: For which vocabulary.
        start: The state before any text.
        known_row: The row of a state if it is remembered, else None; needs no lock.
        known_steps: For a state, the states after some tokens, DEAD included, as far as they are
            remembered; to be read only, and without a lock.
        is_full: It has grown so far that sequences should go on in a fresh one. Set when states or
            rows are made.
    """

    def __init__(self, grammar: Grammar, vocab: Vocabulary, limits: Limits) -> None:
        self.is_full = False
        self.grammar = grammar
        self.vocab = vocab
        prelude = grammar.prelude
        self._store = TermStore(limits, vocab, None if prelude is None else prelude.start())
        self._lock = self._store.lock
        self._rows = MaskRows(self._store, vocab, limits.max_mask_rows_bytes)
        self._steps = self._rows.steps
        self.known_steps = self._steps.known
        self._ticks = self._rows.ticks
        self.known_row = self._rows.get
        self._bytes = vocab.flat_bytes
        self._num_tokens = vocab.num_tokens
        self._offsets = vocab.flat_offsets.data  # read in half the time of an array
        self.start: StateId = self._store.intern(grammar.term)
        # A grammar that is large from the start is not made anew for nothing.
        self._full = max(limits.max_terms // 8, 4 * self._store.num_terms)

    def build_ahead(self, budget: int) -> int:
        """Make up to `budget` rule bodies that nothing has asked for yet; returns how many.

        Fewer where they are large: what is explored afterwards needs room too.
        """
        with self._lock:
            return self._store.build_rules(budget, max_terms=self._full // 4)

    def explore(self, num_states: int) -> bool:
        """Make the rows of up to `num_states` states before they are visited (`eager`).

        Returns:
            Whether these are all: each mask from now on is a copy.
        """
        whole = explore(
            self._store,
            self._rows,
            self.start,
            num_states=num_states,
            max_terms=self._full // 2,
        )
        if not whole:
            with self._lock:
                self._store.make_room()
        return whole

    def make_room(self) -> None:
        """Count what was made so far as needed: it is full again at twice that."""
        with self._lock:
            self._full = max(self._full, 2 * self._store.num_terms)
            self.is_full = False

    # States

    def is_accepting(self, state: StateId) -> bool:
        """Whether the text so far is a sentence."""
        return self._store.nullable(state)

    def is_empty(self, state: StateId) -> bool:
        """Whether nothing at all can follow: no sentence, not even the empty one."""
        with self._lock:
            return self._store.is_empty(state)

    def after_token(self, state: StateId, token_id: int) -> StateId:
        """The state after a token, or DEAD.

        A token goes on by its bytes, if it is text, and as a whole, where the grammar names it.

        Args:
            state: A live state.
            token_id: 0 <= token_id < vocab.vocab_size.

        Cost: a dictionary look-up if it was asked before, else a few steps of the automaton.
        """
        known = self.known_steps.get(state)
        found = None if known is None else known.get(token_id)
        return self.make_step(state, token_id) if found is None else found

    def make_step(self, state: StateId, token_id: int) -> StateId:
        """The same where it was not asked before."""
        first = last = 0
        if token_id < self._num_tokens:
            first, last = self._offsets[token_id], self._offsets[token_id + 1]
        store = self._store
        with self._lock:
            if first < last:
                found = store.after(state, self._bytes, first, last)
            else:
                found = DEAD
                store.make_first(state)
            if store.names_tokens:
                found = store.union(found, self._rows.named.step(state, token_id))
            if store.counts_tokens:
                found = self._ticks.after(found)
            self._steps.put_one(state, token_id, found)
            if store.room > self._full:  # else it is not full, and there is no need to ask
                self.is_full = store.num_terms > self._full
        return found

    def after_bytes(self, state: StateId, data: bytes) -> StateId:
        """The state after some bytes, or DEAD. No token ends in them."""
        with self._lock:
            after = self._store.advance(state, data)
            self.is_full = self._store.num_terms > self._full
            return after

    def at_token_end(self, state: StateId) -> StateId:
        """The state after some bytes if a token ends there: another one where tokens are counted.

        A live state stays live.
        """
        if not self._store.counts_tokens:
            return state
        with self._lock:
            return self._ticks.after(state)

    def next_bytes(self, state: StateId) -> bytes:
        """Which bytes may come next, ascending."""
        with self._lock:
            return self._store.next_bytes(state)

    @property
    def names_tokens(self) -> bool:
        """Whether a term made so far names a token as a whole."""
        return self._store.names_tokens

    def takes_tokens(self, state: StateId) -> bool:
        """Whether a token may come next as a whole, and not by its bytes."""
        with self._lock:
            self._store.make_first(state)
            return self._store.names_tokens and self._rows.named.may_step(state)

    # Masks

    def mask_row(self, state: StateId) -> MaskRow:
        """Which tokens may follow a live state, end tokens included.

        Raises:
            LimitExceededError: The grammar grew past its limits.

        Cost: a dictionary look-up for a visited state, else one walk of the vocabulary.
        """
        row = self._rows.get(state)
        if row is None:
            with self._lock:
                row = self._rows.make(state)
                self.is_full = self._store.num_terms > self._full
        return row

    def walk_mask(self, state: StateId) -> npt.NDArray[np.int32]:
        """The row of a live state by the plain walk, past every cache: for tests and debugging."""
        with self._lock:
            return self._rows.walk(state)

    @property
    def num_terms(self) -> int:
        """Terms made so far: states and their parts."""
        return self._store.num_terms

    @property
    def nbytes(self) -> int:
        """Memory held by terms, rows, steps and bodies of rules, in bytes: see `compile`."""
        return self._store.nbytes + self._rows.nbytes
