"""What the shapes can say and the terms cannot yet, refused by name.

A text of a JSON object may have a key twice, and then the last member counts. Keys that the schema
names never come twice. For other keys it would take the keys seen so far, which a state does not
hold. As long as every member of a key obeys the same rules this cannot be told from the value; it
can where members are counted, or where some member must differ from what the rules allow. Those
are refused. So are distinct items, unless they have few values.

"""

from __future__ import annotations

from collections.abc import Callable

from constrain.errors import UnsupportedFeatureError
from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.expr import Expr, implies
from constrain.frontends.json_schema.meaning import Meaning
from constrain.frontends.json_schema.object import ObjectShape
from constrain.frontends.json_schema.refs import NEGATING

__all__ = ["refuse_array", "refuse_object"]


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


def refuse_object(shape: ObjectShape, meaning: Meaning, has_value: Callable[[Expr], bool]) -> None:
    """Raise if a count or an obligation could be met by a key that comes twice.

    Raises:
        UnsupportedFeatureError: It could.
    """
    if shape.lo < 2 and not shape.some:
        return
    members = meaning.members(shape)
    open_regions = [r for r in members.regions if has_value(r.value) and members.region_room(r, 1)]
    if shape.lo >= 2 and open_regions:
        raise UnsupportedFeatureError(
            f"'minProperties' of {shape.lo} beside keys that the schema does not name: that they "
            "are all different is not followed yet",
            pointer=meaning.first_use("minProperties", "maxProperties"),
            hint="name the properties and set additionalProperties to false",
        )
    for region in open_regions:
        for index in region.meets:
            if not implies(region.value, members.obligations[index].value):
                raise UnsupportedFeatureError(
                    "some member whose key the schema does not name must break a rule, and "
                    "that no later member has the same key is not followed yet",
                    pointer=meaning.first_use(*NEGATING),
                    hint="name the properties that the negated subschema is about",
                )
