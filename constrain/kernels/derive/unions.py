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

FRAME = 8


@inner
def make_alt(A, lo, hi, sp):
    """Union of members WORK[lo:hi]: flat, factored by head, classes and touching counters merged.

    A union whose members share a head waits in a frame for the union of their continuations:
    [pairs, count, next, out, head, union] are its pairs (head, continuation), how many, the next to
    look at, the end of the pairs that are done (they start at `pairs` too), the head it waits with,
    and its UNION. Unions inside of unions are looked up: the same ones come again and again where
    ambiguous repeats follow one another, and making each anew takes time exponential in the depth.
    """
    base = sp
    depth = 0
    result = np.int64(EMPTY_ID)
    start, end = lo, hi
    opening = True
    pairs = count = at = out = head = union = np.int64(0)
    while True:
        if opening:
            pairs = sp
            count = _open_union(A, start, end, sp)
            at = out = union = np.int64(0)
            if depth > 0 and count >= 2:
                union = intern_members(A, UNION, pairs, pairs + 2 * count, 0)
                result = np.int64(A[NODE * union + ARG_C])
                opening = result == EMPTY_ID
            if count < 2:
                if count == 0:
                    result = np.int64(EMPTY_ID)
                elif count == 1:
                    result = np.int64(A[A[WORK] + pairs])
                else:
                    result = np.int64(ALL_ID)
                opening = False
                if depth == 0:
                    return result
        if not opening:
            # Back in the frame that waited: its head goes with the union just made.
            depth -= 1
            f = depth * FRAME
            pairs = np.int64(A[A[FRAMES] + f])
            count = np.int64(A[A[FRAMES] + f + 1])
            at = np.int64(A[A[FRAMES] + f + 2])
            out = np.int64(A[A[FRAMES] + f + 3])
            head = np.int64(A[A[FRAMES] + f + 4])
            union = np.int64(A[A[FRAMES] + f + 5])
            A[A[WORK] + pairs + 2 * out] = head
            A[A[WORK] + pairs + 2 * out + 1] = result
            out += 1
        opening = False
        waiting = False
        while at < count:
            head = np.int64(A[A[WORK] + pairs + 2 * at])
            stop = at + 1
            while stop < count and A[A[WORK] + pairs + 2 * stop] == head:
                stop += 1
            if stop - at == 1:
                A[A[WORK] + pairs + 2 * out] = head
                A[A[WORK] + pairs + 2 * out + 1] = A[A[WORK] + pairs + 2 * at + 1]
                out += 1
                at = stop
                continue
            sp = pairs + 2 * count
            f = depth * FRAME
            if f + FRAME > size_of(A, FRAMES):
                set_status(A, NEED_FRAMES, f + FRAME)
            if A[STATUS] != OK or lacks_work(A, sp + (stop - at)):
                return np.int64(EMPTY_ID)
            start = sp
            for i in range(at, stop):
                A[A[WORK] + sp] = A[A[WORK] + pairs + 2 * i + 1]
                sp += 1
            end = sp
            A[A[FRAMES] + f] = pairs
            A[A[FRAMES] + f + 1] = count
            A[A[FRAMES] + f + 2] = stop
            A[A[FRAMES] + f + 3] = out
            A[A[FRAMES] + f + 4] = head
            A[A[FRAMES] + f + 5] = union
            depth += 1
            waiting = True
            break
        if waiting:
            opening = True
            continue
        result = _close_union(A, pairs, out, pairs + 2 * count)
        if union != 0 and A[STATUS] == OK:
            A[NODE * union + ARG_C] = result
        if depth == 0 or A[STATUS] != OK:
            return result if A[STATUS] == OK else np.int64(EMPTY_ID)
        sp = base


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
