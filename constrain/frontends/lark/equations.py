r"""Right-linear equations to terms: a state is what may end here, and steps to other states.

A strongly connected part that falls apart when one state is taken out becomes a repeat, so that
`"([^"\\]|\\.)*"` is the term that a person would have written; others become rules.

    A = x B | y      B = z A | w        A = (x z)* (x w | y)

Cost: O(edges), times the states of a part for the search of the one to take out.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from constrain.algebra.terms import EMPTY, EPS, Rule, Term, alt, cat, star
from constrain.frontends.components import components

__all__ = ["Equation", "solve"]

S = TypeVar("S", bound=Hashable)


@dataclass(slots=True)
class Equation(Generic[S]):
    """What a state may be followed by.

    Attributes:
        ends: The empty text.
        edges: A text of the term, which is not nullable, then the other state.
    """

    ends: bool = False
    edges: list[tuple[Term, S]] = field(default_factory=list)


def solve(equations: Mapping[S, Equation[S]], root: S, made: dict[S, Term], name: str) -> Term:
    """The language of `root`.

    Args:
        equations: Of every state that can be reached and is not in `made`; each has a text.
        root: The state to solve for.
        made: What is known of other states; extended by all that are solved.
        name: Of the rules, where there must be some.
    """
    for part in _parts(equations, root, made):
        _Part(equations, part, made, name).solve()
    return made[root]


def _parts(equations: Mapping[S, Equation[S]], root: S, made: Mapping[S, Term]) -> list[list[S]]:
    """Strongly connected parts of what is not made, those that others lead to first."""
    number = {root: 0}
    states = [root]
    successors: list[list[int]] = []
    for state in states:  # grows by what is found
        targets = [t for _, t in equations[state].edges if t not in made]
        for target in targets:
            if target not in number:
                number[target] = len(states)
                states.append(target)
        successors.append([number[t] for t in targets])
    # Where a part is entered is tried last as the state to take out.
    return [[states[n] for n in reversed(part)] for part in components(successors)[1]]


class _Part(Generic[S]):
    """One strongly connected part; all that it leads to is in `made`."""

    def __init__(
        self,
        equations: Mapping[S, Equation[S]],
        states: Sequence[S],
        made: dict[S, Term],
        name: str,
    ) -> None:
        self._equations = equations
        self._states = states
        self._inside = set(states)
        self._made = made
        self._name = name

    def solve(self) -> None:
        """Put the terms of all states into `made`."""
        if len(self._states) == 1:
            self._solve_by(self._states[0], [])
            return
        for pivot in self._states[:32]:
            order = self._order_without(pivot)
            if order is not None:
                self._solve_by(pivot, order)
                return
        for state in self._states:
            self._made[state] = self._rule(state)

    def _order_without(self, pivot: S) -> list[S] | None:
        """The other states, those they lead to first; None if they have a cycle."""
        done: set[S] = {pivot}
        entered: set[S] = set()
        order: list[S] = []
        for first in self._states:
            todo = [first]
            while todo:
                state = todo[-1]
                if state in done:
                    todo.pop()
                    continue
                missing = [
                    t
                    for _, t in self._equations[state].edges
                    if t in self._inside and t not in done
                ]
                if missing:
                    if state in entered:
                        return None
                    entered.add(state)
                    if any(t in entered for t in missing):
                        return None
                    todo += missing
                    continue
                done.add(state)
                order.append(state)
                todo.pop()
        return order

    def _solve_by(self, pivot: S, order: list[S]) -> None:
        """Each state as (what leads to the pivot, what does not)."""
        forms: dict[S, tuple[Term, Term]] = {pivot: (EPS, EMPTY)}
        for state in order:
            forms[state] = self._form(state, forms)
        loop, out = self._form(pivot, forms)
        solved = out if loop is EMPTY else cat(star(loop), out)
        self._made[pivot] = solved
        for state in order:
            loop, out = forms[state]
            self._made[state] = alt((cat(loop, solved), out))

    def _form(self, state: S, forms: dict[S, tuple[Term, Term]]) -> tuple[Term, Term]:
        equation = self._equations[state]
        loops: list[Term] = []
        outs: list[Term] = [EPS] if equation.ends else []
        for term, target in equation.edges:
            if target in self._inside:
                loop, out = forms[target]
                loops.append(cat(term, loop))
                outs.append(cat(term, out))
            else:
                outs.append(cat(term, self._made[target]))
        return alt(loops), alt(outs)

    def _rule(self, state: S) -> Rule:
        equation = self._equations[state]

        def body() -> Term:
            members: list[Term] = [EPS] if equation.ends else []
            members += [cat(p, self._made[t]) for p, t in equation.edges]
            return alt(members)

        return Rule(self._name, body, nullable=equation.ends, regular=True)
