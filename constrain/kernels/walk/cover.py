"""Does every text of a slice keep a state alive? Then the slice's tokens need no walk.

A slice is a language S such as all text without quotes, backslashes and control characters, whose
tokens are known. A state covers it if every prefix of every text in S is a prefix of one of its
sentences: inside a JSON string it does, and inside a key that must differ from a few others, at any
place. It loops if every text in S leads back to it: inside a string without bounds.

Both are walked together, pair by pair; a byte that S can take must leave the state alive.
Cost: 256 steps a pair; a state answers once, and all the states seen on the way to a yes with it.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.emptiness import resolve
from constrain.kernels.derive.layout import (
    ALT,
    ARG_A,
    ARG_B,
    ARG_C,
    CAT,
    COVER_MARK,
    COVER_QUEUE,
    COVER_WITH,
    COVERS,
    COVERS_NOT,
    EMPTY_ID,
    EPOCH,
    FLAGS,
    INFINITE,
    KIND,
    LOOPS,
    LOOPS_NOT,
    NODE,
    OPEN,
    PARTITIONS,
    POOL,
    REPEAT,
    ROW_OFFSET,
    ROW_PARTITION,
    TARGETS,
    UNSURE,
    size_of,
)

MAX_PAIRS = 4096
"""Pairs looked at before the answer is no: two milliseconds; a longer look costs more than a
walk.
"""


@inner
def begins_with_counter(A, state):
    """Whether a state, or one of which it is the union, begins with a bounded repeat."""
    count = np.int64(1)
    at = np.int64(-1)
    if A[NODE * state + KIND] == ALT:
        count = np.int64(A[NODE * state + ARG_B])
        at = np.int64(A[POOL] + A[NODE * state + ARG_A])
    for i in range(count):
        part = np.int64(state) if at < 0 else np.int64(A[at + i])
        if A[NODE * part + KIND] == CAT:
            part = np.int64(A[NODE * part + ARG_A])
        if A[NODE * part + KIND] == REPEAT and A[NODE * part + ARG_C] != INFINITE:
            return True
    return False


@inner
def _begin(A, state, slice_start):
    """Begin a search at a pair; returns its epoch."""
    epoch = A[EPOCH] + 1
    A[EPOCH] = epoch
    A[A[COVER_QUEUE]] = state
    A[A[COVER_MARK] + state] = epoch
    A[A[COVER_WITH] + state] = slice_start
    return epoch


@inner
def covers(A, state, slice_start):
    """Flag a live state COVERS or COVERS_NOT. False: STATUS says what is missing.

    COVER_QUEUE holds the states of the pairs, COVER_WITH the slice's state that each was met with.
    """
    if A[NODE * state + FLAGS] & (COVERS | COVERS_NOT):
        return True
    if begins_with_counter(A, state):
        A[NODE * state + FLAGS] |= COVERS_NOT
        return True
    epoch = _begin(A, state, slice_start)
    found = 1
    at = 0
    while at < found:
        s = np.int64(A[A[COVER_QUEUE] + at])
        u = np.int64(A[A[COVER_WITH] + s])
        at += 1
        if not resolve(A, s, 0) or not resolve(A, u, 0):
            return False
        last = np.int64(-1)
        for byte in range(256):
            cu = A[A[PARTITIONS] + A[NODE * u + ROW_PARTITION] * 256 + byte]
            cs = A[A[PARTITIONS] + A[NODE * s + ROW_PARTITION] * 256 + byte]
            pair = np.int64(cu) * 256 + cs
            if pair == last:
                continue
            last = pair
            tu = np.int64(A[A[TARGETS] + A[NODE * u + ROW_OFFSET] + cu])
            if tu == EMPTY_ID:
                continue
            ts = np.int64(A[A[TARGETS] + A[NODE * s + ROW_OFFSET] + cs])
            fails = ts == EMPTY_ID or A[NODE * ts + FLAGS] & (OPEN | UNSURE) != 0
            if not fails:
                if A[A[COVER_MARK] + ts] == epoch:
                    # Met with another state of the slice: rare, and no is always safe.
                    fails = A[A[COVER_WITH] + ts] != tu
                    if not fails:
                        continue
                elif tu == slice_start and A[NODE * ts + FLAGS] & COVERS:
                    continue
            if fails or found >= min(MAX_PAIRS, size_of(A, COVER_QUEUE)):
                A[NODE * state + FLAGS] |= COVERS_NOT
                return True
            A[A[COVER_MARK] + ts] = epoch
            A[A[COVER_WITH] + ts] = tu
            A[A[COVER_QUEUE] + found] = ts
            found += 1
    for i in range(found):
        s = np.int64(A[A[COVER_QUEUE] + i])
        if A[A[COVER_WITH] + s] == slice_start:
            A[NODE * s + FLAGS] |= COVERS
    return True


@inner
def loops(A, state, slice_start):
    """Flag a state that covers the slice LOOPS or LOOPS_NOT. The rows it looks at are there."""
    if A[NODE * state + FLAGS] & (LOOPS | LOOPS_NOT):
        return
    epoch = _begin(A, state, slice_start)
    found = 1
    at = 0
    while at < found:
        s = np.int64(A[A[COVER_QUEUE] + at])
        u = np.int64(A[A[COVER_WITH] + s])
        at += 1
        last = np.int64(-1)
        for byte in range(256):
            cu = A[A[PARTITIONS] + A[NODE * u + ROW_PARTITION] * 256 + byte]
            cs = A[A[PARTITIONS] + A[NODE * s + ROW_PARTITION] * 256 + byte]
            pair = np.int64(cu) * 256 + cs
            if pair == last:
                continue
            last = pair
            tu = np.int64(A[A[TARGETS] + A[NODE * u + ROW_OFFSET] + cu])
            if tu == EMPTY_ID:
                continue
            ts = np.int64(A[A[TARGETS] + A[NODE * s + ROW_OFFSET] + cs])
            if tu == slice_start:
                back = ts == state
            else:
                back = A[A[COVER_MARK] + ts] != epoch or A[A[COVER_WITH] + ts] == tu
            if not back:
                A[NODE * state + FLAGS] |= LOOPS_NOT
                return
            if A[A[COVER_MARK] + ts] != epoch:
                A[A[COVER_MARK] + ts] = epoch
                A[A[COVER_WITH] + ts] = tu
                A[A[COVER_QUEUE] + found] = ts
                found += 1
    A[NODE * state + FLAGS] |= LOOPS
