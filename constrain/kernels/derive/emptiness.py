"""Does a term denote any string at all? Decided by search, remembered as a flag.

Terms without AND and NOT that are not EMPTY are non-empty by construction. For the others, and for
rules behind what is left of heads with those in them (`branches.py`), we look for a nullable term
among their derivatives, breadth first, so that counters of a billion cost nothing where a short
string exists. What is found is remembered for the whole path, and what is not found for all that
was seen.

Two searches take turns: one along ASCII bytes, as far as a term has any, and, one term of TURN,
one along all others. Most languages have an ASCII string, and a class of Unicode has hundreds of
terms for characters that are begun: for 20 words of letters in 300 code points, some hundred terms
are looked at, where one search for all passed a hundred thousand.

A search that needs a rule's body, or room, waits until Python has made it, and goes on from there,
unless another one has begun meanwhile or what it has found was left behind with a smaller arena.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.layout import (
    ALT,
    ARG_A,
    ARG_B,
    BYTEWISE,
    CAPTURE,
    CAT,
    EMPTINESS_LIMIT,
    EMPTY_ID,
    EPOCH,
    FIRST_BYTES,
    FLAGS,
    HOLLOW,
    KIND,
    MARK,
    NEED_NODES,
    NODE,
    NONEMPTY,
    NUM_TOKEN_IDS,
    OK,
    PARENT,
    PARTITION_SIZE,
    PARTITION_WORDS,
    POOL,
    QUEUE,
    REPEAT,
    ROW_OFFSET,
    ROW_PARTITION,
    ROW_RESOLVED,
    ROW_STATE,
    SEARCH_ASCII,
    SEARCH_EPOCH,
    SEARCH_FOUND,
    SEARCH_OTHERS,
    SEARCH_ROOT,
    SEARCH_SEEN,
    STATUS,
    TARGETS,
    TOKEN_IDS,
    TOO_MANY_STATES,
    WORK,
    byte_in,
    lacks_work,
    set_status,
    size_of,
)
from constrain.kernels.derive.partitions import BYTES
from constrain.kernels.derive.rows import ensure_row
from constrain.kernels.derive.step import FIRST_TOKEN, step

DECIDED = NONEMPTY | HOLLOW
NON_ASCII = 0x80
TURN = 8
"""One of so many terms that are looked at is led to by other bytes."""
ASCII = 1
"""The lowest bit of an entry of PARENT: only ASCII leads there, as far as there is any."""
SOME = -1
NONE = -2


@inner
def _search(A, start, sp):
    """Decide one AND or NOT by breadth-first search of its derivatives. False: see STATUS."""
    if A[SEARCH_ROOT] != start or A[A[MARK] + start] != A[SEARCH_EPOCH]:
        A[EPOCH] += 1
        A[SEARCH_ROOT] = start
        A[SEARCH_EPOCH] = A[EPOCH]
        A[SEARCH_SEEN] = 0
        A[SEARCH_FOUND] = 1
        A[SEARCH_ASCII] = 0
        A[SEARCH_OTHERS] = 0
        A[A[QUEUE] + 0] = start
        A[A[PARENT] + 0] = -1  # comes from nowhere, and counts as ASCII
        A[A[MARK] + start] = A[EPOCH]
    limit = A[EMPTINESS_LIMIT]
    while A[SEARCH_SEEN] < A[SEARCH_FOUND]:
        cursor = _turn(A)
        done = _look_at(A, np.int64(A[cursor]), sp)
        if A[STATUS] != OK:
            return False
        if done:
            A[SEARCH_ROOT] = 0
            return True
        A[cursor] += 1
        A[SEARCH_SEEN] += 1
        if A[SEARCH_SEEN] > limit:
            A[SEARCH_ROOT] = 0
            set_status(A, TOO_MANY_STATES, start)
            return False
    for i in range(A[SEARCH_FOUND]):
        A[NODE * A[A[QUEUE] + i] + FLAGS] |= HOLLOW
    A[SEARCH_ROOT] = 0
    return True


@inner
def _turn(A):
    """The cursor whose turn it is, at an entry of its kind: the other one's if it has none."""
    first = SEARCH_OTHERS if A[SEARCH_SEEN] % TURN == TURN - 1 else SEARCH_ASCII
    for cursor in (first, SEARCH_ASCII + SEARCH_OTHERS - first):
        kind = ASCII if cursor == SEARCH_ASCII else 0
        while A[cursor] < A[SEARCH_FOUND]:
            if A[A[PARENT] + A[cursor]] & ASCII == kind:
                return cursor
            A[cursor] += 1
    return first  # not reached: an entry that was not looked at is of either kind


@inner
def _has_ascii(A, u):
    """Whether an ASCII byte leads on from a term that has a row."""
    partition = np.int64(A[NODE * u + ROW_PARTITION])
    for c in range(A[A[PARTITION_SIZE] + partition]):
        if byte_in(A, A[FIRST_BYTES] + partition * PARTITION_WORDS, c) >= NON_ASCII:
            return False
        v = np.int64(A[A[TARGETS] + A[NODE * u + ROW_OFFSET] + c])
        if v != EMPTY_ID and not A[NODE * v + FLAGS] & HOLLOW:
            return True
    return False


