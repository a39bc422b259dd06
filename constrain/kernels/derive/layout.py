"""Where everything lies in the arena: one flat int32 array that holds all the terms of a grammar.

One array `A`, because each array more costs a fraction of a microsecond at every call from Python,
and seconds of compile time (with an array for each section: 53 s instead of the figure in
`docs/design/kernels.md`). The head comes first, then the nodes, then the other sections:

    A[NODE * n + KIND]         a field of node n
    A[A[POOL] + i]             entry i of a section
    size_of(A, POOL)           its capacity

Growth is not a kernel's work: one that runs out of room sets `STATUS` and goes on writing nothing
of consequence; Python makes the section larger (`algebra/store.py`) and calls again. Ids never
change.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import inner

# Slots of the head.
STATUS = 0
STATUS_ARG = 1
NUM_NODES = 2
NUM_POOL = 3
NUM_CLASSES = 4
NUM_PARTITIONS = 5
NUM_TARGETS = 6
EPOCH = 8
EMPTINESS_LIMIT = 9
REACHED = 10
NUM_VISITED = 11
"""Children in the vocabulary's trie that the last walk looked at."""
NUM_UNSURE = 12
"""Entries that the last walk wrote to its `unsure`."""
NUM_TOKEN_IDS = 13
"""Entries of TOKEN_IDS."""
NUM_LISTED = 14
"""Tokens whose states the last walk wrote to its `listed`, or -1 where it lists none."""
BASE = 15
"""The state whose row the last walk asked for."""
TOP = 53
"""What the last walk begins with: one of the values below."""
BOUND = 52
"""How many repeats the state of the last walk may begin with."""
NUM_ALLOWED = 55
"""Tokens that the last walk listed, end tokens among them."""
PATIENCE = 54
"""How often a term is looked at for one byte before it gets a row (`step.py`)."""
SEARCH_ROOT = 56
"""Of a search for emptiness that waits for Python: whose it is, or 0; its epoch; how many entries
of QUEUE it has looked at, and how many it has found; where it is among those that ASCII leads to,
and among the others."""
SEARCH_EPOCH = 57
SEARCH_SEEN = 58
SEARCH_FOUND = 59
SEARCH_ASCII = 60
SEARCH_OTHERS = 61
COVERED = 62
"""Of a search for plain text (`walk/cover.py`) that waits for Python: whose it is; and how often it
has waited."""
COVER_WAITS = 63
HEAD = 64
"""Slots of the head; from OFFSETS on it holds where each section begins."""
SUMMARY = 48
"""Of the row that the last walk finished: how many tokens it allows, and a hash in two slots. From
here on a walk keeps what must outlast STATUS."""
OFFSETS = 16

# A node is NODE slots; the constants below include the head, so that A[NODE * n + KIND] is one
# load.
NODE = 8
KIND = HEAD
ARG_A = HEAD + 1
ARG_B = HEAD + 2
ARG_C = HEAD + 3
FLAGS = HEAD + 4
ROW_STATE = HEAD + 5
ROW_PARTITION = HEAD + 6
"""The partition of bytes that the term tells apart."""
ROW_OFFSET = HEAD + 7
"""Where its targets begin in TARGETS, one for each class of the partition."""

