"""Grammars to terms: a `Rule` for each symbol that recurses or is large, the rest in its place.

No rule is nullable: a symbol stands for its strings that are not empty, and `X | EPS` is written
where the empty string belongs to it. So no rule can hide behind a nullable one, and what is left
recursive is exactly the cycles of *begins with* (`graph`), which `elimination` solves, or
`left_corner` where they are large.

    list ::= list "," item | item       list = item ("," item)*
    gap  ::= blank?                     gap  = (blank | EPS)

Small symbols that do not recurse are put in the place of their names, since a term without rules is
the same term in every grammar: what was worked out for it is shared (`automaton`).

Bodies are made when they are needed. Cost: O(size of the grammar) at once, for `graph`.
"""

from __future__ import annotations

from functools import partial

from constrain.algebra.terms import (
    EMPTY,
    EPS,
    Rule,
    Term,
    alt,
    cat,
    non_nullable,
    optional,
    repeat,
)
from constrain.errors import UnsatisfiableError
from constrain.frontends.cfg.elimination import Elimination
from constrain.frontends.cfg.equations import Equations
from constrain.frontends.cfg.expressions import (
    Choice,
    Productions,
    Repetition,
    Sequence,
    Symbol,
    Terminal,
)
from constrain.frontends.cfg.graph import Graph
from constrain.frontends.cfg.left_corner import LeftCorner
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["lower"]

_SMALL = 64
"""Nodes of a symbol, all that it uses included, up to which it takes the place of its name."""
_FEW = 8
"""Names of a cycle that a message has."""
_MANY_SYMBOLS = 32
"""Cycles of more symbols are not solved by elimination."""
_MANY_STEPS = 100
"""Nor are those in which symbols begin with each other at more places: where what stands before may
be empty, what elimination makes of 18 symbols that all begin with each other is a million terms."""


def lower(productions: Productions, start: str, *, limits: Limits = DEFAULT_LIMITS) -> Term:
    """The language of a context-free grammar.

    Every shape of recursion is allowed, and the language is the same: left, right, hidden behind
    what is nullable, mutual, cyclic, ambiguous. Symbols without a sentence and those that the start
    does not reach are dropped.

    Args:
        productions: What each name stands for; every name used must be there.
        start: The name of the whole.
        limits: `max_source_nodes` bounds the grammar, and what solving left recursion makes of it.

    Raises:
        UnsatisfiableError: `start` has no sentence: it can never finish.
        LimitExceededError: The grammar is larger than the limits allow.
    """
    root = Symbol(start)
    graph = Graph(productions, root, limits)
    if not graph.productive[graph[root]]:
        raise UnsatisfiableError(
            _why_endless(graph, graph[root]), hint="give it an alternative that ends"
        )
    return _Lowering(graph, limits).full(graph[root])


