"""The report: what is done with each keyword of a schema.

It speaks of the keywords as they were written. Before nodes are rewritten (OpenAPI's own keywords,
keywords that are relaxed) it is fixed, and changes are noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from constrain.frontends.json_schema.formats import FORMATS
from constrain.frontends.json_schema.hints import about_keyword
from constrain.frontends.json_schema.refs import Node, Source

__all__ = ["KeywordUse", "Report"]


class KeywordUse(NamedTuple):
    """What was done with one keyword of a schema.

    Attributes:
        pointer: The JSON pointer of the schema that has it, as a URI fragment.
        keyword: Its name.
        use: "enforced"; "annotation", which says nothing about which values are valid; or
            "relaxed": dropped, as was asked for, where it would have been refused.
        reason: Why it is not enforced, where that is not plain.
    """

    pointer: str
    keyword: str
    use: str
    reason: str = ""


class Report:
    """What is done with each keyword that can be reached, in the order read.

    Args:
        source: The nodes.
        asserts_formats: `format` is enforced where its name is known.
    """

    def __init__(self, source: Source, *, asserts_formats: bool) -> None:
        self._source = source
        self._asserts_formats = asserts_formats
        self._fixed: dict[tuple[str, str], KeywordUse] | None = None

    def uses(self) -> Sequence[KeywordUse]:
        """What is done with each keyword. Cost: one pass over the schema."""
        found = self._read() if self._fixed is None else self._fixed.values()
        return tuple(found)

    def fix(self) -> None:
        """From now on nodes may be rewritten."""
        if self._fixed is None:
            self._fixed = {(use.pointer, use.keyword): use for use in self._read()}

    def note(self, pointer: str, keyword: str, use: str, reason: str = "") -> None:
        """Say what is done with a keyword after all. What is no keyword of the schema is left out.

        Args:
            pointer: Of the schema that has it.
            keyword: Its name.
            use: As in `KeywordUse`.
            reason: As in `KeywordUse`.
        """
        assert self._fixed is not None
        if (pointer, keyword) in self._fixed:
            self._fixed[pointer, keyword] = KeywordUse(pointer, keyword, use, reason)

    def _read(self) -> Iterator[KeywordUse]:
        seen = set()
        for node in self._source.nodes:
            if id(node.schema) not in seen:  # else it is there in another dynamic scope
                seen.add(id(node.schema))
                for name in node.schema:
                    yield KeywordUse(node.pointer, name, *self._use(node, name))

    def _use(self, node: Node, name: str) -> tuple[str, str]:
        """What is done with a keyword, and why if it is not enforced."""
        if name in node.names:
            if name != "format":
                return "enforced", ""
            if not (self._asserts_formats or node.dialect.asserts_formats):
                return "annotation", "formats are not asserted"
            if node.schema[name] not in FORMATS:
                return "annotation", f"no format that is known: {node.schema[name]}"
            return "enforced", ""
        keyword = node.dialect.keywords.get(name)
        if keyword is None:
            if name.startswith("x-") or name in _CONTAINERS:
                return "annotation", ""
            reason = about_keyword(name, node.dialect) or f"no keyword of {node.dialect.name}"
            return "annotation", reason
        if keyword.use == "annotation":
            return "annotation", ""
        if name in ("then", "else"):
            return "annotation", "no `if` stands beside it"
        return "annotation", f"`$ref` overrides what stands beside it in {node.dialect.name}"


_CONTAINERS = ("$defs", "definitions", "components")
"""Where schemas are kept that others refer to, by habit also in drafts that do not say so."""
