"""Terminals to terms: what a lexeme may be, as a regular language over bytes.

Only regular parts may stand in a terminal: texts, patterns, ranges, substrings and other
terminals, with repeats, `|`, `&` and `~`. A terminal may not refer to itself.

Cost: O(size of the definitions); each terminal once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import Term, alt, cat, complement, intersect, literal, repeat
from constrain.algebra.utf8 import UTF8
from constrain.errors import (
    GrammarError,
    GrammarSyntaxError,
    RegexSyntaxError,
    UnsupportedFeatureError,
)
from constrain.frontends.llguidance.substrings import substring
from constrain.frontends.llguidance.syntax import (
    Both,
    Choice,
    Expression,
    GrammarText,
    Inverse,
    Literal,
    Name,
    Nested,
    Pattern,
    Range,
    Reference,
    Repetition,
    Schema,
    Sequence,
    SpecialToken,
    Substring,
    parts_of,
)
from constrain.frontends.mistaken import hint_on_name
from constrain.frontends.regex import RegexNode, lower, parse
from constrain.frontends.regex.nodes import Anchor, AnchorKind, Look, postorder
from constrain.limits import Limits

__all__ = ["Terminals", "unknown_name"]

_NOT_REGULAR: Final = {
    SpecialToken: "special tokens",
    Schema: "%json",
    Nested: "%lark",
    Reference: "references to grammars",
}


class Terminals:
    """The terms of the terminals of one grammar text.

    Args:
        source: The whole text, for messages.
        grammar: Of which the terminals are.
        limits: Budgets.
    """

    def __init__(self, source: str, grammar: GrammarText, limits: Limits) -> None:
        self._source = source
        self._grammar = grammar
        self._limits = limits
        self._named: dict[str, Term] = {}

    def lower(self, expression: Expression) -> Term:
        """The texts of an expression.

        Raises:
            GrammarSyntaxError: It has a part that no terminal may have, or goes round in a circle.
            UnsupportedFeatureError: A pattern cannot be honoured exactly.
        """
        made: dict[Expression, Term] = {}
        opened: dict[str, None] = {}
        todo: list[tuple[Expression, bool]] = [(expression, False)]
        while todo:
            part, parts_done = todo.pop()
            if part in made:
                continue
            if parts_done:
                made[part] = self._lower(part, made)
                if isinstance(part, Name):
                    del opened[part.name]
                continue
            todo.append((part, True))
            if isinstance(part, Name):
                definition = self._definition(part, opened)
                if part.name in self._named:
                    todo.pop()
                    made[part] = self._named[part.name]
                    continue
                opened[part.name] = None
                todo.append((definition, False))
            else:
                todo += [(p, False) for p in parts_of(part)]
        return made[expression]

    def _definition(self, name: Name, opened: Mapping[str, None]) -> Expression:
        if name.name in opened:
            ring = [*list(opened)[list(opened).index(name.name) :], name.name]
            raise self._error(
                f"terminal {name.name!r} refers to itself: {' -> '.join(ring)}",
                name,
                "what recurses is a rule, in lower case",
            )
        found = self._grammar.terminals.get(name.name)
        if found is not None:
            return found.body
        if name.name in self._grammar.rules:
            raise self._error(
                f"{name.name!r} is a rule, and only terminals may stand here",
                name,
                "name it in upper case: terminals are made of terminals, and so is what has "
                "attributes such as lazy, stop or temperature",
            )
        raise unknown_name(name, self._source, self._grammar)

    def _lower(self, part: Expression, made: Mapping[Expression, Term]) -> Term:
        if isinstance(part, Name):
            term = self._named[part.name] = made[self._grammar.terminals[part.name].body]
            if part.step is not None:
                raise self._error("terminals have no parameter", part)
            return term
        if isinstance(part, Literal):
            if not part.any_case:
                return literal(part.text.encode())
            return self._pattern(re.escape(part.text), "i", part)
        if isinstance(part, Pattern):
            return self._pattern(part.pattern, part.flags, part)
        if isinstance(part, Range):
            return UTF8.spell(CodepointSet.from_ranges([(ord(part.first), ord(part.last))]))
        if isinstance(part, Substring):
            return substring(part.chunks)
        if isinstance(part, Sequence):
            return cat(*[made[p] for p in part.parts])
        if isinstance(part, Choice):
            if any(option.condition for option in part.options):
                raise self._error("conditions (%if) may not stand in terminals", part)
            return alt([made[option.body] for option in part.options])
        if isinstance(part, Repetition):
            return repeat(made[part.body], part.lo, part.hi)
        if isinstance(part, Inverse):
            return complement(made[part.body])
        if isinstance(part, Both):
            return intersect([made[p] for p in part.parts])
        raise self._error(f"{_NOT_REGULAR[type(part)]} may not stand in terminals", part)

    def _pattern(self, pattern: str, flags: str, part: Expression) -> Term:
        try:
            node = parse(pattern, "rust", flags=flags, limits=self._limits)
            if any(_looks_around(n) for n in postorder(node)):
                raise UnsupportedFeatureError(
                    "a lexeme does not look at what stands around it",
                    hint="leave out lookarounds and word boundaries; ^ and $ are its ends",
                )
            return lower(node, limits=self._limits)
        except GrammarError as error:
            start, stop = part.span
            if error.span is not None and isinstance(part, Pattern):
                first, last = error.span
                stop = start + 1 + max(last, first + 1)
                start += 1 + first
            if isinstance(error, RegexSyntaxError):
                raise GrammarSyntaxError(
                    f"invalid regular expression: {error.reason}",
                    source=self._source,
                    span=(start, stop),
                    hint=error.hint,
                ) from error
            error.source, error.span = self._source, (start, stop)
            raise

    def _error(self, reason: str, part: Expression, hint: str | None = None) -> GrammarSyntaxError:
        return GrammarSyntaxError(reason, source=self._source, span=part.span, hint=hint)


def unknown_name(name: Name, source: str, grammar: GrammarText) -> GrammarSyntaxError:
    """That nothing has this name, with the nearest that something has."""
    names = {**grammar.rules, **grammar.terminals}
    kind = "terminal" if name.name.lstrip("_")[:1].isupper() else "rule"
    return GrammarSyntaxError(
        f"there is no {kind} {name.name!r}",
        source=source,
        span=name.span,
        hint=hint_on_name(name.name, names, f'literals are in quotes: "{name.name}"'),
    )


def _looks_around(node: RegexNode) -> bool:
    if isinstance(node, Anchor):
        return node.kind not in (AnchorKind.TEXT_START, AnchorKind.TEXT_END)
    return isinstance(node, Look)
