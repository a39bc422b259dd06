"""The two ways of the sampler, host and device, behind one function, and how to write a bitmask."""

from __future__ import annotations

import numpy as np

from constrain.kernels.sample import Workspace
from constrain.sampling import device, host
from constrain.sampling.batch import read_batch
from constrain.sampling.failures import EmptyRowError, InvalidRowError


def pack(allowed):
    """Booleans [B, V] as a bitmask."""
    allowed = np.asarray(allowed, dtype=bool)
    width = -(-allowed.shape[1] // 32) * 32
    bits = np.zeros((len(allowed), width), dtype=bool)
    bits[:, : allowed.shape[1]] = allowed
    return np.packbits(bits, axis=1, bitorder="little").view("<i4")


def bitmask_of(rows, vocab_size):
    """Lists of allowed ids, one for each row, as a bitmask for `vocab_size` ids."""
    return pack([np.isin(np.arange(vocab_size), ids) for ids in rows])


def on_host(logits, params, bitmask, uniforms, histories, prompts):
    """Token ids, -1 where a row failed."""
    batch = read_batch(logits.numpy(), params, bitmask, histories, prompts)
    tokens, workspace = [], Workspace(batch.vocab_size)
    for row in range(batch.num_rows):
        try:
            tokens.append(host.choose(batch, row, uniforms[row], workspace))
        except (EmptyRowError, InvalidRowError):
            tokens.append(-1)
    return tokens


def on_device(logits, params, bitmask, uniforms, histories, prompts):
    """The same by the code for GPUs, which runs on tensors of any device."""
    batch = read_batch(logits, params, bitmask, histories, prompts)
    tokens, failed = device.choose(batch, np.asarray(uniforms))
    assert ((tokens.numpy() == -1) == failed).all()
    return tokens.tolist()
