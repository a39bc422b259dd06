"""What xgrammar's own tests say of structural tags: the same here, or listed with the reason."""

from __future__ import annotations

import gzip
import json

import pytest

import constrain
from constrain import Grammar
from tests.conftest import SHARED, requires_shared

CASES = SHARED / "data" / "grammars" / "cases" / "xgrammar.jsonl.gz"

DIFFERENT = {
    "0a7861236daf": "tokens are looked up when the grammar meets a vocabulary, not before",
    "4be95f1fad9a": "a count that needs more than 31 bits is one like others",
    "9168a47a8110": "of two triggers that begin a tag, the one that ends first starts it",
    "b0220fa65570": "free text in a tag whose end is empty may end anywhere",
    "f4f0e0afe14f": "in any order each property still comes once, and all that are required",
    "65b901c19092": "recorded without its structural tag",
}


def cases():
    if not CASES.is_file():
        return [pytest.param(None, marks=requires_shared)]
    with gzip.open(CASES, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found = [row for row in rows if row["kind"] == "structural_tag"]
    assert len(found) > 100
    return [pytest.param(row, id=row["id"].rpartition("/")[2]) for row in found]


def verdict(row):
    """Whether all is as recorded, or the refusal."""
    given = row["grammar"]
    tag = given[0] if isinstance(given, list) else given
    try:
        grammar = Grammar.from_structural_tag(tag)
    except constrain.UnsupportedFeatureError as error:
        return "compile_error" in row or error
    except constrain.GrammarError:
        return "compile_error" in row
    return (
        "compile_error" not in row
        and all([grammar.accepts(text.encode()) for text in row.get("accept", ())])
        and not any([grammar.accepts(text.encode()) for text in row.get("reject", ())])
    )


@pytest.mark.parametrize("row", cases())
def test_recorded(row):
    found = verdict(row)
    if row["id"].rpartition("/")[2] in DIFFERENT:
        assert found is False
    elif isinstance(found, Exception):  # parameters of tools as XML are refused by name
        assert any(word in str(found) for word in ("_xml'", "'qwen_xml_parameter'"))
    else:
        assert found is True
