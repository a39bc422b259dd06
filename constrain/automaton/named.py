"""Tokens that a grammar names as steps of their own: special tokens, mostly."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import DEAD, OTHER_TOKEN, StateId, TermStore
from constrain.vocab import Vocabulary

__all__ = ["NamedTokens"]

Int32Array = npt.NDArray[np.int32]


class NamedTokens:
    """Steps by whole tokens. Called under the store's lock.

    Args:
        store: The grammar's terms.
        vocab: The vocabulary.
    """

    def __init__(self, store: TermStore, vocab: Vocabulary) -> None:
        self._store = store
        self._vocab = vocab

    def step(self, state: StateId, token_id: int) -> StateId:
        """The state after a token as a whole; DEAD if the grammar does not take it so here."""
        named = self._store.tokens_named
        if token_id not in named:
            if OTHER_TOKEN not in named or token_id not in self._others:
                return DEAD
            token_id = OTHER_TOKEN
        return self._store.after_token(state, token_id)

    def add(self, state: StateId, words: Int32Array) -> None:
        """Set the bits of the tokens that a live state takes as a whole.

        Cost: a step for each token that the grammar names.
        """
        mask = words.view(np.uint32)
        named = self._store.tokens_named
        for token in named:
            if self._store.after_token(state, token) == DEAD:
                continue
            ids = self._others - named if token == OTHER_TOKEN else (token,)
            for i in ids:
                mask[i >> 5] |= np.uint32(1) << np.uint32(i & 31)

    @cached_property
    def _others(self) -> frozenset[int]:
        """Every token that there is, but for end tokens."""
        texts = {i for i, text in enumerate(self._vocab.token_bytes) if text}
        return frozenset(
            (texts | set(self._vocab.special_tokens.values())) - set(self._vocab.eos_token_ids)
        )
