"""Tokens that a grammar names as steps of their own: special tokens, mostly."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import DEAD, OTHER_SPECIAL, OTHER_TOKEN, StateId, TermStore
from constrain.kernels.derive.layout import SPECIAL
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
        """The state after a token as a whole; DEAD if the grammar does not take it so here.

        Args:
            state: A state of which the terms that come first are made (`TermStore.make_first`).
            token_id: The token.
        """
        named, code = self._store.tokens_named, self._store.token_code(token_id)
        if code not in named:
            code = OTHER_SPECIAL if token_id in self._specials else OTHER_TOKEN
            if code not in named or token_id not in self._others[code]:
                return DEAD
        return self._store.after_token(state, code)

    def may_step(self, state: StateId) -> bool:
        """Whether the grammar takes some token as a whole here, in a state as `step` wants it."""
        return any(self._store.after_token(state, code) for code in self._store.tokens_named)

    def add(self, state: StateId, words: Int32Array) -> None:
        """Set the bits of the tokens that a live state takes as a whole.

        Cost: a step for each token that the grammar names.
        """
        mask = words.view(np.uint32)
        self._store.make_first(state)
        named = self._store.tokens_named
        for code in named:
            if self._store.after_token(state, code) == DEAD:
                continue
            if code in self._others:
                ids = [i for i in self._others[code] if self._store.token_code(i) not in named]
            else:
                ids = [code - SPECIAL if code >= SPECIAL else code]
            for i in ids:
                mask[i >> 5] |= np.uint32(1) << np.uint32(i & 31)

    @cached_property
    def _specials(self) -> frozenset[int]:
        return frozenset(self._vocab.special_tokens.values())

    @cached_property
    def _others(self) -> dict[int, frozenset[int]]:
        """The tokens there are, but for end tokens: those that are not special, and those that are.

        By the code that stands for them where a grammar names all but some.
        """
        texts = {i for i, text in enumerate(self._vocab.token_bytes) if text}
        ends = set(self._vocab.eos_token_ids)
        return {
            OTHER_TOKEN: frozenset(texts - self._specials - ends),
            OTHER_SPECIAL: self._specials - ends,
        }
