"""Smart constructors: the only makers of nodes, and the normal form.

The rules are those of `algebra/reference.py`, function by function, on flat arrays: what is a
recursion there is a stack here. Lists of members are passed as ranges of the WORK section; scratch
begins at `sp`, the first free slot. Here are those of one or two parts; `unions`, `intersections`
and `captures` have the others.

When room runs out a constructor sets STATUS and returns EMPTY_ID. Callers need not look: what they
build from it is harmless, because nothing is published while STATUS is set (`rows.py`).
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.interning import intern_class, intern_node
from constrain.kernels.derive.layout import (
    ANYWHERE,
    ARG_A,
    ARG_B,
    ARG_C,
    BLURRED,
    CAT,
    CLASS,
    CLASS_WORDS,
    COUNTED,
    EMPTY_ID,
    EPS_ID,
    FAR_REPEATS,
    FAR_WORDS,
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
    REPEAT,
    RULE,
    RULEFUL,
    STATUS,
    UNKNOWN_ID,
    UNSURE,
    WORK,
    lacks_work,
)


@inner
def make_class(A, at):
    """One byte out of the 256-bit set in WORK[at:at+8]."""
    any_bit = np.int64(0)
    for i in range(CLASS_WORDS):
        any_bit |= A[A[WORK] + at + i]
    if any_bit == 0:
        return np.int64(EMPTY_ID)
    row = intern_class(A, at)
    return intern_node(A, CLASS, row, 0, 0, NONEMPTY) if row >= 0 else np.int64(EMPTY_ID)


@inner
def make_byte(A, byte, sp):
    """Exactly one byte."""
    if lacks_work(A, sp + CLASS_WORDS):
        return np.int64(EMPTY_ID)
    for i in range(CLASS_WORDS):
        A[A[WORK] + sp + i] = 0
    bit = np.int64(1) << np.int64(byte & 31)
    A[A[WORK] + sp + (byte >> 5)] = bit if bit < 2**31 else bit - 2**32
    return make_class(A, sp)


@inner
def _is_word(A, x):
    """Whether a term begins with as many of something as there are, and something else follows."""
    if A[NODE * x + KIND] != CAT:
        return False
    first = np.int64(A[NODE * x + ARG_A])
    return A[NODE * first + KIND] == REPEAT and A[NODE * first + ARG_C] == INFINITE


@inner
def make_repeat(A, x, lo, hi):
    """`x` lo..hi times (hi may be INFINITE); `x` is not nullable."""
    if hi == 0 or x == EPS_ID:
        return np.int64(EPS_ID)
    if A[NODE * x + FLAGS] & HOLLOW or x == EMPTY_ID:
        return np.int64(EPS_ID) if lo == 0 else np.int64(EMPTY_ID)
    if lo == 1 and hi == 1:
        return np.int64(x)
    flags = NULLABLE | NONEMPTY if lo == 0 else A[NODE * x + FLAGS] & NONEMPTY
    flags |= A[NODE * x + FLAGS] & (ANYWHERE | FIRST)
    least = FAR_WORDS if _is_word(A, x) else FAR_REPEATS
    if least <= hi < INFINITE:
        flags |= COUNTED
    return intern_node(A, REPEAT, x, lo, hi, flags)


@inner
def one_fewer(A, t):
    """What is left of a REPEAT after its body once."""
    lo = np.int64(A[NODE * t + ARG_B])
    hi = np.int64(A[NODE * t + ARG_C])
    body = np.int64(A[NODE * t + ARG_A])
    return make_repeat(A, body, max(lo - 1, 0), hi if hi == INFINITE else hi - 1)


@inner
def _join_repeats(A, h, k):
    """`x{a,b}x{c,d}` as x{a+c,b+d}, or EMPTY where the counts are too large to add.

    Ambiguous lists of lists (`list: item ("," list)*`) would else have a term as long as the text.
    """
    lo = np.int64(A[NODE * h + ARG_B]) + A[NODE * k + ARG_B]
    hi = np.int64(INFINITE)
    if A[NODE * h + ARG_C] != INFINITE and A[NODE * k + ARG_C] != INFINITE:
        hi = np.int64(A[NODE * h + ARG_C]) + A[NODE * k + ARG_C]
    elif lo < INFINITE:
        return make_repeat(A, np.int64(A[NODE * h + ARG_A]), lo, hi)
    if hi >= INFINITE:
        return np.int64(EMPTY_ID)
    return make_repeat(A, np.int64(A[NODE * h + ARG_A]), lo, hi)


@inner
def make_pair(A, h, k):
    """CAT of a head that is no CAT."""
    if h == EMPTY_ID or k == EMPTY_ID:
        return np.int64(EMPTY_ID)
    if h == EPS_ID:
        return np.int64(k)
    if k == EPS_ID or h == UNKNOWN_ID:
        return np.int64(h)
    if A[NODE * h + KIND] == REPEAT:
        is_cat = A[NODE * k + KIND] == CAT
        first = A[NODE * k + ARG_A] if is_cat else k
        if A[NODE * first + KIND] == REPEAT and A[NODE * first + ARG_A] == A[NODE * h + ARG_A]:
            joined = _join_repeats(A, h, first)
            if joined != EMPTY_ID:
                if not is_cat or A[STATUS] != OK:
                    return joined
                h = joined
                k = np.int64(A[NODE * k + ARG_B])
                if h == EPS_ID:
                    return k
    flags = A[NODE * h + FLAGS] & A[NODE * k + FLAGS] & (NULLABLE | NONEMPTY)
    flags |= (A[NODE * h + FLAGS] | A[NODE * k + FLAGS]) & ANYWHERE
    flags |= A[NODE * h + FLAGS] & FIRST
    if A[NODE * h + FLAGS] & NULLABLE:
        flags |= A[NODE * k + FLAGS] & FIRST
    return intern_node(A, CAT, h, k, 0, flags)


@inner
def make_cat(A, h, k, sp):
    """`h` then `k`; re-nested to the right, so the first part is the head."""
    if (A[NODE * h + FLAGS] | A[NODE * k + FLAGS]) & HOLLOW:
        return np.int64(EMPTY_ID)
    if A[NODE * h + KIND] != CAT or k == EPS_ID or k == EMPTY_ID:
        return np.int64(h) if k == EPS_ID else make_pair(A, h, k)
    top = sp
    while A[NODE * h + KIND] == CAT:
        if lacks_work(A, top + 1):
            return np.int64(EMPTY_ID)
        A[A[WORK] + top] = A[NODE * h + ARG_A]
        top += 1
        h = np.int64(A[NODE * h + ARG_B])
    result = make_pair(A, h, k)
    while top > sp:
        top -= 1
        result = make_pair(A, A[A[WORK] + top], result)
    return result


@inner
def make_rule(A, rule, nullable):
    """A reference to a rule; its language is not empty, by contract."""
    return intern_node(A, RULE, rule, 0, 0, RULEFUL | NONEMPTY | (NULLABLE if nullable else 0))


@inner
def make_not(A, x):
    """Every byte string outside `x`."""
    if A[NODE * x + KIND] == NOT:
        return np.int64(A[NODE * x + ARG_A])
    if A[NODE * x + FLAGS] & HOLLOW:
        x = np.int64(EMPTY_ID)
    flags = A[NODE * x + FLAGS] & (ANYWHERE | FIRST)
    if flags & BLURRED:
        flags |= UNSURE | NONEMPTY
    if not A[NODE * x + FLAGS] & NULLABLE:
        flags |= NULLABLE | NONEMPTY
    return intern_node(A, NOT, x, 0, 0, flags)
