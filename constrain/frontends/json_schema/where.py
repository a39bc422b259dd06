"""Where a text stands in a schema: the schemas that apply there, and the keyword that refuses it.

The JSON before the place is read as JSON, and keywords lead from schema to schema as it goes into
objects and arrays. What refuses the next byte is found by trying: the style does, if the byte is
allowed with `style="any"`; else the first keyword without which it is allowed. Those that count and
compare come first, since another one that is gone may let a way around them in; then those of the
innermost value.

Cost: a schema is compiled for each keyword that is left out, within bounds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from constrain.algebra.store import DEAD, TermStore
from constrain.errors import GrammarError, LimitExceededError
from constrain.frontends.explanation import Derivation, Explanation
from constrain.frontends.json_schema.compile import from_json_schema
from constrain.frontends.json_schema.position import Level, Position, position_of
from constrain.frontends.json_schema.read import JSON, read_schema
from constrain.frontends.json_schema.refs import Node, Source
from constrain.frontends.json_schema.uses import in_place
from constrain.limits import Limits

__all__ = ["SchemaExplainer"]

_MOST_LOOKS: Final = 40
"""Keywords that are left out, one at a time."""

_MOST_NODES: Final = 2_000
"""Schemas that are compiled in all looks together: a large schema is looked at a few times."""

_MOST_STATES: Final = 2_000
_MOST_SOURCE_NODES: Final = 20_000
"""Bounds of one look, past which nothing is said."""

_MOST_VALUES: Final = 20
_LONGEST_VALUE: Final = 60
_FOR_SUBSCHEMAS: Final = ("properties", "patternProperties", "items", "prefixItems", "allOf")
"""Without these so much is allowed that it says nothing."""

_IN_NUMBER: Final = b"-+.0123456789eE"
_COUNTING: Final = (
    "uniqueItems",
    "maxItems",
    "minItems",
    "contains",
    "maxContains",
    "minContains",
    "maxProperties",
    "minProperties",
    "required",
    "dependentRequired",
    "propertyNames",
)

_BEGINS: Final[Mapping[str, bytes]] = {
    "object": b"{",
    "array": b"[",
    "string": b'"',
    "number": b"-0123456789",
    "boolean": b"tf",
    "null": b"n",
}


class SchemaExplainer:
    """Explains texts of one schema, which is known to be right.

    Args:
        schema: As of `from_json_schema`.
        options: Further keyword arguments of `from_json_schema`.
        limits: Budgets.
    """

    def __init__(self, schema: JSON, options: Mapping[str, Any], limits: Limits) -> None:
        self._root = read_schema(schema, limits)
        self._options = options
        self._source = Source(self._root, options.get("dialect"), options.get("registry"), limits)
        self._limits = replace(
            limits,
            max_source_nodes=min(limits.max_source_nodes, _MOST_SOURCE_NODES),
            max_emptiness_states=min(limits.max_emptiness_states, _MOST_STATES),
        )

    def explain(self, text: bytes, offset: int, expected: bytes) -> Explanation:
        """See `Explainer.explain`."""
        here = position_of(text[:offset])
        levels = self._levels(here)
        inner = levels[-1]
        inside, marks = _names(here, inner, expected), _marks(here, expected)
        names = list(dict.fromkeys([*inside, *marks]))
        begun = inside if here.state in ("string", "number", "word", "in key") else []
        path = _path(levels)
        if offset < len(text):
            blamed = self._refusing(text[: offset + 1], levels)
            path += [] if blamed is None else [blamed]
        return Explanation(offset, tuple(names), tuple(begun), tuple(path))

    def derivation(self, text: bytes) -> Derivation | None:
        """See `Explainer.derivation`."""
        return Derivation(("#",))

    # Which schemas

    def _levels(self, here: Position) -> list[list[Node]]:
        """The schemas of the whole, and of each value inside of it up to the place."""
        now = list(in_place(self._source.nodes[0])) if self._source.nodes else []
        levels = [now]
        for n, level in enumerate(here.levels):
            innermost = n == len(here.levels) - 1
            if innermost and (here.state in ("key", "in key") or self._is_between(here)):
                break
            below: dict[Node, None] = {}
            for node in now:
                for schema in _subschemas(node, level):
                    below.update(in_place(self._source.node(schema, node)))
            now = list(below)
            levels.append(now)
        return levels

    def _is_between(self, here: Position) -> bool:
        """Whether the place is about the innermost object or array, not about a value in it."""
        return here.state == "after"

    # Which keyword

    def _refusing(self, text: bytes, levels: list[list[Node]]) -> str | None:
        """The pointer of the keyword without which a text could go on, or what else refuses it."""
        looks = min(_MOST_LOOKS, _MOST_NODES // max(1, len(self._source.nodes)))
        if not looks:
            return None
        style = self._options.get("style", "canonical")
        try:
            if style != "any" and self._is_allowed(text, {**self._options, "style": "any"}):
                return f"style {style!r}" if isinstance(style, str) else "the style"
            for node, name in list(_candidates(levels))[:looks]:
                if self._allowed_without(node, name, text):
                    return node.at(name)
        except LimitExceededError:
            pass
        return None

    def _allowed_without(self, node: Node, name: str, text: bytes) -> bool:
        before = dict(node.schema)
        del node.schema[name]
        try:
            return self._is_allowed(text, self._options)
        finally:
            node.schema.clear()
            node.schema.update(before)

    def _is_allowed(self, text: bytes, options: Mapping[str, Any]) -> bool:
        """Whether a text is the beginning of one that satisfies the schema as it is now.

        Raises:
            LimitExceededError: That takes too long to find out.
        """
        try:
            made = from_json_schema(self._root, limits=self._limits, **options)
            store = TermStore(self._limits)
            return store.advance(store.intern(made.term), text) != DEAD
        except GrammarError:
            return False


def _candidates(levels: list[list[Node]]) -> Iterator[tuple[Node, str]]:
    """Keywords that may refuse what comes next, the likeliest first."""
    nodes = [
        node
        for level in reversed(levels[-2:])
        for node in level
        if node.pointer.startswith("#")  # others are of a document that is not ours to change
    ]
    uses = [(n, name) for n in nodes for name in n.names if name in n.schema]
    yield from [use for use in uses if use[1] in _COUNTING]
    yield from [use for use in uses if use[1] not in (*_COUNTING, *_FOR_SUBSCHEMAS)]


def _subschemas(node: Node, level: Level) -> Iterable[dict[str, JSON]]:
    """The schemas that keywords of a node apply to the member or item in progress."""
    found = _of_member(node, level.keys[-1]) if level.keys else _of_item(node, level.index)
    return [schema for schema in found if isinstance(schema, dict)]


def _of_member(node: Node, key: str) -> Iterator[JSON]:
    named = node.get("properties")
    known = False
    if isinstance(named, dict) and key in named:
        known = True
        yield named[key]
    patterns = node.get("patternProperties")
    for pattern, schema in (patterns if isinstance(patterns, dict) else {}).items():
        try:
            matches = re.search(pattern, key) is not None
        except re.error:
            continue  # not in Python's syntax: the path is a little shorter
        if matches:
            known = True
            yield schema
    if not known:
        yield node.get("additionalProperties")
        yield node.get("unevaluatedProperties")


def _of_item(node: Node, index: int) -> Iterator[JSON]:
    prefix, items = node.get("prefixItems"), node.get("items")
    rest = items
    if isinstance(items, list):
        prefix, rest = items, node.get("additionalItems")
    if isinstance(prefix, list) and index < len(prefix):
        yield prefix[index]
    else:
        yield rest
        if rest is None:
            yield node.get("unevaluatedItems")


def _path(levels: list[list[Node]]) -> list[str]:
    """A pointer for each level, and what its references lead to."""
    path = ["#"]
    for nodes in levels:
        at = nodes[0] if nodes else None
        seen: set[Node] = set()
        while at is not None and at not in seen:
            seen.add(at)
            if path[-1] != at.pointer:
                path.append(at.pointer)
            targets = [t for t in at.references() if isinstance(t, Node)]
            at = targets[0] if len(targets) == 1 else None
    return path


# Names


def _names(here: Position, nodes: list[Node], expected: bytes) -> list[str]:
    """The keys and values that could come or go on, in words of the schema and of JSON."""
    if here.state in ("key", "in key"):
        return _keys(here, nodes, expected)
    if here.state in ("after", "colon"):
        return []
    values = _values(nodes, here.begun, expected)
    if here.state == "string":
        return values or ["string"]
    if here.state == "number" and not any(byte in _IN_NUMBER for byte in expected):
        return []
    return values or list(_types(here, nodes, expected))


def _marks(here: Position, expected: bytes) -> list[str]:
    """Commas, colons and brackets."""
    if here.state in ("string", "word", "in key"):
        return []
    return [f'"{chr(byte)}"' for byte in expected if byte in b",:}]"]


def _keys(here: Position, nodes: list[Node], expected: bytes) -> list[str]:
    keys = here.levels[-1].keys or []
    found = []
    for node in nodes:
        named = node.get("properties")
        for name in named if isinstance(named, dict) else ():
            spelled = json.dumps(name, ensure_ascii=False)
            if name not in keys and _goes_on(spelled, here.begun, expected):
                found.append(spelled)
    return found[:_MOST_VALUES] or (["key"] if b'"' in expected or here.begun else [])


def _values(nodes: list[Node], begun: bytes, expected: bytes) -> list[str]:
    """The values of `const` and `enum` that could come or go on."""
    found: dict[str, None] = {}
    for node in nodes:
        values = [node.schema["const"]] if "const" in node.names else node.get("enum") or []
        for value in values:
            spelled = _spelled(value)
            if _goes_on(spelled, begun, expected):
                short = len(spelled) <= _LONGEST_VALUE
                found[spelled if short else f"{spelled[: _LONGEST_VALUE - 3]}..."] = None
    return list(found)[:_MOST_VALUES]


def _spelled(value: JSON) -> str:
    if value is None or isinstance(value, (str, bool, list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _goes_on(spelled: str, begun: bytes, expected: bytes) -> bool:
    data = spelled.encode("utf-8", "replace")
    return data.startswith(begun) and data[len(begun) : len(begun) + 1] in [
        bytes((byte,)) for byte in expected
    ]


def _types(here: Position, nodes: list[Node], expected: bytes) -> Iterator[str]:
    named = {name for node in nodes for name in _listed(node.get("type"))}
    number = "integer" if "integer" in named and "number" not in named else "number"
    if here.state == "number":
        yield number
        return
    first = here.begun[:1] or expected
    for kind, begins in _BEGINS.items():
        if any(byte in begins for byte in first):
            yield number if kind == "number" else kind


def _listed(types: JSON) -> list[str]:
    if isinstance(types, str):
        return [types]
    return [t for t in types if isinstance(t, str)] if isinstance(types, list) else []
