"""Which expressions have a value at all: the least fixpoint over the shapes that matter.

Whether an array or object shape is empty depends on whether the expressions of its items and
members are, and a recursive schema goes round in a circle. So all expressions involved start as
empty, and each is looked at again when one that it asked about turns out not to be, until nothing
changes. What is empty then stays empty: `{"$ref": "#"}` under a required property has no finite
value.

Only what is needed is asked: an object without required members is not empty whatever its
properties say. Numbers and strings are decided by their own rooms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.counts import Counts
from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr, Finite
from constrain.frontends.json_schema.items import Items
from constrain.frontends.json_schema.meaning import Meaning
from constrain.frontends.json_schema.object import ObjectShape, value_of
from constrain.frontends.json_schema.refs import Node
from constrain.frontends.json_schema.refusals import refuse_array

__all__ = ["Emptiness"]

Ask = Callable[[Expr], bool]


_LEAST_PASS: Final = frozenset(
    (
        *("type", "properties", "patternProperties", "additionalProperties", "maxProperties"),
        *("items", "prefixItems", "additionalItems", "maxItems", "uniqueItems", "maxLength"),
    )
)
"""Keywords that let the least value of some type pass: null, false, 0, "", [] or {}."""


class Emptiness:
    """Decides which expressions and shapes of one schema have values.

    Args:
        meaning: The sets of its expressions.
    """

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning
        self._counts = Counts(meaning)
        self._known: dict[Expr, bool] = {TRUE: True, FALSE: False}
        self._arrays: dict[ArrayShape, bool] = {}
        self._objects: dict[ObjectShape, bool] = {}

    def has_value(self, expr: Expr) -> bool:
        """Whether some value is in an expression."""
        answer = self._at_once(expr)
        if answer is not None:
            return answer
        believed: dict[Expr, bool] = {expr: False}
        asked_by: dict[Expr, set[Expr]] = {}
        todo = [expr]
        while todo:
            e = todo.pop()
            if believed[e]:
                continue

            def ask(other: Expr, asker: Expr = e) -> bool:
                answer = self._at_once(other)
                if answer is not None:
                    return answer
                asked_by.setdefault(other, set()).add(asker)
                if other not in believed:
                    believed[other] = False
                    todo.append(other)
                return believed[other]

            if self._expr_has_value(e, ask):
                believed[e] = True
                todo.extend(asked_by.pop(e, ()))
        self._known.update(believed)
        for e, has_value in believed.items():
            if not has_value:
                for shape in self._meaning.shapes(e).arrays:
                    self.array_has_value(shape)  # refuses it if that cannot be told
        return self._known[expr]

    def _at_once(self, expr: Expr) -> bool | None:
        """Whether some value is in an expression, where that is known or plain to see."""
        answer = self._known.get(expr)
        if answer is None and _plainly_has_value(expr):
            answer = self._known[expr] = True
        return answer

    def items(self, shape: ArrayShape) -> Items:
        """The items of an array shape with counters, or where items are compared."""
        meaning = self._meaning
        return Items(shape, meaning.table, meaning.values_of, self._counts.count, meaning.limits)

    def array_has_value(self, shape: ArrayShape) -> bool:
        """Whether some array is in a shape."""
        found = self._arrays.get(shape)
        if found is None:
            found = self._arrays[shape] = self._array(shape, self.has_value)
            # Where there is no array even if items may be equal, it is empty for certain.
            if not found and shape.distinct and self.array_has_value(replace(shape, distinct=None)):
                refuse_array(shape, self.items(shape), self._meaning, self.has_value)
        return found

    def object_has_value(self, shape: ObjectShape) -> bool:
        """Whether some object is in a shape."""
        found = self._objects.get(shape)
        if found is None:
            found = self._objects[shape] = self._object(shape, self.has_value)
        return found

    def _expr_has_value(self, expr: Expr, ask: Ask) -> bool:
        values = self._meaning.shapes(expr)
        if values.null or values.booleans or values.numbers or values.strings:
            return True
        return any(self._array(s, ask) for s in values.arrays) or any(
            self._object(s, ask) for s in values.objects
        )

    def _array(self, shape: ArrayShape, ask: Ask) -> bool:
        if shape.counters or shape.distinct is not None:
            items = self.items(shape)
            return items.can_finish(items.start(), ask)
        if not all(ask(expr) for expr in shape.prefix[: shape.lo]):
            return False
        return shape.lo <= len(shape.prefix) or ask(shape.rest)

    def _object(self, shape: ObjectShape, ask: Ask) -> bool:
        meaning = self._meaning
        if not shape.some and not shape.lo:
            return all(
                ask(value_of(shape, key, meaning.table, meaning.strings)) for key in shape.required
            )
        members = meaning.members(shape)
        pending = frozenset(range(len(members.obligations)))
        return members.can_finish(members.named, frozenset(), pending, 0, ask)


def _plainly_has_value(expr: Expr) -> bool:
    """Whether the least value of some type is in an expression, which its keywords show."""
    if expr.op != "node":
        return False
    node = expr.node
    return isinstance(node, Finite) or (
        isinstance(node, Node) and _LEAST_PASS.issuperset(node.names)
    )
