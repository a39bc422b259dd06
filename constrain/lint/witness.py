"""The shortest text of an intersection: why two terminals overlap, said by an example.

Emptiness of the intersection is decided by the term store, exactly; a breadth-first search over its
states then finds a shortest text. `interegular`, which lark uses for the same question, builds the
product of two automata over characters; it knows few lookarounds and flags, and large classes cost
it minutes. So it is the second opinion in the tests, not the engine here.

Cost: O(states * 256), bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from constrain.algebra.store import DEAD, TermStore
from constrain.algebra.terms import Term, intersect
from constrain.errors import LimitExceededError
from constrain.limits import Limits

__all__ = ["Witnesses"]

_MAX_STATES: Final = 2_000
_PRETTY: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_ORDER: Final = (*_PRETTY, *[b for b in range(0x21, 0x7F) if b not in _PRETTY])


class Witnesses:
    """Searches over the terms of one grammar."""

    def __init__(self, limits: Limits) -> None:
        states = min(_MAX_STATES, limits.max_emptiness_states)
        self._limits = replace(limits, max_emptiness_states=states)
        self._store = TermStore(self._limits)

    def shortest(self, terms: Iterable[Term]) -> str | None:
        """A shortest text that all terms have; None if there is none or it was not found."""
        store = self._store
        try:
            start = store.intern(intersect(terms))
            if store.is_empty(start):
                return None
            seen = {start}
            todo = deque([(start, b"")])
            while todo:
                state, text = todo.popleft()
                if store.nullable(state):
                    return text.decode("utf-8", "replace")
                live = set(store.next_bytes(state))
                order = [b for b in _ORDER if b in live]
                order += sorted(live.difference(_ORDER))
                for byte in order:
                    after = store.advance(state, bytes((byte,)))
                    if after != DEAD and after not in seen:
                        seen.add(after)
                        todo.append((after, text + bytes((byte,))))
                if len(seen) > _MAX_STATES:
                    return None
        except LimitExceededError:
            self._store = TermStore(self._limits)
        return None

    def proves_empty(self, terms: Iterable[Term]) -> bool:
        """Whether no text is in all terms; False too where a budget ends the search."""
        try:
            return self._store.is_empty(self._store.intern(intersect(terms)))
        except LimitExceededError:
            self._store = TermStore(self._limits)
            return False
