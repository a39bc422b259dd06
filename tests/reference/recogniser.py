"""A backtracking recogniser of terms: no derivatives, no states, only where a match may end.

`ends(term, text, i)` is the set of positions j such that text[i:j] is in the term. It shares no
idea with the engine, so that the two cannot be wrong in the same way.
"""

from __future__ import annotations

from constrain.algebra import terms as t


class Recogniser:
    """Where matches may end in one text."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._memo: dict[tuple[t.Term, int], frozenset[int]] = {}

    def accepts(self, term: t.Term) -> bool:
        """Whether the whole text is in the term."""
        return len(self.text) in self.ends(term, 0)

    def ends(self, term: t.Term, i: int) -> frozenset[int]:
        """Positions where a match that begins at i may end."""
        key = (term, i)
        if key not in self._memo:
            self._memo[key] = frozenset(self._ends(term, i))
        return self._memo[key]

    def _ends(self, term: t.Term, i: int) -> set[int]:
        match term:
            case t.Empty():
                return set()
            case t.Epsilon():
                return {i}
            case t.ByteClass():
                inside = i < len(self.text) and term.mask >> self.text[i] & 1
                return {i + 1} if inside else set()
            case t.Literal():
                return {i + len(term.text)} if self.text.startswith(term.text, i) else set()
            case t.Cat():
                return {k for j in self.ends(term.head, i) for k in self.ends(term.tail, j)}
            case t.Alt():
                return {j for m in term.members for j in self.ends(m, i)}
            case t.Repeat():
                return self._repeat(term, i)
            case t.And():
                return set(frozenset.intersection(*[self.ends(m, i) for m in term.members]))
            case t.Not():
                return set(range(i, len(self.text) + 1)) - self.ends(term.body, i)
            case t.Rule():
                return set(self.ends(term.body, i))
        raise AssertionError(term)

    def _repeat(self, term: t.Repeat, i: int) -> set[int]:
        # The body consumes at least a byte, so more rounds than bytes are left change nothing.
        rounds = len(self.text) - i if term.hi is None else min(term.hi, len(self.text) - i)
        now, found = {i}, {i} if term.lo == 0 else set()
        for count in range(1, max(rounds, 0) + 1):
            now = {k for j in now for k in self.ends(term.body, j)}
            if count >= term.lo:
                found |= now
        return found


def accepts(term: t.Term, text: bytes) -> bool:
    """Whether `text` is in `term`."""
    return Recogniser(text).accepts(term)
