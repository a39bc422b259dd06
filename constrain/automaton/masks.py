"""Mask rows by state: walked once, then remembered, and equal rows kept once.

States are canonical (equal terms have one id), so a second visit to a state is a look-up. Many
states allow the same tokens; their rows are one array. Rows are bounded by bytes: past the bound
the oldest go, and are walked again if their state comes back.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import StateId, TermStore
from constrain.kernels.walk import walk
from constrain.vocab import Vocabulary

__all__ = ["MaskRow", "MaskRows"]

Int32Array = npt.NDArray[np.int32]


class MaskRow:
    """Which tokens may follow a state.

    Attributes:
        words: int32 [ceil(vocab_size / 32)], 1 = allowed, read-only.
        restricts: Some id below vocab_size is not allowed.
        empty: No id is allowed.
    """

    __slots__ = ("empty", "restricts", "words")

    def __init__(self, words: Int32Array, vocab_size: int) -> None:
        words.flags.writeable = False
        self.words = words
        allowed = int(np.bitwise_count(words.view(np.uint32)).sum())
        self.empty = allowed == 0
        self.restricts = allowed < vocab_size


class MaskRows:
    """The rows of one compiled grammar. Called under the store's lock.

    Args:
        store: The grammar's terms.
        vocab: The vocabulary.
        max_bytes: Bound on the bytes of all rows kept; at least one is kept.
    """

    def __init__(self, store: TermStore, vocab: Vocabulary, max_bytes: int) -> None:
        self._store = store
        self._vocab = vocab
        self._trie = vocab.trie
        self._num_words = (vocab.vocab_size + 31) // 32
        self._max_rows = max(1, max_bytes // (4 * self._num_words))
        self._stack = np.zeros(2 * (self._trie.max_depth + 2), np.int32)
        self._by_state: dict[StateId, MaskRow] = {}
        self._by_content: dict[bytes, MaskRow] = {}
        self._states_of: dict[bytes, list[StateId]] = {}
        self._eos_bits = _bits(vocab.eos_token_ids, self._num_words)

    def get(self, state: StateId) -> MaskRow | None:
        """The row of a state if it is remembered; needs no lock."""
        return self._by_state.get(state)

    def make(self, state: StateId) -> MaskRow:
        """The row of a live state, walked now if it is not remembered.

        Raises:
            LimitExceededError: The grammar grew past its limits.
        """
        row = self._by_state.get(state)
        if row is None:
            row = self._remember(state, self.walk(state))
        return row

    def walk(self, state: StateId) -> Int32Array:
        """A fresh row of a live state, by the plain walk: nothing remembered is read or written."""
        words = np.zeros(self._num_words, np.int32)
        mask = words.view(np.uint32)
        trie, store = self._trie, self._store
        at = 0

        def step() -> None:
            nonlocal at
            at = int(
                walk(
                    store.arena,
                    state,
                    trie.byte,
                    trie.depth,
                    trie.end,
                    trie.token_start,
                    trie.tokens,
                    mask,
                    self._stack,
                    at,
                )
            )

        store.run(step)
        if store.nullable(state):
            words |= self._eos_bits
        return words

    def _remember(self, state: StateId, words: Int32Array) -> MaskRow:
        content = words.tobytes()
        row = self._by_content.get(content)
        if row is None:
            while len(self._by_content) >= self._max_rows:
                self._forget_oldest()
            row = self._by_content[content] = MaskRow(words, self._vocab.vocab_size)
            self._states_of[content] = []
        self._states_of[content].append(state)
        self._by_state[state] = row
        return row

    def _forget_oldest(self) -> None:
        content = next(iter(self._by_content))
        del self._by_content[content]
        for state in self._states_of.pop(content):
            del self._by_state[state]

    @property
    def nbytes(self) -> int:
        """Bytes of the rows kept."""
        return 4 * self._num_words * len(self._by_content)


def _bits(ids: Iterable[int], num_words: int) -> Int32Array:
    words = np.zeros(num_words, np.uint32)
    for i in ids:
        words[i >> 5] |= np.uint32(1) << np.uint32(i & 31)
    return words.view(np.int32)
