"""Strongly connected components: nodes that lead to each other, in a search that does not recurse.

    0 -> 1 -> 2 -> 1, 3        components [3], [1, 2], [0]

With them, what is true of a node because of all that it leads to is one pass (`unions`).

Cost: O(nodes + edges).
Source: Tarjan, "Depth-first search and linear graph algorithms" (1972).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

__all__ = ["components", "unions"]

S = TypeVar("S", int, frozenset[str])
"""A set: the bits of an integer, or names."""


def components(successors: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    """The strongly connected components of a graph.

    Args:
        successors: Of each node, which is an index into it.

    Returns:
        The component of each node, and the nodes of each component, in the order in which a search
        that starts at the nodes in order comes to them. A component comes after those that it
        leads to.
    """
    number = [0] * len(successors)  # 0: not yet seen
    low = [0] * len(successors)
    component = [-1] * len(successors)
    done: list[list[int]] = []
    opened: list[int] = []
    count = 0
    for root in range(len(successors)):
        if number[root]:
            continue
        path = [(root, iter(successors[root]))]
        count += 1
        number[root] = low[root] = count
        opened.append(root)
        while path:
            n, rest = path[-1]
            for s in rest:
                if not number[s]:
                    count += 1
                    number[s] = low[s] = count
                    opened.append(s)
                    path.append((s, iter(successors[s])))
                    break
                if component[s] < 0:
                    low[n] = min(low[n], number[s])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[n])
                if low[n] == number[n]:
                    at = len(opened) - 1
                    while opened[at] != n:
                        at -= 1
                    for member in opened[at:]:
                        component[member] = len(done)
                    done.append(opened[at:])
                    del opened[at:]
    return component, done


def unions(own: Sequence[S], successors: Sequence[Sequence[int]]) -> list[S]:
    """For each node the union of the sets of all nodes that it leads to, itself one of them."""
    component, found = components(successors)
    union: list[S] = []
    for number, part in enumerate(found):  # those that others lead to come first
        members = own[part[0]]
        for node in part:
            members |= own[node]
            for other in successors[node]:
                if component[other] < number:
                    members |= union[component[other]]
        union.append(members)
    return [union[number] for number in component]
