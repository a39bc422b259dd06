"""Left recursion, solved: each symbol of a cycle as a language whose rules are guarded.

A *cycle* is a strongly connected component of *begins with*. Every string of one of its symbols
that is not empty comes from `X -> Y k`, where Y is in the cycle (a *step*) or from `X -> b` where b
begins otherwise (a *base*).

**Elimination.** Such equations are solved one symbol after another, those used most last. With
steps to X itself and to symbols that come later, X = b | X k | Y l is

    X = (b | Y l) M         M = EPS | k M

which takes the place of X wherever an equation after it begins with X. What is left begins with
later symbols only. An `X` at the *end* of a base or step needs no M behind it, since X M = X, and
without it recursion at an end stays there: ambiguous grammars, E -> E "+" E | "-" E | n, have as
few states as those that are not:

    E = n M | "-" E         M = EPS | "+" E

**Many symbols.** Past a few dozen, the left-corner transform, whose rules are made when they are
reached: X / Y is what may follow a Y that begins an X,

    X = b_Y (X / Y) for each Y           X / Y = k (X / Z) for each step Z -> Y k,  | EPS if X is Y

where steps with an empty k (Z -> Y) are followed at once, so that cyclic symbols end too.

Cost: O(n^3) for a cycle of n symbols, n small, else O(cycle) for each pair (X, Y) that is reached.

Source: Arden's rule (1961); Rosenkrantz and Lewis, "Deterministic left corner parsing" (1970).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from constrain.algebra.terms import EMPTY, EPS, Rule, Term, alt, cat, optional, plus, repeat
from constrain.frontends.cfg.expressions import Choice, Repetition, Sequence, Symbol
from constrain.frontends.cfg.graph import Graph
from constrain.limits import Limits

__all__ = ["LeftRecursion", "Terms"]

_MANY_SYMBOLS = 32
"""Cycles of more symbols are not eliminated."""


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
    """A language as `plain | tails[X] X | ... | EPS if nullable`, with symbols X of the cycle.

    Attributes:
        plain: Strings that are not empty.
        tails: What stands before a symbol at the end.
        nullable: The empty string is in it.
    """

    plain: Term = EMPTY
    tails: Mapping[int, Term] = field(default_factory=dict)
    nullable: bool = False

    @property
    def is_end(self) -> bool:
        """Nothing but the empty string."""
        return self.nullable and self.plain is EMPTY and not self.tails

    @property
    def is_empty(self) -> bool:
        """No string at all."""
        return not self.nullable and self.plain is EMPTY and not self.tails

    def without_tail(self, symbol: int) -> _Form:
        """The same but for what ends with a symbol."""
        tails = {other: tail for other, tail in self.tails.items() if other != symbol}
        return _Form(self.plain, tails, self.nullable)

    def only_tail(self, symbol: int) -> _Form:
        """What ends with a symbol."""
        return _Form(EMPTY, {symbol: self.tails[symbol]} if symbol in self.tails else {})


_EMPTY = _Form()
_END = _Form(nullable=True)


def _union(forms: Iterable[_Form]) -> _Form:
    kept = list(forms)
    tails: dict[int, list[Term]] = {}
    for form in kept:
        for symbol, tail in form.tails.items():
            tails.setdefault(symbol, []).append(tail)
    return _Form(
        alt([f.plain for f in kept]),
        {symbol: alt(members) for symbol, members in tails.items()},
        any([f.nullable for f in kept]),
    )


@dataclass(frozen=True, slots=True)
class _Equation:
    """What a symbol is: its base, and what follows each symbol that it may begin with."""

    base: _Form
    steps: Mapping[int, _Form]


class LeftRecursion:
    """The symbols of one cycle. A symbol is the root of its production."""

    def __init__(self, terms: Terms, graph: Graph, component: int, limits: Limits) -> None:
        self._terms = terms
        self._graph = graph
        self._component = component
        self._limits = limits
        self._spent = 0
        self._tail_forms: dict[int, _Form] = {}
        self._opened: set[int] = set()
        self._rules: dict[tuple[int, int], Rule] = {}
        uses = Counter(
            [graph.root(n) for n, node in enumerate(graph.nodes) if isinstance(node, Symbol)]
        )
        symbols = {
            graph.root(n)
            for n in graph.left_components[component]
            if isinstance(graph.nodes[n], Symbol)
        }
        order = sorted(symbols, key=lambda root: (uses[root], -root))
        self._tailed = symbols if len(symbols) <= _MANY_SYMBOLS else set()
        self._equations: dict[int, _Equation] = {}
        for root in order:
            equation = self._read(root)
            self._equations[root] = self._eliminated(root, equation) if self._tailed else equation

    def body(self, root: int) -> Term:
        """The strings of a symbol that are not empty."""
        if not self._tailed:
            return self._corner_body(root)
        equation = self._equations[root]
        members = [self._proper(equation.base)]
        for begun, step in equation.steps.items():
            rest = self._proper(step)
            members.append(cat(self._terms.rule(begun), optional(rest) if step.nullable else rest))
        return alt(members)

    # Elimination

    def _eliminated(self, root: int, equation: _Equation) -> _Equation:
        """The equation of a symbol in terms of those that come after it."""
        base, steps = equation.base, dict(equation.steps)
        for earlier, solved in self._equations.items():
            rest = steps.pop(earlier, None)
            if rest is None:
                continue
            base = _union((base, self._then(solved.base, rest)))
            for later, step in solved.steps.items():
                steps[later] = _union((steps.get(later, _EMPTY), self._then(step, rest)))
        own = steps.pop(root, _EMPTY)
        more = self._more(root, own)
        return _Equation(
            self._followed(root, base, more),
            {
                later: self._followed(root, step, more)
                for later, step in steps.items()
                if not step.is_empty
            },
        )

    def _followed(self, root: int, form: _Form, more: _Form) -> _Form:
        """A form with `more` behind it, but where it ends with `root` and so has it already."""
        return _union((self._then(form.without_tail(root), more), form.only_tail(root)))

    def _more(self, root: int, own: _Form) -> _Form:
        """What may follow a symbol that is the beginning of itself."""
        others = self._proper(own.without_tail(root))
        if root not in own.tails:
            return _Form(plus(others) if others is not EMPTY else EMPTY, nullable=True)

        def body() -> Term:
            at_end = cat(own.tails[root], self._terms.rule(root))
            return alt((cat(others, optional(rule)), at_end))

        rule = self._rule(root, root, body)
        return _Form(rule, nullable=True)

    def _then(self, form: _Form, rest: _Form) -> _Form:
        """A form, then the rest."""
        self._spend()
        if rest.is_end:
            return form
        proper = self._proper(form)
        found = [
            _Form(
                cat(proper, rest.plain),
                {symbol: cat(proper, tail) for symbol, tail in rest.tails.items()},
            )
        ]
        if rest.nullable:
            found.append(form)
        if form.nullable:
            found.append(rest)
        made = _union(found)
        return _Form(made.plain, _kept(made.tails), form.nullable and rest.nullable)

    def _proper(self, form: _Form) -> Term:
        """The strings of a form that are not empty."""
        rules = [cat(tail, self._terms.rule(symbol)) for symbol, tail in form.tails.items()]
        return alt((form.plain, *rules))

    def _spend(self) -> None:
        self._spent += 1
        self._limits.check("max_source_nodes", self._spent, "solving left recursion")

    # Many symbols

    def _corner_body(self, root: int) -> Term:
        return alt(
            [cat(e.base.plain, self._after(corner, root)) for corner, e in self._equations.items()]
        )

    def _after(self, corner: int, root: int) -> Term:
        """What may follow a `corner` that is the beginning of a `root`."""
        if not any(
            f.plain is not EMPTY for e in self._equations.values() for f in e.steps.values()
        ):
            return EPS
        rule = self._rule(corner, root, partial(self._after_body, corner, root))
        return optional(rule) if root in self._units(corner) else rule

    def _after_body(self, corner: int, root: int) -> Term:
        reached = self._units(corner)
        return alt(
            [
                cat(step.plain, self._after(whole, root))
                for whole, equation in self._equations.items()
                for begun, step in equation.steps.items()
                if begun in reached and step.plain is not EMPTY
            ]
        )

    def _units(self, corner: int) -> set[int]:
        """The symbols that a `corner` may be the whole of."""
        found = {corner}
        todo = [corner]
        while todo:
            begun = todo.pop()
            for whole, equation in self._equations.items():
                if (
                    whole not in found
                    and begun in equation.steps
                    and equation.steps[begun].nullable
                ):
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

    # Equations

    def _read(self, root: int) -> _Equation:
        """The equation of a symbol as its production has it."""
        graph, terms = self._graph, self._terms
        bases: list[_Form] = []
        steps: dict[int, list[_Form]] = {}
        todo = [(root, _END)]
        while todo:
            n, rest = todo.pop()
            self._spend()
            if graph.left[n] != self._component:
                form = self._tail_form(n) if rest.is_end else _Form(terms.proper(n))
                bases.append(self._then(_Form(form.plain, form.tails), rest))
                continue
            node, successors = graph.nodes[n], graph.successors[n]
            if isinstance(node, Symbol):
                steps.setdefault(successors[0], []).append(rest)
            elif isinstance(node, Choice):
                todo += [(s, rest) for s in successors if graph.proper[s]]
            elif isinstance(node, Sequence):
                todo += self._beginnings_of_sequence(successors, rest)
            else:
                assert isinstance(node, Repetition), node
                todo.append((successors[0], self._rest_of_repetition(node, successors[0], rest)))
        return _Equation(_union(bases), {begun: _union(forms) for begun, forms in steps.items()})

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
        more = _Form(repeat(self._terms.proper(body), max(lo, 1), hi), nullable=lo == 0)
        return self._then(more, rest)

    def _before(self, n: int, rest: _Form) -> _Form:
        """A node, then the rest."""
        return self._tail_form(n) if rest.is_end else self._then(self._alone(n), rest)

    def _tail_form(self, root: int) -> _Form:
        """All strings of a node, those that end with symbols of the cycle apart."""
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
        if not self._tailed or not graph.proper[n]:
            return []
        if isinstance(node, Symbol):
            return [] if successors[0] in self._tailed else successors
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
        return _Form(self._terms.proper(n), nullable=bool(self._graph.nullable[n]))

    def _make_tail_form(self, n: int) -> _Form:
        graph, node, successors = self._graph, self._graph.nodes[n], self._graph.successors[n]
        nullable = bool(graph.nullable[n])
        if isinstance(node, Symbol) and successors[0] in self._tailed:
            return _Form(EMPTY, {successors[0]: EPS}, nullable)
        lasts = self._lasts(n)
        if lasts:
            form = _union([self._tail_forms[s] for s in lasts if graph.productive[s]])
            if isinstance(node, Sequence):
                form = _END
                for s in reversed(successors):
                    form = self._tail_forms[s] if form.is_end else self._before(s, form)
            if form.tails:
                return _Form(form.plain, form.tails, nullable)
        return self._alone(n)


def _kept(tails: Mapping[int, Term]) -> dict[int, Term]:
    return {symbol: tail for symbol, tail in tails.items() if tail is not EMPTY}
