"""The part of a walk that stays in one run of bytes: [a-z0-9_-]*, or as many as a bound allows.

Most bytes lead from such a state to itself, or to one like it with a lower bound. Then the nodes of
the trie are gone through in the order in which they lie, with one look at a byte each: 2-3 ns a
node instead of 10. Where another byte leaves the run, its node and the state there are written down
(an *exit*), and the walk goes on from there as always.

Where a state leads back to itself by all bytes that lie below a node, what lies there is not looked
at: its tokens are in (`returns.py`). So it is where they go no deeper than the run is known to go.
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
    PARTITION_SIZE,
    PARTITION_WORDS,
    PARTITIONS,
    ROW_OFFSET,
    ROW_PARTITION,
    STATUS,
    TARGETS,
    byte_in,
    class_of,
)
from constrain.kernels.walk.bits import set_bit
from constrain.kernels.walk.layout import GROUPS, NON_ASCII
from constrain.kernels.walk.returns import is_within, leads_back_by

LEAST_RUN = 24
"""Bytes of a run that make going through all nodes worth while."""
LEVEL = 2
"""Slots of a level: where the state's targets begin, and where the subtree gone into there ends."""

NEVER = 1 << 20
NO_RUN = -1
INTERRUPTED = -2

_RUNS_ON = 0
_LEAVES = 1
_IS_OVER = 2


@inner
def _run_class(A, state):
    """The class of bytes that a run from a state would be of; -1 if none has many."""
    partition = A[NODE * state + ROW_PARTITION]
    best = np.int64(-1)
    most = np.int64(LEAST_RUN - 1)
    for c in range(A[A[PARTITION_SIZE] + A[NODE * state + ROW_PARTITION]]):
        if A[A[TARGETS] + A[NODE * state + ROW_OFFSET] + c] == EMPTY_ID:
            continue
        count = np.int64(0)
        for byte in range(256):
            count += np.int64(class_of(A, partition, byte) == c)
        if count > most:
            most = count
            best = np.int64(c)
    return best


@inner
def _groups_of(A, state, run):
    """Which groups of ASCII are in a class of bytes, a bit each."""
    groups = (np.int64(1) << NON_ASCII) - 1
    for byte in range(128):
        if class_of(A, A[NODE * state + ROW_PARTITION], byte) != run:
            groups &= ~(np.int64(1) << GROUPS[byte])
    return groups


@inner
def go_through_run(
    A, state, first, stop, preorder, starts, tokens, mask, levels, base, exits, found
):
    """Set the bits of the tokens inside the run of a state, and write down its exits.

    Args:
        A: Terms.
        state: A live state whose row is there.
        first: The nodes first, ..., stop - 1 are gone through: all those below some node.
        stop: See first.
        preorder: [3 * N], int32: of each node end << 8 | byte; then which groups of bytes are in
            it and below it; then how many levels of nodes these are.
        starts: See `Trie`.
        tokens: See `Trie`.
        mask: [ceil(V/32)], uint32. Mutated.
        levels: int32: scratch, LEVEL slots a level from `base` on.
        base: Where it begins.
        exits: [2 * E], int32. Pairs are written: a node, and the live state there.
        found: How many are written already.

    Returns:
        How many exits there are then; NO_RUN if few bytes stay in the run, or too many exits are
        found; INTERRUPTED if STATUS says that something is missing. Bits that are set are right.
    """
    run = _run_class(A, state)
    if run < 0:
        return np.int64(NO_RUN)
    kind = np.int64(A[NODE * state + ROW_PARTITION])
    partition = A[PARTITIONS] + kind * PARTITION_WORDS
    levels[base] = A[NODE * state + ROW_OFFSET]
    known = np.int64(0)
    ending = np.int64(_RUNS_ON)  # what is at the level after the last one known
    last = np.int64(EMPTY_ID)
    depth = np.int64(0)
    at = np.int64(first)
    nodes = preorder.shape[0] // 3
    groups = _groups_of(A, state, run)
    free = np.int64(0)  # by which groups of bytes the levels from `looping` on lead back
    looping = np.int64(NEVER)
    if A[A[TARGETS] + levels[base] + run] == state:
        looping = np.int64(0)
        free = leads_back_by(A, state)
        if A[STATUS] != OK:
            return np.int64(INTERRUPTED)
    while at < stop:
        while depth > 0 and at >= levels[base + LEVEL * depth - 1]:
            depth -= 1
        end = np.int64(preorder[at]) >> 8
        goes_on = depth + preorder[2 * nodes + at] <= known and is_within(preorder, at, groups)
        if goes_on or (depth >= looping and is_within(preorder, at, free)):
            for j in range(starts[2 * at + 3], starts[2 * end + 3]):
                set_bit(mask, tokens[j])
            at = end
            continue
        c = byte_in(A, partition, np.int64(preorder[at] & 255))
        t = np.int64(EMPTY_ID)
        if c == run:
            if depth == known and ending == _RUNS_ON:
                t = np.int64(A[A[TARGETS] + levels[base + LEVEL * depth] + c])
                last = t
                if t == EMPTY_ID:
                    ending = np.int64(_IS_OVER)
                elif A[NODE * t + FLAGS] & FIRST:
                    ending = np.int64(_LEAVES)
                else:
                    if not resolve(A, t, 0):
                        return np.int64(INTERRUPTED)
                    if A[NODE * t + ROW_PARTITION] == kind:
                        known += 1
                        levels[base + LEVEL * known] = A[NODE * t + ROW_OFFSET]
                        if (
                            looping == NEVER
                            and A[A[TARGETS] + levels[base + LEVEL * known] + c] == t
                        ):
                            looping = known
                            free = leads_back_by(A, t)
                            if A[STATUS] != OK:
                                return np.int64(INTERRUPTED)
                    else:
                        ending = np.int64(_LEAVES)
            if depth < known:
                for j in range(starts[2 * at + 3], starts[2 * at + 5]):
                    set_bit(mask, tokens[j])
                levels[base + LEVEL * depth + 1] = end
                depth += 1
                at += 1
                continue
            t = last
        else:
            t = np.int64(A[A[TARGETS] + levels[base + LEVEL * depth] + c])
        if t != EMPTY_ID:
            if 2 * found >= exits.shape[0]:
                return np.int64(NO_RUN)
            exits[2 * found] = at
            exits[2 * found + 1] = t
            found += 1
        at = end
    return found
