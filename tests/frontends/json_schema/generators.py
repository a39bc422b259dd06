"""Schemas of every draft, with any pair of keywords.

Everything is drawn from a `random.Random`: hypothesis hands in one that it controls, a sweep or a
long run hands in a seeded one. Constants come from small pools, so that keywords collide.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

__all__ = ["DRAFTS", "KEYWORDS", "SHAPES", "Maker", "pairs", "same"]

DRAFTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")
SHAPES = ("none", "null", "boolean", "integer", "number", "string", "array", "object", "two types")
"""What the node says about its type, beside the keywords asked for."""

NAMES = ["a", "b", "ab", "c"]
KEYS = [*NAMES, "x", "", "é", "😀", "aa", 'q"\\']
STRINGS = [
    "",
    "a",
    "b",
    "ab",
    "ba",
    "abc",
    "aab",
    "a b",
    "é",
    "日本",
    "😀",
    "😀a",
    'q"\\/',
    "\n",
    "1",
]
NUMBERS: list[Any] = [0, 1, 2, 3, 4, 6, -1, -3, 10, 100]
FRACTIONS = [Decimal(t) for t in ("0.1", "0.3", "1.5", "2.5", "-0.5", "1.0", "1e-7", "0.01")]
HUGE: list[Any] = [2**53, 2**53 + 1, 10**20, Decimal("1e400"), -(10**30), 10**18 + 9]
PATTERNS = {
    "^a": ["a", "ab", "aab"],
    "b$": ["b", "ab", "aab"],
    "^[ab]*$": ["", "a", "ba"],
    "a+b": ["ab", "aab"],
    "^.{2}$": ["ab", "日本", "😀a"],
    "[^a]": ["b", "😀"],
    "^(a|b)$": ["a", "b"],
    "^(?!a)": ["", "b", "x"],
    "^x|b": ["x", "ab"],
    "^[0-9]{1,2}$": ["1"],
    "": ["", "a"],
}
"""With strings that match. None of them means different things to Python and ECMA-262."""
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
FORMATS = ["date", "email", "uuid", "ipv4", "made-up"]


def _table(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_EVERY = _table(
    "type enum multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength "
    "pattern format minItems maxItems uniqueItems items minProperties maxProperties required "
    "properties patternProperties additionalProperties allOf anyOf oneOf not $ref default title "
    "x-unknown"
)
_BEFORE_2019 = _table("dependencies")
_BEFORE_2020 = _table("additionalItems")
_FROM_6 = _table("const contains propertyNames")
_FROM_7 = _table("if then else contentEncoding contentMediaType")
_FROM_2019 = _table(
    "dependentRequired dependentSchemas minContains maxContains unevaluatedProperties "
    "unevaluatedItems"
)

KEYWORDS: dict[str, tuple[str, ...]] = {
    "draft4": (*_EVERY, *_BEFORE_2019, *_BEFORE_2020),
    "draft6": (*_EVERY, *_BEFORE_2019, *_BEFORE_2020, *_FROM_6),
    "draft7": (*_EVERY, *_BEFORE_2019, *_BEFORE_2020, *_FROM_6, *_FROM_7),
    "draft2019-09": (*_EVERY, *_BEFORE_2020, *_FROM_6, *_FROM_7, *_FROM_2019, "$recursiveRef"),
    "draft2020-12": (*_EVERY, *_FROM_6, *_FROM_7, *_FROM_2019, "prefixItems", "$dynamicRef"),
}
"""By draft, what the generator can put on a node. The order is that of the vocabularies."""

_FOREIGN = {
    "draft4": ("const", "contains", "propertyNames", "if", "then", "prefixItems", "minContains"),
    "draft6": ("if", "then", "else", "dependentRequired", "prefixItems", "unevaluatedProperties"),
    "draft7": ("dependentRequired", "dependentSchemas", "prefixItems", "maxContains"),
    "draft2019-09": ("prefixItems", "$dynamicRef"),
    "draft2020-12": ("additionalItems", "$recursiveRef"),
}
"""Keywords of other drafts, which must be ignored."""


def pairs(draft: str) -> list[tuple[str, str]]:
    """Every two keywords of a draft, also a keyword with itself (on a node and on its child)."""
    return list(itertools.combinations_with_replacement(KEYWORDS[draft], 2))


class Maker:
    """Makes schemas of one draft.

    A reference that applies to the same value only goes to a definition with a higher number, so
    evaluation ends; below a property or an item it goes anywhere.
    """

    def __init__(self, rng: random.Random, draft: str, *, exclude: frozenset[str] = frozenset()):
        self.rng = rng
        self.draft = draft
        self.keywords = [k for k in KEYWORDS[draft] if k not in exclude]
        self.numbers_are_small = rng.random() < 0.7
        self.definitions = "definitions" if draft in ("draft4", "draft6", "draft7") else "$defs"
        self.num_definitions = rng.choice([0, 1, 2])
        self.anchors = rng.random() < 0.3
        self.dynamic = rng.random() < 0.5

    def root(self, must: tuple[str, ...] = (), shape: str = "none", depth: int = 2) -> Any:
        """A schema whose root has the keywords of `must` (or has one with the other below it)."""
        if len(must) == 2 and must[0] == must[1]:
            must = (must[0],)
        schema = self.node(depth, -1, must=must, shape=shape)
        if not isinstance(schema, dict):
            return schema
        used = repr(schema)
        needed = [i for i in range(self.num_definitions) if f"d{i}" in used or f"n{i}" in used]
        if needed or "$ref" in used:
            made = {}
            for i in range(self.num_definitions):
                definition = self.node(1, i)
                if self.anchors:
                    if not isinstance(definition, dict) or "$ref" in definition:
                        definition = {"allOf": [definition]}  # siblings of $ref may not count
                    definition = {**self._anchor(i), **definition}
                made[f"d{i}"] = definition
            schema = {**schema, self.definitions: made}
        if self.draft == "draft2020-12" and "$dynamicRef" in repr(schema):
            schema = {"$dynamicAnchor": "node", **schema}
        if self.draft == "draft2019-09" and "$recursiveRef" in repr(schema) and self.dynamic:
            schema = {"$recursiveAnchor": True, **schema}
        return schema

    def _anchor(self, i: int) -> dict[str, Any]:
        if self.draft == "draft4":
            return {"id": f"#n{i}"}
        if self.draft in ("draft6", "draft7"):
            return {"$id": f"#n{i}"}
        return {"$anchor": f"n{i}"}

    def node(self, depth: int, floor: int, *, must: tuple[str, ...] = (), shape: str = "") -> Any:
        """One schema. `floor`: references in place go to definitions above it; -2: anywhere."""
        rng = self.rng
        if not must and not shape and rng.random() < 0.12 and self.draft != "draft4":
            return rng.random() < 0.7
        schema: dict[str, Any] = {}
        if not shape:
            shape = rng.choice(("none", "none", *SHAPES)) if rng.random() < 0.5 else "none"
        if shape == "two types":
            schema["type"] = rng.sample(TYPES, 2)
        elif shape != "none" and shape:
            schema["type"] = shape
        more = rng.choice([0, 0, 1]) if must else rng.choice([1, 1, 2, 2, 3])
        names = [*must, *rng.sample(self.keywords, more)]
        if rng.random() < 0.04:
            names.append(rng.choice(_FOREIGN[self.draft]))
        for name in names:
            if name == "type" and "type" in schema:
                continue
            value = self._value(name, depth, floor)
            if value is not None:
                schema[name] = value[0]
        if self.draft == "draft4":
            for bound in ("minimum", "maximum"):
                flag = f"exclusive{bound.title()}"
                if flag in schema and bound not in schema and rng.random() < 0.9:
                    schema[bound] = self._number()
        if "if" in schema and not {"then", "else"} & set(schema):
            schema[rng.choice(("then", "else"))] = self.node(max(depth - 1, 0), floor)
        for bound in ("minContains", "maxContains"):
            if bound in schema and "contains" not in schema and rng.random() < 0.9:
                schema["contains"] = self.node(max(depth - 1, 0), -2)
        if rng.random() < 0.3:
            items = list(schema.items())
            rng.shuffle(items)
            schema = dict(items)
        return schema

    def _value(self, name: str, depth: int, floor: int) -> tuple[Any] | None:
        """The value of a keyword in a tuple; None: it cannot stand here."""
        rng = self.rng
        if name in _LEAVES:
            return (_LEAVES[name](self),)
        if name == "$ref":
            return self._reference(floor)
        if name == "$dynamicRef":
            return ("#node",) if floor == -2 else None
        if name == "$recursiveRef":
            return ("#",) if floor == -2 else None
        if depth <= 0:
            return self._shallow(name, floor)

        def here() -> Any:
            return self.node(depth - 1, floor)

        def below() -> Any:
            return self.node(depth - 1, -2)

        if name in ("not", "if", "then", "else"):
            return (here(),)
        if name in ("allOf", "anyOf", "oneOf"):
            return ([here() for _ in range(rng.choice([1, 2, 2, 3]))],)
        if name in ("dependentSchemas", "dependencies"):
            chosen = rng.sample(NAMES, rng.choice([1, 1, 2]))
            arrays = name == "dependencies"
            return (
                {
                    k: rng.sample(NAMES, rng.choice([1, 2]))
                    if arrays and rng.random() < 0.5
                    else here()
                    for k in chosen
                },
            )
        if name == "items" and self.draft != "draft2020-12" and rng.random() < 0.5:
            return ([below() for _ in range(rng.choice([1, 2]))],)
        if name == "prefixItems":
            return ([below() for _ in range(rng.choice([1, 2]))],)
        if name == "properties":
            return ({k: below() for k in rng.sample(NAMES, rng.choice([1, 2, 3]))},)
        if name == "patternProperties":
            return ({k: below() for k in rng.sample(sorted(PATTERNS), rng.choice([1, 1, 2]))},)
        if name in (
            "additionalProperties",
            "additionalItems",
            "unevaluatedProperties",
            "unevaluatedItems",
        ):
            return (rng.choice([False, True]) if rng.random() < 0.5 else below(),)
        return (below(),)

    def _shallow(self, name: str, floor: int) -> tuple[Any] | None:
        """A keyword with subschemas at the bottom: they are as plain as can be."""
        rng = self.rng

        def leaf() -> Any:
            if self.draft != "draft4" and rng.random() < 0.3:
                return rng.random() < 0.5
            key = rng.choice(("type", "enum", "minimum", "maxLength", "minItems", "required"))
            return {key: _LEAVES[key](self)}

        if name in ("allOf", "anyOf", "oneOf", "prefixItems"):
            return ([leaf(), leaf()],)
        if name in ("properties", "dependentSchemas", "dependencies"):
            return ({rng.choice(NAMES): leaf()},)
        if name == "patternProperties":
            return ({rng.choice(sorted(PATTERNS)): leaf()},)
        if name in ("additionalProperties", "additionalItems") and rng.random() < 0.5:
            return (False,)
        return (leaf(),)

    def _reference(self, floor: int) -> tuple[str] | None:
        rng = self.rng
        allowed = (
            range(self.num_definitions) if floor == -2 else range(floor + 1, self.num_definitions)
        )
        places = [f"#/{self.definitions}/d{i}" for i in allowed]
        if self.anchors:
            places += [f"#n{i}" for i in allowed]
        if floor == -2:
            places.append("#")
        return (rng.choice(places),) if places else None

    def _number(self) -> Any:
        rng = self.rng
        pools = (
            [NUMBERS, NUMBERS, FRACTIONS] if self.numbers_are_small else [NUMBERS, FRACTIONS, HUGE]
        )
        return rng.choice(rng.choice(pools))

    def value(self, depth: int = 2) -> Any:
        """Any JSON value."""
        rng = self.rng
        kind = rng.choice("bnnsssao" if depth else "bnns")
        if kind == "b":
            return rng.choice([None, True, False])
        if kind == "n":
            return self._number()
        if kind == "s":
            return rng.choice(STRINGS)
        if kind == "a":
            return [self.value(depth - 1) for _ in range(rng.choice([0, 1, 2, 2]))]
        return {k: self.value(depth - 1) for k in rng.sample(KEYS, rng.choice([0, 1, 2]))}


def _count(maker: Maker) -> Any:
    count = maker.rng.choice([0, 1, 1, 2, 2, 3])
    return Decimal(f"{count}.0") if maker.rng.random() < 0.05 and maker.draft != "draft4" else count


def _types(maker: Maker) -> Any:
    if maker.rng.random() < 0.6:
        return maker.rng.choice(TYPES)
    return maker.rng.sample(TYPES, maker.rng.choice([1, 2, 3]))


def _bound(maker: Maker) -> Any:
    return maker._number()


def _exclusive(maker: Maker) -> Any:
    return maker.rng.random() < 0.7 if maker.draft == "draft4" else maker._number()


def _multiple(maker: Maker) -> Any:
    return maker.rng.choice(
        [1, 2, 3, 7, Decimal("0.5"), Decimal("1.5"), Decimal("0.01"), Decimal("1e-7"), 10]
    )


def _constants(maker: Maker) -> list[Any]:
    made: list[Any] = []
    for _ in range(maker.rng.choice([1, 2, 2, 4])):
        value = maker.value(1)
        if not any(same(value, other) for other in made):
            made.append(value)
    return made


def _names(maker: Maker) -> list[str]:
    least = 1 if maker.draft == "draft4" else 0
    return maker.rng.sample([*NAMES, "x"], maker.rng.choice([max(least, n) for n in (0, 1, 1, 2)]))


_LEAVES: dict[str, Callable[[Maker], Any]] = {
    "type": _types,
    "enum": _constants,
    "const": lambda maker: maker.value(2),
    "multipleOf": _multiple,
    "minimum": _bound,
    "maximum": _bound,
    "exclusiveMinimum": _exclusive,
    "exclusiveMaximum": _exclusive,
    "minLength": _count,
    "maxLength": _count,
    "minItems": _count,
    "maxItems": _count,
    "minProperties": _count,
    "maxProperties": _count,
    "minContains": _count,
    "maxContains": _count,
    "pattern": lambda maker: maker.rng.choice(sorted(PATTERNS)),
    "format": lambda maker: maker.rng.choice(FORMATS),
    "uniqueItems": lambda maker: maker.rng.random() < 0.9,
    "required": _names,
    "dependentRequired": lambda maker: {
        k: maker.rng.sample(NAMES, maker.rng.choice([0, 1, 2]))
        for k in maker.rng.sample(NAMES, maker.rng.choice([1, 2]))
    },
    "default": lambda maker: maker.value(1),
    "title": lambda _: "a title",
    "x-unknown": lambda _: {"type": "null", "$ref": "#/nowhere"},
    "contentEncoding": lambda _: "base64",
    "contentMediaType": lambda _: "application/json",
}


def same(a: Any, b: Any) -> bool:
    """Equality of JSON values: 1 is 1.0, and true is not 1."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return type(b) not in (list, dict) and a == b
