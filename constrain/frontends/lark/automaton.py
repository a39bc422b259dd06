"""The LR(0) automaton of a grammar, made state by state as it is asked for.

In a grammar whose symbols can all be reached and all have a sentence, a stack of states that the
automaton can lead to is a stack that some text completes: that is how dead ends are told.

Cost: O(items) for each state and symbol that is asked for.
Source: Knuth, "On the translation of languages from left to right" (1965).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

from constrain.limits import Limits

__all__ = ["ROOT", "Automaton", "Production", "deriving", "reduced"]

S = TypeVar("S", bound=Hashable)

ROOT: Final = "$root"


class Production(NamedTuple):
    """`origin` becomes `expansion`; names of rules and terminals."""

    origin: str
    expansion: tuple[str, ...]


_Item = tuple[int, int]  # number of a production, and how much of it is behind


class Automaton:
    """States are ints, 0 the first.

    Args:
        productions: All of them; `$root` has one, whose expansion is the start symbol.
        limits: `max_source_nodes` bounds the items.
    """

    def __init__(self, productions: Sequence[Production], limits: Limits) -> None:
        self.productions = productions
        self._limits = limits
        self._by_origin: dict[str, list[int]] = {}
        for n, production in enumerate(productions):
            self._by_origin.setdefault(production.origin, []).append(n)
        self._states: dict[frozenset[_Item], int] = {}
        self._advanced: list[dict[str, list[_Item]]] = []
        self._goto: list[dict[str, int]] = []
        self._complete: list[list[Production]] = []
        self._num_items = 0
        self._state(frozenset([(n, 0) for n in self._by_origin.get(ROOT, ())]))

    def goto(self, state: int, symbol: str) -> int | None:
        """The state after a symbol, or None."""
        after = self._goto[state].get(symbol)
        if after is None:
            items = self._advanced[state].get(symbol)
            if items is None:
                return None
            after = self._goto[state][symbol] = self._state(frozenset(items))
        return after

    def entry(self, origin: str) -> int:
        """The state before any symbol of another rule than `$root`."""
        return self._state(frozenset([(n, 0) for n in self._by_origin[origin]]))

    def symbols(self, state: int) -> Iterable[str]:
        """The symbols that may come next."""
        return self._advanced[state]

    def complete(self, state: int) -> Sequence[Production]:
        """The productions that end here."""
        return self._complete[state]

    def _state(self, kernel: frozenset[_Item]) -> int:
        known = self._states.get(kernel)
        if known is not None:
            return known
        items = dict.fromkeys(kernel)
        opened: set[str] = set()
        todo = list(kernel)
        advanced: dict[str, list[_Item]] = {}
        complete: list[Production] = []
        while todo:
            n, dot = todo.pop()
            production = self.productions[n]
            if dot == len(production.expansion):
                complete.append(production)
                continue
            symbol = production.expansion[dot]
            advanced.setdefault(symbol, []).append((n, dot + 1))
            if symbol not in opened:
                opened.add(symbol)
                for m in self._by_origin.get(symbol, ()):
                    if (m, 0) not in items:
                        items[m, 0] = None
                        todo.append((m, 0))
        self._num_items += len(items)
        self._limits.check("max_source_nodes", self._num_items, "the parser of a grammar")
        self._states[kernel] = state = len(self._advanced)
        self._advanced.append(advanced)
        self._goto.append({})
        self._complete.append(complete)
        return state


def deriving(productions: Iterable[tuple[S, Sequence[S]]], terminals: Iterable[S] = ()) -> set[S]:
    """The rules that have a text of some terminals; of none, which is the empty text.

    Args:
        productions: Origin and expansion of each.
        terminals: Those that may be in the text.

    Cost: O(size of the productions).
    Source: Dowling and Gallier (1984).
    """
    given = set(terminals)
    users: dict[S, list[int]] = {}
    origins = []
    missing = []
    todo = []
    for n, (origin, expansion) in enumerate(productions):
        needs = set(expansion) - given
        origins.append(origin)
        missing.append(len(needs))
        for symbol in needs:
            users.setdefault(symbol, []).append(n)
        if not needs:
            todo.append(origin)
    found: set[S] = set()
    while todo:
        origin = todo.pop()
        if origin in found:
            continue
        found.add(origin)
        for n in users.get(origin, ()):
            missing[n] -= 1
            if not missing[n]:
                todo.append(origins[n])
    return found


def reduced(
    productions: Iterable[Production], terminals: Iterable[str]
) -> tuple[list[Production], set[str]]:
    """The productions that are part of some sentence, and the rules that have a sentence.

    Args:
        productions: With that of `$root`.
        terminals: Those that a text can have.
    """
    all_productions = list(dict.fromkeys(productions))
    ends = set(terminals)
    productive = deriving(all_productions, ends)
    kept: dict[str, list[Production]] = {}
    for production in all_productions:
        if all([s in ends or s in productive for s in production.expansion]):
            kept.setdefault(production.origin, []).append(production)
    reachable = {ROOT}
    order = [ROOT]
    for symbol in order:
        for production in kept.get(symbol, ()):
            for part in production.expansion:
                if part not in reachable:
                    reachable.add(part)
                    order.append(part)
    return [p for s in order for p in kept.get(s, ())], productive
