"""A look at everything that a schema can reach, so that refusals come when it is compiled.

Needed only if a keyword occurs from which shapes arise that may have to be refused, or whose
combinations may be too many; else subschemas are looked at when a text gets there.
"""

from __future__ import annotations

from typing import Final

from constrain.frontends.json_schema.emptiness import Emptiness
from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr
from constrain.frontends.json_schema.meaning import Meaning
from constrain.frontends.json_schema.members import Members
from constrain.frontends.json_schema.refs import Source
from constrain.frontends.json_schema.refusals import refuse_array

__all__ = ["audit", "needs_audit"]

_CHARGE: Final = 400
"""Nodes that an expression counts as: by default 5,000 are looked at, the others when reached."""


def needs_audit(source: Source) -> bool:
    """Whether a schema has keywords from which shapes arise that have to be refused."""
    if source.combines:
        return True
    if "uniqueItems" not in source.keywords:
        return False
    return any(node.get("uniqueItems") for node in source.nodes)


def audit(root: Expr, meaning: Meaning, emptiness: Emptiness) -> None:
    """Look at every shape that texts can reach, up to a budget.

    Raises:
        UnsupportedFeatureError: One has to be refused.
        LimitExceededError: The combinations of a schema are too many.
    """
    most = max(meaning.limits.max_source_nodes // _CHARGE, 1)
    seen = {root}
    todo = [root]
    for expr in todo:
        if len(todo) > most:
            return
        values = meaning.shapes(expr)
        below: list[Expr] = []
        for array in values.arrays:
            if emptiness.array_has_value(array):
                refuse_array(array, emptiness.items(array), meaning, emptiness.has_value)
                below += [*array.prefix, array.rest, *[c.expr for c in array.counters]]
        for shape in values.objects:
            if emptiness.object_has_value(shape):
                below += _values(meaning.members(shape))
        for e in below:
            if e not in seen and e is not TRUE and e is not FALSE and emptiness.has_value(e):
                seen.add(e)
                todo.append(e)


def _values(members: Members) -> list[Expr]:
    """What members may be in, also where they meet an obligation."""
    offers = [(value, members.meets(key)) for key, value in members.named.items()]
    offers += [(region.value, region.meets) for region in members.regions]
    found = [value for value, _ in offers]
    for value, meets in offers:
        found += [members.table.all_of((value, members.obligations[i].value)) for i in meets]
    return found
