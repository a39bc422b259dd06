"""Left recursion, solved: each symbol of a cycle as a language whose rules are guarded.

A *cycle* is a strongly connected component of *begins with*. Every string of one of its symbols
that is not empty comes from `X -> Y k`, where Y is in the cycle (a *step*) or from `X -> b` where b
begins otherwise (a *base*).

**One pivot.** Mostly there is a symbol P that lies on every loop: the others are expanded where P
begins with them, and left are P's bases `b` and steps `P k`, so P = b k*. A `P` at the *end* of a
base or step needs no k* behind it, since P k* = P. So with bases b | c P and steps P a | P d P

    P = b M | c P           M = EPS | a M | d P

which recurses on the right only. Ambiguous grammars, `E -> E "+" E | "-" E | n`, have as few states
as those that are not: E = n M | "-" E, M = EPS | "+" E.

**No pivot.** Else the left-corner transform: X / Y is what may follow a Y that begins an X,

    X = b_Y (X / Y) for each Y           X / Y = k (X / Z) for each step Z -> Y k,  | EPS if X is Y

where steps with an empty k (Z -> Y) are followed at once, so that cyclic symbols end too.

Cost: O(cycle) for a pivot, bodies of O(cycle) for each pair (X, Y) that is reached.

Source: Arden's rule (1961); Rosenkrantz and Lewis, "Deterministic left corner parsing" (1970).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from constrain.algebra.terms import EMPTY, EPS, Rule, Term, alt, cat, optional, repeat, star
from constrain.frontends.cfg.expressions import Choice, Repetition, Sequence, Symbol
from constrain.frontends.cfg.graph import Graph, components
from constrain.limits import Limits

__all__ = ["LeftRecursion", "Terms"]

_MANY_SYMBOLS = 64
"""Up to so many symbols of a cycle each is tried as the pivot."""
_MANY_PATHS = 256
"""So many expansions may take the place of names before the pivot."""


class Terms(Protocol):
    """The terms of nodes, as `lower` makes them."""

    def proper(self, n: int) -> Term:
        """The strings of a node that are not empty."""
        ...

    def full(self, n: int) -> Term:
        """All strings of a node."""
        ...

    def rule(self, root: int) -> Rule:
        """The strings of a symbol that are not empty."""
        ...

    def name(self, root: int) -> str:
        """What a symbol is called."""
        ...


@dataclass(frozen=True, slots=True)
class _Form:
    """A language as `plain | tails P | EPS if nullable`, with the pivot P.

    Attributes:
        plain: Strings that are not empty.
        tails: What stands before a P at the end.
        nullable: The empty string is in it.
    """

    plain: Term
    tails: Term
    nullable: bool

    @property
    def full(self) -> Term:
        """Without the tails."""
        return alt((self.plain, EPS)) if self.nullable else self.plain

    @property
    def is_end(self) -> bool:
        """Nothing but the empty string."""
        return self.nullable and self.plain is EMPTY and self.tails is EMPTY

    def after(self, proper: Term, nullable: bool) -> _Form:
        """This language after another, given by its strings that are not empty."""
        plain, tails = cat(proper, self.full), cat(proper, self.tails)
        if nullable:
            plain, tails = alt((plain, self.plain)), alt((tails, self.tails))
        return _Form(plain, tails, nullable and self.nullable)


_END = _Form(EMPTY, EMPTY, True)


def _union(forms: Iterable[_Form]) -> _Form:
    kept = list(forms)
    return _Form(
        alt([f.plain for f in kept]),
        alt([f.tails for f in kept]),
        any([f.nullable for f in kept]),
    )


class LeftRecursion:
    """The symbols of one cycle. A symbol is the root of its production."""

    def __init__(self, terms: Terms, graph: Graph, component: int, limits: Limits) -> None:
        self._terms = terms
        self._graph = graph
        self._component = component
        self._limits = limits
        self._tail_forms: dict[int, _Form] = {}
        self._opened: set[int] = set()
        self._rules: dict[tuple[int, int], Rule] = {}
        symbols = {
            graph.root(n): None
            for n in graph.left_components[component]
            if isinstance(graph.nodes[n], Symbol)
        }
        self._begins = {root: self._beginnings(root) for root in symbols}
        self._pivot = self._find_pivot()
        stops = set(symbols) if self._pivot is None else {self._pivot}
        self._bases: dict[int, _Form] = {}
        self._steps: dict[int, dict[int, _Form]] = {}
        for root in stops:
            self._bases[root], self._steps[root] = self._expose(root, stops)

    def body(self, root: int) -> Term:
        """The strings of a symbol that are not empty."""
        if self._pivot is None:
            return self._corner_body(root)
        if root == self._pivot:
            return self._pivot_body()
        return self._terms.proper(root)  # begins with the pivot at most, which is guarded

    # One pivot

    def _pivot_body(self) -> Term:
        assert self._pivot is not None
        base, step = self._bases[self._pivot], self._steps[self._pivot][self._pivot]
        pivot = self._terms.rule(self._pivot)
        if step.tails is EMPTY:
            more = star(step.plain)
        else:
            more = optional(self._rule(self._pivot, self._pivot, self._more_of_pivot))
        return alt((cat(base.plain, more), cat(base.tails, pivot)))

    def _more_of_pivot(self) -> Term:
        """What may follow a pivot that is the beginning of another."""
        assert self._pivot is not None
        step = self._steps[self._pivot][self._pivot]
        more = optional(self._rule(self._pivot, self._pivot, self._more_of_pivot))
        return alt((cat(step.plain, more), cat(step.tails, self._terms.rule(self._pivot))))

    # No pivot

    def _corner_body(self, root: int) -> Term:
        return alt(
            [cat(base.plain, self._after(corner, root)) for corner, base in self._bases.items()]
        )

    def _after(self, corner: int, root: int) -> Term:
        """What may follow a `corner` that is the beginning of a `root`."""
        if not any(f.plain is not EMPTY for steps in self._steps.values() for f in steps.values()):
            return EPS
        rule = self._rule(corner, root, partial(self._after_body, corner, root))
        return optional(rule) if root in self._units(corner) else rule

    def _after_body(self, corner: int, root: int) -> Term:
        reached = self._units(corner)
        return alt(
            [
                cat(step.plain, self._after(whole, root))
                for whole, steps in self._steps.items()
                for begun, step in steps.items()
                if begun in reached and step.plain is not EMPTY
            ]
        )

    def _units(self, corner: int) -> set[int]:
        """The symbols that a `corner` may be the whole of."""
        found = {corner}
        todo = [corner]
        while todo:
            begun = todo.pop()
            for whole, steps in self._steps.items():
                if whole not in found and begun in steps and steps[begun].nullable:
                    found.add(whole)
                    todo.append(whole)
        return found

    def _rule(self, corner: int, root: int, thunk: Callable[[], Term]) -> Rule:
        found = self._rules.get((corner, root))
        if found is None:
            name, begun = self._terms.name(root), self._terms.name(corner)
            made = Rule(f"{name} after {begun}", thunk)
            found = self._rules.setdefault((corner, root), made)
        return found

    # What symbols begin with

    def _beginnings(self, root: int) -> Counter[int]:
        """The symbols of the cycle that a symbol begins with, and in how many places."""
        graph = self._graph
        found: Counter[int] = Counter()
        todo, seen = [root], {root}
        while todo:
            n = todo.pop()
            if isinstance(graph.nodes[n], Symbol):
                found[graph.root(n)] += 1
                continue
            for s in graph.left_successors[n]:
                if graph.left[s] == self._component and s not in seen:
                    seen.add(s)
                    todo.append(s)
        return found

    def _find_pivot(self) -> int | None:
        """A symbol on every loop that is cheap to expand; the one used most, if there are many."""
        symbols = list(self._begins)
        if len(symbols) > _MANY_SYMBOLS:
            return None
        graph = self._graph
        uses = Counter(
            [graph.root(n) for n, node in enumerate(graph.nodes) if isinstance(node, Symbol)]
        )
        for pivot in sorted(symbols, key=lambda root: -uses[root]):
            if self._is_pivot(pivot):
                return pivot
        return None

    def _is_pivot(self, pivot: int) -> bool:
        symbols = list(self._begins)
        number = {root: i for i, root in enumerate(symbols)}
        edges = [
            [] if root == pivot else [number[s] for s in self._begins[root] if s != pivot]
            for root in symbols
        ]
        _, found = components(edges)
        if any(len(c) > 1 or c[0] in edges[c[0]] for c in found):
            return False
        paths = [0] * len(symbols)
        paths[number[pivot]] = 1
        for (n,) in [(number[pivot],), *[c for c in reversed(found) if c[0] != number[pivot]]]:
            for s, times in self._begins[symbols[n]].items():
                if s != pivot:
                    paths[number[s]] += paths[n] * times
        return sum(paths) <= _MANY_PATHS

    def _expose(self, root: int, stops: set[int]) -> tuple[_Form, dict[int, _Form]]:
        """The bases of a symbol, and its steps by the symbol in `stops` that they begin with."""
        graph, terms = self._graph, self._terms
        bases: list[_Form] = []
        steps: dict[int, list[_Form]] = {}
        todo = [(root, _END)]
        spent = 0
        while todo:
            n, rest = todo.pop()
            spent += 1
            self._limits.check("max_source_nodes", spent, "solving left recursion")
            if graph.left[n] != self._component:
                alone = self._tail_form(n) if rest.is_end else rest.after(terms.proper(n), False)
                bases.append(_Form(alone.plain, alone.tails, False))
                continue
            node, successors = graph.nodes[n], graph.successors[n]
            if isinstance(node, Symbol):
                if successors[0] in stops:
                    steps.setdefault(successors[0], []).append(rest)
                else:
                    todo.append((successors[0], rest))
            elif isinstance(node, Choice):
                todo += [(s, rest) for s in successors if graph.proper[s]]
            elif isinstance(node, Sequence):
                todo += self._beginnings_of_sequence(successors, rest)
            else:
                assert isinstance(node, Repetition), node
                todo.append((successors[0], self._rest_of_repetition(node, successors[0], rest)))
        return _union(bases), {begun: _union(forms) for begun, forms in steps.items()}

    def _beginnings_of_sequence(self, parts: list[int], rest: _Form) -> list[tuple[int, _Form]]:
        """The parts that may come first, each with all that follows it."""
        rests = []
        for s in reversed(parts):
            rests.append(rest)
            rest = self._before(s, rest)
        found = []
        for s, after in zip(parts, reversed(rests), strict=True):
            if self._graph.proper[s]:
                found.append((s, after))
            if not self._graph.nullable[s]:
                break
        return found

    def _rest_of_repetition(self, node: Repetition, body: int, rest: _Form) -> _Form:
        """What follows the first round of a repetition."""
        if node.hi == 1:
            return rest
        lo = 0 if self._graph.nullable[body] else max(node.lo - 1, 0)
        hi = None if node.hi is None else node.hi - 1
        return rest.after(repeat(self._terms.proper(body), max(lo, 1), hi), lo == 0)

    def _before(self, n: int, rest: _Form) -> _Form:
        """A node, then the rest."""
        if rest.is_end:
            return self._tail_form(n)
        return rest.after(self._terms.proper(n), bool(self._graph.nullable[n]))

    def _tail_form(self, root: int) -> _Form:
        """All strings of a node, those that end with the pivot apart."""
        todo = [root]
        while todo:
            n = todo[-1]
            if n not in self._tail_forms:
                missing = [s for s in self._lasts(n) if s not in self._tail_forms]
                fresh = [s for s in missing if s not in self._opened]
                if fresh:
                    self._opened.update(fresh)
                    todo += fresh
                    continue
                # What is still missing has this node at its end: there it stays as it is.
                self._tail_forms[n] = self._alone(n) if missing else self._make_tail_form(n)
            todo.pop()
        return self._tail_forms[root]

    def _lasts(self, n: int) -> list[int]:
        """The parts of a node that may be the end of it, and what a symbol stands for."""
        graph, node, successors = self._graph, self._graph.nodes[n], self._graph.successors[n]
        if self._pivot is None or not graph.proper[n]:
            return []
        if isinstance(node, Symbol):
            return [] if successors[0] == self._pivot else successors
        if isinstance(node, Choice):
            return successors
        if isinstance(node, Sequence):
            last = len(successors) - 1
            while not graph.proper[successors[last]]:
                last -= 1
            return successors[last:]
        return successors if isinstance(node, Repetition) and node.hi == 1 else []

    def _alone(self, n: int) -> _Form:
        """A node as it is, whatever its strings end with."""
        return _Form(self._terms.proper(n), EMPTY, bool(self._graph.nullable[n]))

    def _make_tail_form(self, n: int) -> _Form:
        graph, node, successors = self._graph, self._graph.nodes[n], self._graph.successors[n]
        nullable = bool(graph.nullable[n])
        if isinstance(node, Symbol) and successors[0] == self._pivot:
            return _Form(EMPTY, EPS, nullable)
        lasts = self._lasts(n)
        if lasts:
            form = _union([self._tail_forms[s] for s in lasts if graph.productive[s]])
            if isinstance(node, Sequence):
                form = _END
                for s in reversed(successors):
                    form = self._tail_forms[s] if form.is_end else self._before(s, form)
            if form.tails is not EMPTY:
                return _Form(form.plain, form.tails, nullable)
        return self._alone(n)
