"""The expressions of a grammar as a graph, and the facts about it that lowering needs.

A node is an expression; its successors are its parts, and for a symbol the root of its production.
Three facts are least fixpoints over that graph: *productive* (it has a sentence), *nullable* (the
empty string is one), *proper* (a string that is not empty is one). All nodes wait for a number of
their successors; each fact is one pass of a worklist.

Two relations are cut into strongly connected components: *uses* (all successors), whose cycles are
the recursive symbols, and *begins with* (proper successors with nothing but nullable ones before
them), whose cycles are left recursion, hidden or mutual or not.

Cost: O(nodes + edges). Nothing here recurses.

Source: the worklist is Dowling and Gallier (1984).
"""

from __future__ import annotations

from collections.abc import Callable

from constrain.algebra.terms import EMPTY, non_nullable
from constrain.frontends.cfg.expressions import (
    Expression,
    Productions,
    Repetition,
    Sequence,
    Symbol,
    Terminal,
    parts_of,
)
from constrain.frontends.components import components
from constrain.limits import Limits

__all__ = ["Graph"]

_NEVER = 1 << 62


class Graph:
    """All that can be reached from the start symbol.

    Attributes:
        nodes: The expressions; a node is an index into it.
        successors: Of each node.
        users: The nodes that a node is a successor of.
        productive: It has a sentence.
        nullable: The empty string is one.
        proper: A string that is not empty is one.
        left_successors: The relation *begins with*.
        left: The component of each node in the relation *begins with*.
        left_components: The nodes of each.
        recursive: The node is on a cycle of *uses*.
        uses: The successors that have a sentence, of nodes that have one.
        callees_first: The components of *uses*, each after those that it uses.
    """

    def __init__(self, productions: Productions, start: Symbol, limits: Limits) -> None:
        self.nodes: list[Expression] = []
        self.successors: list[list[int]] = []
        self._index: dict[Expression, int] = {}
        self._read(productions, start, limits)
        self.users: list[list[int]] = [[] for _ in self.nodes]
        for n, successors in enumerate(self.successors):
            for s in successors:
                self.users[s].append(n)
        self.productive = self._least(self._wait_to_be_productive)
        self.nullable = self._least(self._wait_to_be_nullable)
        self.proper = self._least(self._wait_to_be_proper)
        self.left_successors = [self._left_of(n) for n in range(len(self.nodes))]
        self.left, self.left_components = components(self.left_successors)
        limits.check("max_nesting", self._left_depth(), "rules that begin with each other")
        self.uses = [
            [s for s in successors if self.productive[s]] if self.productive[n] else []
            for n, successors in enumerate(self.successors)
        ]
        _, self.callees_first = components(self.uses)
        self.recursive = bytearray(len(self.nodes))
        for component in self.callees_first:
            if len(component) > 1 or component[0] in self.uses[component[0]]:
                for n in component:
                    self.recursive[n] = True

    def __getitem__(self, expression: Expression) -> int:
        return self._index[expression]

    def root(self, symbol: int) -> int:
        """The root of the production of a symbol."""
        return self.successors[symbol][0]

    def _read(self, productions: Productions, start: Symbol, limits: Limits) -> None:
        self._add(start)
        at = 0
        while at < len(self.nodes):
            limits.check("max_source_nodes", len(self.nodes), "a grammar")
            node = self.nodes[at]
            parts = (productions[node.name],) if isinstance(node, Symbol) else parts_of(node)
            self.successors.append([self._add(p) for p in parts])
            at += 1

    def _add(self, expression: Expression) -> int:
        found = self._index.get(expression)
        if found is None:
            found = self._index[expression] = len(self.nodes)
            self.nodes.append(expression)
        return found

    def _least(self, wait: Callable[[int, Expression], int]) -> bytearray:
        """Which nodes hold, where each waits for so many of its successors to hold."""
        waiting = [wait(n, node) for n, node in enumerate(self.nodes)]
        holds = bytearray(len(self.nodes))
        todo = [n for n, count in enumerate(waiting) if count == 0]
        while todo:
            n = todo.pop()
            holds[n] = True
            for user in self.users[n]:
                waiting[user] -= 1
                if waiting[user] == 0:
                    todo.append(user)
        return holds

    def _wait_to_be_productive(self, n: int, node: Expression) -> int:
        if isinstance(node, Terminal):
            return _NEVER if node.term is EMPTY else 0
        if isinstance(node, Sequence):
            return len(self.successors[n])
        return 0 if isinstance(node, Repetition) and node.lo == 0 else 1

    def _wait_to_be_nullable(self, n: int, node: Expression) -> int:
        if isinstance(node, Terminal):
            return 0 if node.term.nullable else _NEVER
        if isinstance(node, Sequence):
            return len(self.successors[n])
        return 0 if isinstance(node, Repetition) and node.lo == 0 else 1

    def _wait_to_be_proper(self, n: int, node: Expression) -> int:
        if isinstance(node, Terminal):
            return _NEVER if non_nullable(node.term) is EMPTY else 0
        if not self.productive[n]:
            return _NEVER
        return _NEVER if isinstance(node, Repetition) and node.hi == 0 else 1

    def _left_of(self, n: int) -> list[int]:
        """What a string of a node that is not empty may begin with."""
        if not self.proper[n]:
            return []
        found = []
        in_order = isinstance(self.nodes[n], Sequence)
        for s in self.successors[n]:
            if self.proper[s]:
                found.append(s)
            if in_order and not self.nullable[s]:
                break
        return found

    def _left_depth(self) -> int:
        """Sequences that stand one at the beginning of another, without coming round.

        A derivative builds what follows all of them, and looks at what is inside for each.
        """
        depth = [0] * len(self.left_components)
        for c, component in enumerate(self.left_components):
            inner = max(
                [depth[self.left[s]] for n in component for s in self.left_successors[n]], default=0
            )
            longer = any([len(self.successors[n]) > 1 for n in component if self._is_sequence(n)])
            depth[c] = inner + longer
        return max(depth, default=0)

    def _is_sequence(self, n: int) -> bool:
        return isinstance(self.nodes[n], Sequence)
