"""`python -m benchmarks grammars`: grammars of the catalogue on every engine that can spell them.

python -m benchmarks grammars                     # JSON, SQL, Python; 3 runs
python -m benchmarks grammars --grammars json --runs 1 --engines constrain,llguidance
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.grammars.spellings import CATALOGUE, GRAMMARS
from benchmarks.options import add_options, guarded, names, present_engines, tables, write
from benchmarks.plan import Plan, PlannedSchema, PlannedText
from benchmarks.progress import Session
from benchmarks.registry import DataMissingError
from benchmarks.summary import summarise_runs
from benchmarks.vocabularies import TokenizerFiles, encode, locate
from benchmarks.watch import Deadlines, Run
from constrain.fixtures import load

__all__ = ["main", "masks_per_second", "summarise_grammars"]

WARM_UPS = ("arithmetic", "dotenv")
"""Played first and not counted: they load what reads Lark and GBNF. No peer has them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the table and write the JSON document."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks grammars",
        description="First mask, masks a second and verdicts for grammars of the catalogue.",
    )
    add_options(parser)
    parser.add_argument("--grammars", type=names, default=("json", "sql_select", "python"))
    parser.add_argument(
        "--timeout", type=float, default=60.0, help="seconds for a compile (%(default)s)"
    )
    parser.add_argument(
        "--play-timeout", type=float, default=300.0, help="seconds for all its texts (%(default)s)"
    )
    arguments = parser.parse_args(argv)

    def command(console: Console) -> None:
        session = Session(console, resume=arguments.resume)
        document = _measure(arguments, session)
        path = write(document, "grammars", arguments.out)
        session.forget()
        _print(document, tables())
        console.print(f"written to {path}", highlight=False)

    return guarded(command)


def summarise_grammars(
    plan: Plan, runs: Sequence[Run], settings: dict[str, Any], absent: dict[str, str]
) -> dict[str, Any]:
    """One document for all grammars of a plan, each summarised by itself."""
    whole = summarise_runs(plan, runs, {}, settings, absent)
    grammars = {}
    for planned in plan.schemas:
        if planned.id in WARM_UPS:
            continue
        part = dataclasses.replace(plan, schemas=(planned,))
        parts = [
            dataclasses.replace(run, records=[r for r in run.records if r.schema == planned.id])
            for run in runs
        ]
        one = summarise_runs(part, parts, {}, {}, {})
        grammars[planned.id] = {key: one[key] for key in ("sample", "engines", "ratios")}
    about = {key: whole[key] for key in ("format", "date", "machine", "settings", "vocabulary")}
    versions = {name: engine["prepared"] for name, engine in whole["engines"].items()}
    return {**about, "absent": absent, "prepared": versions, "grammars": grammars}


def masks_per_second(measure: dict[str, Any]) -> float | None:
    """How many masks a second the mean of a measure in microseconds makes."""
    return 1e6 / measure["mean"]["median"] if measure["n"] else None


def _measure(arguments: argparse.Namespace, session: Session) -> dict[str, Any]:
    unknown = [name for name in arguments.grammars if name not in GRAMMARS]
    if unknown:
        raise DataMissingError(f"no grammar is called {', '.join(unknown)}: {', '.join(GRAMMARS)}")
    present, absent = present_engines(arguments.engines)
    files = locate(arguments.vocab)
    planned = tuple(_planned(name, files) for name in (*WARM_UPS, *arguments.grammars))
    plan = Plan(files.name, str(files.folder), files.vocab_size, tuple(present), {}, 0, planned)
    deadlines = Deadlines(compile_s=arguments.timeout, play_s=arguments.play_timeout)
    runs = [
        session.play(
            dataclasses.replace(plan, rotation=number),
            deadlines,
            f"grammars {number + 1} of {arguments.runs}",
        )
        for number in range(arguments.runs)
    ]
    settings = {
        "runs": arguments.runs,
        "compile_timeout_s": arguments.timeout,
        "play_timeout_s": arguments.play_timeout,
    }
    return summarise_grammars(plan, runs, settings, absent)


def _planned(name: str, files: TokenizerFiles) -> PlannedSchema:
    fixtures = [
        fixture for fixture in load(CATALOGUE / GRAMMARS[name]).fixtures if _is_text(fixture.data)
    ]
    ids = encode([fixture.data.decode() for fixture in fixtures], files)
    texts = tuple(
        PlannedText(index, fixture.name, fixture.verdict == "accept", text_ids, None)
        for index, (fixture, text_ids) in enumerate(zip(fixtures, ids, strict=True))
    )
    return PlannedSchema(name, "catalogue", name, texts, "grammar")


def _is_text(data: bytes) -> bool:
    """Tokenizers take text; a few fixtures are bytes that are none."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _print(document: dict[str, Any], console: Console) -> None:
    machine = document["machine"]
    console.print(
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load_1min']}, Python "
        f"{machine['python']}; {document['date']}; vocabulary {document['vocabulary']}; "
        f"{document['settings']['runs']} run(s), medians",
        highlight=False,
    )
    table = Table(title="Grammars of the catalogue, on their accept and reject texts")
    for column in (
        "grammar", "engine", "first mask ms", "masks/s cold", "masks/s visited",
        "mask us p50 / p99 / max cold", "right", "valid rejected", "invalid accepted",
    ):  # fmt: skip
        table.add_column(column, justify="left" if column in ("grammar", "engine") else "right")
    for name, grammar in document["grammars"].items():
        for number, (engine, figures) in enumerate(grammar["engines"].items()):
            last = number == len(grammar["engines"]) - 1
            version = document["prepared"][engine].get("version", "")
            row = (name if number == 0 else "", f"{engine} {version}", *_cells(name, figures))
            table.add_row(*row, end_section=last)
    console.print(table)


def _cells(name: str, figures: dict[str, Any]) -> tuple[str, ...]:
    measures, verdicts = figures["measures"], figures["verdicts"]
    if not figures["compiled"]:
        reasons = [message for _, message in figures["refusals"].values()]
        reasons += figures["broken"].values()
        return (reasons[0][:60] if reasons else "-",)
    cold = measures["mask_cold_us"]
    return (
        f"{measures['first_mask_ms']['mean']['median']:.1f}",
        f"{masks_per_second(cold) or 0:,.0f}",
        f"{masks_per_second(measures['mask_visited_us']) or 0:,.0f}",
        " / ".join(f"{cold[statistic]['median']:,.0f}" for statistic in ("p50", "p99", "max")),
        f"{verdicts['right']} of {verdicts['texts']}",
        str(len(verdicts["valid_rejected"])),
        str(len(verdicts["invalid_accepted"])),
    )
