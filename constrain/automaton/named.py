"""Tokens that a grammar names as steps of their own: special tokens, mostly."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import DEAD, OTHER_SPECIAL, OTHER_TOKEN, StateId, TermStore
from constrain.automaton.heads import pack_bits
from constrain.kernels.derive.layout import SPECIAL
from constrain.vocab import Vocabulary, per_vocabulary

__all__ = ["NamedTokens", "others_of"]

Int32Array = npt.NDArray[np.int32]
Others = Mapping[int, npt.NDArray[np.uint32]]

_BITS = np.uint32(1) << np.arange(32, dtype=np.uint32)


class NamedTokens:
    """Steps by whole tokens. Called under the store's lock.

    Args:
        store: The grammar's terms.
        vocab: The vocabulary.
    """

    def __init__(self, store: TermStore, vocab: Vocabulary) -> None:
        self._store = store
        self._specials = frozenset(vocab.special_tokens.values())
        self._others = others_of(vocab)

    def step(self, state: StateId, token_id: int) -> StateId:
        """The state after a token as a whole; DEAD if the grammar does not take it so here.

        Args:
            state: A state of which the terms that come first are made (`TermStore.make_first`).
            token_id: The token.
        """
        named, code = self._store.tokens_named, self._store.token_code(token_id)
        if code not in named:
            code = OTHER_SPECIAL if token_id in self._specials else OTHER_TOKEN
            if code not in named or not self._others[code][token_id >> 5] >> (token_id & 31) & 1:
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
        listed = [
            (code, code - SPECIAL if code >= SPECIAL else code)
            for code in named
            if code not in self._others
        ]
        for code, i in listed:
            if self._store.after_token(state, code) != DEAD:
                mask[i >> 5] |= _BITS[i & 31]
        for code, others in self._others.items():
            if code in named and self._store.after_token(state, code) != DEAD:
                taken = others.copy()
                for _, i in listed:
                    taken[i >> 5] &= ~_BITS[i & 31]
                mask |= taken


@per_vocabulary
def others_of(vocab: Vocabulary) -> Others:
    """The tokens there are, but for end tokens: those that are not special, and those that are.

    By the code that stands for them where a grammar names all but some; each a bitmask,
    [ceil(vocab_size / 32)], read-only. Made once for a vocabulary, and gone with it.

    Cost: the first time, 0.3 ms for 150,000 tokens.
    """
    texts = vocab.text_lengths > 0
    special = np.zeros(vocab.vocab_size, np.bool_)
    special[list(vocab.special_tokens.values())] = True
    texts[special] = False
    for some in (texts, special):
        some[list(vocab.eos_token_ids)] = False
    rows = {OTHER_TOKEN: pack_bits(texts), OTHER_SPECIAL: pack_bits(special)}
    for words in rows.values():
        words.flags.writeable = False
    return {code: words.view(np.uint32) for code, words in rows.items()}
