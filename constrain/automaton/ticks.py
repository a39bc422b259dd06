"""What is left of a state where a token ends: for grammars that count tokens.

The derivative knows bytes only. A text that may have n tokens is in a state as its rest, followed
by a countdown that is itself the empty text (`terms.Timed`), and then by what comes after it:

    [a-z]*·<2 tokens left>·")"

So bytes lead on as if nothing were counted, and masks are what they are. When a token has ended,
each countdown that stands behind something is one less; at none left, what stands before it is over
and only what comes after it is left: `")"`. A countdown that stands first has nothing left to
count, and goes.

A mask does not depend on what is left of a count: without countdowns, all states that differ in it
are one, and share its row (`uncounted`).

To find them is to look through unions and along concatenations: everywhere else nothing has begun.
What is found is a pair: *kept*, what comes in place of a term, and *cut*, what comes in place of a
term and of all before it.

Cost: O(1) for each term not met before; grammars that count nothing are not looked at.
"""

from __future__ import annotations

from typing import NamedTuple

from constrain.algebra.store import DEAD, StateId, TermStore
from constrain.algebra.structure import Structure
from constrain.algebra.terms import EMPTY, EPS, Timed
from constrain.kernels.derive import layout as lay

__all__ = ["Ticks"]


class _Left(NamedTuple):
    """What is left of a term; DEAD for nothing."""

    kept: StateId
    cut: StateId = DEAD


class Ticks:
    """States by the states that they are when a token ends. Called under the store's lock.

    Args:
        store: The grammar's terms.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._structure = Structure(store)
        self._after: dict[StateId, StateId] = {}
        self._known: dict[tuple[StateId, bool], _Left] = {}
        self._uncounted: dict[StateId, StateId] = {}

    @property
    def nbytes(self) -> int:
        """Bytes of what is remembered, about."""
        return 200 * (len(self._after) + len(self._known) + len(self._uncounted))

    def after(self, state: StateId) -> StateId:
        """What a state is when a token ends there. A live state stays live, DEAD stays dead.

        Raises:
            LimitExceededError: The grammar grew past its limits.
        """
        found = self._after.get(state)
        if found is None:
            left = self._left(state)
            found = self._after[state] = self._store.union(left.kept, left.cut)
        return found

    def uncounted(self, root: StateId) -> StateId:
        """A state of the same texts, the same for all that only differ in what is left of counts.

        Raises:
            LimitExceededError: The grammar grew past its limits.
        """
        known = self._uncounted
        todo = [root]
        while todo:
            term = todo[-1]
            if term in known:
                todo.pop()
                continue
            parts = [part for part, _ in self._needs(term, True)]
            missing = [part for part in parts if part not in known]
            if missing:
                todo += missing
                continue
            todo.pop()
            known[term] = self._uncounted_of(term, parts, [known[part] for part in parts])
        return known[root]

    def _uncounted_of(self, term: StateId, parts: list[StateId], made: list[StateId]) -> StateId:
        if not parts:
            rule = self._store.rule_of(term)
            return self._store.intern(rule.uncounted()) if isinstance(rule, Timed) else term
        if parts == made:
            return term
        if self._structure.is_kind(term, lay.CAT):
            return self._store.concatenate(made)
        found = DEAD
        for part in made:
            found = self._store.union(found, part)
        return found

    def _left(self, root: StateId) -> _Left:
        """What is left of a state, after what is left of its parts, without recursion."""
        known = self._known
        todo = [(root, False)]
        while todo:
            term, inside = todo[-1]
            if (term, inside) in known:
                todo.pop()
                continue
            needs = self._needs(term, inside)
            missing = [need for need in needs if need not in known]
            if missing:
                todo += missing
                continue
            todo.pop()
            known[term, inside] = self._of_parts(term, inside, [known[need] for need in needs])
        return known[root, False]

    def _needs(self, term: StateId, inside: bool) -> list[tuple[StateId, bool]]:
        """The parts to look at, each with whether something stands before it."""
        if not self._structure.holds_rule(term):
            return []
        if self._structure.is_kind(term, lay.ALT):
            return [(member, inside) for member in self._structure.members(term)]
        if self._structure.is_kind(term, lay.CAT):
            head, tail = next(self._structure.parts(term))
            return [(head, inside), (tail, inside or not self._is_over(head))]
        return []

    def _is_over(self, first: StateId) -> bool:
        """Whether what stands first only waits for what follows it."""
        rule = self._store.rule_of(first)
        return isinstance(rule, Timed) and rule.at_token_end(False) == (EPS, EMPTY)

    def _of_parts(self, term: StateId, inside: bool, parts: list[_Left]) -> _Left:
        """What is left of a term, from what is left of its parts."""
        if not parts:
            rule = self._store.rule_of(term)
            if not isinstance(rule, Timed):
                return _Left(term)
            kept, cut = rule.at_token_end(inside)
            return _Left(self._store.intern(kept), self._store.intern(cut))
        if self._structure.is_kind(term, lay.ALT):
            return self._of_members(term, parts)
        return self._of_sequence(term, *parts)

    def _of_members(self, term: StateId, parts: list[_Left]) -> _Left:
        kept, cut = term, DEAD
        if [part.kept for part in parts] != self._structure.members(term):
            kept = DEAD
            for part in parts:
                kept = self._store.union(kept, part.kept)
        for part in parts:
            cut = self._store.union(cut, part.cut)
        return _Left(kept, cut)

    def _of_sequence(self, term: StateId, first: _Left, rest: _Left) -> _Left:
        head, tail = next(self._structure.parts(term))
        cut = rest.cut
        if cut != DEAD and self._store.is_empty(head):
            cut = DEAD  # no text has come as far
        if (first.kept, rest.kept) == (head, tail):
            kept = term
        else:
            kept = self._then(first.kept, rest.kept)
        return _Left(kept, self._store.union(self._then(first.cut, rest.kept), cut))

    def _then(self, first: StateId, rest: StateId) -> StateId:
        return DEAD if DEAD in (first, rest) else self._store.concatenate([first, rest])
