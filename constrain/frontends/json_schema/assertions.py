"""What the keywords of one node say of numbers, strings, arrays and objects by themselves.

A keyword binds values of its own kind. Keywords that apply subschemas to the same value are in
`meaning`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final

from constrain.errors import GrammarError
from constrain.frontends.json_schema import number
from constrain.frontends.json_schema.array import ANY_ARRAY, ArrayCounter, ArrayShape
from constrain.frontends.json_schema.array import tidy as tidy_array
from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr, Exprs
from constrain.frontends.json_schema.formats import format_language
from constrain.frontends.json_schema.number import ANY_NUMBER, INTEGER, INTEGER_FORM, NumberShape
from constrain.frontends.json_schema.object import KeySet, ObjectShape
from constrain.frontends.json_schema.object import tidy as tidy_object
from constrain.frontends.json_schema.patterns import pattern_language
from constrain.frontends.json_schema.read import JSON, exact
from constrain.frontends.json_schema.refs import Node
from constrain.frontends.json_schema.shapes import EVERYTHING, ShapeSet
from constrain.frontends.json_schema.string import Language, StringSets, StringShape
from constrain.limits import Limits

__all__ = ["Assertions", "kinds", "type_names"]

_OF_NUMBERS: Final = frozenset(
    ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")
)
_OF_STRINGS: Final = frozenset(("minLength", "maxLength", "pattern", "format"))
_OF_ARRAYS: Final = frozenset(
    (
        *("prefixItems", "items", "additionalItems", "minItems", "maxItems", "uniqueItems"),
        *("contains", "minContains", "maxContains"),
    )
)
_OF_OBJECTS: Final = frozenset(
    (
        *("properties", "patternProperties", "additionalProperties", "required"),
        *("minProperties", "maxProperties", "dependentRequired", "dependencies"),
    )
)
"""The keywords by the kind of value that they bind."""

_INTEGERS_BY_FORM: Final = ("draft4", "openapi-3.0")
"""Where an integer is "a JSON number without a fraction or exponent part"; elsewhere 1.0 is one."""


class Assertions:
    """The shapes of a node's own keywords.

    Args:
        table: The expressions.
        strings: The string sets.
        expr: The expression of a subschema of a node.
        limits: Budgets.
        asserts_formats: `format` is enforced.
    """

    def __init__(
        self,
        table: Exprs,
        strings: StringSets,
        expr: Callable[[Node, JSON], Expr],
        limits: Limits,
        *,
        asserts_formats: bool,
    ) -> None:
        self._table = table
        self._string_sets = strings
        self._expr = expr
        self._limits = limits
        self._asserts_formats = asserts_formats

    def shapes(self, node: Node, other_keys: KeySet | None) -> ShapeSet:
        """What the other keywords say, of all kinds.

        Args:
            node: The node.
            other_keys: The keys that `propertyNames` does not allow, if it is there.
        """
        names, whole = node.names, EVERYTHING
        numbers = whole.numbers if _OF_NUMBERS.isdisjoint(names) else self._numbers(node)
        strings = whole.strings if _OF_STRINGS.isdisjoint(names) else self._strings(node)
        arrays = whole.arrays if _OF_ARRAYS.isdisjoint(names) else self._arrays(node)
        objects = whole.objects
        if other_keys or not _OF_OBJECTS.isdisjoint(names):
            objects = self.objects(node, other_keys)
        found = (numbers, strings, arrays, objects)
        if found == (whole.numbers, whole.strings, whole.arrays, whole.objects):
            return EVERYTHING
        return ShapeSet(True, whole.booleans, *found)

    def check(self, node: Node) -> None:
        """Read the patterns of a node, so that one that is wrong or refused is an error at once.

        Raises:
            RegexSyntaxError: One does not parse.
            UnsupportedFeatureError: One has what no regular language has.
        """
        if (source := node.get("pattern")) is not None:
            self._pattern(source, node.at("pattern"))
        for source in node.get("patternProperties") or ():
            self._pattern(source, node.at("patternProperties"))

    def key_patterns(self, node: Node) -> list[Language]:
        """The keys that each of `patternProperties` speaks of."""
        pointer = node.at("patternProperties")
        return [self._pattern(source, pointer) for source in node.get("patternProperties") or ()]

    def _numbers(self, node: Node) -> tuple[NumberShape, ...]:
        lo, lo_open = self._bound(node, "minimum", "exclusiveMinimum", max)
        hi, hi_open = self._bound(node, "maximum", "exclusiveMaximum", min)
        step = node.get("multipleOf")
        if lo is None and hi is None and step is None:
            return EVERYTHING.numbers
        multiple = None if step is None else exact(step, node.at("multipleOf"))
        return number.union(
            [number.make(lo=lo, hi=hi, lo_open=lo_open, hi_open=hi_open, step=multiple)]
        )

    def _bound(
        self, node: Node, name: str, exclusive_name: str, stricter: Callable[..., Fraction]
    ) -> tuple[Fraction | None, bool]:
        """A bound, and whether it is open. In draft 4 the exclusive keyword is a flag."""
        bound, exclusive = node.get(name), node.get(exclusive_name)
        inclusive = None if bound is None else exact(bound, node.at(name))
        if isinstance(exclusive, bool):
            return inclusive, exclusive
        if exclusive is None:
            return inclusive, False
        strict = exact(exclusive, node.at(exclusive_name))
        if inclusive is None or stricter(strict, inclusive) == strict:
            return strict, True
        return inclusive, False

    def _strings(self, node: Node) -> tuple[StringShape, ...]:
        lo, hi = int(node.get("minLength") or 0), _count(node.get("maxLength"))
        languages = []
        if (pattern := node.get("pattern")) is not None:
            languages.append(self._pattern(pattern, node.at("pattern")))
        if (name := node.get("format")) is not None and self._asserts(node):
            language = format_language(name)
            languages += [] if language is None else [language]
        if lo == 0 and hi is None and not languages:
            return EVERYTHING.strings
        shape = StringShape(lo=lo, hi=hi, yes=frozenset(languages))
        return self._string_sets.union([shape])

    def _asserts(self, node: Node) -> bool:
        """Whether `format` is enforced in a node."""
        return self._asserts_formats or node.dialect.asserts_formats

    def _arrays(self, node: Node) -> tuple[ArrayShape, ...]:
        prefix, rest = node.get("prefixItems") or [], node.get("items")
        if isinstance(rest, list):  # before draft 2020-12
            prefix, rest = rest, node.get("additionalItems")
        counters = set()
        contains = node.get("contains")
        if contains is not None:
            least = node.get("minContains")
            counters.add(
                ArrayCounter(
                    self._expr(node, contains),
                    0,
                    1 if least is None else int(least),
                    _count(node.get("maxContains")),
                )
            )
        shape = ArrayShape(
            tuple([self._expr(node, s) for s in prefix]),
            TRUE if rest is None else self._expr(node, rest),
            int(node.get("minItems") or 0),
            _count(node.get("maxItems")),
            frozenset(counters),
            True if node.get("uniqueItems") else None,
        )
        if shape == ANY_ARRAY:
            return EVERYTHING.arrays
        tidied = tidy_array(shape, self._table)
        return () if tidied is None else (tidied,)

    def objects(self, node: Node, other_keys: KeySet | None = None) -> tuple[ObjectShape, ...]:
        """What they say of objects. See `shapes`."""
        properties = node.get("properties") or {}
        patterns = node.get("patternProperties") or {}
        named = {key: self._expr(node, s) for key, s in properties.items()}
        rules: list[tuple[KeySet, Expr]] = []
        languages = self.key_patterns(node)
        for language, schema in zip(languages, patterns.values(), strict=True):
            rules.append(((StringShape(yes=frozenset((language,))),), self._expr(node, schema)))
        others = node.get("additionalProperties")
        if others is not None:
            keys = StringShape(no=frozenset(languages), out=frozenset(properties))
            rules.append((self._string_sets.union([keys]), self._expr(node, others)))
        if other_keys:
            rules.append((other_keys, FALSE))
        required = tuple(dict.fromkeys(node.get("required") or ()))
        lo, hi = int(node.get("minProperties") or 0), _count(node.get("maxProperties"))
        needs = frozenset(
            [
                (key, frozenset(others))
                for name in ("dependentRequired", "dependencies")
                for key, others in (node.get(name) or {}).items()
                if isinstance(others, list) and others
            ]
        )
        if not (named or rules or required or needs or lo or hi is not None):
            return EVERYTHING.objects
        shape = tidy_object(
            ObjectShape(named, tuple(rules), required, needs=needs, lo=lo, hi=hi), self._table
        )
        return () if shape is None else (shape,)

    def _pattern(self, source: str, pointer: str) -> Language:
        try:
            return pattern_language(source, self._limits)
        except GrammarError as e:
            e.pointer = pointer
            raise


def kinds(node: Node) -> ShapeSet:
    """What `type` lets through; everything if it is not there."""
    types = node.get("type")
    if types is None:
        return EVERYTHING
    named = (types,) if isinstance(types, str) else tuple(types)
    return _values_of(named, node.dialect.name in _INTEGERS_BY_FORM)


@lru_cache(maxsize=256)
def _values_of(types: tuple[str, ...], by_form: bool) -> ShapeSet:
    """All values of some types; whether a number is an integer may be a matter of its form."""
    integer = INTEGER_FORM if by_form else INTEGER
    return ShapeSet(
        "null" in types,
        EVERYTHING.booleans if "boolean" in types else frozenset(),
        (ANY_NUMBER,) if "number" in types else (integer,) if "integer" in types else (),
        EVERYTHING.strings if "string" in types else (),
        EVERYTHING.arrays if "array" in types else (),
        EVERYTHING.objects if "object" in types else (),
    )


def type_names(node: Node) -> frozenset[str] | None:
    """The names in `type`, or None if it is not there."""
    types = node.get("type")
    if types is None:
        return None
    return frozenset(types if isinstance(types, list) else (types,))


def _count(value: JSON) -> int | None:
    return None if value is None else int(value)
