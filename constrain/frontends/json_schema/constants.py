"""Finite sets of values: what `enum` and `const` list, and sets that turn out to be small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

from constrain.frontends.json_schema import number
from constrain.frontends.json_schema.array import ArrayShape, fixed
from constrain.frontends.json_schema.assertions import type_names
from constrain.frontends.json_schema.expr import FALSE, Exprs
from constrain.frontends.json_schema.object import ObjectShape
from constrain.frontends.json_schema.refs import Node
from constrain.frontends.json_schema.shapes import ShapeSet
from constrain.frontends.json_schema.string import StringShape
from constrain.frontends.json_schema.values import ArrayValue, Frozen, ObjectValue, Values, Word

__all__ = ["MOST_VALUES", "few_values", "finite_set", "listed_values", "only_values"]

_BOOLEANS: Final = ((False, Word.FALSE), (True, Word.TRUE))

_LISTING: Final = frozenset(("enum", "const"))
_BEYOND_VALUES: Final = frozenset(
    (
        "multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern "
        "format maxItems minItems uniqueItems maxProperties minProperties required minContains "
        "maxContains dependentRequired"
    ).split()
)
"""Keywords without subschemas, but `type`, that a list of values does not make needless."""

MOST_VALUES: Final = 64
"""Values that an item may have where `uniqueItems` keeps a set of those used."""


def listed_values(node: Node, keep: Values) -> list[Frozen] | None:
    """The values that `enum` and `const` leave, or None if there is neither."""
    values: list[Frozen] | None = None
    if _LISTING.isdisjoint(node.names):
        return None
    if (listed := node.get("enum")) is not None:
        pointer = node.at("enum")
        values = list(dict.fromkeys([keep.freeze(value, pointer) for value in listed]))
    if "const" in node.names:
        only = keep.freeze(node.schema["const"], node.at("const"))
        values = [only] if values is None or only in values else []
    return values


def only_values(node: Node, keep: Values) -> list[Frozen] | None:
    """The values of a node that only lists values, perhaps with a `type`; else None."""
    if _LISTING.isdisjoint(node.names) or not _BEYOND_VALUES.isdisjoint(node.names):
        return None
    values = listed_values(node, keep)
    types = type_names(node)
    if values is None or types is None:
        return values
    if "integer" in types and node.dialect.name == "draft4":
        return None  # how an integer is written counts there
    return [v for v in values if not types.isdisjoint(_types_of(v))]


def finite_set(frozen: Iterable[Frozen], table: Exprs) -> ShapeSet:
    """Exactly these values."""
    words: set[Word] = set()
    numbers: list[Fraction] = []
    strings: list[str] = []
    arrays: list[ArrayShape] = []
    objects: list[ObjectShape] = []
    for value in frozen:
        if isinstance(value, str):
            strings.append(value)
        elif isinstance(value, Fraction):
            numbers.append(value)
        elif isinstance(value, ArrayValue):
            arrays.append(fixed([table.finite((item,)) for item in value.items]))
        elif isinstance(value, ObjectValue):
            named = {key: table.finite((v,)) for key, v in value.members}
            others = StringShape(out=frozenset(named))
            objects.append(ObjectShape(named, (((others,), FALSE),), tuple(named)))
        else:
            words.add(value)
    return ShapeSet(
        Word.NULL in words,
        frozenset([b for b, word in _BOOLEANS if word in words]),
        (number.finite(numbers),) if numbers else (),
        (StringShape(only=frozenset(strings)),) if strings else (),
        tuple(arrays),
        tuple(objects),
    )


def few_values(values: ShapeSet) -> Sequence[Frozen] | None:
    """All values of a set, if they are scalars and at most 64; else None."""
    if values.arrays or values.objects:
        return None
    found: list[Frozen] = [Word.NULL] if values.null else []
    found += [word for b, word in _BOOLEANS if b in values.booleans]
    for strings in values.strings:
        if strings.only is None:
            return None
        found += sorted(strings.only)
    for numbers in values.numbers:
        listed = number.list_values(numbers, MOST_VALUES)
        if listed is None:
            return None
        found += listed
    return list(dict.fromkeys(found)) if len(found) <= MOST_VALUES else None


def _types_of(value: Frozen) -> tuple[str, ...]:
    """The names by which `type` lets a frozen value through."""
    if isinstance(value, Fraction):
        return ("number", "integer") if value.denominator == 1 else ("number",)
    if isinstance(value, Word):
        return ("null",) if value is Word.NULL else ("boolean",)
    kinds = {str: "string", ArrayValue: "array", ObjectValue: "object"}
    return (kinds[type(value)],)
