"""The tables in which equal nodes and equal classes have one id, by open addressing.

Made with it: nodes are only ever added, and keep their ids when sections grow; then the tables are
filled again (`rehash`). A table is never more than half full.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.layout import (
    ALL_ID,
    ALT,
    AND,
    ARG_A,
    ARG_B,
    ARG_C,
    CLASS_TABLE,
    CLASS_WORDS,
    CLASSES,
    EMPTY_ID,
    FLAGS,
    KIND,
    MARK,
    NEED_CLASSES,
    NEED_NODES,
    NEED_POOL,
    NODE,
    NUM_CLASSES,
    NUM_NODES,
    NUM_POOL,
    POOL,
    TABLE,
    UNION,
    WORK,
    set_status,
    size_of,
)


@inner
def mix(h, x):
    """Fold x into a hash of 31 bits; stays below 2**63, so that plain Python computes the same."""
    h = np.int64(h)
    x = np.int64(x)
    h = ((h ^ (x & 0x7FFFFFFF)) * 0x2545F491) & 0x7FFFFFFFFFFFFFF
    return (h ^ (h >> 29)) & 0x7FFFFFFF


@inner
def hash_node(kind, a, b, c):
    """Hash of a node that is no ALT or AND."""
    return mix(mix(mix(kind * 7919 + 1, a), b), c)


@inner
def hash_members(A, kind, at, count):
    """Hash of an ALT or AND with the members A[at:at+count]."""
    h = np.int64(kind * 7919 + count)
    for i in range(count):
        h = mix(h, A[at + i])
    return h


@inner
def hash_class(A, at):
    """Hash of the 256-bit set A[at:at+8]."""
    h = np.int64(17)
    for i in range(CLASS_WORDS):
        w = np.int64(A[at + i])
        h = mix(mix(h, w), w >> 31)
    return h


@inner
def put(A, section, h, entry):
    """Enter something that is not in an open-addressing table."""
    bits = size_of(A, section) - 1
    slot = h & bits
    while A[A[section] + slot] != 0:
        slot = (slot + 1) & bits
    A[A[section] + slot] = entry


@inner
def clear(A, section):
    """Zero a section."""
    for i in range(A[section], A[section + 1]):
        A[i] = 0


@inner
def rehash(A):
    """Fill the tables of nodes and classes again after sections grew."""
    clear(A, TABLE)
    for n in range(ALL_ID, A[NUM_NODES]):
        kind = A[NODE * n + KIND]
        a = A[NODE * n + ARG_A]
        b = A[NODE * n + ARG_B]
        if kind == ALT or kind == AND or kind == UNION:
            h = hash_members(A, kind, A[POOL] + a, b)
        else:
            h = hash_node(kind, a, b, A[NODE * n + ARG_C])
        put(A, TABLE, h, n)
    clear(A, CLASS_TABLE)
    for row in range(A[NUM_CLASSES]):
        put(A, CLASS_TABLE, hash_class(A, A[CLASSES] + row * CLASS_WORDS), row + 1)


@inner
def _append_node(A, slot, kind, a, b, c, flags):
    n = A[NUM_NODES]
    if n >= size_of(A, MARK):
        set_status(A, NEED_NODES, n + 1)
        return EMPTY_ID
    A[NODE * n + KIND] = kind
    A[NODE * n + ARG_A] = a
    A[NODE * n + ARG_B] = b
    A[NODE * n + ARG_C] = c
    A[NODE * n + FLAGS] = flags
    A[A[TABLE] + slot] = n
    A[NUM_NODES] = n + 1
    return n


@inner
def intern_node(A, kind, a, b, c, flags):
    """The node with these fields; not for ALT and AND."""
    bits = size_of(A, TABLE) - 1
    slot = hash_node(kind, a, b, c) & bits
    while True:
        n = np.int64(A[A[TABLE] + slot])
        if n == 0:
            return np.int64(_append_node(A, slot, kind, a, b, c, flags))
        if (
            A[NODE * n + KIND] == kind
            and A[NODE * n + ARG_A] == a
            and A[NODE * n + ARG_B] == b
            and A[NODE * n + ARG_C] == c
        ):
            return n
        slot = (slot + 1) & bits


@inner
def intern_members(A, kind, lo, hi, flags):
    """The ALT or AND with the members WORK[lo:hi], ascending and distinct."""
    count = hi - lo
    h = hash_members(A, kind, A[WORK] + lo, count)
    bits = size_of(A, TABLE) - 1
    slot = h & bits
    while True:
        n = np.int64(A[A[TABLE] + slot])
        if n == 0:
            break
        if A[NODE * n + KIND] == kind and A[NODE * n + ARG_B] == count:
            at = A[NODE * n + ARG_A]
            same = True
            for i in range(count):
                if A[A[POOL] + at + i] != A[A[WORK] + lo + i]:
                    same = False
                    break
            if same:
                return n
        slot = (slot + 1) & bits
    at = A[NUM_POOL]
    if at + count > size_of(A, POOL):
        set_status(A, NEED_POOL, at + count)
        return np.int64(EMPTY_ID)
    for i in range(count):
        A[A[POOL] + at + i] = A[A[WORK] + lo + i]
    n = np.int64(_append_node(A, slot, kind, at, count, 0, flags))
    if n != EMPTY_ID:
        A[NUM_POOL] = at + count
    return n


@inner
def intern_class(A, at):
    """The row of CLASSES with the 256-bit set in WORK[at:at+8]; -1 without room."""
    h = hash_class(A, A[WORK] + at)
    bits = size_of(A, CLASS_TABLE) - 1
    slot = h & bits
    while True:
        row = np.int64(A[A[CLASS_TABLE] + slot]) - 1
        if row < 0:
            break
        same = True
        for i in range(CLASS_WORDS):
            if A[A[CLASSES] + row * CLASS_WORDS + i] != A[A[WORK] + at + i]:
                same = False
                break
        if same:
            return row
        slot = (slot + 1) & bits
    row = np.int64(A[NUM_CLASSES])
    if (row + 1) * CLASS_WORDS > size_of(A, CLASSES):
        set_status(A, NEED_CLASSES, row + 1)
        return np.int64(-1)
    for i in range(CLASS_WORDS):
        A[A[CLASSES] + row * CLASS_WORDS + i] = A[A[WORK] + at + i]
    A[A[CLASS_TABLE] + slot] = row + 1
    A[NUM_CLASSES] = row + 1
    return row
