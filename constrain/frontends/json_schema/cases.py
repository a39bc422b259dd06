"""Values split by what is evaluated of them, where that depends on which branches hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from constrain.frontends.json_schema.evaluated import (
    Applied,
    Evaluated,
    Evaluation,
    Kind,
    applied,
    only,
)
from constrain.frontends.json_schema.expr import FALSE
from constrain.frontends.json_schema.object import ObjectShape
from constrain.frontends.json_schema.plain_sight import PlainSight
from constrain.frontends.json_schema.refs import Node, Source
from constrain.frontends.json_schema.shapes import Shapes, ShapeSet

__all__ = ["Case", "Cases"]

_Branch = Node | bool


class Case(NamedTuple):
    """Values of one kind, and what is evaluated of each of them, at least.

    One value may be in several cases; one of those says all that is evaluated of it.
    """

    values: ShapeSet
    evaluated: Evaluated


class Cases:
    """The cases of one schema's nodes.

    Args:
        source: The nodes.
        evaluation: What they evaluate.
        sets: The operations on sets.
        sight: Sees that sets are empty.
        values: The set of a subschema; those of all nodes that apply to the value are known.
        own: The sets of a node's keywords that apply no subschema to the same value.
        alone: Those of some values that are in one branch only, for each branch.
    """

    def __init__(
        self,
        source: Source,
        evaluation: Evaluation,
        sets: Shapes,
        sight: PlainSight,
        values: Callable[[_Branch], ShapeSet],
        own: Callable[[Node], Sequence[ShapeSet]],
        alone: Callable[[ShapeSet, Sequence[ShapeSet]], Sequence[ShapeSet]],
    ) -> None:
        self._source = source
        self._evaluation = evaluation
        self._sets = sets
        self._sight = sight
        self._values = values
        self._own = own
        self._alone = alone
        self._made: dict[tuple[Node, Kind], list[Case]] = {}

    def of(self, node: Node, kind: Kind) -> list[Case]:
        """The values of a kind in a node, its own `unevaluated...` left out, as a union of cases.

        Cost: in the worst case two to the power of the branches of `anyOf` and `dependentSchemas`
        that can hold together and evaluate different things.

        Raises:
            LimitExceededError: The cases are too many.
        """
        todo = [node]
        while todo:
            at = todo[-1]
            if (at, kind) in self._made:
                todo.pop()
                continue
            missing = [
                branch
                for each in self._parted(at, kind)[1]
                for branch in each.branches
                if isinstance(branch, Node)
                and self._depends(branch, kind)
                and (branch, kind) not in self._made
            ]
            if missing:
                todo += missing
            else:
                self._made[at, kind] = self._split(at, kind)
        return self._made[node, kind]

    def _parted(self, node: Node, kind: Kind) -> tuple[list[Applied], list[Applied]]:
        """What a node applies: what evaluates nothing beyond what is evaluated anyway; the rest."""
        least = self._evaluation.inside(node, kind).least
        idle: list[Applied] = []
        busy: list[Applied] = []
        for each in applied(node, kind, self._source):
            most = self._evaluation.of_applied(each, kind).most
            (idle if least.covers(most) else busy).append(each)
        return idle, busy

    def _depends(self, node: Node, kind: Kind) -> bool:
        bounds = self._evaluation.of(node, kind)
        return not bounds.least.covers(bounds.most)

    def _branch(self, branch: _Branch, kind: Kind) -> list[Case]:
        if isinstance(branch, Node) and self._depends(branch, kind):
            return self._made[branch, kind]
        evaluated = self._evaluation.of(branch, kind).least
        return self._kept([Case(only(self._values(branch), kind), evaluated)])

    def _split(self, node: Node, kind: Kind) -> list[Case]:
        """The cases of a node, once those of what it applies are known."""
        idle, busy = self._parted(node, kind)
        start = self._sets.all_of([only(each, kind) for each in self._own(node)])
        cases = self._kept([Case(start, self._evaluation.inside(node, kind).least)])
        # What multiplies comes last, and before that what adds no cases.
        cheap = ("all", "anyOf", "dependent")
        for each in [e for e in idle if e.how in cheap] + [e for e in idle if e.how not in cheap]:
            cases = self._kept([self._narrowed(case, each) for case in cases])
        if (schema := node.get("not")) is not None:
            out = self._source.node(schema, node) if isinstance(schema, dict) else bool(schema)
            without = only(self._values(out), kind)
            cases = [Case(self._sets.without(c.values, without), c.evaluated) for c in cases]
        for each in [e for e in busy if e.how in cheap] + [e for e in busy if e.how not in cheap]:
            cases = self._kept([new for case in cases for new in self._divided(case, each, kind)])
        return cases

    def _narrowed(self, case: Case, each: Applied) -> Case:
        """A case with a keyword that evaluates nothing new."""
        sets, start = self._sets, case.values
        branches = [self._values(branch) for branch in each.branches]
        if each.how == "if":
            if each.branches[1:] == (True, True):
                return case
            yes = sets.all_of([start, *branches[:2]])
            no = sets.without(sets.all_of([start, branches[2]]), branches[0])
            return Case(sets.any_of([yes, no]), case.evaluated)
        if each.how == "oneOf":
            return Case(sets.any_of(self._alone(start, branches)), case.evaluated)
        if each.how == "dependent":
            absent, present = _by_key(each.key)
            branches = [absent, sets.all_of([present, *branches])]
        return Case(sets.all_of([start, sets.any_of(branches)]), case.evaluated)

    def _divided(self, case: Case, each: Applied, kind: Kind) -> Iterable[Case]:
        """The cases into which a keyword divides one."""
        branches = [self._branch(branch, kind) for branch in each.branches]
        if each.how == "all":
            return self._product([case], branches[0])
        if each.how == "anyOf":
            return self._any(case, branches)
        if each.how == "dependent":
            absent, present = [Case(values, Evaluated()) for values in _by_key(each.key)]
            return [
                *self._product([case], [absent]),
                *self._product(self._product([case], [present]), branches[0]),
            ]
        values = [self._values(branch) for branch in each.branches]
        if each.how == "oneOf":
            alone = self._alone(case.values, values)
            return [
                new
                for left, branch in zip(alone, branches, strict=True)
                for new in self._product([Case(left, case.evaluated)], branch)
            ]
        condition, then, otherwise = branches
        yes = self._product(self._product([case], condition), then)
        if each.branches[1:] == (True, True):
            return [*yes, case]  # where the condition holds, too: nothing is asked of it then
        no = self._product([case], otherwise)
        return [
            *yes,
            *[Case(self._sets.without(c.values, values[0]), c.evaluated) for c in no],
        ]

    def _any(self, start: Case, branches: Sequence[Sequence[Case]]) -> list[Case]:
        """Some branches hold, in every combination in which each evaluates something new."""
        found: list[Case] = []
        for branch in branches:
            new = self._product([start], branch)
            for case in branch:
                alone = start.evaluated.plus(case.evaluated)
                others = [
                    other
                    for other in found
                    if not other.evaluated.covers(case.evaluated)
                    and not alone.covers(other.evaluated)
                ]
                new += self._product(others, [case])
            found = self._kept([*found, *new])
        return found

    def _product(self, some: Sequence[Case], others: Sequence[Case]) -> list[Case]:
        pairs = [
            Case(self._sets.all_of([a.values, b.values]), a.evaluated.plus(b.evaluated))
            for a in some
            for b in others
        ]
        return self._kept(pairs)

    def _kept(self, cases: Iterable[Case]) -> list[Case]:
        """One case for what is evaluated, without shapes that are plainly empty."""
        groups: dict[Evaluated, list[ShapeSet]] = {}
        for values, evaluated in cases:
            arrays = tuple(s for s in values.arrays if not self._empty(ShapeSet(arrays=(s,))))
            objects = tuple(s for s in values.objects if not self._empty(ShapeSet(objects=(s,))))
            if arrays or objects:
                kept = ShapeSet(arrays=arrays, objects=objects)
                groups.setdefault(evaluated, []).append(kept)
        return [Case(self._sets.any_of(sets), evaluated) for evaluated, sets in groups.items()]

    def _empty(self, values: ShapeSet) -> bool:
        return self._sight.is_empty(values)


def _by_key(key: str) -> tuple[ShapeSet, ShapeSet]:
    """Objects without a key, and objects with it."""
    absent, present = ObjectShape(named={key: FALSE}), ObjectShape(required=(key,))
    return ShapeSet(objects=(absent,)), ShapeSet(objects=(present,))
