"""`python -m benchmarks growth`: measure each study and draw it.

python -m benchmarks growth                               # every study, 3 runs
python -m benchmarks growth --studies depth,length --runs 1 --engines constrain,llguidance
python -m benchmarks growth --quick                       # small sizes, one run: does it work?
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.batches import DISTINCT, batch_jobs
from benchmarks.engines import installed_version
from benchmarks.growth.cases import (
    DEPTHS,
    PROPERTIES,
    Case,
    depth_cases,
    length_cases,
    planned,
    property_cases,
)
from benchmarks.growth.curves import (
    Curves,
    as_json,
    batch_curves,
    first_mask_ms,
    length_curves,
    mean_mask_us,
    played_by_all,
    size_curves,
)
from benchmarks.growth.plot import Panel, check_matplotlib, plot
from benchmarks.options import RESULTS, add_options, guarded, names, present_engines
from benchmarks.plan import Plan, make_plan
from benchmarks.progress import Session
from benchmarks.registry import DataMissingError, sample
from benchmarks.resized import resize
from benchmarks.summary import machine
from benchmarks.tools import sample_tools
from benchmarks.vocabularies import TokenizerFiles, locate
from benchmarks.watch import Deadlines, Run

__all__ = ["FOLDER", "STUDIES", "main"]

FOLDER = RESULTS / "growth"
"""Where the points and the pictures go; not in git."""

REAL = ("llama2", "smollm2", "llama3", "qwen3", "gptoss", "gemma3")
RESIZED = (32_768, 65_536, 131_072, 262_144)


@dataclass(frozen=True, slots=True)
class _Setup:
    """What every study needs.

    Attributes:
        present: Engines.
        vocabulary: A name; one study uses several others.
        runs: How many.
        quick: Small sizes.
        deadlines: When to give up on a step.
        session: Plays plans and runs jobs.
    """

    present: tuple[str, ...]
    vocabulary: str
    runs: int
    quick: bool
    deadlines: Deadlines
    session: Session


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, write the points and draw the pictures."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks growth",
        description="Plots of first masks and masks against sizes of schema, vocabulary, output, "
        "batch.",
    )
    add_options(parser)
    parser.add_argument(
        "--studies", type=names, default=tuple(STUDIES), help=f"of {', '.join(STUDIES)} (all)"
    )
    parser.add_argument(
        "--timeout", type=float, default=30.0, help="seconds for a compile (%(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, one run")
    parser.add_argument("--no-plots", action="store_true", help="write the points alone")
    arguments = parser.parse_args(argv)

    def command(console: Console) -> None:
        unknown = [study for study in arguments.studies if study not in STUDIES]
        if unknown:
            raise DataMissingError(f"no study is called {', '.join(unknown)}: {', '.join(STUDIES)}")
        present, absent = present_engines(arguments.engines)
        if not arguments.no_plots:
            check_matplotlib()
        folder = arguments.out or FOLDER
        setup = _Setup(
            tuple(present),
            arguments.vocab,
            1 if arguments.quick else arguments.runs,
            arguments.quick,
            Deadlines(compile_s=arguments.timeout, play_s=300.0),
            Session(console, resume=arguments.resume),
        )
        for study in arguments.studies:
            panels = STUDIES[study](setup)
            about = _about(setup, study, absent)
            _write(folder / f"{study}.json", about, panels)
            if not arguments.no_plots:
                plot(folder / f"{study}.png", _heading(about), panels)
            console.print(f"written to {folder / study}.json, .png", highlight=False)
        setup.session.forget()

    return guarded(command)


def _properties(setup: _Setup) -> list[Panel]:
    sizes = PROPERTIES[:5] if setup.quick else PROPERTIES
    runs = _by_case(setup, property_cases(sizes), "properties")
    return [
        Panel("First mask", "properties of the object", "ms", _sizes(setup, runs, first_mask_ms)),
        Panel("Cold masks, mean", "properties of the object", "us",
              _sizes(setup, runs, mean_mask_us)),
    ]  # fmt: skip


def _depth(setup: _Setup) -> list[Panel]:
    depths = DEPTHS[:4] if setup.quick else DEPTHS
    runs = _by_case(setup, depth_cases(depths), "depth")
    return [
        Panel("First mask", "objects in objects", "ms", _sizes(setup, runs, first_mask_ms)),
        Panel("Cold masks, mean", "objects in objects", "us", _sizes(setup, runs, mean_mask_us)),
    ]


def _vocabulary(setup: _Setup) -> list[Panel]:
    real, sizes = (REAL[:1], RESIZED[:1]) if setup.quick else (REAL, RESIZED)
    workloads = sample(3 if setup.quick else 16, seed=1)

    def played(every: Sequence[TokenizerFiles]) -> dict[float, Sequence[Run]]:
        return {
            files.vocab_size / 1e3: _runs(
                setup, make_plan(workloads, files, setup.present, {}), f"vocabulary {files.name}"
            )
            for files in every
        }

    line = played([resize("qwen3", size) for size in sizes])
    marks = played([locate(name) for name in real])
    every_run = [run for runs in (*line.values(), *marks.values()) for run in runs]
    ids = sorted(played_by_all(every_run, setup.present))
    if not ids:
        raise DataMissingError("no schema of the sample was played to its end by every engine")
    panels = []
    for title, unit, of in (
        ("First mask, mean", "ms", first_mask_ms),
        ("Cold masks, mean", "us", mean_mask_us),
    ):
        curves = size_curves(line, setup.present, of, lambda _: ids)
        open_circles = size_curves(marks, setup.present, of, lambda _: ids)
        x_label = "token ids, thousands (line: qwen3 resized, circles: real)"
        title = f"{title} of {len(ids)} schemas"
        panels.append(Panel(title, x_label, unit, curves, open_circles, log_x=False))
    return panels


def _length(setup: _Setup) -> list[Panel]:
    cases = length_cases(200 if setup.quick else 9_990)
    runs = _runs(setup, _plan(setup, cases), "length")
    bins = 10 if setup.quick else 50
    return [
        Panel(
            f"Cold masks: {case.id}",
            "position in the output, tokens",
            "us, mean of a part",
            length_curves(runs, setup.present, case.id, bins),
            log_x=False,
        )
        for case in sorted(cases, key=lambda case: case.id.startswith("array"))
    ]


def _grammars(setup: _Setup) -> list[Panel]:
    sample_tools(1)
    rows, distinct = (8, (1, 4, 8)) if setup.quick else (64, DISTINCT)
    jobs = batch_jobs(setup.present, setup.vocabulary, setup.runs, rows=rows, distinct=distinct)
    outcomes = setup.session.run(jobs, "growth grammars")
    return [
        Panel(
            f"{which.capitalize()} masks of a batch of {rows}",
            "distinct grammars in the batch",
            "us a row, mean",
            batch_curves(outcomes, setup.present, which),
        )
        for which in ("cold", "visited")
    ]


STUDIES: dict[str, Callable[[_Setup], list[Panel]]] = {
    "properties": _properties,
    "depth": _depth,
    "vocabulary": _vocabulary,
    "length": _length,
    "grammars": _grammars,
}


def _plan(setup: _Setup, cases: Sequence[Case]) -> Plan:
    files = locate(setup.vocabulary)
    schemas = planned(cases, files)
    return Plan(files.name, str(files.folder), files.vocab_size, setup.present, {}, 0, schemas)


def _runs(setup: _Setup, plan: Plan, title: str) -> list[Run]:
    return [
        setup.session.play(
            dataclasses.replace(plan, rotation=run),
            setup.deadlines,
            f"{title}, {run + 1} of {setup.runs}",
        )
        for run in range(setup.runs)
    ]


def _by_case(setup: _Setup, cases: Sequence[Case], title: str) -> dict[float, Sequence[Run]]:
    """The same runs under the size of each case, which is its id."""
    runs = _runs(setup, _plan(setup, cases), title)
    return {float(case.id): runs for case in cases}


def _sizes(setup: _Setup, runs: dict[float, Sequence[Run]], of: Callable[..., float]) -> Curves:
    return size_curves(runs, setup.present, of, lambda size: [str(int(size))])


def _about(setup: _Setup, study: str, absent: dict[str, str]) -> dict[str, Any]:
    return {
        "format": 1,
        "study": study,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "vocabulary": setup.vocabulary,
        "runs": setup.runs,
        "versions": {name: installed_version(name) for name in setup.present},
        "absent": absent,
    }


def _heading(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    cpu = f"{about['machine']['cpu']}, {about['machine']['cores']} cores"
    vocabulary = "" if about["study"] == "vocabulary" else f"; vocabulary {about['vocabulary']}"
    runs = f"median and range of {about['runs']} run(s)"
    return f"{cpu}; {about['date'][:10]}{vocabulary}; {runs}\n{versions}"


def _write(path: Path, about: dict[str, Any], panels: Sequence[Panel]) -> None:
    document = about | {
        "panels": [
            {
                "title": panel.title,
                "x": panel.x_label,
                "y": panel.y_label,
                "curves": as_json(panel.curves),
                "marks": as_json(panel.marks or {}),
            }
            for panel in panels
        ]
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
