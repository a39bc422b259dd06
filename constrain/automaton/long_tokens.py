"""The long tokens of a vocabulary: which are longer than some bytes, and a trie of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from constrain.vocab import Trie, Vocabulary, build_trie, per_vocabulary

__all__ = ["LENGTHS", "long_tokens", "longer_than"]

Int32Array = npt.NDArray[np.int32]

LENGTHS = (16, 24, 32, 48, 64, 96)
"""There is a trie of the tokens longer than one of these. Of Qwen 3's 151,669, 1,918 are longer
than 16 bytes, 240 than 32, and 121 than 64."""


def longer_than(vocab: Vocabulary, length: int) -> Int32Array:
    """The words of a row of the tokens of more than `length` bytes, int32 [ceil(V/32)], read-only.

    Cost: the first time for a vocabulary and a length, 0.1 ms; as long as the vocabulary lives, 19
    KB for 150,000 tokens and each length that was asked for, up to that of the longest token.
    """
    length = min(length, vocab.trie.max_depth)  # bounds of grammars have no end, and these have
    known = _rows(vocab)
    found = known.get(length)
    if found is None:
        is_longer = np.zeros((vocab.vocab_size + 31) // 32 * 32, np.bool_)
        is_longer[: len(vocab.text_lengths)] = vocab.text_lengths > length
        found = np.packbits(is_longer, bitorder="little").view(np.int32)
        found.flags.writeable = False
        known[length] = found
    return found


def long_tokens(vocab: Vocabulary, length: int) -> tuple[Trie, int]:
    """A trie of all tokens longer than a length of `LENGTHS`, and that length.

    Args:
        vocab: The vocabulary.
        length: The length is this or the next shorter one; at least the first of `LENGTHS`.

    Cost: the first time for a vocabulary and a length, up to 5 ms.
    """
    past = max(known for known in LENGTHS if known <= length)
    known = _tries(vocab)
    found = known.get(past)
    if found is None:
        ids = np.flatnonzero(vocab.text_lengths > past).tolist()
        found = build_trie([vocab.bytes_of(token) for token in ids]).retargeted(ids)
        known[past] = found
    return found, past


@per_vocabulary
def _rows(vocab: Vocabulary) -> dict[int, Int32Array]:
    """Rows by length."""
    return {}


@per_vocabulary
def _tries(vocab: Vocabulary) -> dict[int, Trie]:
    """Tries by length."""
    return {}
