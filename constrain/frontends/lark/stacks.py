"""Parsers over lexemes, as stacks of states: where a text stands is a set of stacks.

`Lalr` is lark's own table, run as lark runs it: one stack, conflicts resolved as lark resolves
them. `General` takes any grammar: all stacks of its LR(0) automaton that agree with the lexemes so
far. Stacks are linked lists and interned, so the same stack is the same object.

Cost: `Lalr` as the parser itself; `General` in proportion to the stacks, which are few unless the
grammar is ambiguous.
Source: DeRemer (1969) for LALR; Tomita, "Efficient parsing for natural language" (1985), for many
stacks at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol
from weakref import WeakValueDictionary

from constrain.frontends.lark.automaton import ROOT, Automaton, Production
from constrain.limits import Limits

__all__ = ["END", "General", "Lalr", "Parser", "Stack"]

END: Final = "$END"
"""The terminal at the end of a text, as lark names it."""

_ENDLESS: Final = 10_000
"""Reductions in a row that take nothing off the stack, after which lark goes round in circles: a
table has fewer states and rules that are empty or have one part."""

_STACK_COST: Final = 40
"""What a stack costs in `Limits.max_source_nodes`: each is looked at again at every lexeme."""


class Stack:
    """States of a parser, the last on top.

    Attributes:
        below: The stack without its top, or None.
        state: The top.
        viable: State of the automaton of what can be completed, for `Lalr`; else 0.
    """

    __slots__ = ("__weakref__", "below", "outlook", "state", "viable")

    def __init__(self, below: Stack | None, state: int, viable: int) -> None:
        self.below = below
        self.state = state
        self.viable = viable
        self.outlook: object | None = None


class _Pool:
    """All stacks that something still refers to."""

    def __init__(self) -> None:
        self._stacks: WeakValueDictionary[tuple[Stack | None, int], Stack] = WeakValueDictionary()
        self._lock = threading.Lock()

    def push(self, below: Stack | None, state: int, viable: int = 0) -> Stack:
        """The stack with one more state; what it leads to depends on the stack alone."""
        key = (below, state)
        with self._lock:
            found = self._stacks.get(key)
            if found is None:
                found = self._stacks[key] = Stack(below, state, viable)
        return found


class Parser(Protocol):
    """What `boundaries` asks of a parser."""

    def start(self) -> frozenset[Stack]:
        """The stacks before any lexeme."""
        ...

    def feed(self, stacks: frozenset[Stack], terminal: str) -> frozenset[Stack]:
        """The stacks after a lexeme from which a text can still be completed; maybe none."""
        ...

    def accepts(self, stacks: frozenset[Stack]) -> bool:
        """Whether the text may end here."""
        ...


class Lalr:
    """lark's LALR(1) parser.

    Args:
        table: Its parse table.
        start: The start symbol.
        viable: The automaton of the productions that can be completed, or None if all can.

    Attributes:
        first: The state at the bottom of every stack.
        last: The state on which a text is accepted.
    """

    def __init__(self, table: Any, start: str, viable: Automaton | None) -> None:  # noqa: ANN401
        from lark.parsers.lalr_analysis import Shift

        self._shift = Shift
        self._states: Mapping[int, Mapping[str, tuple[Any, Any]]] = table.states
        self.first: int = table.start_states[start]
        self.last: int = table.end_states[start]
        self._viable = viable
        self._pool = _Pool()

    def start(self) -> frozenset[Stack]:
        """The stack before any lexeme."""
        return frozenset((self._pool.push(None, self.first),))

    def feed(self, stacks: frozenset[Stack], terminal: str) -> frozenset[Stack]:
        """The stack after a lexeme, if there is one."""
        (stack,) = stacks
        after = self._run(stack, terminal)
        return frozenset() if after is None else frozenset((after,))

    def accepts(self, stacks: frozenset[Stack]) -> bool:
        """Whether the text may end here."""
        (stack,) = stacks
        return self._run(stack, END) is not None

    def action(self, state: int, symbol: str) -> int | tuple[str, int] | None:
        """A state to push, or a rule to reduce with the number of its parts, or None."""
        action = self._states[state].get(symbol)
        if action is None:
            return None
        kind, argument = action
        if kind is self._shift:
            assert isinstance(argument, int)
            return argument
        return argument.origin.name, len(argument.expansion)

    def pushes(self, state: int) -> dict[str, int]:
        """The states that symbols push."""
        return {s: a for s, (kind, a) in self._states[state].items() if kind is self._shift}

    def row(self, state: int) -> Iterable[str]:
        """The symbols for which a state has an action."""
        return self._states[state]

    @property
    def states(self) -> Iterable[int]:
        """All states of the table."""
        return self._states

    def _run(self, stack: Stack, terminal: str) -> Stack | None:
        """The stack after a terminal; None too where lark reduces forever."""
        states = self._states
        height = lowest = idle = 0
        while idle < _ENDLESS:
            action = states[stack.state].get(terminal)
            if action is None:
                return None
            kind, argument = action
            if kind is self._shift:
                return self._push(stack, argument, terminal)
            for _ in argument.expansion:
                assert stack.below is not None
                stack = stack.below
            origin = argument.origin.name
            pushed = self._push(stack, states[stack.state][origin][1], origin)
            if pushed is None or (terminal == END and pushed.state == self.last):
                return pushed
            stack = pushed
            height += 1 - len(argument.expansion)
            idle = 0 if height < lowest else idle + 1
            lowest = min(lowest, height)
        return None

    def _push(self, stack: Stack, state: int, symbol: str) -> Stack | None:
        if self._viable is None:
            return self._pool.push(stack, state)
        viable = self._viable.goto(stack.viable, symbol)
        return None if viable is None else self._pool.push(stack, state, viable)


class General:
    """Every context-free grammar, ambiguous ones too.

    Args:
        productions: Reduced, without empty ones and without cycles.
        nullable: The empty sequence of lexemes is a sentence.
        limits: `max_source_nodes` bounds the stacks that a text may have at once.

    Attributes:
        automaton: Its states.
        nullable: The empty sequence of lexemes is a sentence.
    """

    def __init__(self, productions: Sequence[Production], nullable: bool, limits: Limits) -> None:
        self.automaton = Automaton(productions, limits)
        self.nullable = nullable
        self._limits = limits
        self._pool = _Pool()
        self._first = self._pool.push(None, 0)

    def start(self) -> frozenset[Stack]:
        """The stack before any lexeme."""
        return frozenset((self._first,))

    def feed(self, stacks: frozenset[Stack], terminal: str) -> frozenset[Stack]:
        """Every stack after a lexeme."""
        found = []
        for stack in self._reduced(stacks):
            after = self.automaton.goto(stack.state, terminal)
            if after is not None:
                found.append(self._pool.push(stack, after))
        return frozenset(found)

    def accepts(self, stacks: frozenset[Stack]) -> bool:
        """Whether the text may end here."""
        if self._first in stacks:
            return self.nullable
        return any(
            [
                production.origin == ROOT
                for stack in self._reduced(stacks)
                for production in self.automaton.complete(stack.state)
            ]
        )

    def terminals(self, stacks: frozenset[Stack]) -> Iterable[str]:
        """What some stack can shift."""
        found: dict[str, None] = {}
        for stack in self._reduced(stacks):
            found.update(dict.fromkeys(self.automaton.symbols(stack.state)))
        return found

    def _reduced(self, stacks: frozenset[Stack]) -> Iterable[Stack]:
        """The stacks, and all that come of reducing them."""
        found = dict.fromkeys(stacks)
        todo = list(stacks)
        while todo:
            stack = todo.pop()
            for origin, expansion in self.automaton.complete(stack.state):
                if origin == ROOT:
                    continue
                below = stack
                for _ in expansion:
                    assert below.below is not None
                    below = below.below
                after = self.automaton.goto(below.state, origin)
                assert after is not None, "a stack of the automaton"
                pushed = self._pool.push(below, after)
                if pushed not in found:
                    found[pushed] = None
                    todo.append(pushed)
            self._limits.check("max_source_nodes", _STACK_COST * len(found), "an ambiguous text")
        return found
