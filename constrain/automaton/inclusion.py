r"""Whether all texts of a state are texts of another one: a pattern's of any text, most of all.

`x*` has every text that is made of its texts, one after another. So a term is part of `x*` if its
repeats, unions and concatenations are made of such, and that can be read from the term, however
many states it has: of `[a-z0-9.]*@([a-z]{1,63}\.){1,9}com` and any text of a JSON string all but
nothing needs to be searched. Single bytes are looked up; what spells other letters is searched, a
few states each time. What is left is searched as a whole.
"""

from __future__ import annotations

from collections.abc import Callable

from constrain.algebra.store import StateId, TermStore
from constrain.algebra.structure import Structure
from constrain.kernels.derive import layout as lay

__all__ = ["Inclusions"]

MAX_STATES = 512
"""States looked at to see whether one state is part of another: some 10 ms."""
MAX_SEARCHES = 4
"""Such searches of a grammar that may be for nothing, since there are more states."""
FEW_STATES = 32
"""The same of what spells a letter."""
MAX_TERMS = 4096
"""Terms read; one with more is searched."""

_SPELLS = frozenset((lay.CLASS, lay.EPS, lay.EMPTY))


class Inclusions:
    """Inclusions among the states of one grammar. Called under the store's lock.

    Args:
        store: The grammar's terms.
        structure: Of the same store.
    """

    def __init__(self, store: TermStore, structure: Structure) -> None:
        self._store = store
        self._structure = structure
        self._single: dict[StateId, int] = {}
        self._made_of: dict[StateId, set[StateId]] = {}
        self._searched: dict[tuple[StateId, StateId], bool] = {}
        self._spells: dict[StateId, bool] = {}
        self._searches_left = MAX_SEARCHES

    @property
    def nbytes(self) -> int:
        """Bytes of what is remembered, about."""
        made_of = sum(len(known) for known in self._made_of.values())
        return 80 * (made_of + len(self._spells)) + 150 * len(self._searched)

    def is_part(
        self, state: StateId, of: StateId, looser: Callable[[StateId], StateId | None]
    ) -> bool:
        """Whether all texts of a state are known to be texts of another one.

        Args:
            state: A live state without captures.
            of: Another one.
            looser: Of a state one that has all of its texts and fewer states, if there is one; it
                is searched instead.
        """
        bounds = self._structure.repeat_bounds(of)
        if bounds is not None and bounds[1:] == (0, lay.INFINITE):
            known = self._made_of.setdefault(of, {StateId(lay.EPS_ID), of})
            if self._is_made_of(state, of, bounds[0], known):
                return True
        searched = looser(state)
        if searched is None:
            return False
        found = self._searched.get((searched, of))
        if found is None and self._searches_left:
            answer = self._store.is_part(searched, of, max_states=MAX_STATES)
            self._searches_left -= answer is None
            found = self._searched[searched, of] = bool(answer)
        return bool(found)

    def _is_made_of(self, root: StateId, of: StateId, body: StateId, known: set[StateId]) -> bool:
        """Whether a term is seen to be made of texts of `of`, which is any number of a body."""
        todo = [root]
        seen: set[StateId] = set()
        while todo:
            state = todo.pop()
            if state in known or state in seen:
                continue
            if len(seen) >= MAX_TERMS:
                return False
            seen.add(state)
            if self._is_spelling(state):
                if not self._spells_text_of(state, of):
                    return False
                continue
            kind, _, parts = self._structure.read(state)
            below = [StateId(part) for part in parts or []]
            if not below or kind == lay.NOT:
                return False
            if kind == lay.CAT:
                todo += self._pieces(state)
            elif kind == lay.AND:
                bounds = [self._structure.repeat_bounds(member) for member in below]
                if not any(bound is not None and bound[0] == body for bound in bounds):
                    todo.append(below[0])
            else:
                todo += below
        known |= seen
        return True

    def _pieces(self, state: StateId) -> list[StateId]:
        """The parts of a concatenation, those that spell letters one after another as one."""
        pieces: list[StateId] = []
        letters: list[StateId] = []
        for part, _ in self._structure.parts(state):
            if self._is_spelling(part):
                letters.append(part)
                continue
            if letters:
                pieces.append(self._store.concatenate(letters))
                letters = []
            pieces.append(part)
        return [*pieces, self._store.concatenate(letters)] if letters else pieces

    def _is_spelling(self, root: StateId) -> bool:
        """Whether a term is made of unions and concatenations of bytes only."""
        known = self._spells
        todo = [root]
        while todo:
            state = todo[-1]
            if state in known:
                todo.pop()
                continue
            kind, _, parts = self._structure.read(state)
            if kind not in (lay.CAT, lay.ALT):
                known[state] = kind in _SPELLS
                continue
            missing = [StateId(part) for part in parts or [] if part not in known]
            if missing:
                todo += missing
            else:
                known[state] = all([known[StateId(part)] for part in parts or []])
        return known[root]

    def _spells_text_of(self, root: StateId, of: StateId) -> bool:
        """Whether a term of bytes has texts of `of` only."""
        single = self._single.get(of)
        if single is None:
            single = self._single[of] = self._single_bytes(of)
        todo, seen = [root], {root}
        while todo:
            state = todo.pop()
            kind, _, parts = self._structure.read(state)
            if kind == lay.CLASS and self._structure.byte_set(state) & ~single:
                return bool(self._store.is_part(root, of, max_states=FEW_STATES))
            new = {StateId(part) for part in parts or []} - seen
            seen |= new
            todo += new
        return True

    def _single_bytes(self, of: StateId) -> int:
        """The ASCII bytes that lead from a state back to it, a bit each."""
        return sum(1 << b for b in range(128) if self._store.advance(of, bytes((b,))) == of)
