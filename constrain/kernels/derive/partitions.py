"""Partitions of the 256 bytes into those that a term does not tell apart, interned.

Most terms of a grammar share a few dozen. Classes are numbered by their first byte.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.interning import clear, mix, put
from constrain.kernels.derive.layout import (
    FIRST_BYTES,
    NEED_PARTITIONS,
    NODE,
    NUM_PARTITIONS,
    OK,
    PARTITION_SIZE,
    PARTITION_TABLE,
    PARTITION_WORDS,
    PARTITIONS,
    PRODUCT_SLOTS,
    PRODUCTS,
    ROW_PARTITION,
    STATUS,
    WORK,
    class_of,
    set_status,
    size_of,
)

BYTES = 256
FEW_OPERANDS = 8
DIRECT_PAIRS = 4096
"""Pairs of classes up to this many are numbered through a table, more through a search."""
ROOM = DIRECT_PAIRS + BYTES
"""Slots of WORK that a partition out of others takes."""


@inner
def _packed(A, at):
    """Four entries of WORK in one slot, as `byte_in` reads them."""
    w = A[WORK] + at
    low = np.int64(A[w]) | np.int64(A[w + 1]) << 8 | np.int64(A[w + 2]) << 16
    high = np.int64(A[w + 3])
    return low | (high - 256 if high > 127 else high) << 24


@inner
def _rehash_partition(A, p):
    h = np.int64(A[A[PARTITION_SIZE] + p])
    for j in range(PARTITION_WORDS):
        h = (h * 31 + A[A[PARTITIONS] + p * PARTITION_WORDS + j]) & 0x7FFFFFFF
    return mix(h, np.int64(A[A[PARTITION_SIZE] + p]))


@inner
def rehash_partitions(A):
    """Fill the table of partitions again after sections grew."""
    clear(A, PARTITION_TABLE)
    for p in range(A[NUM_PARTITIONS]):
        put(A, PARTITION_TABLE, _rehash_partition(A, p), p + 1)


@inner
def intern_partition(A, at, size):
    """The partition WORK[at:at+256] (byte -> class), its classes numbered by first byte."""
    h = np.int64(size)
    for j in range(PARTITION_WORDS):
        h = (h * 31 + _packed(A, at + 4 * j)) & 0x7FFFFFFF
    h = mix(h, size)
    bits = size_of(A, PARTITION_TABLE) - 1
    slot = h & bits
    while True:
        p = np.int64(A[A[PARTITION_TABLE] + slot]) - 1
        if p < 0:
            break
        same = A[A[PARTITION_SIZE] + p] == size
        if same:
            for j in range(PARTITION_WORDS):
                if A[A[PARTITIONS] + p * PARTITION_WORDS + j] != _packed(A, at + 4 * j):
                    same = False
                    break
        if same:
            return p
        slot = (slot + 1) & bits
    p = np.int64(A[NUM_PARTITIONS])
    if p >= size_of(A, PARTITION_SIZE):
        set_status(A, NEED_PARTITIONS, p + 1)
        return np.int64(0)
    base = p * PARTITION_WORDS
    for j in range(PARTITION_WORDS):
        A[A[PARTITIONS] + base + j] = _packed(A, at + 4 * j)
        A[A[FIRST_BYTES] + base + j] = 0
    seen = np.int64(0)
    for i in range(BYTES):
        if A[A[WORK] + at + i] == seen:
            first = np.int64(i - 256 if i > 127 and seen & 3 == 3 else i)
            A[A[FIRST_BYTES] + base + (seen >> 2)] += first << ((seen & 3) << 3)
            seen += 1
    A[A[PARTITION_SIZE] + p] = size
    A[A[PARTITION_TABLE] + slot] = p + 1
    A[NUM_PARTITIONS] = p + 1
    return p


@inner
def _refine(A, at, size, partition, sp):
    """Cut the classes WORK[at:at+256] by a partition; returns how many there are now."""
    other = np.int64(A[A[PARTITION_SIZE] + partition])
    pairs = size * other
    new = 0
    if pairs <= DIRECT_PAIRS:
        for i in range(pairs):
            A[A[WORK] + sp + i] = -1
        for i in range(BYTES):
            pair = np.int64(A[A[WORK] + at + i]) * other + class_of(A, partition, i)
            if A[A[WORK] + sp + pair] < 0:
                A[A[WORK] + sp + pair] = new
                new += 1
            A[A[WORK] + at + i] = A[A[WORK] + sp + pair]
        return new
    for i in range(BYTES):
        pair = np.int64(A[A[WORK] + at + i]) * other + class_of(A, partition, i)
        found = -1
        for j in range(new):
            if A[A[WORK] + sp + j] == pair:
                found = j
                break
        if found < 0:
            A[A[WORK] + sp + new] = pair
            found = new
            new += 1
        A[A[WORK] + at + i] = found
    return new


@inner
def _product(A, p, q, sp):
    """The partition that tells apart what either of two does."""
    if A[A[PARTITION_SIZE] + q] == 1:
        return np.int64(p)
    if A[A[PARTITION_SIZE] + p] == 1:
        return np.int64(q)
    slot = A[PRODUCTS] + 3 * (mix(p, q) & (PRODUCT_SLOTS - 1))
    if A[slot] == p and A[slot + 1] == q and A[slot + 2] != 0:
        return np.int64(A[slot + 2]) - 1
    for i in range(BYTES):
        A[A[WORK] + sp + i] = class_of(A, p, i)
    size = _refine(A, sp, np.int64(A[A[PARTITION_SIZE] + p]), q, sp + BYTES)
    found = intern_partition(A, sp, size)
    if A[STATUS] == OK:
        A[slot] = p
        A[slot + 1] = q
        A[slot + 2] = found + 1
    return found


@inner
def common_partition(A, lo, hi, sp):
    """The partition that tells apart whatever that of a term out of WORK[lo:hi] does.

    That of few terms is found by what is known of their partitions; that of many would leave a
    partition behind for each. Takes `ROOM` slots of scratch, which are there.
    """
    known = np.int64(A[NODE * A[A[WORK] + lo] + ROW_PARTITION])
    if hi - lo <= FEW_OPERANDS:
        for i in range(lo + 1, hi):
            p = np.int64(A[NODE * A[A[WORK] + i] + ROW_PARTITION])
            if p != known:
                known = _product(A, known, p, sp)
        return known
    size = np.int64(1)
    for i in range(BYTES):
        A[A[WORK] + sp + i] = 0
    last = np.int64(-1)
    for i in range(lo, hi):
        p = np.int64(A[NODE * A[A[WORK] + i] + ROW_PARTITION])
        if p != last:
            size = _refine(A, sp, size, p, sp + BYTES)
            last = p
    return intern_partition(A, sp, size)
