"""A study: jobs of each engine in processes of their own, one document, tables of it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.engines import installed_version
from benchmarks.isolated import Job, Outcome
from benchmarks.options import guarded, present_engines, tables, write
from benchmarks.progress import Session
from benchmarks.vocabularies import locate

__all__ = ["print_broken", "print_heading", "run_study", "table_of_engines"]


def run_study(
    what: str,
    arguments: argparse.Namespace,
    jobs: Callable[[Sequence[str]], list[Job]],
    summarise: Callable[[Sequence[Outcome]], dict[str, Any]],
    settings: dict[str, Any],
    show: Callable[[dict[str, Any], Console], None],
) -> int:
    """Measure, print the tables and write the JSON document; the exit status.

    Args:
        what: The name of the study, in the name of its file too.
        arguments: Those of `options.add_options`.
        jobs: Makes what is run, for the engines that are installed. Raises `DataMissingError` where
            data for it is missing.
        summarise: Makes the document of what jobs gave.
        settings: Go into the document.
        show: Prints the tables.
    """

    def command(console: Console) -> None:
        present, absent = present_engines(arguments.engines)
        locate(arguments.vocab)
        asked = jobs(present)
        session = Session(console, resume=arguments.resume)
        document = summarise(session.run(asked, what)) | {
            "vocabulary": arguments.vocab,
            "absent": absent,
            "versions": {name: installed_version(name) for name in present},
            "settings": settings,
        }
        path = write(document, what, arguments.out)
        session.forget()
        show(document, tables())
        console.print(f"written to {path}", highlight=False)

    return guarded(command)


def print_heading(document: dict[str, Any], what: str, console: Console) -> None:
    """Where and when it was measured, and what: the line above the tables of a study."""
    about = document["machine"]
    console.print(
        f"{about['cpu']}, {about['cores']} cores, load {about['load_1min']}, Python "
        f"{about['python']}, {about['system']}; {document['date']}; vocabulary "
        f"{document['vocabulary']}; {what}, {document['settings']['runs']} run(s), medians",
        highlight=False,
    )


def table_of_engines(document: dict[str, Any], title: str) -> Table:
    """A table with a column for what a row is, and one for each engine."""
    table = Table(title=title)
    table.add_column("")
    for name in document["engines"]:
        table.add_column(f"{name}\n{document['versions'].get(name, '')}", justify="right")
    return table


def print_broken(document: dict[str, Any], console: Console) -> None:
    """What broke in each engine, below the tables."""
    for name, engine in document["engines"].items():
        for broken in engine["broken"]:
            console.print(f"{name}: {broken}", style="red", highlight=False, markup=False)
