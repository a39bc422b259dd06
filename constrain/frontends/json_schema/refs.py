"""Schema nodes: where each subschema stands, and what its references lead to.

`Source.load` visits everything that can be reached from the root by keywords that apply subschemas
and by references, once, before anything is built: an invalid or refused keyword is an error at
once, not in the middle of decoding, and definitions that nobody refers to cost nothing.

References are JSON pointers into the same document nearly always; those are followed here. As soon
as a document has an identifier inside it, or a reference leads elsewhere, the `referencing` library
resolves it, in the registry of the caller. Nothing is ever fetched.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from constrain.errors import GrammarError, SchemaError, UnsupportedFeatureError
from constrain.frontends.json_schema.keywords import DIALECTS, Dialect, Keyword, dialect_of
from constrain.frontends.json_schema.read import JSON, escape_pointer
from constrain.limits import Limits

__all__ = ["NEGATING", "KeywordUse", "Node", "Source"]

NEGATING: Final = frozenset(("not", "oneOf", "if", "dependentSchemas", "dependencies"))
"""Keywords under which complements of subschemas are needed."""


class KeywordUse(NamedTuple):
    """What was done with one keyword of a schema.

    Attributes:
        pointer: The JSON pointer of the schema that has it, as a URI fragment.
        keyword: Its name.
        use: "enforced" or "annotation".
    """

    pointer: str
    keyword: str
    use: str


class Node:
    """A schema that is an object, where it stands.

    Attributes:
        schema: Its keywords.
        pointer: Where it is, for messages.
        dialect: The draft it is written in.
        target: What `$ref` leads to, if it has one that counts.
        in_place: Nodes that apply to the same value.
        on_keys: Nodes that apply to the keys of the same value.
        names: Its keywords that say something about which values are valid, and count.
        leaf: None of those has subschemas or is a reference.
    """

    __slots__ = (
        "dialect",
        "in_place",
        "leaf",
        "names",
        "on_keys",
        "parent",
        "pointer",
        "resolver",
        "schema",
        "target",
    )

    def __init__(
        self, schema: dict[str, JSON], pointer: str, dialect: Dialect, parent: Node | None
    ) -> None:
        self.schema = schema
        self.pointer = pointer
        self.dialect = dialect
        self.parent = parent
        self.target: Node | bool | None = None
        self.in_place: list[Node] = []
        self.on_keys: list[Node] = []
        self.names: list[str] = []
        self.leaf = True
        self.resolver: Any = None  # a referencing.Resolver, once one is needed

    def at(self, keyword: str) -> str:
        """The pointer of one of its keywords."""
        return f"{self.pointer}/{escape_pointer(keyword)}"

    def get(self, keyword: str) -> JSON:
        """The value of a keyword, or None if it is not there or does not count."""
        return self.schema[keyword] if keyword in self.names else None

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
        combines: Some node has a keyword of `NEGATING`.

    Raises:
        SchemaError: A keyword has a value of the wrong form, or a reference leads nowhere or round
            in a circle.
        UnsupportedFeatureError: A keyword, or the draft, is refused.
    """

    def __init__(
        self,
        root: JSON,
        dialect: str | None,
        registry: Any,  # noqa: ANN401 - a referencing.Registry; the library is imported when needed
        limits: Limits,
    ) -> None:
        self._root = root
        self._registry = registry
        self._limits = limits
        self._by_id: dict[int, Node] = {}
        self._inner_ids: bool | None = None
        self._root_resolver: Any = None
        self.nodes: list[Node] = []
        self.combines = False
        if isinstance(root, dict):
            self._add(Node(root, "#", _root_dialect(root, dialect), None))
            for node in self.nodes:
                self._visit(node)
            _refuse_circles(self.nodes)

    def node(self, schema: dict[str, JSON]) -> Node:
        """The node of a subschema, by identity."""
        return self._by_id[id(schema)]

    def uses(self, formats: Container[str]) -> Iterator[KeywordUse]:
        """What is done with each keyword of the nodes visited.

        Args:
            formats: The names of the formats that are enforced.
        """
        for node in self.nodes:
            for name, value in node.schema.items():
                enforced = name in node.names and (name != "format" or value in formats)
                yield KeywordUse(node.pointer, name, "enforced" if enforced else "annotation")

    def _add(self, node: Node) -> None:
        self._by_id[id(node.schema)] = node
        self.nodes.append(node)
        self._limits.check("max_source_nodes", len(self.nodes), "a schema")

    def _visit(self, node: Node) -> None:
        """Check the keywords of one node, and add the nodes that they lead to."""
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
                self.combines = self.combines or (name in NEGATING and _negates(name, value))
                node.leaf = node.leaf and not keyword.children
            if keyword.use == "refused":
                raise UnsupportedFeatureError(
                    f"the keyword {name!r} is not supported: {keyword.reason}",
                    pointer=node.at(name),
                    hint="leave it out, or say the same with other keywords",
                )
            if not keyword.valid(value):
                raise SchemaError(
                    f"{name!r} must be {keyword.expects}, not {_shown(value)}{_hint(name, value)}",
                    pointer=node.at(name),
                )
            if keyword.children == "reference":
                node.target = self._resolve(node, value)
                if isinstance(node.target, Node):
                    node.in_place.append(node.target)
            elif keyword.children:
                self._visit_children(node, keyword, value)

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
                found = self._by_id.get(id(child))
                if found is None:
                    dialect = _inner_dialect(child, node.dialect, pointer)
                    found = Node(child, pointer, dialect, node)
                    self._add(found)
                if keyword.in_place:
                    node.in_place.append(found)
                elif keyword.name == "propertyNames":
                    node.on_keys.append(found)

    # References

    def _resolve(self, node: Node, ref: str) -> Node | bool:
        """What a reference leads to."""
        if (ref == "#" or ref.startswith("#/")) and self._is_local(node):
            schema, pointer = self._follow(node, ref)
            resolver = None
            dialect = self.nodes[0].dialect
        else:
            schema, resolver = self._lookup(node, ref)
            pointer = ref
            dialect = node.dialect
            if isinstance(schema, dict) and id(schema) not in self._by_id:
                try:
                    document = resolver.lookup("#").contents
                except TypeError:  # a document of the registry is no schema of its own dialect
                    raise SchemaError(
                        f"$ref {ref!r} leads to a document that cannot be read in its dialect",
                        pointer=node.at("$ref"),
                        hint="look at boolean schemas, unknown to draft 4, in the registry",
                    ) from None
                if isinstance(document, dict) and isinstance(document.get("$schema"), str):
                    dialect = _named_dialect(document["$schema"], f"{pointer}/$schema")
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            raise SchemaError(f"$ref {ref!r} leads to no schema", pointer=node.at("$ref"))
        found = self._by_id.get(id(schema))
        if found is None:
            found = Node(schema, pointer, _inner_dialect(schema, dialect, pointer), None)
            found.resolver = resolver
            self._add(found)
        return found

    def _is_local(self, node: Node) -> bool:
        """Whether a pointer in this node is one into the root document."""
        if self._inner_ids is None:
            self._inner_ids = _has_inner_ids(self._root)
        if self._inner_ids:
            return False
        at: Node | None = node
        while at is not None:
            if at.resolver is not None:
                return False
            at = at.parent
        return True

    def _follow(self, node: Node, ref: str) -> tuple[JSON, str]:
        """The value at a JSON pointer of the root document, and the pointer in its usual form."""
        value, pointer = self._root, "#"
        for step in ref.split("/")[1:]:
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
                value = value[int(key)]
            else:
                raise SchemaError(
                    f"$ref {ref!r} leads nowhere: {pointer} has no {key!r}",
                    pointer=node.at("$ref"),
                )
            pointer += "/" + escape_pointer(key)
        return value, pointer

    def _lookup(self, node: Node, ref: str) -> tuple[JSON, Any]:
        from referencing.exceptions import Unresolvable

        try:
            found = self._resolver(node).lookup(ref)
        except (Unresolvable, LookupError, ValueError, TypeError):
            raise SchemaError(
                f"$ref {ref!r} leads nowhere",
                pointer=node.at("$ref"),
                hint="schemas of other documents come from registry=, and are never fetched",
            ) from None
        return found.contents, found.resolver

    def _resolver(self, node: Node) -> Any:  # noqa: ANN401 - a referencing.Resolver
        """The resolver of a node: that of the nearest node above, moved into subresources."""
        from jsonschema_specifications import REGISTRY as METASCHEMAS
        from referencing import Registry
        from referencing.jsonschema import specification_with

        chain = [node]
        while chain[-1].resolver is None and chain[-1].parent is not None:
            chain.append(chain[-1].parent)
        top = chain[-1]
        resolver = top.resolver
        if resolver is None:
            if self._root_resolver is None:
                root = self.nodes[0]
                resource = specification_with(root.dialect.uri).create_resource(self._root)
                base = resource.id() or ""
                registry = Registry() if self._registry is None else self._registry
                registry = METASCHEMAS.combine(registry).with_resource(base, resource)
                self._root_resolver = registry.resolver(base)
            resolver = self._root_resolver
            if top.schema is not self._root:
                # Reached by a pointer while no identifier was inside the document.
                top.resolver = resolver
        for below in reversed(chain[:-1]):
            specification = specification_with(below.dialect.uri)
            resolver = resolver.in_subresource(specification.create_resource(below.schema))
            below.resolver = resolver
        return resolver


