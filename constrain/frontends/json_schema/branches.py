"""What is evaluated where that depends on which branches hold: clauses that a value must satisfy.

A member (or item) passes if it is evaluated anyway, or if some branch holds that evaluates it, or
if it is in what `unevaluatedProperties` wants. So members that the same branches evaluate make one
clause: all of them are as wanted, or one of these branches holds. That the keywords themselves are
satisfied is known, so "a branch of `oneOf` holds" needs no look at the others, and "`then` counts"
is "`if` holds".

    {"anyOf": [{"properties": {"a": {"type": "null"}}}, true], "unevaluatedProperties": false}

has two: there is no `a`, or the first branch holds, which together is "`a` is null"; and there is
no other member. Many clauses are one shape like that, given what is known already. Where one is
not, every shape it is applied to may become several.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, TypeVar

from constrain.frontends.json_schema import array
from constrain.frontends.json_schema import object as objects
from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.evaluated import (
    Applied,
    Evaluated,
    Evaluation,
    Kind,
    applied,
)
from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr, Exprs, implies
from constrain.frontends.json_schema.object import KeySet, ObjectShape
from constrain.frontends.json_schema.refs import Node, Source
from constrain.frontends.json_schema.shapes import EVERYTHING, Shapes, ShapeSet
from constrain.frontends.json_schema.string import StringSets, StringShape
from constrain.limits import Limits

__all__ = ["Branches", "one_shape"]

_CHARGE: Final = 100
"""Nodes that a set of branches which may evaluate something counts as."""

_Item = TypeVar("_Item", bound=Hashable)


class Branch(NamedTuple):
    """Where it holds, something is evaluated that is not always.

    Attributes:
        evaluated: What.
        where: The values of one kind, among those in the node.
    """

    evaluated: Evaluated
    where: ShapeSet


class _Members(NamedTuple):
    """A clause about members.

    Attributes:
        rule: What they are in if no branch holds that evaluates them.
        where: Where such a branch holds, as a union.
    """

    rule: ObjectShape
    where: list[ObjectShape]


class Branches:
    """The clauses of one schema's nodes.

    Args:
        source: The nodes.
        evaluation: What they evaluate.
        table: The expressions.
        strings: The string sets.
        sets: The operations on sets.
        values: The set of a subschema; those of all nodes that apply to the value are known.
        limits: `max_source_nodes` bounds the clauses and what they make.
    """

    def __init__(
        self,
        source: Source,
        evaluation: Evaluation,
        table: Exprs,
        strings: StringSets,
        sets: Shapes,
        values: Callable[[Node | bool], ShapeSet],
        limits: Limits,
    ) -> None:
        self._source = source
        self._evaluation = evaluation
        self._table = table
        self._strings = strings
        self._sets = sets
        self._values = values
        self._limits = limits
        self._made: dict[tuple[Node, Kind], list[Branch]] = {}
        self._charged = 0

    def restrict(self, values: ShapeSet, node: Node, wanted: Expr, kind: Kind) -> ShapeSet:
        """Those values of a node whose members or items that are not evaluated are in `wanted`.

        Args:
            values: Those that satisfy the other keywords of the node.
            node: The node.
            wanted: What its `unevaluated...` says.
            kind: Objects or arrays.

        Raises:
            LimitExceededError: They are too many shapes.
        """
        least = self._evaluation.inside(node, kind).least
        found = self._of(node, kind)
        if kind == "objects":
            clauses = self._object_clauses(least, found, wanted)
            return replace(values, objects=self._objects(values.objects, clauses))
        items = self._array_clauses(least, found, wanted)
        arrays = [ShapeSet(arrays=tuple(union)) for union in [values.arrays, *items]]
        return replace(values, arrays=self._sets.all_of(arrays).arrays)

    # Branches

    def _of(self, node: Node, kind: Kind) -> list[Branch]:
        """The branches in a node, its own `unevaluated...` left out."""
        todo = [node]
        while todo:
            at = todo[-1]
            if (at, kind) in self._made:
                todo.pop()
                continue
            missing = [
                below
                for each in self._busy(at, kind)
                for below in each.branches
                if isinstance(below, Node)
                and self._depends(below, kind)
                and (below, kind) not in self._made
            ]
            if missing:
                todo += missing
            else:
                self._made[at, kind] = self._collect(at, kind)
        return self._made[node, kind]

    def _busy(self, node: Node, kind: Kind) -> list[Applied]:
        """The keywords that may evaluate something beyond what is evaluated always."""
        least = self._evaluation.inside(node, kind).least
        return [
            each
            for each in applied(node, kind, self._source)
            if not least.covers(self._evaluation.of_applied(each, kind).most)
        ]

    def _depends(self, node: Node, kind: Kind) -> bool:
        bounds = self._evaluation.of(node, kind)
        return not bounds.least.covers(bounds.most)

    def _collect(self, node: Node, kind: Kind) -> list[Branch]:
        """The branches in a node, once those below are known."""
        least = self._evaluation.inside(node, kind).least
        found: list[Branch] = []
        for each in self._busy(node, kind):
            if each.how == "all":
                found += self._inside(each.branches[0], kind)
            elif each.how == "dependent":
                present = ObjectShape(required=(each.key,))
                where = ShapeSet(objects=(present,))
                found += self._within(where, each.branches[0], kind)
            elif each.how == "if":
                condition, then, otherwise = each.branches
                where = _only(self._values(condition), kind)
                found += self._within(where, condition, kind)
                found += self._within(where, then, kind)
                if not least.covers(self._evaluation.of(otherwise, kind).most):
                    where = self._sets.without(_only(EVERYTHING, kind), where)
                    found += self._within(where, otherwise, kind)
            else:
                for branch in each.branches:
                    where = _only(self._values(branch), kind)
                    found += self._within(where, branch, kind)
        merged: dict[Evaluated, list[ShapeSet]] = {}
        for evaluated, where in found:
            if not least.covers(evaluated) and (where.objects or where.arrays):
                merged.setdefault(evaluated, []).append(where)
        return [Branch(evaluated, self._sets.any_of(sets)) for evaluated, sets in merged.items()]

    def _inside(self, branch: Node | bool, kind: Kind) -> list[Branch]:
        if isinstance(branch, Node) and self._depends(branch, kind):
            return self._made[branch, kind]
        return []

    def _within(self, where: ShapeSet, branch: Node | bool, kind: Kind) -> list[Branch]:
        """A subschema that counts somewhere, and the branches in it."""
        found = [Branch(self._evaluation.of(branch, kind).least, where)]
        for evaluated, inner in self._inside(branch, kind):
            found.append(Branch(evaluated, self._sets.all_of([where, inner])))
        return found

    # Clauses

    def _object_clauses(
        self, least: Evaluated, found: Sequence[Branch], wanted: Expr
    ) -> list[_Members]:
        clauses = []
        groups: dict[tuple[int, ...], list[str]] = {}
        for name in dict.fromkeys(n for branch in found for n in sorted(branch.evaluated.names)):
            if not self._evaluates(least, name):
                where = tuple(
                    [i for i, b in enumerate(found) if self._evaluates(b.evaluated, name)]
                )
                groups.setdefault(where, []).append(name)
        for holding, names in groups.items():
            rule = ObjectShape(dict.fromkeys(names, wanted))
            shapes = [shape for i in holding for shape in found[i].where.objects]
            clauses.append(_Members(rule, shapes))
        apart = least.names.union(*groups.values())
        always = frozenset(i for i, b in enumerate(found) if b.evaluated.everything)
        sets = {
            language: always | {i for i, b in enumerate(found) if language in b.evaluated.languages}
            for branch in found
            for language in sorted(branch.evaluated.languages, key=lambda each: each.name)
            if language not in least.languages
        }
        for indices, inside in self._unions(sets, always).items():
            outside = least.languages | (sets.keys() - inside)
            keys = self._strings.union([StringShape(no=frozenset(outside), out=apart)])
            rule = ObjectShape(rules=((keys, wanted),) if keys else ())
            shapes = [shape for i in sorted(indices) for shape in found[i].where.objects]
            clauses.append(_Members(rule, shapes))
        return clauses

    def _evaluates(self, evaluated: Evaluated, name: str) -> bool:
        """Whether a member with a key is among those evaluated."""
        if evaluated.everything or name in evaluated.names:
            return True
        return any(
            self._strings.contains(StringShape(yes=frozenset((language,))), name)
            for language in evaluated.languages
        )

    def _array_clauses(
        self, least: Evaluated, found: Sequence[Branch], wanted: Expr
    ) -> list[list[ArrayShape]]:
        """Each a union of shapes."""
        clauses = []
        # Where a branch only wants an item in a set, an item that is in it sees to that itself.
        sure = least.values.union(*[b.evaluated.values for b in found if _wants_item(b)])
        ends: list[int | None] = [*sorted({b.evaluated.first for b in found}), None]
        start = least.first
        for end in ends:
            if end is not None and end <= start:
                continue
            always = frozenset(
                i
                for i, b in enumerate(found)
                if b.evaluated.everything or (end is not None and b.evaluated.first >= end)
            )
            sets = {
                expr: always | {i for i, b in enumerate(found) if expr in b.evaluated.values}
                for b in found
                for expr in sorted(b.evaluated.values, key=lambda e: e.serial)
                if expr not in sure
            }
            for indices, inside in self._unions(sets, always).items():
                item = self._table.any_of([wanted, *sure, *(sets.keys() - inside)])
                prefix, rest = (TRUE,) * start, item
                if end is not None:
                    prefix, rest = prefix + (item,) * (end - start), TRUE
                rule = array.tidy(ArrayShape(prefix, rest), self._table)
                if rule == array.ANY_ARRAY:
                    continue
                shapes = [shape for i in sorted(indices) for shape in found[i].where.arrays]
                clauses.append([*([] if rule is None else [rule]), *shapes])
            start = start if end is None else end
        return clauses

    def _unions(
        self, sets: Mapping[_Item, frozenset[int]], always: frozenset[int]
    ) -> dict[frozenset[int], frozenset[_Item]]:
        """All unions of some sets of branches; for each the items whose sets are inside it.

        A member that is in exactly some of the languages is evaluated by the union of their
        branches. For one union it is enough to speak of all languages with branches inside it: a
        member that is in fewer has a stricter clause of its own.
        """
        unions = {always}
        for each in sets.values():
            unions |= {each | union for union in unions}
            self._charged += len(unions) * _CHARGE
            self._limits.check(
                "max_source_nodes", self._charged, "what is evaluated on which conditions"
            )
        return {
            union: frozenset(item for item, indices in sets.items() if indices <= union)
            for union in sorted(unions, key=sorted)
        }

    # Applying them

    def _objects(
        self, union: tuple[ObjectShape, ...], clauses: list[_Members]
    ) -> tuple[ObjectShape, ...]:
        branches = {id(other): other for clause in clauses for other in clause.where}
        found = []
        for shape in union:
            left = {
                key: None if _apart(shape, other, self._table) else _beyond(shape, other)
                for key, other in branches.items()
            }
            named: dict[str, Expr] = {}
            rules: list[tuple[KeySet, Expr]] = []
            sets = []
            for rule, where in clauses:
                possible = [beyond for other in where if (beyond := left[id(other)]) is not None]
                if not possible:
                    named |= rule.named
                    rules += rule.rules
                elif objects.ANY_OBJECT not in possible:
                    sets.append(ShapeSet(objects=tuple(self._joined(rule, possible))))
            start = objects.intersect(shape, ObjectShape(named, tuple(rules)), self._table)
            if start is not None:
                found.append(self._sets.all_of([ShapeSet(objects=(start,)), *sets]))
        return self._sets.any_of(found).objects

    def _joined(self, rule: ObjectShape, shapes: list[ObjectShape]) -> list[ObjectShape]:
        """The union of a rule and the shapes of branches, in as few shapes as is plain."""
        for i, shape in enumerate(shapes):
            one = one_shape(rule, shape, self._table)
            if one is not None:
                return [one, *shapes[:i], *shapes[i + 1 :]]
        return [rule, *shapes]


def _wants_item(branch: Branch) -> bool:
    """Whether a branch holds wherever some item is in what it evaluates."""
    if len(branch.evaluated.values) != 1 or len(branch.where.arrays) != 1:
        return False
    (expr,) = branch.evaluated.values
    counter = array.ArrayCounter(expr, 0, 1, None)
    return branch.where.arrays[0] == ArrayShape(lo=1, counters=frozenset((counter,)))


def _apart(a: ObjectShape, b: ObjectShape, table: Exprs) -> bool:
    """Whether it is plain that no object is in both: a key that must be there has no value."""
    return any(
        key in a.named and key in b.named and table.all_of((a.named[key], b.named[key])) is FALSE
        for key in (*a.required, *b.required)
    )


def _beyond(known: ObjectShape, shape: ObjectShape) -> ObjectShape:
    """What a shape says beyond one that is known to hold; `ANY_OBJECT` if nothing."""
    rules = dict(known.rules)
    left = ObjectShape(
        {k: e for k, e in shape.named.items() if not implies(known.named.get(k, TRUE), e)},
        tuple([(k, e) for k, e in shape.rules if not implies(rules.get(k, TRUE), e)]),
        tuple([key for key in shape.required if key not in known.required]),
        shape.some - known.some,
        shape.needs - known.needs,
        0 if shape.lo <= max(known.lo, len(known.required)) else shape.lo,
        None if known.hi is not None and shape.hi in (None, known.hi) else shape.hi,
    )
    return objects.ANY_OBJECT if left.same_as() == objects.ANY_OBJECT.same_as() else left


def one_shape(rule: ObjectShape, shape: ObjectShape, table: Exprs) -> ObjectShape | None:
    """The union of a rule about a few keys and a shape, if that is plainly one shape.

    It is where none of the keys may be there by the rule, and the shape only speaks of these keys
    and of what must be there: if one of the keys is there, so is what the shape requires.

    Args:
        rule: A shape that only says what the members of some keys are in.
        shape: Any shape.
        table: The expressions.
    """
    names = rule.named.keys()
    if rule.rules or shape.rules or shape.some or shape.needs or shape.lo or shape.hi is not None:
        return None
    if not shape.named.keys() <= names:
        return None
    if all(wanted is FALSE for wanted in rule.named.values()):
        required = frozenset(shape.required)
        needs = frozenset((key, required - {key}) for key in names if required - {key})
        named = {key: expr for key, expr in shape.named.items() if expr is not TRUE}
        return objects.tidy(ObjectShape(named, needs=needs), table)
    if len(names) == 1 and set(shape.required) <= names:
        (key,) = names
        either = table.any_of((rule.named[key], shape.named.get(key, TRUE)))
        return objects.tidy(ObjectShape({key: either}), table)
    return None


def _only(values: ShapeSet, kind: Kind) -> ShapeSet:
    """Those of some values that are of a kind. Members that may be anything are not named."""
    if kind == "arrays":
        return ShapeSet(arrays=values.arrays)
    lean = [
        replace(shape, named={key: e for key, e in shape.named.items() if e is not TRUE})
        for shape in values.objects
    ]
    return ShapeSet(objects=tuple(lean))
