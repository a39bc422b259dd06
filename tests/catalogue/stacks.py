"""How many bytes a stack of a parser is from the nearest end, from the tables of the parser.

A state of a parser stands for items `A: x . y`. To finish, some item of the top state is completed:
`y` is written, as many states as `x` and `y` have are popped, and the state after `A` is pushed; so
on until the whole text is done. What a terminal costs is the width that lark gives its pattern.
Blanks that a lexer needs between terminals are not counted: the distance is a guess, but a close
one.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from constrain.algebra.terms import Rule
from constrain.frontends.lark.automaton import ROOT
from constrain.frontends.lark.boundaries import Boundaries
from constrain.frontends.lark.indent import IndentedLalr, IndentedStack, Newlines
from constrain.frontends.lark.stacks import General, Lalr, Stack

__all__ = ["StackDistances", "stacks_of"]

Expansion = tuple[str, ...]


def stacks_of(rule: Rule) -> tuple[Any, Iterable[Stack]] | None:
    """The parser and stacks that a rule of the front-end for Lark stands for, if it does."""
    thunk = rule.thunk
    owner = getattr(getattr(thunk, "func", None), "__self__", None)
    if isinstance(owner, Newlines):
        found, parser = owner._stacks, owner._parser
    elif isinstance(owner, Boundaries):
        (boundary,) = thunk.args  # type: ignore[attr-defined]
        found, parser = boundary.stacks, owner._parser
    else:
        return None
    if isinstance(parser, IndentedLalr):
        parser = parser._parser
    return parser, [s.stack if isinstance(s, IndentedStack) else s for s in found]


class StackDistances:
    """Distances of the stacks of one parser.

    Args:
        parser: Of the front-end for Lark.
        widths: Least width of each terminal.
    """

    def __init__(self, parser: Lalr | General, widths: dict[str, int]) -> None:
        self._parser = parser
        self._widths = widths
        self._last = parser.last if isinstance(parser, Lalr) else None
        self._rules = _rules_of(parser)
        self._costs = self._cheapest()
        self._items = self._kernels()
        self._known: dict[Stack | None, dict[int, float]] = {}
        """What it costs to finish from a state on top of a stack."""

    def of(self, stack: Stack) -> float:
        """Bytes from a stack to the nearest end."""
        todo = [stack]
        while todo[-1].below is not None:
            todo.append(todo[-1].below)
        for each in reversed(todo):  # from the bottom, so that nothing recurses deep
            known = self._known.setdefault(each.below, {})
            if each.state not in known:
                self._settle(each.below, each.state)
        return self._known[stack.below][stack.state]

    def _settle(self, below: Stack | None, top: int) -> None:
        """The states that may come to stand on one stack, until their costs are stable."""
        known = self._known[below]
        found: dict[int, list[tuple[float, int]]] = {}
        draft: dict[int, float] = {}
        todo = [top]
        while todo:
            state = todo.pop()
            if state in found:
                continue
            found[state] = []
            draft[state] = 0.0 if state == self._last else inf
            for origin, depth, cost in self._items.get(state, ()):
                under = below
                for _ in range(depth - 1):
                    under = under.below if under is not None else None
                if origin == ROOT:
                    draft[state] = min(draft[state], cost)
                    continue
                if under is None:
                    continue
                after = self._goto(under.state, origin)
                if after is None:
                    continue
                if under is below:
                    found[state].append((cost, after))
                    todo.append(after)
                else:
                    whole = self._known.setdefault(under, {})
                    if after not in whole:
                        self._settle(under, after)
                    draft[state] = min(draft[state], cost + whole[after])
        changed = True
        while changed:
            changed = False
            for state, steps in found.items():
                best = min([draft[state], *(cost + draft[after] for cost, after in steps)])
                if best < draft[state]:
                    draft[state] = best
                    changed = True
        known.update(draft)

    def _goto(self, state: int, symbol: str) -> int | None:
        if isinstance(self._parser, General):
            return self._parser.automaton.goto(state, symbol)
        action = self._parser._states[state].get(symbol)
        return action[1] if action is not None and action[0] is self._parser._shift else None

    def _cost(self, symbol: str) -> float:
        return self._costs[symbol] if symbol in self._costs else self._widths.get(symbol, 1)

    def _cheapest(self) -> dict[str, float]:
        costs = {origin: inf for origin, _ in self._rules}
        self._costs = costs
        changed = True
        while changed:
            changed = False
            for origin, expansion in self._rules:
                cost = sum(map(self._cost, expansion))
                if cost < costs[origin]:
                    costs[origin] = cost
                    changed = True
        return costs

    def _kernels(self) -> dict[int, list[tuple[str, int, float]]]:
        """Of each state: rule, how many of its symbols are behind, and the cost of the others."""
        ends: list[tuple[int, str, Expansion]] = []
        before: dict[int, set[int]] = {}
        if isinstance(self._parser, General):
            automaton = self._parser.automaton
            todo, seen = [0], {0}
            while todo:
                state = todo.pop()
                ends += [(state, p.origin, p.expansion) for p in automaton.complete(state)]
                for symbol in automaton.symbols(state):
                    after = automaton.goto(state, symbol)
                    assert after is not None
                    before.setdefault(after, set()).add(state)
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)
        else:
            for state, actions in self._parser._states.items():
                for kind, argument in actions.values():
                    if kind is self._parser._shift:
                        before.setdefault(argument, set()).add(state)
                ends += [(state, o, e) for o, e in _reduced_in(self._parser, state)]
        items: dict[int, set[tuple[str, int, float]]] = {}
        for state, origin, expansion in ends:
            states, cost = {state}, 0.0
            for depth in range(len(expansion), 0, -1):
                for each in states:
                    items.setdefault(each, set()).add((origin, depth, cost))
                cost += self._cost(expansion[depth - 1])
                states = set().union(*(before.get(each, ()) for each in states))
        return {state: sorted(found) for state, found in items.items()}


def _reduced_in(parser: Lalr, state: int) -> set[tuple[str, Expansion]]:
    actions = parser._states[state].values()
    rules = [argument for kind, argument in actions if kind is not parser._shift]
    return {(rule.origin.name, tuple(s.name for s in rule.expansion)) for rule in rules}


def _rules_of(parser: Lalr | General) -> list[tuple[str, Expansion]]:
    if isinstance(parser, General):
        return [(p.origin, p.expansion) for p in parser.automaton.productions]
    found: set[tuple[str, Expansion]] = set()
    for state in parser._states:
        found |= _reduced_in(parser, state)
    return sorted(found)
