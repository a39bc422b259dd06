"""The report of a schema: what is done with each of its keywords."""

from __future__ import annotations

from collections import Counter

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

import constrain
from constrain.cli.console import say

__all__ = ["report_as_json", "say_relaxed", "show_report"]

_STYLES = {"relaxed": "bold yellow", "annotation": "dim"}
_HEAD = ("place", "keyword", "what is done with it", "why")


def report_as_json(grammar: constrain.Grammar) -> list[dict[str, str]]:
    """The report as `--json` prints it: an object for each keyword."""
    return [use._asdict() for use in grammar.report]


def show_report(console: Console, grammar: constrain.Grammar) -> None:
    """Print the report, a keyword on each line and nothing cut, and what it comes to."""
    report = grammar.report
    if not report:
        return
    rows = [_HEAD, *[(use.pointer, use.keyword, use.use, use.reason) for use in report]]
    widths = [max(cell_len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell + " " * (w - cell_len(cell)) for cell, w in zip(row, widths, strict=True)]
        style = "bold" if row is _HEAD else _STYLES.get(row[2], "")
        console.print(Text("  ".join(cells).rstrip(), style), soft_wrap=True)
    counts = Counter(use.use for use in report)
    many = "1 keyword" if len(report) == 1 else f"{len(report)} keywords"
    parts = [f"{counts['enforced']} enforced"]
    if counts["annotation"]:
        parts.append(f"{counts['annotation']} only annotate")
    if counts["relaxed"]:
        parts.append(f"{counts['relaxed']} relaxed")
    console.print(Text(f"{many}: {', '.join(parts)}"), soft_wrap=True)


def say_relaxed(grammar: constrain.Grammar) -> None:
    """Remark on standard error which keywords were dropped, as texts are judged without them."""
    for use in grammar.report:
        if use.use == "relaxed":
            say(f"relaxed: {use.keyword!r} at {use.pointer}: {use.reason}", "yellow")
