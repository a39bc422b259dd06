"""One mask: which tokens may follow a state.

In: an arena, a live state, a vocabulary as a depth-first trie. Out: a row of the bitmask, 1 =
allowed. Decided here: the order of the walk, what is skipped. Not decided here: end tokens (the
caller knows whether the state is accepting), remembered rows (`automaton`).

`reference.py` asks for every token alone; `cpu.py` walks the trie; `cover.py` sees where that is
not needed, `returns.py` what it may leave out, `runs.py` where it is quicker done; `layout.py` is
what a vocabulary has ready for them.
"""

from constrain.kernels.walk.cpu import (
    AFTER,
    BASED_DRAFT,
    BASED_ROW,
    BOUNDED,
    BOUNDED_ROW,
    CAPTURES,
    CLOSED,
    DONE,
    DRAFT,
    FAR,
    FRAME,
    LONG,
    LONG_ROW,
    LONG_WALK,
    LOOK,
    NEEDS_BASE,
    PART,
    PLAIN,
    ROW,
    SAME,
    SUM,
    walk,
)
from constrain.kernels.walk.runs import LEVEL

__all__ = [
    "AFTER",
    "BASED_DRAFT",
    "BASED_ROW",
    "BOUNDED",
    "BOUNDED_ROW",
    "CAPTURES",
    "CLOSED",
    "DONE",
    "DRAFT",
    "FAR",
    "FRAME",
    "LEVEL",
    "LONG",
    "LONG_ROW",
    "LONG_WALK",
    "LOOK",
    "NEEDS_BASE",
    "PART",
    "PLAIN",
    "ROW",
    "SAME",
    "SUM",
    "walk",
]
