"""What the shapes can say and the terms cannot, refused by name.

Different items are refused where a number of them must be there, and it cannot be told whether an
item can have so many values.
"""

from __future__ import annotations

from collections.abc import Callable

from constrain.errors import UnsupportedFeatureError
from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.expr import Expr
from constrain.frontends.json_schema.items import Items
from constrain.frontends.json_schema.meaning import Meaning

__all__ = ["refuse_array"]


def refuse_array(
    shape: ArrayShape, items: Items, meaning: Meaning, has_value: Callable[[Expr], bool]
) -> None:
    """Raise if it cannot be told whether enough different items can be there.

    Args:
        shape: The shape.
        items: Its items.
        meaning: For the place.
        has_value: Whether an expression has a value.

    Raises:
        UnsupportedFeatureError: It cannot.
    """
    if items.is_exact(has_value):
        return
    raise UnsupportedFeatureError(
        f"'uniqueItems' where {max(shape.lo, 1)} different items must be there: the values of an "
        "item are too many to list, and perhaps too few for that",
        pointer=meaning.first_use("uniqueItems"),
        hint="lower `minItems`, or list the values with `enum`",
    )