@inner
def _look_at(A, at, sp):
    """Queue the derivatives of an entry. True: one of them is not empty, so none on the way is.

    Where STATUS says that something is missing, the entry is to be looked at anew.
    """
    epoch = A[SEARCH_EPOCH]
    found = np.int64(A[SEARCH_FOUND])
    u = np.int64(A[A[QUEUE] + at])
    bytewise = A[NODE * u + FLAGS] & BYTEWISE
    tokens = np.int64(A[NUM_TOKEN_IDS])
    size = np.int64(BYTES)
    if not bytewise:
        if not ensure_row(A, u, sp):
            return False
        size = np.int64(A[A[PARTITION_SIZE] + A[NODE * u + ROW_PARTITION]])
    partition = np.int64(A[NODE * u + ROW_PARTITION])
    kind = np.int64(A[A[PARENT] + at] & ASCII)
    divides = kind == ASCII and (bytewise != 0 or _has_ascii(A, u))
    for i in range(size + tokens):
        v = np.int64(EMPTY_ID)
        if i >= size:
            v = step(A, u, np.int64(FIRST_TOKEN + A[A[TOKEN_IDS] + i - size]), sp)
        elif bytewise:
            v = step(A, u, i, sp)
        else:
            v = np.int64(A[A[TARGETS] + A[NODE * u + ROW_OFFSET] + i])
        if A[STATUS] != OK:
            return False
        if v == EMPTY_ID or A[NODE * v + FLAGS] & HOLLOW or A[A[MARK] + v] == epoch:
            continue
        if A[NODE * v + FLAGS] & NONEMPTY:
            _flag_path(A, at)
            return True
        if found >= size_of(A, QUEUE):
            set_status(A, NEED_NODES, found + 1)
            return False
        of_kind = kind
        if divides and i < size:
            byte = i
            if not bytewise:
                byte = byte_in(A, A[FIRST_BYTES] + partition * PARTITION_WORDS, i)
            if byte >= NON_ASCII:
                of_kind = np.int64(0)
        A[A[MARK] + v] = epoch
        A[A[QUEUE] + found] = v
        A[A[PARENT] + found] = at << 1 | of_kind
        found += 1
        A[SEARCH_FOUND] = found
    return False


@inner
def _flag_path(A, at):
    """Flag all terms on the way to an entry NONEMPTY."""
    while at >= 0:
        A[NODE * A[A[QUEUE] + at] + FLAGS] |= NONEMPTY
        at = np.int64(A[A[PARENT] + at] >> 1)


@inner
def decide(A, root, sp):
    """Flag a term NONEMPTY or HOLLOW. False: STATUS says what is missing.

    A concatenation needs both parts, a union one of them; only AND, NOT and branches behind these
    (`branches.py`) are searched.
    """
    if A[NODE * root + FLAGS] & DECIDED:
        return True
    if lacks_work(A, sp + 1):
        return False
    A[A[WORK] + sp] = root
    top = sp + 1
    while top > sp:
        t = np.int64(A[A[WORK] + top - 1])
        if A[NODE * t + FLAGS] & DECIDED or t == EMPTY_ID:
            top -= 1
            continue
        kind = A[NODE * t + KIND]
        if kind != CAT and kind != REPEAT and kind != CAPTURE and kind != ALT:
            if not _search(A, t, top):
                return False
            continue
        told = _ask_parts(A, t)
        if told == SOME or told == NONE:
            A[NODE * t + FLAGS] |= NONEMPTY if told == SOME else HOLLOW
            top -= 1
            continue
        if lacks_work(A, top + 1):
            return False
        A[A[WORK] + top] = told
        top += 1
    return True


@inner
def _ask_parts(A, t):
    """Whether a term that is not searched denotes SOME strings or NONE; or a part to ask first."""
    kind = A[NODE * t + KIND]
    told = np.int64(NONE if kind == ALT else SOME)
    if kind == ALT:
        for i in range(A[NODE * t + ARG_B]):
            part = np.int64(A[A[POOL] + A[NODE * t + ARG_A] + i])
            if A[NODE * part + FLAGS] & NONEMPTY:
                return np.int64(SOME)
            if not A[NODE * part + FLAGS] & HOLLOW:
                told = part
        return told
    for part in (
        A[NODE * t + ARG_B] if kind == CAPTURE else A[NODE * t + ARG_A],
        A[NODE * t + ARG_A] if kind == REPEAT else A[NODE * t + ARG_B],
    ):
        if A[NODE * part + FLAGS] & HOLLOW or part == EMPTY_ID:
            return np.int64(NONE)
        if not A[NODE * part + FLAGS] & NONEMPTY:
            told = np.int64(part)
    return told


@inner
def resolve(A, t, sp):
    """Make the row of t, with empty languages as dead targets. False: see STATUS."""
    if A[NODE * t + ROW_STATE] == ROW_RESOLVED:
        return True
    if not ensure_row(A, t, sp):
        return False
    size = A[A[PARTITION_SIZE] + A[NODE * t + ROW_PARTITION]]
    for i in range(size):
        at = A[NODE * t + ROW_OFFSET] + i
        target = np.int64(A[A[TARGETS] + at])
        if target != EMPTY_ID:
            if not decide(A, target, sp):
                return False
            if A[NODE * target + FLAGS] & HOLLOW:
                A[A[TARGETS] + at] = EMPTY_ID
    if A[STATUS] != OK:
        return False
    A[NODE * t + ROW_STATE] = ROW_RESOLVED
    return True
