"""What arguments can hold that cannot be written: looked for before a text gets there.

A string has no escapes, so it cannot hold what ends it; and not every key can be written. Where a
schema leaves something else, that is all there is; where it does not, it is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from constrain.algebra.utf8 import UTF8
from constrain.errors import UnsupportedFeatureError
from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr
from constrain.frontends.json_schema.object import ObjectShape
from constrain.frontends.json_schema.shapes import ShapeSet
from constrain.frontends.json_schema.string import shape_term
from constrain.frontends.tags.argument_values import Values

__all__ = ["look"]

_MOST_LOOKS: Final = 5_000
"""Expressions that are looked at before a text gets there; the others when it does."""


def look(writer: Values, shapes: Iterable[ObjectShape], *exprs: Expr) -> None:
    """Look for keys and strings that cannot be written, at all that can be inside of something.

    Args:
        writer: How they are written.
        shapes: The arguments.
        exprs: Other values.

    Raises:
        UnsupportedFeatureError: There is one.
    """
    seen: set[Expr] = {TRUE, FALSE}
    todo: list[Expr] = [*exprs]
    for shape in shapes:
        todo += _member_values(writer, shape)
    while todo and len(seen) <= _MOST_LOOKS:
        expr = todo.pop()
        if expr in seen:
            continue
        seen.add(expr)
        found = writer.meaning.shapes(expr)
        _look_at_strings(writer, found)
        for array in found.arrays:
            if writer.emptiness.array_has_value(array):
                todo += [e for e in (*array.prefix, array.rest) if writer.emptiness.has_value(e)]
                if array.distinct is not None or array.counters:
                    writer.array_of(array)
                if array.distinct is not None:
                    _look_at_items(writer, array)
        for shape in found.objects:
            if writer.emptiness.object_has_value(shape):
                todo += _member_values(writer, shape)
                if writer.how.nested == "same":
                    writer.object_of(shape)
                else:
                    _look_at_names(writer, shape)


def _look_at_items(writer: Values, array: ArrayShape) -> None:
    """Items that differ: how many there can be depends on those that cannot be written."""
    if writer.escapes_marks:
        return
    for expr in (*array.prefix, array.rest):
        found = writer.meaning.shapes(expr)
        texts = [text for shape in found.strings for text in shape.only or ()]
        if any([mark in text for text in texts for mark in writer.marks]):
            raise writer.nothing_left(found)


def _member_values(writer: Values, shape: ObjectShape) -> list[Expr]:
    members = writer.meaning.members(shape)
    named = [e for e in members.named.values() if writer.emptiness.has_value(e)]
    return [*named, *[region.value for region in members.regions]]


def _look_at_names(writer: Values, shape: ObjectShape) -> None:
    """Keys of an object that is written as JSON."""
    for name, expr in writer.meaning.members(shape).named.items():
        text = json.dumps(name, ensure_ascii=False)
        if any([mark in text for mark in writer.marks]) and writer.emptiness.has_value(expr):
            raise UnsupportedFeatureError(
                f"a property named {name!r}: a text in it is kept out of what is written"
            )


def _look_at_strings(writer: Values, values: ShapeSet) -> None:
    others = values.numbers or values.booleans or values.null or values.arrays or values.objects
    if not values.strings or others or not writer.marks or writer.escapes_marks:
        return
    for shape in values.strings:
        if shape.only is None and not (shape.yes or shape.no):
            return
        if shape.only is not None and not all(
            [any([mark in text for mark in writer.marks]) for text in shape.only]
        ):
            return
        if shape.only is None:
            if not writer.is_empty(writer.without_marks(shape_term(shape, UTF8))):
                return
    raise writer.nothing_left(values)
