"""`constrain lint`: what is wrong with grammars, and what their authors may not have meant."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

import constrain
from constrain.cli.console import output, write_json
from constrain.cli.loading import compile_kernels
from constrain.cli.sources import LexerOption, ParserOption, StartOption, read_bytes
from constrain.errors import ConstrainError
from constrain.fixtures import SUFFIXES, find_grammars, import_paths, why_unread
from constrain.fixtures.options import FixtureOptions, parse_options
from constrain.generation.packages import require
from constrain.lint import Finding, Kind
from constrain.lint import lint as find

__all__ = ["lint"]

_KINDS: dict[str, Kind] = {".lark": "lark", ".gbnf": "gbnf", ".regex": "regex", ".json": "json"}
_COLOURS = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


class _OptionsError(Exception):
    """The `options.toml` of one grammar is wrong; the others are looked at all the same."""


@dataclass(slots=True)
class _Report:
    """What was found in one file."""

    name: str
    text: str = ""
    findings: list[Finding] = field(default_factory=list)
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"file": self.name}
        if self.error is not None:
            return found | {"error": self.error}
        return found | {"findings": [f.as_json() for f in self.findings]}


def lint(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Grammars, told by their suffix: .lark, .gbnf, .regex, or .json for a JSON "
            "Schema; or folders of them. An options.toml in the folder of the same name beside a "
            "grammar is read.",
        ),
    ],
    start: StartOption = None,
    parser: ParserOption = None,
    lexer: LexerOption = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="A tokenizer's folder, tokenizer.json or name: also report what it lacks.",
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Do not report this code.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for notes, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Look for mistakes in grammars: rules that nothing uses or that never end, and the like.

    Each finding has a code, a place and advice. The exit code is 0 if there are only notes, 1 if
    there are errors or warnings, 2 if a file cannot be read.
    """
    compile_kernels()
    vocabulary = None if tokenizer is None else _vocabulary(tokenizer)
    given: dict[str, Any] = {"start": start, "parser": parser, "lexer": lexer}
    options = {name: value for name, value in given.items() if value}
    reports = [_lint(path, options, vocabulary, ignore or []) for path in _expanded(files)]
    if as_json:
        write_json({"files": [report.as_json() for report in reports]})
    else:
        for report in reports:
            _show(report)
        _show_count(reports)
    if any(report.error is not None for report in reports):
        raise typer.Exit(2)
    severities = {f.severity for report in reports for f in report.findings}
    if severities & ({"error", "warning", "note"} if strict else {"error", "warning"}):
        raise typer.Exit(1)


def _expanded(files: list[str]) -> list[Path]:
    """The grammars that arguments name; a file that is none is told of later, by itself."""
    found: dict[Path, None] = {}
    for path in map(Path, files):
        found.update(dict.fromkeys(find_grammars([path]) if path.is_dir() else [path]))
    return list(found)


def _lint(
    path: Path, given: dict[str, Any], vocabulary: constrain.Vocabulary | None, ignore: list[str]
) -> _Report:
    report = _Report(str(path))
    kind = _KINDS.get(path.suffix)
    if kind is None:
        report.error = f"its name does not end with one of {', '.join(SUFFIXES)}"
        return report
    try:
        report.text = read_bytes(str(path)).decode("utf-8-sig")
        options = {**_written_options(path, report.text), **given}
        if kind not in ("lark", "gbnf"):
            options.pop("start", None)
        report.findings = find(report.text, kind=kind, vocab=vocabulary, ignore=ignore, **options)
    except (OSError, UnicodeDecodeError) as error:
        report.error = why_unread(error)
    except _OptionsError as error:
        report.error = str(error)
    except ConstrainError as error:
        error.add_note(str(path))
        raise
    return report


def _written_options(path: Path, text: str) -> dict[str, Any]:
    """What the `options.toml` of a grammar says, as arguments of `constrain.lint.lint`."""
    beside = path.with_suffix("") / "options.toml"
    written = FixtureOptions()
    if beside.exists():
        try:
            written = parse_options(beside.read_text("utf-8"), path.suffix)
        except ConstrainError as error:
            raise _OptionsError(f"{beside}: {error}") from error
    options = dict(written.options)
    names = ("parser", "lexer", "dialect", "flags", "format", "on_unsupported")
    found: dict[str, Any] = {name: options[name] for name in names if name in options}
    start = options.get("start", options.get("root"))
    if start is not None:
        found["start"] = start
    if path.suffix == ".lark":
        here = path.resolve().parent
        others = [str(here / other) for other in options.get("import_paths", ())]
        found["import_paths"] = [*import_paths(path, text), *others]
        if written.indenter is not None:
            indenter = require("lark.indenter", "a Lark grammar with indentation").Indenter
            found["postlex"] = type("Indenter", (indenter,), dict(written.indenter))()
    return found


def _vocabulary(name: str) -> constrain.Vocabulary:
    """Read a tokenizer: a folder, a tokenizer.json, or what transformers has kept.

    Nothing is fetched. Which token ends a text is no matter here: where the tokenizer does not say
    it, an id past its tokens does.
    """
    transformers = require("transformers", "reading a tokenizer")
    try:
        if Path(name).is_file():
            tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=name)
        else:
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, local_files_only=True)
    except Exception as error:  # tokenizers raises classes of its own, and Exception itself
        why = error if Path(name).exists() else "there is no such folder or file, nor is it kept"
        raise constrain.ModelError(f"the tokenizer {name} cannot be read: {why}") from error
    if tokenizer.eos_token_id is not None:
        return constrain.Vocabulary.from_transformers(tokenizer)
    past = max(tokenizer.get_vocab().values(), default=-1) + 1
    return constrain.Vocabulary.from_transformers(tokenizer, past + 1, eos_token_ids=past)


def _show(report: _Report) -> None:
    console = output()
    if report.error is not None:
        line = Text(f"{report.name}: ")
        line.append(f"cannot be read: {report.error}", "bold red")
        console.print(line, soft_wrap=True)
    for finding in report.findings:
        place = f":{finding.line}:{finding.column}" if finding.line else ""
        text = Text(f"{report.name}{place}: ")
        text.append(finding.severity, _COLOURS[finding.severity])
        text.append(f" {finding.code}", "bold")
        text.append(f": {finding.message}")
        for shown in finding.excerpt.splitlines():
            text.append(f"\n    {shown}")
        text.append(f"\n    advice: {finding.advice}", "cyan")
        console.print(text, soft_wrap=True)


def _show_count(reports: list[_Report]) -> None:
    findings = [f for report in reports for f in report.findings]
    counts = [
        f"{count} {name}{'' if count == 1 else 's'}"
        for name in ("error", "warning", "note")
        if (count := sum([f.severity == name for f in findings]))
    ]
    read = sum([report.error is None for report in reports])
    if read < len(reports):
        counts.append(f"{len(reports) - read} not read")
    files = "1 grammar" if len(reports) == 1 else f"{len(reports)} grammars"
    print(f"{files}: {', '.join(counts) or 'nothing found'}", file=sys.stderr)  # noqa: T201
