"""The constructor of intersections: classes are met, complements are one complement."""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.interning import intern_members
from constrain.kernels.derive.layout import (
    ALL_ID,
    ALT,
    AND,
    ANYWHERE,
    ARG_A,
    ARG_B,
    ARG_C,
    BLURRED,
    CAT,
    CLASS,
    CLASS_WORDS,
    CLASSES,
    EMPTY_ID,
    EPS_ID,
    FIRST,
    FLAGS,
    HOLLOW,
    INFINITE,
    KIND,
    NODE,
    NONEMPTY,
    NOT,
    NULLABLE,
    OK,
    POOL,
    REPEAT,
    STATUS,
    UNSURE,
    WORK,
    lacks_work,
)
from constrain.kernels.derive.members import distinct, flatten
from constrain.kernels.derive.nodes import make_class, make_not
from constrain.kernels.derive.unions import make_alt


@inner
def make_and(A, lo, hi, sp):
    """Intersection of members WORK[lo:hi]: flat, classes intersected, complements joined."""
    top = flatten(A, AND, lo, hi, sp)
    if A[STATUS] != OK:
        return np.int64(EMPTY_ID)
    count = 0
    num_blurred = 0
    has_eps = False
    all_nullable = True
    for i in range(sp, top):
        m = np.int64(A[A[WORK] + i])
        flags = A[NODE * m + FLAGS]
        if m == EMPTY_ID or flags & HOLLOW:
            return np.int64(EMPTY_ID)
        if flags & BLURRED:
            num_blurred += 1
        if not flags & NULLABLE:
            all_nullable = False
        if m == EPS_ID:
            has_eps = True
        if m != ALL_ID:
            A[A[WORK] + sp + count] = m
            count += 1
    if has_eps:
        return np.int64(EPS_ID) if all_nullable else np.int64(EMPTY_ID)
    count = _meet_classes(A, sp, count, top)
    if count > 0:
        count = _join_complements(A, sp, count, top)
    if count < 0:
        return np.int64(EMPTY_ID)
    # Blurred members that look alike may stand for different texts: what is in both is not told.
    if count < 2 and num_blurred < 2:
        return np.int64(A[A[WORK] + sp]) if count else np.int64(ALL_ID)
    flags = NULLABLE | NONEMPTY if all_nullable else 0
    for i in range(count):
        flags |= A[NODE * A[A[WORK] + sp + i] + FLAGS] & (ANYWHERE | FIRST)
    if flags & BLURRED:
        flags |= UNSURE | NONEMPTY
    return intern_members(A, AND, sp, sp + count, flags)


@inner
def _meet_classes(A, at, count, sp):
    """Put one class in the place of all among WORK[at:at+count].

    Returns how many members there are then; -1 if no byte is in all classes.
    """
    if lacks_work(A, sp + CLASS_WORDS):
        return -1
    kept = 0
    for i in range(count):
        m = np.int64(A[A[WORK] + at + i])
        if A[NODE * m + KIND] != CLASS:
            A[A[WORK] + at + kept] = m
            kept += 1
            continue
        is_first = kept == i
        row = A[NODE * m + ARG_A]
        for w in range(CLASS_WORDS):
            word = A[A[CLASSES] + row * CLASS_WORDS + w]
            A[A[WORK] + sp + w] = word if is_first else A[A[WORK] + sp + w] & word
    if kept == count:
        return count
    met = make_class(A, sp)
    if met == EMPTY_ID:
        return -1
    A[A[WORK] + at + kept] = met
    return kept + 1


@inner
def _join_complements(A, at, count, sp):
    """Sort members WORK[at:at+count], with one complement in the place of all.

    Returns how many there are then; -1 if nothing is in all of them.
    """
    top = sp
    kept = 0
    for i in range(count):
        m = np.int64(A[A[WORK] + at + i])
        if A[NODE * m + KIND] == NOT:
            if lacks_work(A, top + 1):
                return -1
            A[A[WORK] + top] = A[NODE * m + ARG_A]
            top += 1
        else:
            A[A[WORK] + at + kept] = m
            kept += 1
    kept = distinct(A, at, kept)
    if top == sp:
        return kept
    outside = make_alt(A, sp, top, top)
    if outside == ALL_ID:
        return -1
    for i in range(kept):
        if _has_all_of(A, outside, np.int64(A[A[WORK] + at + i])):
            return -1
    if outside == EMPTY_ID:
        return kept
    A[A[WORK] + at + kept] = make_not(A, outside)
    return distinct(A, at, kept + 1)


@inner
def _has_all_of(A, union, m):
    """Whether a term is seen to hold all strings of another.

    It is the other, or any number of what the other has some of, and behind it nothing that must
    come. So a text is dead as soon as what is excluded has stood in it, whatever else is asked of
    it: no search finds the same out of the lengths and words that it has left.
    """
    if A[NODE * union + FLAGS] & BLURRED:
        return False
    if union == m:
        return True
    if A[NODE * m + KIND] != REPEAT:
        return False
    is_union = A[NODE * union + KIND] == ALT
    for i in range(A[NODE * union + ARG_B] if is_union else 1):
        t = np.int64(A[A[POOL] + A[NODE * union + ARG_A] + i]) if is_union else union
        if A[NODE * t + KIND] == CAT and A[NODE * A[NODE * t + ARG_B] + FLAGS] & NULLABLE:
            t = np.int64(A[NODE * t + ARG_A])
        if A[NODE * t + KIND] == REPEAT and A[NODE * t + ARG_A] == A[NODE * m + ARG_A]:
            if A[NODE * t + ARG_B] == 0 and A[NODE * t + ARG_C] == INFINITE:
                return True
    return False
