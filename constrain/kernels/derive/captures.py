"""Constructors of captured texts, and of what follows them."""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.interning import intern_node
from constrain.kernels.derive.layout import (
    ARG_A,
    ARG_B,
    BLURRED,
    BYTEWISE,
    CAPTURE,
    CAPTURE_SLOTS,
    CAPTURES,
    CAT,
    EMPTY_ID,
    EPS_ID,
    FLAGS,
    FOLLOW,
    HOLLOW,
    KIND,
    NODE,
    NONEMPTY,
    NULLABLE,
    OPEN,
    RULEFUL,
    UNKNOWN_ID,
    UNSURE,
    WORK,
    lacks_work,
)
from constrain.kernels.derive.nodes import make_cat
from constrain.kernels.derive.unions import make_either


@inner
def make_capture(A, text, x, capture):
    """The rest `x` of a text that began with `text`, then what follows the whole of it."""
    if x == EMPTY_ID or A[NODE * x + FLAGS] & HOLLOW:
        return np.int64(EMPTY_ID)
    flags = A[NODE * x + FLAGS] & (NONEMPTY | BLURRED | OPEN | UNSURE) | RULEFUL | BYTEWISE
    if A[NODE * x + FLAGS] & NULLABLE:
        flags |= OPEN
    return intern_node(A, CAPTURE, text, x, capture, flags)


@inner
def after_capture(A, capture, text, sp):
    """What follows a captured text; `text` -1: one that is not known."""
    follow = np.int64(UNKNOWN_ID)
    if text >= 0:
        follow = intern_node(A, FOLLOW, capture, text, 0, NONEMPTY | RULEFUL | BYTEWISE)
    at = A[CAPTURES] + CAPTURE_SLOTS * capture
    usual = make_cat(A, np.int64(A[at + 1]), follow, sp)
    return make_cat(A, np.int64(A[at]), make_either(A, usual, np.int64(A[at + 2]), sp), sp)


@inner
def set_capture(A, capture, before, instead):
    """Keep what stands between a captured text and what follows it, and what may come instead.

    What both begin with is kept by itself, so that it is not looked for after each text.
    """
    top = np.int64(0)
    while (
        A[NODE * before + KIND] == CAT
        and A[NODE * instead + KIND] == CAT
        and A[NODE * before + ARG_A] == A[NODE * instead + ARG_A]
    ):
        if lacks_work(A, top + 1):
            return
        A[A[WORK] + top] = A[NODE * before + ARG_A]
        before = np.int64(A[NODE * before + ARG_B])
        instead = np.int64(A[NODE * instead + ARG_B])
        top += 1
    first = np.int64(EPS_ID)
    while top > 0:
        top -= 1
        first = make_cat(A, np.int64(A[A[WORK] + top]), first, top)
    at = A[CAPTURES] + CAPTURE_SLOTS * capture
    A[at] = first
    A[at + 1] = before
    A[at + 2] = instead
