"""What several commands take: a grammar as `--schema FILE` or `--regex PATTERN`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import constrain
from constrain.cli.loading import compile_kernels
from constrain.errors import ConstrainError

__all__ = ["RegexOption", "SchemaOption", "Style", "read_bytes", "read_grammar"]


class Style(StrEnum):
    """How JSON is spelled."""

    ANY = "any"
    CANONICAL = "canonical"


SchemaOption = Annotated[
    str | None,
    typer.Option("--schema", metavar="FILE", help="A JSON Schema; - reads it from stdin."),
]
RegexOption = Annotated[
    str | None,
    typer.Option("--regex", metavar="PATTERN", help="A regular expression (Python syntax)."),
]


def read_grammar(schema: str | None, regex: str | None, style: Style) -> constrain.Grammar:
    """Make the grammar that the options name, after kernels that no cache holds are compiled.

    Raises:
        typer.BadParameter: Neither or both are given, or the file cannot be read.
        GrammarError: The schema or pattern is wrong; its note is the name of the file.
    """
    if (schema is None) == (regex is None):
        raise typer.BadParameter("give one of --schema FILE and --regex PATTERN")
    compile_kernels()
    if regex is not None:
        return constrain.Grammar.from_regex(regex)
    assert schema is not None
    try:
        text = read_bytes(schema).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"cannot read the schema {schema}: {error}") from error
    try:
        return constrain.Grammar.from_json_schema(text, style=style.value)
    except ConstrainError as error:
        error.add_note(schema)  # which file; the error itself knows only the place in it
        raise


def read_bytes(name: str) -> bytes:
    """Read a file, or standard input where `name` is `-`.

    Raises:
        OSError: It cannot be read.
    """
    return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
