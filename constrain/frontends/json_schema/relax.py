"""`on_unsupported="relax"`: what would be refused is dropped, so that more is valid, never less.

Dropping a keyword lets more values through where its schema is used upright, and fewer, or others,
below a keyword that turns round (see `uses`). So those are weakened first, from the outside, to the
most that they can say without turning round:

- `not` is dropped;
- `oneOf` becomes `anyOf`;
- `if` goes, and `then` or `else` must hold;
- of `contains`, `maxContains` is dropped.

Keywords that have no meaning without each other are dropped together: what `additionalProperties`
applies to depends on `patternProperties`, and what is unevaluated on all keywords in place.
"""

from __future__ import annotations

from typing import Final

from constrain.errors import CompileError, GrammarError, UnsupportedFeatureError
from constrain.frontends.json_schema.patterns import pattern_language
from constrain.frontends.json_schema.read import JSON
from constrain.frontends.json_schema.refs import Node, Source
from constrain.frontends.json_schema.report import Report
from constrain.frontends.json_schema.uses import (
    TURNING,
    in_place,
    reached,
    turned,
    used_from,
    uses,
)
from constrain.limits import Limits

__all__ = ["Relaxation"]

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

_Drop = tuple[Node, str, str]
"""A keyword of a node, and why it is dropped."""


class Relaxation:
    """The keywords dropped from the nodes of a source.

    Args:
        source: The nodes; their `names` are changed.
        report: Where each is noted.
    """

    def __init__(self, source: Source, report: Report) -> None:
        self._source = source
        self._report = report
        self._turned: dict[Node, None] | None = None

    def can_drop(self, error: UnsupportedFeatureError) -> bool:
        """Whether an error is about a keyword that can be dropped."""
        return bool(self._culprits(error.pointer or ""))

    def drop_patterns(self, limits: Limits) -> None:
        """Drop all patterns that would be refused, at once: there may be many.

        Cost: reading every pattern, and a pass over the nodes if one is dropped.
        """
        refused: list[_Drop] = []
        for node in self._source.nodes:
            for name, patterns in (
                ("pattern", [node.get("pattern")]),
                ("patternProperties", list(node.get("patternProperties") or ())),
            ):
                for pattern in patterns if name in node.names else ():
                    try:
                        pattern_language(pattern, limits)
                    except UnsupportedFeatureError as error:
                        refused.append((node, name, error.reason))
                        break
                    except (GrammarError, CompileError):
                        break  # an error in any case, raised with its place later on
        if refused:
            self._drop_all(refused)

    def drop(self, error: UnsupportedFeatureError) -> bool:
        """Drop the keyword that an error is about; False if it is about none that can be dropped.

        Cost: a few passes over the nodes.
        """
        found = self._culprits(error.pointer or "")
        if found:
            self._drop_all([(node, keyword, error.reason) for node, keyword in found])
        return bool(found)

    def _drop_all(self, todo: list[_Drop]) -> None:
        self._report.fix()
        for node, keyword, reason in todo:
            todo += self._drop_upright(node, keyword, reason)
        below = reached(self._source)
        for node in self._source.nodes:
            for name in () if node in below else node.names:
                reason = "it stands below a keyword that is relaxed"
                self._report.note(node.pointer, name, "relaxed", reason)

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

    def _drop_upright(self, node: Node, keyword: str, reason: str) -> list[_Drop]:
        """Drop a keyword after what turns it round is weakened; returns what must go with it."""
        also: list[_Drop] = []
        while node in self._turned_round() and (turning := self._turning_above(node)):
            for above, name in turning:
                also += self._weaken(above, name, f"{reason}, at {node.at(keyword)}")
        if keyword not in node.names:
            return also
        if keyword in TURNING:
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
            self._forget(node, name, _depends(keyword))
        return also + [drop for name in (keyword, *together) for drop in self._blind(node, name)]

    def _weaken(self, node: Node, keyword: str, reason: str) -> list[_Drop]:
        """Let a keyword that turns round what is below it say less, without doing so."""
        self._turned = None
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
                    self._forget(node, name, _depends("if"))
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

    def _blind(self, node: Node, keyword: str) -> list[_Drop]:
        """The keywords for what is unevaluated that looked at a keyword that is dropped."""
        if keyword not in _EVALUATING:
            return []
        return [
            (above, name, _depends(keyword))
            for above in self._source.nodes
            for name in _UNEVALUATED
            if name in above.names and node in in_place(above)
        ]

    def _turned_round(self) -> dict[Node, None]:
        """The nodes below keywords that turn round."""
        if self._turned is None:
            self._turned = turned(self._source)
        return self._turned

    def _turning_above(self, node: Node) -> list[tuple[Node, str]]:
        """Upright keywords that turn round, below which a node is used."""
        users = used_from(node, self._source)
        return [
            (above, name)
            for above in reached(self._source, upright=True)
            for name in dict.fromkeys(
                [u.keyword for u in uses(above, self._source) if u.turns and u.below in users]
            )
        ]


def _stands_alone(node: Node, name: str) -> bool:
    """Whether a keyword that depends on others in some draft does not in this one."""
    return name.startswith("exclusive") and not isinstance(node.schema[name], bool)


def _depends(keyword: str) -> str:
    return f"what it says depends on {keyword!r}, which is relaxed"
