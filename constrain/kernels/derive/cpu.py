"""The entry points that Python calls: build terms, advance by bytes.

Few on purpose: each compiled entry point costs load time, and holds its own copy of what it calls.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import entry, inner
from constrain.kernels.derive.branches import make_branches, make_heads
from constrain.kernels.derive.captures import after_capture, make_capture, set_capture
from constrain.kernels.derive.emptiness import decide, resolve
from constrain.kernels.derive.interning import intern_node, rehash
from constrain.kernels.derive.intersections import make_and
from constrain.kernels.derive.layout import (
    ALL_ID,
    BLURRED,
    BYTEWISE,
    CLASS_WORDS,
    EMPTY_ID,
    EPS,
    EPS_ID,
    FLAGS,
    HOLLOW,
    KIND,
    NODE,
    NONEMPTY,
    NULLABLE,
    NUM_NODES,
    OK,
    OPEN,
    REACHED,
    ROW_OFFSET,
    ROW_PARTITION,
    ROW_RESOLVED,
    ROW_STATE,
    RULEFUL,
    STATUS,
    TARGETS,
    TOKEN,
    UNKNOWN,
    WORK,
    class_of,
    lacks_work,
)
from constrain.kernels.derive.nodes import (
    make_byte,
    make_cat,
    make_class,
    make_not,
    make_repeat,
    make_rule,
)
from constrain.kernels.derive.partitions import rehash_partitions
from constrain.kernels.derive.several import through
from constrain.kernels.derive.step import BLUR, FIRST_TOKEN, step
from constrain.kernels.derive.unions import make_alt

# Instructions of a program. Each is followed by its operands. Of these i, j, ... are terms: numbers
# of earlier results, or ~node for a node that exists.
OP_EMPTY = 0
OP_EPS = 1
OP_CLASS = 2
"""8 words"""
OP_LITERAL = 3
"""n, then n bytes, i: what follows them"""
OP_CAT = 4
"""n, then n terms"""
OP_ALT = 5
"""n, then n terms"""
OP_REPEAT = 6
"""i, lo, hi"""
OP_AND = 7
"""n, then n terms"""
OP_NOT = 8
"""i"""
OP_RULE = 9
"""rule, nullable"""
OP_REHASH = 10
"""Alone, after a hashed section grew."""
OP_BRANCHES = 11
"""i: heads, first: the union of rules, from number `first` on, each behind one of the heads; see
`branches.py`"""
OP_CAPTURE = 12
"""capture, i: body, j: before what follows, k: instead"""
OP_BLUR = 13
"""node: the term whose row it has"""
OP_TOKEN = 14
"""set"""
OP_STEP = 15
"""node, token id: the term after that token as a whole"""
OP_HEADS = 16
"""n, then n terms, then n times whether the rule behind one is nullable; see `branches.py`"""


@inner
def _start(A):
    """Make the nodes that always exist."""
    if A[NUM_NODES] != 0:
        return
    A[NODE * EMPTY_ID + FLAGS] = HOLLOW
    A[NODE * EPS_ID + KIND] = EPS
    A[NODE * EPS_ID + FLAGS] = NULLABLE | NONEMPTY
    A[NUM_NODES] = ALL_ID
    make_not(A, np.int64(EMPTY_ID))
    intern_node(A, UNKNOWN, 0, 0, 0, NONEMPTY | RULEFUL | BLURRED | OPEN)


@inner
def _term(results, operand):
    """The node that an operand of an instruction stands for."""
    return np.int64(results[operand]) if operand >= 0 else np.int64(-1) - operand


@entry
def build(arena, program, results):
    """Run a program of constructors; results[i] is the node of its i-th instruction.

    Stops early with STATUS set; then grow and run all of it again, which finds what was made.
    """
    A = arena
    _start(A)
    at = np.int64(0)
    for r in range(results.shape[0]):
        op = program[at]
        node = np.int64(EMPTY_ID)
        if op == OP_EPS:
            node = np.int64(EPS_ID)
        elif op == OP_CLASS:
            if not lacks_work(A, CLASS_WORDS):
                for w in range(CLASS_WORDS):
                    A[A[WORK] + w] = program[at + 1 + w]
                node = make_class(A, 0)
            at += CLASS_WORDS
        elif op == OP_LITERAL:
            count = np.int64(program[at + 1])
            node = _term(results, program[at + 2 + count])
            for i in range(count - 1, -1, -1):
                node = make_cat(A, make_byte(A, np.int64(program[at + 2 + i]), 0), node, 0)
            at += 2 + count
        elif op == OP_CAT:
            count = np.int64(program[at + 1])
            node = np.int64(EPS_ID)
            for i in range(count - 1, -1, -1):
                node = make_cat(A, _term(results, program[at + 2 + i]), node, 0)
            at += 1 + count
        elif op == OP_ALT or op == OP_AND:
            count = np.int64(program[at + 1])
            if not lacks_work(A, count):
                for i in range(count):
                    A[A[WORK] + i] = _term(results, program[at + 2 + i])
                if op == OP_ALT:
                    node = make_alt(A, 0, count, count)
                else:
                    node = make_and(A, 0, count, count)
            at += 1 + count
        elif op == OP_BRANCHES:
            heads = _term(results, program[at + 1])
            node = make_branches(A, heads, np.int64(program[at + 2]), 0)
            at += 2
        elif op == OP_HEADS:
            count = np.int64(program[at + 1])
            if not lacks_work(A, count):
                for i in range(count):
                    A[A[WORK] + i] = _term(results, program[at + 2 + i])
                node = make_heads(A, program[at + 2 + count : at + 2 + 2 * count])
            at += 1 + 2 * count
        elif op == OP_REPEAT:
            x = _term(results, program[at + 1])
            node = make_repeat(A, x, np.int64(program[at + 2]), np.int64(program[at + 3]))
            at += 3
        elif op == OP_NOT:
            node = make_not(A, _term(results, program[at + 1]))
            at += 1
        elif op == OP_CAPTURE:
            before, instead = _term(results, program[at + 3]), _term(results, program[at + 4])
            set_capture(A, np.int64(program[at + 1]), before, instead)
            body = _term(results, program[at + 2])
            after = after_capture(A, np.int64(program[at + 1]), -1, 0)
            if A[STATUS] == OK and decide(A, after, 0) and not A[NODE * after + FLAGS] & HOLLOW:
                node = make_capture(A, np.int64(EPS_ID), body, np.int64(program[at + 1]))
            at += 4
        elif op == OP_BLUR:
            node = step(A, np.int64(program[at + 1]), np.int64(BLUR), 0)
            at += 1
        elif op == OP_TOKEN:
            node = intern_node(A, TOKEN, program[at + 1], 0, 0, NONEMPTY | RULEFUL)
            at += 1
        elif op == OP_STEP:
            byte = FIRST_TOKEN + np.int64(program[at + 2])
            node = step(A, np.int64(program[at + 1]), byte, 0)
            if A[STATUS] == OK and decide(A, node, 0) and A[NODE * node + FLAGS] & HOLLOW:
                node = np.int64(EMPTY_ID)
            at += 2
        elif op == OP_REHASH:
            rehash(A)
            rehash_partitions(A)
        elif op == OP_RULE:
            node = make_rule(A, np.int64(program[at + 1]), program[at + 2] != 0)
            at += 2
        at += 1
        results[r] = node
        if A[STATUS] != OK:
            return


@entry
def advance(arena, state, data, start, stop):
    """The state after data[start:stop]; EMPTY_ID once nothing may follow; ~state if STATUS is set.

    A[REACHED] is how many bytes of data are behind the state returned: up to and with the byte that
    killed it, or up to where STATUS stopped the kernel. With start == stop the state's row is made
    ready.
    """
    A = arena
    at = start
    if not decide(A, state, 0):
        A[REACHED] = at
        return ~np.int64(state)
    if A[NODE * state + FLAGS] & HOLLOW:
        state = np.int64(EMPTY_ID)
    elif start == stop:
        resolve(A, state, 0)
    while at < stop and state != EMPTY_ID:
        passed = np.int64(at) + 1
        resolved = A[NODE * state + ROW_STATE] == ROW_RESOLVED
        if resolved and not A[NODE * state + FLAGS] & BYTEWISE:
            c = class_of(A, A[NODE * state + ROW_PARTITION], data[at])
            target = np.int64(A[A[TARGETS] + A[NODE * state + ROW_OFFSET] + c])
        else:
            A[REACHED] = at
            target = np.int64(state)
            if passed < stop:
                target = through(A, state, data, at, stop)
            if A[REACHED] > at:
                passed = np.int64(A[REACHED])
            elif A[STATUS] == OK:
                target = step(A, state, np.int64(data[at]), 0)
            if A[STATUS] != OK or not decide(A, target, 0):
                break
            if A[NODE * target + FLAGS] & HOLLOW:
                target = np.int64(EMPTY_ID)
        state = target
        at = passed
    A[REACHED] = at
    return state if A[STATUS] == OK else ~state
