"""A mask row in the making: what walks of the vocabulary decide of it, and what they leave open.

A walk that comes to a captured text cannot decide tokens that reach past its end. Those are settled
later, for each state by itself (`settle`); the rest of the draft is the same for all states that
differ in captured texts only, so drafts are remembered. Many of them differ from another one in a
few words and are kept as these.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from constrain.automaton.rows import MaskRow, Summary
from constrain.automaton.settle import UnsureTokens

__all__ = ["DRAFT_BYTES", "Draft"]

Int32Array = npt.NDArray[np.int32]

DRAFT_BYTES = 700
"""What a draft takes beside its words: estimated, with its dictionary."""
MIN_SHARE_EQUAL = 8
"""A draft that differs from its base in at most one of so many words is kept as the difference."""

_NOWHERE = np.zeros(0, np.int32), np.zeros(0, np.int32)


@dataclass(slots=True)
class Draft:
    """What walks decide of a row.

    Attributes:
        words: int32 [ceil(V/32)]: the tokens that may follow, end tokens not included, but for the
            words of `patch`.
        undecided: Tokens of which walks could not tell whether they may follow; some of them may
            be in `words` all the same, by another walk.
        to_settle: Those of them that are not in `words`, once they were asked for.
        patch: Where the row differs from `words`, and the words there, if `words` belongs to
            another draft or row.
        base: The words of the draft that this one was made from.
        summary: Of the words, if it is known.
    """

    words: Int32Array
    undecided: list[Int32Array] = field(default_factory=list)
    to_settle: UnsureTokens | None = None
    patch: tuple[Int32Array, Int32Array] | None = None
    base: Int32Array | None = None
    summary: Summary | None = None

    def copy_words(self) -> Int32Array:
        """The words as an array of its own, patched."""
        words = self.words.copy()
        if self.patch is not None:
            at, those = self.patch
            words[at] = those
        return words

    def compress(self) -> None:
        """Keep the difference from the base only, if that is small; nobody changes the base."""
        base, self.base = self.base, None
        if base is None or self.patch is not None:
            return
        at = np.flatnonzero(self.words != base).astype(np.int32)
        if MIN_SHARE_EQUAL * len(at) <= len(base):
            self.words, self.patch = base, (at, self.words[at])

    def share(self, row: MaskRow) -> None:
        """Use the array of a row that has the same words."""
        self.words, self.patch, self.base = row.words, _NOWHERE, None

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that belong to this draft alone."""
        own = [self.words] if self.patch is None else self.patch
        return sum(array.nbytes for array in (*own, *self.undecided))
