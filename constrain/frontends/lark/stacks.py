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
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, Protocol
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
    """States of a parser, the last on top. The same states are the same object.

    Attributes:
        below: The stack without its top, or None.
        state: The top.
        viable: State of the automaton of what can be completed, for `Lalr`; else 0.
        outlook: What `saturation` knows of it.
    """

    __slots__ = ("__weakref__", "_above", "below", "outlook", "state", "viable")

    def __init__(self, below: Stack | None, state: int, viable: int = 0) -> None:
        self.below = below
        self.state = state
        self.viable = viable
        self.outlook: object | None = None
        self._above: WeakValueDictionary[int, Stack] | None = None

    def push(self, state: int, viable: int = 0) -> Stack:
        """The stack with one more state; what it leads to depends on the stack alone."""
        above = self._above
        if above is None:
            with _LOCK:
                above = self._above = self._above or WeakValueDictionary()
        found = above.get(state)
        if found is None:
            with _LOCK:
                found = above.get(state)
                if found is None:
                    found = above[state] = Stack(self, state, viable)
        return found


_LOCK: Final = threading.Lock()


class Parser(Protocol):
    """What `boundaries` asks of a parser."""

    def start(self) -> frozenset[Stack]:
        """The stacks before any lexeme."""
        ...

    def feed_all(
        self, stacks: frozenset[Stack], terminals: Iterable[str]
    ) -> dict[str, frozenset[Stack]]:
        """For each lexeme that can come, the stacks after it."""
        ...

    def feed(self, stacks: frozenset[Stack], terminal: str) -> frozenset[Stack]:
        """The stacks after one lexeme, maybe none."""
        ...

    def outcomes(self, stacks: frozenset[Stack], terminals: Iterable[str]) -> dict[str, bool]:
        """For each lexeme that can come, whether the text may end after it."""
        ...

    def accepts(self, stacks: frozenset[Stack]) -> bool:
        """Whether the text may end here."""
        ...


_Action = int | tuple[str, int]
"""A state to push, or a rule to reduce with the number of its parts."""


class Lalr:
    """lark's LALR(1) parser.

    Args:
        table: Its parse table.
        start: The start symbol.
        viable: The automaton of the productions that can be completed, or None if all can.

    Attributes:
        first: The state at the bottom of every stack.
        last: The state on which a text is accepted.
        folded: States that are not pushed on themselves, since that would change nothing.
    """

    folded: frozenset[int] = frozenset()

    def __init__(self, table: Any, start: str, viable: Automaton | None) -> None:  # noqa: ANN401
        from lark.parsers.lalr_analysis import Shift

        # Plain strings, tuples and ints: lark's own are slow to compare.
        reductions: dict[Any, tuple[str, int]] = {}
        self._states: dict[int, dict[str, _Action]] = {}
        for state, actions in table.states.items():
            row = self._states[state] = {}
            for symbol, (kind, argument) in actions.items():
                action: _Action = argument
                if kind is not Shift:
                    found = reductions.get(id(argument))
                    if found is None:
                        found = (str(argument.origin.name), len(argument.expansion))
                        reductions[id(argument)] = found
                    action = found
                row[str(symbol)] = action
        self.first: int = table.start_states[start]
        self.last: int = table.end_states[start]
        self._viable = viable
        self._bottom = Stack(None, self.first)

    def start(self) -> frozenset[Stack]:
        """The stack before any lexeme."""
        return frozenset((self._bottom,))

    def feed_all(
        self, stacks: frozenset[Stack], terminals: Iterable[str]
    ) -> dict[str, frozenset[Stack]]:
        """For each lexeme that can come, the stack after it."""
        (stack,) = stacks
        found = {}
        for terminal, (top, pushed) in self._run(stack, terminals).items():
            for state, viable in pushed:
                top = top.push(state, viable)
            found[terminal] = frozenset((top,))
        return found

    def outcomes(self, stacks: frozenset[Stack], terminals: Iterable[str]) -> dict[str, bool]:
        """For each lexeme that can come, whether the text may end after it."""
        return {
            terminal: END in self._states[state] and self.accepts(self.feed(stacks, terminal))
            for terminal, state in self.tops(stacks, terminals).items()
        }

    def tops(self, stacks: frozenset[Stack], terminals: Iterable[str]) -> dict[str, int]:
        """For each lexeme that can come, the state that it pushes."""
        (stack,) = stacks
        return {
            t: pushed[-1][0] if pushed else top.state
            for t, (top, pushed) in self._run(stack, terminals).items()
        }

    def takes(self, stacks: frozenset[Stack], terminals: Iterable[str]) -> bool:
        """Whether one of some lexemes can come."""
        (stack,) = stacks
        return bool(self._run(stack, terminals))

    def feed(self, stacks: frozenset[Stack], terminal: str) -> frozenset[Stack]:
        """The stacks after one lexeme, maybe none."""
        return self.feed_all(stacks, (terminal,)).get(terminal, frozenset())

    def accepts(self, stacks: frozenset[Stack]) -> bool:
        """Whether the text may end here."""
        return self.takes(stacks, (END,))

    def action(self, state: int, symbol: str) -> _Action | None:
        """What the table says."""
        return self._states[state].get(symbol)

    def pushes(self, state: int) -> dict[str, int]:
        """The states that symbols push."""
        return {s: a for s, a in self._states[state].items() if isinstance(a, int)}

    def row(self, state: int) -> Iterable[str]:
        """The symbols for which a state has an action."""
        return self._states[state]

    @property
    def states(self) -> Iterable[int]:
        """All states of the table."""
        return self._states

    def _run(
        self, stack: Stack, terminals: Iterable[str]
    ) -> dict[str, tuple[Stack, tuple[tuple[int, int], ...]]]:
        """Reduce before terminals, and shift them but for the end.

        Terminals before which the same is reduced go together. One before which lark would reduce
        forever cannot come.

        Returns:
            For those that can come, what is left of the stack, and the states to push on it, each
            with its viable state.
        """
        found = {}
        todo = [_Reducing(stack, (), list(terminals), 0, 0, 0)]
        while todo:
            here = todo.pop()
            state, item = here.top
            row = self._states[state]
            reductions: dict[tuple[str, int], list[str]] = {}
            for terminal in here.terminals:
                action = row.get(terminal)
                if isinstance(action, tuple):
                    reductions.setdefault(action, []).append(terminal)
                elif action is not None:
                    viable = self._reached(item, terminal)
                    if viable is not None:
                        found[terminal] = here.stack, self._pushed(here, (action, viable))
            for action, ready in reductions.items():
                after = here.popped(action[1], ready)
                state, item = after.top
                target = self._states[state][action[0]]
                assert isinstance(target, int)
                viable = self._reached(item, action[0])
                if viable is None or after.idle > _ENDLESS:
                    continue
                after = after._replace(pushed=self._pushed(after, (target, viable)))
                if target == self.last and END in ready:
                    found[END] = after.stack, after.pushed
                else:
                    todo.append(after)
        return found

    def _pushed(self, here: _Reducing, top: tuple[int, int]) -> tuple[tuple[int, int], ...]:
        """The states pushed, with one more."""
        if top[0] in self.folded and top == here.top:
            return here.pushed
        return (*here.pushed, top)

    def _reached(self, item: int, symbol: str) -> int | None:
        return 0 if self._viable is None else self._viable.goto(item, symbol)


