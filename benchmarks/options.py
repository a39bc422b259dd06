"""What the commands of the benchmark have in common: options, engines, the file of results."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.engines import DEFAULT_ENGINES, ENGINES, absence
from benchmarks.registry import DataMissingError
from benchmarks.vocabularies import ALIASES, VOCABULARIES
from benchmarks.watch import WorkerError

__all__ = ["RESULTS", "add_options", "guarded", "names", "present_engines", "tables", "write"]

RESULTS = Path(__file__).resolve().parent / "results"


def add_options(
    parser: argparse.ArgumentParser, engines: Sequence[str] = DEFAULT_ENGINES, runs: int = 3
) -> None:
    """Add `--engines`, `--vocab`, `--runs`, `--resume` and `--out`."""
    parser.add_argument(
        "--engines",
        type=names,
        default=tuple(engines),
        help=f"of {', '.join(ENGINES)} (default: {','.join(engines)})",
    )
    parser.add_argument(
        "--vocab", default="qwen3", help=f"of {', '.join([*VOCABULARIES, *ALIASES])} (%(default)s)"
    )
    parser.add_argument(
        "--runs", type=int, default=runs, help="runs, each in new processes (%(default)s)"
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on where the same command was ended"
    )
    parser.add_argument("--out", type=Path, help="where the JSON goes (benchmarks/results/...)")


def names(text: str) -> tuple[str, ...]:
    """The names of a list with commas."""
    return tuple(name for name in text.split(",") if name)


def present_engines(asked: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Engines that are installed, and why the others cannot be measured.

    Raises:
        DataMissingError: A name is unknown, or no engine is installed.
    """
    unknown = [name for name in asked if name not in ENGINES]
    if unknown:
        raise DataMissingError(
            f"no engine is called {', '.join(unknown)}; there are {', '.join(ENGINES)}"
        )
    reasons = {name: absence(name) for name in asked}
    absent = {name: reason for name, reason in reasons.items() if reason is not None}
    present = [name for name in asked if name not in absent]
    if not present:
        raise DataMissingError("no engine is installed: " + "; ".join(absent.values()))
    return present, absent


def guarded(command: Callable[[Console], None]) -> int:
    """Run a command; 0, 1 where a worker could not start, 2 where something is missing.

    Args:
        command: Gets a console on standard error.
    """
    console = Console(stderr=True)
    try:
        command(console)
    except DataMissingError as error:
        console.print(f"benchmark: {error}", style="red", highlight=False, markup=False)
        return 2
    except WorkerError as error:
        console.print(f"benchmark: a worker failed: {error}", style="red", markup=False)
        return 1
    return 0


def tables() -> Console:
    """A console on standard output, wide enough for tables where it is no terminal."""
    return Console(width=None if Console().is_terminal else 160)


def write(document: dict[str, Any], what: str | None, out: Path | None) -> Path:
    """Write a document as JSON; where it lies.

    Args:
        document: Has `date`, `machine` and `vocabulary`.
        what: Distinguishes it from the main comparison, which has None.
        out: The file, or None for one in `benchmarks/results` that is named after all that.
    """
    cpu = re.sub(r"[^a-z0-9]+", "-", document["machine"]["cpu"].lower()).strip("-")
    place = f"{cpu}-{document['machine']['cores']}cores"
    parts = [document["date"][:10], place, document["vocabulary"], *([what] if what else [])]
    path = out or RESULTS / f"{'-'.join(parts)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
