"""The two kinds of parsers with their lexers, as the pushdown systems that `saturation` solves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Final

from constrain.frontends.lark.automaton import ROOT
from constrain.frontends.lark.general import General
from constrain.frontends.lark.lalr import Lalr
from constrain.frontends.lark.saturation import Pop
from constrain.frontends.lark.scanner import START, End, Scanner, Spot
from constrain.frontends.lark.table import END
from constrain.frontends.lark.threads import Machine

__all__ = ["GeneralPushdown", "LalrPushdown", "Lexers", "after_ignored"]

Lexers = Callable[[int], Iterable[tuple[Scanner, frozenset[str]]]]
"""The lexers at a state, each with the terminals whose lexemes the parser does not see."""

_ENDED: Final = (END, START)


def after_ignored(
    lexers: Iterable[tuple[Scanner, frozenset[str]]], spot: Spot
) -> tuple[list[Spot], list[End]]:
    """The spots that ignored lexemes lead to, this one too, and the other lexemes at them."""
    spots = {spot: None}
    found: dict[End, None] = {}
    todo = [spot]
    lexers = list(lexers)
    while todo:
        here = todo.pop()
        for scanner, ignored in lexers:
            for end in scanner.ends(here):
                if end.scanned not in ignored:
                    found[end] = None
                elif end.spot not in spots:
                    spots[end.spot] = None
                    todo.append(end.spot)
    return list(spots), list(found)


class LalrPushdown:
    """lark's table behind a lexer: a commitment is a terminal, and the spot after its lexeme."""

    def __init__(self, parser: Lalr, lexers: Lexers, machine: Machine) -> None:
        self._parser = parser
        self._lexers = lexers
        self._machine = machine
        self.first = parser.first

    def commitments(self, state: int, spot: Spot) -> Iterable[Hashable]:
        """See `Pushdown`."""
        spots, ends = after_ignored(self._lexers(state), spot)
        found: dict[Hashable, None] = {}
        for end in ends:
            if self._parser.action(state, end.name) is not None:
                found[end.name, end.spot] = None
        if any([self._machine.holds_at_end(s.pending) for s in spots]):
            found[_ENDED] = None
        return found

    def reductions(self, state: int, commitment: Hashable) -> Iterable[Pop]:
        """See `Pushdown`."""
        assert isinstance(commitment, tuple)
        action = self._parser.action(state, commitment[0])
        return [action] if isinstance(action, tuple) else []

    def shifts(self, state: int, commitment: Hashable) -> Iterable[tuple[int, Spot]]:
        """See `Pushdown`."""
        assert isinstance(commitment, tuple)
        name, spot = commitment
        action = self._parser.action(state, name)
        return [(action, spot)] if isinstance(action, int) and name != END else []

    def goto(self, state: int, origin: str) -> int | None:
        """See `Pushdown`."""
        return self._parser.goto(state, origin)

    def accepts(self, state: int, commitment: Hashable) -> bool:
        """See `Pushdown`."""
        return commitment == _ENDED and state == self._parser.last


class GeneralPushdown:
    """All stacks of an LR(0) automaton: a commitment is a spot, nothing is looked ahead to."""

    def __init__(self, parser: General, lexers: Lexers, machine: Machine) -> None:
        self._parser = parser
        self._lexers = lexers
        self._machine = machine
        self._ignored: dict[tuple[int, Spot], tuple[list[Spot], list[End]]] = {}
        self.first = 0

    def commitments(self, state: int, spot: Spot) -> Iterable[Hashable]:
        """See `Pushdown`."""
        return after_ignored(self._lexers(state), spot)[0]

    def reductions(self, state: int, commitment: Hashable) -> Iterable[Pop]:
        """See `Pushdown`."""
        complete = self._parser.automaton.complete(state)
        return [(p.origin, len(p.expansion)) for p in complete if p.origin != ROOT]

    def shifts(self, state: int, commitment: Hashable) -> Iterable[tuple[int, Spot]]:
        """See `Pushdown`."""
        assert isinstance(commitment, Spot)
        found = []
        for scanner, ignored in self._lexers(state):
            for end in scanner.ends(commitment):
                if end.scanned not in ignored:
                    after = self._parser.automaton.goto(state, end.name)
                    if after is not None:
                        found.append((after, end.spot))
        return found

    def goto(self, state: int, origin: str) -> int | None:
        """See `Pushdown`."""
        return self._parser.automaton.goto(state, origin)

    def accepts(self, state: int, commitment: Hashable) -> bool:
        """See `Pushdown`."""
        assert isinstance(commitment, Spot)
        if not self._machine.holds_at_end(commitment.pending):
            return False
        complete = self._parser.automaton.complete(state)
        return any([p.origin == ROOT for p in complete]) or (
            state == self.first and self._parser.nullable
        )
