"""The places between lexemes, as rules: lexer and parser together are one term.

At a boundary each lexeme of the lexer that the parser can take leads to another boundary. A body is
made when a text gets there, so an LALR table, or the stacks of an ambiguous grammar, cost what the
text visits.

    boundary(stacks) = words of a lexeme · (boundary(stacks after it) & what its guards allow) | ...

A lexeme that `%ignore` names leads back to the same stacks.

A rule promises that it is not empty. The parser alone keeps that promise, since its stacks are
those that some lexemes complete; but the lexer may never produce those lexemes there. Where
`spacious` cannot rule that out, a boundary is *proved* before anything leads to it: a second rule
for it, in which every continuation is an intersection, lets the store search for a whole sentence.

Cost: one parser step for each terminal that may stand at a boundary.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Final
from weakref import WeakValueDictionary

from constrain.algebra.store import TermStore
from constrain.algebra.terms import EPS, Rule, Term, alt, cat, intersect
from constrain.algebra.utf8 import UTF8
from constrain.errors import LimitExceededError
from constrain.frontends.lark.indent import IndentedLalr, Newlines
from constrain.frontends.lark.scanner import Guards, Scanner
from constrain.frontends.lark.stacks import Parser, Stack
from constrain.frontends.lark.threads import Left, Machine
from constrain.limits import Limits

__all__ = ["Boundaries", "Scanners"]

Scanners = Callable[[frozenset[Stack]], Iterable[tuple[Scanner, frozenset[str]]]]
"""The lexers at some stacks, each with the terminals whose lexemes the parser does not see."""

_PROOF_STATES: Final = 2_000
_PROOFS_GIVEN_UP: Final = 3
_PROOF_STACKS: Final = 20_000
_PROOF_TERMS: Final = 1_000_000


class _Boundary:
    """A place between lexemes; keeps its rules, so that the same place is the same rule."""

    __slots__ = ("__weakref__", "alive", "left", "proof", "rule", "stacks")
    rule: Rule
    proof: Rule
    alive: bool | None

    def __init__(self, stacks: frozenset[Stack], left: Left) -> None:
        self.stacks = stacks
        self.left = left
        self.alive = None


class Boundaries:
    """The rules of one grammar.

    Args:
        parser: What takes the lexemes.
        scanners: The lexers at a place; each lexeme of each may come.
        guards: What may follow lexemes.
        limits: Bounds proofs too.
        remembers: Whether a lexeme may depend on the text before it.
        proves: Whether a boundary may be empty, so that each must be proved not to be.
        indented: The parser again, if it counts how far lines are indented.
    """

    def __init__(
        self,
        parser: Parser,
        scanners: Scanners,
        guards: Guards,
        limits: Limits,
        *,
        remembers: bool,
        proves: bool,
        indented: tuple[Machine, IndentedLalr] | None = None,
    ) -> None:
        self._indented = indented
        self._parser = parser
        self._scanners = scanners
        self._guards = guards
        self._remembers = remembers
        self._prover = _Prover(limits) if proves else None
        self._made: WeakValueDictionary[tuple[frozenset[Stack], Left], _Boundary] = (
            WeakValueDictionary()
        )
        self._lock = threading.Lock()

    def start(self) -> Rule | None:
        """The place before any text; None if no text is a sentence."""
        boundary = self._boundary(self._parser.start(), (), "start")
        return boundary.rule if self._alive(boundary) else None

    def _boundary(self, stacks: frozenset[Stack], left: Left, name: str) -> _Boundary:
        if not self._remembers:
            left = ()
        key = (stacks, left)
        with self._lock:
            found = self._made.get(key)
            if found is None:
                # The rules refer to their boundary, which so lives as long as one of them.
                found = self._made[key] = _Boundary(stacks, left)
                nullable = self._parser.accepts(stacks)
                found.rule = Rule(name, partial(self._body, found), nullable=nullable)
                found.proof = Rule(name, partial(self._proof_body, found), nullable=nullable)
        return found

    def _alive(self, boundary: _Boundary) -> bool:
        if self._prover is None:
            return True
        if boundary.alive is None:
            boundary.alive = boundary.rule.nullable or self._prover.is_alive(boundary.proof)
        return boundary.alive

    def _body(self, boundary: _Boundary) -> Term:
        return self._members(boundary, proof=False)

    def _proof_body(self, boundary: _Boundary) -> Term:
        assert self._prover is not None
        self._prover.spend(len(boundary.stacks))
        return self._members(boundary, proof=True)

    def _members(self, boundary: _Boundary, *, proof: bool) -> Term:
        stacks = boundary.stacks
        members: list[Term] = []
        newline = None
        if self._indented is not None and self._indented[1].counts(stacks):
            newline = self._indented[1].newline
        for scanner, ignored in self._scanners(stacks):
            if newline is not None:
                members.append(self._newlines(boundary, scanner, proof=proof))
            for lexeme in scanner.lexemes(boundary.left):
                after = stacks
                if lexeme.name == newline:
                    continue
                if lexeme.scanned not in ignored:
                    after = self._parser.feed(stacks, lexeme.name)
                if not after:
                    continue
                then = self._boundary(after, lexeme.left, f"after {lexeme.name}")
                conditions = self._guards.conditions(lexeme)
                if proof:
                    rest = intersect([UTF8.text, then.proof, *conditions])
                elif self._alive(then):
                    rest = intersect([then.rule, *conditions])
                else:
                    continue
                members.append(cat(lexeme.words, rest))
        if boundary.rule.nullable:
            members.append(EPS)
        return alt(members)

    def _newlines(self, boundary: _Boundary, scanner: Scanner, *, proof: bool) -> Term:
        assert self._indented is not None

        def then(stacks: frozenset[Stack], left: Left) -> Term:
            after = self._boundary(stacks, left, "after a newline")
            return intersect([UTF8.text, after.proof]) if proof else after.rule

        machine, parser = self._indented
        stacks, left = boundary.stacks, boundary.left
        return Newlines(machine, parser, scanner, self._guards, stacks, left, then).term()


class _Prover:
    """Looks for a sentence of a rule, in a store of its own.

    A search that finds none within its budget counts as found: what is dead is certain, what is
    alive is almost always found at once. After a few such searches it gives up.
    """

    def __init__(self, limits: Limits) -> None:
        states = min(_PROOF_STATES, limits.max_emptiness_states)
        self._limits = replace(limits, max_emptiness_states=states)
        self._store = TermStore(self._limits)
        self._lock = threading.RLock()
        self._given_up = 0
        self._stacks = 0

    def spend(self, stacks: int) -> None:
        """Count the stacks that one search looks at."""
        self._stacks += stacks
        if self._stacks > _PROOF_STACKS:
            raise LimitExceededError(
                "max_emptiness_states",
                given=self._stacks,
                allowed=_PROOF_STACKS,
                where="looking for a sentence",
            )

    def is_alive(self, rule: Rule) -> bool:
        """Whether some text is in the language of a rule."""
        with self._lock:
            if self._given_up >= _PROOFS_GIVEN_UP:
                return True
            if self._store.num_terms > _PROOF_TERMS:
                self._store = TermStore(self._limits)
            self._stacks = 0
            try:
                return not self._store.is_empty(self._store.intern(intersect([UTF8.text, rule])))
            except LimitExceededError:
                self._given_up += 1
                self._store = TermStore(self._limits)
                return True
