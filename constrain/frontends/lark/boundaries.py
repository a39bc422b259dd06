"""The places between lexemes, as rules: lexer and parser together are one term.

At a boundary, which is the stacks of a parser and a spot of its lexers, each lexeme that the parser
can take leads to another boundary. A body is made when a text gets there, so an LALR table, or the
stacks of an ambiguous grammar, cost what the text visits.

    boundary(stacks, spot) = words of a lexeme · boundary(stacks after it, spot after it) | ...

A lexeme that `%ignore` names leads back to the same stacks.

A rule promises that it is not empty. The parser's stacks alone keep that promise where the lexers
can always go on (`completable`); elsewhere each boundary is asked about before anything leads to
it (`saturation`).

Cost: one parser step for each terminal that may stand at a boundary.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from weakref import WeakValueDictionary

from constrain.algebra.terms import EPS, Rule, Term, alt, cat
from constrain.frontends.lark.indent import IndentedLalr, Newlines
from constrain.frontends.lark.prospects import Prospects
from constrain.frontends.lark.scanner import START, Scanner, Spot
from constrain.frontends.lark.stacks import Parser, Stack
from constrain.frontends.lark.threads import Machine

__all__ = ["Boundaries", "Scanners"]

Scanners = Callable[[frozenset[Stack]], Iterable[tuple[Scanner, frozenset[str]]]]
"""The lexers at some stacks, each with the terminals whose lexemes the parser does not see."""


class _Boundary:
    """A place between lexemes; keeps its rule, so that the same place is the same rule."""

    __slots__ = ("__weakref__", "rule", "spot", "stacks")
    rule: Rule

    def __init__(self, stacks: frozenset[Stack], spot: Spot) -> None:
        self.stacks = stacks
        self.spot = spot


class Boundaries:
    """The rules of one grammar.

    Args:
        machine: Of the grammar.
        parser: What takes the lexemes.
        scanners: The lexers at a place; each lexeme of each may come.
        prospects: What is a dead end, or None if there is none.
        indented: The parser again, if it counts how far lines are indented.
    """

    def __init__(
        self,
        machine: Machine,
        parser: Parser,
        scanners: Scanners,
        prospects: Prospects | None,
        indented: IndentedLalr | None = None,
    ) -> None:
        self._machine = machine
        self._parser = parser
        self._scanners = scanners
        self._prospects = prospects
        self._indented = indented
        self._made: WeakValueDictionary[tuple[frozenset[Stack], Spot], _Boundary] = (
            WeakValueDictionary()
        )
        self._lock = threading.Lock()

    def start(self) -> Rule | None:
        """The place before any text; None if no text is a sentence."""
        return self._boundary(self._parser.start(), START, "start")

    def _boundary(self, stacks: frozenset[Stack], spot: Spot, name: str) -> Rule | None:
        if self._prospects is not None:
            stacks = self._prospects.alive(stacks, spot)
        if not stacks:
            return None
        key = (stacks, spot)
        with self._lock:
            found = self._made.get(key)
            if found is None:
                machine = self._machine
                nullable = machine.holds_at_end(spot.pending) and self._parser.accepts(stacks)
                if not nullable and machine.forbids_all(spot.pending, spot.left):
                    return None
                # The rule refers to its boundary, which so lives as long as the rule.
                found = self._made[key] = _Boundary(stacks, spot)
                found.rule = Rule(name, partial(self._body, found), nullable=nullable)
        return found.rule

    def _body(self, boundary: _Boundary) -> Term:
        stacks, spot = boundary.stacks, boundary.spot
        members: list[Term] = [EPS] if boundary.rule.nullable else []
        newline = None
        if self._indented is not None and self._indented.counts(stacks):
            newline = self._indented.newline
        lexers = list(self._scanners(stacks))
        names = {
            lexeme.name: None
            for scanner, ignored in lexers
            for lexeme in scanner.lexemes(spot)
            if lexeme.scanned not in ignored and lexeme.name != newline
        }
        fed = self._parser.feed_all(stacks, names)
        for scanner, ignored in lexers:
            if newline is not None:
                members.append(self._newlines(boundary, scanner))
            for lexeme in scanner.lexemes(spot):
                if lexeme.name == newline:
                    continue
                after = stacks if lexeme.scanned in ignored else fed.get(lexeme.name)
                then = self._boundary(after, lexeme.spot, f"after {lexeme.name}") if after else None
                if then is not None:
                    members.append(cat(lexeme.words, then))
        return alt(members)

    def _newlines(self, boundary: _Boundary, scanner: Scanner) -> Term:
        assert self._indented is not None

        def then(stacks: frozenset[Stack], spot: Spot) -> Rule | None:
            return self._boundary(stacks, spot, "after a newline") if stacks else None

        newlines = Newlines(
            self._machine, self._indented, scanner, boundary.stacks, boundary.spot, then
        )
        return newlines.term()