# Sections. N: nodes, P: pool, C: classes, M: partitions, K: captures.
NODES = OFFSETS
"""[N, NODE]"""
MARK = OFFSETS + 1
"""[N] epoch in which a search last saw the node"""
QUEUE = OFFSETS + 2
"""[N] nodes in the order found by a search"""
PARENT = OFFSETS + 3
"""[N] index into QUEUE from which the entry was found"""
TABLE = OFFSETS + 4
"""[2N, a power of two] open addressing: node, or 0"""
POOL = OFFSETS + 5
"""[P] members of ALT and AND"""
CLASSES = OFFSETS + 6
"""[C, 8] 256-bit sets"""
CLASS_TABLE = OFFSETS + 7
"""[2C, a power of two] class + 1, or 0"""
PARTITIONS = OFFSETS + 8
"""[M, PARTITION_WORDS] byte -> class, numbered in order of first byte; four a slot (`class_of`)"""
PARTITION_SIZE = OFFSETS + 9
"""[M] number of classes"""
PARTITION_TABLE = OFFSETS + 10
"""[2M, a power of two] partition + 1, or 0"""
TARGETS = OFFSETS + 11
"""derivatives, row after row"""
BODY = OFFSETS + 12
"""[N] of a RULE or FOLLOW: its body + 1, or 0 where that has not been made"""
WORK = OFFSETS + 13
"""scratch stack"""
FRAMES = OFFSETS + 14
"""scratch stack of suspended unions"""
COVER_MARK = OFFSETS + 15
"""[N] like MARK, for `kernels/walk/cover.py`, which searches for emptiness on its way"""
COVER_QUEUE = OFFSETS + 16
"""[N] pairs of states in the order found there"""
COVER_WITH = OFFSETS + 17
"""[N] the slice's states that a state was met with, a bit each"""
CAPTURES = OFFSETS + 18
"""[K, CAPTURE_SLOTS] nodes of each capture: what stands first after the text, whatever comes then;
what stands after that and before what follows; and what follows instead of both"""
CAPTURE_SLOTS = 3
TOKEN_SETS = OFFSETS + 19
"""[S, 3] of each set of tokens: offset into TOKEN_IDS, count, and LISTED or which others"""
TOKEN_IDS = OFFSETS + 20
"""[I] codes of tokens, set after set"""

FIRST_BYTES = OFFSETS + 21
"""[M, PARTITION_WORDS] the first byte of each class of a partition, packed in the same way"""
PRODUCTS = OFFSETS + 22
"""[3 * PRODUCT_SLOTS] of pairs of partitions met lately: both, and the one that tells apart what
either does, + 1; one slot for each hash, and the last pair has it"""
PRODUCT_SLOTS = 1024
RETURNS = OFFSETS + 23
"""[2 * RETURN_SLOTS] of states looked at lately: the state, and by which groups of bytes it leads
back to itself (`kernels/walk/returns.py`); one slot for each hash, and the last state has it"""
RETURN_SLOTS = 256

# Values of STATUS.
OK = 0
NEED_NODES = 1
NEED_POOL = 2
NEED_CLASSES = 3
NEED_PARTITIONS = 4
NEED_TARGETS = 5
NEED_WORK = 6
NEED_FRAMES = 7
NEED_BODY = 8
"""STATUS_ARG is a RULE or FOLLOW whose body must be made before the kernel can go on."""
LEFT_RECURSION = 9
"""STATUS_ARG is a term that reaches itself before a byte is consumed."""
TOO_MANY_STATES = 10
"""The search for a string of STATUS_ARG passed EMPTINESS_LIMIT states."""

# Kinds of nodes, and what their fields hold.
EMPTY = 0
EPS = 1
CLASS = 2
"""ARG_A: its row of CLASSES."""
CAT = 3
"""ARG_A: head (never a CAT), ARG_B: continuation."""
ALT = 4
"""ARG_A: offset into POOL, ARG_B: number of members, ascending."""
REPEAT = 5
"""ARG_A: body (never nullable), ARG_B: lo, ARG_C: hi or INFINITE."""
AND = 6
"""Like ALT."""
NOT = 7
"""ARG_A: body."""
RULE = 8
"""ARG_A: rule, ARG_B: 0. Or what is left of heads, with rules behind them (`branches.py`). ARG_A:
the first rule, ARG_B: the heads, each with its LABEL."""
CAPTURE = 9
"""The rest of a text that is captured. ARG_A: the TEXT so far, ARG_B: the rest, ARG_C: capture."""
FOLLOW = 10
"""What follows a captured text. ARG_A: capture, ARG_B: the TEXT."""
UNKNOWN = 11
"""What follows a text that is not known: not empty, and nothing more can be said."""
TEXT = 12
"""No term: ARG_A: the TEXT before, or EPS_ID, ARG_B: the last bytes, the first of them lowest,
ARG_C: how many, 1 to TEXT_BYTES. All before it are full."""
TEXT_BYTES = 3
TOKEN = 13
"""One token as a whole. ARG_A: its set. No byte goes on from it."""
UNION = 14
"""No term: a union that was made inside of another one. ARG_A, ARG_B: offset and count of its pairs
(head, continuation) in POOL, ARG_C: what it is, or 0 if that is not known yet."""
LABEL = 15
"""No term: the end of one of some heads. ARG_A: which, ARG_B: whether the rule behind it is
nullable."""

