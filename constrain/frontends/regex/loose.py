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
    alternation,
    concat,
    repetition,
)

__all__ = ["without_assertions"]


def without_assertions(root: RegexNode) -> RegexNode:
    """The pattern with `EMPTY_TEXT` for every assertion. Cost: O(nodes)."""
    made: dict[RegexNode, RegexNode] = {}
    todo = [root]
    while todo:
        node = todo[-1]
        parts = () if node.plain else _parts(node)
        missing = [part for part in parts if part not in made]
        if missing:
            todo += missing
            continue
        todo.pop()
        made[node] = node if node.plain else _rebuilt(node, [made[part] for part in parts])
    return made[root]


def _parts(node: RegexNode) -> tuple[RegexNode, ...]:
    if isinstance(node, Concat):
        return node.parts
    if isinstance(node, Alternation):
        return node.members
    return (node.body,) if isinstance(node, Repeat) else ()


def _rebuilt(node: RegexNode, parts: list[RegexNode]) -> RegexNode:
    if isinstance(node, Concat):
        return concat(parts)
    if isinstance(node, Alternation):
        return alternation(parts)
    if isinstance(node, Repeat):
        return repetition(parts[0], node.lo, node.hi)
    return EMPTY_TEXT
