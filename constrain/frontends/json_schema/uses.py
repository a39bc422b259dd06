"""Where nodes are used: upright, or turned round by a keyword above.

Where a schema is used as it stands, leaving out one of its keywords lets more values through. Below
`not`, in the condition of `if`, in a `oneOf`, and in a `contains` that counts up to a maximum, it
lets fewer through, or others: these keywords turn round what is below them. A schema may be used in
both ways, as references lead to it from many places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from constrain.frontends.json_schema.read import JSON
from constrain.frontends.json_schema.refs import Node, Source

__all__ = ["TURNING", "Use", "in_place", "reached", "turned", "used_from", "uses"]

TURNING: Final = frozenset(("not", "oneOf", "if"))
"""Keywords that always turn round what is below them."""


class Use(NamedTuple):
    """A keyword of a node that leads to another node."""

    keyword: str
    below: Node
    turns: bool


def uses(node: Node, source: Source) -> Iterator[Use]:
    """What the keywords of a node lead to."""
    for name in node.names:
        turns = name in TURNING or (name == "contains" and "maxContains" in node.names)
        for below in _below(node, name, source):
            yield Use(name, below, turns)


def _below(node: Node, name: str, source: Source) -> Iterator[Node]:
    target = node.targets.get(name)
    if isinstance(target, Node):
        yield target
    children = node.dialect.keywords[name].children
    if children in ("", "reference"):
        return
    value = node.schema[name]
    schemas: Iterable[JSON] = [value]
    if isinstance(value, list):
        schemas = value
    elif children in ("schema map", "dependencies"):
        schemas = value.values()
    for schema in schemas:
        if isinstance(schema, dict):
            yield source.node(schema, node)


def reached(source: Source, *, upright: bool = False) -> dict[Node, None]:
    """The nodes that are reached from the root, perhaps only by what does not turn round."""
    return _closure(
        source.nodes[:1],
        lambda n: [use.below for use in uses(n, source) if not (upright and use.turns)],
    )


def turned(source: Source) -> dict[Node, None]:
    """The nodes that are used below a keyword that turns round."""
    tops = [use.below for node in reached(source) for use in uses(node, source) if use.turns]
    return _closure(tops, lambda n: [use.below for use in uses(n, source)])


def used_from(node: Node, source: Source) -> dict[Node, None]:
    """The nodes from which a node is reached, and itself."""
    above: dict[Node, list[Node]] = {}
    for other in source.nodes:
        for use in uses(other, source):
            above.setdefault(use.below, []).append(other)
    return _closure([node], lambda n: above.get(n, ()))


def in_place(node: Node) -> dict[Node, None]:
    """A node and those that apply to the same value."""
    return _closure([node], lambda n: n.in_place)


def _closure(start: list[Node], after: Callable[[Node], Iterable[Node]]) -> dict[Node, None]:
    """The nodes that are reached from some, and these themselves, in that order."""
    found = dict.fromkeys(start)
    todo = list(found)
    for node in todo:
        for other in after(node):
            if other not in found:
                found[other] = None
                todo.append(other)
    return found
