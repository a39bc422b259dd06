"""The slice of a vocabulary: the tokens that may stand in any run of plain text.

Inside a string nearly every token is allowed, and all for one reason: it has no quote, backslash or
control character. `kernels/walk/cover.py` sees whether a state lets all such text through; then the
row of the slice is copied, and only the trie of the other tokens is walked, a thirtieth of the
vocabulary.
"""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import Term, star
from constrain.algebra.utf8 import UTF8
from constrain.vocab import Trie, Vocabulary, build_trie

__all__ = ["PLAIN_TEXT", "Slice", "slice_of"]

PLAIN_TEXT: Term = star(
    UTF8.spell(CodepointSet.ANY - CodepointSet.from_ranges([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)]))
)
"""Text that stands for itself in a JSON string."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The tokens that begin a text of `PLAIN_TEXT`, and the others.

    Attributes:
        words: int32 [ceil(V/32)], read-only: the tokens that do.
        others: The trie of the tokens that don't; `tokens` are token ids.
    """

    words: npt.NDArray[np.int32]
    others: Trie


_BY_VOCABULARY: weakref.WeakKeyDictionary[Vocabulary, Slice] = weakref.WeakKeyDictionary()
_LOCK = threading.Lock()


def slice_of(vocab: Vocabulary) -> Slice:
    """The slice of a vocabulary, made once and gone with it.

    Cost: the first time, 0.1 s for 150,000 tokens.
    """
    with _LOCK:
        found = _BY_VOCABULARY.get(vocab)
        if found is None:
            found = _BY_VOCABULARY[vocab] = _make(vocab)
        return found


def _make(vocab: Vocabulary) -> Slice:
    words = np.zeros((vocab.vocab_size + 31) // 32, np.uint32)
    texts: list[bytes | None] = []
    ids: list[int] = []
    for i, text in enumerate(vocab.token_bytes):
        if text and _begins_plain_text(text):
            words[i >> 5] |= np.uint32(1) << np.uint32(i & 31)
        elif text:
            texts.append(text)
            ids.append(i)
    words.flags.writeable = False
    return Slice(words.view(np.int32), build_trie(texts).retargeted(ids))


_NOT_PLAIN = bytes(range(0x20)) + b'"\\'


def _begins_plain_text(text: bytes) -> bool:
    if len(text.translate(None, _NOT_PLAIN)) != len(text):
        return False
    try:
        text.decode()
    except UnicodeDecodeError as error:
        # A token may end inside a code point, but not begin there.
        return error.end == len(text) and error.reason == "unexpected end of data"
    return True
