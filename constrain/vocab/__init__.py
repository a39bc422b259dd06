"""The vocabulary: which bytes each token id of a model stands for.

In: a list of byte strings, or a tokenizer of some library. Out: a `Vocabulary`, immutable, with the
logit width, the end ids, the special ids and a fingerprint; and its `Trie`, flat arrays that
kernels walk.

Decided here: what bytes an id contributes to the text that it continues, which ids are never text,
and in which order the tokens are walked. What cannot be told exactly is refused with a
`VocabularyError` that names the part of the tokenizer that stands in the way.
Not decided here: which tokens a grammar allows (`automaton`), and whether a vocabulary can spell
it.

Reading order: `vocabulary.py`, `arguments.py` (what it is given), `texts.py`, `trie.py`,
`kept_trie.py`,
`disk_cache.py`, `per_vocabulary.py`, `renamed.py`, `adapters/` (its docstring defines
the bytes of a token).
"""

from __future__ import annotations

from constrain.vocab.per_vocabulary import per_vocabulary
from constrain.vocab.renamed import vocab_argument
from constrain.vocab.trie import Trie, build_trie
from constrain.vocab.vocabulary import Vocabulary

__all__ = ["Trie", "Vocabulary", "build_trie", "per_vocabulary", "vocab_argument"]
