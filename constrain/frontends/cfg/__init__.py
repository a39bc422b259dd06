"""Context-free grammars to terms.

In: productions in EBNF whose terminals are terms, and a start symbol. Out: a term, whose rules are
guarded as the derivative needs them. Decided here: how recursion of every shape becomes rules, and
which symbols have no sentence. Not decided here: how grammars are written (`gbnf` and other
front-ends build on this one), and what terminals are.

    >>> from constrain.algebra.terms import EPS
    >>> term = lower({"s": Choice((Sequence((Symbol("s"), Symbol("s"))), Terminal(EPS)))}, "s")
    >>> term.nullable
    True

Read in this order: `expressions` (the intermediate form), `graph` (facts about a grammar),
`lowering` (its terms); for symbols that begin with themselves `equations` (of a cycle),
`elimination` and `left_corner` (two ways to solve them). `chart` and `explain` say in which rules
a text stands, in the grammar as it was written.
"""

from __future__ import annotations

from constrain.frontends.cfg.expressions import (
    Choice,
    Expression,
    Productions,
    Repetition,
    Sequence,
    Symbol,
    Terminal,
    parts_of,
)
from constrain.frontends.cfg.lowering import lower

__all__ = [
    "Choice",
    "Expression",
    "Productions",
    "Repetition",
    "Sequence",
    "Symbol",
    "Terminal",
    "lower",
    "parts_of",
]
