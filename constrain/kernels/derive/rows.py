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
from constrain.kernels.derive.interning import clear, mix, put
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
    NEED_PARTITIONS,
    NEED_TARGETS,
    NODE,
    NOT,
    NULLABLE,
    NUM_PARTITIONS,
    NUM_TARGETS,
    OK,
    PARTITION_SIZE,
    PARTITION_TABLE,
    PARTITION_WORDS,
    PARTITIONS,
    POOL,
    PRODUCT_SLOTS,
    PRODUCTS,
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
from constrain.kernels.derive.unions import make_alt

BYTES = 256
FEW_OPERANDS = 8
DIRECT_PAIRS = 4096
"""Pairs of classes up to this many are numbered through a table, more through a search."""


@inner
def _packed(A, at):
    """Four entries of WORK in one slot, as `byte_in` reads them."""
    w = A[WORK] + at
    low = np.int64(A[w]) | np.int64(A[w + 1]) << 8 | np.int64(A[w + 2]) << 16
    high = np.int64(A[w + 3])
    return low | (high - 256 if high > 127 else high) << 24


@inner
def _rehash_partition(A, p):
    h = np.int64(A[A[PARTITION_SIZE] + p])
    for j in range(PARTITION_WORDS):
        h = (h * 31 + A[A[PARTITIONS] + p * PARTITION_WORDS + j]) & 0x7FFFFFFF
    return mix(h, np.int64(A[A[PARTITION_SIZE] + p]))


@inner
def rehash_partitions(A):
    """Fill the table of partitions again after sections grew."""
    clear(A, PARTITION_TABLE)
    for p in range(A[NUM_PARTITIONS]):
        put(A, PARTITION_TABLE, _rehash_partition(A, p), p + 1)


@inner
def intern_partition(A, at, size):
    """The partition WORK[at:at+256] (byte -> class), its classes numbered by first byte."""
    h = np.int64(size)
    for j in range(PARTITION_WORDS):
        h = (h * 31 + _packed(A, at + 4 * j)) & 0x7FFFFFFF
    h = mix(h, size)
    bits = size_of(A, PARTITION_TABLE) - 1
    slot = h & bits
    while True:
        p = np.int64(A[A[PARTITION_TABLE] + slot]) - 1
        if p < 0:
            break
        same = A[A[PARTITION_SIZE] + p] == size
        if same:
            for j in range(PARTITION_WORDS):
                if A[A[PARTITIONS] + p * PARTITION_WORDS + j] != _packed(A, at + 4 * j):
                    same = False
                    break
        if same:
            return p
        slot = (slot + 1) & bits
    p = np.int64(A[NUM_PARTITIONS])
    if p >= size_of(A, PARTITION_SIZE):
        set_status(A, NEED_PARTITIONS, p + 1)
        return np.int64(0)
    base = p * PARTITION_WORDS
    for j in range(PARTITION_WORDS):
        A[A[PARTITIONS] + base + j] = _packed(A, at + 4 * j)
        A[A[FIRST_BYTES] + base + j] = 0
    seen = np.int64(0)
    for i in range(BYTES):
        if A[A[WORK] + at + i] == seen:
            first = np.int64(i - 256 if i > 127 and seen & 3 == 3 else i)
            A[A[FIRST_BYTES] + base + (seen >> 2)] += first << ((seen & 3) << 3)
            seen += 1
    A[A[PARTITION_SIZE] + p] = size
    A[A[PARTITION_TABLE] + slot] = p + 1
    A[NUM_PARTITIONS] = p + 1
    return p


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
def _refine(A, at, size, partition, sp):
    """Cut the classes WORK[at:at+256] by a partition; returns how many there are now."""
    other = np.int64(A[A[PARTITION_SIZE] + partition])
    pairs = size * other
    new = 0
    if pairs <= DIRECT_PAIRS:
        for i in range(pairs):
            A[A[WORK] + sp + i] = -1
        for i in range(BYTES):
            pair = np.int64(A[A[WORK] + at + i]) * other + class_of(A, partition, i)
            if A[A[WORK] + sp + pair] < 0:
                A[A[WORK] + sp + pair] = new
                new += 1
            A[A[WORK] + at + i] = A[A[WORK] + sp + pair]
        return new
    for i in range(BYTES):
        pair = np.int64(A[A[WORK] + at + i]) * other + class_of(A, partition, i)
        found = -1
        for j in range(new):
            if A[A[WORK] + sp + j] == pair:
                found = j
                break
        if found < 0:
            A[A[WORK] + sp + new] = pair
            found = new
            new += 1
        A[A[WORK] + at + i] = found
    return new


@inner
def _product(A, p, q, sp):
    """The partition that tells apart what either of two does."""
    if A[A[PARTITION_SIZE] + q] == 1:
        return np.int64(p)
    if A[A[PARTITION_SIZE] + p] == 1:
        return np.int64(q)
    slot = A[PRODUCTS] + 3 * (mix(p, q) & (PRODUCT_SLOTS - 1))
    if A[slot] == p and A[slot + 1] == q and A[slot + 2] != 0:
        return np.int64(A[slot + 2]) - 1
    for i in range(BYTES):
        A[A[WORK] + sp + i] = class_of(A, p, i)
    size = _refine(A, sp, np.int64(A[A[PARTITION_SIZE] + p]), q, sp + BYTES)
    found = intern_partition(A, sp, size)
    if A[STATUS] == OK:
        A[slot] = p
        A[slot + 1] = q
        A[slot + 2] = found + 1
    return found


@inner
def _row_of_many(A, t, lo, hi, sp):
    """ALT, AND, CAT with a nullable head, or branches, whose operands are WORK[lo:hi].

    A CAT's operands are its head and its continuation, those of branches their heads and the rules
    that may come next; the head's targets are continued first. The
    classes of few operands are found by what is known of their partitions; those of many would
    leave a partition behind for each.
    """
    classes = sp
    targets = classes + BYTES
    members = targets + BYTES
    scratch = members + (hi - lo)
    if lacks_work(A, scratch + DIRECT_PAIRS + 2 * BYTES):
        return False
    known = np.int64(A[NODE * A[A[WORK] + lo] + ROW_PARTITION])
    if hi - lo <= FEW_OPERANDS:
        for i in range(lo + 1, hi):
            p = np.int64(A[NODE * A[A[WORK] + i] + ROW_PARTITION])
            if p != known:
                known = _product(A, known, p, scratch)
        size = np.int64(A[A[PARTITION_SIZE] + known])
    else:
        size = np.int64(1)
        for i in range(BYTES):
            A[A[WORK] + classes + i] = 0
        last = np.int64(-1)
        for i in range(lo, hi):
            p = np.int64(A[NODE * A[A[WORK] + i] + ROW_PARTITION])
            if p != last:
                size = _refine(A, classes, size, p, scratch)
                last = p
        known = intern_partition(A, classes, size)
    if A[STATUS] != OK:
        return False
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
