"""OpenAPI 3.0: what its Schema Object adds to a draft of JSON Schema, said in ordinary keywords.

A Schema Object has keywords of draft 4 and a few of its own (`keywords` lists them). `$ref` has no
siblings, `type` is one name, never `null`. Definitions stand wherever the document has them, by
habit in `components/schemas`. After the nodes are read they are rewritten, here:

- `nullable: true` adds null to the `type` beside it. Without a `type` beside it it has no effect,
  and an `enum` beside it must list null for null to be valid (so says version 3.0.3).
- `discriminator` beside `oneOf` or `anyOf`: the value of its property selects one schema out of
  them, and that one must fit. A schema is selected by the keys of `mapping` that lead to it, or, if
  none does, by the last part of its `$ref`. So the value is an object, has the property, and other
  schemas out of the `oneOf` may fit as well. In a schema without `oneOf` and `anyOf`, which others
  refer to with `allOf`, it is an annotation.
- `format`, if formats are asserted: `int32` and `int64` beside `type: integer` are the range of
  these numbers, `byte` is base64. `float`, `double`, `binary` and `password` say nothing about
  which values are valid.

Source: OpenAPI Specification 3.0.3, "Schema Object", "Discriminator Object", "Data Types".
"""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

from constrain.errors import SchemaError, UnsupportedFeatureError
from constrain.frontends.json_schema.read import JSON
from constrain.frontends.json_schema.refs import Node, Source
from constrain.frontends.json_schema.report import Report

__all__ = ["OPENAPI", "rewrite_openapi"]

OPENAPI: Final = "openapi-3.0"
"""The name of the dialect."""

_FORMATS: Final[dict[str, dict[str, JSON]]] = {
    "int32": {"minimum": -(2**31), "maximum": 2**31 - 1},
    "int64": {"minimum": -(2**63), "maximum": 2**63 - 1},
    "byte": {"pattern": "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"},
}
"""What a format says. The first two need `type: integer` beside them."""


def rewrite_openapi(source: Source, report: Report, *, asserts_formats: bool) -> None:
    """Rewrite the nodes of a source that are Schema Objects, and say so in its report.

    Nodes that were rewritten before are left alone.

    Raises:
        SchemaError: The root is a whole OpenAPI document, and no schema of it is named.
        UnsupportedFeatureError: A discriminator selects among schemas some of which have no name.
    """
    _refuse_document(source.nodes[:1])
    nodes = [node for node in source.nodes if node.dialect.name == OPENAPI]
    if nodes:
        report.fix()
    for node in nodes:
        if "nullable" in node.names:
            _add_null(node, report)
        if "discriminator" in node.names:
            _select(node, source, report)
        if asserts_formats and node.get("format") in _FORMATS:
            _assert_format(node, source, report)


def _refuse_document(root: list[Node]) -> None:
    """A document has keywords of no schema, so every value would satisfy it."""
    for node in root:
        if node.dialect.name == OPENAPI and "openapi" in node.schema and not node.names:
            raise SchemaError(
                "this is an OpenAPI document, which is no schema",
                pointer="#",
                hint='name the schema: {**document, "$ref": "#/components/schemas/..."}',
            )


def _add_null(node: Node, report: Report) -> None:
    node.names.remove("nullable")
    if not node.schema["nullable"]:
        report.note(node.pointer, "nullable", "annotation", "false is the default")
    elif "type" in node.names:
        node.schema = {**node.schema, "type": [node.schema["type"], "null"]}
    else:
        reason = "it takes effect only where `type` stands beside it"
        report.note(node.pointer, "nullable", "annotation", reason)


def _assert_format(node: Node, source: Source, report: Report) -> None:
    name: str = node.schema["format"]
    if name == "byte" or "integer" in _types(node):
        report.note(node.pointer, "format", "enforced")
        node.names.remove("format")
        said = source.graft(node, dict(_FORMATS[name]), node.at("format"))
        node.schema = {**node.schema, "allOf": [*(node.get("allOf") or ()), said]}
        if "allOf" not in node.names:
            node.names.append("allOf")


def _types(node: Node) -> list[str]:
    types = node.get("type") or []
    return types if isinstance(types, list) else [types]


def _select(node: Node, source: Source, report: Report) -> None:
    """Let the value of a property select one of the schemas of `oneOf` and `anyOf`."""
    combined = [name for name in ("oneOf", "anyOf") if name in node.names]
    if not combined:
        reason = "it selects out of a `oneOf` or `anyOf` beside it, and there is none"
        report.note(node.pointer, "discriminator", "annotation", reason)
    chosen: dict[str, list[JSON]] = {}
    for keyword in combined:
        branches = [source.node(branch, node) for branch in _objects(node.schema[keyword])]
        if len(branches) < len(node.schema[keyword]) or not all(b.targets for b in branches):
            raise UnsupportedFeatureError(
                f"a discriminator selects schemas by name, and one of {keyword!r} has no name",
                pointer=node.at("discriminator"),
                hint="let it be a $ref to a schema that has one, or leave the discriminator out",
            )
        names = _names([branch.schema["$ref"] for branch in branches], node.schema["discriminator"])
        made = [_branch(source, node, b, names[i]) for i, b in enumerate(branches) if names[i]]
        chosen[keyword] = made or [False]
        node.in_place = [n for n in node.in_place if n not in branches]
        node.in_place += [source.node(schema, node) for schema in made]
    node.schema = {**node.schema, **chosen}
    node.names.remove("discriminator")


def _objects(schemas: list[JSON]) -> list[dict[str, JSON]]:
    return [schema for schema in schemas if isinstance(schema, dict)]


def _names(refs: list[str], discriminator: dict[str, JSON]) -> list[list[str]]:
    """The values that select each of some references; a value selects one."""
    mapping: dict[str, str] = discriminator.get("mapping", {})
    last = [unquote(ref.rsplit("/", 1)[-1]).replace("~1", "/").replace("~0", "~") for ref in refs]
    names: list[list[str]] = [[] for _ in refs]
    for value, to in mapping.items():
        if to in refs:
            names[refs.index(to)].append(value)
        elif to in last:
            names[last.index(to)].append(value)
    mapped = set(mapping)
    for i, name in enumerate(last):
        if not names[i] and name not in mapped:
            names[i].append(name)
            mapped.add(name)
    return names


def _branch(source: Source, node: Node, branch: Node, names: list[str]) -> dict[str, JSON]:
    """The schema of a branch, and that one of some names selects it."""
    name: str = node.schema["discriminator"]["propertyName"]
    place = node.at("discriminator")
    said = {
        "type": "object",
        "required": [name],
        "properties": {name: source.graft(node, {"enum": list(names)}, place)},
    }
    schema = source.graft(node, {**branch.schema, **said}, place)
    made = source.node(schema, node)
    made.names = ["$ref", *said]
    made.targets = branch.targets
    made.in_place = list(branch.in_place)
    return schema
