"""The numba bodies: each is a pass or two over one row, and no row is ever sorted.

`weigh` vectorises (its only conversion is float32 to int32, which every SIMD set has); floats are
not reassociated or fused, so it equals the reference bit by bit.
"""

from __future__ import annotations

import numpy as np

from constrain.kernels.compile import entry, inner

__all__ = ["count_allowed", "gather", "keep_top", "pick", "weigh"]

_FLOOR = np.float32(-28)
_LOG2_E = np.float32(1.4426950408889634)
_LN2_HIGH = np.float32(355 / 512)
_LN2_LOW = np.float32(0.6931471805599453 - 355 / 512)
_HALF = np.float32(1 / 2)
_ONE = np.float32(1)
_C3 = np.float32(1 / 6)
_C4 = np.float32(1 / 24)
_C5 = np.float32(1 / 120)
_C6 = np.float32(1 / 720)
_C7 = np.float32(1 / 5040)
_PARTS = np.float32(2**24)

_BLOCK = 256

# Leiserson, Prokop and Randall (1998), "Using de Bruijn sequences to index a 1 in a computer word":
# every 5-bit window of this number differs, so multiplying it by 2^i identifies i.
_DE_BRUIJN = 0x077C_B531
_POSITION = np.zeros(32, dtype=np.int64)
for _i in range(32):
    _POSITION[((_DE_BRUIJN << _i) & 0xFFFF_FFFF) >> 27] = _i


@entry
def count_allowed(bitmask, vocab_size):
    whole = min(bitmask.shape[0], vocab_size // 32)
    count = np.int64(0)
    for word_index in range(whole):
        word = np.int64(bitmask[word_index]) & 0xFFFF_FFFF
        word -= (word >> 1) & 0x5555_5555
        word = (word & 0x3333_3333) + ((word >> 2) & 0x3333_3333)
        word = (word + (word >> 4)) & 0x0F0F_0F0F
        count += ((word * 0x0101_0101) >> 24) & 0xFF
    if whole < bitmask.shape[0]:
        for bit in range(vocab_size - whole * 32):
            count += (bitmask[whole] >> bit) & 1
    return count


@entry
def gather(logits, bitmask, ids, scores):
    vocab_size = logits.shape[0]
    count = 0
    for word_index in range(min(bitmask.shape[0], (vocab_size + 31) // 32)):
        word = np.int64(bitmask[word_index]) & 0xFFFF_FFFF
        start = word_index * 32
        if start + 32 > vocab_size:
            word &= (1 << (vocab_size - start)) - 1
        while word != 0:
            lowest = word & -word
            token = start + _bit_position(lowest)
            ids[count] = token
            scores[count] = logits[token]
            count += 1
            word ^= lowest
    return count


@inner
def _bit_position(power):
    return _POSITION[((power * _DE_BRUIJN) & 0xFFFF_FFFF) >> 27]


@entry
def weigh(scores, top, temperature, weights):
    total = np.int64(0)
    for position in range(scores.shape[0]):
        z = (scores[position] - top) / temperature
        alive = z > _FLOOR
        z = z if alive else _FLOOR
        j = np.int32(_HALF - z * _LOG2_E)
        j_float = np.float32(j)
        r = (z + j_float * _LN2_HIGH) + j_float * _LN2_LOW
        power = _C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * _C7)))
        power = _ONE + r * (_ONE + r * (_HALF + r * power))
        parts = np.int64(np.int32(power * _PARTS))
        weight = ((parts << 16) >> np.int64(j)) if alive else 0
        weights[position] = weight
        total += weight
    return total


@entry
def keep_top(scores, weights, target, positions, undecided):
    # A radix select over 32-bit keys, digits of 11, 11 and 10 bits from the top: the border's digit
    # is where the mass, added up from the largest digit down, reaches the target.
    bits = scores.view(np.int32)
    num_scores = scores.shape[0]
    each_weighs_one = weights.shape[0] == 0
    masses = np.zeros(2048, dtype=np.int64)
    for position in range(num_scores):
        mass = 1 if each_weighs_one else weights[position]
        masses[(_order_key(bits[position]) >> 21) + 1024] += mass
    digit, above = _border_digit(masses, target, 0)
    border = digit - 1024

    # Stored before it is known whether they stay, which spares a branch that is hard to predict.
    num_candidates = 0
    for position in range(num_scores):
        positions[num_candidates] = position
        num_candidates += _order_key(bits[position]) >> 21 >= border
    num_undecided = 0
    for candidate in range(num_candidates):
        undecided[num_undecided] = positions[candidate]
        num_undecided += _order_key(bits[positions[candidate]]) >> 21 == border

    for shift in (10, 0):
        digit_bits = 11 if shift == 10 else 10
        masses[:] = 0
        for candidate in range(num_undecided):
            position = undecided[candidate]
            key = _order_key(bits[position]) >> shift
            if key >> digit_bits == border:
                mass = 1 if each_weighs_one else weights[position]
                masses[key & ((1 << digit_bits) - 1)] += mass
        digit, above = _border_digit(masses, target, above)
        border = (border << digit_bits) | digit

    num_kept = 0
    for candidate in range(num_candidates):
        position = positions[candidate]
        key = _order_key(bits[position])
        tied = key == border and above < target
        if tied:
            above += 1 if each_weighs_one else weights[position]
        positions[num_kept] = position
        num_kept += key > border or tied
    return num_kept


@inner
def _order_key(bits):
    # Integers in the order of the floats. -0.0 alone would become -1; it ties with +0.0.
    key = np.int64(bits) ^ ((np.int64(bits) >> 31) & 0x7FFF_FFFF)
    return key + (key == -1)


@inner
def _border_digit(masses, target, above):
    digit = masses.shape[0] - 1
    while digit > 0 and above + masses[digit] < target:
        above += masses[digit]
        digit -= 1
    return digit, above


@entry
def pick(weights, target):
    num_weights = weights.shape[0]
    seen = np.int64(0)
    start = 0
    while start < num_weights:  # whole blocks, which vectorise, then one by one
        stop = min(start + _BLOCK, num_weights)
        mass = np.int64(0)
        for position in range(start, stop):
            mass += weights[position]
        if seen + mass > target:
            break
        seen += mass
        start = stop
    for position in range(start, num_weights):
        seen += weights[position]
        if seen > target:
            return position
    return -1
