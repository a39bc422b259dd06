"""A pattern without what it asserts about the text around it: all that it matches, and maybe more.

To explain where a text stands, and nothing else: what else matches is left out by the engine.
"""

from __future__ import annotations

from constrain.frontends.regex.nodes import (
    EMPTY_TEXT,
    Alternation,
    Concat,
    RegexNode,
    Repeat,
    postorder,
    rebuilt,
)

__all__ = ["without_assertions"]


def without_assertions(root: RegexNode) -> RegexNode:
    """The pattern with `EMPTY_TEXT` for every assertion. Cost: O(nodes)."""
    made: dict[RegexNode, RegexNode] = {}
    for node in postorder(root, into=lambda n: not n.plain):
        if node.plain:
            made[node] = node
        elif isinstance(node, (Concat, Alternation, Repeat)):
            made[node] = rebuilt(node, made)
        else:
            made[node] = EMPTY_TEXT
    return made[root]
