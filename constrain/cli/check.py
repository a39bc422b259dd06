"""`constrain check`: what becomes of a schema; is a text a sentence; do fixtures pass."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

import constrain
from constrain.cli.console import output, say, usage_as_json, write_json
from constrain.cli.fixtures import check_fixtures
from constrain.cli.report import report_as_json, say_relaxed, show_report
from constrain.cli.sources import (
    DialectOption,
    FormatOption,
    GbnfOption,
    GrammarOption,
    LarkOption,
    LexerOption,
    ParserOption,
    RegexOption,
    SchemaOption,
    StartOption,
    Style,
    UnsupportedOption,
    read_bytes,
    read_grammar,
)
from constrain.fixtures import SUFFIXES, expectations, place_of

__all__ = ["Verdict", "check", "judge"]

_OF_GRAMMARS = ("style", "dialect", "formats", "on_unsupported", "start", "parser", "lexer")
"""Parameters that fixtures have in their `options.toml`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `check` found out about one text."""

    name: str
    error: str | None = None
    """Why the text could not be read; then nothing else is known."""
    offset: int | None = None
    """Bytes before the first that cannot stand there; all of a text that ends too early."""
    line: int = 0
    column: int = 0
    """Counted from 1, the column in code points."""
    ended_early: bool = False
    could_end: bool = False
    """Whether the text up to `offset` is itself a sentence."""
    expected: tuple[str, ...] = ()
    """Byte ranges that could stand at `offset`."""
    expected_names: tuple[str, ...] = ()
    """What could, in the grammar's own names, where they are known."""
    rule_path: tuple[str, ...] = ()
    """The rules that the text is inside of at `offset`, where they are known."""
    excerpt: str = ""
    """The line around the failing place, in one line."""
    excerpt_column: int = 0
    """Terminal cells of `excerpt` before the failing place."""
    explained: tuple[str, ...] = ()
    """Lines that say what could have come."""
    but_for_newline: bool = False
    """Whether a line feed at the end is all that is wrong."""

    @property
    def accepted(self) -> bool:
        """Whether the text is a sentence."""
        return self.error is None and self.offset is None

    def as_json(self) -> dict[str, Any]:
        """Return the form that `--json` prints."""
        if self.error is not None:
            return {"file": self.name, "accepted": None, "error": self.error}
        if self.offset is None:
            return {"file": self.name, "accepted": True}
        return {
            "file": self.name,
            "accepted": False,
            "offset": self.offset,
            "line": self.line,
            "column": self.column,
            "ended_early": self.ended_early,
            "could_end": self.could_end,
            "expected": list(self.expected),
            "expected_names": list(self.expected_names),
            "rule_path": list(self.rule_path),
        }


