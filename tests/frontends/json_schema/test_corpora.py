"""A sample of every corpus of real schemas: it compiles, and every verdict is right.

`python -m tests.frontends.json_schema.corpora` judges all of them.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.conftest import requires_shared
from tests.frontends.json_schema import corpora

pytestmark = requires_shared

MOST_UNANSWERED = {"mask bench": 0, "schemastore": 0, "tools": 0}
"""Schemas of the sample that may be refused, of 210, 60 and 60. It only falls."""


@pytest.mark.parametrize("style", corpora.STYLES)
def test_a_sample_of_every_collection(style: str) -> None:
    kinds: dict[str, Counter[str]] = {corpus: Counter() for corpus in MOST_UNANSWERED}
    wrong = []
    for row in corpora.sample(10, 60, seed=11):
        outcome = corpora.judge(row, style)
        corpus = row.collection if row.collection in corpora.OTHERS else "mask bench"
        kinds[corpus][outcome.kind] += 1
        wrong += [(row.id, text) for text in outcome.wrong]
        wrong += [(row.id, outcome.broken)] if outcome.broken else []
    assert wrong == []
    for corpus, counts in kinds.items():
        # That nothing satisfies a schema is an answer; one whose documents are elsewhere has none.
        answered = counts["compiled"] + counts["unsatisfiable"] + counts["document missing"]
        assert counts.total() - answered <= MOST_UNANSWERED[corpus], (corpus, counts)


def test_verdicts_that_formats_change() -> None:
    """Some instances are valid only where formats say nothing; the corpora know which."""
    rows = [row for row in corpora.rows("schemastore") if row.format == "annotate"]
    assert rows
    for row in rows:
        outcome = corpora.judge(row, "any")
        assert outcome.wrong == [], row.id
