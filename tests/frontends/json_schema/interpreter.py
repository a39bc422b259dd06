"""Validation with annotations, as the specification words it: slow, small, and sure.

An oracle for `unevaluated...` and for references that depend on the dynamic scope. It knows the
keywords that matter for those, references inside one document, to an `$id` as it is written, and
nothing else.

The packages `jsonschema` 4.26 and `jsonschema-rs` 0.61 differ from the specification here:

- in draft 2019-09 both take items matched by `contains` as evaluated, which came with 2020-12;
- both follow a `$ref` to a `$dynamicAnchor` as if it were a `$dynamicRef`;
- both stop looking outwards for a `$recursiveAnchor` at the first resource without one, where the
  specification wants the outermost that has it;
- in draft 2019-09 `jsonschema` does not take what `additionalProperties` or an inner
  `unevaluatedProperties` applied to as evaluated.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

TYPES = {
    "null": lambda v: v is None,
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, Decimal)) and not isinstance(v, bool),
    "string": lambda v: isinstance(v, str),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}


class Resource:
    """A schema with an identifier, or the document: its root, and its schemas by anchor."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.anchors: dict[str, Any] = {}
        self.dynamic: dict[str, Any] = {}


class Interpreter:
    """One document.

    Args:
        root: The document.
        draft: 2019 or 2020.
    """

    def __init__(self, root: Any, draft: int = 2020) -> None:
        self._root = root
        self._draft = draft
        self._resources: dict[str, Resource] = {}
        self._resource_of: dict[int, Resource] = {}
        self._scope: list[Resource] = []  # entered, outermost first
        self._note(root, Resource(root))

    def _note(self, value: Any, resource: Resource) -> None:
        """Note in which resource each value stands, and the anchors of each."""
        if isinstance(value, dict):
            if isinstance(value.get("$id"), str):
                resource = self._resources[value["$id"]] = Resource(value)
            self._resource_of[id(value)] = resource
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(name := value.get(keyword), str):
                    resource.anchors[name] = value
                    if keyword == "$dynamicAnchor":
                        resource.dynamic[name] = value
        for part in value.values() if isinstance(value, dict) else value:
            if isinstance(part, (dict, list)):
                self._note(part, resource)

    def is_valid(self, value: Any) -> bool:
        """Whether a value satisfies the document."""
        return self.evaluate(self._root, value) is not None

    def evaluate(self, schema: Any, value: Any) -> set[Any] | None:
        """None if the value is not valid; else the keys or indices that were evaluated."""
        if isinstance(schema, bool):
            return set() if schema else None
        self._scope.append(self._resource_of[id(schema)])
        try:
            return self._evaluate(schema, value)
        finally:
            self._scope.pop()

    def _evaluate(self, schema: dict[str, Any], value: Any) -> set[Any] | None:
        if not self._asserts(schema, value):
            return None
        seen: set[Any] = set()
        for applied in self._in_place(schema, value):
            if applied is None:
                return None
            seen |= applied
        if isinstance(value, dict):
            return self._members(schema, value, seen)
        return self._items(schema, value, seen) if isinstance(value, list) else seen

    def _valid(self, schema: Any, value: Any) -> bool:
        return self.evaluate(schema, value) is not None

    def _asserts(self, schema: dict[str, Any], value: Any) -> bool:
        """The keywords without subschemas, of all that are known here."""
        types = schema.get("type", list(TYPES))
        types = types if isinstance(types, list) else [types]
        if not any(TYPES[name](value) for name in types):
            return False
        if not any(_same(value, v) for v in schema.get("enum", [value])):
            return False
        if "const" in schema and not _same(value, schema["const"]):
            return False
        if isinstance(value, dict):
            return (
                all(key in value for key in schema.get("required", ()))
                and len(value) >= schema.get("minProperties", 0)
                and len(value) <= schema.get("maxProperties", len(value))
            )
        if isinstance(value, list):
            size = len(value)
            return schema.get("minItems", 0) <= size <= schema.get("maxItems", size)
        return True

    def _in_place(self, schema: dict[str, Any], value: Any) -> list[set[Any] | None]:
        """What each subschema evaluates that applies to the value itself; None: not valid."""
        found: list[set[Any] | None] = []
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if keyword in schema:
                found.append(self.evaluate(self._target(keyword, schema), value))
        found += [self.evaluate(s, value) for s in schema.get("allOf", ())]
        if "anyOf" in schema:
            held = [e for s in schema["anyOf"] if (e := self.evaluate(s, value)) is not None]
            found.append(set().union(*held) if held else None)
        if "oneOf" in schema:
            held = [e for s in schema["oneOf"] if (e := self.evaluate(s, value)) is not None]
            found.append(held[0] if len(held) == 1 else None)
        if "not" in schema:
            found.append(None if self._valid(schema["not"], value) else set())
        if "if" in schema:
            condition = self.evaluate(schema["if"], value)
            found.append(condition or set())
            found.append(
                self.evaluate(schema.get("else" if condition is None else "then", True), value)
            )
        if isinstance(value, dict):
            for key, dependent in schema.get("dependentSchemas", {}).items():
                if key in value:
                    found.append(self.evaluate(dependent, value))
        return found

    def _members(
        self, schema: dict[str, Any], value: dict[str, Any], seen: set[Any]
    ) -> set[Any] | None:
        own: set[Any] = set()
        for key, subschema in schema.get("properties", {}).items():
            if key in value:
                own.add(key)
                if not self._valid(subschema, value[key]):
                    return None
        for pattern, subschema in schema.get("patternProperties", {}).items():
            for key in value:
                if re.search(pattern.replace("$", r"\Z"), key):
                    own.add(key)
                    if not self._valid(subschema, value[key]):
                        return None
        for name in ("additionalProperties", "unevaluatedProperties"):
            if name == "unevaluatedProperties":
                own |= seen
            if name in schema:
                for key in value.keys() - own:
                    if not self._valid(schema[name], value[key]):
                        return None
                own |= set(value)
        return own

    def _items(self, schema: dict[str, Any], value: list[Any], seen: set[Any]) -> set[Any] | None:
        prefix, rest = schema.get("prefixItems", []), schema.get("items")
        if self._draft == 2019 and isinstance(rest, list):
            prefix, rest = rest, schema.get("additionalItems")
        own: set[Any] = set()
        for index, item in enumerate(value):
            wanted = prefix[index] if index < len(prefix) else rest
            if wanted is not None:
                own.add(index)
                if not self._valid(wanted, item):
                    return None
        if "contains" in schema:
            matched = {i for i, item in enumerate(value) if self._valid(schema["contains"], item)}
            most = schema.get("maxContains", len(value))
            if not schema.get("minContains", 1) <= len(matched) <= most:
                return None
            if self._draft == 2020:
                own |= matched
        own |= seen
        if "unevaluatedItems" in schema:
            for index in set(range(len(value))) - own:
                if not self._valid(schema["unevaluatedItems"], value[index]):
                    return None
            own |= set(range(len(value)))
        return own

    def _target(self, keyword: str, schema: dict[str, Any]) -> Any:
        """What a reference leads to."""
        name, _, fragment = schema[keyword].partition("#")
        resource = self._resources[name] if name else self._resource_of[id(schema)]
        if keyword == "$recursiveRef":
            if resource.root.get("$recursiveAnchor") is not True:
                return resource.root
            return next(r.root for r in self._scope if r.root.get("$recursiveAnchor") is True)
        if fragment and not fragment.startswith("/"):
            if keyword == "$dynamicRef" and fragment in resource.dynamic:
                for outer in self._scope:
                    if fragment in outer.dynamic:
                        return outer.dynamic[fragment]
            return resource.anchors[fragment]
        value = resource.root
        for step in fragment.split("/")[1:]:
            value = value[int(step)] if isinstance(value, list) else value[step]
        return value


def _same(a: Any, b: Any) -> bool:
    """Equal as JSON values; whole numbers must be integers."""
    return type(a) is type(b) and bool(a == b)
