"""No keyword is ignored: without it the language is another one, or provably the same.

From each schema one assertion is deleted at a time. A text that only one of the two grammars
accepts is looked for among texts that nearly fit, then in the difference of the two: the schema
`allOf [deleted, not original]` and the reverse. Where both differences are unsatisfiable the
keyword is redundant, by our own algebra; so then the two other validators must not tell the two
schemas apart either.

`python -m tests.frontends.json_schema.test_keyword_deletion 200 5` does so for 200 real schemas
drawn with seed 5, and prints each keyword that seems ignored.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import referencing
import referencing.jsonschema

from constrain import Grammar
from constrain.errors import (
    LimitExceededError,
    SchemaError,
    UnsatisfiableError,
    UnsupportedFeatureError,
)
from constrain.frontends.json_schema.formats import FORMATS, SUBSETS
from constrain.frontends.json_schema.keywords import DIALECTS
from tests.conftest import requires_shared
from tests.frontends.json_schema.near_miss import near_miss, texts_of
from tests.frontends.json_schema.official_suite import DRAFTS
from tests.frontends.json_schema.oracles import NotJSON, Oracles, Undecided, draft_of, parse, plain
from tests.frontends.json_schema.test_oracles import draw, may_leave_out
from tests.frontends.json_schema.test_real_schemas import sample
from tests.frontends.json_schema.texts import Texts

ASSERTIONS = frozenset(
    "type enum const multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength "
    "maxLength pattern format minItems maxItems uniqueItems items prefixItems additionalItems "
    "contains minContains maxContains unevaluatedItems minProperties maxProperties required "
    "properties patternProperties additionalProperties propertyNames dependentRequired "
    "dependentSchemas dependencies unevaluatedProperties allOf anyOf oneOf not if then else "
    "$ref $dynamicRef $recursiveRef".split()
)
_ONE = "items additionalItems contains unevaluatedItems additionalProperties propertyNames"
_ONE_SCHEMA = frozenset(f"{_ONE} unevaluatedProperties not if then else".split())
_SCHEMAS = frozenset("items prefixItems allOf anyOf oneOf".split())
_SCHEMA_MAP = frozenset(
    "properties patternProperties dependentSchemas dependencies $defs definitions".split()
)
_UNSURE = (UnsupportedFeatureError, LimitExceededError)

_WRONG = ("WRONG", "IGNORED")
URIS = {name: dialect.uri for name, dialect in DIALECTS.items()}

Path = tuple[Any, ...]


def subschemas(schema: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every subschema with its place, definitions too."""
    todo: list[tuple[Path, Any]] = [((), schema)]
    for path, at in todo:
        if not isinstance(at, dict):
            continue
        yield path, at
        for name, value in at.items():
            if name in _ONE_SCHEMA and isinstance(value, dict):
                todo.append(((*path, name), value))
            elif name in _SCHEMAS and isinstance(value, list):
                todo += [((*path, name, i), v) for i, v in enumerate(value)]
            elif name in _SCHEMA_MAP and isinstance(value, dict):
                todo += [((*path, name, k), v) for k, v in value.items() if isinstance(v, dict)]


def standing_alone(root: dict[str, Any], node: dict[str, Any]) -> dict[str, Any] | None:
    """A subschema as a schema of its own; None if it refers to what is no definition."""
    for _, at in subschemas(root):
        for name in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = at.get(name, "#/$defs/")
            if not str(reference).startswith(("#/$defs/", "#/definitions/")):
                return None
        if at is not root and ({"$id", "id"} & set(at)):
            return None
    shared = {k: root[k] for k in ("$schema", "$defs", "definitions") if k in root}
    return {**{k: v for k, v in node.items() if k not in ("$id", "id")}, **shared}


class _NoTextError(Exception):
    """There is a difference, and no text of it was found."""


