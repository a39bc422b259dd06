"""Tokens that a walk does not tell: a text captured ends inside them.

A walk of the vocabulary follows rows, and rows do not know the texts captured (`kernels/walk`). The
tokens that reach past the end of such a text, `","` in a list of different strings, are stepped
through byte by byte, those with a common beginning together.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import DEAD, StateId, TermStore
from constrain.vocab import Vocabulary

__all__ = ["UnsureTokens"]

Int32Array = npt.NDArray[np.int32]


class UnsureTokens:
    """Some tokens in the order of their bytes, to be settled for one state after another.

    Args:
        vocab: The vocabulary.
        token_ids: Which; repeats are dropped.
    """

    def __init__(self, vocab: Vocabulary, token_ids: Iterable[int]) -> None:
        texts = {}
        for token in token_ids:
            texts[int(token)] = vocab.bytes_of(int(token))
        self._ids = sorted(texts, key=texts.__getitem__)
        self._texts = [texts[token] for token in self._ids]
        self._shared = [
            _common_prefix(a, b) for a, b in zip(self._texts, [*self._texts[1:], b""], strict=False)
        ]

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def nbytes(self) -> int:
        """Bytes of the tokens, about."""
        return 120 * len(self._ids)

    def settle(self, store: TermStore, state: StateId, words: Int32Array) -> None:
        """Set the bits of those that may follow a live state. Called under the store's lock.

        Cost: a step for each byte in which a token differs from the one before it.

        Raises:
            LimitExceededError: The grammar grew past its limits.
        """
        mask = words.view(np.uint32)
        path: list[tuple[int, StateId]] = [(0, state)]
        for token, text, shared in zip(self._ids, self._texts, self._shared, strict=True):
            at, now = path[-1]
            if at < shared and now != DEAD:
                now = store.advance(now, text[at:shared])
                at = shared
                path.append((at, now))
            if now != DEAD and store.advance(now, text[at:]) != DEAD:
                mask[token >> 5] |= np.uint32(1) << np.uint32(token & 31)
            while path[-1][0] > shared:
                path.pop()


def _common_prefix(a: bytes, b: bytes) -> int:
    """How many bytes two texts begin with alike: halved again and again, as texts may be long."""
    count = min(len(a), len(b))
    if a[:count] == b[:count]:
        return count
    alike = 0
    while count - alike > 1:
        middle = (alike + count) // 2
        if a[:middle] == b[:middle]:
            alike = middle
        else:
            count = middle
    return alike
