"""The constructor of unions, which have most of the normal form.

A union is flat and sorted; members with one head are one member, h k | h l = h (k | l); classes
with one continuation are one class; repeats whose counts touch are one repeat.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.interning import intern_members
from constrain.kernels.derive.layout import (
    ALL_ID,
    ALT,
    ANYWHERE,
    ARG_A,
    ARG_B,
    ARG_C,
    CAT,
    CLASS,
    CLASS_WORDS,
    CLASSES,
    EMPTY_ID,
    EPS_ID,
    FIRST,
    FLAGS,
    FRAMES,
    HOLLOW,
    INFINITE,
    KIND,
    NEED_FRAMES,
    NODE,
    NONEMPTY,
    NULLABLE,
    OK,
    REPEAT,
    STATUS,
    UNION,
    WORK,
    lacks_work,
    set_status,
    size_of,
)
from constrain.kernels.derive.members import distinct, flatten, sort_rows
from constrain.kernels.derive.nodes import make_class, make_pair, make_repeat

FRAME = 6
"""A union that waits for the one of some continuations: [pairs, count, next, out, head, union] are
its pairs (head, continuation), how many, the next to look at, the end of the pairs that are done
(they start at `pairs` too), the head whose continuations are awaited, and its UNION."""
NOT_YET = -1


@inner
def make_alt(A, lo, hi, sp):
    """Union of members WORK[lo:hi]: flat, factored by head, classes and touching counters merged.

    Unions inside of unions are looked up: the same ones come again and again where ambiguous
    repeats follow one another, and making each anew takes time exponential in the depth.
    """
    depth = 0
    start, end = lo, hi
    while True:
        # Down: the members of one more union.
        pairs = sp
        count = _open_union(A, start, end, sp)
        at = out = union = np.int64(0)
        result = np.int64(NOT_YET)
        if count < 0:
            result = np.int64(ALL_ID)
        elif count < 2:
            result = np.int64(A[A[WORK] + pairs]) if count == 1 else np.int64(EMPTY_ID)
        elif depth > 0:
            union = intern_members(A, UNION, pairs, pairs + 2 * count, 0)
            if A[NODE * union + ARG_C] != EMPTY_ID:
                result = np.int64(A[NODE * union + ARG_C])
        # Up: until one has a head with several continuations, whose union comes first.
        while True:
            if result == NOT_YET:
                alone = _keep_lone(A, pairs, at, count, out)
                at += alone
                out += alone
                if at < count:
                    break
                result = _close_union(A, pairs, out, pairs + 2 * count)
                if union != 0 and A[STATUS] == OK:
                    A[NODE * union + ARG_C] = result
            if A[STATUS] != OK:
                return np.int64(EMPTY_ID)
            if depth == 0:
                return result
            depth -= 1
            f = A[FRAMES] + depth * FRAME
            pairs = np.int64(A[f])
            count = np.int64(A[f + 1])
            at = np.int64(A[f + 2])
            out = np.int64(A[f + 3])
            union = np.int64(A[f + 5])
            A[A[WORK] + pairs + 2 * out] = A[f + 4]
            A[A[WORK] + pairs + 2 * out + 1] = result
            out += 1
            result = np.int64(NOT_YET)
        start = end = pairs + 2 * count
        head = np.int64(A[A[WORK] + pairs + 2 * at])
        if (depth + 1) * FRAME > size_of(A, FRAMES):
            set_status(A, NEED_FRAMES, (depth + 1) * FRAME)
        if A[STATUS] != OK or lacks_work(A, start + count - at):
            return np.int64(EMPTY_ID)
        while at < count and A[A[WORK] + pairs + 2 * at] == head:
            A[A[WORK] + end] = A[A[WORK] + pairs + 2 * at + 1]
            end += 1
            at += 1
        sp = end
        f = A[FRAMES] + depth * FRAME
        A[f] = pairs
        A[f + 1] = count
        A[f + 2] = at
        A[f + 3] = out
        A[f + 4] = head
        A[f + 5] = union
        depth += 1


@inner
def make_either(A, x, y, sp):
    """Union of two terms."""
    if lacks_work(A, sp + 2):
        return np.int64(EMPTY_ID)
    A[A[WORK] + sp] = x
    A[A[WORK] + sp + 1] = y
    return make_alt(A, sp, sp + 2, sp + 2)


@inner
def _keep_lone(A, pairs, at, count, out):
    """Move pairs from `at` on to `out`, up to a head that the next pair has too; returns how many.

    Of `count` sorted pairs.
    """
    moved = 0
    while at < count:
        head = A[A[WORK] + pairs + 2 * at]
        if at + 1 < count and A[A[WORK] + pairs + 2 * at + 2] == head:
            return moved
        A[A[WORK] + pairs + 2 * out] = head
        A[A[WORK] + pairs + 2 * out + 1] = A[A[WORK] + pairs + 2 * at + 1]
        at += 1
        out += 1
        moved += 1
    return moved


@inner
def _open_union(A, lo, hi, sp):
    """Write the sorted distinct pairs (head, continuation) of the members to sp; returns how many.

    With fewer than two members the one is written as it is; -1 stands for all byte strings.
    """
    top = flatten(A, ALT, lo, hi, sp)
    if A[STATUS] != OK:
        return 0
    count = 0
    for i in range(sp, top):
        m = A[A[WORK] + i]
        if m == ALL_ID:
            return -1
        if m != EMPTY_ID and not A[NODE * m + FLAGS] & HOLLOW:
            A[A[WORK] + sp + count] = m
            count += 1
    count = distinct(A, sp, count)
    if count < 2:
        return count
    if lacks_work(A, sp + 2 * count):
        return 0
    for i in range(count - 1, -1, -1):
        m = np.int64(A[A[WORK] + sp + i])
        is_cat = A[NODE * m + KIND] == CAT
        A[A[WORK] + sp + 2 * i + 1] = A[NODE * m + ARG_B] if is_cat else EPS_ID
        A[A[WORK] + sp + 2 * i] = A[NODE * m + ARG_A] if is_cat else m
    sort_rows(A, sp, count, 2)
    return count


@inner
def _close_union(A, pairs, count, sp):
    """The union of pairs (head, continuation) with distinct heads."""
    classes = sp
    top = sp
    kept = 0
    if lacks_work(A, sp + 4 * count + 2 * CLASS_WORDS):
        return np.int64(EMPTY_ID)
    for i in range(count):
        h = np.int64(A[A[WORK] + pairs + 2 * i])
        k = A[A[WORK] + pairs + 2 * i + 1]
        if A[NODE * h + KIND] == CLASS:
            A[A[WORK] + top] = k
            A[A[WORK] + top + 1] = h
            top += 2
        else:
            A[A[WORK] + pairs + 2 * kept] = h
            A[A[WORK] + pairs + 2 * kept + 1] = k
            kept += 1
    kept = _merge_classes(A, pairs, kept, classes, (top - classes) // 2, top)
    kept = _merge_counters(A, pairs, kept, sp)
    flags = 0
    for i in range(kept):
        m = make_pair(A, A[A[WORK] + pairs + 2 * i], np.int64(A[A[WORK] + pairs + 2 * i + 1]))
        A[A[WORK] + pairs + i] = m
    kept = distinct(A, pairs, kept)
    if kept < 2:
        return np.int64(A[A[WORK] + pairs]) if kept else np.int64(EMPTY_ID)
    for i in range(kept):
        part = A[NODE * A[A[WORK] + pairs + i] + FLAGS]
        flags |= part & (NULLABLE | NONEMPTY | ANYWHERE | FIRST)
    return intern_members(A, ALT, pairs, pairs + kept, flags)


@inner
def _merge_classes(A, pairs, kept, classes, count, sp):
    """Append to pairs one class for each continuation out of rows (continuation, class)."""
    sort_rows(A, classes, count, 2)
    i = 0
    while i < count:
        k = A[A[WORK] + classes + 2 * i]
        stop = i + 1
        while stop < count and A[A[WORK] + classes + 2 * stop] == k:
            stop += 1
        h = np.int64(A[A[WORK] + classes + 2 * i + 1])
        if stop - i > 1:
            for w in range(CLASS_WORDS):
                word = np.int32(0)
                for j in range(i, stop):
                    row = A[NODE * A[A[WORK] + classes + 2 * j + 1] + ARG_A]
                    word |= A[A[CLASSES] + row * CLASS_WORDS + w]
                A[A[WORK] + sp + w] = word
            h = make_class(A, sp)
        A[A[WORK] + pairs + 2 * kept] = h
        A[A[WORK] + pairs + 2 * kept + 1] = k
        kept += 1
        i = stop
    return kept


@inner
def _merge_counters(A, pairs, count, sp):
    """Join repeats of one body before one continuation where their ranges touch."""
    repeats = 0
    kept = 0
    for i in range(count):
        h = np.int64(A[A[WORK] + pairs + 2 * i])
        k = A[A[WORK] + pairs + 2 * i + 1]
        if A[NODE * h + KIND] == REPEAT:
            A[A[WORK] + sp + 4 * repeats] = A[NODE * h + ARG_A]
            A[A[WORK] + sp + 4 * repeats + 1] = k
            A[A[WORK] + sp + 4 * repeats + 2] = A[NODE * h + ARG_B]
            A[A[WORK] + sp + 4 * repeats + 3] = A[NODE * h + ARG_C]
            repeats += 1
        else:
            A[A[WORK] + pairs + 2 * kept] = h
            A[A[WORK] + pairs + 2 * kept + 1] = k
            kept += 1
    sort_rows(A, sp, repeats, 4)
    i = 0
    while i < repeats:
        x = np.int64(A[A[WORK] + sp + 4 * i])
        k = A[A[WORK] + sp + 4 * i + 1]
        lo = np.int64(A[A[WORK] + sp + 4 * i + 2])
        hi = np.int64(A[A[WORK] + sp + 4 * i + 3])
        i += 1
        while (
            i < repeats
            and A[A[WORK] + sp + 4 * i] == x
            and A[A[WORK] + sp + 4 * i + 1] == k
            and (hi == INFINITE or A[A[WORK] + sp + 4 * i + 2] <= hi + 1)
        ):
            hi = max(hi, np.int64(A[A[WORK] + sp + 4 * i + 3]))
            i += 1
        A[A[WORK] + pairs + 2 * kept] = make_repeat(A, x, lo, hi)
        A[A[WORK] + pairs + 2 * kept + 1] = k
        kept += 1
    return kept
