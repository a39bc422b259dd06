"""How many bytes a state is from the nearest end of its text, from the structure of its term.

The least number of bytes of a concatenation is the sum over its parts, of a union the least over
its members, and of a rule that of its body: a shortest-path problem over the nodes of the store
(Knuth, "A generalization of Dijkstra's algorithm", 1977). Exact but for intersections, complements
and captures, where it is a guess: whoever follows it searches (`drawing`). Rules of the front-end
for Lark stand for the whole stack of a parser, so their bodies never end: there the stack is asked
(`stacks`).
"""

from __future__ import annotations

from math import inf

from lark import Lark

from constrain.algebra.store import StateId, TermStore
from constrain.kernels.derive import layout as lay
from tests.catalogue.stacks import StackDistances, stacks_of

__all__ = ["Distances"]

GUESS_OF_FOLLOW = 2.0
"""What follows a captured text, as long as the text is not known."""


class Distances:
    """Distances of the states of one store, each worked out once. Called under the store's lock.

    Args:
        store: The states.
        theirs: lark's own reading of a Lark grammar.
    """

    def __init__(self, store: TermStore, theirs: Lark | None) -> None:
        self._store = store
        terminals = [] if theirs is None else theirs.terminals
        self._widths = {t.name: t.pattern.min_width for t in terminals if t.pattern is not None}
        self._rules = [
            (str(rule.origin.name), tuple(str(symbol.name) for symbol in rule.expansion))
            for rule in ([] if theirs is None else theirs.rules)
        ]
        self._known: dict[int, float] = {}
        self._parsers: dict[int, StackDistances] = {}

    def of(self, state: StateId) -> float:
        """Bytes from here to the nearest end; `inf` if there is none."""
        found = self._known.get(state)
        if found is None:
            self._settle(int(state))
            found = self._known[state]
        return found

    def _settle(self, root: int) -> None:
        """Work out a node and all below it that is not known, by relaxation until it is stable."""
        order, below = self._reachable(root)
        draft = dict.fromkeys(order, inf)
        changed = True
        while changed:
            changed = False
            for node in order:
                found = self._relax(node, below[node], draft)
                if found < draft[node]:
                    draft[node] = found
                    changed = True
        self._known.update(draft)

    def _reachable(self, root: int) -> tuple[list[int], dict[int, list[int]]]:
        """Nodes not known yet, parts before wholes as far as they do not recurse."""
        below: dict[int, list[int]] = {}
        order: list[int] = []
        todo = [(root, False)]
        while todo:
            node, done = todo.pop()
            if done:
                order.append(node)
            elif node not in below and node not in self._known:
                below[node] = self._parts(node)
                todo.append((node, True))
                todo += [(part, False) for part in below[node]]
        return order, below

    def _parts(self, node: int) -> list[int]:
        store = self._store
        kind, a, b = store.arena[lay.NODE * node + lay.KIND :][:3].tolist()
        if kind in (lay.ALT, lay.AND):
            at = int(store.arena[lay.POOL]) + a
            return [int(m) for m in store.arena[at : at + b]]
        if kind == lay.CAT:
            return [a, b]
        if kind == lay.REPEAT:
            return [a]
        if kind == lay.CAPTURE:
            return [b]
        if kind in (lay.RULE, lay.FOLLOW):
            if kind == lay.RULE and self._stacks(node) is not None:
                return []
            body = self._body(node)
            if not body and kind == lay.RULE:
                store._make_body(node)
                body = self._body(node)
            return [body - 1] if body else []
        return []

    def _stacks(self, node: int) -> float | None:
        """The distance of a rule that is a stack; None for another."""
        rule = self._store.rule_of(StateId(node))
        found = None if rule is None else stacks_of(rule)
        if found is None:
            return None
        parser, stacks = found
        far = self._parsers.get(id(parser))
        if far is None:
            far = self._parsers[id(parser)] = StackDistances(parser, self._widths, self._rules)
        return min(map(far.of, stacks))

    def _body(self, node: int) -> int:
        return int(self._store.arena[int(self._store.arena[lay.BODY]) + node])

    def _relax(self, node: int, parts: list[int], draft: dict[int, float]) -> float:
        kind, _, lo = self._store.arena[lay.NODE * node + lay.KIND :][:3].tolist()
        far = [self._known[p] if p in self._known else draft[p] for p in parts]
        if kind == lay.CAT:
            return sum(far)
        if kind == lay.ALT:
            return min(far)
        if kind == lay.AND:
            return max(far)
        if kind == lay.REPEAT:
            return lo * far[0] if lo else 0.0
        if kind == lay.CAPTURE:
            return far[0] + GUESS_OF_FOLLOW
        if kind in (lay.RULE, lay.FOLLOW) and not far:
            found = self._stacks(node) if kind == lay.RULE else None
            return GUESS_OF_FOLLOW if found is None else found
        if kind in (lay.RULE, lay.FOLLOW):
            return far[0]
        return {lay.EMPTY: inf, lay.CLASS: 1.0, lay.TOKEN: inf}.get(kind, 0.0)
