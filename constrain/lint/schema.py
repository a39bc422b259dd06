"""JSON Schema: definitions that nothing refers to, strings and arrays without a bound, patterns.

Whether the schema is valid, and can be honoured, the front-end says. Places are those of the keys
in the text, found by reading it once more.

Cost: O(length of the text).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from constrain.lint.findings import Finding, Source
from constrain.lint.outline import Span

__all__ = ["check_schema", "place_of_pointer", "read_places"]

_TOKEN: Final = re.compile(r'[ \t\r\n]*+(?:("(?:[^"\\]|\\.)*+")|([\[\]{},:])|([^\s"\[\]{},:]++))')
_DEFINITIONS: Final = ("$defs", "definitions")
_DATA: Final = frozenset(("const", "default", "enum", "examples"))
_MOST: Final = 20


def check_schema(text: str, schema: Any) -> Iterator[Finding]:  # noqa: ANN401 - JSON
    """All findings about a schema that is JSON.

    Args:
        text: The schema.
        schema: The same, read.
    """
    source, places = Source(text), read_places(text)
    yield from _unused(source, places, schema)
    notes = 0
    for pointer, node in _schemas(schema):
        for finding in _unbounded(source, places, pointer, node):
            notes += 1
            if notes <= _MOST:
                yield finding


def _unused(source: Source, places: dict[str, Span], schema: Any) -> Iterator[Finding]:  # noqa: ANN401
    named = _definitions(schema)
    reached = _referred_to(named, schema)
    for pointer, name in named.items():
        if pointer not in reached:
            yield source.finding(
                "unused-definition",
                f"nothing refers to the definition {name!r}",
                "take it out, or refer to it with $ref",
                places.get(pointer),
            )


def _definitions(schema: Any) -> dict[str, str]:  # noqa: ANN401
    """Names of definitions by their pointers."""
    named = {}
    for keyword in _DEFINITIONS if isinstance(schema, dict) else ():
        found = schema.get(keyword)
        if isinstance(found, dict):
            for name in found:
                named[f"/{keyword}/{_escaped(name)}"] = name
    return named


def _referred_to(named: dict[str, str], schema: Any) -> set[str]:  # noqa: ANN401
    """The pointers of definitions that the rest of a schema leads to, and that of the rest."""
    anchors: dict[str, str] = {}  # name -> the definition that it stands in
    uses: dict[str, set[str]] = {}  # of each definition, and of the rest
    for pointer, node in _objects(schema):
        home = next((p for p in named if pointer == p or pointer.startswith(p + "/")), "")
        for key in ("$anchor", "$id", "$dynamicAnchor", "id"):
            if isinstance(node.get(key), str) and home:
                anchors[node[key].lstrip("#")] = home
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(node.get(key), str):
                uses.setdefault(home, set()).add(unquote(node[key]).lstrip("#"))
    reached = {""}
    todo = [""]
    while todo:
        for target in uses.get(todo.pop(), ()):
            found = [p for p in named if target == p or target.startswith(p + "/")]
            found += [home for name, home in anchors.items() if name in target]
            todo += [pointer for pointer in found if pointer not in reached]
            reached.update(found)
    return reached


def _unbounded(
    source: Source, places: dict[str, Span], pointer: str, node: dict[str, Any]
) -> Iterator[Finding]:
    kinds = node.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    place = places.get(f"{pointer}/type")
    fixed = any(k in node for k in ("const", "enum", "maxLength", "pattern", "format", "$ref"))
    if "string" in kinds and not fixed:
        yield source.finding(
            "unbounded-repetition",
            "a string of any length: a model may stay in it until its budget is spent",
            "give it a maxLength",
            place,
        )
    if "array" in kinds and not any(k in node for k in ("const", "enum", "maxItems", "$ref")):
        closed = node.get("items") is False or node.get("additionalItems") is False
        if not closed:
            yield source.finding(
                "unbounded-repetition",
                "an array of any length: a model may stay in it until its budget is spent",
                "give it a maxItems",
                place,
            )


def _schemas(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401
    """Objects that say a type as a schema does, outside of data."""
    for pointer, node in _objects(schema):
        if isinstance(node.get("type"), (str, list)):
            yield pointer, node


def _objects(root: Any) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401
    todo: list[tuple[str, Any]] = [("", root)]
    while todo:
        pointer, node = todo.pop()
        if isinstance(node, dict):
            yield pointer, node
            todo += [
                (f"{pointer}/{_escaped(k)}", v) for k, v in reversed(node.items()) if k not in _DATA
            ]
        elif isinstance(node, list):
            todo += [(f"{pointer}/{i}", v) for i, v in reversed(list(enumerate(node)))]


def read_places(text: str) -> dict[str, Span]:
    """The span of the key, or of the beginning of the item, for each JSON pointer of a text."""
    places: dict[str, Span] = {}
    path: list[str | int] = []
    keys: list[bool] = []  # of each open bracket: an object that waits for a key
    at = 0
    prefix = ""
    while True:
        found = _TOKEN.match(text, at)
        if found is None:
            return places
        at = found.end()
        string, mark, _ = found.groups()
        start = found.start(found.lastindex or 0)
        if mark is None or mark in "{[":
            if keys and keys[-1] and string is not None:
                path[-1] = _unquoted(string)
                keys[-1] = False
                places[prefix + _joined(path[-1])] = (start, at)
                continue
            if keys and isinstance(path[-1], int):
                places[prefix + _joined(path[-1])] = (start, at)
            if mark is not None:
                if path:
                    prefix += _joined(path[-1])
                path.append("" if mark == "{" else 0)
                keys.append(mark == "{")
        elif mark in "}]" and path:
            path.pop()
            keys.pop()
            if path:
                prefix = prefix.removesuffix(_joined(path[-1]))
        elif mark == "," and path:
            if isinstance(path[-1], int):
                path[-1] += 1
            else:
                keys[-1] = True


def place_of_pointer(places: dict[str, Span], pointer: str) -> Span | None:
    """The span of a pointer as errors have it (`#/a/b`), or of the nearest part around it."""
    pointer = unquote(pointer).removeprefix("#")
    while pointer:
        if pointer in places:
            return places[pointer]
        pointer = pointer.rpartition("/")[0]
    return None


def _joined(key: str | int) -> str:
    return f"/{key if isinstance(key, int) else _escaped(key)}"


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _unquoted(string: str) -> str:
    try:
        return str(json.loads(string))
    except ValueError:
        return string[1:-1]
