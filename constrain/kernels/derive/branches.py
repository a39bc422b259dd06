"""Many rules, each behind a head of its own, of which a text needs one or two: their union.

It is a RULE, so that its row is made once, whatever stands beside it.

Others often have the same heads. Then the row of one tells that of the next: it is cut into the
same classes, and after each stands the same rest of a head, with another rule behind it. So those
that follow make neither the rules' concatenations nor their union. The body of such a RULE is made
if something but its row is asked for.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.interning import intern_node
from constrain.kernels.derive.layout import (
    ARG_A,
    ARG_B,
    BODY,
    CAT,
    EMPTY_ID,
    KIND,
    NODE,
    NONEMPTY,
    OK,
    PARTITION_SIZE,
    ROW_OFFSET,
    ROW_PARTITION,
    RULE,
    RULEFUL,
    STATUS,
    TARGETS,
    WORK,
    lacks_work,
)
from constrain.kernels.derive.nodes import make_cat, make_rule
from constrain.kernels.derive.rows import ensure_row, publish
from constrain.kernels.derive.unions import make_alt


@inner
def _union(A, first, count):
    """The RULE of `count` rules: its number is the one after theirs. No token begins it."""
    return intern_node(A, RULE, first + count, 1, 0, RULEFUL | NONEMPTY)


@inner
def make_branches(A, first, nullable):
    """The union of rules `first`, ..., each behind a head, WORK[0], ...

    Args:
        A: The arena.
        first: Number of the first rule.
        nullable: Whether each of them is.
    """
    count = nullable.shape[0]
    for i in range(count):
        then = make_rule(A, first + i, nullable[i] != 0)
        A[A[WORK] + i] = make_cat(A, np.int64(A[A[WORK] + i]), then, count)
    body = make_alt(A, 0, count, count)
    node = _union(A, first, count)
    if A[STATUS] == OK:
        A[A[BODY] + node] = body + 1
    return node


@inner
def branches_like(A, first, nullable, like):
    """The union of rules with the same heads as the one of rules `like`, ...

    EMPTY_ID if there is none, or it does not say: where two heads begin alike.
    """
    if like < 0:
        return np.int64(EMPTY_ID)
    count = nullable.shape[0]
    old = _union(A, like, count)
    if not ensure_row(A, old, 0):
        return np.int64(EMPTY_ID)
    partition = np.int64(A[NODE * old + ROW_PARTITION])
    size = np.int64(A[A[PARTITION_SIZE] + partition])
    if lacks_work(A, size):
        return np.int64(EMPTY_ID)
    for c in range(size):
        target = np.int64(A[A[TARGETS] + A[NODE * old + ROW_OFFSET] + c])
        rule = target
        if A[NODE * target + KIND] == CAT:
            rule = np.int64(A[NODE * target + ARG_B])
        if target != EMPTY_ID:
            number = np.int64(A[NODE * rule + ARG_A]) - like
            if A[NODE * rule + KIND] != RULE or number < 0 or number >= count:
                return np.int64(EMPTY_ID)
            then = make_rule(A, first + number, nullable[number] != 0)
            if rule != target:
                then = make_cat(A, np.int64(A[NODE * target + ARG_A]), then, size)
            target = then
        A[A[WORK] + c] = target
    node = _union(A, first, count)
    if A[STATUS] != OK or not publish(A, node, partition, 0, size):
        return np.int64(EMPTY_ID)
    return node
