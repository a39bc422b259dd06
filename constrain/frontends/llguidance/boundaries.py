"""The places between lexemes, as rules: contests and parser together are one term.

    boundary(stacks) = words of some ends · boundary(stacks after winners, live bytes blocked) | ...

Bodies are made when a text gets there. Nothing leads to a dead end.

Where a rule counts tokens, a boundary inside it knows how many are left, and is another one when a
token has ended (`Timed`). At none left, what was being read is over, and the text stands after the
rule, where all lexemes begin anew; what else was being read at the same time goes on (`runs`).
"""

from __future__ import annotations

import threading
from functools import partial

from constrain.algebra.terms import EMPTY, EPS, Rule, Term, Timed, Token, alt, cat
from constrain.frontends.llguidance.boundary import Boundary, Edge
from constrain.frontends.llguidance.dead_ends import DeadEnds
from constrain.frontends.llguidance.follow import Follow
from constrain.frontends.llguidance.productions import Made
from constrain.frontends.llguidance.runs import Runs, left_of
from constrain.frontends.llguidance.stacks import Parser
from constrain.frontends.llguidance.ways import Ways
from constrain.limits import Limits

__all__ = ["Boundaries"]


class Boundaries:
    """The rules of one grammar.

    Args:
        parser: What takes the winners.
        follow: What may come after what.
        made: What the grammar became: see `Ways`.
        limits: Budgets.
    """

    def __init__(self, parser: Parser, follow: Follow, made: Made, limits: Limits) -> None:
        self._lock = threading.RLock()
        self._ways = Ways(parser, follow, made, self._make_rule, limits)
        self._dead_ends = DeadEnds(self._ways, limits)
        self._runs = Runs(self._ways, self._dead_ends, self._lock)

    def start(self) -> Rule | None:
        """The place before any text; None if no text is a sentence."""
        with self._lock:
            boundary = self._ways.start()
            return boundary.rule if self._dead_ends.lives(boundary, fresh=False) else None

    def _make_rule(self, boundary: Boundary, name: str, may_end: bool) -> Rule:
        body = partial(self._body, boundary)
        if not boundary.key.counts:
            return Rule(name, body, nullable=may_end)
        at_token_end = partial(self._at_token_end, boundary)
        uncounted = partial(self._uncounted, boundary)
        return Timed(name, body, at_token_end, uncounted, nullable=may_end)

    def _body(self, boundary: Boundary) -> Term:
        with self._lock:
            edges = self._ways.edges(boundary)
            by_runs = {edge.contest for edge in edges if self._is_by_runs(edge)}
            members = [self._on(edge) for edge in edges if edge.contest not in by_runs]
            runs = [b for b in self._ways.beginnings(boundary.key) if b.run.contest in by_runs]
            for first, run in runs:
                members.append(cat(first, self._runs.term(run, fresh=not first.nullable)))
            if isinstance(boundary.rule, Timed):
                depends = [self._dead_ends.depends(b.run) for b in runs]
                tokens = [e.target for e in edges if isinstance(e.words, Token)]
                depends += map(self._dead_ends.depends, tokens)
                boundary.rule.counts_matter = any(depends)
            if boundary.rule.nullable and not boundary.key.read:
                members.append(EPS)
            return alt(members)

    def _is_by_runs(self, edge: Edge) -> bool:
        """Whether it must be known how far lexemes have come where a token ends."""
        if edge.contest is None:
            return False
        if edge.words is None:
            return True
        left = self._ways.apart(edge.target) if edge.target.key.counts else ()
        return any(map(self._dead_ends.depends, left))

    def _on(self, edge: Edge) -> Term:
        """What is read on an edge, and what comes after it; `EMPTY` if that is a dead end."""
        target = edge.target
        assert edge.words is not None, "runs tell"
        if isinstance(edge.words, Token):
            lives = self._dead_ends.lives_after_token(target)
        elif edge.is_json:
            lives = self._dead_ends.lives_after_json(target)
        else:
            lives = self._dead_ends.lives(target, fresh=False)
        return cat(edge.words, target.rule) if lives else EMPTY

    # Where a token ends

    def _at_token_end(self, boundary: Boundary, inside: bool) -> tuple[Term, Term]:
        """What a boundary is once a token has ended: before it, if `inside`, else right there."""
        with self._lock:
            kept, cut = self._ways.boundary_ticked(boundary, inside=inside)
            lives = kept is not None and self._dead_ends.lives(kept, fresh=False)
            return left_of(kept.rule if kept and lives else EMPTY, cut, self._dead_ends)

    def _uncounted(self, boundary: Boundary) -> Rule:
        """The same as if no token had ended."""
        with self._lock:
            return self._ways.boundary_renewed(boundary).rule
