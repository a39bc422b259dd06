"""Schemas with texts and the expected verdicts: the official suite, a sample of real schemas."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.declared_order import JSON, in_declared_order
from benchmarks.registry import SHARED, DataMissingError, sample

__all__ = ["DRAFTS", "LONGEST", "Case", "Test", "real_cases", "remote_documents", "suite_cases"]

SUITE = SHARED / "data" / "json-schema-test-suite"

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
"""The suite's drafts, and what `$schema` says for each."""

FORMAT_FILE = "format"
"""This file of the suite says that `format` asserts nothing by default. For generation it should,
and every engine here has it so; the file is left out."""

FEW_KEYS = 4
"""So many keys of a value are tried in any order."""

LONGEST = 10_000
"""Bytes of a real instance; longer ones are left out, for engines in plain Python."""


@dataclass(frozen=True, slots=True)
class Test:
    """One text.

    Attributes:
        name: What the suite calls it, or its position among the schema's tests.
        text: As `json.dumps(data, ensure_ascii=False)` writes it.
        valid: The expected verdict.
        respelt: Other texts of the same value, of a valid one only: keys in the schema's order, or
            in any if they are few, and whole numbers without a fraction, or as a `const` or `enum`
            has them; with a space after comma and colon, and without.
    """

    name: str
    text: str
    valid: bool
    respelt: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One schema.

    Attributes:
        group: The draft, or "real".
        name: Which one.
        schema: Its text; of the suite, with the draft in `$schema`.
        formats: Whether the verdicts hold with formats asserted.
        is_remote: It refers to documents outside itself.
        tests: At least one.
    """

    group: str
    name: str
    schema: str
    formats: bool
    is_remote: bool
    tests: tuple[Test, ...]


def suite_cases(draft: str) -> Iterator[Case]:
    """The required tests of one draft.

    Raises:
        DataMissingError: The suite is not here.
    """
    files = sorted((SUITE / "tests" / draft).glob("*.json"))
    if not files:
        raise DataMissingError(f"the official test suite is expected in {SUITE}")
    for path in files:
        if path.stem == FORMAT_FILE:
            continue
        for case in json.loads(path.read_text(encoding="utf-8")):
            schema = case["schema"]
            if isinstance(schema, dict):
                schema = {"$schema": DRAFTS[draft], **schema}
            tests = [_test(t["description"], t["data"], schema, t["valid"]) for t in case["tests"]]
            name = f"{path.stem}: {case['description']}"
            text = json.dumps(schema, ensure_ascii=False)
            yield Case(draft, name, text, False, _is_remote(schema), tuple(tests))


def real_cases(size: int, seed: int) -> Iterator[Case]:
    """A sample of MaskBench's development split; see `benchmarks.registry.sample`.

    Raises:
        DataMissingError: The data is not here.
    """
    for work in sample(size, seed):
        schema = json.loads(work.schema)
        tests = [
            _test(str(t.index), json.loads(t.text), schema, t.valid)
            for t in work.texts
            if len(t.text.encode()) <= LONGEST
        ]
        if tests:
            name = f"{work.collection}/{work.id}"
            yield Case("real", name, work.schema, True, False, tuple(tests))


@cache
def remote_documents() -> list[tuple[str, Path]]:
    """The documents that the suite's schemas refer to: their addresses and where they lie."""
    root = SUITE / "remotes"
    paths = [(p.relative_to(root).as_posix(), p) for p in sorted(root.rglob("*.json"))]
    # `v1` is a draft that is not released.
    return [(f"http://localhost:1234/{n}", p) for n, p in paths if not n.startswith("v1/")]


def _is_remote(schema: JSON) -> bool:
    """Whether it refers to a document at an address that the suite serves, or of a draft."""
    todo: list[Any] = [schema]
    for value in todo:
        if isinstance(value, dict):
            named = [value.get(name) for name in ("$ref", "$dynamicRef")]
            if any(_leads_away(ref) for ref in named if isinstance(ref, str)):
                return True
            todo += value.values()
        elif isinstance(value, list):
            todo += value
    return isinstance(schema, dict) and "localhost:1234" in str(schema["$schema"])


def _leads_away(ref: str) -> bool:
    return "localhost:1234" in ref or "json-schema.org/" in ref


def _test(name: str, data: JSON, schema: JSON, valid: bool) -> Test:
    text = json.dumps(data, ensure_ascii=False)
    if not valid:
        return Test(name, text, valid, ())
    plain = _respelt(in_declared_order(data, schema), {})
    written = _respelt(plain, _written(schema))
    respelt = [
        json.dumps(value, ensure_ascii=False, separators=separators)
        for value in (plain, written, *_reordered(plain))
        for separators in (None, (",", ":"))
    ]
    return Test(name, text, valid, tuple([t for t in dict.fromkeys(respelt) if t != text]))


def _reordered(value: JSON) -> list[JSON]:
    """An object with its keys in any order, if they are few."""
    if not isinstance(value, dict) or len(value) > FEW_KEYS:
        return []
    return [dict(members) for members in itertools.permutations(value.items())]


def _respelt(value: JSON, written: dict[str, JSON]) -> JSON:
    """The same value with 1 for 1.0, and parts of it as they are written in the schema.

    The data's depth bounds the recursion.
    """
    known = written.get(_key(value)) if written else None
    if known is not None:
        return known
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_respelt(item, written) for item in value]
    if isinstance(value, dict):
        return {key: _respelt(item, written) for key, item in value.items()}
    return value


def _written(schema: JSON) -> dict[str, JSON]:
    """The values of `const` and `enum` in a schema, by a text that equal values have in common."""
    found: dict[str, JSON] = {}
    todo: list[Any] = [schema]
    for part in todo:
        if isinstance(part, dict):
            values = part["enum"] if isinstance(part.get("enum"), list) else []
            for value in [*values, part.get("const")]:
                found.setdefault(_key(value), value)
            todo += part.values()
        elif isinstance(part, list):
            todo += part
    return found


def _key(value: JSON) -> str:
    return json.dumps(_respelt(value, {}), sort_keys=True)
