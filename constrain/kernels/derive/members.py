"""Lists of members in the WORK section: sorted, without repeats, flat."""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.layout import ARG_A, ARG_B, KIND, NODE, POOL, WORK, lacks_work


@inner
def sort_rows(A, at, count, width):
    """Sort `count` rows of `width` slots at WORK[at], by all their slots; Shell's method."""
    gap = 1
    while gap < count // 3:
        gap = gap * 3 + 1
    while gap > 0:
        for i in range(gap, count):
            j = i
            while j >= gap:
                p = at + (j - gap) * width
                q = at + j * width
                d = 0
                while d < width and A[A[WORK] + p + d] == A[A[WORK] + q + d]:
                    d += 1
                if d == width or A[A[WORK] + p + d] < A[A[WORK] + q + d]:
                    break
                for e in range(width):
                    swap = A[A[WORK] + p + e]
                    A[A[WORK] + p + e] = A[A[WORK] + q + e]
                    A[A[WORK] + q + e] = swap
                j -= gap
        gap //= 3


@inner
def distinct(A, at, count):
    """Sort WORK[at:at+count], drop repeats, and return how many are left."""
    sort_rows(A, at, count, 1)
    kept = 0
    for i in range(count):
        if kept == 0 or A[A[WORK] + at + kept - 1] != A[A[WORK] + at + i]:
            A[A[WORK] + at + kept] = A[A[WORK] + at + i]
            kept += 1
    return kept


@inner
def flatten(A, kind, lo, hi, sp):
    """Copy members WORK[lo:hi] to sp, those of a nested `kind` in its place; returns the end."""
    top = sp
    for i in range(lo, hi):
        m = np.int64(A[A[WORK] + i])
        if A[NODE * m + KIND] == kind:
            at = A[NODE * m + ARG_A]
            count = A[NODE * m + ARG_B]
            if lacks_work(A, top + count):
                return top
            for j in range(count):
                A[A[WORK] + top] = A[A[POOL] + at + j]
                top += 1
        else:
            if lacks_work(A, top + 1):
                return top
            A[A[WORK] + top] = m
            top += 1
    return top
