"""Documents and what they hold: schema resources by URI, their anchors, where each subschema is.

A resource is a document, or a schema inside one that has an identifier; references are resolved
against its URI. The root document is looked at first, then the registry of the caller, then the
published metaschemas; nothing is ever fetched. A document is walked once, when first needed, along
the keywords that hold subschemas, so an `$id` in an `enum` is no identifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urljoin

from constrain.frontends.json_schema.keywords import Dialect, dialect_of
from constrain.frontends.json_schema.read import JSON, escape_pointer
from constrain.frontends.json_schema.vocabularies import narrowed

__all__ = [
    "RECURSIVE",
    "Documents",
    "Found",
    "NoSchemaError",
    "Place",
    "Resource",
    "item_index",
    "split_pointer",
]

RECURSIVE: Final = ""
"""Stands for `$recursiveAnchor` among the names of dynamic anchors; no anchor has this name."""

_DEFINITIONS: Final = ("$defs", "definitions")
_INDEX: Final = re.compile("0|[1-9][0-9]*")


class NoSchemaError(LookupError):
    """A reference leads nowhere. The text says where it ended, or is empty."""


class Resource:
    """A document, or a schema with an identifier of its own inside one. Compare by identity.

    Attributes:
        uri: What references in it are resolved against, without fragment.
        root: Its schema.
        dialect: The draft of its schema.
        pointer: Where the schema stands, for messages.
        anchors: Its schemas by plain-name fragment.
        dynamic: Those of `$dynamicAnchor`; under `RECURSIVE` the root, if `$recursiveAnchor` is
            true.
    """

    __slots__ = ("anchors", "dialect", "dynamic", "pointer", "root", "uri")

    def __init__(self, uri: str, root: JSON, dialect: Dialect, pointer: str) -> None:
        self.uri = uri
        self.root = root
        self.dialect = dialect
        self.pointer = pointer
        self.anchors: dict[str, JSON] = {}
        self.dynamic: dict[str, JSON] = {}

    def __repr__(self) -> str:
        return self.uri or "#"


class Place(NamedTuple):
    """Where a subschema stands."""

    resource: Resource
    dialect: Dialect
    pointer: str


class Found(NamedTuple):
    """What a reference leads to.

    Attributes:
        schema: The value there; may be no schema.
        place: Where it stands.
        anchor: The plain name by which it was found, or None.
        resource: The resource that the URI without fragment names.
    """

    schema: JSON
    place: Place
    anchor: str | None
    resource: Resource


class Documents:
    """The documents that one schema can reach.

    Args:
        root: The schema.
        registry: A `referencing.Registry`, or None.
    """

    def __init__(self, root: JSON, registry: Any) -> None:  # noqa: ANN401 - imported when needed
        self._root = root
        self._registry = registry
        self._by_uri: dict[str, Resource] = {}
        self._places: dict[int, Place] = {}  # the schemas are kept alive by their resources
        self._dialects: dict[str, Dialect | None] = {}
        self._root_resource: Resource | None = None
        self._walked_registry = False

    def root(self, dialect: Dialect) -> Resource:
        """The resource of the root document, which is in some draft."""
        if self._root_resource is None:
            self._root_resource = self._add("", self._root, dialect)
        return self._root_resource

    def place(self, schema: dict[str, JSON]) -> Place | None:
        """Where a subschema of a document that was walked stands, None if no keyword holds it."""
        return self._places.get(id(schema))

    def dialect(self, uri: str) -> Dialect | None:
        """What `$schema` names: a draft, or a metaschema of a document that is at hand.

        Raises:
            UnsupportedFeatureError: The metaschema requires a vocabulary that is not known.
        """
        found = dialect_of(uri)
        if found is not None:
            return found
        if uri not in self._dialects:
            self._dialects[uri] = self._custom_dialect(uri)
        return self._dialects[uri]

    def lookup(self, resource: Resource, ref: str) -> Found:
        """What a reference in a resource leads to.

        Raises:
            NoSchemaError: Nowhere.
        """
        if ref.startswith("#"):
            target, fragment = resource, ref[1:]
        else:
            uri, fragment = _parted(_joined(resource.uri, ref))
            target = self._resource(uri, resource)
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            if fragment not in target.anchors:
                raise NoSchemaError(f"no schema there has the anchor {fragment!r}")
            schema = target.anchors[fragment]
            return Found(schema, self._places[id(schema)], fragment, target)
        place = Place(target, target.dialect, target.pointer)
        return Found(*self._follow(target.root, place, split_pointer(fragment)), None, target)

    # Documents

    def _resource(self, uri: str, referrer: Resource) -> Resource:
        found = referrer if uri == referrer.uri else self._by_uri.get(uri)
        if found is None:
            contents = self._contents(uri)
            if isinstance(contents, (dict, bool)):
                return self._add(uri, contents, referrer.dialect)
            self._walk_registry(referrer.dialect)
            found = self._by_uri.get(uri)
        if found is None:
            contents = self._retrieved(uri)
            if not isinstance(contents, (dict, bool)):
                raise NoSchemaError
            found = self._add(uri, contents, referrer.dialect)
        return found

    def _contents(self, uri: str) -> JSON:
        """A document that is at hand under this very URI, else None."""
        from jsonschema_specifications import REGISTRY as METASCHEMAS

        for registry in (self._registry, METASCHEMAS):
            found = None if registry is None else registry.get(uri)
            if found is not None:
                return found.contents
        return None

    def _walk_registry(self, dialect: Dialect) -> None:
        """Find the identifiers inside all documents of the caller's registry."""
        if self._registry is None or self._walked_registry:
            return
        self._walked_registry = True
        for uri in self._registry:
            contents = self._registry[uri].contents
            if uri not in self._by_uri and isinstance(contents, dict):
                self._add(uri, contents, dialect)

    def _retrieved(self, uri: str) -> JSON:
        """What the caller's registry makes of a URI that it does not hold, else None."""
        if self._registry is None:
            return None
        from referencing.exceptions import Unresolvable

        try:
            return self._registry.get_or_retrieve(uri).value.contents
        except (Unresolvable, LookupError, ValueError, TypeError):
            return None

    def _custom_dialect(self, uri: str) -> Dialect | None:
        """The dialect of a metaschema that is no draft: a draft's, with its vocabularies."""
        metaschema = above = self._contents(_parted(uri)[0])
        seen = {uri}
        while isinstance(above, dict) and isinstance(draft := above.get("$schema"), str):
            base = dialect_of(draft)
            if base is not None:
                return narrowed(base, metaschema, uri)
            if draft in seen:
                return None
            seen.add(draft)
            above = self._contents(_parted(draft)[0])
        return None

    # Walking one

    def _add(self, uri: str, contents: JSON, dialect: Dialect) -> Resource:
        """Walk a document. `dialect` is that of who refers to it, unless it names its own."""
        where = f"{uri}#"
        own_uri = uri
        if isinstance(contents, dict):
            # The root document's was settled before, perhaps against what it says.
            if contents is not self._root and isinstance(contents.get("$schema"), str):
                dialect = self.dialect(contents["$schema"]) or dialect
            own_uri = _joined(uri, _identifiers(contents, dialect)[0])
        resource = Resource(own_uri, contents, dialect, where)
        self._by_uri.setdefault(uri, resource)
        self._by_uri.setdefault(own_uri, resource)
        if isinstance(contents, dict):
            self._walk(contents, Place(resource, dialect, where), known=True)
        return resource

    def _walk(self, schema: dict[str, JSON], place: Place, *, known: bool) -> None:
        """Note where a schema and all subschemas in it stand.

        Args:
            schema: The schema.
            place: Where it is.
            known: Keywords led here; else its identifiers and anchors are not to be found by name.
        """
        todo = [(schema, place, known)]
        while todo:
            value, (resource, dialect, pointer), named = todo.pop()
            if id(value) in self._places:
                continue
            if value is not resource.root:
                dialect = self._inner_dialect(value, dialect)
                uri = _identifiers(value, dialect)[0]
                if uri:
                    resource = Resource(_joined(resource.uri, uri), value, dialect, pointer)
                    named = True  # in itself
                    if known:
                        self._by_uri.setdefault(resource.uri, resource)
            self._places[id(value)] = Place(resource, dialect, pointer)
            if named:
                _note_anchors(value, resource, dialect)
            for step, child in _subschemas(value, dialect):
                todo.append((child, Place(resource, dialect, f"{pointer}/{step}"), named))

    def _inner_dialect(self, schema: dict[str, JSON], outer: Dialect) -> Dialect:
        """As a schema is walked: one of an unknown dialect is an error only where it is used."""
        uri = schema.get("$schema")
        if not isinstance(uri, str) or ("$id" not in schema and "id" not in schema):
            return outer
        return self.dialect(uri) or outer

    def _follow(self, value: JSON, place: Place, steps: list[str]) -> tuple[JSON, Place]:
        """The value at a JSON pointer, and its place."""
        pointer = place.pointer
        for key in steps:
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and (index := item_index(key, len(value))) is not None:
                value = value[index]
            else:
                raise NoSchemaError(f"{pointer} has no {key!r}")
            pointer = f"{pointer}/{escape_pointer(key)}"
            place = self._places.get(id(value), place)
        if isinstance(value, dict):
            if id(value) not in self._places:
                self._walk(value, place._replace(pointer=pointer), known=False)
            place = self._places[id(value)]
        return value, place._replace(pointer=pointer)


