"""Mask rows: one for all grammars of a vocabulary that have an equal one; and by state.

Rows say nothing of a grammar, and many grammars have the same: nothing but `"`, any text of a
string. So a row is looked up among those that any grammar holds, and lasts as long as one does.

    150 schemas of MaskBench over Qwen 3: 5,093 rows of 19 KB, of which 1,843 differ

Three in four rows allow a few dozen tokens at most. Such a row is known by these, and its words are
neither written nor read where it is there already.
"""

from __future__ import annotations

import weakref

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import StateId
from constrain.vocab import Vocabulary, per_vocabulary

__all__ = ["KeptRows", "MaskRow", "SharedRows", "Summary", "shared_rows_of", "words_of"]

Int32Array = npt.NDArray[np.int32]
Summary = tuple[int, int, int]
"""How many ids a row allows, and a hash of its words in two numbers."""

_ROW_BYTES = 600
"""What a row takes beside its words: estimated, as that of a state, with their dictionaries."""
_STATE_BYTES = 150


class MaskRow:
    """Which tokens may follow a state.

    Attributes:
        words: int32 [ceil(vocab_size / 32)], 1 = allowed, read-only.
        num_allowed: How many ids are allowed.
        restricts: Some id below vocab_size is not allowed.
        empty: No id is allowed.
    """

    __slots__ = ("__weakref__", "empty", "num_allowed", "restricts", "words")

    def __init__(self, words: Int32Array, num_allowed: int, vocab_size: int) -> None:
        words.flags.writeable = False
        self.words = words
        self.num_allowed = num_allowed
        self.empty = num_allowed == 0
        self.restricts = num_allowed != vocab_size

    def token_ids(self) -> list[int]:
        """The ids that are allowed, ascending."""
        bits = np.unpackbits(self.words.view(np.uint8), bitorder="little")
        ids: list[int] = np.flatnonzero(bits).tolist()
        return ids


class SharedRows:
    """The rows that grammars over one vocabulary hold. Thread-safe.

    Two threads that ask for a new one at once may get two; that costs memory and nothing else. So
    it is with a row that is once asked for by its tokens, and once by its words.

    Args:
        vocab_size: Ids of the vocabulary.
    """

    def __init__(self, vocab_size: int) -> None:
        self._vocab_size = vocab_size
        self._rows: weakref.WeakValueDictionary[Summary | bytes, MaskRow]
        self._rows = weakref.WeakValueDictionary()

    def row(self, words: Int32Array, summary: Summary) -> MaskRow:
        """The row of these words, which must not be changed any more."""
        row = self._rows.get(summary)
        if row is None or row.words.tobytes() != words.tobytes():
            row = self._rows[summary] = MaskRow(words, summary[0], self._vocab_size)
        return row

    def row_of(self, token_ids: Int32Array) -> MaskRow:
        """The row of a few tokens, each once, always in the same order."""
        key = token_ids.tobytes()
        row = self._rows.get(key)
        if row is None:
            words = words_of(token_ids, (self._vocab_size + 31) // 32)
            row = self._rows[key] = MaskRow(words, len(token_ids), self._vocab_size)
        return row


class KeptRows:
    """The rows of the states of one grammar, bounded: past the bound the oldest go.

    Args:
        max_rows: At least one.

    Attributes:
        by_state: The row of each state that has one.
    """

    def __init__(self, max_rows: int) -> None:
        self._max_rows = max_rows
        self.by_state: dict[StateId, MaskRow] = {}
        self._states_of: dict[MaskRow, list[StateId]] = {}

    def keep(self, state: StateId, row: MaskRow) -> MaskRow:
        """Keep a row, which other states may have too, as that of a state that has none."""
        states = self._states_of.get(row)
        if states is None:
            while len(self._states_of) >= self._max_rows:
                self._forget(next(iter(self._states_of)))
            states = self._states_of[row] = []
        states.append(state)
        self.by_state[state] = row
        return row

    def _forget(self, row: MaskRow) -> None:
        for state in self._states_of.pop(row):
            del self.by_state[state]

    @property
    def nbytes(self) -> int:
        """Bytes of rows, which other grammars may have too, and of what leads to them, about."""
        words = next((row.words.nbytes for row in list(self._states_of)[:1]), 0)
        return len(self._states_of) * (words + _ROW_BYTES) + _STATE_BYTES * len(self.by_state)


def words_of(token_ids: Int32Array, num_words: int) -> Int32Array:
    """int32 [num_words]: the bits of some tokens."""
    packed = bytearray(4 * num_words)
    for token in token_ids.tolist():  # they are few: sooner done than NumPy has begun
        packed[token >> 3] |= 1 << (token & 7)
    return np.frombuffer(packed, np.int32)


@per_vocabulary
def shared_rows_of(vocab: Vocabulary) -> SharedRows:
    """The rows that grammars over a vocabulary share."""
    return SharedRows(vocab.vocab_size)
