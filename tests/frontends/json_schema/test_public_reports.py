"""Faults that users of other engines reported: every case with a JSON Schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from constrain.errors import UnsupportedFeatureError
from tests.conftest import SHARED, requires_shared
from tests.frontends.json_schema.texts import Texts

REPORTS = SHARED / "cases" / "public-reports.jsonl"
REFUSED: frozenset[str] = frozenset()
"""Cases that we refuse by name. None at present."""


def cases() -> list[Any]:
    if not REPORTS.is_file():
        return []
    rows = [json.loads(line) for line in REPORTS.read_text(encoding="utf-8").splitlines()]
    kept = [row for row in rows if row["input"]["kind"] == "json_schema"]
    return [pytest.param(row, id=row["id"]) for row in kept]


@requires_shared
def test_there_are_cases() -> None:
    assert len(cases()) > 40


@pytest.mark.parametrize("case", cases())
def test_case(case: dict[str, Any]) -> None:
    schema = case["input"]["schema"]
    if case["id"] in REFUSED:
        with pytest.raises(UnsupportedFeatureError):
            Texts(schema)
        return
    anything, canonical = Texts(schema, style="any"), Texts(schema)
    wanted = [*case.get("accept", []), *case.get("accept_optional", [])]
    assert [text for text in wanted if not anything.accepts(text)] == []
    assert [text for text in case.get("reject", []) if anything.accepts(text)] == []
    assert [text for text in case.get("reject", []) if canonical.accepts(text)] == []