class Pair:
    """A schema, and the same without one keyword of its root."""

    def __init__(self, schema: dict[str, Any], keyword: str, counts: Counter[str]) -> None:
        self.counts = counts
        self.draft = draft_of(schema)
        self.schema = plain(schema)
        self.deleted = {k: v for k, v in self.schema.items() if k != keyword}

    def _accepts(self, schema: Any) -> Any:
        try:
            return Grammar.from_json_schema(schema, style="any", dialect=self.draft).accepts
        except UnsatisfiableError:
            return lambda text: False

    def judge(self, rng: random.Random, tries: int) -> str:
        """How the keyword was found to matter, or that it does not, or what is wrong."""
        try:
            before, after = self._accepts(self.schema), self._accepts(self.deleted)
            texts = []
            for turn in range(tries):
                schema = self.deleted if turn % 2 else self.schema
                for text in texts_of(rng, near_miss(rng, schema, 1)[0]):
                    if before(text) != after(text):
                        return self._confirm(text, "text")
                    texts.append(text)
            for names in (("deleted", "original"), ("original", "deleted")):
                text = self._difference(*names, rng)
                if text is None:
                    continue
                if before(text) == after(text):
                    return f"WRONG: a difference that is none: {text!r}"
                return self._confirm(text, "algebra")
        except (*_UNSURE, _NoTextError) as error:
            return f"unsure: {type(error).__name__}"
        return self._no_oracle_differs(texts)

    def _difference(self, having: str, lacking: str, rng: random.Random) -> bytes | None:
        """A text that only one of the two schemas accepts; None: there is none."""
        documents = {"urn:original": self.schema, "urn:deleted": self.deleted}
        registry = referencing.Registry().with_contents(
            documents.items(), default_specification=DRAFTS[self.draft]
        )
        schema = {"allOf": [{"$ref": f"urn:{having}"}, {"not": {"$ref": f"urn:{lacking}"}}]}
        try:
            texts = Texts(schema, style="any", dialect=self.draft, registry=registry)
        except UnsatisfiableError:
            return None
        for steps in (0, 0, 3, 10):
            text = draw(texts, rng, steps)
            if text is not None:
                return text
        text = texts.shortest_end(texts.start, budget=2000)
        if text is None:
            raise _NoTextError
        return text

    def _oracles(self) -> tuple[Oracles, Oracles]:
        return (
            Oracles(self.schema, self.draft, formats=True),
            Oracles(self.deleted, self.draft, formats=True),
        )

    def _confirm(self, text: bytes, how: str) -> str:
        """`how`, if another validator sees the difference too."""
        if may_leave_out(self.schema, text) or self.schema.get("format") in SUBSETS:
            return how  # departures that are documented
        before, after = self._oracles()
        try:
            value = parse(text, self.draft)
            if before.both(value) == after.both(value) != (None, None):
                return f"WRONG: no validator tells them apart on {text!r}"
        except Undecided:
            pass
        return how

    def _no_oracle_differs(self, texts: list[bytes]) -> str:
        before, after = self._oracles()
        for text in texts:
            try:
                value = parse(text, self.draft)
            except (NotJSON, Undecided):
                continue
            verdicts = zip(before.both(value), after.both(value), strict=True)
            if any(None not in (a, b) and a != b for a, b in verdicts):
                return f"IGNORED: validators tell them apart on {text!r}"
        return "redundant"


HANDWRITTEN: list[tuple[str, dict[str, Any]]] = [
    (
        "draft2020-12",
        {
            "type": "object",
            "properties": {"a": {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 2}},
            "patternProperties": {"^b": {"type": "string", "minLength": 1, "maxLength": 3}},
            "additionalProperties": {"exclusiveMinimum": 0, "exclusiveMaximum": 5},
            "required": ["a"],
            "minProperties": 2,
            "maxProperties": 3,
            "propertyNames": {"pattern": "^[a-d]"},
        },
    ),
    (
        "draft2020-12",
        {
            "type": ["array", "null"],
            "prefixItems": [{"enum": [1, "a"]}, {"const": {"k": [1]}}],
            "items": {"type": "string", "format": "date"},
            "minItems": 2,
            "maxItems": 4,
            "uniqueItems": True,
        },
    ),
    (
        "draft2020-12",
        {"contains": {"type": "integer", "minimum": 3}, "minContains": 2, "maxContains": 3},
    ),
    (
        "draft2020-12",
        {
            "if": {"properties": {"kind": {"const": "x"}}, "required": ["kind"]},
            "then": {"required": ["x"]},
            "else": {"not": {"required": ["x"]}},
            "dependentRequired": {"y": ["z"]},
            "dependentSchemas": {"w": {"maxProperties": 1}},
        },
    ),
    (
        "draft2020-12",
        {
            "$defs": {"name": {"type": "string", "pattern": "^[a-z]+$"}},
            "allOf": [{"properties": {"a": {"$ref": "#/$defs/name", "maxLength": 4}}}],
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
            "oneOf": [{"required": ["c"]}, {"properties": {"d": False}}],
            "unevaluatedProperties": {"type": "integer"},
        },
    ),
    (
        "draft2020-12",
        {
            "anyOf": [{"prefixItems": [{"type": "string"}]}, {"prefixItems": [True, {"const": 1}]}],
            "contains": {"const": 7},
            "unevaluatedItems": {"type": "null"},
        },
    ),
    (
        "draft2019-09",
        {
            "items": [{"type": "string"}, {"type": "boolean"}],
            "additionalItems": {"type": "integer"},
            "contains": {"const": 4},
            "minContains": 2,
        },
    ),
    (
        "draft2019-09",
        {
            "items": [{"type": "string"}],
            "if": {"minItems": 3},
            "then": {"items": [True], "additionalItems": {"type": "integer"}},
            "unevaluatedItems": {"type": "boolean"},
        },
    ),
    (
        "draft7",
        {
            "dependencies": {"a": ["b"], "c": {"properties": {"d": {"type": "null"}}}},
            "properties": {"e": {"contains": {"enum": [1, 2]}}},
            "propertyNames": {"maxLength": 1},
            "if": {"required": ["e"]},
            "then": {"maxProperties": 2},
        },
    ),
    (
        "draft6",
        {
            "items": [{"const": 1}],
            "additionalItems": False,
            "minimum": 0.1,
            "exclusiveMaximum": 0.3,
            "multipleOf": 0.01,
            "maxLength": 2,
            "pattern": "b",
            "enum": [[1], [2], [1, 1], 0.05, 0.2, 0.3, 0.125, "ab", "abc", "a", {"a": 1}, {}],
            "maxProperties": 0,
        },
    ),
    (
        "draft4",
        {
            "minimum": 0,
            "exclusiveMinimum": True,
            "maximum": 5,
            "exclusiveMaximum": True,
            "definitions": {"leaf": {"type": "object", "required": ["v"]}},
            "additionalProperties": {"$ref": "#/definitions/leaf"},
            "not": {"type": "array"},
        },
    ),
]
"""Schemas in which every assertion matters."""


