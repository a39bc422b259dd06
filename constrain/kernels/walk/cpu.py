"""The trie walk: depth first, leaving out a subtree as soon as its state is dead.

    state after "a" is dead: nothing below "a" is looked at.

The children of a node lie side by side, each as one number with its byte. So a state that lets one
byte through reads a row of bytes, and touches nothing of what is below the others: a step costs
about 1 ns where the child is dead, 5-10 ns where it lives.
Source: the depth-first trie with subtree skips is toktrie's (llguidance); here a state is a term.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import entry
from constrain.kernels.derive.emptiness import resolve
from constrain.kernels.derive.layout import (
    BLURRED,
    COVERS,
    EMPTY_ID,
    FIRST,
    FLAGS,
    NODE,
    NUM_LISTED,
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

FRAME = 4
"""Slots of a level of the stack: partition, targets, the next child, the end of the children."""
MANY_BYTES = 40
"""A state that lets more bytes through, such as one inside a string, has no short walk."""
COVERED = -1
GAVE_UP = -2


@entry
def walk(
    arena,
    state,
    children,
    starts,
    tokens,
    mask,
    stack,
    start,
    seen,
    slice_start,
    unsure,
    listed,
    budget,
):
    """Set the bit of each token that may follow `state`, a live state.

    Args:
        arena: Terms.
        state: The state to mask.
        children: [N], int32; with starts (int32 [2 * (N + 2)]) and tokens (int32) the trie: see
            `vocab.Trie`.
        starts: See children.
        tokens: See children.
        mask: [ceil(V/32)], uint32. Mutated; bits that are set stay set.
        stack: [FRAME * (max depth + 2)], int32: scratch, kept between calls.
        start: 0, or what the last call returned when STATUS stopped it.
        seen: [N], int32, zero at the first call: the live state of each node goes here. Or [0], to
            do without.
        slice_start: The state of a slice (`cover.py`), always the same one, or 0. If `state`
            covers it, nothing is walked.
        unsure: [>= N], int32. The first arena[NUM_UNSURE] entries are written: nodes i whose tokens
            depend on texts captured, so that the row does not tell whether they may follow; for ~i
            the tokens of node i itself may, and those below it are not told. Their bits stay as
            they were.
        listed: [2 * L], int32, for a short walk, else [0]. The first arena[NUM_LISTED] pairs are
            written: each token that may follow, and the state after it.
        budget: A short walk gives up once it has looked at more children than that, or where
            `state` lets many bytes through.

    Returns:
        COVERED if `state` covers the slice: its tokens are allowed, and a trie of the others is
        left. GAVE_UP if a short walk is not short after all, or comes to a text that is captured:
        `mask` then holds some of the tokens. Else, once STATUS is OK, all is done, and
        arena[NUM_VISITED] is how many children it looked at; before that, where to go on from once
        Python has served STATUS.
    """
    A = arena
    short = listed.shape[0] > 0
    top = np.int64(start) - 1
    if start == 0:
        A[NUM_VISITED] = 0
        A[NUM_UNSURE] = 0
        A[NUM_LISTED] = 0
        if slice_start != 0:
            if not covers(A, state, slice_start):
                return 0
            if A[NODE * state + FLAGS] & COVERS:
                return COVERED
        if short and A[NODE * state + FLAGS] & FIRST:
            return GAVE_UP
        if A[NODE * state + FLAGS] & (OPEN | UNSURE):
            for k in range(starts[2]):
                unsure[k] = children[k] >> 8
            A[NUM_UNSURE] = starts[2]
            return 0
        if not resolve(A, state, 0):
            return 0
        partition = A[NODE * state + ROW_PARTITION] * 256
        offset = np.int64(A[NODE * state + ROW_OFFSET])
        if short:
            bytes_through = np.int64(0)
            for byte in range(256):
                target = A[A[TARGETS] + offset + A[A[PARTITIONS] + partition + byte]]
                bytes_through += np.int64(target != EMPTY_ID)
            if bytes_through > MANY_BYTES:
                return GAVE_UP
        stack[0] = partition
        stack[1] = offset
        stack[2] = starts[0]
        stack[3] = starts[2]
        top = np.int64(0)
    targets = A[A[TARGETS] : A[TARGETS + 1]]
    partitions = A[A[PARTITIONS] : A[PARTITIONS + 1]]
    partition = np.int64(stack[FRAME * top])
    offset = np.int64(stack[FRAME * top + 1])
    at = np.int64(stack[FRAME * top + 2])
    end = np.int64(stack[FRAME * top + 3])
    visited = np.int64(A[NUM_VISITED])
    while True:
        if at >= end:
            top -= 1
            if top < 0:
                break
            partition = np.int64(stack[FRAME * top])
            offset = np.int64(stack[FRAME * top + 1])
            at = np.int64(stack[FRAME * top + 2])
            end = np.int64(stack[FRAME * top + 3])
            continue
        child = np.int64(children[at])
        at += 1
        visited += 1
        t = np.int64(targets[offset + partitions[partition + (child & 255)]])
        if t == EMPTY_ID:
            continue
        i = child >> 8
        flags = A[NODE * t + FLAGS]
        if short and (visited > budget or flags & (OPEN | UNSURE | BLURRED)):
            return GAVE_UP
        if flags & UNSURE:
            unsure[A[NUM_UNSURE]] = i
            A[NUM_UNSURE] += 1
            continue
        first_child = np.int64(starts[2 * i + 2])
        last_child = np.int64(starts[2 * i + 4])
        deeper = last_child > first_child
        if deeper and not flags & OPEN and A[NODE * t + ROW_STATE] != ROW_RESOLVED:
            if not resolve(A, t, 0):
                stack[FRAME * top + 2] = at - 1
                A[NUM_VISITED] = visited - 1
                return top + 1
        if seen.shape[0] > 0:
            seen[i] = t
        for j in range(starts[2 * i + 3], starts[2 * i + 5]):
            token = tokens[j]
            mask[token >> 5] |= np.uint32(1) << np.uint32(token & 31)
            if short:
                pair = 2 * np.int64(A[NUM_LISTED])
                if pair >= listed.shape[0]:
                    return GAVE_UP
                listed[pair] = token
                listed[pair + 1] = t
                A[NUM_LISTED] += 1
        if deeper:
            if flags & OPEN:
                unsure[A[NUM_UNSURE]] = ~i
                A[NUM_UNSURE] += 1
                continue
            stack[FRAME * top + 2] = at
            top += 1
            partition = A[NODE * t + ROW_PARTITION] * 256
            offset = np.int64(A[NODE * t + ROW_OFFSET])
            at = first_child
            end = last_child
            stack[FRAME * top] = partition
            stack[FRAME * top + 1] = offset
            stack[FRAME * top + 3] = end
    A[NUM_VISITED] = visited
    return 0
