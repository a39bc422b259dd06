"""Where what is in `plain`, the array of what a vocabulary has ready for plain text.

Made by `automaton/slices.py`, read by `cpu.py`. A trie within the forest is the nodes below a node.
"""

from __future__ import annotations

OTHERS = 0
"""The node above the tokens that do not begin a plain text, or NO_TRIE."""
RESTS = 1
"""The node above what is left of each of them after its plain beginning."""
NUM_ENDS = 2
"""How many end tokens there are; they stand at PLAIN_HEAD."""
JUMPS_AT = 3
"""Where the jumps begin, by node."""
NUM_JUMPS = 4
WORDS_AT = 5
"""Where the row of the tokens that begin a plain text begins."""
LONGEST = 6
"""Bytes of the longest token."""
PLAIN_HEAD = 7

NO_TRIE = -1

# A jump: the node of the vocabulary's trie; where in `tokens` those below it that go on with plain
# text begin and end; the nodes above what the others go on with, and above the rests of these.
JUMP = 5
JUMP_NODE = 0
JUMP_FIRST = 1
JUMP_LAST = 2
JUMP_OTHERS = 3
JUMP_RESTS = 4
