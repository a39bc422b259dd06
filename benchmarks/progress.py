"""Plans and jobs with a bar on standard error, and a journal to go on from."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from benchmarks.engines import installed_version
from benchmarks.isolated import Job, Outcome, run_jobs
from benchmarks.journal import open_journal
from benchmarks.plan import Plan
from benchmarks.watch import Deadlines, Run, is_finished, watch

__all__ = ["Session"]


class Session:
    """One command's measurements: shown while they run, and noted so that they can be resumed.

    Args:
        console: Where bars go.
        resume: Go on from what an earlier start of the same command has noted.
    """

    def __init__(self, console: Console, *, resume: bool) -> None:
        self._console = console
        self._resume = resume
        self._journals: list[Path] = []

    def play(self, plan: Plan, deadlines: Deadlines, title: str, *, whole: bool = False) -> Run:
        """Play a plan.

        Args:
            plan: What to play.
            deadlines: When to give up on a step.
            title: For the bar and the journal's name.
            whole: Do not go on in the middle: for memory, which is that of one process.

        Raises:
            WorkerError: A worker ended while it prepared the engines.
        """
        identity = [dataclasses.asdict(plan), dataclasses.asdict(deadlines), _versions(plan)]
        journal = self._open(title, json.dumps(identity))
        if whole and not is_finished(journal):
            journal.unlink(missing_ok=True)
        with self._bar(title, len(plan.steps())) as (bar, task):
            return watch(
                plan,
                deadlines,
                lambda done, what: bar.update(task, completed=done, description=what),
                journal,
            )

    def run(self, jobs: Sequence[Job], title: str) -> list[Outcome]:
        """Run jobs; one that breaks is told by its outcome."""
        names = {str(job.arguments["engine"]) for job in jobs if "engine" in job.arguments}
        versions = {name: installed_version(name) for name in sorted(names)}
        journal = self._open(title, json.dumps([title, versions]))
        with self._bar(title, len(jobs)) as (bar, task):
            return run_jobs(
                jobs,
                journal,
                lambda done, what: bar.update(task, completed=done, description=what),
            )

    def forget(self) -> None:
        """Delete the journals: the results are written."""
        for journal in self._journals:
            journal.unlink(missing_ok=True)

    def _open(self, title: str, identity: str) -> Path:
        journal = open_journal(title.replace(" ", "-"), identity, resume=self._resume)
        self._journals.append(journal)
        return journal

    @contextmanager
    def _bar(self, title: str, total: int) -> Iterator[tuple[Progress, TaskID]]:
        columns = (
            TextColumn("{task.fields[title]}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
        )
        with Progress(*columns, console=self._console) as progress:
            yield progress, progress.add_task("", total=total, title=title)


def _versions(plan: Plan) -> dict[str, str]:
    return {name: installed_version(name) for name in plan.engines}