def _root_dialect(root: dict[str, JSON], name: str | None) -> Dialect:
    if name is not None:
        found = DIALECTS.get(name)
        if found is None:
            raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, not {name!r}")
        return found
    uri = root.get("$schema")
    if isinstance(uri, str):
        return _named_dialect(uri, "#/$schema")
    if uri is not None:
        raise SchemaError("'$schema' must be a string", pointer="#/$schema")
    return DIALECTS["draft2020-12"]


def _named_dialect(uri: str, pointer: str) -> Dialect:
    found = dialect_of(uri)
    if found is None:
        raise UnsupportedFeatureError(
            f"the draft {uri!r} is not supported",
            pointer=pointer,
            hint=f"pass dialect= one of {', '.join(DIALECTS)}",
        )
    return found


def _inner_dialect(schema: dict[str, JSON], outer: Dialect, pointer: str) -> Dialect:
    """The dialect of a subschema: its own if it is a resource of its own that names one."""
    uri = schema.get("$schema")
    if not isinstance(uri, str) or ("$id" not in schema and "id" not in schema):
        return outer
    return _named_dialect(uri, f"{pointer}/$schema")


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
    open_, done = 1, 2
    state: dict[Node, int] = {}
    for start in nodes:
        if start in state or not (start.in_place or start.on_keys):
            continue
        path = [(start, iter(start.in_place + start.on_keys))]
        state[start] = open_
        while path:
            node, rest = path[-1]
            below = next(rest, None)
            if below is None:
                state[node] = done
                path.pop()
            elif state.get(below) == open_:
                circle = [n for n, _ in path]
                raise _circle(circle[circle.index(below) :], below)
            elif below not in state:
                state[below] = open_
                path.append((below, iter(below.in_place + below.on_keys)))


