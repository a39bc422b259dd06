"""Schema nodes: where each subschema stands, and what its references lead to.

`Source.load` visits everything that can be reached from the root by keywords that apply subschemas
and by references, once, before anything is built: an invalid keyword is an error at once, not in
the middle of decoding, and definitions that nobody refers to cost nothing.

References are JSON pointers into the same document nearly always; those are followed here. As soon
as a document has an identifier inside it, or a reference leads elsewhere, documents are walked and
looked up, see `resources`.

Where a reference depends on the path of evaluation (`$dynamicRef`, `$recursiveRef`), a node is a
schema in a dynamic scope: one schema that is reached on different ways is several nodes, as far as
the ways lead references to different places. Nobody else pays for that: scopes are followed only
after such a reference was met.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import unquote

from constrain.errors import GrammarError, SchemaError, UnsupportedFeatureError
from constrain.frontends.json_schema.circles import find_circle
from constrain.frontends.json_schema.hints import about_reference, about_value
from constrain.frontends.json_schema.keywords import DIALECTS, Dialect, Keyword
from constrain.frontends.json_schema.read import JSON, escape_pointer
from constrain.frontends.json_schema.resources import (
    RECURSIVE,
    Documents,
    Found,
    NoSchemaError,
    Resource,
    item_index,
    split_pointer,
)
from constrain.frontends.json_schema.scope import NO_SCOPE, Scope, enter, outermost
from constrain.limits import Limits

__all__ = ["NEGATING", "UNEVALUATED", "Node", "Source"]

NEGATING: Final = frozenset(("not", "oneOf", "if", "dependentSchemas", "dependencies"))
"""Keywords under which complements of subschemas are needed."""

UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")
"""Keywords that depend on which branches of other keywords hold."""

_NO_TARGETS: Final[Mapping[str, Node | bool]] = MappingProxyType({})


class Node:
    """A schema that is an object, where it stands, and how evaluation came there if that matters.

    Attributes:
        schema: Its keywords.
        pointer: Where it is, for messages.
        dialect: The draft it is written in.
        targets: What its references that count lead to, by keyword.
        in_place: Nodes that apply to the same value.
        on_keys: Nodes that apply to the keys of the same value.
        inside: Nodes that apply to its members or items.
        names: Its keywords that say something about which values are valid, and count.
        leaf: None of those has subschemas or is a reference.
        scope: The dynamic scope, its own resource included.
    """

    __slots__ = (
        "dialect",
        "in_place",
        "inside",
        "leaf",
        "names",
        "on_keys",
        "parent",
        "pointer",
        "resource",
        "schema",
        "scope",
        "targets",
    )

    def __init__(
        self,
        schema: dict[str, JSON],
        pointer: str,
        dialect: Dialect,
        parent: Node | None,
        scope: Scope = NO_SCOPE,
    ) -> None:
        self.schema = schema
        self.pointer = pointer
        self.dialect = dialect
        self.parent = parent
        self.scope = scope
        self.targets: Mapping[str, Node | bool] = _NO_TARGETS
        self.in_place: list[Node] = []
        self.on_keys: list[Node] = []
        self.inside: list[Node] = []
        self.names: list[str] = []
        self.leaf = True
        self.resource: Resource | None = None  # once it is needed

    def at(self, keyword: str) -> str:
        """The pointer of one of its keywords."""
        return f"{self.pointer}/{escape_pointer(keyword)}"

    def get(self, keyword: str) -> JSON:
        """The value of a keyword, or None if it is not there or does not count."""
        return self.schema[keyword] if keyword in self.names else None

    def references(self) -> list[Node | bool]:
        """What its references lead to."""
        return [target for name, target in self.targets.items() if name in self.names]

    def __repr__(self) -> str:
        return self.pointer


class Source:
    """The nodes of one schema.

    Args:
        root: The schema, as `read_schema` returns it.
        dialect: The draft, or None to take it from `$schema`.
        registry: A `referencing.Registry`, or None.
        limits: Budgets.

    Attributes:
        nodes: Everything that was visited, in that order; the root first, if it is an object.
        keywords: The names of all keywords that say something in some node; perhaps some more, of
            nodes that were rewritten.
        combines: Some node has a keyword of `NEGATING`, or what is evaluated may depend on
            branches: what sets multiply to is looked at before any text is.
        is_rewritten: There are nodes of schemas that no document has, so that `reaching` and
            `reached` do not tell all.

    Raises:
        SchemaError: A keyword has a value of the wrong form, or a reference leads nowhere or round
            in a circle.
        UnsupportedFeatureError: The draft is refused.
    """

    def __init__(
        self,
        root: JSON,
        dialect: str | None,
        registry: Any,  # noqa: ANN401 - a referencing.Registry; the library is imported when needed
        limits: Limits,
    ) -> None:
        self._root = root
        self._limits = limits
        self._documents = Documents(root, registry)
        self._by_id: dict[Hashable, Node] = {}
        self._inner_ids: bool | None = None
        self._scoped = False
        self.nodes: list[Node] = []
        self.keywords: set[str] = set()
        self.combines = False
        self.is_rewritten = False
        if isinstance(root, dict):
            self._root_dialect = self._dialect_of_root(root, dialect)
            if not self._load():
                self._scoped = True
                self._load()
            _refuse_circles(self.nodes)
            if "anyOf" in self.keywords and not self.keywords.isdisjoint(UNEVALUATED):
                self.combines = True

    def node(self, schema: dict[str, JSON], above: Node | None = None) -> Node:
        """The node of a subschema, by identity.

        Args:
            schema: The subschema.
            above: The node whose keyword has it; None for the root.
        """
        if above is None:
            return self.nodes[0]
        if not self._scoped:
            return self._by_id[id(schema)]
        return self._by_id[self._key(schema, self._scope_below(above, schema))]

    def reaching(self, nodes: Iterable[Node]) -> set[Node]:
        """All nodes from which one of some is reached, and these themselves."""
        above: dict[Node, list[Node]] = {}
        for node in self.nodes:
            for below in _below(node):
                above.setdefault(below, []).append(node)
        return _closure(nodes, lambda node: above.get(node, ()))

    def reached(self, nodes: Iterable[Node]) -> set[Node]:
        """All nodes that are reached from some, and these themselves."""
        return _closure(nodes, _below)

    def graft(self, above: Node, schema: dict[str, JSON], pointer: str) -> dict[str, JSON]:
        """Add a node for a schema that no document has; returns the schema, its identity.

        All its keywords count. Its subschemas are nodes before it is.

        Args:
            above: The node whose keyword is to have it.
            schema: The schema.
            pointer: What messages call its place.
        """
        node = Node(schema, pointer, above.dialect, above, self._scope_below(above, schema))
        node.names = list(schema)
        node.leaf = not any(node.dialect.keywords[name].children for name in schema)
        self.keywords.update(schema)
        self.is_rewritten = True
        self._add(node)
        return schema

    def _load(self) -> bool:
        """Visit everything; False if that met a reference for which scopes must be followed."""
        self._by_id.clear()
        self.nodes.clear()
        self.keywords.clear()
        self.combines = False
        root = Node(self._root, "#", self._root_dialect, None)
        if self._scoped:
            root.resource = self._documents.root(self._root_dialect)
            root.scope = enter(NO_SCOPE, root.resource)
        self._add(root)
        return all(self._visit(node) for node in self.nodes)

    def _key(self, schema: dict[str, JSON], scope: Scope) -> Hashable:
        return (id(schema), scope) if scope else id(schema)

    def _add(self, node: Node) -> None:
        self._by_id[self._key(node.schema, node.scope) if node.scope else id(node.schema)] = node
        self.nodes.append(node)
        self._limits.check("max_source_nodes", len(self.nodes), "a schema")

    def _visit(self, node: Node) -> bool:
        """Check the keywords of one node, and add the nodes that they lead to.

        Returns:
            False if it has a reference for which scopes must be followed, and they are not.
        """
        schema, keywords = node.schema, node.dialect.keywords
        names: Any = schema
        if node.dialect.ref_overrides and "$ref" in schema:
            names = ("$ref",)
        for name in names:
            keyword = keywords.get(name)
            if keyword is None or (name in ("then", "else") and "if" not in schema):
                continue
            value = schema[name]
            if keyword.use == "enforced":
                node.names.append(name)
                self.keywords.add(name)
                if name in NEGATING:
                    self.combines = self.combines or _negates(name, value)
                if keyword.children:
                    node.leaf = False
            if not keyword.valid(value):
                raise SchemaError(
                    f"{name!r} must be {keyword.expects}, not {_shown(value)}",
                    pointer=node.at(name),
                    hint=about_value(keyword, value, node.dialect),
                )
            if keyword.children == "reference":
                if name != "$ref" and not self._scoped:
                    return False
                target = self._resolve(node, name, value)
                node.targets = {**node.targets, name: target}
                if isinstance(target, Node):
                    node.in_place.append(target)
            elif keyword.children:
                self._visit_children(node, keyword, value)
        return True

    def _visit_children(self, node: Node, keyword: Keyword, value: JSON) -> None:
        base = node.at(keyword.name)
        if isinstance(value, list):
            children = [(f"{base}/{i}", child) for i, child in enumerate(value)]
        elif keyword.children in ("schema map", "dependencies"):
            children = [(f"{base}/{escape_pointer(k)}", child) for k, child in value.items()]
        else:
            children = [(base, value)]
        for pointer, child in children:
            if isinstance(child, dict):
                scope = self._scope_below(node, child) if self._scoped else NO_SCOPE
                found = self._by_id.get(self._key(child, scope) if scope else id(child))
                if found is None:
                    dialect = self._inner_dialect(child, node.dialect, pointer)
                    found = Node(child, pointer, dialect, node, scope)
                    self._add(found)
                if keyword.in_place:
                    node.in_place.append(found)
                elif keyword.name == "propertyNames":
                    node.on_keys.append(found)
                else:
                    node.inside.append(found)

    def _scope_below(self, node: Node, schema: dict[str, JSON]) -> Scope:
        """The scope of a subschema of a node, where scopes are followed."""
        place = self._documents.place(schema)
        return node.scope if place is None else enter(node.scope, place.resource)

    # References

    def _resolve(self, node: Node, keyword: str, ref: str) -> Node | bool:
        """What a reference leads to."""
        if (ref == "#" or ref.startswith("#/")) and self._is_local(node):
            schema, pointer = self._follow(node, ref)
            return self._target(node, keyword, ref, schema, pointer, self._root_dialect, None)
        found = self._lookup(node, keyword, ref)
        schema, place = found.schema, found.place
        if keyword != "$ref":
            name = found.anchor if keyword == "$dynamicRef" else RECURSIVE
            if name is not None and name in found.resource.dynamic:
                resource = outermost(node.scope, name) or found.resource
                schema = resource.dynamic[name]
                place = self._documents.place(schema) or place
        root = place.resource.root
        named = root.get("$schema") if isinstance(root, dict) and root is not self._root else None
        if isinstance(named, str):
            self._named_dialect(named, f"{place.resource.pointer}/$schema")
        return self._target(
            node, keyword, ref, schema, place.pointer, place.dialect, place.resource
        )

    def _target(
        self,
        node: Node,
        keyword: str,
        ref: str,
        schema: JSON,
        pointer: str,
        dialect: Dialect,
        resource: Resource | None,
    ) -> Node | bool:
        """The node of a schema that a reference leads to."""
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            raise SchemaError(f"{keyword} {ref!r} leads to no schema", pointer=node.at(keyword))
        scope = node.scope
        if self._scoped and resource is not None:
            scope = enter(scope, resource)
        found = self._by_id.get(self._key(schema, scope))
        if found is None:
            if schema is not self._root:
                dialect = self._inner_dialect(schema, dialect, pointer)
            found = Node(schema, pointer, dialect, None, scope)
            found.resource = resource
            self._add(found)
        return found

    def _is_local(self, node: Node) -> bool:
        """Whether a pointer in this node is one into the root document."""
        if self._inner_ids is None:
            self._inner_ids = _has_inner_ids(self._root)
        if self._inner_ids or self._scoped:
            return False
        at: Node | None = node
        while at is not None:
            if at.resource is not None:
                return False
            at = at.parent
        return True

    def _follow(self, node: Node, ref: str) -> tuple[JSON, str]:
        """The value at a JSON pointer of the root document, and the pointer in its usual form."""
        value, pointer = self._root, "#"
        for key in split_pointer(unquote(ref)):
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and (index := item_index(key, len(value))) is not None:
                value = value[index]
            else:
                raise SchemaError(
                    f"$ref {ref!r} leads nowhere: {pointer} has no {key!r}",
                    pointer=node.at("$ref"),
                    hint=about_reference(ref, self._root, node.at("$ref"), value, key),
                )
            pointer += "/" + escape_pointer(key)
        return value, pointer

    def _lookup(self, node: Node, keyword: str, ref: str) -> Found:
        try:
            return self._documents.lookup(self._resource(node), ref)
        except NoSchemaError as e:
            detail = f": {e}" if str(e) else ""
            hint = about_reference(ref, self._root, node.at(keyword))
            if hint is None and not detail:
                hint = "schemas of other documents come from registry=, and are never fetched"
            raise SchemaError(
                f"{keyword} {ref!r} leads nowhere{detail}",
                pointer=node.at(keyword),
                hint=hint,
            ) from None

    def _resource(self, node: Node) -> Resource:
        """The resource that a node stands in."""
        root = self._documents.root(self._root_dialect)
        at: Node | None = node
        while at is not None:
            place = self._documents.place(at.schema)
            resource = at.resource if place is None else place.resource
            if resource is not None:
                node.resource = resource
                return resource
            at = at.parent
        return root

    # Dialects

    def _dialect_of_root(self, root: dict[str, JSON], name: str | None) -> Dialect:
        given = None
        if name is not None:
            given = DIALECTS.get(name)
            if given is None:
                raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, not {name!r}")
        uri = root.get("$schema")
        if given is not None:
            # A metaschema of the caller that is of this draft says which parts of it hold.
            own = self._documents.dialect(uri) if isinstance(uri, str) else None
            return own if own is not None and own.name == given.name else given
        if isinstance(uri, str):
            return self._named_dialect(uri, "#/$schema")
        if uri is not None:
            raise SchemaError("'$schema' must be a string", pointer="#/$schema")
        return DIALECTS["draft2020-12"]

    def _named_dialect(self, uri: str, pointer: str) -> Dialect:
        found = self._documents.dialect(uri)
        if found is None:
            raise UnsupportedFeatureError(
                f"the draft {uri!r} is not supported",
                pointer=pointer,
                hint=f"pass dialect= one of {', '.join(DIALECTS)}, or the metaschema in registry=",
            )
        return found

    def _inner_dialect(self, schema: dict[str, JSON], outer: Dialect, pointer: str) -> Dialect:
        """The dialect of a subschema: its own if it is a resource of its own that names one."""
        uri = schema.get("$schema")
        if not isinstance(uri, str) or ("$id" not in schema and "id" not in schema):
            return outer
        return self._named_dialect(uri, f"{pointer}/$schema")


def _below(node: Node) -> Iterator[Node]:
    """The nodes that the keywords of one lead to."""
    yield from node.in_place
    yield from node.inside
    yield from node.on_keys


def _closure(start: Iterable[Node], after: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """The nodes that are reached from some, and these themselves."""
    found = set(start)
    todo = list(found)
    for node in todo:
        for other in after(node):
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def _has_inner_ids(root: JSON) -> bool:
    """Whether a value below the root looks like a schema with an identifier."""
    todo = list(root.values()) if isinstance(root, dict) else []
    for value in todo:
        if isinstance(value, dict):
            if isinstance(value.get("$id"), str) or isinstance(value.get("id"), str):
                return True
            todo += value.values()
        elif isinstance(value, list):
            todo += value
    return False


def _refuse_circles(nodes: list[Node]) -> None:
    """Refuse a schema that applies itself to the same value: no validator could ever finish."""
    starts = [node for node in nodes if node.in_place or node.on_keys]
    circle = find_circle(starts, lambda node: node.in_place + node.on_keys)
    if circle is not None:
        raise _circle(circle)


def _circle(circle: list[Node]) -> GrammarError:
    """The error for nodes that lead round, the last one to the first."""
    first = circle[0]
    after = [*circle[1:], first]
    if any(b in a.on_keys for a, b in zip(circle, after, strict=True)):
        return UnsupportedFeatureError(
            f"'propertyNames' leads back to {first.pointer}, which it is a part of",
            pointer=circle[-1].pointer,
            hint="keys are strings: write what they may be apart from the schema of the object",
        )
    last = circle[-1]
    return SchemaError(
        f"the schema applies itself to the same value, through {first.pointer}",
        pointer=next((last.at(n) for n, t in last.targets.items() if t is first), last.pointer),
        hint="a $ref that recurses must stand below properties or items",
    )


def _negates(name: str, value: JSON) -> bool:
    """Whether complements come of it: of `dependencies` only if it has schemas."""
    if name != "dependencies" or not isinstance(value, dict):
        return True
    return not all(isinstance(needs, list) for needs in value.values())


def _shown(value: JSON) -> str:
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
