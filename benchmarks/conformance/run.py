"""The command line, and what is counted."""

from __future__ import annotations

import argparse
import datetime
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.conformance.cases import DRAFTS, LONGEST, Case, real_cases, suite_cases
from benchmarks.conformance.engines import ENGINES, is_installed
from benchmarks.conformance.watch import COMPILE_S, PLAY_S, Played, WorkerError, play
from benchmarks.conformance.worker import MEMORY
from benchmarks.registry import DataMissingError
from benchmarks.summary import machine

__all__ = ["RESULT", "VERDICTS", "main", "summarise"]

RESULT = Path(__file__).resolve().parents[1] / "results" / "conformance.json"

VERDICTS = ("right", "respelt", "accepted", "rejected", "refused", "broke")
"""What can become of a text: the verdicts of `worker`, or its schema was refused or broke the
engine."""


def main(argv: Sequence[str] | None = None) -> int:
    """Play the cases and write the result; the exit status is 0, or 2 where data is missing."""
    arguments = _parser().parse_args(argv)
    console = Console(stderr=True)
    try:
        everything = _cases(arguments.drafts, arguments.schemas, arguments.seed)
    except DataMissingError as error:
        console.print(f"conformance: {error}", style="red", highlight=False, markup=False)
        return 2
    cases = everything[:: arguments.every]
    document = _start(arguments, everything)
    played: dict[str, Played] = {}
    for name in arguments.engines:
        if not is_installed(name):
            console.print(f"{name} is not installed: pip install -e '.[bench]'", style="red")
            continue
        try:
            played[name] = _play(cases, name, console)
        except WorkerError as error:
            console.print(str(error), style="red", markup=False)
            continue
        engines = document["engines"]
        figures = summarise(cases, played[name], arguments.every)
        engines[name] = _merge(engines.get(name), figures)
        _write(document, arguments.out)
    if arguments.verdicts:
        _write_verdicts(arguments.verdicts, cases, played)
    _print(document)
    return 0


def summarise(cases: Sequence[Case], played: Played, every: int = 1) -> dict[str, Any]:
    """What the result keeps of one engine: for each group, its texts and schemas counted.

    Args:
        cases: What was played.
        played: What it gave.
        every: Of how many cases one was played.
    """
    texts: dict[str, Counter[str]] = {case.group: Counter() for case in cases}
    schemas: dict[str, Counter[str]] = {case.group: Counter() for case in cases}
    for case, answer in zip(cases, played.answers, strict=True):
        if isinstance(answer, str):
            outcome = answer.split(":")[0]
            texts[case.group][outcome] += len(case.tests)
            schemas[case.group][outcome] += 1
        else:
            texts[case.group].update(answer)
            schemas[case.group]["compiled"] += 1
            schemas[case.group]["wrong"] += "accepted" in answer or "rejected" in answer
    return {
        "version": played.version,
        "date": _now(),
        "settings": played.settings,
        "every": every,
        "texts": {g: {v: texts[g][v] for v in VERDICTS if texts[g][v]} for g in texts},
        "schemas": {g: dict(sorted(counts.items())) for g, counts in schemas.items()},
    }


def _play(cases: Sequence[Case], name: str, console: Console) -> Played:
    with console.status(name) as status:
        return play(cases, name, lambda done: status.update(f"{name} {done}/{len(cases)}"))


def _cases(drafts: Sequence[str], schemas: int, seed: int) -> list[Case]:
    cases = [case for draft in drafts for case in suite_cases(draft)]
    return [*cases, *(real_cases(schemas, seed) if schemas else ())]


def _start(arguments: argparse.Namespace, cases: Sequence[Case]) -> dict[str, Any]:
    """The last result, without the figures that are not for the same cases and limits."""
    about: dict[str, Any] = {
        "format": 1,
        "command": "python -m benchmarks.conformance",
        "seed": arguments.seed,
        "limits": {
            "compile_s": COMPILE_S,
            "play_s": PLAY_S,
            "memory_gib": MEMORY >> 30,
            "longest_instance_bytes": LONGEST,
        },
        "machine": machine(),
    }
    now = {group: _count(cases, group) for group in dict.fromkeys(c.group for c in cases)}
    last = json.loads(arguments.out.read_text("utf-8")) if arguments.out.exists() else {}
    if any(last.get(name) != about[name] for name in ("format", "seed", "limits")):
        return {**about, "cases": now, "engines": {}}
    for group, count in now.items():
        if last["cases"].get(group) != count:
            for engine in last["engines"].values():
                engine["texts"].pop(group, None)
                engine["schemas"].pop(group, None)
    known = {**last["cases"], **now}
    order = [group for group in (*DRAFTS, "real") if group in known]
    return {**about, "cases": {g: known[g] for g in order}, "engines": last["engines"]}


def _merge(last: dict[str, Any] | None, now: dict[str, Any]) -> dict[str, Any]:
    """The figures of one engine, with those of the last run for what was not played now."""
    if last is None or any(
        last.get(name) != now[name] for name in ("version", "settings", "every")
    ):
        return now
    for name in ("texts", "schemas"):
        now[name] = {**last[name], **now[name]}
        now[name] = {g: now[name][g] for g in (*DRAFTS, "real") if g in now[name]}
    return now


def _count(cases: Sequence[Case], group: str) -> dict[str, int]:
    here = [case for case in cases if case.group == group]
    return {
        "schemas": len(here),
        "texts": sum(len(case.tests) for case in here),
        "valid": sum(test.valid for case in here for test in case.tests),
        "texts_of_remote_schemas": sum(len(case.tests) for case in here if case.is_remote),
    }


def _write(document: dict[str, Any], path: Path) -> None:
    engines = document["engines"]
    document["engines"] = {name: engines[name] for name in ENGINES if name in engines}
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_verdicts(path: Path, cases: Sequence[Case], played: dict[str, Played]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for name, one in played.items():
            for case, answer in zip(cases, one.answers, strict=True):
                tests = [t.name for t in case.tests]
                entry = {"engine": name, "group": case.group, "case": case.name, "answer": answer}
                file.write(json.dumps({**entry, "tests": tests}, ensure_ascii=False) + "\n")


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _print(document: dict[str, Any]) -> None:
    table = Table("engine", "group", *VERDICTS)
    for name, engine in document["engines"].items():
        for group, counts in engine["texts"].items():
            table.add_row(name, group, *[str(counts.get(v, 0)) for v in VERDICTS])
    Console().print(table)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.conformance",
        description="Count right and wrong verdicts of engines for JSON Schema.",
    )
    parser.add_argument(
        "--engines",
        type=_names(ENGINES),
        default=list(ENGINES),
        help=f"of {', '.join(ENGINES)} (all)",
    )
    parser.add_argument(
        "--drafts",
        type=_names(DRAFTS),
        default=list(DRAFTS),
        help=f"of {', '.join(DRAFTS)} (all)",
    )
    parser.add_argument("--schemas", type=int, default=400, help="real schemas (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="which of them (%(default)s)")
    parser.add_argument(
        "--every", type=int, default=1, help="play one of so many, for a slow engine (%(default)s)"
    )
    parser.add_argument("--out", type=Path, default=RESULT, help="the result (%(default)s)")
    parser.add_argument("--verdicts", type=Path, help="also write every verdict to this file")
    return parser


def _names(known: dict[str, Any]) -> Any:  # noqa: ANN401 - argparse wants a callable of any type
    def read(text: str) -> list[str]:
        names = [name for name in text.split(",") if name]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}")
        return names

    return read
