"""The derivative by several bytes of a token: what they do not change is put back once, at the end.

Byte by byte, each leaves behind terms that no text ever stops at: inside of a string far from its
bound, x{0,n}k, x{0,n-1}k, x{0,n-2}k and so on. Here what follows is kept aside as long as no byte
can begin it, bytes that are a whole x are counted, and of a text that is captured only the rest is
looked at:

    derive(h k, b)           = derive(h, b) k                   if h may not end, or b not begin k
    derive(x{lo,hi}, b)      = x{lo-1,hi-1}                     if b is an x
    derive(CAPTURE(w,t)|y,b) = CAPTURE(w b, derive(t, b)) | derive(y, b)      if t may not end

The terms are those that are made byte by byte: concatenation is associative, and a CAPTURE is no
part of the other members of its union.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.captures import make_capture
from constrain.kernels.derive.emptiness import decide
from constrain.kernels.derive.layout import (
    ALT,
    ARG_A,
    ARG_B,
    ARG_C,
    BYTEWISE,
    CAPTURE,
    CAT,
    CLASS,
    EMPTY_ID,
    EPS_ID,
    FLAGS,
    HOLLOW,
    INFINITE,
    KIND,
    NODE,
    NONEMPTY,
    NULLABLE,
    OK,
    POOL,
    REACHED,
    REPEAT,
    STATUS,
    WORK,
    lacks_work,
)
from constrain.kernels.derive.nodes import make_cat, make_repeat
from constrain.kernels.derive.step import is_in, longer_text, step
from constrain.kernels.derive.unions import make_alt

MOST_CAPTURES = 4
"""Members of a union that capture, each with its slots."""
SLOTS = 5
"""[what it is a capture of, the text so far, the rest, the end of the rest, what follows]. The end
begins with a CLASS, or is EPS_ID where no such end was found."""


@inner
def _class_first(A, t):
    """The CLASS that a term begins with; EMPTY_ID if it begins with something else."""
    if A[NODE * t + KIND] == CAT:
        t = np.int64(A[NODE * t + ARG_A])
    return np.int64(t) if A[NODE * t + KIND] == CLASS else np.int64(EMPTY_ID)


@inner
def _begins(A, t, byte):
    """Whether a byte may begin a term, as far as that is seen at once."""
    first = _class_first(A, t)
    return first == EMPTY_ID or is_in(A, byte, first)


@inner
def _open_captures(A, core, sp):
    """Write the members of a union that capture, SLOTS each, to WORK[sp], the others behind them.

    Returns how many capture; 0 if this is not for here. A[REACHED] is the end of the others.
    """
    is_union = A[NODE * core + KIND] == ALT
    size = np.int64(A[NODE * core + ARG_B]) if is_union else np.int64(1)
    top = np.int64(sp) + SLOTS * MOST_CAPTURES
    if lacks_work(A, top + size):
        return np.int64(0)
    count = np.int64(0)
    for i in range(size):
        member = np.int64(core)
        if is_union:
            member = np.int64(A[A[POOL] + A[NODE * core + ARG_A] + i])
        if not A[NODE * member + FLAGS] & BYTEWISE:
            A[A[WORK] + top] = member
            top += 1
            continue
        after = np.int64(EPS_ID)
        if A[NODE * member + KIND] == CAT:
            after = np.int64(A[NODE * member + ARG_B])
            member = np.int64(A[NODE * member + ARG_A])
        if A[NODE * member + KIND] != CAPTURE or count == MOST_CAPTURES:
            return np.int64(0)
        rest = np.int64(A[NODE * member + ARG_B])
        end = np.int64(EPS_ID)
        if A[NODE * rest + KIND] == CAT:
            tail = np.int64(A[NODE * rest + ARG_B])
            if _class_first(A, tail) != EMPTY_ID:
                end = tail
                rest = np.int64(A[NODE * rest + ARG_A])
        at = A[WORK] + sp + SLOTS * count
        A[at] = A[NODE * member + ARG_C]
        A[at + 1] = A[NODE * member + ARG_A]
        A[at + 2] = rest
        A[at + 3] = end
        A[at + 4] = after
        count += 1
    A[REACHED] = top
    return count


@inner
def _ends_capture(A, sp, count, byte):
    """Whether a text that is captured may end before a byte, or with it."""
    for i in range(count):
        at = A[WORK] + sp + SLOTS * i
        rest = np.int64(A[at + 2])
        end = np.int64(A[at + 3])
        if A[NODE * rest + FLAGS] & NULLABLE and (end == EPS_ID or _begins(A, end, byte)):
            return True
    return False


@inner
def _through_captures(A, core, data, start, stop, sp):
    """The term after those of data[start:stop] that lie inside of texts that are captured.

    A[REACHED] is where they end; with `start` there is none. Look at STATUS before use.
    """
    first = np.int64(sp) + SLOTS * MOST_CAPTURES
    count = _open_captures(A, core, sp)
    last = np.int64(A[REACHED])
    A[REACHED] = start
    if count == 0 or _ends_capture(A, sp, count, np.int64(data[start])):
        return np.int64(core)
    others = np.int64(EMPTY_ID)
    if last > first:
        others = make_alt(A, first, last, last)
    at = np.int64(start)
    while at < stop and count > 0 and A[STATUS] == OK:
        byte = np.int64(data[at])
        if A[NODE * others + FLAGS] & NULLABLE or _ends_capture(A, sp, count, byte):
            break
        others = step(A, others, byte, first)
        kept = np.int64(0)
        for i in range(count):
            slot = A[WORK] + sp + SLOTS * i
            rest = step(A, np.int64(A[slot + 2]), byte, first)
            # As where all of it is decided: what lives beside it leaves it undecided.
            if A[STATUS] == OK and not A[NODE * others + FLAGS] & NONEMPTY:
                decide(A, rest, first)
            if rest != EMPTY_ID and not A[NODE * rest + FLAGS] & HOLLOW:
                A[slot + 2] = rest
                for j in range(SLOTS):
                    A[A[WORK] + sp + SLOTS * kept + j] = A[slot + j]
                kept += 1
        count = kept
        at += 1
    if at == start or lacks_work(A, first + count + 1 + at - start):
        return np.int64(core)
    top = first
    if others != EMPTY_ID:
        A[A[WORK] + top] = others
        top += 1
    for i in range(count):
        slot = A[WORK] + sp + SLOTS * i
        for j in range(at - start):
            A[A[WORK] + top + j] = data[start + j]
        text = longer_text(A, np.int64(A[slot + 1]), top, at - start)
        rest = make_cat(A, np.int64(A[slot + 2]), np.int64(A[slot + 3]), top)
        whole = make_capture(A, text, rest, np.int64(A[slot]))
        A[A[WORK] + top] = make_cat(A, whole, np.int64(A[slot + 4]), top)
        top += 1
    A[REACHED] = at
    return make_alt(A, first, top, top)


@inner
def _ends(A, top, byte):
    """Whether a byte may begin what follows something that may end, the last of WORK[:top]."""
    return top > 0 and _begins(A, np.int64(A[A[WORK] + top - 1]), byte)


@inner
def _through_counter(A, core, data, start, stop, top):
    """A REPEAT after those of data[start:stop] that are an x each; A[REACHED] is where they end."""
    x = np.int64(A[NODE * core + ARG_A])
    lo = np.int64(A[NODE * core + ARG_B])
    hi = np.int64(A[NODE * core + ARG_C])
    at = np.int64(start)
    while at < stop and at - start < hi and not _ends(A, top, np.int64(data[at])):
        if step(A, x, np.int64(data[at]), top) != EPS_ID or A[STATUS] != OK:
            break
        at += 1
    A[REACHED] = at
    if at == start:
        return np.int64(core)
    left = hi if hi == INFINITE else hi - (at - start)
    return make_repeat(A, x, max(lo - (at - start), 0), left)


@inner
def through(A, state, data, start, stop):
    """The state after some bytes of data[start:stop], as far as this is worth while.

    A[REACHED] is where they end: up to and with the byte that killed it. It is `start` where there
    are none, or where STATUS has stopped this.
    """
    A[REACHED] = start
    core = np.int64(state)
    at = np.int64(start)
    top = np.int64(0)
    while at < stop and core != EMPTY_ID:
        if A[NODE * core + KIND] == CAT:
            if lacks_work(A, top + 1):
                break
            A[A[WORK] + top] = A[NODE * core + ARG_B]
            core = np.int64(A[NODE * core + ARG_A])
            top += 1
        byte = np.int64(data[at])
        if A[NODE * core + FLAGS] & NULLABLE and _ends(A, top, byte):
            break
        passed = np.int64(at)
        after = core
        if A[NODE * core + FLAGS] & BYTEWISE:
            after = _through_captures(A, core, data, at, stop, top)
            passed = np.int64(A[REACHED])
            if passed == at:
                break
        elif A[NODE * core + KIND] == REPEAT:
            after = _through_counter(A, core, data, at, stop, top)
            passed = np.int64(A[REACHED])
        if passed == at and A[STATUS] == OK:
            after = step(A, core, byte, top)
            passed += 1
        if A[STATUS] != OK or not decide(A, after, top):
            break
        core = after
        if A[NODE * core + FLAGS] & HOLLOW:
            core = np.int64(EMPTY_ID)
        at = passed
    after = np.int64(EPS_ID)
    for i in range(top):
        after = make_cat(A, np.int64(A[A[WORK] + i]), after, top)
    core = make_cat(A, core, after, top)
    if A[STATUS] != OK:
        A[REACHED] = start
        return np.int64(state)
    A[REACHED] = at
    return core