class _Reducing(NamedTuple):
    """A stack in the middle of reductions.

    Attributes:
        stack: What is left of it.
        pushed: States on top of that, each with its viable state.
        terminals: Those that may come next.
        height: Of the whole, from where it began.
        lowest: The least height that it had.
        idle: How many reductions ago that was.
    """

    stack: Stack
    pushed: tuple[tuple[int, int], ...]
    terminals: list[str]
    height: int
    lowest: int
    idle: int

    @property
    def top(self) -> tuple[int, int]:
        """The state on top, and its viable state."""
        return self.pushed[-1] if self.pushed else (self.stack.state, self.stack.viable)

    def popped(self, parts: int, terminals: list[str]) -> _Reducing:
        """Without the parts of a rule that is reduced before some terminals."""
        stack = self.stack
        for _ in range(parts - len(self.pushed)):
            assert stack.below is not None
            stack = stack.below
        pushed = self.pushed[: len(self.pushed) - parts] if parts < len(self.pushed) else ()
        height = self.height + 1 - parts
        idle = 0 if height < self.lowest else self.idle + 1
        return _Reducing(stack, pushed, terminals, height, min(self.lowest, height), idle)


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
        self._first = Stack(None, 0)

    def start(self) -> frozenset[Stack]:
        """The stack before any lexeme."""
        return frozenset((self._first,))

    def feed_all(
        self, stacks: frozenset[Stack], terminals: Iterable[str]
    ) -> dict[str, frozenset[Stack]]:
        """For each lexeme that can come, every stack after it."""
        reduced = list(self._reduced(stacks))
        found = {}
        for terminal in terminals:
            pushed = []
            for stack in reduced:
                after = self.automaton.goto(stack.state, terminal)
                if after is not None:
                    pushed.append(stack.push(after))
            if pushed:
                found[terminal] = frozenset(pushed)
        return found

    def feed(self, stacks: frozenset[Stack], terminal: str) -> frozenset[Stack]:
        """The stacks after one lexeme, maybe none."""
        return self.feed_all(stacks, (terminal,)).get(terminal, frozenset())

    def outcomes(self, stacks: frozenset[Stack], terminals: Iterable[str]) -> dict[str, bool]:
        """For each lexeme that can come, whether the text may end after it."""
        return {t: self.accepts(after) for t, after in self.feed_all(stacks, terminals).items()}

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
                pushed = below.push(after)
                if pushed not in found:
                    found[pushed] = None
                    todo.append(pushed)
            self._limits.check("max_source_nodes", _STACK_COST * len(found), "an ambiguous text")
        return found
