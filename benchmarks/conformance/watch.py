"""Start workers, end those that are late or crash, and go on with the next case.

Limits count processor time of the worker where the system tells it (`/proc`), so that a busy
machine is not taken for a slow engine; a worker that sleeps is ended by the clock.
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.conformance.cases import Case
from benchmarks.events import Worker

__all__ = ["COMPILE_S", "PLAY_S", "Played", "WorkerError", "play"]

COMMAND = [sys.executable, "-m", "benchmarks.conformance.worker"]
"""How a worker is started; the cases, the engine and what is done already come after it."""

COMPILE_S = 10.0
PLAY_S = 30.0
_PREPARE_S = 300.0
_PATIENCE = 6
"""Seconds on the clock for a second of processor time, before a worker is taken to sleep."""


class WorkerError(Exception):
    """An engine could not be prepared; the message has what it printed."""


@dataclass(slots=True)
class Played:
    """What one engine gave.

    Attributes:
        version: Of its distribution.
        settings: How it was set up.
        answers: For each case a list of verdicts, or why there are none: a text that starts with
            "refused: " or "broke: ".
    """

    version: str = ""
    settings: str = ""
    answers: list[list[str] | str] = field(default_factory=list)


def play(
    cases: Sequence[Case], engine: str, progress: Callable[[int], None] = lambda done: None
) -> Played:
    """Play all cases on one engine, in as many workers as it takes.

    Raises:
        WorkerError: The engine could not be prepared.
    """
    played = Played()
    with tempfile.TemporaryDirectory(prefix="constrain-conformance-") as folder:
        path = Path(folder) / "cases"
        path.write_bytes(pickle.dumps(list(cases)))
        while len(played.answers) < len(cases):
            broke = _follow(path, engine, played, progress)
            if broke is not None:
                played.answers.append(f"broke: {broke}")
    return played


def _follow(path: Path, engine: str, played: Played, progress: Callable[[int], None]) -> str | None:
    """Follow one worker to its end; how the case at hand broke, or None."""
    stage, limit_s = "prepare", _PREPARE_S
    with Worker([*COMMAND, str(path), engine, "--done", str(len(played.answers))]) as worker:
        while True:
            try:
                event = _next(worker, limit_s)
            except TimeoutError:
                if stage == "prepare":
                    raise WorkerError(f"{engine} was not ready after {limit_s:.0f} s") from None
                return f"{stage}: over {limit_s:.0f} s"
            if event is None:
                status = worker.status()
                if stage == "prepare":
                    raise WorkerError(f"{engine}: {worker.complaints()[-3000:]}")
                return f"{stage}: exit status {status}"
            match event["event"]:
                case "ready":
                    played.version, played.settings = event["version"], event["settings"]
                    stage, limit_s = "between", PLAY_S
                case "start":
                    stage, limit_s = "compile", COMPILE_S
                    progress(event["case"])
                case "compiled":
                    stage, limit_s = "play", PLAY_S
                case "verdicts":
                    refused = event.get("refused")
                    played.answers.append(
                        event["verdicts"] if refused is None else f"refused: {refused}"
                    )
                    stage, limit_s = "between", PLAY_S
                case "end":
                    worker.status()
                    return None


def _next(worker: Worker, limit_s: float) -> dict[str, Any] | None:
    """The next event, or None at the end of the output.

    Raises:
        TimeoutError: It took more processor time than allowed, or sleeps.
    """
    start_s, start_cpu_s = time.monotonic(), _cpu_s(worker.pid)
    while True:
        try:
            return worker.next_event(0.2)
        except TimeoutError:
            waited_s, cpu_s = time.monotonic() - start_s, _cpu_s(worker.pid)
        used_s = waited_s if cpu_s is None or start_cpu_s is None else cpu_s - start_cpu_s
        if used_s > limit_s or waited_s > _PATIENCE * limit_s:
            raise TimeoutError


def _cpu_s(pid: int) -> float | None:
    """Processor time of a process so far, or None where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
