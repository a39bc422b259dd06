"""A trie as arrays that are kept on disk, and back, if they are those of a trie."""

from __future__ import annotations

import numpy as np

from constrain.vocab.disk_cache import Arrays
from constrain.vocab.trie import Trie

__all__ = ["arrays_of", "trie_of"]

_FIELDS = ("depth", "end", "token_start", "tokens", "children", "starts", "byte")


def arrays_of(trie: Trie) -> Arrays:
    """The arrays of a trie by name."""
    return {field: getattr(trie, field) for field in _FIELDS}


def trie_of(arrays: Arrays, num_ids: int, num_texts: int) -> Trie | None:
    """The trie that has these arrays; None if they are not of a trie of this vocabulary.

    Args:
        arrays: From `arrays_of`, or from anywhere: a walk over what is returned stays inside them
            and comes to an end.
        num_ids: Ids of the vocabulary.
        num_texts: Those that have bytes.
    """
    if set(arrays) != set(_FIELDS) or not _is_sound(arrays, num_ids, num_texts):
        return None
    depth = arrays["depth"]
    deepest = int(depth.max()) + 1 if len(depth) else 0
    return Trie(**arrays, max_depth=deepest)  # type: ignore[arg-type]  # dtypes were looked at


def _is_sound(arrays: Arrays, num_ids: int, num_texts: int) -> bool:
    nodes = len(arrays["byte"])
    lengths = {
        "depth": nodes,
        "end": nodes,
        "token_start": nodes + 1,
        "tokens": num_texts,
        "children": nodes,
        "starts": 2 * (nodes + 2),
    }
    if any(len(arrays[name]) != length for name, length in lengths.items()):
        return False
    if any(a.dtype != (np.uint8 if name == "byte" else np.int32) for name, a in arrays.items()):
        return False
    depth, end, token_start = arrays["depth"], arrays["end"], arrays["token_start"]
    tokens, children = arrays["tokens"], arrays["children"]
    child_start, first_token = arrays["starts"].reshape(-1, 2).T
    below = children >> 8
    return bool(
        (np.diff(child_start) >= 0).all()
        and (child_start[0], child_start[-1]) == (0, nodes)
        and (np.diff(token_start) >= 0).all()
        and (token_start[0], token_start[-1]) == (0, num_texts)
        and first_token[0] == 0
        and (first_token[1:] == token_start).all()
        and (below < nodes).all()
        # A child comes after its parent, so that no walk comes back.
        and (below > np.repeat(np.arange(-1, nodes), np.diff(child_start))).all()
        and (end > np.arange(nodes)).all()
        and (end <= nodes).all()
        and (depth >= 0).all()
        and (num_texts == 0 or (tokens.min() >= 0 and tokens.max() < num_ids))
    )
