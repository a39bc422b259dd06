"""The derivative by one byte, or by a token as a whole, Brzozowski's rules one node at a time.

A row (`rows.py`) has the derivatives by all bytes, and is what a walk of the vocabulary wants. A
text that is accepted passes through most states once, by one byte: far from the bound of `x{0,n}`
it never comes to the same state again. So a term that has no row is looked at here, and gets one
when it has been looked at PATIENCE times: what comes again is looked up. That also bounds what a
step costs by a few rows of all parts, where parts share parts, and finds left recursion.

Where a CAPTURE is first, every byte gives another term: the one that remembers this byte too. Rows
would be 256 terms wide, and a walk of the vocabulary would make terms for every text in it. So rows
are made of the blurred term (`rows.alias_of`), and the bytes of a real text are always stepped
through here.

    derive(CAPTURE(w, t), b) = CAPTURE(w b, derive(t, b))  |  derive(what follows w, b) if t may end

`blur` maps a term to the one whose row it has, so that states that differ only in what they have
captured share a mask.

All parts that come first are looked at, also where an intersection is dead already: then all rules
that come first are made, as a row would make them, and all tokens are known that may come next.

A token that the grammar names is a step of its own, as if it were a byte past the last. Bytes and
classes of bytes do not match it; what is outside of a complement is outside for tokens too.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner
from constrain.kernels.derive.captures import after_capture, make_capture
from constrain.kernels.derive.interning import intern_node
from constrain.kernels.derive.intersections import make_and
from constrain.kernels.derive.layout import (
    ALL_OTHERS,
    ALT,
    AND,
    ARG_A,
    ARG_B,
    ARG_C,
    BYTEWISE,
    CAPTURE,
    CAT,
    CLASS,
    CLASS_WORDS,
    CLASSES,
    EMPTY_ID,
    EPS_ID,
    FLAGS,
    FOLLOW,
    KIND,
    LISTED,
    LOOKED_AT,
    NODE,
    NOT,
    NULLABLE,
    OK,
    OTHER_SPECIALS,
    PATIENCE,
    POOL,
    REPEAT,
    ROW_MISSING,
    ROW_OFFSET,
    ROW_PARTITION,
    ROW_STATE,
    RULE,
    SPECIAL,
    STATUS,
    TARGETS,
    TEXT,
    TEXT_BYTES,
    TOKEN,
    TOKEN_IDS,
    TOKEN_SETS,
    WORK,
    class_of,
    lacks_work,
)
from constrain.kernels.derive.nodes import make_cat, make_not, one_fewer
from constrain.kernels.derive.rows import alias_of, ensure_row
from constrain.kernels.derive.unions import make_alt, make_either

FRAME = 4
"""Slots of a suspended node: [node, stage, value so far, frame below], then a slot a member."""
BLUR = -1
"""Instead of a byte: what the term is where the texts captured are not known."""
FIRST_TOKEN = 256
"""Added to the code of a token, instead of a byte."""


@inner
def _simple(A, t, byte):
    """Whether a term needs no look at its parts."""
    kind = A[NODE * t + KIND]
    if kind < CAT or kind > FOLLOW:
        return True
    if kind == RULE and A[NODE * t + ARG_B] != 0:  # branches, whose row is had from heads
        return byte < FIRST_TOKEN or A[NODE * A[NODE * t + ARG_B] + FLAGS] & NULLABLE == 0
    if byte >= FIRST_TOKEN:
        return False
    if kind == CAT and A[NODE * A[NODE * t + ARG_A] + KIND] == CLASS:
        return True
    flags = A[NODE * t + FLAGS]
    if byte == BLUR:
        return not flags & BYTEWISE or (kind != CAT and kind != ALT and kind != CAPTURE)
    if flags & BYTEWISE:
        return False
    return A[NODE * t + ROW_STATE] != ROW_MISSING or flags // LOOKED_AT >= A[PATIENCE]


@inner
def _first_part(A, t, sp):
    """The part of a term that is looked at first; EMPTY_ID and STATUS if it is not made yet."""
    kind = A[NODE * t + KIND]
    if kind == ALT or kind == AND:
        return np.int64(A[A[POOL] + A[NODE * t + ARG_A]])
    if kind == CAPTURE:
        return np.int64(A[NODE * t + ARG_B])
    if kind == CAT or kind == REPEAT or kind == NOT:
        return np.int64(A[NODE * t + ARG_A])
    return alias_of(A, t, sp)


@inner
def is_in(A, byte, t):
    """Whether a byte is in a CLASS."""
    at = A[CLASSES] + np.int64(A[NODE * t + ARG_A]) * CLASS_WORDS
    return (A[at + (byte >> 5)] >> (byte & 31)) & 1 != 0


@inner
def _after_byte(A, t, byte, sp):
    """The term after a byte, of a term that needs no look at its parts. See STATUS."""
    kind = A[NODE * t + KIND]
    if kind == CLASS:
        return np.int64(EPS_ID) if is_in(A, byte, t) else np.int64(EMPTY_ID)
    if kind < CAT or kind > FOLLOW:
        return np.int64(EMPTY_ID)
    if kind == CAT and A[NODE * A[NODE * t + ARG_A] + KIND] == CLASS:
        inside = is_in(A, byte, np.int64(A[NODE * t + ARG_A]))
        return np.int64(A[NODE * t + ARG_B]) if inside else np.int64(EMPTY_ID)
    if not ensure_row(A, t, sp):
        return np.int64(EMPTY_ID)
    c = class_of(A, A[NODE * t + ROW_PARTITION], byte)
    return np.int64(A[A[TARGETS] + A[NODE * t + ROW_OFFSET] + c])


@inner
def _has_token(A, t, token):
    """Whether a term is a TOKEN that this token is."""
    if A[NODE * t + KIND] != TOKEN:
        return False
    at = A[TOKEN_SETS] + 3 * np.int64(A[NODE * t + ARG_A])
    ids = A[TOKEN_IDS] + A[at]
    for i in range(A[at + 1]):
        if A[ids + i] == token:
            return A[at + 2] == LISTED
    return A[at + 2] == ALL_OTHERS or (A[at + 2] == OTHER_SPECIALS and token >= SPECIAL)


@inner
def longer_text(A, text, at, count):
    """A TEXT and then the bytes WORK[at:at+count]."""
    before = np.int64(text)
    packed = np.int64(0)
    size = np.int64(0)
    if text != EPS_ID and A[NODE * text + ARG_C] < TEXT_BYTES:
        before = np.int64(A[NODE * text + ARG_A])
        packed = np.int64(A[NODE * text + ARG_B])
        size = np.int64(A[NODE * text + ARG_C])
    for i in range(count):
        packed |= np.int64(A[A[WORK] + at + i]) << (8 * size)
        size += 1
        if size == TEXT_BYTES:
            before = intern_node(A, TEXT, before, packed, size, 0)
            packed = np.int64(0)
            size = np.int64(0)
    return intern_node(A, TEXT, before, packed, size, 0) if size > 0 else before


@inner
def _with_rest(A, t, rest, byte, sp):
    """A CAPTURE after a byte or token, or blurred, which has made another term of its rest."""
    text = np.int64(A[NODE * t + ARG_A])
    capture = np.int64(A[NODE * t + ARG_C])
    if byte == BLUR:
        return make_cat(A, rest, after_capture(A, capture, -1, sp), sp)
    if rest == EMPTY_ID or lacks_work(A, sp + 1):
        return np.int64(EMPTY_ID)
    if byte < FIRST_TOKEN:
        A[A[WORK] + sp] = byte
        text = longer_text(A, text, sp, 1)
    return make_capture(A, text, rest, capture)


@inner
def step(A, root, byte, sp):
    """The term after a byte or token, or with BLUR the blurred term. Look at STATUS before use."""
    frame = np.int64(-1)
    top = np.int64(sp)
    t = np.int64(root)
    value = np.int64(EMPTY_ID)
    while True:
        # Down: to a part that is told at once.
        while not _simple(A, t, byte):
            kind = A[NODE * t + KIND]
            if byte >= 0 and byte < FIRST_TOKEN and not A[NODE * t + FLAGS] & BYTEWISE:
                A[NODE * t + FLAGS] += LOOKED_AT
            members = np.int64(A[NODE * t + ARG_B]) if kind == ALT or kind == AND else np.int64(0)
            if lacks_work(A, top + FRAME + members):
                return np.int64(EMPTY_ID)
            A[A[WORK] + top] = t
            A[A[WORK] + top + 1] = 0
            A[A[WORK] + top + 2] = 0
            A[A[WORK] + top + 3] = frame
            frame = top
            top += FRAME + members
            t = _first_part(A, t, top)
            if A[STATUS] != OK:
                return np.int64(EMPTY_ID)
        if byte == BLUR:
            value = t
        elif byte >= FIRST_TOKEN:
            value = np.int64(EPS_ID) if _has_token(A, t, byte - FIRST_TOKEN) else np.int64(EMPTY_ID)
        else:
            value = _after_byte(A, t, byte, top)
        # Up: until a node wants to see another part.
        more = False
        while not more:
            if frame < 0 or A[STATUS] != OK:
                return value
            t = np.int64(A[A[WORK] + frame])
            kind = A[NODE * t + KIND]
            stage = np.int64(A[A[WORK] + frame + 1])
            A[A[WORK] + frame + 1] = stage + 1
            if kind == ALT or kind == AND:
                A[A[WORK] + frame + FRAME + stage] = value
                count = np.int64(A[NODE * t + ARG_B])
                if stage + 1 < count:
                    t = np.int64(A[A[POOL] + A[NODE * t + ARG_A] + stage + 1])
                    more = True
                    continue
                first = frame + FRAME
                if kind == ALT:
                    value = make_alt(A, first, first + count, top)
                else:
                    value = make_and(A, first, first + count, top)
            elif stage == 1 and kind == CAT and byte == BLUR:
                value = make_cat(A, np.int64(A[A[WORK] + frame + 2]), value, top)
            elif stage == 1:
                value = make_either(A, np.int64(A[A[WORK] + frame + 2]), value, top)
            elif kind == CAT:
                h = np.int64(A[NODE * t + ARG_A])
                k = np.int64(A[NODE * t + ARG_B])
                more = A[NODE * h + FLAGS] & NULLABLE != 0
                if byte == BLUR:
                    more = more and A[NODE * k + FLAGS] & BYTEWISE != 0
                if byte != BLUR or not more:
                    value = make_cat(A, value, k, top)
                if more:
                    A[A[WORK] + frame + 2] = value
                    t = k
                    continue
            elif kind == CAPTURE:
                value = _with_rest(A, t, value, byte, top)
                rest = np.int64(A[NODE * t + ARG_B])
                if byte != BLUR and A[NODE * rest + FLAGS] & NULLABLE:
                    A[A[WORK] + frame + 2] = value
                    capture = np.int64(A[NODE * t + ARG_C])
                    t = after_capture(A, capture, np.int64(A[NODE * t + ARG_A]), top)
                    more = True
                    continue
            elif kind == REPEAT:
                value = make_cat(A, value, one_fewer(A, t), top)
            elif kind == NOT:
                value = make_not(A, value)
            top = frame
            frame = np.int64(A[A[WORK] + frame + 3])
