"""The trie walk: depth first, leaving out a subtree as soon as its state is dead.

    state after "a" is dead: everything that begins with "a" is skipped by one jump to `end`.

A step reads the byte, the row of the state above it, and the target: 5-10 ns a node.
Source: the depth-first trie with subtree skips is toktrie's (llguidance); here a state is a term.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import entry
from constrain.kernels.derive.emptiness import resolve
from constrain.kernels.derive.layout import (
    COVERS,
    EMPTY_ID,
    FLAGS,
    NODE,
    NUM_UNSURE,
    NUM_VISITED,
    OPEN,
    PARTITIONS,
    ROW_OFFSET,
    ROW_PARTITION,
    ROW_RESOLVED,
    ROW_STATE,
    TARGETS,
    UNSURE,
)
from constrain.kernels.walk.cover import covers


@entry
def walk(
    arena,
    state,
    byte,
    depth,
    end,
    token_start,
    tokens,
    mask,
    rows,
    start,
    seen,
    slice_start,
    unsure,
):
    """Set the bit of each token that may follow `state`, a live state.

    Args:
        arena: Terms.
        state: The state to mask.
        byte: [N], uint8; with depth, end (int32 [N]), token_start (int32 [N+1]) and tokens (int32)
            the trie.
        depth: See byte.
        end: See byte.
        token_start: See byte.
        tokens: See byte.
        mask: [ceil(V/32)], uint32. Mutated; bits that are set stay set.
        rows: [2 * (max depth + 2)], int32: the row of the state at each depth. Kept between calls.
        start: 0, or what the last call returned when STATUS stopped it.
        seen: [N], int32, zero at the first call: the live state of each node goes here. Or [0], to
            do without.
        slice_start: The state of a slice (`cover.py`), always the same one, or 0. If `state`
            covers it, nothing is walked.
        unsure: [>= N], int32. The first arena[NUM_UNSURE] entries are written: nodes i whose tokens
            depend on texts captured, so that the row does not tell whether they may follow; for ~i
            the tokens of node i itself may, and those below it are not told. Their bits stay as
            they were.

    Returns:
        -1 if `state` covers the slice: its tokens are allowed, and a trie of the others is left;
        N when done, and arena[NUM_VISITED] is how many nodes it looked at; else the node to go on
        from, once Python has served STATUS.
    """
    A = arena
    n = byte.shape[0]
    if start == 0:
        A[NUM_VISITED] = 0
        A[NUM_UNSURE] = 0
        if slice_start != 0:
            if not covers(A, state, slice_start):
                return 0
            if A[NODE * state + FLAGS] & COVERS:
                return -1
        if A[NODE * state + FLAGS] & (OPEN | UNSURE):
            while start < n:
                unsure[A[NUM_UNSURE]] = start
                A[NUM_UNSURE] += 1
                start = np.int64(end[start])
            return n
        if not resolve(A, state, 0):
            return 0
        rows[0] = A[NODE * state + ROW_PARTITION] * 256
        rows[1] = A[NODE * state + ROW_OFFSET]
    targets = A[A[TARGETS] : A[TARGETS + 1]]
    partitions = A[A[PARTITIONS] : A[PARTITIONS + 1]]
    i = np.int64(start)
    visited = 0
    while i < n:
        visited += 1
        d = np.int64(depth[i])
        t = np.int64(targets[rows[2 * d + 1] + partitions[rows[2 * d] + byte[i]]])
        if t == EMPTY_ID:
            i = np.int64(end[i])
            continue
        flags = A[NODE * t + FLAGS]
        if flags & UNSURE:
            unsure[A[NUM_UNSURE]] = i
            A[NUM_UNSURE] += 1
            i = np.int64(end[i])
            continue
        if seen.shape[0] > 0:
            seen[i] = t
        for j in range(token_start[i], token_start[i + 1]):
            token = tokens[j]
            mask[token >> 5] |= np.uint32(1) << np.uint32(token & 31)
        if end[i] > i + 1:
            if flags & OPEN:
                unsure[A[NUM_UNSURE]] = ~i
                A[NUM_UNSURE] += 1
                i = np.int64(end[i])
                continue
            if A[NODE * t + ROW_STATE] != ROW_RESOLVED and not resolve(A, t, 0):
                A[NUM_VISITED] += visited
                return i
            rows[2 * d + 2] = A[NODE * t + ROW_PARTITION] * 256
            rows[2 * d + 3] = A[NODE * t + ROW_OFFSET]
        i += 1
    A[NUM_VISITED] += visited
    return n