def judgements(
    schema: dict[str, Any], rng: random.Random, counts: Counter[str], *, tries: int, most: int
) -> Iterator[tuple[str, str, Any]]:
    """(what was found, keyword, its schema) for some keywords of a schema and its subschemas."""
    places = [
        (node, keyword)
        for path, node in subschemas(schema)
        for keyword in sorted(ASSERTIONS & set(node))
        if not _says_nothing(schema, node, keyword)
    ]
    for node, keyword in rng.sample(places, min(most, len(places))):
        alone = standing_alone(schema, node)
        if alone is None:
            return
        found = Pair(alone, keyword, counts).judge(rng, tries)
        counts[found.partition(":")[0]] += 1
        yield found, keyword, alone


def _says_nothing(root: dict[str, Any], node: dict[str, Any], keyword: str) -> bool:
    """An unknown format; or what stands beside `$ref` in drafts where that counts alone."""
    if keyword == "format":
        return node[keyword] not in FORMATS
    old = draft_of(root) in ("draft4", "draft6", "draft7")
    return old and "$ref" in node and keyword != "$ref"


@pytest.mark.parametrize(("draft", "schema"), HANDWRITTEN)
def test_every_assertion_matters(draft: str, schema: dict[str, Any]) -> None:
    named = {"$schema": URIS[draft], **schema}
    found = list(judgements(named, random.Random(draft), Counter(), tries=150, most=99))
    assert len(found) > 3
    assert [f for f in found if f[0] not in ("text", "algebra")] == []


def test_every_keyword_has_a_schema_in_which_it_matters() -> None:
    used = {k for _, root in HANDWRITTEN for _, node in subschemas(root) for k in node}
    assert ASSERTIONS - used <= {"$dynamicRef", "$recursiveRef"}


@requires_shared
def test_keywords_of_real_schemas() -> None:
    counts: Counter[str] = Counter()
    wrong = []
    for row in sample(5, 60):
        try:
            found = judgements(row["schema"], random.Random(row["id"]), counts, tries=12, most=5)
            wrong += [(row["id"], *f) for f in found if f[0].startswith(_WRONG)]
        except SchemaError:
            counts["no schema"] += 1
    assert wrong == []
    assert counts["text"] + counts["algebra"] > 100, counts
    assert counts["unsure"] <= 0.06 * counts.total(), counts


def main(size: int, seed: int) -> None:
    """Delete keywords of many real schemas, and print what is wrong or unsure."""
    counts: Counter[str] = Counter()
    unsure: Counter[str] = Counter()
    redundant: Counter[str] = Counter()
    for row in sample(seed, size):
        rng = random.Random(row["id"])
        try:
            for found, keyword, schema in judgements(row["schema"], rng, counts, tries=20, most=10):
                if found.startswith(_WRONG):
                    print(row["id"], keyword, found, str(schema)[:1500], flush=True)  # noqa: T201
                if found == "redundant":
                    redundant[keyword] += 1
                if found.startswith("unsure"):
                    unsure[f"{keyword} {found}"] += 1
        except SchemaError:
            counts["no schema"] += 1
    print(dict(counts), dict(redundant), dict(unsure), sep="\n")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
