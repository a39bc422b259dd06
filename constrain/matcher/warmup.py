"""`warmup`: compile the kernels before the first request needs them."""

from __future__ import annotations

import gc
from collections.abc import Callable

from constrain.algebra.store import TermStore
from constrain.algebra.terms import byte_class, plus
from constrain.grammar import Grammar
from constrain.matcher.bitmask import allocate_token_bitmask
from constrain.matcher.compile import compile
from constrain.vocab import Vocabulary

__all__ = ["warmup"]


def warmup(progress: Callable[[int, int, str], None] | None = None) -> None:
    """Load every kernel, the sampler's too, and compile those that are not in the disk cache.

    The first time on a machine this takes 18 s of one core and 420 MB (AMD EPYC, 2026-11), with
    Python's collector of cycles paused, which else takes 3 s more; later process starts load the
    cache, in a quarter of a second. It lies below `CONSTRAIN_CACHE_DIR`, or the
    user's cache folder; to bring it along in an image, run `constrain warmup` when the image is
    made.

    Args:
        progress: Called as progress(done, total, what is next) before each step and once at the
            end.
    """
    from constrain.kernels.warmup import STEPS

    term = plus(byte_class(b"ab"))
    vocab = Vocabulary([b"a", b"b", b"ab", None], [3])

    def terms() -> None:
        TermStore().intern(term)

    def derivatives() -> None:
        Grammar(term, "warmup").accepts(b"ab")

    def walk() -> None:
        matcher = compile(Grammar(term, "warmup"), vocab).matcher()
        matcher.fill_next_token_bitmask(allocate_token_bitmask(1, vocab.vocab_size))

    steps = [("terms", terms), ("derivatives", derivatives), ("the walk of a vocabulary", walk)]
    steps += STEPS
    collects = gc.isenabled()
    gc.disable()
    try:
        for i, (what, step) in enumerate(steps):
            if progress is not None:
                progress(i, len(steps), what)
            step()
    finally:
        if collects:
            gc.enable()
    if progress is not None:
        progress(len(steps), len(steps), "done")
