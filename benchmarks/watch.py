"""Start workers, end those that hang or crash, and go on after them.

An engine that compiles in native code cannot be interrupted from Python. So a worker is a process
of its own that says when each step begins; one that is late is killed, the step is recorded as a
time-out, and a new worker goes on with the next step. The same holds for one that crashes.

A run can keep a journal, one line for each step. Where the benchmark itself was ended, the next
start with the same plan goes on after the last line.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.events import Worker
from benchmarks.plan import Plan
from benchmarks.play import Record

__all__ = ["Deadlines", "Run", "WorkerError", "is_finished", "watch"]

COMMAND = [sys.executable, "-m", "benchmarks.worker"]
"""How a worker is started; the plan and what is done already come after it."""


class WorkerError(Exception):
    """A worker ended before it had played anything; the message holds what it printed."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long a worker may be silent, in seconds.

    Attributes:
        compile_s: From the beginning of a step to its first mask.
        play_s: From the first mask to the record: both passes over all texts of the schema.
        prepare_s: Until every engine has its vocabulary and its kernels.
    """

    compile_s: float = 10.0
    play_s: float = 60.0
    prepare_s: float = 600.0


@dataclass(slots=True)
class Run:
    """What one pass over a plan gave.

    Attributes:
        records: One per step of the plan, in its order.
        ready: The first worker's `ready` event: versions, settings, preparation.
        end: The `end` event, or None if the last worker did not reach it.
        restarts: How many workers had to be started again.
    """

    records: list[Record] = field(default_factory=list)
    ready: dict[str, Any] | None = None
    end: dict[str, Any] | None = None
    restarts: int = 0


def watch(
    plan: Plan,
    deadlines: Deadlines,
    progress: Callable[[int, str], None] = lambda done, what: None,
    journal: Path | None = None,
) -> Run:
    """Play a plan in as many workers as it takes.

    Args:
        plan: What to play.
        deadlines: When to give up on a step.
        progress: Called with the number of finished steps and what happens now.
        journal: A file of this plan alone: steps that it holds are not played again, and each step
            is added to it.

    Raises:
        WorkerError: A worker ended while it prepared the engines.
    """
    run = Run() if journal is None else _read_journal(journal)
    with tempfile.TemporaryDirectory(prefix="constrain-bench-") as folder:
        path = Path(folder) / "plan.json"
        plan.write(path)
        steps = plan.steps()
        while len(run.records) < len(steps) or run.ready is None:
            progress(len(run.records), "preparing the engines")
            broken = _follow(path, plan, run, deadlines, progress, journal)
            if broken is None or len(run.records) == len(steps):
                break
            index, engine = steps[len(run.records)]
            run.records.append(Record(plan.schemas[index].id, engine, broken=broken))
            run.restarts += 1
            _write(journal, record=dataclasses.asdict(run.records[-1]), restart=True)
    return run


def _follow(
    path: Path,
    plan: Plan,
    run: Run,
    deadlines: Deadlines,
    progress: Callable[[int, str], None],
    journal: Path | None,
) -> str | None:
    """Follow one worker to its end; how the step at hand broke, or None."""
    steps = plan.steps()
    stage, allowed_s = "prepare", deadlines.prepare_s
    with Worker([*COMMAND, str(path), "--done", str(len(run.records))]) as worker:
        while True:
            try:
                event = worker.next_event(allowed_s)
            except TimeoutError:
                if stage == "prepare":
                    raise WorkerError(
                        f"the engines were not ready after {allowed_s:.0f} s"
                    ) from None
                return f"timeout ({stage})"
            if event is None:
                status = worker.status()
                if stage == "prepare":
                    raise WorkerError(f"exit status {status}\n{worker.complaints()[-4000:]}")
                return f"crash ({stage}, exit status {status})"
            match event["event"]:
                case "preparing":
                    progress(len(run.records), f"prepared {event['engine']}")
                case "ready":
                    if run.ready is None:
                        run.ready = event
                        _write(journal, ready=event)
                case "start":
                    stage, allowed_s = "compile", deadlines.compile_s
                    index, engine = steps[event["step"]]
                    progress(len(run.records), f"{engine}: {plan.schemas[index].id}")
                case "compiled":
                    stage, allowed_s = "play", deadlines.play_s
                case "record":
                    _write(journal, record=event["record"])
                    run.records.append(Record.from_json(event["record"]))
                    stage, allowed_s = "settle", deadlines.play_s
                case "end":
                    run.end = event
                    _write(journal, end=event)
                    worker.status()
                    return None


def is_finished(journal: Path) -> bool:
    """Whether a journal holds a run that came to its end."""
    return _read_journal(journal).end is not None


def _read_journal(journal: Path) -> Run:
    run = Run()
    if not journal.exists():
        return run
    for line in journal.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # the benchmark was ended while it wrote
        if "record" in entry:
            run.records.append(Record.from_json(entry["record"]))
            run.restarts += "restart" in entry
        run.ready = entry.get("ready", run.ready)
        run.end = entry.get("end", run.end)
    return run


def _write(journal: Path | None, **entry: object) -> None:
    if journal is not None:
        journal.parent.mkdir(parents=True, exist_ok=True)
        with journal.open("a", encoding="utf-8") as lines:
            lines.write("\n" + json.dumps(entry))  # what stands before may be half a line
