"""Nodes with assertions to terms: the equations of their configurations, solved.

Each configuration (see `configurations`) is a language: the text ends here or not, or a code point
out of a set comes first and another configuration after it. Acyclic equations become terms, a
cycle becomes a `Rule`, and a cycle of one becomes a star.

    (?:(?!ab)[ab])*c     S = aT | bS | c     T = aT | c     (in T, after an a, b is forbidden)

Configurations from which no text can be completed are dropped before any term is made.
Cost: O(edges).
"""

from __future__ import annotations

from dataclasses import dataclass

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import EMPTY, EPS, Rule, Term, alt, cat, complement, intersect, star
from constrain.algebra.utf8 import Alphabet
from constrain.frontends.regex.configurations import Config, Machine
from constrain.frontends.regex.resolve import Resolved
from constrain.limits import Limits

__all__ = ["lower_assertions"]


def lower_assertions(resolved: Resolved, alphabet: Alphabet, limits: Limits) -> Term:
    """The term of a node with assertions.

    Args:
        resolved: The node, with its assertions in the form of `resolve`.
        alphabet: How code points are spelled.
        limits: `max_source_nodes` bounds the work.

    Raises:
        LimitExceededError: It takes too many configurations.
    """
    machine = Machine(resolved, alphabet, limits)
    return _Equations(machine, alphabet).term(machine.root)


@dataclass(slots=True)
class _Equation:
    """The language of one configuration: any of the alternatives it lists.

    Attributes:
        empty: The empty text.
        everything: Any text.
        edges: A term, then another configuration.
        conjunctions: As in `Closure`.
    """

    empty: bool
    everything: bool
    edges: list[tuple[Term, Config]]
    conjunctions: list[tuple[Config, bool, Config]]

    def targets(self) -> list[Config]:
        """The configurations that it mentions."""
        both = [c for rest, _, ahead in self.conjunctions for c in (rest, ahead)]
        return [t for _, t in self.edges] + both


