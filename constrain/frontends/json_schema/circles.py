"""Nodes of a graph that lead back to themselves: a search in depth, without recursion."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

__all__ = ["find_circle"]

_Node = TypeVar("_Node", bound=Hashable)


def find_circle(
    starts: Iterable[_Node], below: Callable[[_Node], Iterable[_Node]]
) -> list[_Node] | None:
    """Nodes of which each leads to the next and the last to the first, or None.

    Cost: O(nodes and edges that are reached).

    Args:
        starts: Where to look from.
        below: The nodes that a node leads to.
    """
    done: set[_Node] = set()
    for start in starts:
        path: dict[_Node, Iterator[_Node]] = {} if start in done else {start: iter(below(start))}
        while path:
            node = next(reversed(path))
            for other in path[node]:
                if other in path:
                    around = list(path)
                    return around[around.index(other) :]
                if other not in done:
                    path[other] = iter(below(other))
                    break
            else:
                del path[node]
                done.add(node)
    return None
