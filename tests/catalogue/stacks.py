"""How many bytes a stack of a parser is from the nearest end, from the tables of the parser.

A state of a parser stands for items `A: x . y`. To finish, some item of the top state is completed:
`y` is written, as many states as `x` and `y` have are popped, and the state after `A` is pushed; so
on until the whole text is done. What a terminal costs is the width that lark gives its pattern.
Blanks that a lexer needs between terminals are not counted: the distance is a guess, but a close
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from constrain.algebra.terms import Rule
from constrain.frontends.lark.automaton import ROOT
from constrain.frontends.lark.boundaries import Boundary
from constrain.frontends.lark.general import General
from constrain.frontends.lark.indent import IndentedLalr, IndentedStack, Newlines
from constrain.frontends.lark.lalr import Lalr
from constrain.frontends.lark.stacks import Stack

__all__ = ["StackDistances", "stacks_of"]

Expansion = tuple[str, ...]

NOTHING_YET = 1.0
"""Of the stack before any text."""


def stacks_of(rule: Rule) -> tuple[Any, Iterable[Stack]] | None:
    """The table or automaton and the stacks that a rule of the front-end for Lark stands for."""
    if isinstance(rule.thunk, Boundary):
        parser, stacks = rule.thunk.boundaries.parser, rule.thunk.stacks
    else:  # inside the newline of an `Indenter`: the stacks after that
        newlines = getattr(getattr(rule.thunk, "func", None), "__self__", None)
        if not isinstance(newlines, Newlines):
            return None
        parser, stacks = newlines.parser, newlines.stacks
    if isinstance(parser, IndentedLalr):
        return parser.parser, [s.stack for s in stacks if isinstance(s, IndentedStack)]
    return parser, stacks


class StackDistances:
    """Distances of the stacks of one parser.

    Args:
        parser: Of the front-end for Lark.
        widths: Least width of each terminal.
        rules: Each with an expansion, names of rules and terminals.
    """

    def __init__(
        self,
        parser: Lalr | General,
        widths: Mapping[str, int],
        rules: Iterable[tuple[str, Expansion]],
    ) -> None:
        self._parser = parser
        self._widths = widths
        self._last = parser.last if isinstance(parser, Lalr) else None
        self._costs = self._cheapest(list(rules))
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
            draft[state] = 0.0 if state == self._last else NOTHING_YET if below is None else inf
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
        parser = self._parser
        return (parser.automaton if isinstance(parser, General) else parser).goto(state, symbol)

    def _cost(self, symbol: str) -> float:
        return self._costs[symbol] if symbol in self._costs else self._widths.get(symbol, 1)

    def _cheapest(self, rules: Sequence[tuple[str, Expansion]]) -> dict[str, float]:
        costs = {origin: inf for origin, _ in rules}
        self._costs = costs
        changed = True
        while changed:
            changed = False
            for origin, expansion in rules:
                cost = sum(map(self._cost, expansion))
                if cost < costs[origin]:
                    costs[origin] = cost
                    changed = True
        return costs

    def _kernels(self) -> dict[int, list[tuple[str, int, float]]]:
        """Of each state: rule, how many of its symbols are behind, and the cost of the others.

        A state is come to by one symbol, so what stands before the end of a rule is read off the
        states on the way back.
        """
        ends: list[tuple[int, str, int]] = []
        before: dict[int, set[int]] = {}
        come_by: dict[int, str] = {}
        for state, symbol, after in self._edges(ends):
            before.setdefault(after, set()).add(state)
            come_by[after] = symbol
        items: dict[int, set[tuple[str, int, float]]] = {}
        for end, origin, length in ends:
            places = {(end, 0.0)}
            for depth in range(length, 0, -1):
                behind = set()
                for state, cost in places:
                    items.setdefault(state, set()).add((origin, depth, cost))
                    cost += self._cost(come_by[state])
                    behind |= {(each, cost) for each in before.get(state, ())}
                places = behind
        return {state: sorted(found) for state, found in items.items()}

    def _edges(self, ends: list[tuple[int, str, int]]) -> Iterator[tuple[int, str, int]]:
        """Steps from state to state; puts states where a rule ends into `ends`."""
        parser = self._parser
        if isinstance(parser, Lalr):
            for state in parser.states:
                actions = {symbol: parser.action(state, symbol) for symbol in parser.row(state)}
                reductions = {a for a in actions.values() if isinstance(a, tuple)}
                ends += [(state, origin, length) for origin, length in sorted(reductions)]
                yield from [(state, s, a) for s, a in actions.items() if isinstance(a, int)]
            return
        automaton = parser.automaton
        todo, seen = [0], {0}
        while todo:
            state = todo.pop()
            ends += [(state, p.origin, len(p.expansion)) for p in automaton.complete(state)]
            for symbol in automaton.symbols(state):
                after = automaton.goto(state, symbol)
                assert after is not None
                yield state, symbol, after
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
