"""The law of the schema algebra by brute force: whole languages, and emptiness, on small values.

A schema is closed by UNIVERSE, which only has a few hundred values, all listed here. So the values
of the closed schema can be enumerated out of the grammar, whole, and compared with the set that the
law asks for: `allOf` intersects, `anyOf` joins, `not` complements, and so on, over the sets that
`jsonschema` gives for atoms. And the grammar is refused as unsatisfiable exactly if that set is
empty.

`python -m tests.frontends.json_schema.test_brute_force 5000 7` tries 5000 combinations of seed 7.
"""

from __future__ import annotations

import functools
import itertools
import json
import random
import sys
from collections import Counter
from typing import Any

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from constrain.errors import LimitExceededError, UnsatisfiableError, UnsupportedFeatureError
from constrain.frontends.json_schema import JSONStyle
from tests.frontends.json_schema.generators import same
from tests.frontends.json_schema.texts import Texts

COMPACT = JSONStyle(whitespace="compact", property_order="any")
LEAVES: list[Any] = [None, 1, 2]
KEYS = ("a", "b", "c")


def _flat(leaves: list[Any], longest: int, keys: tuple[str, ...]) -> list[Any]:
    arrays = [list(t) for n in range(longest + 1) for t in itertools.product(leaves, repeat=n)]
    objects = [
        dict(zip(chosen, values, strict=True))
        for n in range(len(keys) + 1)
        for chosen in itertools.combinations(keys, n)
        for values in itertools.product(leaves, repeat=n)
    ]
    return [*arrays, *objects]


INNER = _flat([1, None], 1, ("a", "b"))
VALUES: list[Any] = [
    *LEAVES,
    *_flat(LEAVES, 3, KEYS),
    *([v] for v in INNER),
    *([v, x] for v in INNER for x in (1, *INNER[:4])),
    *({"a": v} for v in INNER),
    *({"a": v, "b": x} for v in INNER for x in (1, *INNER[:4])),
]
"""Every value that there is: nesting up to 2, up to 3 items or members."""

_INNER = {
    "anyOf": [
        {"type": "array", "items": {"enum": [1, None]}, "maxItems": 1},
        {
            "type": "object",
            "properties": {"a": {"enum": [1, None]}, "b": {"enum": [1, None]}},
            "additionalProperties": False,
        },
    ]
}
_SECOND = {"enum": [1, *INNER[:4]]}
UNIVERSE: Any = {
    "anyOf": [
        {"enum": LEAVES},
        {"type": "array", "items": {"enum": LEAVES}, "maxItems": 3},
        {
            "type": "object",
            "properties": {k: {"enum": LEAVES} for k in KEYS},
            "additionalProperties": False,
        },
        {"type": "array", "prefixItems": [_INNER, _SECOND], "minItems": 1, "maxItems": 2},
        {
            "type": "object",
            "properties": {"a": _INNER, "b": _SECOND},
            "required": ["a"],
            "additionalProperties": False,
        },
    ]
}
"""Just VALUES, said without listing them; a test checks that."""

