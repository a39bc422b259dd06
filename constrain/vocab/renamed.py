"""The older name of an argument: `vocabulary` is called `vocab`, as everywhere else."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from constrain.vocab.vocabulary import Vocabulary

__all__ = ["vocab_argument"]


def vocab_argument(
    function: str, vocab: Vocabulary | None, vocabulary: Vocabulary | None
) -> Vocabulary | None:
    """Return what was given as `vocab`, or as `vocabulary` to the function that calls this.

    Args:
        function: Its name.
        vocab: As given.
        vocabulary: As given by the older name.

    Raises:
        TypeError: Both were given.
    """
    if vocabulary is None:
        return vocab
    if vocab is not None:
        raise TypeError(f"{function} got both vocab and vocabulary, its older name: give vocab")
    warnings.warn(
        f"{function}(vocabulary=...) is deprecated: the argument is called vocab",
        DeprecationWarning,
        stacklevel=3,
    )
    return vocabulary
