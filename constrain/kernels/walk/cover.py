"""Does every text of a slice keep a state alive? Then the slice's tokens need no walk.

A slice is a language S such as all text without quotes, backslashes and control characters, whose
tokens are known. A state covers it if every prefix of every text in S is a prefix of one of its
sentences: inside a JSON string it does, and inside a key that must differ from a few others, at any
place. It loops if every text in S leads back to it: inside a string without bounds.

Both are walked together, pair by pair; a byte that S can take must leave the state alive.
Cost: 256 steps a pair; a state answers once, and all the states seen on the way to a yes with it.

What h covers, h·k covers too, and what leads back to h leads back to h·k where k cannot begin with
a byte of S: so the rest of a string is looked at once, whatever follows it.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.emptiness import resolve
from constrain.kernels.derive.layout import (
    ALT,
    AND,
    ARG_A,
    ARG_B,
    ARG_C,
    BODY,
    CAT,
    CLASS,
    CLASS_WORDS,
    CLASSES,
    COUNTED,
    COVER_MARK,
    COVER_QUEUE,
    COVER_WAITS,
    COVER_WITH,
    COVERED,
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
    NUM_NODES,
    OPEN,
    POOL,
    REPEAT,
    ROW_OFFSET,
    ROW_PARTITION,
    RULE,
    TARGETS,
    UNSURE,
    class_of,
    size_of,
)

MAX_PAIRS = 4096
MAX_NEW_TERMS = 2048
"""Pairs looked at, and terms made, before the answer is no: two milliseconds; a longer look costs
more than a walk.
"""
FEW_NEW_TERMS = 256
"""The same for states with counters, each count of which may be another state."""
MOST_WAITS = 8
"""Rule bodies that a look waits for before the answer is no: it begins anew after each."""
FEW_REPEATS = 5
"""A state that begins with as many, or more, is not searched: each count is a state."""
MAX_HEAD = 16
"""Parts of a state looked at for bounds."""
SLICE_STATES = 32
"""One more than the states of a slice that may be met; plain text has a dozen."""


@inner
def _num_parts(A, state):
    """Of how many states a state is the union: one, if it is none."""
    return np.int64(A[NODE * state + ARG_B]) if A[NODE * state + KIND] == ALT else np.int64(1)


@inner
def _head_of_part(A, state, i):
    """What the i-th of them begins with."""
    part = np.int64(state)
    if A[NODE * part + KIND] == ALT:
        part = np.int64(A[A[POOL] + A[NODE * part + ARG_A] + i])
    return np.int64(A[NODE * part + ARG_A]) if A[NODE * part + KIND] == CAT else part


@inner
def begins_with_counter(A, state, least):
    """Whether a state, or one of which it is the union, begins with a repeat bounded so far off."""
    for i in range(_num_parts(A, state)):
        if _is_counter(A, _head_of_part(A, state, i), least):
            return True
    return False


@inner
def may_be_far(A, state):
    """Whether what stands before the first single byte of a state may have bounds far off."""
    rest = np.int64(state)
    for _ in range(MAX_HEAD):
        is_cat = A[NODE * rest + KIND] == CAT
        part = np.int64(A[NODE * rest + ARG_A]) if is_cat else rest
        if A[NODE * part + KIND] == RULE and A[A[BODY] + part] > 0:
            part = np.int64(A[A[BODY] + part]) - 1
        if A[NODE * part + FLAGS] & COUNTED:
            return True
        if not is_cat or A[NODE * part + KIND] == CLASS:
            return False
        rest = np.int64(A[NODE * rest + ARG_B])
    return False


@inner
def _is_counter(A, part, least):
    return A[NODE * part + KIND] == REPEAT and least <= A[NODE * part + ARG_C] < INFINITE


@inner
def _begins_with_counter_in_and(A, state, least):
    """Whether a state, or one of which it is the union, begins with an intersection with one."""
    for i in range(_num_parts(A, state)):
        part = _head_of_part(A, state, i)
        if A[NODE * part + KIND] == AND:
            members = np.int64(A[POOL] + A[NODE * part + ARG_A])
            for k in range(A[NODE * part + ARG_B]):
                if begins_with_counter(A, np.int64(A[members + k]), least):
                    return True
    return False


@inner
def _begin(A, state, slice_start):
    """Begin a search at a pair; returns its epoch.

    COVER_QUEUE holds pairs, a state and the slice's state that it was met with, and at its end how
    many states of the slice were met, and which. COVER_WITH has a bit for each that a state was met
    with, if COVER_MARK says that it was met.
    """
    epoch = A[EPOCH] + 1
    A[EPOCH] = epoch
    A[A[COVER_QUEUE + 1] - SLICE_STATES] = 0
    _meet(A, epoch, 0, state, slice_start)
    return epoch


@inner
def _meet(A, epoch, found, s, u):
    """Write down a pair that was not met before; how many there are then, or -1: too many."""
    states = A[COVER_QUEUE + 1] - SLICE_STATES
    number = np.int64(0)
    while number < A[states] and A[states + 1 + number] != u:
        number += 1
    if number == A[states]:
        if number == SLICE_STATES - 1:
            return np.int64(-1)
        A[states] += 1
        A[states + 1 + number] = u
    if A[A[COVER_MARK] + s] != epoch:
        A[A[COVER_MARK] + s] = epoch
        A[A[COVER_WITH] + s] = 0
    bit = np.int64(1) << number
    if A[A[COVER_WITH] + s] & bit:
        return np.int64(found)
    if found >= min(MAX_PAIRS, (size_of(A, COVER_QUEUE) - SLICE_STATES) >> 1):
        return np.int64(-1)
    A[A[COVER_WITH] + s] |= bit
    A[A[COVER_QUEUE] + 2 * found] = s
    A[A[COVER_QUEUE] + 2 * found + 1] = u
    return np.int64(found + 1)


@inner
def _head(A, state):
    """The h of h·k that covers the slice, or may; EMPTY_ID if there is none."""
    if A[NODE * state + KIND] != CAT or A[NODE * A[NODE * state + ARG_A] + FLAGS] & COVERS_NOT:
        return np.int64(EMPTY_ID)
    return np.int64(A[NODE * state + ARG_A])


@inner
def _is_apart(A, state, slice_start):
    """Whether a state begins with an ASCII byte that no text of the slice has, and no other."""
    first = np.int64(A[NODE * state + ARG_A]) if A[NODE * state + KIND] == CAT else np.int64(state)
    if A[NODE * first + KIND] != CLASS:
        return False
    bits = A[CLASSES] + np.int64(A[NODE * first + ARG_A]) * CLASS_WORDS
    targets = A[TARGETS] + np.int64(A[NODE * slice_start + ROW_OFFSET])
    for byte in range(256):
        if (A[bits + (byte >> 5)] >> (byte & 31)) & 1:
            c = class_of(A, A[NODE * slice_start + ROW_PARTITION], byte)
            if byte > 127 or A[targets + c] != EMPTY_ID:
                return False
    return True


@inner
def covers(A, state, slice_start):
    """Flag a live state COVERS or COVERS_NOT. False: STATUS says what is missing."""
    if A[NODE * state + FLAGS] & (COVERS | COVERS_NOT):
        return True
    h = _head(A, state)
    if h != EMPTY_ID:
        if not _look(A, h, slice_start):
            return False
        if A[NODE * h + FLAGS] & COVERS:
            A[NODE * state + FLAGS] |= COVERS
            return True
    return _look(A, state, slice_start)


@inner
def _look(A, state, slice_start):
    """The same by a search of what a state leads to."""
    if A[NODE * state + FLAGS] & (COVERS | COVERS_NOT):
        return True
    if begins_with_counter(A, state, FEW_REPEATS) or _begins_with_counter_in_and(
        A, state, FEW_REPEATS
    ):
        A[NODE * state + FLAGS] |= COVERS_NOT
        return True
    if A[COVERED] != state:
        A[COVERED] = state
        A[COVER_WAITS] = 0
    if A[COVER_WAITS] > MOST_WAITS:
        A[NODE * state + FLAGS] |= COVERS_NOT
        return True
    few = may_be_far(A, state)
    most_terms = np.int64(A[NUM_NODES]) + (FEW_NEW_TERMS if few else MAX_NEW_TERMS)
    epoch = _begin(A, state, slice_start)
    found = np.int64(1)
    at = 0
    while at < found:
        s = np.int64(A[A[COVER_QUEUE] + 2 * at])
        u = np.int64(A[A[COVER_QUEUE] + 2 * at + 1])
        at += 1
        if not resolve(A, s, 0) or not resolve(A, u, 0):
            A[COVER_WAITS] += 1
            return False
        last = np.int64(-1)
        for byte in range(256):
            cu = class_of(A, A[NODE * u + ROW_PARTITION], byte)
            cs = class_of(A, A[NODE * s + ROW_PARTITION], byte)
            pair = cu * 256 + cs
            if pair == last:
                continue
            last = pair
            tu = np.int64(A[A[TARGETS] + A[NODE * u + ROW_OFFSET] + cu])
            if tu == EMPTY_ID:
                continue
            ts = np.int64(A[A[TARGETS] + A[NODE * s + ROW_OFFSET] + cs])
            fails = ts == EMPTY_ID or A[NODE * ts + FLAGS] & (OPEN | UNSURE) != 0
            if not fails and tu == slice_start and A[NODE * ts + FLAGS] & COVERS:
                continue
            if not fails:
                found = _meet(A, epoch, found, ts, tu)
            if fails or found < 0 or A[NUM_NODES] > most_terms:
                A[NODE * state + FLAGS] |= COVERS_NOT
                return True
    for i in range(found):
        if A[A[COVER_QUEUE] + 2 * i + 1] == slice_start:
            A[NODE * A[A[COVER_QUEUE] + 2 * i] + FLAGS] |= COVERS
    return True


@inner
def loops(A, state, slice_start):
    """Flag a state that covers the slice LOOPS or LOOPS_NOT. The rows it looks at are there."""
    if A[NODE * state + FLAGS] & (LOOPS | LOOPS_NOT):
        return
    h = _head(A, state)
    if h != EMPTY_ID and A[NODE * h + FLAGS] & COVERS:
        _look_for_loops(A, h, slice_start)
        back = A[NODE * h + FLAGS] & LOOPS != 0
        back = back and _is_apart(A, np.int64(A[NODE * state + ARG_B]), slice_start)
        A[NODE * state + FLAGS] |= LOOPS if back else LOOPS_NOT
        return
    _look_for_loops(A, state, slice_start)


@inner
def _look_for_loops(A, state, slice_start):
    """The same by a search, of a state that was searched before."""
    if A[NODE * state + FLAGS] & (LOOPS | LOOPS_NOT):
        return
    epoch = _begin(A, state, slice_start)
    found = np.int64(1)
    at = 0
    while at < found:
        s = np.int64(A[A[COVER_QUEUE] + 2 * at])
        u = np.int64(A[A[COVER_QUEUE] + 2 * at + 1])
        at += 1
        last = np.int64(-1)
        for byte in range(256):
            cu = class_of(A, A[NODE * u + ROW_PARTITION], byte)
            cs = class_of(A, A[NODE * s + ROW_PARTITION], byte)
            pair = cu * 256 + cs
            if pair == last:
                continue
            last = pair
            tu = np.int64(A[A[TARGETS] + A[NODE * u + ROW_OFFSET] + cu])
            if tu == EMPTY_ID:
                continue
            ts = np.int64(A[A[TARGETS] + A[NODE * s + ROW_OFFSET] + cs])
            if tu != slice_start or ts == state:
                found = _meet(A, epoch, found, ts, tu)
            if (tu == slice_start and ts != state) or found < 0:
                A[NODE * state + FLAGS] |= LOOPS_NOT
                return
    A[NODE * state + FLAGS] |= LOOPS