# The nodes that always exist.
EMPTY_ID = 0
EPS_ID = 1
ALL_ID = 2
UNKNOWN_ID = 3

INFINITE = 2**31 - 1

# Values of TOP.
ALL_CHILDREN = 0
LIVE_CHILDREN = 1
"""Those children of the root that are not dead."""
EXITS = 2
"""Where a run of bytes is left (`kernels/walk/runs.py`)."""
RETURNING = 3
"""All children, of a state that leads back to itself (`kernels/walk/returns.py`)."""

# Flags of nodes. Neither NONEMPTY nor HOLLOW: not decided yet.
NULLABLE = 1
NONEMPTY = 2
HOLLOW = 4
"""Denotes the empty set."""
RULEFUL = 8
"""A RULE stands somewhere in it."""
COVERS = 16
"""Every text of the vocabulary's slice keeps it alive (`kernels/walk/cover.py`)."""
COVERS_NOT = 32
"""Not every one does, or it took too long to see."""
BYTEWISE = 64
"""A CAPTURE or FOLLOW is first: the derivative is made byte by byte (`step.py`); the row is that of
the blurred term, in which UNKNOWN follows every captured text."""
BLURRED = 128
"""An UNKNOWN stands somewhere in it."""
OPEN = 256
"""An UNKNOWN is first: the term is alive, but its row does not tell all bytes that may come."""
UNSURE = 512
"""A blurred term inside an AND or NOT is first: not even whether it is alive can be told."""
LOOPS = 1024
"""COVERS, and every text of the slice leads back to it."""
LOOPS_NOT = 2048
COUNTED = 4096
"""A repeat of up to FAR_REPEATS or more stands somewhere in it, but not without a bound."""
FAR_REPEATS = 12
"""Counts from which on a bound may reach past most tokens (`automaton/far_bounds.py`)."""
FAR_WORDS = 4
"""The same where each begins with as many of something as there are, as words of a text do."""
LOOKED_AT = 1 << 16
"""From this bit on: how often the term was looked at for one byte, without a row."""
MAX_PATIENCE = (1 << 15) - 1
"""What fits there."""
ANYWHERE = RULEFUL | BLURRED | COUNTED
"""Flags that a term has if some part has them."""
FIRST = BYTEWISE | OPEN | UNSURE
"""Flags that a term has if some part that may come first has them."""

# Values of ROW_STATE.
ROW_MISSING = 0
ROW_RAW = 1
ROW_RESOLVED = 2
"""Targets that denote the empty set are EMPTY_ID: a target is a live state or dead."""
ROW_BUSY = 3

CLASS_WORDS = 8
PARTITION_WORDS = 64

# Tokens that are steps of their own, as codes: ids, those of special tokens with SPECIAL added.
SPECIAL = 1 << 28
OTHER_TOKEN = SPECIAL - 1
"""Stands for all tokens that are not special and that no set names."""
OTHER_SPECIAL = 2 * SPECIAL - 1
"""Stands for all special tokens that no set names."""
# Which tokens a set has: those listed, all others, all other special ones.
LISTED = 0
ALL_OTHERS = 1
OTHER_SPECIALS = 2


@inner
def size_of(A, section):
    """Capacity of a section."""
    return A[section + 1] - A[section]


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
def byte_in(A, at, i):
    """Byte i of those packed from slot `at` on, the lowest of a slot first."""
    return (np.int64(A[at + (i >> 2)]) >> ((i & 3) << 3)) & 255


@inner
def class_of(A, partition, byte):
    """The class of a byte in a partition."""
    return byte_in(A, A[PARTITIONS] + partition * PARTITION_WORDS, byte)
