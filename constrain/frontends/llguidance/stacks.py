"""Where a text stands between lexemes: the stacks of a parser for any context-free grammar.

All stacks of the LR(0) automaton that agree with the lexemes so far. A symbol is `class|name`, or
`class|name#number` where the name alone is not one: the class is the number of the grammar text
that it is part of (a grammar may hold others). A stack is *inside* a class if its top was entered
by a symbol of that class; there lexemes of the class may have something ignored before them.

Cost: in proportion to the stacks, which are few unless the grammar is ambiguous.
Source: Tomita, "Efficient parsing for natural language" (1985).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from constrain.frontends.lark.automaton import ROOT, Automaton, Production
from constrain.limits import Limits

__all__ = ["Parser", "Place", "Stack", "class_of", "name_of"]

_STACK_COST: Final = 40
"""What a stack costs in `Limits.max_source_nodes`: each is looked at again at every lexeme."""


def class_of(symbol: str) -> str:
    """The class of a symbol."""
    return symbol.partition("|")[0]


def name_of(symbol: str) -> str:
    """What a symbol is called in the grammar: without its class, number and parameter."""
    name = symbol.partition("|")[2]
    return name.rpartition("#")[0] or name.partition("::")[0] or name


class Stack:
    """States of the parser, the last on top; interned: the one above for a state is made once."""

    __slots__ = ("above", "below", "state")

    def __init__(self, below: Stack | None, state: int) -> None:
        self.below = below
        self.state = state
        self.above: dict[int, Stack] = {}

    def push(self, state: int) -> Stack:
        """The stack with one more state."""
        found = self.above.get(state)
        return self.above.setdefault(state, Stack(self, state)) if found is None else found


class Place:
    """What may come at some stacks.

    Attributes:
        symbols: The terminals that may come.
        inside: Classes that some stack is inside of and that have a terminal there.
        begins: Classes that have a terminal there and that no stack is inside of.
        accepts: The text may end.
    """

    __slots__ = ("_after", "_push", "_shifts", "accepts", "begins", "inside", "symbols")

    def __init__(
        self,
        push: Callable[[Stack, int], Stack],
        shifts: dict[str, list[tuple[Stack, int]]],
        inside: set[str],
        classes: set[str],
        accepts: bool,
    ) -> None:
        self._push = push
        self._shifts = shifts
        self._after: dict[str, frozenset[Stack]] = {}
        self.symbols = shifts.keys()
        self.inside = frozenset(inside)
        self.begins = frozenset(classes - inside)
        self.accepts = accepts

    def after(self, symbol: str) -> frozenset[Stack]:
        """The stacks after a terminal; none if it may not come."""
        found = self._after.get(symbol)
        if found is None:
            shifts = self._shifts.get(symbol, ())
            found = frozenset([self._push(stack, state) for stack, state in shifts])
            self._after[symbol] = found
        return found


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
        self._shifts: dict[int, list[tuple[str, int]]] = {}
        self._first = Stack(None, 0)

    def start(self) -> frozenset[Stack]:
        """The stacks before any lexeme."""
        return frozenset((self._first,))

    def place(self, stacks: frozenset[Stack]) -> Place:
        """What may come at some stacks."""
        shifts: dict[str, list[tuple[Stack, int]]] = {}
        inside: set[str] = set()
        classes: set[str] = set()
        accepts = self._nullable and self._first in stacks
        for stack in self._reduced(stacks):
            here = class_of(self._entered[stack.state])
            accepts |= any([p.origin == ROOT for p in self._automaton.complete(stack.state)])
            for symbol, after in self._shifts_of(stack.state):
                shifts.setdefault(symbol, []).append((stack, after))
                kind = class_of(symbol)
                classes.add(kind)
                if kind == here:
                    inside.add(kind)
        return Place(self._push, shifts, inside, classes, accepts)

    def _push(self, stack: Stack, state: int) -> Stack:
        """The stack with one more state, reduced where nothing else can be done with it.

        So what comes after `"a"` and after `"b"` is the same after `"a" | "b"`.
        """
        pushed = stack.push(state)
        while True:
            complete = self._automaton.complete(pushed.state)
            if len(complete) != 1 or complete[0].origin == ROOT:
                return pushed
            if any(True for _ in self._automaton.symbols(pushed.state)):
                return pushed
            pushed = self._reduce(pushed, complete[0])

    def _reduce(self, stack: Stack, production: Production) -> Stack:
        below = stack
        for _ in production.expansion:
            assert below.below is not None
            below = below.below
        return below.push(self._goto(below.state, production.origin))

    def _shifts_of(self, state: int) -> list[tuple[str, int]]:
        """The terminals that may come in a state, each with the state after it."""
        found = self._shifts.get(state)
        if found is None:
            symbols = [s for s in self._automaton.symbols(state) if s in self._terminals]
            found = self._shifts[state] = [(s, self._goto(state, s)) for s in symbols]
        return found

    def _goto(self, state: int, symbol: str) -> int:
        after = self._automaton.goto(state, symbol)
        assert after is not None, "a symbol of the state"
        self._entered[after] = symbol
        return after

    def _reduced(self, stacks: frozenset[Stack]) -> list[Stack]:
        """The stacks, and all that come of reducing them."""
        found = dict.fromkeys(stacks)
        todo = list(stacks)
        while todo:
            stack = todo.pop()
            for production in self._automaton.complete(stack.state):
                if production.origin == ROOT:
                    continue
                pushed = self._reduce(stack, production)
                if pushed not in found:
                    found[pushed] = None
                    todo.append(pushed)
            self._limits.check("max_source_nodes", _STACK_COST * len(found), "an ambiguous text")
        return list(found)
