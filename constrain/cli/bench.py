"""`constrain bench`: run the benchmarks of the checkout that this package lies in."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import typer

import constrain
from constrain.cli.console import say

__all__ = ["CONTEXT", "bench"]

CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
"""Every argument is the benchmark's, `--help` too."""

_NEEDED = ("tokenizers", "jsonschema")
"""Without these not even one engine can be measured; `.[bench]` brings them and the engines."""


def bench(context: typer.Context) -> None:
    """Measure constrain beside other engines; arguments go to `python -m benchmarks`."""
    root = Path(constrain.__file__).resolve().parents[1]
    if not (root / "benchmarks" / "__main__.py").is_file():
        say("The benchmarks are not part of the installed package; they come with the source.")
        say("hint: in a checkout, pip install -e '.[bench]' and run constrain bench again", "cyan")
        raise typer.Exit(2)
    absent = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        say(f"The benchmarks need packages that are not installed: {', '.join(absent)}")
        say("hint: in the checkout, pip install -e '.[bench]'", "cyan")
        raise typer.Exit(2)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *context.args], cwd=root, check=False
    )
    raise typer.Exit(done.returncode)
