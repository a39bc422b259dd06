"""The "and" of unions of shapes against the "and" of "or"s, value by value; and what it costs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from typing import Any

import pytest

from constrain.frontends.json_schema.array import ANY_ARRAY, Arrays, ArrayShape
from constrain.frontends.json_schema.array import tidy as tidy_array
from constrain.frontends.json_schema.conjunction import conjunction
from constrain.frontends.json_schema.expr import FALSE, TRUE, Exprs, Finite
from constrain.frontends.json_schema.object import (
    ANY_OBJECT,
    Objects,
    ObjectShape,
    _says,
    absorb,
    complement,
    tidy,
)
from constrain.frontends.json_schema.string import StringSets, StringShape, contains_plainly
from constrain.limits import DEFAULT_LIMITS

KEYS = ("a", "b", "c")
OBJECTS = [
    dict(zip(keys, chosen, strict=True))
    for n in range(4)
    for keys in itertools.combinations(KEYS, n)
    for chosen in itertools.product("123", repeat=n)
]
ARRAYS = [list(t) for n in range(4) for t in itertools.product("123", repeat=n)]


def random_value(rng: random.Random, table: Exprs) -> Any:
    some = table.finite(rng.sample(["1", "2", "3", "4"], rng.randint(1, 2)))
    return rng.choice([some, some.dual, FALSE, TRUE])


def random_object(rng: random.Random, table: Exprs) -> ObjectShape:
    def keys() -> list[str]:
        return rng.sample(KEYS, rng.choice([0, 1, 1, 2]))

    key_set = (StringShape(out=frozenset(keys())),)
    shape = ObjectShape(
        {key: random_value(rng, table) for key in keys()},
        ((key_set, random_value(rng, table)),) if rng.random() < 0.3 else (),
        tuple(keys()),
        frozenset(((key_set, random_value(rng, table)),) if rng.random() < 0.2 else ()),
        frozenset((("a", frozenset("b")),) if rng.random() < 0.2 else ()),
        rng.choice([0, 0, 0, 1, 2]),
        rng.choice([None, None, None, 1, 2]),
    )
    return tidy(shape, table) or ANY_OBJECT


def random_array(rng: random.Random, table: Exprs) -> ArrayShape:
    shape = ArrayShape(
        tuple([random_value(rng, table) for _ in range(rng.randint(0, 2))]),
        random_value(rng, table),
        rng.choice([0, 0, 1, 2]),
        rng.choice([None, None, 1, 2]),
        distinct=rng.choice([None, None, True, False]),
    )
    return tidy_array(shape, table) or ANY_ARRAY


def objects_in(shapes: Iterable[ObjectShape]) -> set[int]:
    """Which of `OBJECTS` are in a union, by index."""
    return {i for s in shapes for i, v in enumerate(OBJECTS) if in_object(v, s)}


def arrays_in(shapes: Iterable[ArrayShape]) -> set[int]:
    """Which of `ARRAYS` are in a union, by index."""
    return {i for s in shapes for i, v in enumerate(ARRAYS) if in_array(v, s)}


def in_object(value: dict[str, str], s: ObjectShape) -> bool:
    def among(key: str, keys: Any) -> bool:
        return any(contains_plainly(k, key) for k in keys)

    return (
        all(in_expr(v, s.named.get(k, TRUE)) for k, v in value.items())
        and all(in_expr(v, e) for ks, e in s.rules for k, v in value.items() if among(k, ks))
        and set(s.required) <= value.keys()
        and all(any(among(k, ks) and in_expr(v, e) for k, v in value.items()) for ks, e in s.some)
        and all(k not in value or others <= value.keys() for k, others in s.needs)
        and s.lo <= len(value)
        and (s.hi is None or len(value) <= s.hi)
    )


def in_array(value: list[str], s: ArrayShape) -> bool:
    distinct = len(set(value)) == len(value)
    return (
        all(in_expr(v, s.item(i)) for i, v in enumerate(value))
        and s.lo <= len(value)
        and (s.hi is None or len(value) <= s.hi)
        and (s.distinct is None or s.distinct == distinct)
    )


@pytest.mark.parametrize("seed", range(4))
def test_absorbed_is_what_is_inside_one_before(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(300):
        table = Exprs()
        algebra = Objects(table, StringSets(DEFAULT_LIMITS), lambda comparisons: None)
        union = [random_object(rng, table) for _ in range(rng.randint(1, 20))]
        kept: list[ObjectShape] = []
        for shape in sorted({s.same_as(): s for s in union}.values(), key=_says):
            if not any(map(algebra.seen(shape).is_inside, kept)):
                kept.append(shape)
        assert algebra.absorb(union) == tuple(kept)


def test_few_are_compared_where_a_key_lists_values() -> None:
    table = Exprs()
    charged: list[int] = []
    algebra = Objects(table, StringSets(DEFAULT_LIMITS), charged.append)
    closed = ((StringShape(out=frozenset(("name", "value"))),), FALSE)
    tools = [
        ObjectShape(
            {"name": table.finite((str(i),)), "value": table.literal(i)}, (closed,), ("name",)
        )
        for i in range(500)
    ]
    assert len(algebra.absorb(tools)) == 500
    assert sum(charged) == 0


@pytest.mark.parametrize("seed", range(4))
def test_objects(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        table = Exprs()
        algebra = Objects(table, StringSets(DEFAULT_LIMITS), lambda comparisons: None)
        unions = [
            [random_object(rng, table) for _ in range(rng.randint(1, 3))]
            for _ in range(rng.randint(1, 4))
        ]
        expected = set.intersection(*map(objects_in, unions))
        found = conjunction(unions, algebra)
        assert objects_in(found) == expected, unions
        assert objects_in(absorb(found, algebra.strings)) == expected, unions
        some = unions[0][0]
        outside = set(range(len(OBJECTS))) - objects_in([some])
        assert objects_in(complement(some, table)) == outside, some
        for a, b in itertools.combinations([shape for union in unions for shape in union], 2):
            left, right = objects_in([a]), objects_in([b])
            if algebra.seen(a).is_inside(b):
                assert left <= right, (a, b)
            if algebra.seen(a).excludes(b):
                assert left.isdisjoint(right), (a, b)


@pytest.mark.parametrize("seed", range(4))
def test_arrays(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        table = Exprs()
        algebra = Arrays(table, lambda comparisons: None)
        unions = [
            [random_array(rng, table) for _ in range(rng.randint(1, 3))]
            for _ in range(rng.randint(1, 3))
        ]
        expected = set.intersection(*map(arrays_in, unions))
        found = conjunction(unions, algebra)
        assert arrays_in(found) == expected, unions
        assert arrays_in(algebra.absorb(found)) == expected, unions
        for a, b in itertools.combinations([shape for union in unions for shape in union], 2):
            left, right = arrays_in([a]), arrays_in([b])
            if algebra.seen(a).is_inside(b):
                assert left <= right, (a, b)
            if algebra.seen(a).excludes(b):
                assert left.isdisjoint(right), (a, b)


def test_one_key_that_tells_branches_apart_keeps_the_union_small() -> None:
    table = Exprs()
    work: list[int] = []
    algebra = Objects(table, StringSets(DEFAULT_LIMITS), work.append)
    for n in (50, 100, 200):
        unions = []
        for i in range(n):
            is_it = table.finite((str(i),))
            unions.append(
                [
                    ObjectShape({"kind": is_it, f"x{i}": FALSE}, required=("kind",)),
                    ObjectShape({"kind": is_it.dual}, required=("kind",)),
                ]
            )
        work.clear()
        assert len(conjunction(unions, algebra)) == n + 1
        assert sum(work) < 2 * n * n + 50 * n


def test_nothing_to_choose_is_no_work() -> None:
    table = Exprs()
    work: list[int] = []
    algebra = Objects(table, StringSets(DEFAULT_LIMITS), work.append)
    unions = [[ObjectShape({f"x{i}": FALSE})] for i in range(300)]
    (only,) = conjunction(unions, algebra)
    assert len(only.named) == 300
    assert sum(work) < 300 * 20


def in_expr(value: str, expr: Any) -> bool:
    if isinstance(expr.node, Finite):
        return (value in expr.node.values) == (expr.op == "node")
    if expr.op in ("and", "or"):
        return (all if expr.op == "and" else any)(in_expr(value, part) for part in expr.parts)
    return expr is TRUE
