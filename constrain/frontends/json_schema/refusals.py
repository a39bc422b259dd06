"""What the shapes can say and the terms cannot yet, refused by name: distinct items of many values."""

from __future__ import annotations

from constrain.errors import UnsupportedFeatureError
from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.meaning import Meaning

__all__ = ["refuse_array"]


def refuse_array(shape: ArrayShape, meaning: Meaning) -> None:
    """Raise if distinct items cannot be honoured.

    Raises:
        UnsupportedFeatureError: They cannot.
    """
    if shape.distinct is None:
        return
    exprs = list(shape.prefix)
    if shape.hi is None or shape.hi > len(exprs):
        exprs.append(shape.rest)
    if shape.distinct and not any(meaning.values_of(expr) is None for expr in exprs):
        return
    raise UnsupportedFeatureError(
        "'uniqueItems' is supported only for items with at most 64 possible values",
        pointer=meaning.first_use("uniqueItems"),
        hint="leave it out and check the result, or list the values with `enum`",
    )
