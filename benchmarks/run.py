"""The command line of the benchmark.

python -m benchmarks                          # 60 schemas, 3 runs, every installed engine
python -m benchmarks --quick                  # 12 schemas, 1 run, no memory
python -m benchmarks --schemas 300 --limit xgrammar=64
python -m benchmarks --schemas 300 --limit xgrammar=64 --resume   # after it was ended in the middle
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.engines import DEFAULT_ENGINES, ENGINES, absence, installed_version
from benchmarks.journal import open_journal
from benchmarks.plan import Plan, make_plan
from benchmarks.registry import DataMissingError, sample
from benchmarks.report import print_report
from benchmarks.summary import summarise_runs
from benchmarks.vocabularies import ALIASES, VOCABULARIES, locate
from benchmarks.watch import Deadlines, Run, WorkerError, is_finished, watch

__all__ = ["RESULTS", "main"]

RESULTS = Path(__file__).resolve().parent / "results"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the tables and write the JSON document.

    Returns:
        0; 1 where a worker could not start; 2 where data, a tokenizer or every engine is missing.
    """
    arguments = _parser().parse_args(argv)
    console = Console(stderr=True)
    try:
        document = _measure(arguments, console)
    except DataMissingError as error:
        console.print(f"benchmark: {error}", style="red", highlight=False, markup=False)
        return 2
    except WorkerError as error:
        console.print(f"benchmark: a worker failed: {error}", style="red", markup=False)
        return 1
    path = arguments.out or RESULTS / f"{_file_name(document)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    tables = Console(width=None if Console().is_terminal else 160)
    print_report(document, tables, wrong_of=arguments.details)
    console.print(f"written to {path}", highlight=False)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare engines on real JSON Schemas: first mask, masks, verdicts, memory.",
    )
    parser.add_argument("--schemas", type=int, default=60, help="size of the sample (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="which sample (%(default)s)")
    parser.add_argument(
        "--only", type=_names, default=(), help="ids of schemas instead of a sample"
    )
    parser.add_argument(
        "--engines",
        type=_names,
        default=DEFAULT_ENGINES,
        help=f"of {', '.join(ENGINES)} (default: {','.join(DEFAULT_ENGINES)})",
    )
    parser.add_argument(
        "--vocab", default="qwen3", help=f"of {', '.join([*VOCABULARIES, *ALIASES])} (%(default)s)"
    )
    parser.add_argument(
        "--runs", type=int, default=3, help="runs, each in new processes (%(default)s)"
    )
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
    parser.add_argument(
        "--resume", action="store_true", help="go on where the same command was ended"
    )
    parser.add_argument("--quick", action="store_true", help="12 schemas, 1 run, no memory")
    parser.add_argument("--details", default="constrain", help="engine whose faults are listed")
    parser.add_argument("--out", type=Path, help="where the JSON goes (benchmarks/results/...)")
    return parser


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name)


def _limit(text: str) -> tuple[str, int]:
    engine, _, number = text.partition("=")
    if engine not in ENGINES or not number.isdigit():
        raise argparse.ArgumentTypeError(f"expected ENGINE=N, got {text!r}")
    return engine, int(number)


def _measure(arguments: argparse.Namespace, console: Console) -> dict[str, Any]:
    size, runs = (12, 1) if arguments.quick else (arguments.schemas, arguments.runs)
    unknown = [name for name in arguments.engines if name not in ENGINES]
    if unknown:
        raise DataMissingError(
            f"no engine is called {', '.join(unknown)}; there are {', '.join(ENGINES)}"
        )
    reasons = {name: absence(name) for name in arguments.engines}
    absent = {name: reason for name, reason in reasons.items() if reason is not None}
    present = [name for name in arguments.engines if name not in absent]
    if not present:
        raise DataMissingError("no engine is installed: " + "; ".join(absent.values()))
    workloads = sample(size, arguments.seed, only=arguments.only)
    plan = make_plan(workloads, locate(arguments.vocab), present, dict(arguments.limit))
    deadlines = Deadlines(compile_s=arguments.timeout)
    plans = [dataclasses.replace(plan, rotation=number) for number in range(runs)]
    journals: list[Path] = []

    def play(each: Plan, title: str) -> Run:
        versions = {name: installed_version(name) for name in each.engines}
        identity = json.dumps([dataclasses.asdict(each), versions, arguments.timeout])
        journal = open_journal(title.replace(" ", "-"), identity, resume=arguments.resume)
        journals.append(journal)
        if title.startswith("memory") and not is_finished(journal):
            journal.unlink(missing_ok=True)  # memory is that of one process
        return _watch(each, deadlines, title, console, journal)

    together = [play(each, f"run {n} of {runs}") for n, each in enumerate(plans, 1)]
    alone: dict[str, Run] = {}
    if not (arguments.quick or arguments.no_memory):
        for name in present:
            lonely = dataclasses.replace(plan, engines=(name,))
            alone[name] = play(lonely, f"memory of {name}")
    settings = {
        "schemas": size,
        "seed": arguments.seed,
        "only": list(arguments.only),
        "runs": runs,
        "limits": dict(arguments.limit),
        "compile_timeout_s": arguments.timeout,
        "texts": "json.dumps(data, ensure_ascii=False), keys as in the data",
    }
    document = summarise_runs(plan, together, alone, settings, absent)
    for journal in journals:
        journal.unlink(missing_ok=True)
    return document


def _watch(
    plan: Plan, deadlines: Deadlines, title: str, console: Console, journal: Path | None
) -> Run:
    columns = (
        TextColumn("{task.fields[title]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=len(plan.steps()), title=title)
        run = watch(
            plan,
            deadlines,
            lambda done, what: progress.update(task, completed=done, description=what),
            journal,
        )
        progress.update(task, completed=len(run.records), description="done")
    return run


def _file_name(document: dict[str, Any]) -> str:
    cpu = re.sub(r"[^a-z0-9]+", "-", document["machine"]["cpu"].lower()).strip("-")
    place = f"{cpu}-{document['machine']['cores']}cores"
    return f"{document['date'][:10]}-{place}-{document['vocabulary']}"
