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
    "9168a47a8110": "of two triggers that begin a tag, the one that ends first starts it",
    "b0220fa65570": "free text in a tag whose end is empty may end anywhere",
    "f4f0e0afe14f": "in any order each property still comes once, and all that are required",
    "e0ed2aff7083": "of a number the type is 'number', whether its key is declared or not",
    "65b901c19092": "recorded without its structural tag",
}


def cases(kind):
    if not CASES.is_file():
        return [pytest.param(None, marks=requires_shared)]
    with gzip.open(CASES, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found = [row for row in rows if row["kind"] == kind]
    assert found
    return [pytest.param(row, id=row["id"].rpartition("/")[2]) for row in found]


def verdict(row):
    """Whether all is as recorded."""
    given = row["grammar"]
    tag = given[0] if isinstance(given, list) else given
    try:
        grammar = Grammar.from_structural_tag(tag)
    except constrain.GrammarError:
        return "compile_error" in row
    return (
        "compile_error" not in row
        and all([grammar.accepts(text.encode()) for text in row.get("accept", ())])
        and not any([grammar.accepts(text.encode()) for text in row.get("reject", ())])
    )


@pytest.mark.parametrize("row", cases("structural_tag"))
def test_recorded(row):
    assert verdict(row) == (row["id"].rpartition("/")[2] not in DIFFERENT)


@pytest.mark.parametrize("row", cases("composite"))
def test_recorded_unions_and_sequences(row):
    """Recorded of both, without saying which: so a text that is accepted is in one of them."""
    parts = [Grammar.from_gbnf(part["args"]["ebnf_string"]) for part in row["grammar"]["parts"]]
    union, sequence = parts[0], parts[0]
    for part in parts[1:]:
        union, sequence = union | part, sequence + part
    for text in row["accept"]:
        assert union.accepts(text.encode()) or sequence.accepts(text.encode()), text
    for text in row["reject"]:
        assert not (union.accepts(text.encode()) and sequence.accepts(text.encode())), text
