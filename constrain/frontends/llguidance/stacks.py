"""Where a text stands between lexemes: the stacks of a parser for any context-free grammar.

All stacks of the LR(0) automaton that agree with the lexemes so far. A symbol is `class|name`, the
class being the number of the grammar text that it is part of (a grammar may hold others); a stack
is *inside* a class if its top was entered by a symbol of that class, which is where lexemes of the
class may have something ignored before them.

Cost: in proportion to the stacks, which are few unless the grammar is ambiguous.
Source: Tomita, "Efficient parsing for natural language" (1985).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from weakref import WeakValueDictionary

from constrain.frontends.lark.automaton import ROOT, Automaton, Production
from constrain.limits import Limits

__all__ = ["Parser", "Place", "Stack", "class_of"]

_STACK_COST: Final = 40
"""What a stack costs in `Limits.max_source_nodes`: each is looked at again at every lexeme."""


def class_of(symbol: str) -> str:
    """The class of a symbol."""
    return symbol.partition("|")[0]


class Stack:
    """States of the parser, the last on top; interned."""

    __slots__ = ("__weakref__", "below", "state")

    def __init__(self, below: Stack | None, state: int) -> None:
        self.below = below
        self.state = state


@dataclass(frozen=True, slots=True)
class Place:
    """What may come at some stacks.

    Attributes:
        moves: The stacks after each terminal that may come.
        inside: Classes that some stack is inside of and that have a terminal there.
        begins: Classes that have a terminal there and that no stack is inside of.
        accepts: The text may end.
    """

    moves: dict[str, frozenset[Stack]]
    inside: frozenset[str]
    begins: frozenset[str]
    accepts: bool


class Parser:
    """Of one grammar.

    Args:
        productions: Reduced, without empty ones and without cycles.
        nullable: The empty sequence of lexemes is a sentence.
        terminals: The symbols that are terminals.
        limits: `max_source_nodes` bounds the automaton and the stacks of a text.
    """

    def __init__(
        self,
        productions: Sequence[Production],
        nullable: bool,
        terminals: frozenset[str],
        limits: Limits,
    ) -> None:
        self._automaton = Automaton(productions, limits)
        self._nullable = nullable
        self._terminals = terminals
        self._limits = limits
        self._entered: dict[int, str] = {0: ""}
        self._stacks: WeakValueDictionary[tuple[Stack | None, int], Stack] = WeakValueDictionary()
        self._lock = threading.Lock()
        self._first = self._push(None, 0)

    def start(self) -> frozenset[Stack]:
        """The stacks before any lexeme."""
        return frozenset((self._first,))

    def place(self, stacks: frozenset[Stack]) -> Place:
        """What may come at some stacks."""
        moves: dict[str, list[Stack]] = {}
        inside: set[str] = set()
        classes: set[str] = set()
        accepts = self._nullable and self._first in stacks
        for stack in self._reduced(stacks):
            here = class_of(self._entered[stack.state])
            accepts |= any([p.origin == ROOT for p in self._automaton.complete(stack.state)])
            for symbol in list(self._automaton.symbols(stack.state)):
                if symbol in self._terminals:
                    moves.setdefault(symbol, []).append(self._goto(stack, symbol))
                    classes.add(class_of(symbol))
                    if class_of(symbol) == here:
                        inside.add(here)
        after = {symbol: frozenset(found) for symbol, found in moves.items()}
        return Place(after, frozenset(inside), frozenset(classes - inside), accepts)

    def _push(self, below: Stack | None, state: int) -> Stack:
        key = (below, state)
        with self._lock:
            found = self._stacks.get(key)
            if found is None:
                found = self._stacks[key] = Stack(below, state)
        return found

    def _goto(self, stack: Stack, symbol: str) -> Stack:
        after = self._automaton.goto(stack.state, symbol)
        assert after is not None, "a symbol of the state"
        self._entered[after] = symbol
        return self._push(stack, after)

    def _reduced(self, stacks: frozenset[Stack]) -> list[Stack]:
        """The stacks, and all that come of reducing them."""
        found = dict.fromkeys(stacks)
        todo = list(stacks)
        while todo:
            stack = todo.pop()
            for origin, expansion in self._automaton.complete(stack.state):
                if origin == ROOT:
                    continue
                below = stack
                for _ in expansion:
                    assert below.below is not None
                    below = below.below
                pushed = self._goto(below, origin)
                if pushed not in found:
                    found[pushed] = None
                    todo.append(pushed)
            self._limits.check("max_source_nodes", _STACK_COST * len(found), "an ambiguous text")
        return list(found)
