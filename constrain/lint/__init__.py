r"""Lint: what is wrong with a grammar, and what its author may not have meant.

In: the text of a grammar, its kind, perhaps a vocabulary. Out: findings, each with a stable code, a
place, and advice. Decided here: what is looked for, and how severe it is. Not decided here: whether
a grammar is right (the front-ends say it; their errors become findings), how findings are shown
(`cli.lint`).

    >>> for finding in lint('root ::= "a" | ("b"?)*\nitem ::= "c"', kind="gbnf"):
    ...     print(finding.line, finding.column, finding.code)
    1 17 nullable-loop
    2 1 unused-rule

Read in this order: `findings` (codes, places), `outline` (a grammar as it is written), its readers
`gbnf_outline`, `lark_outline` and `patterns`; the checks `rules`, `shapes` and `repetition`,
`witness` and `terminals`, `tokens`, `schema`; `kinds` (what is checked of which kind).
"""

from __future__ import annotations

from constrain.lint.findings import CODES, Finding, Severity
from constrain.lint.kinds import KINDS, Kind, lint

__all__ = ["CODES", "KINDS", "Finding", "Kind", "Severity", "lint"]
