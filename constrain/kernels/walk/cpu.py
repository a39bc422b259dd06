"""The trie walk: depth first, leaving out a subtree as soon as its state is dead.

    state after "a" is dead: nothing below "a" is looked at.

The children of a node lie side by side, each as one number with its byte. So a state that lets one
byte through reads a row of bytes, and touches nothing of what is below the others: a step costs
about 1 ns where the child is dead, 5-10 ns where it lives.
Source: the depth-first trie with subtree skips is toktrie's (llguidance); here a state is a term.

Three ways past what need not be walked, all for the sake of strings (`automaton/slices.py`):

- a state that lets plain text through: the tokens of plain text are a row, or a list below a node
  that ends with a quote; only the others are walked, and of them only the rests where plain text
  leads back to the state;
- a counter whose bound is past the longest token has no bound;
- a state most of whose bytes lead to one state that they lead back to (a key that must not be one
  of some names, and any other key): that state's row, and both are walked together where they
  differ: along the names, and what lies beside them is never looked at.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import entry
from constrain.kernels.derive.emptiness import resolve
from constrain.kernels.derive.layout import (
    ALL_CHILDREN,
    BASE,
    BLURRED,
    COVERS,
    EMPTY_ID,
    EXITS,
    FIRST,
    FLAGS,
    INFINITE,
    LIVE_CHILDREN,
    LOOPS,
    NODE,
    NULLABLE,
    NUM_ALLOWED,
    NUM_LISTED,
    NUM_UNSURE,
    NUM_VISITED,
    OK,
    OPEN,
    PARTITION_WORDS,
    PARTITIONS,
    RETURNING,
    ROW_OFFSET,
    ROW_PARTITION,
    ROW_RESOLVED,
    ROW_STATE,
    STATUS,
    TARGETS,
    TOP,
    UNSURE,
    byte_in,
)
from constrain.kernels.walk.bits import set_bit, stop_listing, sum_up
from constrain.kernels.walk.cover import begins_with_counter, covers, loops, may_be_far
from constrain.kernels.walk.layout import (
    JUMP_FIRST,
    JUMP_LAST,
    JUMP_OTHERS,
    JUMP_RESTS,
    LONGEST,
    NO_TRIE,
    NUM_ENDS,
    OTHERS,
    PLAIN_HEAD,
    RESTS,
    WORDS_AT,
)
from constrain.kernels.walk.modes import (
    AFTER,
    BASED_DRAFT,
    BASED_ROW,
    BOUNDED,
    BOUNDED_ROW,
    CAPTURES,
    CLOSED,
    DONE,
    DRAFT,
    FAR,
    LONG,
    LONG_ROW,
    LOOK,
    NEEDS_BASE,
    PART,
    PLAIN,
    ROW,
    SAME,
    SUM,
)
from constrain.kernels.walk.returns import is_within, leads_back_by
from constrain.kernels.walk.runs import INTERRUPTED, LEVEL, NO_RUN, go_through_run
from constrain.kernels.walk.shortcuts import (
    MANY_BYTES,
    QUOTE,
    alike,
    bytes_through,
    go_together,
    jump_of,
    live_children,
    unbounded,
)

FRAME = 7
"""Slots of a level of the stack: partition, targets, the next child, the end of the children; then
partition and targets of the state whose row this one differs from, or ALONE; and by which groups of
bytes the state leads back to itself."""
ALONE = -1
LONG_WALK = 16_384
"""Children looked at, some 0.1 ms, before a walk for a row gives up: it may be worth not making
again."""
FEW_BELOW = 12
"""Nodes below another that are looked at one by one."""
LONG_RUN = 256
"""Nodes below another that make a run from there worth while."""


@entry
def walk(
    arena,
    state,
    children,
    starts,
    tokens,
    plain,
    preorder,
    mask,
    stack,
    start,
    seen,
    slice_start,
    unsure,
    listed,
    mode,
):
    """Set the bit of each token that may follow `state`, a live state.

    Args:
        arena: Terms.
        state: The state to mask.
        children: [N], int32; with starts (int32 [2 * (N + 2)]) and tokens (int32) the trie: see
            `vocab.Trie`; for all modes but PLAIN a `Forest`.
        starts: See children.
        tokens: See children.
        plain: int32, of the forest: see `layout.py`.
        preorder: int32, of the forest: see `runs.py`.
        mask: [ceil(V/32)], uint32. Mutated; bits that are set stay set, but for BASED_*. Left as
            it was where tokens are listed, or another row is asked for.
        stack: [(FRAME + LEVEL) * 2 * (max depth + 2)], int32: scratch, kept between calls.
        start: 0, or what the last call returned when STATUS stopped it.
        seen: [N], int32. In mode PLAIN zero at the first call: the live state of each node goes
            here; or [0], to do without. In mode AFTER pairs of a node and `state`. In other modes
            scratch, kept between calls.
        slice_start: The state of plain text (`cover.py`), always the same one.
        unsure: [>= N], int32. The first arena[NUM_UNSURE] entries are written: nodes i whose tokens
            depend on captured texts, so that the row cannot decide whether they may follow; for ~i
            the tokens of node i itself may, and those below it are undecided. Their bits stay
            as they were.
        listed: [2 * L], int32. In mode ROW, where at most L tokens may follow, these are listed
            and `mask` is left as it was: the first arena[NUM_ALLOWED] entries are they, end tokens
            last; from L on the first arena[NUM_LISTED] are the states after all but those. Else
            arena[NUM_LISTED] is -1.
        mode: One of `modes.py`.

    Returns:
        If the row is better made otherwise, why; `mask` then holds some of the tokens. Else, once
        STATUS is OK, DONE, and arena[NUM_VISITED] is how many children it looked at; before that,
        where to go on from once Python has served STATUS.
    """
    A = arena
    whole = mode == ROW or mode == BASED_ROW or mode == BOUNDED_ROW or mode == LONG_ROW
    may_give_up = (whole and mode != LONG_ROW) or mode == DRAFT or mode == BASED_DRAFT
    on_base = mode == BASED_ROW or mode == BASED_DRAFT
    levels = FRAME * (stack.shape[0] // (FRAME + LEVEL))
    top = np.int64(start) - 1
    if mode == SUM:
        A[NUM_UNSURE] = 0
        sum_up(A, mask)
        return DONE
    if start == 0 and mode == AFTER:
        A[NUM_VISITED] = 0
        A[NUM_UNSURE] = 0
        A[NUM_LISTED] = -1
        A[TOP] = EXITS
        stack[0:FRAME] = 0
        stack[3] = seen.shape[0] >> 1
        stack[4] = ALONE
        top = np.int64(0)
    elif start == 0:
        A[NUM_VISITED] = 0
        A[NUM_UNSURE] = 0
        A[NUM_LISTED] = 0 if mode == ROW else -1
        if whole and A[NODE * state + FLAGS] & FIRST:
            return CAPTURES
        if A[NODE * state + FLAGS] & (OPEN | UNSURE):
            for k in range(starts[2]):
                unsure[k] = children[k] >> 8
            A[NUM_UNSURE] = starts[2]
            return DONE
        if mode != PLAIN:
            same = unbounded(A, state, np.int64(plain[LONGEST]), np.int64(plain[LONGEST]))
            if A[STATUS] != OK:
                return 0
            if same != state and may_give_up:
                A[BASE] = same
                return SAME
            state = same
        if not resolve(A, state, 0):
            return 0
        if mode == LOOK and bytes_through(A, state) <= MANY_BYTES:
            return DONE
        based = np.int64(EMPTY_ID)
        back = np.int64(0)
        first_child = np.int64(starts[0])
        last_child = np.int64(starts[2])
        running = False
        many = mode != PLAIN and bytes_through(A, state) > MANY_BYTES
        if many:
            A[NUM_LISTED] = -1
        if many and may_give_up:
            if mode != BOUNDED_ROW and begins_with_counter(A, state, np.int64(0)):
                same = unbounded(A, state, np.int64(1), np.int64(INFINITE))
                if A[STATUS] != OK:
                    return 0
                if same == state:
                    return LONG
                A[BASE] = same
                return BOUNDED
            if mode == ROW and may_be_far(A, state):
                return FAR
            based = alike(A, state, FIRST | BLURRED | NULLABLE if whole else FIRST)
            if A[STATUS] != OK:
                return 0
            if based != EMPTY_ID and not on_base:
                A[BASE] = based
                return NEEDS_BASE
        if on_base:
            if based == EMPTY_ID or based != A[BASE]:
                return LONG
        elif many:
            if not covers(A, state, slice_start):
                return 0
            if mode == LOOK:
                return DONE
            running = A[NODE * state + FLAGS] & COVERS == 0
            if running and (mode == ROW or mode == DRAFT):
                return CLOSED
            if running:
                back = leads_back_by(A, state)
                if A[STATUS] != OK:
                    return 0
                running = back == 0
            else:
                loops(A, state, slice_start)
                looping = A[NODE * state + FLAGS] & LOOPS != 0
                root = np.int64(plain[RESTS] if looping else plain[OTHERS])
                words = plain[WORDS_AT]
                for w in range(mask.shape[0]):
                    mask[w] |= np.uint32(plain[words + w])
                first_child = np.int64(0)
                last_child = np.int64(0)
                if root != NO_TRIE:
                    first_child = np.int64(starts[2 * root + 2])
                    last_child = np.int64(starts[2 * root + 4])
        num_exits = np.int64(NO_RUN)
        if running:
            num_exits = go_through_run(
                A,
                state,
                0,
                preorder.shape[0] // 3,
                preorder,
                starts,
                tokens,
                mask,
                stack,
                levels,
                seen,
                0,
            )
            if num_exits == INTERRUPTED:
                return 0
        A[TOP] = ALL_CHILDREN if back == 0 else RETURNING
        if num_exits >= 0:
            A[TOP] = EXITS
        elif mode != PLAIN and not many:
            # Most of the root's children are dead: seen at once, in a loop without a branch.
            A[TOP] = LIVE_CHILDREN
            num_exits = live_children(A, state, children, first_child, last_child, seen)
        if num_exits >= 0:
            first_child = np.int64(0)
            last_child = num_exits
        stack[0] = A[NODE * state + ROW_PARTITION] * PARTITION_WORDS
        stack[1] = A[NODE * state + ROW_OFFSET]
        stack[2] = first_child
        stack[3] = last_child
        stack[4] = ALONE
        stack[6] = back
        if on_base:
            stack[4] = A[NODE * based + ROW_PARTITION] * PARTITION_WORDS
            stack[5] = A[NODE * based + ROW_OFFSET]
        top = np.int64(0)
    targets = A[A[TARGETS] : A[TARGETS + 1]]
    partitions = A[A[PARTITIONS] : A[PARTITIONS + 1]]
    listing = A[NUM_LISTED] >= 0
    most_listed = listed.shape[0] >> 1
    told = A[TOP] == LIVE_CHILDREN or A[TOP] == EXITS
    running = A[TOP] == EXITS
    partition = np.int64(stack[FRAME * top])
    offset = np.int64(stack[FRAME * top + 1])
    at = np.int64(stack[FRAME * top + 2])
    end = np.int64(stack[FRAME * top + 3])
    base_partition = np.int64(stack[FRAME * top + 4])
    base_offset = np.int64(stack[FRAME * top + 5])
    groups = np.int64(stack[FRAME * top + 6])
    nodes = preorder.shape[0] // 3
    visited = np.int64(A[NUM_VISITED])
    while True:
        if at >= end:
            top -= 1
            if top < 0:
                break
            partition = np.int64(stack[FRAME * top])
            offset = np.int64(stack[FRAME * top + 1])
            at = np.int64(stack[FRAME * top + 2])
            end = np.int64(stack[FRAME * top + 3])
            base_partition = np.int64(stack[FRAME * top + 4])
            base_offset = np.int64(stack[FRAME * top + 5])
            groups = np.int64(stack[FRAME * top + 6])
            continue
        if told and top == 0:
            i = np.int64(seen[2 * at])
            t = np.int64(seen[2 * at + 1])
            byte = np.int64(preorder[i] & 255)
        else:
            child = np.int64(children[at])
            i = child >> 8
            if groups != 0 and i < nodes and is_within(preorder, i, groups):
                listing = False
                stop_listing(A, mask, listed)
                for j in range(starts[2 * i + 3], starts[2 * (np.int64(preorder[i]) >> 8) + 3]):
                    set_bit(mask, tokens[j])
                at += 1
                visited += 1
                continue
            byte = child & 255
            t = np.int64(targets[offset + byte_in(partitions, partition, byte)])
        at += 1
        visited += 1
        base = np.int64(EMPTY_ID)
        if base_partition != ALONE:
            base = np.int64(targets[base_offset + byte_in(partitions, base_partition, byte)])
            if t == base:
                continue  # the row tells already
            if base != EMPTY_ID and not go_together(A, t, base, byte):
                for j in range(starts[2 * i + 3], starts[2 * (np.int64(preorder[i]) >> 8) + 3]):
                    token = tokens[j]
                    mask[token >> 5] &= ~(np.uint32(1) << np.uint32(token & 31))
                base = np.int64(EMPTY_ID)
        if t == EMPTY_ID:
            continue
        flags = A[NODE * t + FLAGS]
        if flags & (OPEN | UNSURE | BLURRED):
            if whole and flags & (OPEN | UNSURE):
                return CAPTURES
            listing = False
            stop_listing(A, mask, listed)
        if flags & UNSURE:
            unsure[A[NUM_UNSURE]] = i
            A[NUM_UNSURE] += 1
            continue
        first_child = np.int64(starts[2 * i + 2])
        last_child = np.int64(starts[2 * i + 4])
        deeper = last_child > first_child
        inside = t
        jump = np.int64(-1)
        back = np.int64(0)
        many_below = mode != PLAIN and i < nodes and (np.int64(preorder[i]) >> 8) - i > FEW_BELOW
        if base != EMPTY_ID:
            if not deeper:
                continue
            ready = resolve(A, t, 0) and resolve(A, base, 0)
            if ready and many_below:
                back = leads_back_by(A, t)
            if not ready or A[STATUS] != OK:
                stack[FRAME * top + 2] = at - 1
                stack[FRAME * top + 3] = end
                A[NUM_VISITED] = visited - 1
                return top + 1
        elif deeper and not flags & OPEN:
            ready = A[NODE * t + ROW_STATE] == ROW_RESOLVED
            if not ready or byte == QUOTE:
                if mode != PLAIN:
                    inside = unbounded(A, t, np.int64(plain[LONGEST]), np.int64(plain[LONGEST]))
                    if inside != t:  # what is met there is allowed, but is not the state after
                        listing = False
                        stop_listing(A, mask, listed)
                ready = A[STATUS] == OK and resolve(A, inside, 0)
            if ready and byte == QUOTE and mode != PLAIN:
                jump = jump_of(plain, i)
            text = inside
            if jump >= 0:
                if mode != PART and mode != AFTER:  # there the mask is not ours alone
                    beside = alike(A, inside, FIRST)
                    if beside != EMPTY_ID and covers(A, beside, slice_start):
                        text = beside if A[NODE * beside + FLAGS] & COVERS else inside
                ready = A[STATUS] == OK and covers(A, text, slice_start)
            if ready and many_below and jump < 0:
                back = leads_back_by(A, inside)
            if not ready or A[STATUS] != OK:
                stack[FRAME * top + 2] = at - 1
                stack[FRAME * top + 3] = end
                A[NUM_VISITED] = visited - 1
                return top + 1
            if jump >= 0 and A[NODE * text + FLAGS] & COVERS:
                loops(A, text, slice_start)
                listing = False
                stop_listing(A, mask, listed)
                for j in range(plain[jump + JUMP_FIRST], plain[jump + JUMP_LAST]):
                    set_bit(mask, tokens[j])
                which = JUMP_RESTS if A[NODE * text + FLAGS] & LOOPS else JUMP_OTHERS
                root = np.int64(plain[jump + which])
                first_child = last_child
                if root != NO_TRIE:
                    first_child = np.int64(starts[2 * root + 2])
                    last_child = np.int64(starts[2 * root + 4])
        if mode == PLAIN and seen.shape[0] > 0:
            seen[i] = t
        for j in range(starts[2 * i + 3], starts[2 * i + 5]):
            if listing and A[NUM_LISTED] >= most_listed:
                listing = False
                stop_listing(A, mask, listed)
            if listing:
                listed[A[NUM_LISTED]] = tokens[j]
                listed[most_listed + A[NUM_LISTED]] = t
                A[NUM_LISTED] += 1
            else:
                set_bit(mask, tokens[j])
        if running and top == 0 and deeper and not flags & OPEN:
            below = np.int64(preorder[i]) >> 8
            if below - i > LONG_RUN and jump < 0:
                num_exits = go_through_run(
                    A,
                    inside,
                    i + 1,
                    below,
                    preorder,
                    starts,
                    tokens,
                    mask,
                    stack,
                    levels,
                    seen,
                    end,
                )
                if num_exits == INTERRUPTED:
                    stack[FRAME * top + 2] = at - 1
                    stack[FRAME * top + 3] = end
                    A[NUM_VISITED] = visited - 1
                    return top + 1
                if num_exits >= 0:
                    end = num_exits
                    continue
        if deeper:
            if flags & OPEN:
                unsure[A[NUM_UNSURE]] = ~i
                A[NUM_UNSURE] += 1
                continue
            if may_give_up and not on_base and A[TOP] <= LIVE_CHILDREN and visited > LONG_WALK:
                return LONG  # else most of the work is done, or left out
            stack[FRAME * top + 2] = at
            stack[FRAME * top + 3] = end
            top += 1
            if jump >= 0 and text != inside:
                # Once the tokens of that one are there, both are walked together.
                stack[FRAME * top] = A[NODE * inside + ROW_PARTITION] * PARTITION_WORDS
                stack[FRAME * top + 1] = A[NODE * inside + ROW_OFFSET]
                stack[FRAME * top + 2] = starts[2 * i + 2]
                stack[FRAME * top + 3] = starts[2 * i + 4]
                stack[FRAME * top + 4] = A[NODE * text + ROW_PARTITION] * PARTITION_WORDS
                stack[FRAME * top + 5] = A[NODE * text + ROW_OFFSET]
                stack[FRAME * top + 6] = 0
                top += 1
                inside = text
            partition = A[NODE * inside + ROW_PARTITION] * PARTITION_WORDS
            offset = np.int64(A[NODE * inside + ROW_OFFSET])
            at = first_child
            end = last_child
            base_partition = np.int64(ALONE)
            if base != EMPTY_ID:
                base_partition = A[NODE * base + ROW_PARTITION] * PARTITION_WORDS
                base_offset = np.int64(A[NODE * base + ROW_OFFSET])
            stack[FRAME * top] = partition
            stack[FRAME * top + 1] = offset
            stack[FRAME * top + 3] = end
            stack[FRAME * top + 4] = base_partition
            stack[FRAME * top + 5] = base_offset
            groups = back
            stack[FRAME * top + 6] = groups
    A[NUM_VISITED] = visited
    if whole:
        num_ends = np.int64(0)
        if A[NODE * state + FLAGS] & NULLABLE:
            num_ends = np.int64(plain[NUM_ENDS])
        if listing and A[NUM_LISTED] + num_ends > most_listed:
            listing = False
            stop_listing(A, mask, listed)
        A[NUM_ALLOWED] = A[NUM_LISTED] + num_ends
        for k in range(num_ends):
            if listing:
                listed[A[NUM_LISTED] + k] = plain[PLAIN_HEAD + k]
            else:
                set_bit(mask, plain[PLAIN_HEAD + k])
        if not listing:
            sum_up(A, mask)
    elif may_give_up and A[NUM_UNSURE] == 0:
        sum_up(A, mask)
    return DONE
