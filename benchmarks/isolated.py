"""Measurements in processes of their own: one that hangs or crashes costs its own figures only.

A *job* names a module and arguments. A new process imports the module, calls its `measure` with
the arguments, and tells each result as soon as it is there, so what was measured before a crash
is kept. Jobs that ended are written to a journal; a second start with the same journal skips them.

    job = Job("benchmarks.batches", {"engine": "constrain", "run": 0}, timeout_s=120)
    outcomes = run_jobs([job], Path("journal.jsonl"))

The worker's side is this module as a program: `python -m benchmarks.isolated MODULE ARGUMENTS`.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.events import Worker

__all__ = ["Job", "Outcome", "run_jobs", "take_turns"]

COMMAND = [sys.executable, "-m", "benchmarks.isolated"]
"""How a worker is started; the module and the arguments come after it."""

_GRACE_S = 30.0


@dataclass(frozen=True, slots=True)
class Job:
    """What one process measures.

    Attributes:
        module: Has a function `measure(**arguments)` that yields results, each a mapping that JSON
            can hold.
        arguments: Plain JSON.
        timeout_s: How long the process may be silent: from its start to its first result, and from
            each result to the next.
        environment: Variables set for the process on top of this one's.
    """

    module: str
    arguments: dict[str, Any]
    timeout_s: float
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What tells one job from another in a journal."""
        return json.dumps([self.module, self.arguments], sort_keys=True)


@dataclass(slots=True)
class Outcome:
    """What a job gave.

    Attributes:
        arguments: The job's.
        results: In the order in which they came.
        broken: What ended it early: `timeout after 60 s`, `exit status -11: ...`, or None.
    """

    arguments: dict[str, Any]
    results: list[dict[str, Any]] = field(default_factory=list)
    broken: str | None = None


def take_turns(names: Sequence[str], runs: int) -> list[tuple[int, str]]:
    """(run, name), so that in each run every name comes once and another one first."""
    turns = []
    for run in range(runs):
        first = run % max(len(names), 1)
        turns += [(run, name) for name in (*names[first:], *names[:first])]
    return turns


def run_jobs(
    jobs: Sequence[Job],
    journal: Path | None = None,
    progress: Callable[[int, str], None] = lambda done, what: None,
) -> list[Outcome]:
    """Run jobs one after the other.

    Args:
        jobs: In the order in which they run.
        journal: Outcomes are appended to this file, and jobs that are in it are not run again. A
            job that broke is run again at the next start.
        progress: Called with the number of jobs done and what runs now.

    Returns:
        One outcome for each job, in order.
    """
    known = _read_journal(journal)
    outcomes = []
    for number, job in enumerate(jobs):
        outcome = known.get(job.key)
        if outcome is None:
            progress(number, " ".join(str(value) for value in job.arguments.values())[:70])
            outcome = _run(job)
            _append(journal, job, outcome)
        outcomes.append(outcome)
    progress(len(jobs), "done")
    return outcomes


def _read_journal(journal: Path | None) -> dict[str, Outcome]:
    known: dict[str, Outcome] = {}
    if journal is None or not journal.exists():
        return known
    for line in journal.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # the last line of a benchmark that was ended while it wrote
        if entry["broken"] is None:
            known[entry["key"]] = Outcome(entry["arguments"], entry["results"])
    return known


def _append(journal: Path | None, job: Job, outcome: Outcome) -> None:
    if journal is None:
        return
    journal.parent.mkdir(parents=True, exist_ok=True)
    entry = {
        "key": job.key,
        "arguments": outcome.arguments,
        "results": outcome.results,
        "broken": outcome.broken,
    }
    with journal.open("a", encoding="utf-8") as lines:
        lines.write("\n" + json.dumps(entry))  # what stands before may be half a line


def _run(job: Job) -> Outcome:
    outcome = Outcome(job.arguments)
    command = [*COMMAND, job.module, json.dumps(job.arguments)]
    with Worker(command, job.environment) as worker:
        while True:
            try:
                event = worker.next_event(job.timeout_s)
            except TimeoutError:
                outcome.broken = f"timeout after {job.timeout_s:.0f} s"
                return outcome
            if event is None:
                break
            if "result" in event:
                outcome.results.append(event["result"])
            if "seconds" in event:
                # All is told; an engine may still write its caches, or have threads that never end.
                worker.end_within(_GRACE_S)
                return outcome
        status = worker.status()
        if status:
            last = worker.complaints().strip().splitlines()[-1:] or [""]
            outcome.broken = f"exit status {status}: {last[0][:300]}"
        return outcome


def _work(module: str, arguments: str) -> int:
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what an engine prints there is no event
    started = time.perf_counter()
    measure = importlib.import_module(module).measure
    for result in measure(**json.loads(arguments)):
        events.write(json.dumps({"result": result}) + "\n")
        events.flush()
    events.write(json.dumps({"seconds": time.perf_counter() - started}) + "\n")
    events.flush()
    return 0


if __name__ == "__main__":
    sys.exit(_work(*sys.argv[1:]))