class _Equations:
    """The equations of all configurations that are reached, and their solution."""

    def __init__(self, machine: Machine, alphabet: Alphabet) -> None:
        self._machine = machine
        self._alphabet = alphabet
        self._all: dict[Config, _Equation] = {}

    def term(self, root: Config) -> Term:
        """The language of `root`."""
        self._explore(root)
        alive = self._alive(through_conjunctions=True)
        if root not in alive:
            return EMPTY
        self._drop_dead(alive)
        order, heads = self._order(root)
        surely = self._alive(through_conjunctions=False)
        term = self._solve(order, heads)[root]
        if any(head not in surely for head in heads):
            # A rule promises that it is not empty. One that rests on an intersection alone may be:
            # as a member of an intersection its states are tested.
            return intersect((self._alphabet.text, term))
        return term

    def _explore(self, root: Config) -> None:
        todo = [root]
        while todo:
            config = todo.pop()
            if config not in self._all:
                self._all[config] = self._equation(config)
                todo.extend(reversed(self._all[config].targets()))

    def _equation(self, config: Config) -> _Equation:
        closure = self._machine.closure(config, main=True)
        if closure.universal:
            return _Equation(True, True, [], [])
        edges: dict[Config, CodepointSet] = {}
        for points, cell, obligations in closure.steps:
            for piece, target in self._machine.targets(points, cell, obligations, config.seen):
                edges[target] = edges.get(target, CodepointSet.NONE) | piece
        spelled = [(self._alphabet.spell(p), t) for t, p in edges.items()]
        spelled = [(term, t) for term, t in spelled if term is not EMPTY]  # no byte is over 255
        return _Equation(closure.accepting, False, spelled + closure.blocks, closure.conjunctions)

    def _alive(self, *, through_conjunctions: bool) -> set[Config]:
        """Configurations whose language has a text; what an intersection has is not known."""
        users: dict[Config, list[Config]] = {}
        for config, equation in self._all.items():
            for target in equation.targets():
                users.setdefault(target, []).append(config)
        alive: set[Config] = set()
        todo = list(self._all)
        while todo:
            config = todo.pop()
            if config in alive:
                continue
            equation = self._all[config]
            ends = equation.empty or any(t in alive for _, t in equation.edges)
            if not ends and through_conjunctions:
                ends = any(
                    rest in alive and (negative or ahead in alive)
                    for rest, negative, ahead in equation.conjunctions
                )
            if ends:
                alive.add(config)
                todo.extend(users.get(config, ()))
        return alive

    def _drop_dead(self, alive: set[Config]) -> None:
        kept = {}
        for config, equation in self._all.items():
            if config not in alive:
                continue
            edges = [(p, t) for p, t in equation.edges if t in alive]
            conjunctions = []
            for rest, negative, ahead in equation.conjunctions:
                if rest not in alive:
                    continue
                if ahead in alive:
                    conjunctions.append((rest, negative, ahead))
                elif negative:
                    edges.append((EPS, rest))
            kept[config] = _Equation(equation.empty, equation.everything, edges, conjunctions)
        self._all = kept

    def _order(self, root: Config) -> tuple[list[Config], dict[Config, bool]]:
        """Configurations, those they mention first; and the heads of cycles, which are rules.

        A head is True if every cycle through it is a single edge back to itself.
        """
        order: list[Config] = []
        heads: dict[Config, bool] = {}
        entered: dict[Config, bool] = {root: False}  # True: left again
        stack = [(root, iter(self._all[root].targets()))]
        while stack:
            config, targets = stack[-1]
            for target in targets:
                if target not in entered:
                    entered[target] = False
                    stack.append((target, iter(self._all[target].targets())))
                    break
                if not entered[target]:
                    heads[target] = heads.get(target, True) and target is config
            else:
                stack.pop()
                entered[config] = True
                order.append(config)
        return order, heads

    def _solve(self, order: list[Config], heads: dict[Config, bool]) -> dict[Config, Term]:
        nullable = self._nullable()
        bodies: dict[Config, Term] = {}
        made: dict[Config, Term] = {}
        for head, alone in heads.items():
            if not alone:
                made[head] = _loop(head, bodies, nullable[head])
        for config in order:
            equation = self._all[config]
            again = [p for p, t in equation.edges if t is config and heads.get(config)]
            members: list[Term] = [EPS] if equation.empty else []
            if equation.everything:
                members = [self._alphabet.text]
            for part, target in equation.edges:
                if target is not config or not heads.get(config):
                    members.append(cat(part, made[target]))
            for rest, negative, ahead in equation.conjunctions:
                members.append(self._conjunction(made[rest], negative, made[ahead]))
            body = alt(members)
            if again:
                body = cat(star(alt(again)), body)
            bodies[config] = body
            made.setdefault(config, body)
        return made

    def _conjunction(self, rest: Term, negative: bool, ahead: Term) -> Term:
        text = self._alphabet.text
        if negative:
            return EMPTY if ahead is text else intersect((rest, complement(ahead)))
        if rest is text:
            return ahead
        return rest if ahead is text else intersect((rest, ahead))

    def _nullable(self) -> dict[Config, bool]:
        """Whether each language has the empty text.

        That rests on configurations reached without reading anything, and no cycle is among those.
        """
        done: dict[Config, bool] = {}
        todo = list(self._all)
        while todo:
            equation = self._all[todo[-1]]
            first = [t for p, t in equation.edges if p.nullable]
            both = [c for rest, _, ahead in equation.conjunctions for c in (rest, ahead)]
            missing = [c for c in (*first, *both) if c not in done]
            if missing:
                todo.extend(missing)
                continue
            done[todo.pop()] = (
                equation.empty
                or any(done[t] for t in first)
                or any(done[r] and done[a] != neg for r, neg, a in equation.conjunctions)
            )
        return done


def _loop(head: Config, bodies: dict[Config, Term], nullable: bool) -> Rule:
    return Rule("regex loop", lambda: bodies[head], nullable=nullable, regular=True)