def item_index(step: str, count: int) -> int | None:
    """The index that a step of a JSON pointer is in an array of so many items; None if it is none.

    As RFC 6901 has it: digits of ASCII, no leading zero.
    """
    if not _INDEX.fullmatch(step) or len(step) > len(str(count)):
        return None
    index = int(step)
    return index if index < count else None


def split_pointer(fragment: str) -> list[str]:
    """The steps of a JSON pointer, after percent signs are decoded."""
    return [step.replace("~1", "/").replace("~0", "~") for step in fragment.split("/")[1:]]


def _joined(base: str, uri: str) -> str:
    """A URI reference, resolved; as it is where it is none."""
    try:
        return urljoin(base, uri)
    except ValueError:
        return uri


def _parted(uri: str) -> tuple[str, str]:
    """A URI and its fragment."""
    before, _, fragment = uri.partition("#")
    return before, fragment


def _identifiers(schema: dict[str, JSON], dialect: Dialect) -> tuple[str, str]:
    """The URI and the plain name that a schema gives itself, each "" if it does not."""
    value = schema.get(dialect.id_keyword)
    if not isinstance(value, str) or (dialect.ref_overrides and "$ref" in schema):
        return "", ""
    uri, fragment = _parted(value)
    return uri, fragment if dialect.ref_overrides else ""


