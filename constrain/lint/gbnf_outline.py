"""The outline of a grammar in GBNF."""

from __future__ import annotations

from constrain.frontends.gbnf.reader import Reader
from constrain.frontends.gbnf.syntax import read_rules
from constrain.limits import Limits
from constrain.lint.findings import Source
from constrain.lint.outline import Definition, Outline

__all__ = ["outline_gbnf"]


def outline_gbnf(text: str, root: str, limits: Limits) -> Outline:
    """Every rule of a grammar.

    Raises:
        GrammarError: It does not parse.
        LimitExceededError: It is larger than the limits allow.
    """
    outline = Outline(Source(text), starts=(root,))
    for rule in read_rules(Reader(text, limits)).values():
        outline.definitions[rule.name] = Definition(rule.name, rule.span, rule.body)
        outline.places.update(rule.places)
    return outline
