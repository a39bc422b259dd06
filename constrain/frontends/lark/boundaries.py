"""The places between lexemes, as rules: lexer and parser together are one term.

At a boundary each lexeme of the lexer that the parser can take leads to another boundary. A body is
made when a text gets there, so an LALR table, or the stacks of an ambiguous grammar, cost what the
text visits.

    boundary(stacks) = words of a lexeme · (boundary(stacks after it) & what its guards allow) | ...

A lexeme that `%ignore` names leads back to the same stacks.
Cost: one parser step for each terminal that may stand at a boundary.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from weakref import WeakValueDictionary

from constrain.algebra.terms import EPS, Rule, Term, alt, cat, intersect
from constrain.frontends.lark.scanner import Guards, Lexeme, Scanner
from constrain.frontends.lark.stacks import Parser, Stack
from constrain.frontends.lark.threads import Left

__all__ = ["Boundaries"]


class _Boundary:
    """A place between lexemes; keeps its rule, so that the same place is the same rule."""

    __slots__ = ("__weakref__", "rule")
    rule: Rule


class Boundaries:
    """The rules of one grammar.

    Args:
        parser: What takes the lexemes.
        scanners: The lexers at a place; each lexeme of each may come.
        ignored: Terminals whose lexemes the parser never sees.
        guards: What may follow lexemes.
        remembers: Whether a lexeme may depend on the text before it.
    """

    def __init__(
        self,
        parser: Parser,
        scanners: Callable[[frozenset[Stack]], Iterable[Scanner]],
        ignored: frozenset[str],
        guards: Guards,
        *,
        remembers: bool,
    ) -> None:
        self._parser = parser
        self._scanners = scanners
        self._ignored = ignored
        self._guards = guards
        self._remembers = remembers
        self._made: WeakValueDictionary[tuple[frozenset[Stack], Left], _Boundary] = (
            WeakValueDictionary()
        )
        self._lock = threading.Lock()

    def start(self) -> Rule:
        """The place before any text."""
        return self._rule(self._parser.start(), (), "start")

    def _rule(self, stacks: frozenset[Stack], left: Left, name: str) -> Rule:
        if not self._remembers:
            left = ()
        key = (stacks, left)
        with self._lock:
            found = self._made.get(key)
            if found is None:
                found = self._made[key] = _Boundary()
                found.rule = Rule(
                    name,
                    lambda: self._body(stacks, left, found),
                    nullable=self._parser.accepts(stacks),
                )
        return found.rule

    def _body(self, stacks: frozenset[Stack], left: Left, _: _Boundary | None) -> Term:
        members: list[Term] = []
        for scanner in self._scanners(stacks):
            for lexeme in scanner.lexemes(left):
                after = stacks
                if lexeme.scanned not in self._ignored:
                    after = self._parser.feed(stacks, lexeme.name)
                if after:
                    rule = self._rule(after, lexeme.left, f"after {lexeme.name}")
                    members.append(cat(lexeme.words, self._guarded(rule, lexeme)))
        if self._parser.accepts(stacks):
            members.append(EPS)
        return alt(members)

    def _guarded(self, rule: Rule, lexeme: Lexeme) -> Term:
        return intersect([rule, *self._guards.conditions(lexeme)])
