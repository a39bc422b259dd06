"""Where what is in `plain`, the array of what a vocabulary has ready for plain text.

Made by `automaton/slices.py`, read by `cpu.py`. A trie within the forest is the nodes below a node.
"""

from __future__ import annotations

import numpy as np

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

# Groups of bytes that classes of patterns take or leave as a whole. `preorder` has for each node of
# the vocabulary's trie which of them occur in its byte and below it, a bit each.
_ASCII = (
    *(b"abcdef", b"ghijklmnopqrstuvwxyz", b"ABCDEF", b"GHIJKLMNOPQRSTUVWXYZ", b"0123456789"),
    *(bytes((byte,)) for byte in b"_-./: @+%~=#"),
    *(b"!$&'()*,;", b"<>?[]^`{|}", b'"\\'),
)
NON_ASCII = len(_ASCII) + 1
"""The first of the groups of code points past ASCII, in well-formed UTF-8: by their first bytes."""
_LEADS = (
    *((0xC2,), range(0xC3, 0xE0), (0xE0, 0xED), (0xE1,), (0xE2,), (0xE3,)),
    *((*range(0xE4, 0xED), 0xEE), (0xEF,), range(0xF0, 0xF5)),
)
"""White space past ASCII is in four of them, apart from the letters of most languages."""
MALFORMED = NON_ASCII + len(_LEADS)
"""The group of all others."""
GROUPS = np.full(256, MALFORMED, np.int64)
"""[256]: the group of each byte; one that goes on a code point is in that of its first byte."""
GROUPS[:128] = len(_ASCII)
for _number, _members in (*enumerate(_ASCII), *enumerate(_LEADS, NON_ASCII)):
    GROUPS[list(_members)] = _number
