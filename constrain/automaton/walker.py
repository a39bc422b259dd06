"""Walks of the vocabulary for the states of one grammar: the kernel `walk`, called and served.

What a walk leaves beside the bits that it sets is read from here: which tokens it has listed, which
it could not decide, what it asks for.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import StateId, TermStore
from constrain.automaton.rows import Summary
from constrain.automaton.scratch import give_back, take
from constrain.automaton.slices import PLAIN_TEXT, Forest, forest_of
from constrain.kernels.derive import layout as lay
from constrain.kernels.walk import modes, walk
from constrain.vocab import Trie, Vocabulary

__all__ = ["Walker"]

Int32Array = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint32]

MOST_LISTED = 64
"""Tokens of a row that a walk lists: so many, or fewer. The states after them are kept, too."""
_NOTHING = np.zeros(0, np.uint32)
_NONE = np.zeros(0, np.int32)


class Walker:
    """Walks for one grammar, one at a time. Called under the store's lock.

    Args:
        store: The grammar's terms.
        vocab: The vocabulary.

    Attributes:
        undecided: Tokens of which the last walk could not tell whether they may follow.
    """

    def __init__(self, store: TermStore, vocab: Vocabulary) -> None:
        self._store = store
        self._vocab = vocab
        self._forest = forest_of(vocab)
        self._slice_start = store.intern(PLAIN_TEXT)
        self._num_levels = 2 * (self._forest.max_depth + 2)
        self._num_nodes = len(self._forest.children) + 2
        self._listed = np.zeros(2 * MOST_LISTED, np.int32)
        self.undecided = _NONE

    def walk(
        self,
        state: StateId,
        mask: Words,
        mode: int,
        trie: Trie | Forest | None = None,
        nodes: Int32Array | None = None,
    ) -> int:
        """Set the bits of the tokens that may follow a live state; what the kernel returns.

        Args:
            state: The state.
            mask: uint32 [ceil(V/32)]. Mutated, see the kernel.
            mode: Of the kernel.
            trie: Of other tokens than the vocabulary's, in mode PLAIN.
            nodes: int32 [num_nodes], zero, in mode PLAIN: the live state of each node goes here; in
                mode AFTER the nodes where the walk comes to the state.

        Raises:
            LimitExceededError: The grammar grew past its limits.
        """
        store, forest = self._store, self._forest
        num_nodes = self._num_nodes
        if trie is None:
            trie = forest
        else:
            num_nodes = max(num_nodes, len(trie.children) + 2)
        scratch = take(self._num_levels, num_nodes)
        seen = scratch.exits
        if mode == modes.PLAIN:
            seen = _NONE if nodes is None else nodes
        elif nodes is not None:
            seen = np.full(2 * len(nodes), state, np.int32)
            seen[0::2] = nodes
        begin = 0
        while True:
            at: int = walk(
                store.arena,
                state,
                trie.children,
                trie.starts,
                trie.tokens,
                forest.plain,
                forest.preorder,
                mask,
                scratch.stack,
                begin,
                seen,
                self._slice_start,
                scratch.unsure,
                self._listed,
                mode,
            )
            if not store.serve():
                break
            begin = at
        num_unsure = store.arena.item(lay.NUM_UNSURE)
        unsure = scratch.unsure[:num_unsure].tolist() if num_unsure else None
        self.undecided = _NONE if unsure is None else trie.tokens_below(unsure)
        give_back(scratch)
        return at

    def states_of_nodes(self, state: StateId) -> Int32Array:
        """The live state of each node of the vocabulary's trie, int32 [num_nodes], 0 = dead."""
        seen = np.zeros(self._vocab.trie.num_nodes, np.int32)
        mask = np.zeros((self._vocab.vocab_size + 31) // 32, np.uint32)
        self.walk(state, mask, modes.PLAIN, nodes=seen)
        return seen

    def states_in(self, state: StateId, trie: Trie) -> Int32Array:
        """The same of another trie, whose tokens are nodes of the vocabulary's."""
        seen = np.zeros(trie.num_nodes, np.int32)
        mask = np.zeros((self._vocab.trie.num_nodes + 31) // 32, np.uint32)
        self.walk(state, mask, modes.PLAIN, trie, seen)
        return seen

    def lets_text_through(self, state: StateId) -> bool:
        """Whether any plain text may follow a state."""
        self.walk(state, _NOTHING, modes.LOOK)
        return bool(self._store.arena.item(lay.NODE * state + lay.FLAGS) & lay.COVERS)

    # What the last walk has left

    @property
    def asked_for(self) -> StateId:
        """The state whose row it asks for."""
        return StateId(self._store.arena.item(lay.BASE))

    def ask_for(self, state: StateId) -> None:
        """Say whose row the mask of the next walk is."""
        self._store.arena[lay.BASE] = state

    @property
    def bound(self) -> int:
        """How many repeats its state may begin with, where it has said BOUNDED."""
        return self._store.arena.item(lay.BOUND)

    @property
    def num_visited(self) -> int:
        """Nodes that it has looked at."""
        return self._store.arena.item(lay.NUM_VISITED)

    @property
    def has_decided_all(self) -> bool:
        """Whether it could tell of every token whether it may follow."""
        return self._store.arena.item(lay.NUM_UNSURE) == 0

    @property
    def listed(self) -> tuple[Int32Array, Int32Array] | None:
        """The tokens that it has listed, and the states after them; but for end tokens, the last.

        None if it has set their bits.
        """
        num_states = self._store.arena.item(lay.NUM_LISTED)
        if num_states < 0:
            return None
        num_allowed = self._store.arena.item(lay.NUM_ALLOWED)
        return self._listed[:num_allowed], self._listed[MOST_LISTED : MOST_LISTED + num_states]

    @property
    def summary(self) -> Summary:
        """Of the row that it has made whole, or the draft of which it has decided all tokens."""
        summary: Summary = tuple(self._store.arena[lay.SUMMARY : lay.SUMMARY + 3].tolist())
        return summary

    def summary_of(self, words: Int32Array) -> Summary:
        """Of any row."""
        self.walk(StateId(lay.EPS_ID), words.view(np.uint32), modes.SUM)
        return self.summary

    @property
    def nbytes(self) -> int:
        """Bytes of its own."""
        return self._listed.nbytes
