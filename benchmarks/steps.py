"""`python -m benchmarks steps`: what moving costs: accept, rollback, fork.

Calls of tools are played with a matcher of each engine, a second time, so that masks and states are
known. At every position each verb is timed by itself:

- *accept*: the next token of the call.
- *rollback*: back by one token, and by eight where there are as many; then the tokens are accepted
  again, untimed.
- *fork*: a second matcher at the same position. An engine without one is asked for a copy.

A verb that an engine does not have is left out for it.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import time
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console

from benchmarks.engines import Engine, Matcher, create
from benchmarks.isolated import Job, Outcome, take_turns
from benchmarks.options import add_options
from benchmarks.play import accepts
from benchmarks.statistics import STATISTICS, spread_figures, summarise
from benchmarks.study import print_broken, print_heading, run_study, table_of_engines
from benchmarks.summary import machine
from benchmarks.tools import sample_tools
from benchmarks.vocabularies import encode, locate

__all__ = ["VERBS", "main", "measure", "summarise_steps"]

VERBS = ("accept", "rollback 1", "rollback 8", "fork")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the table and write the JSON document."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks steps", description="Accept, rollback and fork, each call alone."
    )
    add_options(parser)
    parser.add_argument("--tools", type=int, default=100, help="calls played (%(default)s)")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds without a result")
    arguments = parser.parse_args(argv)

    def jobs(present: Sequence[str]) -> list[Job]:
        sample_tools(1)
        about = {"vocabulary": arguments.vocab, "tools": arguments.tools}
        return [
            Job("benchmarks.steps", {"engine": engine, "run": run} | about, arguments.timeout)
            for run, engine in take_turns(present, arguments.runs)
        ]

    settings = {"runs": arguments.runs, "tools": arguments.tools}
    return run_study("steps", arguments, jobs, summarise_steps, settings, _print)


def measure(engine: str, run: int, vocabulary: str, tools: int) -> Iterator[dict[str, Any]]:
    """The verbs of one engine, in this process.

    Yields:
        For each tool that the engine plays, the times of each verb in nanoseconds.
    """
    from transformers import AutoTokenizer

    files = locate(vocabulary)
    adapter = create(engine)
    adapter.prepare(files, AutoTokenizer.from_pretrained(files.folder))
    workloads = sample_tools(tools)
    texts = encode([workload.texts[0].text for workload in workloads], files)
    for workload, ids in zip(workloads, texts, strict=True):
        times = _times(adapter, workload.schema, ids)
        if times is not None:
            yield times


def summarise_steps(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """One document of all outcomes: in microseconds, medians over the runs with their range."""
    engines: dict[str, Any] = {}
    for name in dict.fromkeys(outcome.arguments["engine"] for outcome in outcomes):
        mine = [outcome for outcome in outcomes if outcome.arguments["engine"] == name]
        verbs = {}
        for verb in VERBS:
            runs = [
                summarise([t / 1e3 for result in outcome.results for t in result.get(verb, ())])
                for outcome in mine
            ]
            if all(run["n"] for run in runs):
                verbs[verb] = {"n": runs[0]["n"]} | {
                    statistic: spread_figures([run[statistic] for run in runs])
                    for statistic in STATISTICS
                }
        broken = [outcome.broken for outcome in mine if outcome.broken is not None]
        engines[name] = {"broken": broken, "verbs": verbs}
    return {
        "format": 1,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "engines": engines,
    }


def _times(engine: Engine, schema: str, ids: Sequence[int]) -> dict[str, list[int]] | None:
    """Times of each verb over one text, or None if the engine does not play it."""
    try:
        compiled = engine.compile(schema)
        if not accepts(compiled.start(), ids):
            return None
        engine.settle()
        gc.collect()
        gc.disable()
        try:
            return _timed_walk(compiled.start(), ids)
        finally:
            gc.enable()
    except Exception:
        return None


def _timed_walk(matcher: Matcher, ids: Sequence[int]) -> dict[str, list[int]]:
    clock = time.perf_counter_ns
    rollback, fork = getattr(matcher, "rollback", None), getattr(matcher, "fork", None)
    times: dict[str, list[int]] = {"accept": []}
    for position, token_id in enumerate(ids):
        matcher.fill()
        start = clock()
        moved = matcher.accept(token_id)
        times["accept"].append(clock() - start)
        if not moved:
            raise RuntimeError(f"token {token_id} at position {position} is refused")
        if fork is not None:
            start = clock()
            fork()
            times.setdefault("fork", []).append(clock() - start)
        for back in (1, 8):
            if rollback is not None and position + 1 >= back:
                start = clock()
                rollback(back)
                times.setdefault(f"rollback {back}", []).append(clock() - start)
                for again in ids[position + 1 - back : position + 1]:
                    matcher.accept(again)
    return times


def _print(document: dict[str, Any], console: Console) -> None:
    print_heading(document, f"calls of {document['settings']['tools']} tools", console)
    table = table_of_engines(document, "Moves, us a call: p50 / p99")
    for verb in VERBS:
        cells = []
        for engine in document["engines"].values():
            figures = engine["verbs"].get(verb)
            cells.append(
                "-"
                if figures is None
                else f"{figures['p50']['median']:.2f} / {figures['p99']['median']:.2f}"
            )
        table.add_row(verb, *cells)
    console.print(table)
    print_broken(document, console)
