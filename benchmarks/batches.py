"""`python -m benchmarks batches`: masks of a whole batch, how threads scale, what grammars cost.

A batch is 64 sequences in step, each with the call of a tool. Three things are measured:

- *Visited rows*: the same texts a second time. What a row costs above copying it is what an engine
  adds to a server's step, so the copy of the same masks is measured beside it, step by step, equal
  ones from one array: rows of many grammars do not stay in a cache, whoever copies them.
- *Cold rows*: the first time, with one thread and with two. What an engine shares between grammars
  is warm: every text was played once before, by grammars that are gone.
- *Distinct grammars*: the same with the batch spread over 1, 2, 4, ... 64 of them.
- *Long rows*: 16 sequences, each in a pattern of its own whose masks are walks of the vocabulary of
  some milliseconds, with one thread and with two in turn, the least of five for each step. How
  threads scale depends on how long rows are: those of tools take some ten microseconds.

Each engine has a process of its own for each run. Tools that an engine refuses, or whose call it
does not accept, are left out for that engine.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from benchmarks.engines import Batch, Engine, create
from benchmarks.isolated import Job, Outcome, take_turns
from benchmarks.options import add_options, names
from benchmarks.play import accepts
from benchmarks.registry import DataMissingError
from benchmarks.statistics import STATISTICS, spread_figures, summarise
from benchmarks.study import print_heading, run_study
from benchmarks.summary import machine
from benchmarks.tools import sample_tools
from benchmarks.vocabularies import encode, locate

__all__ = ["batch_jobs", "main", "measure", "summarise_batches"]

Row = npt.NDArray[np.int32]

DISTINCT = (1, 2, 4, 8, 16, 32, 64)
THREADS = (1, 2)
LONG_ROWS = 16
TRIES = 5
_CANDIDATES = 400
_LONG_TEXT = json.dumps("The quick brown fox said looking over there is a moon in June, it goes")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the tables and write the JSON document."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks batches",
        description="Masks of a batch: visited rows, cold rows by threads, distinct grammars.",
    )
    add_options(parser)
    parser.add_argument("--rows", type=int, default=64, help="size of the batch (%(default)s)")
    parser.add_argument("--steps", type=int, default=24, help="tokens of each row (%(default)s)")
    parser.add_argument("--distinct", type=names, default=tuple(map(str, DISTINCT)))
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds without a result")
    arguments = parser.parse_args(argv)

    def jobs(present: Sequence[str]) -> list[Job]:
        sample_tools(1)
        return batch_jobs(
            present,
            arguments.vocab,
            arguments.runs,
            rows=arguments.rows,
            steps=arguments.steps,
            distinct=[int(number) for number in arguments.distinct],
            timeout_s=arguments.timeout,
        )

    settings = {"runs": arguments.runs, "rows": arguments.rows, "steps": arguments.steps}
    return run_study("batches", arguments, jobs, summarise_batches, settings, _print)


def batch_jobs(
    engines: Sequence[str],
    vocabulary: str,
    runs: int,
    *,
    rows: int = 64,
    steps: int = 24,
    distinct: Sequence[int] = DISTINCT,
    timeout_s: float = 300.0,
) -> list[Job]:
    """A job for each engine and run, engines taking turns."""
    shape = {"rows": rows, "steps": steps, "distinct": list(distinct)}
    return [
        Job(
            "benchmarks.batches",
            {"engine": engine, "run": run, "vocabulary": vocabulary, **shape},
            timeout_s,
        )
        for run, engine in take_turns(engines, runs)
    ]


def measure(
    engine: str, run: int, vocabulary: str, rows: int, steps: int, distinct: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """One engine's batches, in this process.

    Yields:
        `rows`, `distinct`, `threads`, whether they are `long`, and in nanoseconds for each step of
        the batch `cold` and `visited`; `copy`, the median time of copying the rows of a step.
    """
    from transformers import AutoTokenizer

    files = locate(vocabulary)
    adapter = create(engine)
    adapter.prepare(files, AutoTokenizer.from_pretrained(files.folder))
    workloads = sample_tools(_CANDIDATES)
    texts = encode([workload.texts[0].text for workload in workloads], files)
    schemas = [(w.schema, ids[:steps]) for w, ids in zip(workloads, texts, strict=True)]
    usable = []
    for schema, ids in schemas:
        if len(usable) < rows and len(ids) == steps and _plays(adapter, schema, ids):
            usable.append((schema, ids))
    if len(usable) < rows:
        raise DataMissingError(f"{engine} plays {len(usable)} tools, and a batch has {rows}")
    adapter.settle()
    most = max(distinct)
    for number, threads in [(n, 1) for n in distinct] + [(most, t) for t in THREADS if t > 1]:
        compiled = [adapter.compile(schema) for schema, _ in usable[:number]]
        order = [row % number for row in range(rows)]
        played = []
        for _ in ("cold", "visited"):
            batch = adapter.batch([compiled[i] for i in order], threads)
            played.append(_play(batch, [usable[i][1] for i in order]))
            adapter.settle()
        batch = adapter.batch([compiled[i] for i in order], 1)
        copy_ns = _copy_ns(_masks(batch, [usable[i][1] for i in order]))
        yield {
            "long": False,
            "rows": rows,
            "distinct": number,
            "threads": threads,
            "cold": played[0],
            "visited": played[1],
            "copy": copy_ns,
        }
    yield from _long_rows(adapter, encode([_LONG_TEXT], files)[0])


def _long_rows(adapter: Engine, ids: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The points of long rows; none if the engine does not play all of them."""
    schemas = [
        json.dumps({"type": "string", "pattern": f"^[^%]{{{3 + i},}}oo[^%]{{7,}}oo[^%]*es$"})
        for i in range(LONG_ROWS)
    ]
    if not all(_plays(adapter, schema, ids) for schema in schemas):
        return
    tries: dict[int, tuple[list[list[int]], list[list[int]]]] = {t: ([], []) for t in THREADS}
    for _ in range(TRIES):
        for threads, played in tries.items():
            compiled = [adapter.compile(schema) for schema in schemas]
            for times in played:
                batch = adapter.batch(compiled, threads)
                times.append(_play(batch, [ids] * LONG_ROWS))
                adapter.settle()
    copy_ns = _copy_ns(_masks(adapter.batch(compiled, 1), [ids] * LONG_ROWS))
    for threads, (cold, visited) in tries.items():
        yield {
            "long": True,
            "rows": LONG_ROWS,
            "distinct": LONG_ROWS,
            "threads": threads,
            "cold": [min(step) for step in zip(*cold, strict=True)],
            "visited": [min(step) for step in zip(*visited, strict=True)],
            "copy": copy_ns,
        }


