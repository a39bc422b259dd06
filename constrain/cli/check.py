"""`constrain check`: what becomes of a schema; is a text a sentence, and if not, from where on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

import constrain
from constrain.cli.console import errors_as_json, output, say, write_json
from constrain.cli.report import report_as_json, say_relaxed, show_report
from constrain.cli.sources import (
    DialectOption,
    FormatOption,
    Formats,
    GbnfOption,
    RegexOption,
    SchemaOption,
    Style,
    Unsupported,
    UnsupportedOption,
    read_bytes,
    read_grammar,
)

__all__ = ["Verdict", "check", "judge"]

_AROUND = 30
"""Code points shown on each side of the failing place."""


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
    excerpt: str = ""
    """The line around the failing place, in one line."""
    excerpt_column: int = 0
    """Terminal cells of `excerpt` before the failing place."""

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
        }


def check(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Texts; - is stdin.")
    ] = None,
    schema: SchemaOption = None,
    regex: RegexOption = None,
    gbnf: GbnfOption = None,
    style: Annotated[Style, typer.Option(help="Which spellings of JSON count.")] = Style.ANY,
    dialect: DialectOption = None,
    formats: FormatOption = Formats.ASSERT,
    on_unsupported: UnsupportedOption = Unsupported.REFUSE,
    ignore_final_newline: Annotated[
        bool, typer.Option("--ignore-final-newline", help="Take off one line feed at the end.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Check a JSON Schema or grammar, or texts against one or against a regex.

    Without texts it says what is done with each keyword of the schema. With texts the exit code is
    0 if all are accepted, 1 if not.
    """
    files = files or []
    with errors_as_json(as_json):
        if "-" in (schema, gbnf) and "-" in files:
            raise typer.BadParameter("standard input can be the schema or a text, not both")
        if not files and schema is None and gbnf is None:
            raise typer.BadParameter("give a FILE to check, or --schema FILE to look at alone")
        grammar = read_grammar(schema, regex, style, dialect, formats, on_unsupported, gbnf=gbnf)
    verdicts = []
    if not files and not as_json:
        show_report(output(), grammar)
    for name in files:
        verdict = _read_and_judge(grammar, name, ignore_final_newline)
        verdicts.append(verdict)
        if verdict.error is not None:
            say(f"{name}: cannot be read: {verdict.error}", "bold red")
        elif not as_json:
            _show(output(), verdict)
    if as_json:
        texts = [verdict.as_json() for verdict in verdicts]
        write_json({"keywords": report_as_json(grammar), "texts": texts})
    elif files:
        say_relaxed(grammar)
    if any(verdict.error is not None for verdict in verdicts):
        raise typer.Exit(2)
    if not all(verdict.accepted for verdict in verdicts):
        raise typer.Exit(1)


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
    start = data.rfind(b"\n", 0, rejection.offset) + 1
    end = data.find(b"\n", rejection.offset)
    before = _visible(data[start : rejection.offset])
    after = _visible(data[rejection.offset : end if end >= 0 else len(data)])
    shown = ("..." if len(before) > _AROUND else "") + before[-_AROUND:]
    return Verdict(
        name,
        offset=rejection.offset,
        line=data.count(b"\n", 0, rejection.offset) + 1,
        column=len(data[start : rejection.offset].decode("utf-8", "replace")) + 1,
        ended_early=rejection.at_end,
        could_end=rejection.complete,
        expected=tuple(rejection.expected),
        excerpt=shown + after[:_AROUND] + ("..." if len(after) > _AROUND else ""),
        excerpt_column=cell_len(shown),
    )


def _visible(data: bytes) -> str:
    """Decode for a terminal: what is not text or would move the cursor shows as an escape."""
    text = data.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


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
        could = [*verdict.expected, *(["the end"] if verdict.could_end else [])]
        text.append(f"\n  could have come: {', '.join(could) or 'nothing: no text is accepted'}")
    console.print(text, soft_wrap=True)
