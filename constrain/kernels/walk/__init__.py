"""One mask: which tokens may follow a state.

In: an arena, a live state, a vocabulary as a depth-first trie. Out: a row of the bitmask, 1 =
allowed. Decided here: the order of the walk, what is skipped. Not decided here: end tokens (the
caller knows whether the state is accepting), remembered rows (`automaton`).

`reference.py` asks for every token alone; `cpu.py` walks the trie, as `modes.py` says, and sets
`bits.py`; `cover.py` and `shortcuts.py` see where that is not needed, `returns.py` what it may
leave out, `runs.py` where it is quicker done; `layout.py` is what a vocabulary has ready for them.
"""

from constrain.kernels.walk import modes
from constrain.kernels.walk.cpu import FRAME, LONG_WALK, walk
from constrain.kernels.walk.runs import LEVEL

__all__ = ["FRAME", "LEVEL", "LONG_WALK", "modes", "walk"]
