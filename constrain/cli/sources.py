"""What several commands take: a grammar, as a schema, a regex, GBNF, Lark, or by its suffix."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import constrain
from constrain.cli.loading import compile_kernels
from constrain.errors import ConstrainError
from constrain.fixtures import import_paths, load_grammar, why_unread

__all__ = [
    "Dialect",
    "DialectOption",
    "FormatOption",
    "Formats",
    "GbnfOption",
    "GrammarOption",
    "LarkOption",
    "LexerOption",
    "ParserOption",
    "RegexOption",
    "SchemaOption",
    "StartOption",
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
LarkOption = Annotated[
    str | None,
    typer.Option("--lark", metavar="FILE", help="A grammar in Lark's syntax; - is stdin."),
]
GrammarOption = Annotated[
    str | None,
    typer.Option(
        "--grammar",
        metavar="FILE",
        help="A grammar of any kind, told by its suffix: .lark, .gbnf, .regex, or .json for a JSON "
        "Schema. An options.toml in the folder of the same name beside it is read.",
    ),
]
StartOption = Annotated[
    list[str] | None,
    typer.Option("--start", metavar="RULE", help="The start rule, in Lark and GBNF."),
]
ParserOption = Annotated[
    str | None, typer.Option("--parser", metavar="NAME", help="Lark: lalr or earley.")
]
LexerOption = Annotated[
    str | None,
    typer.Option("--lexer", metavar="NAME", help="Lark: auto, contextual, basic, dynamic, ..."),
]
SpellingOption = Annotated[
    Style | None,
    typer.Option(
        "--style", help="Which spellings of JSON are allowed.", show_default=Style.CANONICAL.value
    ),
]
DialectOption = Annotated[
    Dialect | None,
    typer.Option("--dialect", help="Draft of the schema; else what its $schema says."),
]
FormatOption = Annotated[
    Formats | None,
    typer.Option(
        "--format",
        help="Enforce `format`, or take it as an annotation.",
        show_default=Formats.ASSERT.value,
    ),
]
UnsupportedOption = Annotated[
    Unsupported | None,
    typer.Option(
        "--on-unsupported",
        help="A keyword that cannot be enforced exactly is an error, or is dropped.",
        show_default=Unsupported.REFUSE.value,
    ),
]


def read_grammar(
    schema: str | None,
    regex: str | None,
    style: Style | None,
    dialect: Dialect | None,
    formats: Formats | None,
    on_unsupported: Unsupported | None,
    *,
    usual_style: Style,
    gbnf: str | None = None,
    lark: str | None = None,
    grammar: str | None = None,
    start: list[str] | None = None,
    parser: str | None = None,
    lexer: str | None = None,
) -> constrain.Grammar:
    """Make the grammar that the options name, after kernels that no cache holds are compiled.

    Options are None where they are not given; a schema then has the usual style.

    Raises:
        typer.BadParameter: None or several are given, an option is for another kind of grammar, or
            the file cannot be read.
        GrammarError: The schema, pattern or grammar is wrong; its note is the name of the file.
    """
    if [schema, regex, gbnf, lark, grammar].count(None) != 4:
        raise typer.BadParameter(
            "give one of --schema FILE, --regex PATTERN, --gbnf FILE, --lark FILE and "
            "--grammar FILE"
        )
    kind = _kind(schema, regex, gbnf, lark, grammar)
    if start and kind not in (".lark", ".gbnf"):
        raise typer.BadParameter("--start is for grammars in Lark's syntax and GBNF")
    if (parser or lexer) and kind != ".lark":
        raise typer.BadParameter("--parser and --lexer are for grammars in Lark's syntax")
    of_schemas = {
        "style": style,
        "dialect": dialect,
        "format": formats,
        "on_unsupported": on_unsupported,
    }
    schema_options: dict[str, Any] = {
        name: value.value for name, value in of_schemas.items() if value is not None
    }
    if schema_options and kind != ".json":
        raise typer.BadParameter(
            "--style, --dialect, --format and --on-unsupported are for JSON Schemas"
        )
    schema_options.setdefault("style", usual_style.value)
    lark_options = {"start": start, "parser": parser, "lexer": lexer}
    options: dict[str, Any] = {
        ".json": schema_options,
        ".lark": {name: value for name, value in lark_options.items() if value},
        ".gbnf": {"root": _one(start)} if start else {},
    }.get(kind, {})
    compile_kernels()
    if regex is not None:
        return constrain.Grammar.from_regex(regex)
    if grammar is not None:
        return load_grammar(grammar, **options)
    name = schema or gbnf or lark
    assert name is not None
    text = _read_text("schema" if kind == ".json" else "grammar", name)
    with _naming(name):
        if kind == ".json":
            return constrain.Grammar.from_json_schema(text, **options)
        if kind == ".gbnf":
            return constrain.Grammar.from_gbnf(text, **options)
        paths = [] if name == "-" else import_paths(Path(name), text)
        return constrain.Grammar.from_lark(text, import_paths=paths, **options)


def _kind(
    schema: str | None, regex: str | None, gbnf: str | None, lark: str | None, grammar: str | None
) -> str:
    """The suffix that the grammar has, or would have in a file."""
    if grammar is not None:
        return Path(grammar).suffix
    given = {".json": schema, ".regex": regex, ".gbnf": gbnf, ".lark": lark}
    return next(kind for kind, value in given.items() if value is not None)


def _one(start: list[str]) -> str:
    if len(start) > 1:
        raise typer.BadParameter("GBNF has one --start")
    return start[0]


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
        raise typer.BadParameter(f"cannot read the {what} {name}: {why_unread(error)}") from error


def read_bytes(name: str) -> bytes:
    """Read a file, or standard input where `name` is `-`.

    Raises:
        OSError: It cannot be read.
    """
    return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
