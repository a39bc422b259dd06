"""An instance with its keys in the order in which its schema declares them.

Engines that fix the order of properties must refuse a valid instance whose keys come in another
order. That is their style, not a wrong verdict, so the harness plays such an instance once more
with its keys in order: `{"b": 1, "a": 2}` under `{"properties": {"a": {}, "b": {}}}` becomes
`{"a": 2, "b": 1}`.

Which subschemas apply to a value is guessed, not decided: every branch of `allOf`, `anyOf`,
`oneOf`, `if`, `then` and `else` counts, and so does the target of a local `$ref`. Undeclared keys
come last.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

__all__ = ["JSON", "in_declared_order"]

JSON = dict[str, Any] | list[Any] | str | float | bool | None
"""A JSON value as the standard library reads it."""

_BRANCHES = ("allOf", "anyOf", "oneOf")
_SINGLE = ("if", "then", "else")


def in_declared_order(instance: JSON, schema: JSON) -> JSON:
    """A copy of `instance` with the keys of each object in declared order.

    The data's depth bounds the recursion; the JSON reader has read it by recursion before.
    """
    return _ordered(instance, [schema], schema)


def _ordered(instance: JSON, schemas: list[JSON], root: JSON) -> JSON:
    applicable = _applicable(schemas, root)
    if isinstance(instance, dict):
        declared = {key: None for node in applicable for key in _mapping(node, "properties")}
        keys = [key for key in declared if key in instance]
        keys += [key for key in instance if key not in declared]
        return {
            key: _ordered(instance[key], _property_schemas(applicable, key), root) for key in keys
        }
    if isinstance(instance, list):
        return [
            _ordered(item, _item_schemas(applicable, index), root)
            for index, item in enumerate(instance)
        ]
    return instance


def _applicable(schemas: list[JSON], root: JSON) -> list[dict[str, Any]]:
    """Every object schema reachable in place, in the order in which they are written."""
    found: dict[int, dict[str, Any]] = {}
    waiting = list(reversed(schemas))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict) or id(node) in found:
            continue
        found[id(node)] = node
        inner = [node[word] for word in _SINGLE if word in node]
        for word in _BRANCHES:
            inner += node[word] if isinstance(node.get(word), list) else []
        if isinstance(node.get("$ref"), str):
            inner.append(_target(node["$ref"], root))
        waiting.extend(reversed(inner))
    return list(found.values())


def _target(reference: str, root: JSON) -> JSON:
    """What a local reference points to, or None."""
    if not reference.startswith("#"):
        return None
    node = root
    for part in reference[1:].split("/")[1:]:
        part = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = node.get(part)
        elif isinstance(node, list) and part.isdigit() and int(part) < len(node):
            node = node[int(part)]
        else:
            return None
    return node


def _property_schemas(nodes: list[dict[str, Any]], key: str) -> list[Any]:
    found: list[Any] = []
    for node in nodes:
        if key in _mapping(node, "properties"):
            found.append(node["properties"][key])
        else:
            found += _mapping(node, "patternProperties").values()
            found.append(node.get("additionalProperties"))
    return found


def _item_schemas(nodes: list[dict[str, Any]], index: int) -> list[Any]:
    found: list[Any] = []
    for node in nodes:
        items = node.get("items")
        prefix = items if isinstance(items, list) else node.get("prefixItems", [])
        if index < len(prefix):
            found.append(prefix[index])
        else:
            found.append(node.get("additionalItems") if isinstance(items, list) else items)
    return found


def _mapping(node: dict[str, Any], word: str) -> dict[str, Any]:
    value = node.get(word)
    return value if isinstance(value, dict) else {}
