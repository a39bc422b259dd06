"""Mask rows by state: made once, then remembered, and equal rows kept once.

States are canonical (equal terms have one id), so a second visit to a state is a look-up. Many
states allow the same tokens; their rows are one array. Rows are bounded by bytes: past the bound
the oldest go, and are made again if their state comes back.

A new row is one walk of the vocabulary, or, where the state begins with a head that other states
and other grammars share, a copy of the head's row and a walk of its remainders (`heads`). Both give
the same row; `walk` is the plain one, and tests compare them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import StateId, TermStore
from constrain.algebra.structure import Structure
from constrain.automaton.headwalk import HeadWalk
from constrain.automaton.slices import PLAIN_TEXT, slice_of
from constrain.kernels.derive import layout as lay
from constrain.kernels.walk import walk
from constrain.vocab import Trie, Vocabulary

__all__ = ["MaskRow", "MaskRows"]

Int32Array = npt.NDArray[np.int32]
_UNSEEN = np.zeros(0, np.int32)


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

    def token_ids(self) -> list[int]:
        """The ids that are allowed, ascending."""
        bits = np.unpackbits(self.words.view(np.uint8), bitorder="little")
        ids: list[int] = np.flatnonzero(bits).tolist()
        return ids


class MaskRows:
    """The rows of one compiled grammar. Called under the store's lock.

    Args:
        store: The grammar's terms.
        vocab: The vocabulary.
        max_bytes: Bound on the bytes of all rows kept; at least one is kept.
    """

    def __init__(self, store: TermStore, vocab: Vocabulary, max_bytes: int) -> None:
        self._store = store
        self._structure = Structure(store)
        self._vocab = vocab
        self._trie = vocab.trie
        self._slice = slice_of(vocab)
        self._slice_start = store.intern(PLAIN_TEXT)
        self._heads = HeadWalk(store, self._structure, vocab, self._states_of_nodes)
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
        """The row of a live state, made now if it is not remembered.

        Raises:
            LimitExceededError: The grammar grew past its limits.
        """
        row = self._by_state.get(state)
        if row is None:
            words = np.zeros(self._num_words, np.int32)
            self._add(state, words)
            self._add_eos(state, words)
            row = self._remember(state, words)
        return row

    def walk(self, state: StateId) -> Int32Array:
        """A fresh row of a live state by the plain walk: nothing remembered is read or written."""
        words = np.zeros(self._num_words, np.int32)
        self._walk(state, self._trie, words)
        self._add_eos(state, words)
        return words

    # Making a row

    def _add(self, state: StateId, words: Int32Array) -> None:
        """Set the bits of the tokens that may follow a live state."""
        members = self._structure.members(state)
        splits = [self._split(m) for m in members] if self._is_union(state) else []
        if not any(splits):
            self._add_one(state, self._split(state) if not splits else None, words)
            return
        for member, split in zip(members, splits, strict=True):
            if not self._store.is_empty(member):
                self._add_one(member, split, words)

    def _is_union(self, state: StateId) -> bool:
        return self._structure.is_kind(state, lay.ALT)

    def _split(self, state: StateId) -> tuple[list[StateId], StateId] | None:
        """A head worth sharing, and what follows; None if it begins with one byte: a short walk.

        It ends before the first rule, and with the first single byte: where a string is closed.
        """
        parts: list[StateId] = []
        rest = state
        for part, after in self._structure.parts(state):
            is_byte = self._structure.is_kind(part, lay.CLASS)
            if self._structure.holds_rule(part) or (is_byte and not parts):
                break
            parts.append(part)
            rest = after
            if is_byte:
                break
        return (parts, rest) if parts else None

    def _add_one(
        self, state: StateId, split: tuple[list[StateId], StateId] | None, words: Int32Array
    ) -> None:
        if split is None:
            self._walk_all(state, words)
            return
        parts, after = split
        head = self._heads.row(parts)
        if head is None:
            self._walk_all(state, words)
            self._heads.note_cost(parts, int(self._store.arena[lay.NUM_VISITED]))
            return
        words |= head.words
        if after != lay.EPS_ID:
            for remainders in head.remainders:
                self._walk(after, remainders, words)
            if all(self._store.nullable(part) for part in parts):
                self._walk_all(after, words)

    def _walk_all(self, state: StateId, words: Int32Array) -> None:
        """Set the bits of the tokens that may follow; the slice at once, if it is covered."""
        if self._walk(state, self._trie, words, slice_start=self._slice_start):
            words |= self._slice.words
            self._walk(state, self._slice.others, words)

    def _states_of_nodes(self, state: StateId) -> Int32Array:
        """The live state of each node of the vocabulary's trie, 0 where it is dead."""
        seen = np.zeros(self._trie.num_nodes, np.int32)
        self._walk(state, self._trie, np.zeros(self._num_words, np.int32), seen)
        return seen

    def _walk(
        self,
        state: StateId,
        trie: Trie,
        words: Int32Array,
        seen: Int32Array = _UNSEEN,
        slice_start: int = 0,
    ) -> bool:
        """Set the bits of the tokens of a trie that may follow; True if the slice is covered.

        Then nothing was walked.
        """
        mask = words.view(np.uint32)
        store = self._store
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
                    seen,
                    slice_start,
                )
            )

        store.run(step)
        return at < 0

    def _add_eos(self, state: StateId, words: Int32Array) -> None:
        if self._store.nullable(state):
            words |= self._eos_bits

    # Remembering rows

    def _remember(self, state: StateId, words: Int32Array) -> MaskRow:
        content = hashlib.blake2b(words.data, digest_size=16).digest()
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
