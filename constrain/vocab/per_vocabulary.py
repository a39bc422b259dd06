"""What depends on a vocabulary alone: made once for each, and gone with it."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import TypeVar

from constrain.vocab.vocabulary import Vocabulary

__all__ = ["per_vocabulary"]

_T = TypeVar("_T")


def per_vocabulary(make: Callable[[Vocabulary], _T]) -> Callable[[Vocabulary], _T]:
    """Decorate a function of a vocabulary, so that it gives one object as long as that lives.

    Threads that ask at once wait for the first of them. What is made must not hold the vocabulary,
    or neither is ever freed; and to make it must not ask for it again, which would wait for ever.
    Vocabularies count by identity, not by their tokens. An exception is passed on, and the next
    call tries again.

    Cost: of a call after the first, a lock and a look-up.
    """
    made: weakref.WeakKeyDictionary[Vocabulary, _T] = weakref.WeakKeyDictionary()
    lock = threading.Lock()

    @functools.wraps(make)
    def made_once(vocab: Vocabulary) -> _T:
        with lock:
            if vocab not in made:
                made[vocab] = make(vocab)
            return made[vocab]

    return made_once
