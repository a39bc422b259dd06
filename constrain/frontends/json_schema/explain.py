"""Why nothing satisfies a schema: the keywords that collide.

Keywords are left out, many at a time and then one at a time, as long as the schema stays
unsatisfiable. What cannot be left out is a smallest set of keywords that collide: without any one
of them some value fits.

Cost: O(k log n) looks at the schema for n keywords of which k collide, each without building any
term. Source: Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input" (2002),
complements only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from constrain.errors import CompileError, GrammarError, UnsatisfiableError
from constrain.frontends.json_schema.read import JSON
from constrain.frontends.json_schema.refs import Node

__all__ = ["unsatisfiable"]

_MOST_LOOKS: Final = 300
_MOST_PLACES: Final = 4
_LONGEST_VALUE: Final = 60

_Use = tuple[Node, str]


def unsatisfiable(nodes: list[Node], is_empty: Callable[[], bool]) -> UnsatisfiableError:
    """The error for a schema that nothing satisfies.

    Args:
        nodes: Its nodes. Their `names` are changed while this looks, and put back.
        is_empty: Whether nothing satisfies the schema, with the names that the nodes have now.
    """
    before = {node: list(node.names) for node in nodes}
    try:
        core = _core(nodes, is_empty)
    finally:
        for node, names in before.items():
            node.names[:] = names
    places: dict[Node, list[str]] = {}
    for node, name in core:
        places.setdefault(node, []).append(name)
    if not places:
        return UnsatisfiableError("nothing satisfies the schema: it is false", pointer="#")
    deepest_first = sorted(places, key=nodes.index, reverse=True)
    shown = [
        f"{_join([_shown(node, name) for name in places[node]])} at {node.pointer}"
        for node in deepest_first[:_MOST_PLACES]
    ]
    together = "" if len(core) == 1 else " together"
    return UnsatisfiableError(
        f"no value satisfies {'; '.join(shown)}{together}",
        pointer=deepest_first[0].pointer,
        hint="without any one of these keywords some value would",
    )


def _core(nodes: list[Node], is_empty: Callable[[], bool]) -> list[_Use]:
    """Keywords none of which can be left out while the schema stays unsatisfiable."""
    left: list[_Use] = [(node, name) for node in nodes for name in node.names]
    looks = 0
    size = max(len(left) // 2, 1)
    while size >= 1:
        at = 0
        while at < len(left):
            chunk = left[at : at + size]
            looks += 1
            if looks > _MOST_LOOKS:
                return left
            for node, name in chunk:
                node.names.remove(name)
            if _surely(is_empty):
                left = left[:at] + left[at + size :]
                continue
            for node, name in chunk:
                node.names.append(name)
            at += size
        if size == 1:
            break
        size = max(size // 2, 1)
    return left


def _surely(is_empty: Callable[[], bool]) -> bool:
    try:
        return is_empty()
    except (GrammarError, CompileError):
        return False  # cannot be told: the keywords stay


def _shown(node: Node, name: str) -> str:
    value: JSON = node.schema[name]
    if isinstance(value, (dict, list)):
        return f"`{name}`"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{name}` ({text})" if len(text) <= _LONGEST_VALUE else f"`{name}`"


def _join(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
