"""The intermediate form: what the right-hand side of a production is made of.

A grammar is a mapping of names to expressions, and a start name. Expressions are EBNF; they have no
equality but identity, and may be shared.

    >>> from constrain.algebra.terms import byte_range
    >>> digit = Terminal(byte_range(0x30, 0x39))
    >>> grammar = {"digits": Choice((digit, Sequence((Symbol("digits"), digit))))}
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Parts
from dataclasses import dataclass

from constrain.algebra.terms import Term

__all__ = [
    "Choice",
    "Expression",
    "Productions",
    "Repetition",
    "Sequence",
    "Symbol",
    "Terminal",
    "parts_of",
]


@dataclass(frozen=True, slots=True, eq=False)
class Terminal:
    """What a term says: a text, a class, a whole regular expression. May be nullable."""

    term: Term


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """What the production of this name says."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """The parts one after another; nothing if there is none."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Any of the members. One without members has no sentence."""

    members: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repetition:
    """`body` lo to hi times, 0 <= lo <= hi; hi None means without bound."""

    body: Expression
    lo: int
    hi: int | None


Expression = Terminal | Symbol | Sequence | Choice | Repetition
Productions = Mapping[str, Expression]


def parts_of(expression: Expression) -> Parts[Expression]:
    """The direct parts; a `Symbol` and a `Terminal` have none."""
    if isinstance(expression, Sequence):
        return expression.parts
    if isinstance(expression, Choice):
        return expression.members
    return (expression.body,) if isinstance(expression, Repetition) else ()
