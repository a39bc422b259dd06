"""Schemas from public bug reports, in style "any": every verdict, and none refused."""

from __future__ import annotations

import json

import pytest

from constrain import Grammar
from tests.conftest import SHARED, requires_shared

REPORTS = SHARED / "cases" / "public-reports.jsonl"


def reports():
    if not REPORTS.is_file():
        return [pytest.param(None, marks=requires_shared)]
    cases = [json.loads(line) for line in REPORTS.read_text(encoding="utf-8").splitlines()]
    found = [case for case in cases if case["input"]["kind"] == "json_schema"]
    assert found
    return [pytest.param(case, id=case["id"]) for case in found]


@pytest.mark.parametrize("case", reports())
def test_every_verdict_is_right(case):
    grammar = Grammar.from_json_schema(case["input"]["schema"], style="any")
    for text in case["accept"]:
        assert grammar.accepts(text.encode()), text
    for text in case["reject"]:
        assert not grammar.accepts(text.encode()), text
