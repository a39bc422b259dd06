"""The syntax tree of a grammar: definitions of rules and terminals, and what they are made of.

Nodes have no equality but identity. Every node keeps its place in the text for messages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from constrain.frontends.llguidance.parameters import Condition, Step

__all__ = [
    "Attributes",
    "Both",
    "Choice",
    "Expression",
    "GrammarText",
    "Inverse",
    "Literal",
    "Name",
    "Nested",
    "Option",
    "Pattern",
    "Range",
    "Reference",
    "Repetition",
    "RuleDefinition",
    "Schema",
    "Sequence",
    "Span",
    "SpecialToken",
    "Substring",
    "TerminalDefinition",
    "parts_of",
]

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A text, in any case if `any_case`."""

    text: str
    any_case: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A regular expression with its flags."""

    pattern: str
    flags: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """One code point from `first` to `last`."""

    first: str
    last: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Substring:
    """Some chunks that follow one another in `chunks`, or none: `%regex`."""

    chunks: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """A rule or terminal; `step` makes the parameter of a rule that has one."""

    name: str
    step: Step | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class SpecialToken:
    """`<|name|>` or `<[ids]>`, as it is written."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """A JSON Schema in a rule: its JSON as text and as Python data."""

    text: str
    value: Any
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Nested:
    """A grammar in a rule."""

    grammar: GrammarText
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """`@name`, a grammar that is given elsewhere."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """The parts one after another."""

    parts: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """A member of a choice, and the condition on the parameter under which it is one."""

    body: Expression
    condition: Condition | None


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Any of the options."""

    options: tuple[Option, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Repetition:
    """`body` lo to hi times; hi None means without bound."""

    body: Expression
    lo: int
    hi: int | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Inverse:
    """Every text but those of `body`: `~`."""

    body: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Both:
    """The texts that every part has: `&`."""

    parts: tuple[Expression, ...]
    span: Span


Expression = (
    Literal
    | Pattern
    | Range
    | Substring
    | Name
    | SpecialToken
    | Schema
    | Nested
    | Reference
    | Sequence
    | Choice
    | Repetition
    | Inverse
    | Both
)


@dataclass(slots=True)
class Attributes:
    """What stands in brackets after the name of a rule.

    Attributes:
        lazy: The shortest match ends the lexeme.
        stop: What ends the lexeme, and is not part of it.
        suffix: What ends the lexeme, and is part of it.
        max_tokens: Tokens that the lexeme may have.
        temperature: Changes how tokens are drawn, not which.
        spans: The place of each attribute.
    """

    lazy: bool = False
    stop: Expression | None = None
    suffix: Expression | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    spans: dict[str, Span] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class RuleDefinition:
    """A rule; `parametric` if it has a parameter, written `name::_`."""

    name: str
    attributes: Attributes
    parametric: bool
    body: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class TerminalDefinition:
    """A terminal."""

    name: str
    body: Expression
    span: Span


@dataclass(slots=True, eq=False)
class GrammarText:
    """One grammar: the whole text, or what stands in `%lark {...}`.

    Attributes:
        source: The text that spans are places in.
        rules: By name.
        terminals: By name, those too that are imported.
        ignored: What may stand between lexemes.
        options: Of `%llguidance`, merged.
    """

    source: str
    rules: dict[str, RuleDefinition] = field(default_factory=dict)
    terminals: dict[str, TerminalDefinition] = field(default_factory=dict)
    ignored: list[Expression] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """The direct parts; the body of a nested grammar is none."""
    if isinstance(expression, (Sequence, Both)):
        return expression.parts
    if isinstance(expression, Choice):
        return tuple([option.body for option in expression.options])
    return (expression.body,) if isinstance(expression, (Repetition, Inverse)) else ()
