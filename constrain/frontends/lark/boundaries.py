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
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple
from weakref import WeakValueDictionary

from constrain.algebra.terms import EPS, Rule, Term, alt, cat
from constrain.frontends.lark.indent import IndentedLalr, Newlines
from constrain.frontends.lark.prospects import Prospects
from constrain.frontends.lark.scanner import START, End, Place, Scanner, Spot
from constrain.frontends.lark.stacks import Parser, Stack
from constrain.frontends.lark.threads import Machine

__all__ = ["Boundaries", "Scanners"]

Scanners = Callable[[frozenset[Stack]], Iterable[tuple[Scanner, frozenset[str]]]]
"""The lexers at some stacks, each with the terminals whose lexemes the parser does not see."""


class _Boundary:
    """A place between lexemes; keeps its rule, so that the same place is the same rule."""

    __slots__ = ("__weakref__", "accepts", "rule", "spot", "stacks")
    rule: Rule

    def __init__(self, stacks: frozenset[Stack], spot: Spot, accepts: bool) -> None:
        self.stacks = stacks
        self.spot = spot
        self.accepts = accepts


class _Plan(NamedTuple):
    """The lexemes of a lexer at a spot.

    Attributes:
        ends: Each end, whether a text may end there, and whether one may go on there.
        ways: For each set of first code points, its bytes, the place after it, and the numbers of
            the ends that can be reached, and that are reached.
    """

    ends: list[tuple[End, bool, bool]]
    ways: list[tuple[Term, Place, list[int], list[int]]]


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
        self._plans: dict[tuple[Scanner, Spot], _Plan] = {}
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
                accepts = self._parser.accepts(stacks)
                nullable = accepts and machine.holds_at_end(spot.pending)
                if not nullable and machine.forbids_all(spot.pending, spot.left):
                    return None
                # The rule refers to its boundary, which so lives as long as the rule.
                found = self._made[key] = _Boundary(stacks, spot, accepts)
                body = partial(self._body, found)
                found.rule = Rule(name, body, nullable=nullable, keep=False)
        return found.rule

    def _body(self, boundary: _Boundary) -> Term:
        stacks, spot = boundary.stacks, boundary.spot
        members: list[Term] = [EPS] if boundary.rule.nullable else []
        newline = None
        if self._indented is not None and self._indented.counts(stacks):
            newline = self._indented.newline
        for scanner, ignored in self._scanners(stacks):
            if newline is not None:
                members.append(self._newlines(boundary, scanner))
            ends = [end for end in scanner.ends(spot) if end.name != newline]
            names = {end.name: None for end in ends if end.scanned not in ignored}
            if self._prospects is None:
                outcomes = self._parser.outcomes(stacks, names)
                members += self._begun(boundary, scanner, ignored, newline, outcomes)
            else:
                members.append(self._words(boundary, scanner.root(spot), ends, scanner, ignored))
        return alt(members)

    def _words(
        self,
        boundary: _Boundary,
        place: Place,
        ends: Iterable[End],
        scanner: Scanner,
        ignored: frozenset[str],
    ) -> Term:
        """What is left of some lexemes from a place inside them, and what follows."""
        stacks = boundary.stacks
        members = []
        names = {end.name: None for end in ends if end.scanned not in ignored}
        fed = self._parser.feed_all(stacks, names)
        for end in ends:
            after = stacks if end.scanned in ignored else fed.get(end.name)
            then = self._boundary(after, end.spot, f"after {end.name}") if after else None
            if then is not None:
                members.append(cat(scanner.words(place, end), then))
        return alt(members)

    def _begun(
        self,
        boundary: _Boundary,
        scanner: Scanner,
        ignored: frozenset[str],
        newline: str | None,
        outcomes: Mapping[str, bool],
    ) -> Iterable[Term]:
        """The lexemes of a lexer, a rule for those that begin alike.

        Most texts that are tried go on in one way, so the parser is fed when that is known.
        """
        plan = self._plan(scanner, boundary.spot)
        nullable: list[bool | None] = []  # None: it cannot come
        for end, can_end, can_go_on in plan.ends:
            outcome = boundary.accepts if end.scanned in ignored else outcomes.get(end.name)
            if end.name == newline or outcome is None or not ((outcome and can_end) or can_go_on):
                nullable.append(None)
            else:
                nullable.append(outcome and can_end)
        for spelled, target, reached, here in plan.ways:
            kept = [n for n in reached if nullable[n] is not None]
            if kept:
                ends = [plan.ends[n][0] for n in kept]
                thunk = partial(self._words, boundary, target, ends, scanner, ignored)
                ended = any([nullable[n] for n in here])
                yield cat(spelled, Rule("in a lexeme", thunk, nullable=ended, keep=False))

    def _plan(self, scanner: Scanner, spot: Spot) -> _Plan:
        """What the lexemes at a spot are, whatever the parser says."""
        found = self._plans.get((scanner, spot))
        if found is None:
            machine = self._machine
            ends = list(scanner.ends(spot))
            number = {end: n for n, end in enumerate(ends)}
            ways = [
                (
                    machine.atoms.spell(mask),
                    target,
                    [number[end] for end in scanner.reached(target)],
                    [number[end] for end in scanner.at(target)[0]],
                )
                for target, mask in scanner.at(scanner.root(spot))[1].items()
                if scanner.reached(target)
            ]
            found = self._plans[scanner, spot] = _Plan(
                [
                    (
                        end,
                        machine.holds_at_end(end.spot.pending),
                        not machine.forbids_all(end.spot.pending, end.spot.left),
                    )
                    for end in ends
                ],
                ways,
            )
        return found

    def _newlines(self, boundary: _Boundary, scanner: Scanner) -> Term:
        assert self._indented is not None

        def then(stacks: frozenset[Stack], spot: Spot) -> Rule | None:
            return self._boundary(stacks, spot, "after a newline") if stacks else None

        newlines = Newlines(
            self._machine, self._indented, scanner, boundary.stacks, boundary.spot, then
        )
        return newlines.term()
