"""Why nothing satisfies a schema: the keywords that collide.

Keywords are left out, many at a time and then one at a time, as long as the schema stays
unsatisfiable. What cannot be left out is a smallest set of keywords that collide: without any one
of them some value fits.

This holds of keywords without which more is valid. Below those that turn round (see `uses`) all
stay, and only the one that turns is named. A `oneOf` is taken for an `anyOf` first, if that is
unsatisfiable too, as it nearly always is: then the reason is in its schemas, and not that two of
them overlap.

Cost: O(k log n) looks at the schema for n keywords of which k collide, each without building any
term. Source: Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input" (2002),
complements only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from constrain.errors import CompileError, GrammarError, UnsatisfiableError
from constrain.frontends.json_schema.read import JSON
from constrain.frontends.json_schema.refs import Node, Source
from constrain.frontends.json_schema.uses import turned

__all__ = ["unsatisfiable"]

_MOST_LOOKS: Final = 300
_MOST_PLACES: Final = 4
_LONGEST_VALUE: Final = 60

_Use = tuple[Node, str]


def unsatisfiable(source: Source, is_empty: Callable[[], bool]) -> UnsatisfiableError:
    """The error for a schema that nothing satisfies.

    Args:
        source: Its nodes. They are changed while this looks, and put back.
        is_empty: Whether nothing satisfies the schema, with the nodes as they are now.
    """
    nodes = source.nodes
    before = [(node, list(node.names), node.schema) for node in nodes]
    try:
        one_of = _take_one_of_for_any_of(nodes, is_empty)
        core, is_smallest = _core(source, is_empty)
    finally:
        for node, names, schema in before:
            node.names[:] = names
            node.schema = schema
    places: dict[Node, list[str]] = {}
    for node, name in core:
        shown = _shown(node, "oneOf" if node in one_of and name == "anyOf" else name)
        if name == "oneOf":
            shown = f"exactly one schema of {shown}"
        places.setdefault(node, []).append(shown)
    if not places:
        return UnsatisfiableError("nothing satisfies the schema: it is false", pointer="#")
    deepest_first = sorted(places, key=nodes.index, reverse=True)
    parts = [f"{_join(places[node])} at {node.pointer}" for node in deepest_first[:_MOST_PLACES]]
    if len(places) > _MOST_PLACES:
        parts.append(f"and keywords in {len(places) - _MOST_PLACES} more places")
    together = "" if len(core) == 1 else " together"
    hint = "without any one of these keywords some value would"
    if len(core) == 1:
        hint = "without this keyword some value would"
    if not is_smallest:
        hint = "not all of these keywords may matter; there were too many to leave each out"
    return UnsatisfiableError(
        f"no value satisfies {'; '.join(parts)}{together}",
        pointer=deepest_first[0].pointer,
        hint=hint,
    )


def _take_one_of_for_any_of(nodes: list[Node], is_empty: Callable[[], bool]) -> set[Node]:
    """Replace `oneOf` everywhere, if nothing satisfies the schema then; returns where."""
    found = [node for node in nodes if "oneOf" in node.names and "anyOf" not in node.names]
    for node in found:
        node.names[node.names.index("oneOf")] = "anyOf"
        node.schema = {**node.schema, "anyOf": node.schema["oneOf"]}
    if not found or _surely(is_empty):
        return set(found)
    for node in found:
        node.names[node.names.index("anyOf")] = "oneOf"
    return set()


def _core(source: Source, is_empty: Callable[[], bool]) -> tuple[list[_Use], bool]:
    """Keywords that stay unsatisfiable without the others, and whether all of them matter."""
    stay = turned(source) if source.nodes else {}
    left: list[_Use] = [
        (node, name) for node in source.nodes if node not in stay for name in node.names
    ]
    looks = 0
    size = max(len(left) // 2, 1)
    while size >= 1:
        at = 0
        while at < len(left):
            chunk = left[at : at + size]
            looks += 1
            if looks > _MOST_LOOKS:
                return left, False
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
    return left, True


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
