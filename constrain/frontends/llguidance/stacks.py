"""Where a text stands between lexemes: the stacks of a parser for any context-free grammar.

All stacks of the LR(0) automaton that agree with the lexemes so far. A symbol is `class|name`, or
`class|name#number` where the name alone is not one: the class is the number of the grammar text
that it is part of (a grammar may hold others). A stack is *inside* a class if its top was entered
by a symbol of that class; there lexemes of the class may have something ignored before them.

A rule that counts tokens is *called*: to the rule that it stands in it is one symbol, and what is
read of it lies above a state of its own, which has the number of tokens that it may still come to.
Where a token ends, that number is one less, and at none the text stands after the call (`ticked`).

Cost: in proportion to the stacks, which are few unless the grammar is ambiguous.
Source: Tomita, "Efficient parsing for natural language" (1985).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from constrain.frontends.lark.automaton import ROOT, Automaton, Production
from constrain.limits import Limits

__all__ = ["Call", "Parser", "Place", "Stack", "class_of", "entry_of", "name_of"]

_STACK_COST: Final = 40
"""What a stack costs in `Limits.max_source_nodes`: each is looked at again at every lexeme."""


def class_of(symbol: str) -> str:
    """The class of a symbol."""
    return symbol.partition("|")[0]


def name_of(symbol: str) -> str:
    """What a symbol is called in the grammar: without its class, number and parameter."""
    name = symbol.partition("|")[2]
    return name.rpartition("#")[0] or name.partition("::")[0] or name


def entry_of(call: str) -> str:
    """What a symbol that is called is where its own productions are meant."""
    return f"{call}$"


class Call(NamedTuple):
    """A rule that counts tokens, and how many may still end before it is over."""

    symbol: str
    left: int


class Stack:
    """States of the parser, the last on top; interned: the one above for a state is made once.

    Attributes:
        below: Without the last state.
        state: The last.
        call: What begins with that state, or None.
        counted: The stack whose last state begins the call that this is inside of, or None.
        depth: States below the last.
        above: By state.
    """

    __slots__ = ("__weakref__", "_calls", "above", "below", "call", "counted", "depth", "state")

    def __init__(self, below: Stack | None, state: int, call: Call | None = None) -> None:
        self.below = below
        self.state = state
        self.depth: int = below.depth + 1 if below else 0
        self.above: dict[int, Stack] = {}
        self.call = call
        self.counted: Stack | None = self if call else below.counted if below else None
        self._calls: WeakValueDictionary[Call, Stack] | None = None

    def push(self, state: int) -> Stack:
        """The stack with one more state."""
        found = self.above.get(state)
        return self.above.setdefault(state, Stack(self, state)) if found is None else found

    def enter(self, call: Call, state: int) -> Stack:
        """The stack with the first state of a call; kept as long as somebody else does."""
        if self._calls is None:
            self._calls = WeakValueDictionary()
        found = self._calls.get(call)
        if found is None:
            found = self._calls[call] = Stack(self, state, call)
        return found


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

    Attributes:
        counts: Some symbol is called.
        reductions: How often a stack was reduced.

    Args:
        productions: Reduced, without empty ones and without cycles.
        nullable: The empty sequence of lexemes is a sentence.
        terminals: The symbols that are terminals.
        calls: The symbols that are called, each with the number of tokens that it may come to. The
            origin of their productions is `entry_of` them. None begins with itself.
        limits: `max_source_nodes` bounds the automaton and the stacks of a text.
    """

    def __init__(
        self,
        productions: Sequence[Production],
        nullable: bool,
        terminals: frozenset[str],
        calls: Mapping[str, int],
        limits: Limits,
    ) -> None:
        self.reductions = 0
        self._automaton = Automaton(productions, limits)
        self._nullable = nullable
        self._terminals = terminals
        self._calls = calls
        self.counts = bool(calls)
        self._entries = {entry_of(symbol) for symbol in calls}
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
        for stack in self._begun(self._reduced(stacks)):
            here = self._class(stack)
            accepts |= any([p.origin == ROOT for p in self._automaton.complete(stack.state)])
            for symbol, after in self._shifts_of(stack.state):
                shifts.setdefault(symbol, []).append((stack, after))
                kind = class_of(symbol)
                classes.add(kind)
                if kind == here:
                    inside.add(kind)
        return Place(self._push, shifts, inside, classes, accepts)

    # Tokens that are counted

    def ticked(self, stack: Stack) -> tuple[Stack, bool]:
        """The stack after a token has ended, and whether that has ended a call."""
        stack, path = _outside(stack)
        for part in reversed(path):
            if part.call is None:
                stack = stack.push(part.state)
            elif part.call.left > 1:
                stack = stack.enter(Call(part.call.symbol, part.call.left - 1), part.state)
            else:
                return stack.push(self._goto(stack.state, part.call.symbol)), True
        return stack, False

    def renewed(self, stack: Stack) -> Stack:
        """The stack as if no token had ended."""
        stack, path = _outside(stack)
        for part in reversed(path):
            if part.call is None:
                stack = stack.push(part.state)
            else:
                symbol = part.call.symbol
                stack = stack.enter(Call(symbol, self._calls[symbol]), part.state)
        return stack

    def after_call(self, stack: Stack) -> Stack:
        """The stack after the innermost call that a stack is inside of."""
        assert stack.counted is not None
        outer, call = stack.counted.below, stack.counted.call
        assert outer is not None
        assert call is not None
        return outer.push(self._goto(outer.state, call.symbol))

    def settled(self, stacks: frozenset[Stack]) -> frozenset[Stack]:
        """The same between two lexemes: what may be over is told apart from what may go on."""
        if not self.counts:
            return stacks
        found: dict[Stack, None] = {}
        todo = list(stacks)
        while todo:
            stack = todo.pop()
            if stack in found:
                continue
            if stack.counted is None:
                found[stack] = None
                continue
            for inner in self._reduced(frozenset((stack,))):
                if inner.counted is not stack.counted:
                    todo.append(inner)
                elif any(self._goes_on(symbol) for symbol in self._automaton.symbols(inner.state)):
                    found[stack] = None
        return frozenset(found)

    def _goes_on(self, symbol: str) -> bool:
        return symbol in self._terminals or symbol in self._calls

    def _class(self, stack: Stack) -> str:
        """The class of the symbol that a stack was entered by."""
        while stack.call is not None:
            assert stack.below is not None
            stack = stack.below
        return class_of(self._entered[stack.state])

    def _begun(self, stacks: list[Stack]) -> list[Stack]:
        """Some stacks, and those in which calls have begun."""
        found = list(stacks)
        if self._calls:
            for stack in found:
                for symbol in self._automaton.symbols(stack.state):
                    if symbol in self._calls:
                        state = self._automaton.entry(entry_of(symbol))
                        found.append(stack.enter(Call(symbol, self._calls[symbol]), state))
        return found

    # Steps

    def _push(self, stack: Stack, state: int) -> Stack:
        """The stack with one more state, reduced where nothing else can be done with it.

        So what comes after `"a"` and after `"b"` is the same after `"a" | "b"`.
        """
        pushed = stack.push(state)
        while True:
            complete = self._automaton.complete(pushed.state)
            if len(complete) != 1 or complete[0].origin == ROOT:
                return pushed
            if complete[0].origin in self._entries:
                return pushed  # tokens are counted to the end of what was pushed
            if any(True for _ in self._automaton.symbols(pushed.state)):
                return pushed
            pushed = self._reduce(pushed, complete[0])

    def _reduce(self, stack: Stack, production: Production) -> Stack:
        self.reductions += 1
        below = stack
        for _ in production.expansion:
            assert below.below is not None
            below = below.below
        if production.origin not in self._entries:
            return below.push(self._goto(below.state, production.origin))
        return self.after_call(below)

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


def _outside(stack: Stack) -> tuple[Stack, list[Stack]]:
    """A stack without all that is inside of calls, and the stacks from the whole down to it."""
    path: list[Stack] = []
    while stack.counted is not None:
        path.append(stack)
        assert stack.below is not None
        stack = stack.below
    return stack, path
