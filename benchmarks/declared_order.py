"""An instance with its keys in the order in which its schema declares them.

Engines that fix the order of properties must refuse a valid instance whose keys come in another
order. That is their style, not a wrong verdict, so the harness plays such an instance once more
with its keys in order: `{"b": 1, "a": 2}` under `{"properties": {"a": {}, "b": {}}}` becomes
`{"a": 2, "b": 1}`.

Which subschemas apply to a value is guessed, not decided: every branch of `allOf`, `if`, `then`
and `else`, the target of a local `$ref`, and of `anyOf` and `oneOf` the branch that declares most
of the object's keys and contradicts none of its constants. Undeclared keys come last.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

__all__ = ["JSON", "in_declared_order"]

JSON = dict[str, Any] | list[Any] | str | float | bool | None
"""A JSON value as the standard library reads it."""

_CHOICES = ("anyOf", "oneOf")
_SINGLE = ("if", "then", "else")


def in_declared_order(instance: JSON, schema: JSON) -> JSON:
    """A copy of `instance` with the keys of each object in declared order.

    The data's depth bounds the recursion; the JSON reader has read it by recursion before.
    """
    return _ordered(instance, [schema], schema)


def _ordered(instance: JSON, schemas: list[JSON], root: JSON) -> JSON:
    applicable = _applicable(schemas, instance, root)
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


def _applicable(schemas: list[JSON], instance: JSON, root: JSON) -> list[dict[str, Any]]:
    """The object schemas that hold for `instance` itself, in the order of the document."""
    found: dict[int, dict[str, Any]] = {}
    waiting = list(reversed(schemas))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict) or id(node) in found:
            continue
        found[id(node)] = node
        inner = [node[word] for word in _SINGLE if word in node]
        inner += _branches(node, "allOf")
        for word in _CHOICES:
            inner += sorted(
                _branches(node, word), key=lambda branch: -_fit(branch, instance, root)
            )[:1]
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


def _branches(node: dict[str, Any], word: str) -> list[JSON]:
    value = node.get(word)
    return value if isinstance(value, list) else []


def _fit(branch: JSON, instance: JSON, root: JSON) -> int:
    """How many keys of `instance` a branch declares; -1 if a constant says otherwise."""
    if isinstance(branch, dict) and isinstance(branch.get("$ref"), str):
        branch = _target(branch["$ref"], root)
    if not isinstance(branch, dict) or not isinstance(instance, dict):
        return 0
    properties = _mapping(branch, "properties")
    for key, schema in properties.items():
        if key not in instance or not isinstance(schema, dict):
            continue
        allowed = [schema["const"]] if "const" in schema else schema.get("enum", [instance[key]])
        if instance[key] not in allowed:
            return -1
    return sum(key in properties for key in instance)


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
