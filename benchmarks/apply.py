"""Bitmasks laid over logits on the CPU: `constrain` beside xgrammar's kernel and llguidance's.

    python -m benchmarks.apply
    python -m benchmarks.apply --batch 1 --dtypes float32 --masks structure,string --json apply.json

The engines mask the same logits with the same bitmask, in turns, another one first each time. The
logits are made anew before each call, untimed, so each call finds them as a model leaves them. What
each engine leaves is compared before anything is timed.

Threads are torch's own number (`--threads`): torch and llguidance use as many, `constrain` and
xgrammar one. llguidance compiles its kernel with torch.compile, before anything is timed.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks.statistics import spread
from benchmarks.summary import machine

__all__ = ["MASKS", "main", "make_bitmask"]

OURS = "constrain"
DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float64": torch.float64,
}
MASKS = {
    "structure": "40 ids allowed, scattered: between two values of a JSON text",
    "string": "97 % allowed, the others scattered: inside a JSON string",
    "half": "each id allowed with probability 1/2",
    "runs": "half of the ids allowed, in runs of 1,000 on average",
    "all": "every id allowed",
    "mixed": "rows of structure and of string in turn: a batch of a server",
}
MASK_SEED = 20260
Apply = Callable[[torch.Tensor, torch.Tensor], None]


def make_bitmask(kind: str, batch: int, vocab_size: int) -> torch.Tensor:
    """int32 [batch, ceil(vocab_size / 32)]: a mask of one of the kinds of `MASKS`.

    Bits at and past `vocab_size` are 0. Each row allows an id.
    """
    rng = np.random.default_rng(MASK_SEED)
    allowed = np.zeros((batch, 32 * math.ceil(vocab_size / 32)), bool)
    ids = allowed[:, :vocab_size]
    if kind in ("structure", "mixed"):
        ids[np.arange(batch)[:, None], rng.integers(0, vocab_size, (batch, 40))] = True
    if kind in ("string", "mixed"):
        rows = slice(1, None, 2) if kind == "mixed" else slice(None)
        ids[rows] = rng.random(ids[rows].shape) < 0.97
    if kind == "half":
        ids[:] = rng.random(ids.shape) < 0.5
    if kind == "runs":
        ids[:] = np.logical_xor.accumulate(rng.random(ids.shape) < 1e-3, axis=1)
    if kind == "all":
        ids[:] = True
    ids[:, vocab_size // 2] = True
    packed = np.packbits(allowed, axis=1, bitorder="little")
    return torch.from_numpy(packed.view("<i4").astype(np.int32))


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the tables, and write the figures where `--json` says.

    Returns:
        0; 1 where an engine leaves other logits than the others; 2 where there is only one engine.
    """
    arguments = _parser().parse_args(argv)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    console = Console(width=None if Console().is_terminal else 160)
    engines, absent = _engines(arguments.engines)
    if len(engines) < 2:
        console.print(f"nothing to compare: {absent}", highlight=False)
        return 2
    about = machine()
    console.print(
        f"{about['cpu']}, {about['cores']} cores, load {about['load_1min']}, torch "
        f"{torch.__version__} on {torch.get_num_threads()} thread(s); logits "
        f"[{arguments.batch}, {arguments.vocab_size}]; median of {arguments.runs} calls, us",
        highlight=False,
    )
    for name, why in absent.items():
        console.print(f"{name}: not measured, {why}", highlight=False)
    figures = []
    for dtype in arguments.dtypes:
        for kind in arguments.masks:
            times = _times(engines, dtype, kind, arguments)
            if isinstance(times, str):
                console.print(f"{times} leaves other logits ({dtype}, {kind})", style="red")
                return 1
            figures.append({"dtype": dtype, "mask": kind, "us": times})
    console.print(_table(engines, figures))
    if arguments.json:
        document = {"machine": about, "threads": torch.get_num_threads(), "figures": figures}
        document |= {"batch": arguments.batch, "vocab_size": arguments.vocab_size}
        document |= {"versions": {name: _version(name) for name in engines}}
        arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.apply",
        description=__doc__.split("\n")[0],
        epilog="masks: " + "; ".join(f"{name}: {what}" for name, what in MASKS.items()),
    )

    def names(known: Sequence[str]) -> Callable[[str], list[str]]:
        def read(text: str) -> list[str]:
            given = text.split(",")
            for name in given:
                if name not in known:
                    raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
            return given

        return read

    add = parser.add_argument
    add("--batch", type=int, default=32)
    add("--vocab-size", type=int, default=151_936)
    add("--dtypes", type=names(list(DTYPES)), default=["float32", "bfloat16"])
    add("--masks", type=names(list(MASKS)), default=list(MASKS))
    add("--engines", type=names(list(_LOADERS)), default=list(_LOADERS))
    add("--runs", type=int, default=31, help="calls of each engine for each figure")
    add("--threads", type=int, default=0, help="torch's number of threads, if it shall be another")
    add("--json", type=Path, help="a file for the figures")
    return parser


