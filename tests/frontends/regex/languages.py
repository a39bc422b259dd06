"""A term as a set of texts: what the tests of patterns ask of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from constrain.algebra.store import DEAD, StateId, TermStore
from constrain.algebra.terms import Term


class Language:
    """A term, interned, and the states that texts lead to (remembered, so prefixes are shared)."""

    def __init__(self, term: Term) -> None:
        self.store = TermStore()
        self.root = self.store.intern(term)
        if self.store.is_empty(self.root):
            self.root = DEAD
        self._after: dict[bytes, StateId] = {b"": self.root}

    def after(self, text: bytes) -> StateId:
        """The state after `text`."""
        state = self._after.get(text)
        if state is None:
            before = self.after(text[:-1])
            state = DEAD if before == DEAD else self.store.advance(before, text[-1:])
            self._after[text] = state
        return state

    def __contains__(self, text: str) -> bool:
        state = self.after(text.encode())
        return state != DEAD and self.store.nullable(state)

    def dead_ends(self, most: int = 200) -> Iterator[bytes]:
        """Texts asked for so far after which the state is alive, and yet nothing can complete it.

        Looks at `most` states after each; what is larger passes.
        """
        for text, start in list(self._after.items()):
            if start == DEAD:
                continue
            seen, todo = {start}, [start]
            while todo and len(seen) < most:
                state = todo.pop()
                if self.store.nullable(state):
                    break
                new = {self.store.advance(state, bytes([b])) for b in self.store.next_bytes(state)}
                new -= seen | {DEAD}
                seen |= new
                todo += sorted(new)
            else:
                if len(seen) < most:
                    yield text


def texts(alphabet: str, longest: int) -> list[str]:
    """All texts over an alphabet up to a length, short ones first."""
    return [
        "".join(letters)
        for length in range(longest + 1)
        for letters in itertools.product(alphabet, repeat=length)
    ]
