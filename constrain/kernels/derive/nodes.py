"""Smart constructors: the only makers of nodes, and the normal form.

The rules are those of `algebra/reference.py`, function by function, on flat arrays: what is a
recursion there is a stack here. Lists of members are passed as ranges of the WORK section; scratch
begins at `sp`, the first free slot.

When room runs out a constructor sets STATUS and returns EMPTY_ID. Callers need not look: what they
build from it is harmless, because nothing is published while STATUS is set (`rows.py`).
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.layout import (
    ALL_ID,
    ALT,
    AND,
    ANYWHERE,
    ARG_A,
    ARG_B,
    ARG_C,
    BLURRED,
    BYTEWISE,
    CAPTURE,
    CAPTURE_SLOTS,
    CAPTURES,
    CAT,
    CLASS,
    CLASS_TABLE,
    CLASS_WORDS,
    CLASSES,
    COUNTED,
    EMPTY_ID,
    EPS_ID,
    FAR_REPEATS,
    FAR_WORDS,
    FIRST,
    FLAGS,
    FOLLOW,
    FRAMES,
    HOLLOW,
    INFINITE,
    KIND,
    MARK,
    NEED_CLASSES,
    NEED_FRAMES,
    NEED_NODES,
    NEED_POOL,
    NEED_WORK,
    NODE,
    NONEMPTY,
    NOT,
    NULLABLE,
    NUM_CLASSES,
    NUM_NODES,
    NUM_POOL,
    OK,
    OPEN,
    POOL,
    REPEAT,
    RULE,
    RULEFUL,
    STATUS,
    TABLE,
    UNION,
    UNKNOWN_ID,
    UNSURE,
    WORK,
    size_of,
)

FRAME = 8


@inner
def set_status(A, status, arg):
    """Record the first thing that went wrong."""
    if A[STATUS] == OK:
        A[STATUS] = status
        A[STATUS + 1] = arg


@inner
def lacks_work(A, upto):
    """Whether the scratch stack is too short; sets STATUS if so."""
    if upto <= size_of(A, WORK):
        return False
    set_status(A, NEED_WORK, upto)
    return True


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
def make_class(A, at):
    """One byte out of the 256-bit set in WORK[at:at+8]."""
    any_bit = np.int64(0)
    for i in range(CLASS_WORDS):
        any_bit |= A[A[WORK] + at + i]
    if any_bit == 0:
        return np.int64(EMPTY_ID)
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
            return intern_node(A, CLASS, row, 0, 0, NONEMPTY)
        slot = (slot + 1) & bits
    row = np.int64(A[NUM_CLASSES])
    if (row + 1) * CLASS_WORDS > size_of(A, CLASSES):
        set_status(A, NEED_CLASSES, row + 1)
        return np.int64(EMPTY_ID)
    for i in range(CLASS_WORDS):
        A[A[CLASSES] + row * CLASS_WORDS + i] = A[A[WORK] + at + i]
    A[A[CLASS_TABLE] + slot] = row + 1
    A[NUM_CLASSES] = row + 1
    return intern_node(A, CLASS, row, 0, 0, NONEMPTY)


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
def _cat_pair(A, h, k):
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
        return np.int64(h) if k == EPS_ID else _cat_pair(A, h, k)
    top = sp
    while A[NODE * h + KIND] == CAT:
        if lacks_work(A, top + 1):
            return np.int64(EMPTY_ID)
        A[A[WORK] + top] = A[NODE * h + ARG_A]
        top += 1
        h = np.int64(A[NODE * h + ARG_B])
    result = _cat_pair(A, h, k)
    while top > sp:
        top -= 1
        result = _cat_pair(A, A[A[WORK] + top], result)
    return result


@inner
def make_rule(A, rule, nullable):
    """A reference to a rule; its language is not empty, by contract."""
    return intern_node(A, RULE, rule, 0, 0, RULEFUL | NONEMPTY | (NULLABLE if nullable else 0))


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
    if lacks_work(A, sp + 2):
        return np.int64(EMPTY_ID)
    follow = np.int64(UNKNOWN_ID)
    if text >= 0:
        follow = intern_node(A, FOLLOW, capture, text, 0, NONEMPTY | RULEFUL | BYTEWISE)
    at = A[CAPTURES] + CAPTURE_SLOTS * capture
    A[A[WORK] + sp] = make_cat(A, np.int64(A[at + 1]), follow, sp)
    A[A[WORK] + sp + 1] = A[at + 2]
    return make_cat(A, np.int64(A[at]), make_alt(A, sp, sp + 2, sp + 2), sp)


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
        m = _cat_pair(A, A[A[WORK] + pairs + 2 * i], np.int64(A[A[WORK] + pairs + 2 * i + 1]))
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


@inner
def make_and(A, lo, hi, sp):
    """Intersection of members WORK[lo:hi]: flat, classes intersected, complements joined."""
    top = flatten(A, AND, lo, hi, sp)
    if lacks_work(A, top + 2 * CLASS_WORDS) or A[STATUS] != OK:
        return np.int64(EMPTY_ID)
    words = top
    negated = top + CLASS_WORDS
    kept = 0
    num_classes = 0
    num_blurred = 0
    has_eps = False
    all_nullable = True
    for i in range(sp, top):
        m = np.int64(A[A[WORK] + i])
        if m == ALL_ID:
            continue
        if A[NODE * m + FLAGS] & BLURRED:
            num_blurred += 1
        if m == EMPTY_ID or A[NODE * m + FLAGS] & HOLLOW:
            return np.int64(EMPTY_ID)
        if not A[NODE * m + FLAGS] & NULLABLE:
            all_nullable = False
        if m == EPS_ID:
            has_eps = True
        if A[NODE * m + KIND] == CLASS:
            row = A[NODE * m + ARG_A]
            for w in range(CLASS_WORDS):
                word = A[A[CLASSES] + row * CLASS_WORDS + w]
                A[A[WORK] + words + w] = word if num_classes == 0 else A[A[WORK] + words + w] & word
            num_classes += 1
        else:
            A[A[WORK] + sp + kept] = m
            kept += 1
    if has_eps:
        return np.int64(EPS_ID) if all_nullable else np.int64(EMPTY_ID)
    if num_classes > 0:
        m = make_class(A, words)
        if m == EMPTY_ID:
            return m
        A[A[WORK] + sp + kept] = m
        kept += 1
    count = kept
    kept = 0
    top = negated
    for i in range(count):
        m = np.int64(A[A[WORK] + sp + i])
        if A[NODE * m + KIND] == NOT:
            if lacks_work(A, top + 1):
                return np.int64(EMPTY_ID)
            A[A[WORK] + top] = A[NODE * m + ARG_A]
            top += 1
        else:
            A[A[WORK] + sp + kept] = m
            kept += 1
    kept = distinct(A, sp, kept)
    if top > negated:
        outside = make_alt(A, negated, top, top)
        if outside == ALL_ID:
            return np.int64(EMPTY_ID)
        for i in range(kept):
            if _has_all_of(A, outside, np.int64(A[A[WORK] + sp + i])):
                return np.int64(EMPTY_ID)
        if outside != EMPTY_ID:
            A[A[WORK] + sp + kept] = make_not(A, outside)
            kept = distinct(A, sp, kept + 1)
    # Blurred members that look alike may stand for different texts: what is in both is not told.
    if kept < 2 and num_blurred < 2:
        return np.int64(A[A[WORK] + sp]) if kept else np.int64(ALL_ID)
    flags = NULLABLE | NONEMPTY if all_nullable else 0
    for i in range(kept):
        flags |= A[NODE * A[A[WORK] + sp + i] + FLAGS] & (ANYWHERE | FIRST)
    if flags & BLURRED:
        flags |= UNSURE | NONEMPTY
    return intern_members(A, AND, sp, sp + kept, flags)