def check(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Texts; - is stdin. Without a grammar: grammars with fixtures, or folders.",
        ),
    ] = None,
    schema: SchemaOption = None,
    regex: RegexOption = None,
    gbnf: GbnfOption = None,
    lark: LarkOption = None,
    grammar_file: GrammarOption = None,
    start: StartOption = None,
    parser: ParserOption = None,
    lexer: LexerOption = None,
    style: Annotated[
        Style | None,
        typer.Option(help="Which spellings of JSON are accepted.", show_default=Style.ANY.value),
    ] = None,
    dialect: DialectOption = None,
    formats: FormatOption = None,
    on_unsupported: UnsupportedOption = None,
    ignore_final_newline: Annotated[
        bool, typer.Option("--ignore-final-newline", help="Ignore one line feed at the end.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("-k", metavar="TEXT", help="Run only fixtures with this in their name."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Check texts against a grammar, or grammars against their fixtures, or look at a schema.

    With a grammar and FILEs, each FILE is a text to check: exit code 0 if all are accepted, 1 if
    not.

    With a schema alone, print what is done with each of its keywords; with another grammar alone,
    whether it can be read.

    With FILEs alone, each is a grammar or a folder of grammars, whose fixtures are run: the texts
    to accept and to reject in the folder beside a grammar that has its name. Exit code 0 if all
    verdicts are right, 1 if not, 2 if a grammar or its options are wrong.
    """
    files = files or []
    with usage_as_json(as_json):
        one_of = (schema, regex, gbnf, lark, grammar_file)
        if one_of == (None,) * 5:
            _require_fixtures(context, files)
            raise typer.Exit(check_fixtures(files, only or [], as_json=as_json))
        if only:
            raise typer.BadParameter("-k is for fixtures")
        if "-" in one_of and "-" in files:
            raise typer.BadParameter("standard input can be the grammar or a text, not both")
        if files.count("-") > 1:
            raise typer.BadParameter("standard input is one text, and - stands for it once")
        grammar = read_grammar(
            schema,
            regex,
            style,
            dialect,
            formats,
            on_unsupported,
            usual_style=Style.ANY,
            gbnf=gbnf,
            lark=lark,
            grammar=grammar_file,
            start=start,
            parser=parser,
            lexer=lexer,
        )
    verdicts = []
    if not files and not as_json:
        show_report(output(), grammar)
        if not grammar.report:
            output().print("the grammar can be read; constrain lint looks closer")
    for name in files:
        verdict = _read_and_judge(grammar, name, ignore_final_newline)
        verdicts.append(verdict)
        if verdict.error is not None:
            say(f"{name}: cannot be read: {verdict.error}", "bold red")
        elif not as_json:
            _show(output(), verdict)
    if not as_json and any(verdict.but_for_newline for verdict in verdicts):
        say("hint: --ignore-final-newline takes off the line feed at the end", "cyan")
    if as_json:
        texts = [verdict.as_json() for verdict in verdicts]
        write_json({"keywords": report_as_json(grammar), "texts": texts})
    elif files:
        say_relaxed(grammar)
    if any(verdict.error is not None for verdict in verdicts):
        raise typer.Exit(2)
    if not all(verdict.accepted for verdict in verdicts):
        raise typer.Exit(1)


def _require_fixtures(context: typer.Context, files: list[str]) -> None:
    """Refuse what is no question about fixtures."""
    if not files:
        raise typer.BadParameter(
            "give a FILE to check, or --schema FILE to look at alone, or a folder of grammars"
        )
    for name in files:
        path = Path(name)
        is_grammar = path.suffix in SUFFIXES and path.with_suffix("").is_dir()
        if path.exists() and not path.is_dir() and not is_grammar:
            raise typer.BadParameter(
                "give one of --schema FILE, --regex PATTERN, --gbnf FILE, --lark FILE and "
                f"--grammar FILE: {name} is no grammar with a folder of texts beside it"
            )
    for name in (*_OF_GRAMMARS, "ignore_final_newline"):
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            option = "--format" if name == "formats" else f"--{name.replace('_', '-')}"
            raise typer.BadParameter(f"{option} of fixtures is said in their options.toml")


def _read_and_judge(grammar: constrain.Grammar, name: str, ignore_final_newline: bool) -> Verdict:
    try:
        data = read_bytes(name)
    except OSError as error:
        return Verdict(name, error=error.strerror or str(error))
    return judge(grammar, name, re.sub(rb"\r?\n\Z", b"", data) if ignore_final_newline else data)


def judge(grammar: constrain.Grammar, name: str, data: bytes) -> Verdict:
    """Check one text."""
    rejection = grammar.first_rejection(data)
    if rejection is None:
        return Verdict(name)
    place = place_of(data, rejection.offset)
    return Verdict(
        name,
        offset=rejection.offset,
        line=place.line,
        column=place.column,
        ended_early=rejection.at_end,
        could_end=rejection.complete,
        expected=rejection.expected,
        expected_names=rejection.expected_names,
        rule_path=rejection.rule_path,
        excerpt=place.excerpt,
        excerpt_column=place.cells,
        explained=tuple(expectations(rejection)),
        but_for_newline=rejection.complete and data[rejection.offset :] in (b"\n", b"\r\n"),
    )


def _show(console: Console, verdict: Verdict) -> None:
    text = Text(f"{verdict.name}: ")
    if verdict.accepted:
        text.append("accepted", "bold green")
    else:
        text.append("rejected", "bold red")
        text.append(f" at byte {verdict.offset}, line {verdict.line}, column {verdict.column}")
        text.append(": the text ends too early" if verdict.ended_early else "")
        text.append(f"\n  {verdict.excerpt}\n  {' ' * verdict.excerpt_column}")
        text.append("^", "bold red")
        text.append("".join([f"\n  {line}" for line in verdict.explained]))
    console.print(text, soft_wrap=True)
