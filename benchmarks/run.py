"""The command line of the main comparison.

python -m benchmarks                          # 60 schemas, 3 runs, every installed engine
python -m benchmarks --quick                  # 12 schemas, 1 run, no memory
python -m benchmarks --schemas 300 --limit xgrammar=64
python -m benchmarks --schemas 300 --limit xgrammar=64 --resume   # after it was ended in the middle
python -m benchmarks --vocab qwen3,llama2,o200k                   # one after the other, a file each
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from benchmarks.engines import ENGINES
from benchmarks.options import add_options, guarded, names, present_engines, tables, write
from benchmarks.plan import make_plan
from benchmarks.progress import Session
from benchmarks.registry import DataMissingError, sample
from benchmarks.report import print_report
from benchmarks.summary import summarise_runs
from benchmarks.vocabularies import TokenizerFiles, locate
from benchmarks.watch import Deadlines, Run

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the tables and write the JSON document.

    Returns:
        0; 1 where a worker could not start; 2 where data, a tokenizer or every engine is missing.
    """
    arguments = _parser().parse_args(argv)

    def command(console: Console) -> None:
        vocabularies = [locate(name) for name in arguments.vocab.split(",")]
        if arguments.out is not None and len(vocabularies) > 1:
            raise DataMissingError("--out is one file, and each vocabulary needs its own")
        for files in vocabularies:
            session = Session(console, resume=arguments.resume)
            document = _measure(arguments, files, session)
            path = write(document, None, arguments.out)
            session.forget()
            print_report(document, tables(), wrong_of=arguments.details)
            console.print(f"written to {path}", highlight=False)

    return guarded(command)


def _parser() -> argparse.ArgumentParser:
    from benchmarks import COMMANDS

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare engines on real JSON Schemas: first mask, masks, verdicts, memory.",
        epilog="Further commands: "
        + "; ".join(f"{n}: {what}" for n, (_, what) in COMMANDS.items()),
    )
    add_options(parser)
    parser.add_argument("--schemas", type=int, default=60, help="size of the sample (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="which sample (%(default)s)")
    parser.add_argument("--only", type=names, default=(), help="ids of schemas instead of a sample")
    parser.add_argument(
        "--limit",
        type=_limit,
        action="append",
        default=[],
        metavar="ENGINE=N",
        help="let an engine play only the first N schemas",
    )
    parser.add_argument(
        "--timeout", type=float, default=10.0, help="seconds for a compile (%(default)s)"
    )
    parser.add_argument(
        "--no-memory", action="store_true", help="skip the runs that measure memory"
    )
    parser.add_argument("--quick", action="store_true", help="12 schemas, 1 run, no memory")
    parser.add_argument("--details", default="constrain", help="engine whose faults are listed")
    return parser


def _limit(text: str) -> tuple[str, int]:
    engine, _, number = text.partition("=")
    if engine not in ENGINES or not number.isdigit():
        raise argparse.ArgumentTypeError(f"expected ENGINE=N, got {text!r}")
    return engine, int(number)


def _measure(
    arguments: argparse.Namespace, files: TokenizerFiles, session: Session
) -> dict[str, Any]:
    size, runs = (12, 1) if arguments.quick else (arguments.schemas, arguments.runs)
    present, absent = present_engines(arguments.engines)
    workloads = sample(size, arguments.seed, only=arguments.only)
    plan = make_plan(workloads, files, present, dict(arguments.limit))
    deadlines = Deadlines(compile_s=arguments.timeout)
    plans = [dataclasses.replace(plan, rotation=number) for number in range(runs)]
    together = [
        session.play(each, deadlines, f"run {n} of {runs}") for n, each in enumerate(plans, 1)
    ]
    alone: dict[str, Run] = {}
    if not (arguments.quick or arguments.no_memory):
        for name in present:
            lonely = dataclasses.replace(plan, engines=(name,))
            alone[name] = session.play(lonely, deadlines, f"memory of {name}", whole=True)
    settings = {
        "schemas": size,
        "seed": arguments.seed,
        "only": list(arguments.only),
        "runs": runs,
        "limits": dict(arguments.limit),
        "compile_timeout_s": arguments.timeout,
        "texts": "json.dumps(data, ensure_ascii=False), keys as in the data",
    }
    return summarise_runs(plan, together, alone, settings, absent)
