"""Derivatives by all bytes at once: a partition of the 256 bytes and one target for each class.

The row of a term is made from the rows of its parts (Brzozowski's rules, once a class instead of
once a byte; Owens, Reppy, Turon 2009 compute such classes too, as an over-approximation; here they
are exact). Partitions are interned: most terms of a grammar share a few dozen. A row is published
last, and only while STATUS is OK.

Cost: a step for each class and operand; 256 for each operand of a union or intersection where their
partitions have not met before.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.branches import make_branches, rule_of, write_ends
from constrain.kernels.derive.captures import after_capture
from constrain.kernels.derive.intersections import make_and
from constrain.kernels.derive.layout import (
    ALT,
    AND,
    ARG_A,
    ARG_B,
    ARG_C,
    BODY,
    CAPTURE,
    CAT,
    CLASS,
    CLASS_WORDS,
    CLASSES,
    EMPTY_ID,
    EPS_ID,
    FIRST_BYTES,
    FLAGS,
    FOLLOW,
    KIND,
    LEFT_RECURSION,
    NEED_BODY,
    NEED_TARGETS,
    NODE,
    NOT,
    NULLABLE,
    NUM_TARGETS,
    OK,
    PARTITION_SIZE,
    PARTITION_WORDS,
    POOL,
    REPEAT,
    ROW_BUSY,
    ROW_MISSING,
    ROW_OFFSET,
    ROW_PARTITION,
    ROW_RAW,
    ROW_RESOLVED,
    ROW_STATE,
    RULE,
    STATUS,
    TARGETS,
    WORK,
    byte_in,
    class_of,
    lacks_work,
    set_status,
    size_of,
)
from constrain.kernels.derive.nodes import make_cat, make_not, one_fewer
from constrain.kernels.derive.partitions import BYTES, ROOM, common_partition, intern_partition
from constrain.kernels.derive.unions import make_alt


@inner
def publish(A, t, partition, at, size):
    """Give term t its row: targets WORK[at:at+size]. Says whether it did."""
    offset = np.int64(A[NUM_TARGETS])
    if offset + size > size_of(A, TARGETS):
        set_status(A, NEED_TARGETS, offset + size)
    if A[STATUS] != OK:
        return False
    for i in range(size):
        A[A[TARGETS] + offset + i] = A[A[WORK] + at + i]
    A[NUM_TARGETS] = offset + size
    A[NODE * t + ROW_OFFSET] = offset
    A[NODE * t + ROW_PARTITION] = partition
    A[NODE * t + ROW_STATE] = ROW_RAW
    return True


@inner
def _row_of_leaf(A, t, sp):
    """EMPTY, EPS: one dead class. CLASS: the set and the rest."""
    if lacks_work(A, sp + BYTES + 2):
        return False
    if A[NODE * t + KIND] != CLASS:
        for i in range(BYTES):
            A[A[WORK] + sp + i] = 0
        A[A[WORK] + sp + BYTES] = EMPTY_ID
        return publish(A, t, intern_partition(A, sp, 1), sp + BYTES, 1)
    at = A[NODE * t + ARG_A] * CLASS_WORDS
    first = (A[A[CLASSES] + at] & 1) != 0
    size = 1
    for i in range(BYTES):
        inside = ((A[A[CLASSES] + at + (i >> 5)] >> (i & 31)) & 1) != 0
        A[A[WORK] + sp + i] = 0 if inside == first else 1
        if inside != first:
            size = 2
    A[A[WORK] + sp + BYTES] = EPS_ID if first else EMPTY_ID
    A[A[WORK] + sp + BYTES + 1] = EMPTY_ID if first else EPS_ID
    return publish(A, t, intern_partition(A, sp, size), sp + BYTES, size)


@inner
def _row_of_single(A, t, part, sp):
    """CAT with a head that is not nullable, REPEAT, NOT, branches none of whose heads is over.

    The part's row, each target wrapped.
    """
    size = np.int64(A[A[PARTITION_SIZE] + A[NODE * part + ROW_PARTITION]])
    offset = np.int64(A[NODE * part + ROW_OFFSET])
    if lacks_work(A, sp + size):
        return False
    kind = A[NODE * t + KIND]
    after = np.int64(0)
    if kind == CAT:
        after = np.int64(A[NODE * t + ARG_B])
    elif kind == REPEAT:
        after = one_fewer(A, t)
    for i in range(size):
        target = np.int64(A[A[TARGETS] + offset + i])
        if kind == NOT:
            target = make_not(A, target)
        elif kind == RULE:
            target = make_branches(A, target, np.int64(A[NODE * t + ARG_A]), sp + size)
        else:
            target = make_cat(A, target, after, sp + size)
        A[A[WORK] + sp + i] = target
    return publish(A, t, A[NODE * part + ROW_PARTITION], sp, size)


@inner
def _row_of_many(A, t, lo, hi, sp):
    """ALT, AND, CAT with a nullable head, or branches, whose operands are WORK[lo:hi].

    A CAT's operands are its head and its continuation, those of branches their heads and the rules
    that may come next; the head's targets are continued first.
    """
    classes = sp
    targets = classes + BYTES
    members = targets + BYTES
    scratch = members + (hi - lo)
    if lacks_work(A, scratch + ROOM + BYTES):
        return False
    known = common_partition(A, lo, hi, scratch)
    if A[STATUS] != OK:
        return False
    size = np.int64(A[A[PARTITION_SIZE] + known])
    kind = A[NODE * t + KIND]
    for c in range(size):
        byte = byte_in(A, A[FIRST_BYTES] + known * PARTITION_WORDS, c)
        count = 0
        dead = False
        for i in range(lo, hi):
            m = np.int64(A[A[WORK] + i])
            its = class_of(A, A[NODE * m + ROW_PARTITION], byte)
            target = np.int64(A[A[TARGETS] + A[NODE * m + ROW_OFFSET] + its])
            if kind == CAT and i == lo:
                target = make_cat(A, target, np.int64(A[NODE * t + ARG_B]), scratch)
            elif kind == RULE and i == lo:
                target = make_branches(A, target, np.int64(A[NODE * t + ARG_A]), scratch)
            if target == EMPTY_ID:
                dead = True
                if kind == AND:
                    break
            else:
                A[A[WORK] + members + count] = target
                count += 1
        if kind == AND:
            result = np.int64(EMPTY_ID) if dead else make_and(A, members, members + count, scratch)
        else:
            result = make_alt(A, members, members + count, scratch)
        A[A[WORK] + targets + c] = result
    kept = _join_equal(A, classes, targets, size, known, scratch)
    if kept < size:
        known = intern_partition(A, classes, kept)
    return publish(A, t, known, targets, kept)


@inner
def _join_equal(A, classes, targets, size, partition, sp):
    """Join classes of a partition with one target; returns how many are left.

    If they are fewer, they are written to WORK[classes:classes+256], numbered by first byte still.
    """
    kept = 0
    for i in range(size):
        found = -1
        for j in range(kept):
            if A[A[WORK] + targets + j] == A[A[WORK] + targets + i]:
                found = j
                break
        if found < 0:
            A[A[WORK] + targets + kept] = A[A[WORK] + targets + i]
            found = kept
            kept += 1
        A[A[WORK] + sp + i] = found
    if kept < size:
        for i in range(BYTES):
            c = class_of(A, partition, i)
            A[A[WORK] + classes + i] = A[A[WORK] + sp + c]
    return kept


@inner
def _push_missing(A, t, top):
    """Push the parts of t whose rows come first; returns the top, or -1 on left recursion."""
    kind = A[NODE * t + KIND]
    if kind == CAT:
        top = _push(A, A[NODE * t + ARG_A], top)
        if top >= 0 and A[NODE * A[NODE * t + ARG_A] + FLAGS] & NULLABLE:
            top = _push(A, A[NODE * t + ARG_B], top)
    elif kind == REPEAT or kind == NOT:
        top = _push(A, A[NODE * t + ARG_A], top)
    elif kind == ALT or kind == AND:
        if lacks_work(A, top + A[NODE * t + ARG_B]):
            return top
        for i in range(A[NODE * t + ARG_B]):
            top = _push(A, A[A[POOL] + A[NODE * t + ARG_A] + i], top)
            if top < 0:
                break
    elif kind == RULE and A[NODE * t + ARG_B] != 0:
        heads = np.int64(A[NODE * t + ARG_B])
        first = top + 1
        end = write_ends(A, heads, first)
        if A[STATUS] != OK:
            return top
        top = _push(A, heads, top)
        for i in range(first, end):
            if top < 0:
                break
            part = rule_of(A, np.int64(A[A[WORK] + i]), np.int64(A[NODE * t + ARG_A]))
            if A[STATUS] != OK:
                return top
            top = _push(A, part, top)
    elif kind == RULE or kind == FOLLOW or kind == CAPTURE:
        same = alias_of(A, t, top)
        if A[STATUS] != OK:
            return top
        top = _push(A, same, top)
    return top


@inner
def alias_of(A, t, sp):
    """The term whose row a RULE, FOLLOW or CAPTURE has; STATUS says if it must be made first.

    A CAPTURE has the row of its blurred term: within one walk of the vocabulary the text captured
    is not known, so what follows it is UNKNOWN.
    """
    if A[NODE * t + KIND] == CAPTURE:
        blurred = after_capture(A, np.int64(A[NODE * t + ARG_C]), -1, sp)
        return make_cat(A, np.int64(A[NODE * t + ARG_B]), blurred, sp)
    body = np.int64(A[A[BODY] + t]) - 1
    if body < 0:
        set_status(A, NEED_BODY, t)
    return body


@inner
def _push(A, part, top):
    state = A[NODE * part + ROW_STATE]
    if state == ROW_BUSY:
        set_status(A, LEFT_RECURSION, part)
        return np.int64(-1)
    if state == ROW_MISSING:
        if lacks_work(A, top + 1):
            return top
        A[A[WORK] + top] = part
        return np.int64(top + 1)
    return np.int64(top)


@inner
def _row_of(A, t, sp):
    """Make the row of t out of its parts' rows, which are there."""
    kind = A[NODE * t + KIND]
    if kind == CAT and not A[NODE * A[NODE * t + ARG_A] + FLAGS] & NULLABLE:
        return _row_of_single(A, t, np.int64(A[NODE * t + ARG_A]), sp)
    if kind == REPEAT or kind == NOT:
        return _row_of_single(A, t, np.int64(A[NODE * t + ARG_A]), sp)
    if kind == RULE and A[NODE * t + ARG_B] != 0:
        heads = np.int64(A[NODE * t + ARG_B])
        end = write_ends(A, heads, sp + 1)
        if A[STATUS] != OK:
            return False
        if end == sp + 1:
            return _row_of_single(A, t, heads, sp)
        A[A[WORK] + sp] = heads
        for i in range(sp + 1, end):
            label = np.int64(A[A[WORK] + i])
            A[A[WORK] + i] = rule_of(A, label, np.int64(A[NODE * t + ARG_A]))
        return _row_of_many(A, t, sp, end, end)
    if kind == RULE or kind == FOLLOW or kind == CAPTURE:
        body = alias_of(A, t, sp)
        if A[STATUS] != OK:
            return False
        A[NODE * t + ROW_OFFSET] = A[NODE * body + ROW_OFFSET]
        A[NODE * t + ROW_PARTITION] = A[NODE * body + ROW_PARTITION]
        A[NODE * t + ROW_STATE] = A[NODE * body + ROW_STATE]
        return True
    if kind == CAT:
        if lacks_work(A, sp + 2):
            return False
        A[A[WORK] + sp] = A[NODE * t + ARG_A]
        A[A[WORK] + sp + 1] = A[NODE * t + ARG_B]
        return _row_of_many(A, t, sp, sp + 2, sp + 2)
    if kind == ALT or kind == AND:
        count = np.int64(A[NODE * t + ARG_B])
        if lacks_work(A, sp + count):
            return False
        for i in range(count):
            A[A[WORK] + sp + i] = A[A[POOL] + A[NODE * t + ARG_A] + i]
        return _row_of_many(A, t, sp, sp + count, sp + count)
    return _row_of_leaf(A, t, sp)


@inner
def ensure_row(A, root, sp):
    """Make the row of a term, those of its parts first. False: STATUS says what is missing."""
    if A[NODE * root + ROW_STATE] != ROW_MISSING:
        return True
    if lacks_work(A, sp + 1):
        return False
    A[A[WORK] + sp] = root
    top = np.int64(sp + 1)
    while top > sp:
        t = np.int64(A[A[WORK] + top - 1])
        if A[NODE * t + ROW_STATE] == ROW_RAW or A[NODE * t + ROW_STATE] == ROW_RESOLVED:
            top -= 1
            continue
        A[NODE * t + ROW_STATE] = ROW_BUSY
        new_top = _push_missing(A, t, top)
        if A[STATUS] == OK and new_top > top:
            top = new_top
            continue
        A[NODE * t + ROW_STATE] = ROW_MISSING
        if A[STATUS] != OK or not _row_of(A, t, top):
            for i in range(sp, top):
                t = np.int64(A[A[WORK] + i])
                if A[NODE * t + ROW_STATE] == ROW_BUSY:
                    A[NODE * t + ROW_STATE] = ROW_MISSING
            return False
        top -= 1
    return True
