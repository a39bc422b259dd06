"""Why nothing satisfies a schema: the keywords that collide.

Keywords are left out, many at a time and then one at a time, as long as the schema stays
unsatisfiable. What cannot be left out is a smallest set of keywords that collide: without any one
of them some value fits.

This holds of keywords without which more is valid. Those about what others leave over, such as
`additionalProperties`, are left out before the others for its sake. Below those that turn round
(see `uses`) all stay, and only the one that turns is named. A `oneOf` is taken for an `anyOf`
first, if that is unsatisfiable too, as it nearly always is: then the reason is in its schemas, and
not that two of them overlap.

Cost: O(k log n) looks at the schema for n keywords of which k collide, each without building any
term. Source: Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input" (2002),
complements only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from constrain.errors import CompileError, GrammarError, UnsatisfiableError
from constrain.frontends.json_schema.circles import find_circle
from constrain.frontends.json_schema.read import JSON
from constrain.frontends.json_schema.refs import Node, Source
from constrain.frontends.json_schema.uses import turned, uses

__all__ = ["unsatisfiable"]

_MOST_LOOKS: Final = 300
_MOST_SETS: Final = 25_000
"""Sets made in all looks together, in a second or two."""

_MOST_PLACES: Final = 4
_LONGEST_VALUE: Final = 60

_FOR_THE_REST: Final = frozenset(
    {
        "additionalProperties",
        "unevaluatedProperties",
        "additionalItems",
        "unevaluatedItems",
    }
)
"""They are about what others leave over, as `items` is beside `prefixItems`. Without those others
less would be valid, so these are left out first: else a property whose own schema has no value
would become one that `additionalProperties` forbids."""

Look = Callable[[], tuple[bool, int]]
_Use = tuple[Node, str]


def unsatisfiable(source: Source, look: Look) -> UnsatisfiableError:
    """The error for a schema that nothing satisfies.

    Args:
        source: Its nodes. They are changed while this looks, and put back.
        look: Tells whether nothing satisfies the schema, with the nodes as they are now, and how
            many sets that took.
    """
    nodes = source.nodes
    before = [(node, list(node.names), node.schema) for node in nodes]
    try:
        one_of = _take_one_of_for_any_of(nodes, look)
        left, is_smallest = _core(source, look)
        circle = find_circle(
            source.nodes[:1], lambda node: (use.below for use in uses(node, source))
        )
    finally:
        for node, names, schema in before:
            node.names[:] = names
            node.schema = schema
    core = [(node, "oneOf" if node in one_of and name == "anyOf" else name) for node, name in left]
    places: dict[Node, list[str]] = {}
    for node, name in sorted(core, key=lambda use: list(use[0].schema).index(use[1])):
        shown = _shown(node, name)
        if name == "oneOf" and node not in one_of:
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
    if circle is not None and is_smallest:
        place = circle[0].pointer
        hint = f"a value for {place} would hold another one for it, and so on without end"
    elif not is_smallest:
        hint = "not all of these keywords may matter; there were too many to leave each out"
    return UnsatisfiableError(
        f"no value satisfies {'; '.join(parts)}{together}",
        pointer=deepest_first[0].pointer,
        hint=hint,
    )


def _take_one_of_for_any_of(nodes: list[Node], look: Look) -> set[Node]:
    """Replace `oneOf` everywhere, if nothing satisfies the schema then; returns where."""
    found = [node for node in nodes if "oneOf" in node.names and "anyOf" not in node.names]
    for node in found:
        node.names[node.names.index("oneOf")] = "anyOf"
        node.schema = {**node.schema, "anyOf": node.schema["oneOf"]}
    if not found or _surely(look)[0]:
        return set(found)
    for node in found:
        node.names[node.names.index("anyOf")] = "oneOf"
    return set()


def _core(source: Source, look: Look) -> tuple[list[_Use], bool]:
    """Keywords that stay unsatisfiable without the others, and whether all of them matter."""
    stay = turned(source) if source.nodes else {}
    candidates = [(node, name) for node in source.nodes if node not in stay for name in node.names]
    for_the_rest = {(node, name) for node, name in candidates if _is_for_the_rest(node, name)}
    thinner = _Thinner(look)
    left = thinner.thin([use for use in candidates if use in for_the_rest])
    left += thinner.thin([use for use in candidates if use not in for_the_rest])
    return left, not thinner.is_spent


def _is_for_the_rest(node: Node, name: str) -> bool:
    return name in _FOR_THE_REST or (name == "items" and "prefixItems" in node.names)


class _Thinner:
    """Leaves keywords out as long as nothing satisfies the schema, within bounds."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._looks = self._cost = 0

    @property
    def is_spent(self) -> bool:
        """Whether no more looks are allowed."""
        return self._looks > _MOST_LOOKS or self._cost > _MOST_SETS

    def thin(self, left: list[_Use]) -> list[_Use]:
        """Those of some keywords that cannot be left out; of more of them if it `is_spent`."""
        size = max(len(left) // 2, 1)
        while True:
            at = 0
            while at < len(left):
                chunk = left[at : at + size]
                self._looks += 1
                if self.is_spent:
                    return left
                for node, name in chunk:
                    node.names.remove(name)
                empty, sets = _surely(self._look)
                self._cost += sets
                if empty:
                    left = left[:at] + left[at + size :]
                    continue
                for node, name in chunk:
                    node.names.append(name)
                at += size
            if size == 1:
                return left
            size = max(size // 2, 1)


def _surely(look: Look) -> tuple[bool, int]:
    try:
        return look()
    except (GrammarError, CompileError):
        return False, 0  # cannot be told: the keywords stay


def _shown(node: Node, name: str) -> str:
    value: JSON = node.schema[name]
    if isinstance(value, (dict, list)):
        return f"`{name}`"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{name}` ({text})" if len(text) <= _LONGEST_VALUE else f"`{name}`"


def _join(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