def summarise_batches(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """One document of all outcomes: in microseconds a row, medians over the runs with their range.

    `above_copy` of visited rows is what is left of the median when the copy is taken off.
    """
    engines: dict[str, Any] = {}
    for outcome in outcomes:
        engine = engines.setdefault(
            outcome.arguments["engine"], {"broken": [], "points": {}, "long_points": {}}
        )
        if outcome.broken is not None:
            engine["broken"].append(outcome.broken)
        for result in outcome.results:
            key = f"{result['distinct']} grammars, {result['threads']} threads"
            runs = engine["long_points" if result["long"] else "points"].setdefault(key, [])
            runs.append({"distinct": result["distinct"], "threads": result["threads"]})
            for name in ("cold", "visited"):
                a_row = [time_ns / result["rows"] / 1e3 for time_ns in result[name]]
                runs[-1][name] = summarise(a_row) | {"total_ms": sum(result[name]) / 1e6}
            copy_us = result["copy"] / result["rows"] / 1e3
            runs[-1]["copy"] = {"p50": copy_us}
            runs[-1]["above_copy"] = {"p50": runs[-1]["visited"]["p50"] - copy_us}
    for engine in engines.values():
        for points, speedup in (
            ("points", "thread_speedup"),
            ("long_points", "thread_speedup_of_long_rows"),
        ):
            engine[points] = [_over_runs(runs) for runs in engine[points].values()]
            engine[speedup] = _thread_speedup(engine[points])
    return {
        "format": 1,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "unit": "us a row, but for total_ms: the whole batch's cold or visited steps",
        "engines": engines,
    }


def _over_runs(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    point: dict[str, Any] = {"distinct": runs[0]["distinct"], "threads": runs[0]["threads"]}
    for name in ("cold", "visited", "copy", "above_copy"):
        point[name] = {}
        for statistic in (*STATISTICS, "total_ms"):
            if statistic in runs[0][name]:
                figures = [run[name][statistic] for run in runs]
                point[name][statistic] = spread_figures(figures)
    return point


def _thread_speedup(points: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Time of all cold steps with one thread / with more, for the most distinct grammars."""
    most = max((point["distinct"] for point in points), default=0)
    totals = {
        p["threads"]: p["cold"]["total_ms"]["median"] for p in points if p["distinct"] == most
    }
    return {str(t): totals[1] / total for t, total in totals.items() if t != 1 and 1 in totals}


def _plays(engine: Engine, schema: str, ids: Sequence[int]) -> bool:
    """Whether an engine compiles a schema and accepts a text, token by token."""
    try:
        return accepts(engine.compile(schema).start(), ids)
    except Exception:
        return False


def _play(batch: Batch, texts: Sequence[Sequence[int]]) -> list[int]:
    clock = time.perf_counter_ns
    times = []
    gc.collect()
    gc.disable()
    try:
        for step in range(len(texts[0])):
            start = clock()
            batch.fill()
            times.append(clock() - start)
            for row, ids in enumerate(texts):
                if not batch.accept(row, ids[step]):
                    raise RuntimeError(f"row {row} refused its token at step {step}")
    finally:
        gc.enable()
    return times


def _masks(batch: Batch, texts: Sequence[Sequence[int]]) -> list[list[Row]]:
    """The masks of each step of a batch, row by row; equal ones are one array."""
    known: dict[bytes, Row] = {}
    steps = []
    for step in range(len(texts[0])):
        batch.fill()
        steps.append([known.setdefault(row.tobytes(), row.copy()) for row in batch.words])
        for row, ids in enumerate(texts):
            batch.accept(row, ids[step])
    return steps


def _copy_ns(steps: Sequence[Sequence[Row]]) -> float:
    """Median time of copying the rows of a step, one step after another; the faster of two ways."""
    bitmask = np.zeros((len(steps[0]), len(steps[0][0])), np.int32)
    flat = bitmask.reshape(-1)

    def row_by_row(rows: Sequence[Row]) -> None:
        for row, source in enumerate(rows):
            bitmask[row] = source

    medians = []
    for copy in (row_by_row, lambda rows: np.concatenate(rows, out=flat)):
        times = []
        for _ in range(3):
            for rows in steps:
                start = time.perf_counter_ns()
                copy(rows)
                times.append(time.perf_counter_ns() - start)
        medians.append(float(np.median(times)))
    return min(medians)


def _print(document: dict[str, Any], console: Console) -> None:
    print_heading(document, f"{document['settings']['rows']} rows", console)
    table = Table(title="Masks of a batch, us a row")
    for column in ("engine", "grammars", "threads", "cold mean", "cold p50", "visited mean",
                   "visited p50", "copy", "visited p50 above the copy"):  # fmt: skip
        table.add_column(column, justify="left" if column == "engine" else "right")
    for name, engine in document["engines"].items():
        for point in (points := engine["points"] + engine["long_points"]):
            figures = [
                point["cold"]["mean"], point["cold"]["p50"], point["visited"]["mean"],
                point["visited"]["p50"], point["copy"]["p50"], point["above_copy"]["p50"],
            ]  # fmt: skip
            table.add_row(
                f"{name} {document['versions'].get(name, '')}",
                str(point["distinct"]) + (" (long rows)" if point in engine["long_points"] else ""),
                str(point["threads"]),
                *(f"{figure['median']:.2f}" for figure in figures),
                end_section=point is points[-1],
            )
    console.print(table)
    for name, engine in document["engines"].items():
        for rows, speedups in (
            ("cold rows", engine["thread_speedup"]),
            ("long cold rows", engine["thread_speedup_of_long_rows"]),
        ):
            for threads, speedup in speedups.items():
                told = (
                    f"{name}: {rows} with {threads} threads {speedup:.2f} times as fast as with 1"
                )
                console.print(told, highlight=False)
        for broken in engine["broken"]:
            console.print(f"{name}: {broken}", style="red", highlight=False, markup=False)
