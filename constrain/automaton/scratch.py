"""Arrays that a walk of the vocabulary writes to on its way.

One set for each walk that runs at a time, whatever the grammar: as long as the vocabulary's trie,
they would be the larger part of a small grammar. Nothing in them outlasts a walk.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from constrain.kernels.walk import FRAME, LEVEL

__all__ = ["Scratch", "give_back", "take"]

Int32Array = npt.NDArray[np.int32]

MAX_EXITS: Final = 16_384
"""Places of the vocabulary's trie where a run of bytes may be left. More are walked one by one."""
MAX_KEPT: Final = 8
"""Sets kept for later walks, 1.5 MB each for 150,000 tokens, of which few pages are ever used."""


class Scratch:
    """What the kernel `walk` asks for; the contents are whatever was left there.

    Attributes:
        stack: int32 [(FRAME + LEVEL) * levels].
        exits: int32 [2 * MAX_EXITS].
        unsure: int32 [num_nodes].
    """

    __slots__ = ("exits", "stack", "unsure")

    def __init__(self, levels: int, num_nodes: int) -> None:
        self.stack: Int32Array = np.empty((FRAME + LEVEL) * levels, np.int32)
        self.exits: Int32Array = np.empty(2 * MAX_EXITS, np.int32)
        self.unsure: Int32Array = np.empty(num_nodes, np.int32)

    def fits(self, levels: int, num_nodes: int) -> bool:
        """Whether it has room for so many levels and nodes."""
        return len(self.unsure) >= num_nodes and len(self.stack) >= (FRAME + LEVEL) * levels


_free: list[Scratch] = []


def take(levels: int, num_nodes: int) -> Scratch:
    """A set for one walk; `give_back` makes it that of another. Thread-safe."""
    try:
        found = _free.pop()
    except IndexError:
        return Scratch(levels, num_nodes)
    return found if found.fits(levels, num_nodes) else Scratch(levels, num_nodes)


def give_back(scratch: Scratch) -> None:
    """The walk is over."""
    if len(_free) < MAX_KEPT:
        _free.append(scratch)
