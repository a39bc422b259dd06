"""States beside which a walk need not be made anew, and nodes that it need not look at."""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.emptiness import resolve
from constrain.kernels.derive.layout import (
    ARG_A,
    ARG_B,
    ARG_C,
    BOUND,
    CAT,
    EMPTY_ID,
    FLAGS,
    INFINITE,
    KIND,
    NODE,
    OPEN,
    PARTITION_WORDS,
    PARTITIONS,
    REPEAT,
    ROW_OFFSET,
    ROW_PARTITION,
    TARGETS,
    UNSURE,
    byte_in,
    class_of,
)
from constrain.kernels.derive.nodes import make_cat, make_repeat
from constrain.kernels.walk.layout import JUMP, JUMP_NODE, JUMPS_AT, NUM_JUMPS

MANY_BYTES = 24
"""A state that lets more bytes through, such as one inside a string, is worth a look for a way past
the walk."""
LEAST_ALIKE = 48
"""Bytes that must lead to one state for its row to be worth having first."""
QUOTE = 34


@inner
def bytes_through(A, state):
    """How many bytes a state lets through."""
    partition = np.int64(A[NODE * state + ROW_PARTITION])
    targets = A[TARGETS] + np.int64(A[NODE * state + ROW_OFFSET])
    count = np.int64(0)
    for byte in range(256):
        count += np.int64(A[targets + class_of(A, partition, byte)] != EMPTY_ID)
    return count


@inner
def unbounded(A, state, longest, most):
    """A state that begins like one with a bounded repeat, for as long as a token of it is.

    x{lo,hi} with a hi of at least `longest`, the bytes of a token, begins as x{lo,} does, since no
    x is empty; and any lo past that as `most`. Look at STATUS before use.
    """
    part = np.int64(state)
    if A[NODE * state + KIND] == CAT:
        part = np.int64(A[NODE * state + ARG_A])
    hi = A[NODE * part + ARG_C]
    if A[NODE * part + KIND] != REPEAT or hi == INFINITE or hi < longest:
        return np.int64(state)
    A[BOUND] = hi
    lo = min(np.int64(A[NODE * part + ARG_B]), most)
    same = make_repeat(A, np.int64(A[NODE * part + ARG_A]), lo, np.int64(INFINITE))
    if part != state:
        same = make_cat(A, same, np.int64(A[NODE * state + ARG_B]), 0)
    return np.int64(same)


@inner
def live_children(A, state, children, first, last, found):
    """Of children of the root those that are not dead, to found: pairs of node and state after it.

    Returns how many. A state of few bytes is asked for, so at most one pair for each byte.
    """
    partition = A[PARTITIONS] + np.int64(A[NODE * state + ROW_PARTITION]) * PARTITION_WORDS
    targets = A[TARGETS] + np.int64(A[NODE * state + ROW_OFFSET])
    count = np.int64(0)
    for at in range(first, last):
        child = np.int64(children[at])
        t = A[targets + byte_in(A, partition, child & 255)]
        found[2 * count] = child >> 8
        found[2 * count + 1] = t
        count += np.int64(t != EMPTY_ID)
    return count


@inner
def alike(A, state, unfit):
    """The state that most bytes lead to, and lead back to from there; EMPTY_ID if there is none.

    Found by three bytes, one of which is among any bytes that are many in real grammars. From what
    is found they lead back, so that it has none in its turn. Look at STATUS before use.
    """
    partition = np.int64(A[NODE * state + ROW_PARTITION])
    targets = A[TARGETS] + np.int64(A[NODE * state + ROW_OFFSET])
    for guess in (101, 122, 48):
        if A[targets + class_of(A, partition, guess)] == state:
            return np.int64(EMPTY_ID)
    best = np.int64(EMPTY_ID)
    for guess in (101, 122, 48):
        t = np.int64(A[targets + class_of(A, partition, guess)])
        if t == EMPTY_ID or t == best or A[NODE * t + FLAGS] & unfit:
            continue
        best = t
        if not resolve(A, t, 0):
            return np.int64(EMPTY_ID)
        its_partition = np.int64(A[NODE * t + ROW_PARTITION])
        its_targets = A[TARGETS] + np.int64(A[NODE * t + ROW_OFFSET])
        if A[its_targets + class_of(A, its_partition, guess)] != t:
            continue
        count = np.int64(0)
        for byte in range(256):
            count += np.int64(
                A[targets + class_of(A, partition, byte)] == t
                and A[its_targets + class_of(A, its_partition, byte)] == t
            )
        if count >= LEAST_ALIKE:
            return t
    return np.int64(EMPTY_ID)


@inner
def go_together(A, t, base, byte):
    """Whether two states after a byte are to be walked together, as they let much through alike.

    Where a string may end or begin there is another way, and texts captured are told by neither.
    """
    if t == EMPTY_ID or byte == QUOTE:
        return False
    return (A[NODE * t + FLAGS] | A[NODE * base + FLAGS]) & (OPEN | UNSURE) == 0


@inner
def jump_of(plain, node):
    """Where the jump of a node is in `plain`; -1 if it has none."""
    low = np.int64(0)
    high = np.int64(plain[NUM_JUMPS])
    while low < high:
        middle = (low + high) >> 1
        if plain[plain[JUMPS_AT] + JUMP * middle + JUMP_NODE] < node:
            low = middle + 1
        else:
            high = middle
    at = np.int64(plain[JUMPS_AT] + JUMP * low)
    if low < plain[NUM_JUMPS] and plain[at + JUMP_NODE] == node:
        return at
    return np.int64(-1)
