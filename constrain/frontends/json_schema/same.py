"""Which nodes plainly mean the same: equal keywords, with subschemas that mean the same.

People write one subschema out many times, in the branches of a `oneOf` say. If all of them are one
expression, "in this one but not in that one" is seen to be nothing without a look at what it says.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Final

from constrain.frontends.json_schema.read import JSON
from constrain.frontends.json_schema.refs import NEGATING, UNEVALUATED, Node, Source
from constrain.frontends.json_schema.values import Values

__all__ = ["canonical_nodes"]

_COMBINING: Final = NEGATING.union(UNEVALUATED)
"""Keywords below which it matters that two schemas are the same."""


def canonical_nodes(source: Source, frozen: Values) -> dict[Node, Node]:
    """For each node, one that plainly means the same and stands for it.

    Args:
        source: The nodes.
        frozen: Keeps the values of keywords.

    Cost: one pass. Subschemas were found after the schemas around them, so in reverse they come
        first;
    one that a reference reached earlier stands for itself.
    """
    canonical: dict[Node, Node] = {}
    first: dict[Hashable, Node] = {}

    def key(value: JSON, above: Node, pointer: str) -> Hashable:
        """A subschema: what stands for it, or its value if it is a boolean."""
        if not isinstance(value, dict):
            return frozen.freeze(value, pointer)
        node = source.node(value, above)
        return canonical.get(node, node)

    below: Collection[Node] = source.nodes
    if not source.is_rewritten:
        below = source.reached([n for n in source.nodes if not _COMBINING.isdisjoint(n.names)])
    for node in reversed(source.nodes):
        if node not in below:
            continue
        parts: list[Hashable] = []
        for name in sorted(node.names):
            value, pointer = node.schema[name], node.at(name)
            children = node.dialect.keywords[name].children
            if children == "reference":
                parts.append((name, node.targets[name]))
            elif not children:
                parts.append((name, frozen.freeze(value, pointer)))
            elif isinstance(value, list):
                parts.append((name, tuple([key(v, node, pointer) for v in value])))
            elif children in ("schema map", "dependencies"):
                members = [(k, key(v, node, pointer)) for k, v in value.items()]
                # The order of properties is kept: it is the order in which they are written.
                parts.append((name, tuple(members)))
            else:
                parts.append((name, key(value, node, pointer)))
        canonical[node] = first.setdefault((node.dialect, *parts), node)
    return canonical
