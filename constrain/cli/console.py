"""How commands speak: data on standard output, the rest on standard error; plain in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from constrain.errors import ConstrainError, GrammarError
from constrain.generation.progress import Stage

__all__ = [
    "StageBars",
    "output",
    "progress_bars",
    "say",
    "show_bug",
    "show_error",
    "show_refusal",
    "usage_as_json",
    "write_error_as_json",
    "write_json",
]

_STAGES: dict[Stage, str] = {
    "wait": "Waiting for another process that fetches the model",
    "download": "Downloading the model",
    "verify": "Checking it",
    "import": "Loading torch and transformers",
    "convert": "Converting it",
    "load": "Loading the model",
    "kernels": "Loading kernels",
    "compile": "Compiling kernels (once)",
}
_IN_BYTES = ("download", "verify")


def output() -> Console:
    """Return a console on standard output, as it is now."""
    return Console(highlight=False)


def _notes() -> Console:
    return Console(stderr=True, highlight=False)


def write_json(value: object) -> None:
    """Write one JSON document to standard output, for a program to read."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def say(text: str, style: str = "") -> None:
    """Write one remark to standard error."""
    _notes().print(Text(text, style=style), soft_wrap=True)


def show_error(error: ConstrainError) -> None:
    """Write an error as a person wants it: where (its notes), what, the way out. No traceback."""
    kind = error.slug.replace("-", " ") + " error"
    message = Text("".join(f"{note}: " for note in getattr(error, "__notes__", ())))
    message.append(f"{kind}: ", "bold red")
    for line in str(error).splitlines(keepends=True):
        message.append(line, style="cyan" if line.startswith("hint:") else "not bold default")
    _notes().print(message, soft_wrap=True)


def show_refusal(error: OSError) -> None:
    """Write what the system refused: to write to a full disk, to open one file more."""
    where = "" if error.filename is None else f"{error.filename}: "
    message = Text(where).append("system error: ", "bold red")
    message.append(error.strerror or str(error), style="not bold default")
    _notes().print(message, soft_wrap=True)


@contextmanager
def usage_as_json(wanted: bool) -> Iterator[None]:
    """Write a wrong use as one JSON object to standard output, and exit with 2, if that is wanted.

    Errors of `constrain` are told by `run`, wherever they come from.
    """
    try:
        yield
    except typer.BadParameter as error:
        if not wanted:
            raise
        write_json({"error": str(error), "kind": "usage"})
        raise typer.Exit(2) from error


def write_error_as_json(error: ConstrainError) -> None:
    """Write an error as one JSON object to standard output."""
    where = ", ".join(getattr(error, "__notes__", ())) or None
    found: dict[str, object] = {"error": str(error), "kind": error.slug, "in": where}
    if isinstance(error, GrammarError):
        found |= {"error": error.reason, "pointer": error.pointer, "hint": error.hint}
    write_json(found)


def show_bug(error: Exception) -> None:
    """Write that something happened which no input should cause, and what to do."""
    message = Text("bug: ", style="bold red")
    message.append(f"{type(error).__name__}: {error}\n", "not bold default")
    message.append("this is a fault of constrain, not of what was asked\n", "not bold default")
    message.append("hint: report it with what constrain --debug COMMAND ... shows", "cyan")
    _notes().print(message, soft_wrap=True)


class StageBars:
    """A `generate.Progress`: a bar per stage on a terminal, a line per stage in a pipe."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars: dict[Stage, tuple[Progress, TaskID]] = {}
        self._named: set[Stage] = set()

    def __call__(self, stage: Stage, done: int, total: int | None) -> None:
        """Draw how far `stage` is."""
        if not self._console.is_terminal:
            if stage not in self._named:
                self._named.add(stage)
                self._console.print(_STAGES[stage] + " ...", soft_wrap=True)
            return
        if stage not in self._bars:
            self.close()
            bar = Progress(*_columns(stage, total), console=self._console)
            bar.start()
            self._bars[stage] = (bar, bar.add_task(_STAGES[stage], total=total))
        bar, task = self._bars[stage]
        bar.update(task, completed=done, total=total)
        if done == total:
            bar.stop()

    def close(self) -> None:
        """Stop drawing; what was drawn stays."""
        for bar, _ in self._bars.values():
            bar.stop()


def _columns(stage: Stage, total: int | None) -> list[ProgressColumn]:
    """Choose what a bar shows: an amount where there is one to count."""
    columns: list[ProgressColumn] = [
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description:<30}"),
        BarColumn(bar_width=30),
    ]
    if stage in _IN_BYTES:
        columns.append(DownloadColumn())
    elif total is not None and total > 1:
        columns.append(MofNCompleteColumn())
    return [*columns, TimeElapsedColumn()]


@contextmanager
def progress_bars() -> Iterator[StageBars]:
    """Give a progress callback that draws on standard error, and stop drawing at the end."""
    bars = StageBars(_notes())
    try:
        yield bars
    finally:
        bars.close()
