"""A look at everything that a schema can reach, so that refusals come when it is compiled.

Needed only if a keyword occurs from which shapes arise that may have to be refused, or whose
combinations may be too many; else subschemas are looked at when a text gets there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from constrain.frontends.json_schema.emptiness import Emptiness
from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr
from constrain.frontends.json_schema.late import may_refuse_late, refuses_late
from constrain.frontends.json_schema.meaning import Meaning
from constrain.frontends.json_schema.members import Members
from constrain.frontends.json_schema.refs import NEGATING, UNEVALUATED, Node, Source
from constrain.frontends.json_schema.refusals import refuse_array

__all__ = ["audit", "places"]

_ASKING: Final = NEGATING.union(UNEVALUATED, ("uniqueItems",))

_CHARGE: Final = 400
"""Nodes that an expression counts as: by default 5,000 are looked at, the others when reached."""


def needs_audit(source: Source) -> bool:
    """Whether a schema has keywords from which shapes arise that have to be refused."""
    if source.combines:
        return True
    if "uniqueItems" not in source.keywords:
        return False
    return any(node.get("uniqueItems") for node in source.nodes)


def places(source: Source) -> Callable[[Expr], bool] | None:
    """Which expressions have to be looked at; None if there is none.

    A node is looked at if keywords are reached from it that need it. So is what is put together
    from several nodes, or is the complement of one: such expressions come of these keywords.
    """
    if not (needs_audit(source) or may_refuse_late(source)):
        return None
    if source.is_rewritten:
        return lambda _: True
    asking = source.reaching([node for node in source.nodes if _asks(node)])

    def is_asking(expr: Expr) -> bool:
        return expr.op != "node" or not isinstance(expr.node, Node) or expr.node in asking

    return is_asking


def _asks(node: Node) -> bool:
    """Whether a node has a keyword for which shapes are looked at before a text reaches them."""
    return not _ASKING.isdisjoint(node.names) or refuses_late(node)


def audit(
    root: Expr, meaning: Meaning, emptiness: Emptiness, is_asking: Callable[[Expr], bool]
) -> None:
    """Look at every shape that texts can reach, up to a budget.

    Args:
        root: Where to begin.
        meaning: The sets of expressions.
        emptiness: Which of them have values.
        is_asking: Whether an expression has to be looked at; what is inside of one that has not
            has not either.

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
            if e in seen or e is TRUE or e is FALSE or not is_asking(e):
                continue
            if emptiness.has_value(e):
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