def _constrain() -> Apply:
    from constrain import apply_token_bitmask

    return apply_token_bitmask


def _xgrammar() -> Apply:
    from xgrammar import apply_token_bitmask_inplace

    return apply_token_bitmask_inplace


def _llguidance() -> Apply:
    from llguidance.torch import apply_token_bitmask_inplace

    return apply_token_bitmask_inplace


_LOADERS = {OURS: _constrain, "xgrammar": _xgrammar, "llguidance": _llguidance}
_DISTRIBUTIONS = {OURS: "constrain-decoding"}


def _engines(names: Sequence[str]) -> tuple[dict[str, Apply], dict[str, str]]:
    """The engines that are installed, and why others are not there."""
    engines: dict[str, Apply] = {}
    absent: dict[str, str] = {}
    for name in names:
        try:
            engines[name] = _LOADERS[name]()
        except ImportError as error:
            absent[name] = str(error)
    return engines, absent


def _version(name: str) -> str:
    return importlib.metadata.version(_DISTRIBUTIONS.get(name, name))


def _times(
    engines: dict[str, Apply], dtype: str, kind: str, arguments: argparse.Namespace
) -> dict[str, list[float]] | str:
    """Microseconds of each call of each engine; or the name of one that leaves other logits."""
    shape = (arguments.batch, arguments.vocab_size)
    fresh = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(DTYPES[dtype])
    bitmask = make_bitmask(kind, *shape)
    logits = fresh.clone()
    expected: torch.Tensor | None = None
    for name, apply in engines.items():
        logits.copy_(fresh)
        apply(logits, bitmask)
        if expected is None:
            expected = logits.clone()
        elif not torch.equal(logits, expected):
            return name
    times: dict[str, list[float]] = {name: [] for name in engines}
    order = list(engines)
    for run in range(arguments.runs):
        at = run % len(order)
        for name in order[at:] + order[:at]:
            logits.copy_(fresh)
            started = time.perf_counter_ns()
            engines[name](logits, bitmask)
            times[name].append((time.perf_counter_ns() - started) / 1e3)
    return times


def _table(engines: dict[str, Apply], figures: list[dict[str, Any]]) -> Table:
    table = Table(title="One call, us: median (lowest - highest); ratio constrain / best other")
    table.add_column("")
    for name in engines:
        table.add_column(f"{name}\n{_version(name)}", justify="right")
    table.add_column("ratio", justify="right")
    for figure in figures:
        cells = [spread(figure["us"][name]) for name in engines]
        others = [c.median for name, c in zip(engines, cells, strict=True) if name != OURS]
        ours = [c.median for name, c in zip(engines, cells, strict=True) if name == OURS]
        table.add_row(
            f"{figure['dtype']} {figure['mask']}",
            *(f"{c.median:,.0f} ({c.low:,.0f} - {c.high:,.0f})" for c in cells),
            f"{ours[0] / min(others):.2f}" if ours and others else "-",
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