class _Lowering:
    """The terms of the nodes of one graph, made as they are asked for."""

    def __init__(self, graph: Graph, limits: Limits) -> None:
        self.graph = graph
        self.limits = limits
        self._proper: dict[int, Term] = {}
        self._full: dict[int, Term] = {}
        self._rules: dict[int, Rule] = {}
        self._solved: dict[int, Elimination | LeftCorner] = {}
        self._names = {
            graph.root(n): node.name
            for n, node in reversed(list(enumerate(graph.nodes)))
            if isinstance(node, Symbol)
        }
        self._in_place = self._find_small()
        self._regular = self._find_regular()

    def full(self, n: int) -> Term:
        """All strings of a node."""
        self._make(n)
        return self._full[n]

    def proper(self, n: int) -> Term:
        """The strings of a node that are not empty."""
        self._make(n)
        return self._proper[n]

    def rule(self, root: int) -> Rule:
        """The strings of a symbol that are not empty, by name; `root` is that of its production."""
        found = self._rules.get(root)
        if found is None:
            made = Rule(
                self._names[root], partial(self._body, root), regular=bool(self._regular[root])
            )
            found = self._rules.setdefault(root, made)
        return found

    def name(self, root: int) -> str:
        """What the production with this root is called."""
        return self._names[root]

    def _body(self, root: int) -> Term:
        component = self.graph.left[root]
        if len(self.graph.left_components[component]) == 1:
            return self.proper(root)
        solved = self._solved.get(component)
        if solved is None:
            solved = self._solved.setdefault(component, self._solve(component))
        return solved.body(root)

    def _solve(self, component: int) -> Elimination | LeftCorner:
        """Solve the left recursion of a cycle."""
        graph = self.graph
        inside = [graph.nodes[n] for n in graph.left_components[component]]
        uses = [node for node in inside if isinstance(node, Symbol)]
        symbols = {graph.root(graph[node]) for node in uses}
        if len(symbols) > _MANY_SYMBOLS or len(uses) > _MANY_STEPS:
            equations = Equations(self, graph, component, frozenset(), self.limits)
            return LeftCorner(self, equations, sorted(symbols))
        equations = Equations(self, graph, component, symbols, self.limits)
        # Roots are numbered as they are found, so those nearer to the start come last.
        order = sorted(symbols, key=lambda root: (len(graph.users[root]), -root))
        return Elimination(self, equations, order)

    def _find_small(self) -> bytearray:
        """Which roots of productions take the place of their names."""
        graph = self.graph
        size = [1] * len(graph.nodes)
        small = bytearray(len(graph.nodes))
        for component in graph.callees_first:
            n = component[0]
            if graph.recursive[n]:
                continue
            if isinstance(graph.nodes[n], Symbol):
                root = graph.root(n)
                small[root] = not graph.recursive[root] and size[root] <= _SMALL
                size[n] = size[root] if small[root] else 1
            else:
                size[n] += sum([size[s] for s in graph.uses[n]])
        return small

    def _find_regular(self) -> bytearray:
        """Which nodes have finitely many derivatives: they recurse at their right end at most."""
        graph = self.graph
        regular = bytearray(len(graph.nodes))
        for component in graph.callees_first:
            inside = set(component) if graph.recursive[component[0]] else set()
            holds = all(
                all(regular[s] for s in graph.uses[n] if s not in inside)
                and self._recurses_at_end(n, inside)
                for n in component
            )
            for n in component:
                regular[n] = holds
        return regular

    def _recurses_at_end(self, n: int, inside: set[int]) -> bool:
        node = self.graph.nodes[n]
        if isinstance(node, Terminal):
            return node.term.regular
        if isinstance(node, Sequence):
            return inside.isdisjoint(self.graph.uses[n][:-1])
        if isinstance(node, Repetition):
            return node.hi == 1 or inside.isdisjoint(self.graph.uses[n])
        return True

    def _make(self, root: int) -> None:
        todo = [root]
        while todo:
            n = todo[-1]
            if n not in self._full:
                missing = [s for s in self._needs(n) if s not in self._full]
                if missing:
                    todo += missing
                    continue
                self._proper[n] = self._proper_of(n)
                self._full[n] = self._full_of(n)
            todo.pop()

    def _needs(self, n: int) -> list[int]:
        """The nodes whose terms are parts of this one's."""
        graph = self.graph
        if not graph.productive[n]:
            return []
        if isinstance(graph.nodes[n], Symbol) and not self._in_place[graph.root(n)]:
            return []
        return graph.successors[n]

    def _proper_of(self, n: int) -> Term:
        graph, node = self.graph, self.graph.nodes[n]
        if not graph.proper[n]:
            return EMPTY
        if isinstance(node, Terminal):
            return non_nullable(node.term)
        successors = graph.successors[n]
        if isinstance(node, Symbol):
            root = graph.root(n)
            return self._proper[root] if self._in_place[root] else self.rule(root)
        if isinstance(node, Choice):
            return alt([self._proper[s] for s in successors])
        if isinstance(node, Repetition):
            lo = 1 if graph.nullable[successors[0]] else max(node.lo, 1)
            return repeat(self._proper[successors[0]], lo, node.hi)
        if not graph.nullable[n]:
            return cat(*[self._full[s] for s in successors])
        members: list[Term] = []
        rest: Term = EPS
        for s in reversed(successors):
            members.append(cat(self._proper[s], rest))
            rest = cat(self._full[s], rest)
        return alt(reversed(members))

    def _full_of(self, n: int) -> Term:
        graph, node = self.graph, self.graph.nodes[n]
        if not graph.nullable[n]:
            return self._proper[n]
        if not graph.proper[n]:
            return EPS
        if isinstance(node, Terminal):
            return node.term
        successors = graph.successors[n]
        if isinstance(node, Symbol):
            root = graph.root(n)
            return self._full[root] if self._in_place[root] else optional(self._proper[n])
        if isinstance(node, Choice):
            return alt([self._full[s] for s in successors])
        if isinstance(node, Sequence):
            return cat(*[self._full[s] for s in successors])
        return repeat(self._proper[successors[0]], 0, node.hi)


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:50]}..."


def _why_endless(graph: Graph, start: int) -> str:
    """Follow parts without a sentence from a symbol until one comes again."""
    seen: dict[str, None] = {}
    n = start
    while True:
        node = graph.nodes[n]
        if isinstance(node, Symbol):
            if node.name in seen:
                break
            seen[node.name] = None
        endless = [s for s in graph.successors[n] if not graph.productive[s]]
        if not endless:  # an empty choice, or a class without members
            return (
                f"rule {_short(list(seen)[-1])!r} can never finish: something in it matches no text"
            )
        n = endless[0]
    path = list(seen)
    cycle = [_short(name) for name in path[path.index(node.name) :]]
    first = _short(path[0])
    if len(cycle) == 1:
        why = f"rule {cycle[0]!r} can never finish: every way through it needs {cycle[0]!r} again"
    else:
        few = cycle if len(cycle) <= _FEW else [*cycle[:_FEW], "..."]
        ring = " needs ".join(map(repr, [*few, cycle[0]]))
        why = f"the rules {', '.join(map(repr, few))} can never finish: {ring} again"
    return why if cycle[0] == first else f"{why}; rule {first!r} needs {cycle[0]!r}"
