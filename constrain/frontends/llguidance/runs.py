"""Lexemes that are being read together, as rules: where tokens are counted for some of them only.

    start: name "Emily is great" rest      name[max_tokens=2]: /.*/      both read "Emily is"

When a count is over, its lexeme is cut short and competes no more: `"Emily is great"` now ends
where it matches, though `name` could have gone on. So a *run* is a rule that knows which lexemes
are left, how far they have come, and where the text stands after each. Where all count alike, all
are cut short at once, and if each of their ends leads on, no run is needed: terms do as well, and
are fewer.

A run that only a cut can end leads to no byte in the end, and is no dead end: `/.*/` before
`" Height:"`, which would take that too, or `"ab"` beside `/[ab]+/`.

Cost: a rule for each state of a contest that a text comes to, anew for each token.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import partial
from weakref import WeakValueDictionary

from constrain.algebra.terms import EMPTY, ByteClass, Rule, Term, Timed, alt, cat
from constrain.errors import UnsupportedFeatureError
from constrain.frontends.llguidance.boundary import Boundary, Run
from constrain.frontends.llguidance.dead_ends import DeadEnds
from constrain.frontends.llguidance.ways import Ways

__all__ = ["Runs", "left_of"]


class Runs:
    """The runs of one grammar. Called under its lock.

    Args:
        ways: Where lexemes lead.
        dead_ends: From where no sentence goes on.
        lock: The grammar's. Rules take it, which stores call at any time.
    """

    def __init__(self, ways: Ways, dead_ends: DeadEnds, lock: threading.RLock) -> None:
        self._ways = ways
        self._dead_ends = dead_ends
        self._lock = lock
        self._made: WeakValueDictionary[Run, Rule] = WeakValueDictionary()

    def term(self, run: Run, *, fresh: bool = True) -> Term:
        """What may come in a run; `EMPTY` if it is a dead end.

        Args:
            run: Any.
            fresh: A byte was just read, so that a token may end there.
        """
        if run.is_over:
            return self._after(run, fresh=fresh)
        if not self._dead_ends.lives(run, fresh=fresh):
            return EMPTY
        found = self._made.get(run)
        if found is None:
            nullable = any([place.rule.nullable for place in self._ways.ended(run)])
            body = partial(self._body, run)
            if run.counts:
                at_token_end = partial(self._at_token_end, run)
                uncounted = partial(self._uncounted, run)
                found = Timed("lexemes", body, at_token_end, uncounted, nullable=nullable)
            else:
                found = Rule("lexemes", body, nullable=nullable)
            self._made[run] = found
        return found

    def _after(self, run: Run, *, fresh: bool) -> Term:
        """What may come after a run, if it ends there."""
        places = self._ways.ended(run)
        return alt([p.rule for p in places if self._dead_ends.lives(p, fresh=fresh)])

    def _body(self, run: Run) -> Term:
        with self._lock:
            later = [
                (mask, run.at(state)) for state, mask in run.contest.node(run.state).edges.items()
            ]
            rule = self._made.get(run)
            if isinstance(rule, Timed):
                ways: list[Run | Boundary] = [at for _, at in later]
                ways += self._ways.ended(run)
                rule.counts_matter = any(map(self._dead_ends.depends, ways))
            members = [cat(ByteClass(mask), self.term(at)) for mask, at in later]
            return alt([*members, self._after(run, fresh=False)])

    def _at_token_end(self, run: Run, inside: bool) -> tuple[Term, Term]:
        with self._lock:
            kept, cut = self._ways.run_ticked(run)
            rest = EMPTY if kept is None else self.term(kept, fresh=False)
            return left_of(rest, cut, self._dead_ends)

    def _uncounted(self, run: Run) -> Term:
        """The same as if no token had ended."""
        with self._lock:
            return self.term(self._ways.run_renewed(run))


def left_of(kept: Term, cut: Iterable[Boundary], dead_ends: DeadEnds) -> tuple[Term, Term]:
    """What is left where a token ends: what is kept, and what follows what is cut short.

    Raises:
        UnsupportedFeatureError: Nothing is.
    """
    after = alt([place.rule for place in cut if dead_ends.lives(place, fresh=False)])
    if kept is EMPTY and after is EMPTY:
        raise UnsupportedFeatureError(
            "max_tokens cuts a text short, and nothing can come next there: the lexemes that "
            "may come take all that has to follow them",
            hint="look for a lexeme that never ends where the next must begin",
        )
    return kept, after
