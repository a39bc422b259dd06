"""A cycle of *begins with* as equations: what each symbol of it begins with, and what follows.

Every string of a symbol X of the cycle that is not empty comes from `X -> Y k`, where Y is in the
cycle (a *step* of X, to Y) or from `X -> b` where b begins otherwise (the *base* of X). A symbol
with what is nullable before it begins the string too, without that.

    e ::= minus? e "+" e | [0-9]      base: minus e "+" e | [0-9]      step to e: "+" e

What ends with a symbol of the cycle is kept apart (*tails*), since `elimination` treats it better.
What stands for a symbol at the end is looked into for that, through names as well.

Cost: O(size of the productions in the cycle, and of what may stand at their ends).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Protocol

from constrain.algebra.terms import EMPTY, EPS, Rule, Term, alt, cat, repeat
from constrain.frontends.cfg.expressions import Choice, Repetition, Sequence, Symbol
from constrain.frontends.cfg.graph import Graph
from constrain.limits import Limits

__all__ = ["EMPTY_FORM", "Equation", "Equations", "Form", "Terms", "union"]


class Terms(Protocol):
    """The terms of nodes, as `lowering` makes them."""

    def proper(self, n: int) -> Term:
        """The strings of a node that are not empty."""
        ...

    def rule(self, root: int) -> Rule:
        """The strings of a symbol that are not empty."""
        ...

    def name(self, root: int) -> str:
        """What a symbol is called."""
        ...


@dataclass(frozen=True, slots=True)
class Form:
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

    def without_tail(self, symbol: int) -> Form:
        """The same but for what ends with a symbol."""
        tails = {other: tail for other, tail in self.tails.items() if other != symbol}
        return Form(self.plain, tails, self.nullable)

    def only_tail(self, symbol: int) -> Form:
        """What ends with a symbol."""
        return Form(EMPTY, {symbol: self.tails[symbol]} if symbol in self.tails else {})


EMPTY_FORM = Form()
_END = Form(nullable=True)


def union(forms: Iterable[Form]) -> Form:
    """Any of the forms."""
    kept = list(forms)
    tails: dict[int, list[Term]] = {}
    for form in kept:
        for symbol, tail in form.tails.items():
            tails.setdefault(symbol, []).append(tail)
    return Form(
        alt([f.plain for f in kept]),
        {symbol: alt(members) for symbol, members in tails.items()},
        any([f.nullable for f in kept]),
    )


@dataclass(frozen=True, slots=True)
class Equation:
    """What a symbol is: its base, and what follows each symbol that it may begin with."""

    base: Form
    steps: Mapping[int, Form]


class Equations:
    """Reads the equations of one cycle. A symbol is the root of its production.

    Args:
        terms: The terms of nodes.
        graph: The grammar.
        component: The cycle.
        tailed: The symbols that are kept apart at an end.
        limits: `max_source_nodes` bounds the work.
    """

    def __init__(
        self, terms: Terms, graph: Graph, component: int, tailed: Set[int], limits: Limits
    ) -> None:
        self._terms = terms
        self._graph = graph
        self._component = component
        self._tailed = tailed
        self._limits = limits
        self._spent = 0
        self._tail_forms: dict[int, Form] = {}
        self._opened: set[int] = set()

    def read(self, root: int) -> Equation:
        """The equation of a symbol as its production has it."""
        graph, terms = self._graph, self._terms
        bases: list[Form] = []
        steps: dict[int, list[Form]] = {}
        todo = [(root, _END)]
        while todo:
            n, rest = todo.pop()
            self._spend()
            if graph.left[n] != self._component:
                form = self._tail_form(n) if rest.is_end else Form(terms.proper(n))
                bases.append(self.then(Form(form.plain, form.tails), rest))
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
        return Equation(union(bases), {begun: union(forms) for begun, forms in steps.items()})

    def _beginnings_of_sequence(self, parts: list[int], rest: Form) -> list[tuple[int, Form]]:
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

    def _rest_of_repetition(self, node: Repetition, body: int, rest: Form) -> Form:
        """What follows the first round of a repetition."""
        if node.hi == 1:
            return rest
        lo = 0 if self._graph.nullable[body] else max(node.lo - 1, 0)
        hi = None if node.hi is None else node.hi - 1
        more = Form(repeat(self._terms.proper(body), max(lo, 1), hi), nullable=lo == 0)
        return self.then(more, rest)

    def _before(self, n: int, rest: Form) -> Form:
        """A node, then the rest."""
        return self._tail_form(n) if rest.is_end else self.then(self._alone(n), rest)

    def _tail_form(self, root: int) -> Form:
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

    def _alone(self, n: int) -> Form:
        """A node as it is, whatever its strings end with."""
        return Form(self._terms.proper(n), nullable=bool(self._graph.nullable[n]))

    def _make_tail_form(self, n: int) -> Form:
        graph, node, successors = self._graph, self._graph.nodes[n], self._graph.successors[n]
        nullable = bool(graph.nullable[n])
        if isinstance(node, Symbol) and successors[0] in self._tailed:
            return Form(EMPTY, {successors[0]: EPS}, nullable)
        lasts = self._lasts(n)
        if lasts:
            form = union([self._tail_forms[s] for s in lasts if graph.productive[s]])
            if isinstance(node, Sequence):
                form = _END
                for s in reversed(successors):
                    form = self._tail_forms[s] if form.is_end else self._before(s, form)
            if form.tails:
                return Form(form.plain, form.tails, nullable)
        return self._alone(n)

    def then(self, form: Form, rest: Form) -> Form:
        """A form, then the rest."""
        self._spend()
        if rest.is_end:
            return form
        proper = self.proper_of(form)
        found = [
            Form(
                cat(proper, rest.plain),
                {symbol: cat(proper, tail) for symbol, tail in rest.tails.items()},
            )
        ]
        if rest.nullable:
            found.append(form)
        if form.nullable:
            found.append(rest)
        made = union(found)
        return Form(made.plain, _kept(made.tails), form.nullable and rest.nullable)

    def proper_of(self, form: Form) -> Term:
        """The strings of a form that are not empty."""
        rules = [cat(tail, self._terms.rule(symbol)) for symbol, tail in form.tails.items()]
        return alt((form.plain, *rules))

    def _spend(self) -> None:
        self._spent += 1
        self._limits.check("max_source_nodes", self._spent, "solving left recursion")


def _kept(tails: Mapping[int, Term]) -> dict[int, Term]:
    return {symbol: tail for symbol, tail in tails.items() if tail is not EMPTY}