def _circle(circle: list[Node], first: Node) -> GrammarError:
    """The error for nodes that lead round from `first` to itself."""
    after = [*circle[1:], first]
    if any(b in a.on_keys for a, b in zip(circle, after, strict=True)):
        return UnsupportedFeatureError(
            f"'propertyNames' leads back to {first.pointer}", pointer=circle[-1].pointer
        )
    last = circle[-1]
    return SchemaError(
        f"the schema applies itself to the same value, through {first.pointer}",
        pointer=last.at("$ref") if last.target is first else last.pointer,
        hint="a $ref that recurses must stand below properties or items",
    )


def _negates(name: str, value: JSON) -> bool:
    """Whether complements come of it: of `dependencies` only if it has schemas."""
    if name != "dependencies" or not isinstance(value, dict):
        return True
    return not all(isinstance(needs, list) for needs in value.values())


def _shown(value: JSON) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _hint(name: str, value: JSON) -> str:
    if name == "items" and isinstance(value, list):
        return " (an array of schemas is `prefixItems` since draft 2020-12)"
    if name == "required" and isinstance(value, bool):
        return " (it stands beside `properties` and lists names)"
    if name.startswith("exclusive") and isinstance(value, bool):
        return " (a boolean is draft 4: set $schema or dialect=)"
    return ""
