"""The commands, and what is the same for all: options before the command, errors, exit codes."""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated

import typer

from constrain.cli import bench, check, demo, explain, generate, lint, model, warmup
from constrain.cli.console import show_bug, show_error, show_refusal, write_error_as_json
from constrain.errors import ConstrainError

__all__ = ["app", "run"]

_BUG = 70
"""EX_SOFTWARE of sysexits.h; 1 would say that a text was rejected."""

app = typer.Typer(
    name="constrain",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # else line ends of docstrings stay in the help
    help="Exact, fast constrained decoding for language models.",
)
_models = typer.Typer(no_args_is_help=True, help="The model that the demo uses.")

app.command("demo")(demo.demo)
app.command("generate")(generate.generate)
app.command("check")(check.check)
app.command("lint")(lint.lint)
app.command("explain")(explain.explain)
app.command("warmup")(warmup.warmup)
app.command("bench", context_settings=bench.CONTEXT)(bench.bench)
_models.command("fetch")(model.fetch)
app.add_typer(_models, name="model")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"constrain {version('constrain-decoding')}")
        raise typer.Exit


@dataclass(slots=True)
class _Settings:
    """What the options before the command said."""

    debug: bool = False


@app.callback()
def _options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    context.obj.debug = debug


def run(arguments: list[str]) -> int:
    """Run one command.

    Returns:
        The exit code. A `ConstrainError`, or what the system refuses, is shown and becomes 2; where
        a command was asked for JSON, the former is JSON, too. Any other exception is a bug, is
        shown as one and becomes 70. With `--debug` the traceback comes first.
    """
    settings = _Settings()
    try:
        app(arguments, prog_name="constrain", obj=settings)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    except ConstrainError as error:
        if settings.debug:
            traceback.print_exc(file=sys.stderr)
        if "--json" in arguments:
            write_error_as_json(error)
        else:
            show_error(error)
        return 2
    except OSError as error:  # a full disk behind standard output, and the like
        if settings.debug:
            traceback.print_exc(file=sys.stderr)
        show_refusal(error)
        return 2
    except Exception as error:
        if settings.debug:
            traceback.print_exc(file=sys.stderr)
        show_bug(error)
        return _BUG
    return 0
