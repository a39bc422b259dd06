"""`python -m benchmarks lengths`: what a mask and a step cost early and late in a long text.

Strings and arrays of 10,000 tokens without a bound, far from it and up to it, an object of many
keys, objects 50 deep. Each text is played once, with new states all along; times are means of each
quarter of it, in microseconds of this thread. What costs the same in each does not grow.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.engines import create
from benchmarks.growth.cases import Case, depth_cases, length_cases
from benchmarks.vocabularies import encode, locate

__all__ = ["cases", "main", "quarters"]


def main(argv: Sequence[str] | None = None) -> int:
    """Play the texts and print a line for each."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks lengths", description="Masks and steps along long texts."
    )
    parser.add_argument("--vocab", default="qwen3", help="(%(default)s)")
    parser.add_argument("--words", type=int, default=10_000, help="of a string (%(default)s)")
    arguments = parser.parse_args(argv)
    from transformers import AutoTokenizer

    files = locate(arguments.vocab)
    engine = create("constrain")
    engine.prepare(files, AutoTokenizer.from_pretrained(files.folder))
    played = cases(arguments.words)
    for case, ids in zip(played, encode([case.text for case in played], files), strict=True):
        masks, steps = quarters(engine, case, ids)
        print(
            f"{case.id:18} {len(ids):6} tokens  "
            f"mask us {' '.join(f'{t:7.1f}' for t in masks)}  "
            f"accept us {' '.join(f'{t:6.1f}' for t in steps)}"
        )
    return 0


def cases(words: int) -> list[Case]:
    """The texts, each with its schema; `words` is the length of the strings."""
    keys = json.dumps({f"key_{n}": n for n in range(max(words // 16, 1))})
    (deep,) = depth_cases([50])
    return [
        *length_cases(words),
        Case("object, any keys", {"type": "object"}, keys),
        Case("50 deep", deep.schema, deep.text),
    ]


def quarters(engine: Any, case: Case, ids: Sequence[int]) -> tuple[list[float], list[float]]:  # noqa: ANN401 - an adapter
    """Mean microseconds of the masks and of the steps in each quarter of a text.

    Raises:
        RuntimeError: The engine does not accept the text.
    """
    matcher = engine.compile(json.dumps(case.schema)).start()
    clock = time.thread_time_ns
    masks, steps = [], []
    gc.collect()
    gc.disable()
    try:
        for token_id in ids:
            start = clock()
            matcher.fill()
            filled = clock()
            moved = matcher.accept(token_id)
            steps.append((clock() - filled) / 1e3)
            masks.append((filled - start) / 1e3)
            if not moved:
                raise RuntimeError(f"{case.id}: token {len(steps) - 1} is refused")
    finally:
        gc.enable()
    cuts = [len(ids) * k // 4 for k in range(5)]
    means = [
        [sum(t[a:b]) / max(b - a, 1) for a, b in itertools.pairwise(cuts)] for t in (masks, steps)
    ]
    return means[0], means[1]


if __name__ == "__main__":
    raise SystemExit(main())
