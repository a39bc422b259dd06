"""The official suite: no wrong verdict on any required test, and never more refused than before."""

from __future__ import annotations

import json

import pytest

from tests.conftest import requires_shared
from tests.frontends.json_schema.official_suite import DRAFTS, RATCHET, summary, verdicts

pytestmark = requires_shared


@pytest.mark.parametrize("draft", DRAFTS)
def test_required_tests(draft: str) -> None:
    """The ratchet moves one way: worse fails, better is committed with the change."""
    expected = json.loads(RATCHET.read_text(encoding="utf-8"))[draft]
    assert set(expected["counts"]) <= {"correct", "refused"}
    assert summary(draft) == expected


OPTIONAL_LEFT_OUT = ("content: ",)
"""`contentMediaType` and `contentEncoding` are annotations since draft 2019-09; here always."""


@pytest.mark.parametrize("draft", DRAFTS)
def test_optional_tests(draft: str) -> None:
    wrong = [
        v
        for v in verdicts(draft, "optional/*.json", format="annotate")
        if v.outcome not in ("correct", "refused") and not v.case.startswith(OPTIONAL_LEFT_OUT)
    ]
    assert wrong == []


FORMAT_SUBSETS = ("hostname", "idn-hostname", "idn-email", "ecmascript-regex", "regex")
"""Files whose formats are accepted in part; see `formats.SUBSETS`."""


@pytest.mark.parametrize("draft", DRAFTS)
def test_formats(draft: str) -> None:
    found = list(verdicts(draft, "optional/format/*.json", format="assert"))
    assert [v for v in found if v.outcome == "accepted wrongly"] == []
    rejected = [v for v in found if v.outcome == "rejected wrongly"]
    assert [v for v in rejected if not v.case.startswith(FORMAT_SUBSETS)] == []
