"""`warmup`: compile the kernels before the first request needs them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from constrain.algebra.terms import byte_class, plus
from constrain.grammar import Grammar
from constrain.matcher.compile import compile
from constrain.vocab import Vocabulary

__all__ = ["warmup"]


def warmup(progress: Callable[[int, int, str], None] | None = None) -> None:
    """Load every kernel, compiling those that are not in the disk cache.

    The first time on a machine this takes some seconds; later process starts load the cache, which
    lies below `CONSTRAIN_CACHE_DIR`, or the user's cache folder. The sampler's kernels are compiled
    when it is first called (`generate` does so before it begins).

    Args:
        progress: Called as progress(done, total, what is next) before each step and once at the
            end.
    """

    def start() -> None:
        grammar.accepts(b"")

    def advance() -> None:
        grammar.accepts(b"ab")

    def masks() -> None:
        compile(grammar, vocab)

    def bitmask() -> None:
        from constrain.kernels.apply_bitmask import apply_bitmask

        apply_bitmask(np.zeros((1, 4), np.float32), np.full((1, 1), 0b101, np.int32))

    grammar = Grammar(plus(byte_class(b"ab")), "warmup")
    vocab = Vocabulary([b"a", b"b", b"ab", None], [3])
    steps = [
        ("term kernels", start),
        ("derivative kernels", advance),
        ("vocabulary walk", masks),
        ("mask kernel", bitmask),
    ]
    for i, (what, step) in enumerate(steps):
        if progress is not None:
            progress(i, len(steps), what)
        step()
    if progress is not None:
        progress(len(steps), len(steps), "done")
