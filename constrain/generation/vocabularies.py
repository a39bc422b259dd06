"""The vocabulary of a tokenizer, read once per tokenizer.

Reading takes up to seconds, and a program calls `generate` often with the same tokenizer, so the
vocabulary is kept as long as the tokenizer lives and not longer (a weak key). A tokenizer can
change: tokens are added. So the entry is keyed by what can change, too.
"""

from __future__ import annotations

import threading
from typing import Any
from weakref import WeakKeyDictionary

from constrain.errors import ModelError
from constrain.generation.facts import logit_width, unwrapped
from constrain.generation.interfaces import Model, Tokenizer
from constrain.vocab import Vocabulary

__all__ = ["end_token_ids", "vocabulary_of"]

_Key = tuple[int | None, tuple[int, ...], int, tuple[tuple[str, int], ...]]
_known: WeakKeyDictionary[Any, dict[_Key, Vocabulary]] = WeakKeyDictionary()
_lock = threading.Lock()


def vocabulary_of(tokenizer: Tokenizer, model: Model = None) -> Vocabulary:
    """Return the vocabulary of `tokenizer`, as wide as the logits of `model`.

    Args:
        tokenizer: As `Vocabulary.from_transformers` takes it.
        model: Says how wide its logits are and which tokens end a text, besides the tokenizer's
            own. None: the tokenizer alone says it.

    Raises:
        ModelError: It is something else.
        VocabularyError: The bytes of a token cannot be told exactly, or no token ends a text.
    """
    if not hasattr(tokenizer, "eos_token_id"):
        raise ModelError(
            f"{type(tokenizer).__name__} is no tokenizer of transformers\n"
            "hint: pass the model's tokenizer, or vocab=constrain.Vocabulary(...)"
        )
    width = None if model is None else logit_width(model)
    ends = end_token_ids(tokenizer, model)
    added = tuple(sorted(tokenizer.get_added_vocab().items()))
    key = (width, ends, len(tokenizer), added)
    with _lock:
        # Under the lock, so two threads do not read one tokenizer twice.
        try:
            vocabularies = _known.setdefault(tokenizer, {})
        except (
            TypeError
        ):  # a tokenizer that cannot be hashed or weakly referenced is read each time
            vocabularies = {}
        if key not in vocabularies:
            vocabularies[key] = Vocabulary.from_transformers(
                tokenizer, width, eos_token_ids=ends or None
            )
        vocabularies[key].trie  # noqa: B018 - built here, so that compiling a grammar does not wait for it
        return vocabularies[key]


def end_token_ids(tokenizer: Tokenizer, model: Model = None) -> tuple[int, ...]:
    """Return every id that ends a text, the tokenizer's first; chat models often have several."""
    config = getattr(unwrapped(model), "generation_config", None)
    found: list[int] = []
    for given in (tokenizer.eos_token_id, getattr(config, "eos_token_id", None)):
        if given is not None:
            found.extend(given if isinstance(given, (list, tuple)) else [given])
    return tuple(dict.fromkeys(int(token_id) for token_id in found))
