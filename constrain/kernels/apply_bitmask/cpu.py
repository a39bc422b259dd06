"""The numba body: blocks of eight words, each left alone, filled, or chosen id by id.

    words   -1 -1 -1 -1 -1 -1 -1 -1 | 0 0 0 0 0 0 0 0 | 5 0 0 -1 0 0 0 7 | ...
            left alone                filled            each logit or -inf, by its bit

Masks are long runs of one kind: between two values of a JSON text a few dozen ids of 150,000 may
stand, inside a string nearly all. A run of blocks of one kind is done in one go. Where blocks are
chosen every logit is written, with its own bits where it is allowed: there is no branch to
mispredict, so 32 ids take a few vector instructions, and only memory limits it.

Memory is read ahead of a stretch that is gone through without a gap. So what lies between two such
stretches is chosen too where it is short, though all of it is allowed: to skip it takes longer.

float32 [32, 151,936]: 0.03 ms where all is allowed, 0.5 ms where 40 ids a row are, 0.6 ms where a
random half is; bfloat16: 0.03, 0.2 and 0.4 ms (AMD EPYC with AVX-512, one core, 2026-11).
Alternatives measured: one store for each forbidden id (2.7 ms for a random half), every word chosen
(0.7 ms where all is allowed), blocks of 4 and of 16, all that is allowed skipped (half of the ids
in runs of 1,000: 0.9 ms instead of 0.6), rows shared by two threads (to wake one, and to get
Python's lock back from it, takes half as long as all of the work).
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import entry, inner

__all__ = ["any_allowed", "apply"]

_BLOCK = 8
_NONE = 0
_ALL = 1
_MIXED = 2
_SHORT = 16
"""Blocks that are all allowed, and too few to be skipped."""


@entry
def apply(bits, bitmask, rows, minus_inf):
    """Mask the rows; how many of the judged rows allow no id that there is."""
    vocab_size = bits.shape[1]
    covered = min(bitmask.shape[1] * 32, vocab_size)  # ids that have a bit
    blocks = covered // (32 * _BLOCK)
    num_dead = 0
    for index in range(rows.shape[0]):
        row = bits[rows[index]]
        words = bitmask[index]
        alive = False
        block = 0
        chosen = 0  # blocks from here on are still to be chosen
        while block < blocks:
            kind = _kind(words, block)
            first = block
            block += 1
            if kind == _NONE:
                while block < blocks and _some(words, block) == 0:
                    block += 1
            else:
                alive = True
                if kind == _MIXED:
                    continue
                # A row without a grammar is one such run: look at nothing else.
                while block < blocks and _every(words, block) == -1:
                    block += 1
                if block - first < _SHORT:
                    continue
            _choose(row, words, chosen, first, minus_inf)
            chosen = block
            if kind == _NONE:
                row[first * _BLOCK * 32 : block * _BLOCK * 32] = minus_inf
        _choose(row, words, chosen, blocks, minus_inf)
        for token in range(blocks * _BLOCK * 32, covered):
            if (words[token >> 5] >> (token & 31)) & 1:
                alive = True
            else:
                row[token] = minus_inf
        row[covered:] = minus_inf
        num_dead += not alive
    return num_dead


@inner
def _choose(row, words, first, last, minus_inf):
    """Write each logit of blocks first..last-1: itself, or -inf where it is not allowed."""
    forbidden = row.dtype.type(minus_inf)  # parts are called with int64
    for word_index in range(first * _BLOCK, last * _BLOCK):
        word = words[word_index]
        logits = row[word_index * 32 : word_index * 32 + 32]
        for bit in range(32):
            allowed = (word >> np.int32(bit)) & np.int32(1)
            logits[bit] = logits[bit] if allowed else forbidden


@inner
def _kind(words, block):
    if _some(words, block) == 0:
        return _NONE
    return _ALL if _every(words, block) == -1 else _MIXED


@inner
def _every(words, block):
    bits = np.int32(-1)
    for i in range(_BLOCK):
        bits &= words[block * _BLOCK + i]
    return bits


@inner
def _some(words, block):
    bits = np.int32(0)
    for i in range(_BLOCK):
        bits |= words[block * _BLOCK + i]
    return bits


@entry
def any_allowed(bitmask, vocab_size):
    whole = min(bitmask.shape[0], vocab_size // 32)
    for word_index in range(whole):
        if bitmask[word_index] != 0:
            return True
    if whole < bitmask.shape[0]:
        for bit in range(vocab_size - whole * 32):
            if (bitmask[whole] >> bit) & 1:
                return True
    return False
