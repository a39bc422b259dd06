"""What several commands take: a grammar as `--schema FILE`, `--regex PATTERN` or `--gbnf FILE`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import constrain
from constrain.cli.loading import compile_kernels
from constrain.errors import ConstrainError

__all__ = [
    "Dialect",
    "DialectOption",
    "FormatOption",
    "Formats",
    "GbnfOption",
    "RegexOption",
    "SchemaOption",
    "Style",
    "Unsupported",
    "UnsupportedOption",
    "read_bytes",
    "read_grammar",
]


class Style(StrEnum):
    """How JSON is spelled."""

    ANY = "any"
    CANONICAL = "canonical"
    COMPACT = "compact"
    PRETTY = "pretty"
    FLEXIBLE = "flexible"


class Dialect(StrEnum):
    """Which rules a schema follows."""

    DRAFT4 = "draft4"
    DRAFT6 = "draft6"
    DRAFT7 = "draft7"
    DRAFT2019_09 = "draft2019-09"
    DRAFT2020_12 = "draft2020-12"
    OPENAPI_3_0 = "openapi-3.0"


class Formats(StrEnum):
    """What `format` does."""

    ASSERT = "assert"
    ANNOTATE = "annotate"


class Unsupported(StrEnum):
    """What becomes of a keyword that cannot be honoured exactly."""

    REFUSE = "refuse"
    RELAX = "relax"


SchemaOption = Annotated[
    str | None,
    typer.Option("--schema", metavar="FILE", help="A JSON Schema; - reads it from stdin."),
]
RegexOption = Annotated[
    str | None,
    typer.Option("--regex", metavar="PATTERN", help="A regular expression (Python syntax)."),
]
GbnfOption = Annotated[
    str | None,
    typer.Option("--gbnf", metavar="FILE", help="A grammar in llama.cpp's GBNF; - is stdin."),
]
DialectOption = Annotated[
    Dialect | None,
    typer.Option("--dialect", help="Rules of the schema; else what its $schema says."),
]
FormatOption = Annotated[
    Formats, typer.Option("--format", help="Whether `format` is enforced where it is known.")
]
UnsupportedOption = Annotated[
    Unsupported,
    typer.Option("--on-unsupported", help="Refuse what cannot be honoured exactly, or drop it."),
]


def read_grammar(
    schema: str | None,
    regex: str | None,
    style: Style,
    dialect: Dialect | None = None,
    formats: Formats = Formats.ASSERT,
    on_unsupported: Unsupported = Unsupported.REFUSE,
    *,
    gbnf: str | None = None,
) -> constrain.Grammar:
    """Make the grammar that the options name, after kernels that no cache holds are compiled.

    Raises:
        typer.BadParameter: None or several are given, or the file cannot be read.
        GrammarError: The schema, pattern or grammar is wrong; its note is the name of the file.
    """
    if [schema, regex, gbnf].count(None) != 2:
        raise typer.BadParameter("give one of --schema FILE, --regex PATTERN and --gbnf FILE")
    compile_kernels()
    if regex is not None:
        return constrain.Grammar.from_regex(regex)
    if gbnf is not None:
        text = _read_text("grammar", gbnf)
        with _naming(gbnf):
            return constrain.Grammar.from_gbnf(text)
    assert schema is not None
    text = _read_text("schema", schema)
    with _naming(schema):
        return constrain.Grammar.from_json_schema(
            text,
            style=style.value,
            dialect=None if dialect is None else dialect.value,
            format=formats.value,
            on_unsupported=on_unsupported.value,
        )


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Note the name of the file on an error, which knows only the place in it."""
    try:
        yield
    except ConstrainError as error:
        error.add_note(name)
        raise


def _read_text(what: str, name: str) -> str:
    try:
        return read_bytes(name).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"cannot read the {what} {name}: {error}") from error


def read_bytes(name: str) -> bytes:
    """Read a file, or standard input where `name` is `-`.

    Raises:
        OSError: It cannot be read.
    """
    return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
