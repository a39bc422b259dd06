"""Random schemas over the keywords, and values that nearly fit them. For differential tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = ["a", "b", "ab", "c"]
STRINGS = ["", "a", "b", "ab", "abc", "ba", "aab", "é", "日本", "😀", 'q"\\/', "a b"]
NUMBERS = [0, 1, -1, 2, 3, 5, 6, 10, -7, 1.5, 0.5, -0.5, 2.0, 2.5, 100, 10**20]
PATTERNS = ["^a", "b$", "^[ab]*$", "a+b", "^.{2}$", "[^a]"]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]

scalars = st.one_of(
    st.sampled_from([None, True, False]), st.sampled_from(NUMBERS), st.sampled_from(STRINGS)
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([*NAMES, "x"]), inner, max_size=3),
    ),
    max_leaves=6,
)

_counts = st.integers(0, 3)
_bounds = st.sampled_from([-7, -1, 0, 1, 1.5, 2, 5, 10])

CORE: dict[str, Any] = {
    "type": st.one_of(
        st.sampled_from(TYPES),
        st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True),
    ),
    "enum": st.lists(values, min_size=1, max_size=4),
    "const": values,
    "minLength": _counts,
    "maxLength": _counts,
    "pattern": st.sampled_from(PATTERNS),
    "minimum": _bounds,
    "maximum": _bounds,
    "exclusiveMinimum": _bounds,
    "exclusiveMaximum": _bounds,
    "multipleOf": st.sampled_from([1, 2, 3, 0.5, 1.5]),
    "minItems": _counts,
    "maxItems": _counts,
    "required": st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
    "maxProperties": _counts,
    "minProperties": st.integers(0, 1),
}


def _one(inner: Any) -> dict[str, Any]:
    return {
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "properties": st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
        "patternProperties": st.dictionaries(st.sampled_from(PATTERNS), inner, max_size=2),
        "additionalProperties": inner,
        "anyOf": st.lists(inner, min_size=1, max_size=3),
    }


def _more(inner: Any) -> dict[str, Any]:
    return {
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "oneOf": st.lists(inner, min_size=1, max_size=3),
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "propertyNames": inner,
        "contains": inner,
        "minContains": st.integers(0, 2),
        "maxContains": st.integers(0, 2),
        "dependentRequired": st.dictionaries(
            st.sampled_from(NAMES),
            st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
            max_size=2,
        ),
        "dependentSchemas": st.dictionaries(st.sampled_from(NAMES), inner, max_size=1),
        "uniqueItems": st.booleans(),
    }


@st.composite
def _keywords(draw: Any, table: dict[str, Any], most: int) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from(sorted(table)), max_size=most, unique=True))
    return {name: draw(table[name]) for name in names}


def schemas(*, combinators: bool) -> Any:
    """Schemas of draft 2020-12 without references; `combinators`: with `not`, `oneOf` and so on."""
    leaf = st.one_of(st.booleans(), _keywords(CORE, 2))

    def grow(inner: Any) -> Any:
        table = {**CORE, **_one(inner), **(_more(inner) if combinators else {})}
        return _keywords(table, 4)

    return st.recursive(leaf, grow, max_leaves=6)