ATOMS: list[Any] = [
    True,
    False,
    {"type": "object"},
    {"type": ["array", "null"]},
    {"type": "integer", "minimum": 2},
    {"exclusiveMaximum": 2},
    {"multipleOf": 2},
    {"enum": [[1], {"a": 1}, None, [[1], 1]]},
    {"const": {"b": None, "a": 2}},
    {"const": [1.0, None]},
    {"required": ["a"]},
    {"required": ["b", "c"]},
    {"properties": {"a": {"const": 1}}},
    {"properties": {"a": {"type": "array"}, "b": False}},
    {"properties": {"a": {"const": 2}, "b": {"type": "null"}}, "required": ["a"]},
    {"properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    {"properties": {"a": {}}, "additionalProperties": {"const": 1}},
    {"patternProperties": {"^[ab]$": {"type": "integer"}}},
    {"patternProperties": {"a|c": {"not": {"const": 1}}}, "additionalProperties": {"const": 1}},
    {"maxProperties": 1},
    {"minProperties": 1},
    {"minProperties": 2},
    {"propertyNames": {"enum": ["a", "c"]}},
    {"propertyNames": {"not": {"const": "a"}}},
    {"dependentRequired": {"a": ["b"]}},
    {"dependentRequired": {"b": ["a"], "c": ["a"]}},
    {"dependentSchemas": {"a": {"maxProperties": 1}}},
    {"dependentSchemas": {"b": {"properties": {"a": {"type": "null"}}, "required": ["a"]}}},
    {"minItems": 1},
    {"maxItems": 1},
    {"minItems": 2, "maxItems": 2},
    {"items": {"const": 1}},
    {"items": {"type": ["array", "integer"]}},
    {"prefixItems": [{"const": 1}, {"const": 2}]},
    {"prefixItems": [True], "items": {"type": "null"}},
    {"prefixItems": [{"type": "array"}], "items": False},
    {"contains": {"const": 1}},
    {"contains": {"const": 2}, "minContains": 0, "maxContains": 1},
    {"contains": {"type": "null"}, "minContains": 2},
    {"contains": {"type": "integer"}, "minContains": 1, "maxContains": 2},
    {"uniqueItems": True},
    {"items": {"properties": {"a": {"const": 1}}, "required": ["a"]}},
    {"properties": {"a": {"minProperties": 1, "items": {"const": 1}}}},
    {"additionalProperties": {"type": "integer"}},
]
CLOSED: list[Any] = [
    {"properties": {"a": {}}, "unevaluatedProperties": False},
    {
        "anyOf": [
            {"properties": {"a": {"const": 1}}, "required": ["a"]},
            {"properties": {"b": {}}, "required": ["b"]},
        ],
        "unevaluatedProperties": False,
    },
    {
        "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
        "then": {"properties": {"b": {}}},
        "else": {"properties": {"c": {}}},
        "unevaluatedProperties": {"type": "null"},
    },
    {
        "oneOf": [{"properties": {"a": {"type": "integer"}}}, {"required": ["b"]}],
        "unevaluatedProperties": {"const": 2},
    },
    {
        "dependentSchemas": {"a": {"properties": {"b": {}}}},
        "properties": {"a": {}},
        "unevaluatedProperties": False,
    },
    {"not": {"properties": {"a": False}}, "unevaluatedProperties": {"const": 1}},
    {"allOf": [{"patternProperties": {"^[ab]$": {}}}], "unevaluatedProperties": {"const": 1}},
    {"allOf": [{"additionalProperties": {"type": "integer"}}], "unevaluatedProperties": False},
    {"prefixItems": [True], "unevaluatedItems": False},
    {"prefixItems": [{"const": 1}], "contains": {"const": 2}, "unevaluatedItems": {"const": 1}},
    {"contains": {"const": 1}, "unevaluatedItems": False},
    {
        "anyOf": [{"prefixItems": [{"const": 1}]}, {"prefixItems": [True, {"const": 2}]}],
        "unevaluatedItems": False,
    },
    {
        "if": {"contains": {"type": "null"}},
        "then": {"items": {"type": ["null", "integer"]}},
        "unevaluatedItems": {"const": 2},
    },
    {"allOf": [{"unevaluatedItems": {"const": 1}}], "unevaluatedItems": False},
]
"""What counts as evaluated is decided inside one such schema, so each is an atom here."""


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


INDEX = {_key(value): i for i, value in enumerate(VALUES)}
EVERYTHING = (1 << len(VALUES)) - 1


@functools.cache
def _set_of(text: str) -> int:
    """The values of an atom, a bit for each; both oracles must say the same."""
    atom = json.loads(text)
    python, rust = Draft202012Validator(atom), jsonschema_rs.Draft202012Validator(atom)
    found = 0
    for i, value in enumerate(VALUES):
        valid = rust.is_valid(value)
        assert python.is_valid(value) == valid, (atom, value)
        found |= valid << i
    return found


def law(schema: Any) -> int:
    """The values of a combination of atoms, by what the combinators mean."""
    if isinstance(schema, dict) and len(schema) == 1:
        (name, inner), *_ = schema.items()
        if name == "not":
            return EVERYTHING & ~law(inner)
        if name in ("allOf", "anyOf"):
            sets = [law(s) for s in inner]
            both = (lambda a, b: a & b) if name == "allOf" else (lambda a, b: a | b)
            return functools.reduce(both, sets)
        if name == "oneOf":
            once, more = 0, 0
            for s in map(law, inner):
                more |= once & s
                once |= s
            return once & ~more
    if isinstance(schema, dict) and "if" in schema and "then" in schema:
        condition = law(schema["if"])
        then, otherwise = law(schema["then"]), law(schema.get("else", True))
        if not {"unevaluatedItems", "unevaluatedProperties"} & set(schema):
            return (condition & then) | (~condition & EVERYTHING & otherwise)
    return _set_of(json.dumps(schema, sort_keys=True))


def language(schema: Any) -> int | str:
    """Every value of a closed schema, enumerated out of its grammar; or why there are none.

    A text that is not the only one of its value in this style is a fault, but for member order.
    """
    try:
        texts = Texts({"allOf": [UNIVERSE, schema]}, style=COMPACT)
    except UnsatisfiableError:
        return 0
    except UnsupportedFeatureError:
        return "refused"
    except LimitExceededError:
        return "limit"
    store = texts.store
    found = 0
    todo = [(texts.start, b"")]
    while todo:
        state, text = todo.pop()
        after = store.next_bytes(state)
        if store.nullable(state):
            found |= 1 << INDEX[_key(json.loads(text))]
        assert after or store.nullable(state), ("dead end", schema, text)
        todo += [(store.advance(state, bytes((b,))), text + bytes((b,))) for b in after]
    return found


def combination(rng: random.Random, depth: int, atoms: list[Any]) -> Any:
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(atoms)
    kind = rng.choice(["not", "allOf", "anyOf", "oneOf", "if"])
    parts = [combination(rng, depth - 1, atoms) for _ in range(rng.randint(1, 3))]
    if kind == "not":
        return {"not": parts[0]}
    if kind == "if":
        return dict(zip(("if", "then", "else"), [*parts, True], strict=False))
    return {kind: parts}


def show(bits: int) -> list[Any]:
    return [VALUES[i] for i in range(len(VALUES)) if bits >> i & 1]


def check(schema: Any, counts: Counter[str]) -> str:
    """What is wrong with the language of a schema; empty if nothing is."""
    got, want = language(schema), law(schema)
    if isinstance(got, str):
        counts[got] += 1
        return ""
    counts["empty" if not want else "compared"] += 1
    if got == want:
        return ""
    return f"{schema}: gained {show(got & ~want)[:4]}, lost {show(want & ~got)[:4]}"


def test_the_universe_is_what_it_says() -> None:
    assert len(INDEX) == len(VALUES)
    assert not any(same(a, b) for a, b in itertools.pairwise(VALUES))
    assert language(True) == EVERYTHING
    assert language({"not": UNIVERSE}) == 0


@pytest.mark.parametrize("atoms", [ATOMS, CLOSED], ids=["atoms", "unevaluated"])
def test_atoms_and_their_complements(atoms: list[Any]) -> None:
    counts: Counter[str] = Counter()
    wrong = [check(schema, counts) for atom in atoms for schema in (atom, {"not": atom})]
    assert [w for w in wrong if w] == []
    assert counts["refused"] + counts["limit"] <= 0.03 * len(wrong), counts


@pytest.mark.parametrize("kind", ["allOf", "anyOf", "oneOf", "if"])
def test_operations_on_two(kind: str) -> None:
    rng = random.Random(f"two {kind}")
    counts: Counter[str] = Counter()
    wrong = []
    for _ in range(45):
        first, second = rng.choice([*ATOMS, *CLOSED]), rng.choice(ATOMS)
        schema = {"if": first, "then": second} if kind == "if" else {kind: [first, second]}
        wrong.append(check(schema, counts))
    assert [w for w in wrong if w] == []
    assert counts["refused"] + counts["limit"] <= 2, counts


@pytest.mark.parametrize("seed", range(4))
def test_combinations(seed: int) -> None:
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    wrong = [check(combination(rng, 3, [*ATOMS, *CLOSED]), counts) for _ in range(30)]
    assert [w for w in wrong if w] == []
    assert counts["refused"] + counts["limit"] <= 1, counts


def main(size: int, seed: int) -> None:
    """Try many combinations and print every fault."""
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    for n in range(size):
        schema = combination(rng, n % 4, [*ATOMS, *CLOSED])
        wrong = check(schema, counts)
        if wrong:
            print(wrong, flush=True)  # noqa: T201
    print(dict(counts))  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
