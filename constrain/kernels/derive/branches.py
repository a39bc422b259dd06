"""Many rules, each behind a head of its own, of which a text needs one or two: their union.

Others often have the same heads, and a text spends its time inside of these. So heads are a term of
their own, in which a LABEL stands instead of each rule, and the union is a RULE that names those
heads and the first of the rules:

    ("if" 0 | "in" 1 | [a-z]+ 2) with the rules r, r+1, r+2; after "i" ("f" 0 | "n" 1 | [a-z]* 2)

The row of such a RULE is that of its heads, made once for all unions, with the same rules behind
what is left; and where a head may be over, the row of its rule beside it. Nothing is made of a rule
before that. Such a RULE has a body only if something but its row is asked for.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.interning import intern_node
from constrain.kernels.derive.layout import (
    ALT,
    ARG_A,
    ARG_B,
    CAT,
    EMPTY_ID,
    FLAGS,
    HOLLOW,
    KIND,
    LABEL,
    NODE,
    NONEMPTY,
    NULLABLE,
    POOL,
    RULE,
    RULEFUL,
    WORK,
    lacks_work,
)
from constrain.kernels.derive.nodes import make_cat, make_rule
from constrain.kernels.derive.unions import make_alt


@inner
def make_heads(A, nullable):
    """Heads WORK[0], ..., each with its LABEL; `nullable` says which rules are."""
    count = nullable.shape[0]
    for i in range(count):
        label = intern_node(A, LABEL, i, nullable[i], 0, NULLABLE | NONEMPTY | RULEFUL)
        A[A[WORK] + i] = make_cat(A, np.int64(A[A[WORK] + i]), label, count)
    return make_alt(A, 0, count, count)


@inner
def write_ends(A, heads, at):
    """Write the LABELs of heads that may be over to WORK[at:]; returns where they end."""
    if lacks_work(A, at + 1):
        return np.int64(at)
    A[A[WORK] + at] = heads
    out = np.int64(at)
    now = np.int64(at)
    end = np.int64(at + 1)
    while now < end:  # what is still to be looked at is behind what was found
        t = np.int64(A[A[WORK] + now])
        now += 1
        kind = A[NODE * t + KIND]
        if not A[NODE * t + FLAGS] & NULLABLE:
            continue
        if kind == LABEL:
            A[A[WORK] + out] = t
            out += 1
        elif kind == CAT or kind == ALT:
            count = np.int64(A[NODE * t + ARG_B]) if kind == ALT else np.int64(1)
            if lacks_work(A, end + count):
                return np.int64(at)
            for i in range(count):
                part = A[NODE * t + ARG_B]
                if kind == ALT:
                    part = A[A[POOL] + A[NODE * t + ARG_A] + i]
                A[A[WORK] + end + i] = part
            end += count
    return out


@inner
def rule_of(A, label, first):
    """The rule of a LABEL."""
    return make_rule(A, first + A[NODE * label + ARG_A], A[NODE * label + ARG_B] != 0)


@inner
def make_branches(A, heads, first, sp):
    """What is left of heads, with the rules `first`, ... behind them."""
    if heads == EMPTY_ID or A[NODE * heads + FLAGS] & HOLLOW:
        return np.int64(EMPTY_ID)
    if A[NODE * heads + KIND] == LABEL:
        return rule_of(A, heads, first)
    flags = RULEFUL | (A[NODE * heads + FLAGS] & NONEMPTY)
    if A[NODE * heads + FLAGS] & NULLABLE:
        end = write_ends(A, heads, sp)
        for i in range(sp, end):
            if A[NODE * A[A[WORK] + i] + ARG_B] != 0:
                flags |= NULLABLE
    return intern_node(A, RULE, first, heads, 0, flags)
