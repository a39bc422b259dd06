"""By which bytes a state leads back to itself: what lies below them in the trie is not looked at.

    inside `[^ "]*`, below the node "a" with nothing but letters: all tokens are in

Which bytes do is known by groups (`layout.GROUPS`), of the state, and of each node with all that is
below it; of text past ASCII it is seen by its well-formed spellings.
Cost: some 700 steps a state, once; two where neither `e` nor 0 lead back to it.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.emptiness import resolve
from constrain.kernels.derive.layout import (
    EMPTY_ID,
    FIRST,
    FLAGS,
    NODE,
    OK,
    RETURN_SLOTS,
    RETURNS,
    ROW_OFFSET,
    ROW_PARTITION,
    STATUS,
    TARGETS,
    class_of,
)
from constrain.kernels.walk.layout import GROUPS, MALFORMED

_SPELLINGS = np.array(
    [
        *((0xC2, 0xC2, 0x80, 0xBF, 0), (0xC3, 0xDF, 0x80, 0xBF, 0)),
        *((0xE0, 0xE0, 0xA0, 0xBF, 1), (0xED, 0xED, 0x80, 0x9F, 1)),
        *((first, first, 0x80, 0xBF, 1) for first in (0xE1, 0xE2, 0xE3, 0xEE, 0xEF)),
        *((0xE4, 0xEC, 0x80, 0xBF, 1), (0xF0, 0xF0, 0x90, 0xBF, 2)),
        *((0xF1, 0xF3, 0x80, 0xBF, 2), (0xF4, 0xF4, 0x80, 0x8F, 2)),
    ]
)
"""[13, 5] well-formed code points past ASCII: first bytes from, to, the next byte from, to, and how
many come after it."""
_LOWER = 101
_DIGIT = 48
"""Bytes that lead back to most states that any lead back to."""


@inner
def is_within(preorder, node, groups):
    """Whether a node, and all that is below it, is whole characters of these groups."""
    begins = preorder[node] & 0xC0 != 0x80  # a state leads back by whole characters only
    return begins and preorder[preorder.shape[0] // 3 + node] & ~groups == 0


@inner
def after(A, state, byte):
    """The state after a byte from a state whose row is there."""
    c = class_of(A, A[NODE * state + ROW_PARTITION], byte)
    return np.int64(A[A[TARGETS] + np.int64(A[NODE * state + ROW_OFFSET]) + c])


@inner
def _lead_to(A, state, first, last, target):
    """Whether all bytes from first to last lead from a state to a target. Look at STATUS too."""
    if state == EMPTY_ID or A[NODE * state + FLAGS] & FIRST or not resolve(A, state, 0):
        return False
    partition = np.int64(A[NODE * state + ROW_PARTITION])
    targets = A[TARGETS] + np.int64(A[NODE * state + ROW_OFFSET])
    for byte in range(first, last + 1):
        if A[targets + class_of(A, partition, byte)] != target:
            return False
    return True


@inner
def _go_on_to(A, state, low, high, more, target):
    """Whether a byte from low to high, and some more that go on, lead from a state to a target."""
    for _ in range(more):
        if state == EMPTY_ID or A[NODE * state + FLAGS] & FIRST or not resolve(A, state, 0):
            return False
        then = after(A, state, low)
        if not _lead_to(A, state, low, high, then):
            return False
        state, low, high = then, np.int64(0x80), np.int64(0xBF)
    return _lead_to(A, state, low, high, target)


@inner
def leads_back_by(A, state):
    """By the bytes of which groups a state leads back to itself, a bit each. Look at STATUS too.

    Of a live state whose row is there.
    """
    if after(A, state, _LOWER) != state and after(A, state, _DIGIT) != state:
        return np.int64(0)
    slot = A[RETURNS] + 2 * (state & (RETURN_SLOTS - 1))
    if A[slot] == state:
        return np.int64(A[slot + 1])
    groups = (np.int64(1) << MALFORMED) - 1
    for byte in range(128):
        if after(A, state, byte) != state:
            groups &= ~(np.int64(1) << GROUPS[byte])
    for i in range(_SPELLINGS.shape[0]):
        first, last = _SPELLINGS[i, 0], _SPELLINGS[i, 1]
        low, high, more = _SPELLINGS[i, 2], _SPELLINGS[i, 3], _SPELLINGS[i, 4]
        then = after(A, state, first)
        if not (
            _lead_to(A, state, first, last, then) and _go_on_to(A, then, low, high, more, state)
        ):
            if A[STATUS] != OK:
                return np.int64(0)
            groups &= ~(np.int64(1) << GROUPS[first])
    A[slot] = state
    A[slot + 1] = groups
    return groups
