"""What would be refused only once a text gets there, so that it is looked for when compiling.

Subschemas are looked at when a text reaches them, as most are never reached. Two things that may be
refused then can be seen in the keywords: numbers that are too long, and formats that are known in
part, as it is not always known what is left of them beside other keywords.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from constrain.frontends.json_schema.formats import SUBSETS
from constrain.frontends.json_schema.read import JSON, is_too_long
from constrain.frontends.json_schema.refs import Node, Source

__all__ = ["may_refuse_late", "refuses_late"]

_NUMBERS: Final = frozenset(
    (
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("const", "enum"),
    )
)


def may_refuse_late(source: Source) -> bool:
    """Whether a text may reach a keyword that has to be refused.

    Cost: one pass over the nodes, if one of these keywords occurs.
    """
    names = source.keywords
    if "format" not in names and names.isdisjoint(_NUMBERS):
        return False
    return any(map(refuses_late, source.nodes))


def refuses_late(node: Node) -> bool:
    """Whether a node itself has a keyword that may have to be refused."""
    if "format" in node.names and node.schema["format"] in SUBSETS:
        return True
    return not _NUMBERS.isdisjoint(node.names) and _has_long_number(node)


def _has_long_number(node: Node) -> bool:
    todo: list[JSON] = [node.schema[name] for name in node.names if name in _NUMBERS]
    for value in todo:
        if isinstance(value, list):
            todo += value
        elif isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, (int, Decimal)) and is_too_long(value):
            return True
    return False
