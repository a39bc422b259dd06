"""Markdown tables: `markdown-it-py` with its tables finds one table and nothing else."""

from __future__ import annotations

from markdown_it import MarkdownIt

READER = MarkdownIt("commonmark").enable("table")


def complaint(text: str) -> str | None:
    tokens = READER.parse(text)
    outer = [token.type for token in tokens if token.level == 0]
    if outer != ["table_open", "table_close"]:
        return f"no table, but {outer}"
    lines = len(text.splitlines())
    if tokens[0].map != [0, lines]:
        return f"the table has the lines {tokens[0].map} of {lines}"
    return None
