"""A grammar of the catalogue in a peer's own notation.

What a peer cannot say is left out of its spelling, so that its language is wider, never narrower;
its verdicts on the catalogue's texts show by how much.

- JSON: xgrammar reads `grammars/json.gbnf` as it is. `spellings/json.lark` has the same texts for
  engines with a lexer.
- SQL: the rules of `grammars/sql_select.lark`, its templates written out; terminals without
  lookaround and priorities. A name may be a keyword, except in llguidance, which has complements.
- Python: no peer has indentation. `None` says so, and the peer counts as one that cannot.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.grammars.templates import expand_templates
from benchmarks.registry import ROOT

__all__ = ["CATALOGUE", "GRAMMARS", "spelling"]

CATALOGUE = ROOT / "grammars"
GRAMMARS = {
    "json": "json.gbnf",
    "sql_select": "sql_select.lark",
    "python": "python.lark",
    "arithmetic": "arithmetic.lark",
    "dotenv": "dotenv.gbnf",
}
"""Files of the catalogue by name."""

_SPELLINGS = Path(__file__).resolve().parent / "spellings"
_KEYWORD = re.compile(r'"([A-Za-z_]+)"i')
_FURTHER_KEYWORDS = re.compile(r"NAME: /\(\?!\(\?:([a-z|]+)\)")


def spelling(name: str, notation: str) -> str | None:
    """The text of a grammar for a peer, or None where the peer cannot say it.

    Args:
        name: Of `GRAMMARS`.
        notation: `ebnf` (xgrammar's), `lark` (a lexer's, no lookaround), or `lark with complements`
            (llguidance's).
    """
    if name == "json":
        path = CATALOGUE / "json.gbnf" if notation == "ebnf" else _SPELLINGS / "json.lark"
        return path.read_text(encoding="utf-8")
    if name == "sql_select" and notation != "ebnf":
        return _sql(complements=notation == "lark with complements")
    return None


def _sql(*, complements: bool) -> str:
    source = (CATALOGUE / "sql_select.lark").read_text(encoding="utf-8")
    rules = [
        statement
        for statement in re.split(r"\n(?=[^\s|])", expand_templates(source))
        if re.match(r"[?!]?_?[a-z]", statement)
    ]
    terminals = (_SPELLINGS / "sql_select.terminals.lark").read_text(encoding="utf-8")
    if complements:
        further = _FURTHER_KEYWORDS.search(source)
        assert further is not None, "grammars/sql_select.lark says which words are no names"
        words = {word.lower() for word in _KEYWORD.findall(source)} | set(further[1].split("|"))
        words -= {"integer", "real", "text", "blob", "numeric"}  # names as well, by the rule `name`
        kept = "|".join(sorted(words))
        terminals = re.sub(r"(?m)^NAME: .*$", lambda m: f"{m[0]} & ~/{kept}/i", terminals)
    return "\n".join([*rules, terminals])