def _note_anchors(schema: dict[str, JSON], resource: Resource, dialect: Dialect) -> None:
    names = [_identifiers(schema, dialect)[1]]
    for keyword in ("$anchor", "$dynamicAnchor"):
        if keyword in dialect.keywords and isinstance(name := schema.get(keyword), str):
            names.append(name)
            if keyword == "$dynamicAnchor":
                resource.dynamic.setdefault(name, schema)
    for name in names:
        if name:
            resource.anchors.setdefault(name, schema)
    if schema is resource.root and "$recursiveAnchor" in dialect.keywords:
        if schema.get("$recursiveAnchor") is True:
            resource.dynamic[RECURSIVE] = schema


def _subschemas(schema: dict[str, JSON], dialect: Dialect) -> Iterator[tuple[str, dict[str, JSON]]]:
    """The objects among the subschemas of a schema, each with the steps that lead there."""
    for name, value in schema.items():
        keyword = dialect.keywords.get(name)
        if keyword is None or not (keyword.children or name in _DEFINITIONS):
            continue
        step = escape_pointer(name)
        if isinstance(value, list):
            parts = [(f"{step}/{i}", child) for i, child in enumerate(value)]
        elif not isinstance(value, dict):
            continue
        elif name in _DEFINITIONS or keyword.children in ("schema map", "dependencies"):
            parts = [(f"{step}/{escape_pointer(key)}", child) for key, child in value.items()]
        else:
            parts = [(step, value)]
        for steps, child in parts:
            if isinstance(child, dict):
                yield steps, child
