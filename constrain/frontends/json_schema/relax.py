"""`on_unsupported="relax"`: what would be refused is dropped, so that more is valid, never less.

Dropping a keyword lets more values through where the schema is used as it stands, and fewer, or
others, under `not`, in the condition of `if`, in a `oneOf`, and in a `contains` that counts up to a
maximum. So before a keyword below one of those is dropped, they are weakened themselves, from the
outside, to the least that no longer turns round what is below:

- `not` is dropped;
- `oneOf` becomes `anyOf`;
- `if` goes, and `then` or `else` must hold;
- of `contains`, `maxContains` is dropped.

Keywords that have no meaning without each other are dropped together: what `additionalProperties`
applies to depends on `patternProperties`, and what is unevaluated on all keywords in place.

Nodes are used from many places, so this is a search in a graph: a use of a node is upright if it is
reached from the root by keywords that do not turn round, and a keyword that does turns round
everything that can be reached below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from constrain.errors import UnsupportedFeatureError
from constrain.frontends.json_schema.read import JSON
from constrain.frontends.json_schema.refs import Node, Source
from constrain.frontends.json_schema.report import Report

__all__ = ["Relaxation"]

_TURNING: Final = frozenset(("not", "oneOf", "if"))
_TOGETHER: Final = {
    "properties": ("additionalProperties",),
    "patternProperties": ("additionalProperties",),
    "prefixItems": ("items",),
    "items": ("additionalItems",),
    "contains": ("minContains", "maxContains"),
    "minContains": ("contains", "maxContains"),
    "minimum": ("exclusiveMinimum",),
    "maximum": ("exclusiveMaximum",),
    "if": ("then", "else"),
}
"""Keywords whose meaning depends on one that is dropped."""

_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")
_EVALUATING: Final = frozenset(
    (
        *("properties", "patternProperties", "additionalProperties", *_UNEVALUATED),
        *("prefixItems", "items", "additionalItems", "contains"),
        *("allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"),
        *("$ref", "$dynamicRef", "$recursiveRef"),
    )
)
"""Keywords that say of properties or items that they are evaluated."""


class _Edge(NamedTuple):
    """A keyword of a node that leads to another node."""

    keyword: str
    below: Node
    turns: bool


class Relaxation:
    """The keywords dropped from the nodes of a source.

    Args:
        source: The nodes; their `names` are changed.
        report: Where each is noted.
    """

    def __init__(self, source: Source, report: Report) -> None:
        self._source = source
        self._report = report

    def drop(self, error: UnsupportedFeatureError) -> bool:
        """Drop the keyword that an error is about; False if it is about none that can be dropped.

        Cost: a few passes over the nodes.
        """
        found = self._culprits(error.pointer or "")
        if not found:
            return False
        self._report.fix()
        todo = found
        for node, keyword in todo:
            todo += self._drop_upright(node, keyword, error.reason)
        below = self._reached()
        for node in self._source.nodes:
            if node not in below:
                for name in node.names:
                    reason = "it stands below a keyword that is relaxed"
                    self._report.note(node.pointer, name, "relaxed", reason)
        return True

    def _culprits(self, pointer: str) -> list[tuple[Node, str]]:
        """The keyword that a pointer names or leads into, in each node of the schema."""
        best: list[tuple[Node, str]] = []
        length = 0
        for node in self._source.nodes:
            for name in node.names:
                at = node.at(name)
                if (pointer == at or pointer.startswith(at + "/")) and len(at) >= length:
                    best = [*best, (node, name)] if len(at) == length else [(node, name)]
                    length = len(at)
        return best

    def _drop_upright(self, node: Node, keyword: str, reason: str) -> list[tuple[Node, str]]:
        """Drop a keyword after what turns it round is weakened; returns what must go with it."""
        also: list[tuple[Node, str]] = []
        for above, name in self._turning_above(node):
            also += self._weaken(above, name, f"{reason}, at {node.at(keyword)}")
        if keyword not in node.names:
            return also
        if keyword in _TURNING:
            return also + self._weaken(node, keyword, reason)
        self._forget(node, keyword, reason)
        if keyword == "discriminator" and "oneOf" in node.names:
            # It lets pass what fits several, if their names differ.
            also += self._weaken(node, "oneOf", "the discriminator beside it is relaxed")
        together = [
            name
            for name in _TOGETHER.get(keyword, ())
            if name in node.names and not _stands_alone(node, name)
        ]
        for name in together:
            self._forget(node, name, f"what it says depends on {keyword!r}, which is relaxed")
        return also + [pair for name in (keyword, *together) for pair in self._blind(node, name)]

    def _weaken(self, node: Node, keyword: str, reason: str) -> list[tuple[Node, str]]:
        """Let a keyword that turns round what is below it say less, without doing so."""
        if keyword == "contains":
            self._forget(node, "maxContains", reason)
            return []
        self._forget(node, keyword, reason)
        if keyword == "oneOf":
            self._add_any_of(node, node.schema["oneOf"])
            self._report.note(node.pointer, keyword, "relaxed", f"only as `anyOf`: {reason}")
        elif keyword == "if":
            then, otherwise = node.get("then"), node.get("else")
            for name in ("then", "else"):
                if name in node.names:
                    self._forget(node, name, "what it says depends on 'if', which is relaxed")
            if then is not None and otherwise is not None:
                self._add_any_of(node, [then, otherwise])
            return self._blind(node, keyword)
        return []

    def _add_any_of(self, node: Node, schemas: list[JSON]) -> None:
        said: dict[str, JSON] = {"anyOf": list(schemas)}
        if "anyOf" in node.names:
            made = self._source.graft(node, said, node.pointer)
            below = self._source.node(made, node)
            below.in_place = [self._source.node(s, node) for s in schemas if isinstance(s, dict)]
            said = {"allOf": [*(node.get("allOf") or ()), made]}
            node.in_place.append(below)
        node.schema = {**node.schema, **said}
        node.names += [name for name in said if name not in node.names]

    def _forget(self, node: Node, keyword: str, reason: str) -> None:
        node.names.remove(keyword)
        self._report.note(node.pointer, keyword, "relaxed", reason)

    def _blind(self, node: Node, keyword: str) -> list[tuple[Node, str]]:
        """The keywords for what is unevaluated that looked at a keyword that is dropped."""
        if keyword not in _EVALUATING:
            return []
        return [
            (above, name)
            for above in self._source.nodes
            for name in _UNEVALUATED
            if name in above.names and node in _in_place(above)
        ]

    # The graph

    def _turning_above(self, node: Node) -> list[tuple[Node, str]]:
        """Upright keywords that turn round, below which a node is used."""
        uses = self._uses_of(node)
        return [
            (above, name)
            for above in self._reached(upright=True)
            for name in dict.fromkeys(
                [e.keyword for e in self._edges(above) if e.turns and e.below in uses]
            )
        ]

    def _uses_of(self, node: Node) -> dict[Node, None]:
        """The nodes from which a node can be reached, and itself."""
        sources: dict[Node, list[Node]] = {}
        for above in self._source.nodes:
            for edge in self._edges(above):
                sources.setdefault(edge.below, []).append(above)
        return _closure(node, lambda n: sources.get(n, ()))

    def _reached(self, *, upright: bool = False) -> dict[Node, None]:
        """The nodes that can be reached from the root, perhaps only by what does not turn round."""
        return _closure(
            self._source.nodes[0],
            lambda n: [e.below for e in self._edges(n) if not (upright and e.turns)],
        )

    def _edges(self, node: Node) -> Iterator[_Edge]:
        for name in node.names:
            turns = name in _TURNING or (name == "contains" and "maxContains" in node.names)
            for below in self._below(node, name):
                yield _Edge(name, below, turns)

    def _below(self, node: Node, name: str) -> Iterator[Node]:
        """The nodes of the subschemas of a keyword."""
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
                yield self._source.node(schema, node)


def _closure(start: Node, after: Callable[[Node], Iterable[Node]]) -> dict[Node, None]:
    """The nodes that are reached from one, and itself, in that order."""
    found = {start: None}
    todo = [start]
    for node in todo:
        for other in after(node):
            if other not in found:
                found[other] = None
                todo.append(other)
    return found


def _in_place(node: Node) -> dict[Node, None]:
    """A node and those that apply to the same value."""
    return _closure(node, lambda n: n.in_place)


def _stands_alone(node: Node, name: str) -> bool:
    """Whether a keyword that depends on others in some draft does not in this one."""
    return name.startswith("exclusive") and not isinstance(node.schema[name], bool)
