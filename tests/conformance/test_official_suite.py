"""The official JSON Schema test suite, every required test of five drafts, in style "any".

No verdict may be wrong. What is refused stands in `expected.json`, group by group; to refuse less
is committed with the change: CONSTRAIN_UPDATE_EXPECTED=1 pytest
tests/conformance/test_official_suite.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4, DRAFT6, DRAFT7, DRAFT201909, DRAFT202012

import constrain
from tests.conftest import SHARED, requires_shared

SUITE = SHARED / "data" / "json-schema-test-suite"
EXPECTED = Path(__file__).with_name("expected.json")
DRAFTS = {
    "draft4": DRAFT4,
    "draft6": DRAFT6,
    "draft7": DRAFT7,
    "draft2019-09": DRAFT201909,
    "draft2020-12": DRAFT202012,
}

# A metaschema without the validation vocabulary makes `minimum` an annotation; here a dialect is
# its draft.
KNOWN_WRONG = {
    (
        "vocabulary.json",
        "schema that uses custom metaschema with with no validation vocabulary",
        "no validation: invalid number, but it still validates",
    )
}


def registry(draft):
    resources = []
    for path in sorted((SUITE / "remotes").rglob("*.json")):
        name = path.relative_to(SUITE / "remotes").as_posix()
        if name.startswith(("draft", "v1/")) and not name.startswith(f"{draft}/"):
            continue
        contents = json.loads(path.read_text(encoding="utf-8"))
        resource = Resource.from_contents(contents, default_specification=DRAFTS[draft])
        resources.append((f"http://localhost:1234/{name}", resource))
    return Registry().with_resources(resources)


def verdicts(draft):
    """Wrong verdicts, refused groups, and how many tests there were."""
    wrong, refused, total = [], [], 0
    documents = registry(draft)
    for path in sorted((SUITE / "tests" / draft).glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            total += len(group["tests"])
            try:
                grammar = constrain.Grammar.from_json_schema(
                    group["schema"],
                    style="any",
                    dialect=draft,
                    registry=documents,
                    format="annotate",
                )
                answers = [accepts(grammar, test["data"]) for test in group["tests"]]
            except constrain.UnsatisfiableError:
                answers = [False] * len(group["tests"])
            except (constrain.UnsupportedFeatureError, constrain.SchemaError) as error:
                refused.append([path.name, group["description"], str(error).splitlines()[0]])
                continue
            for test, answer in zip(group["tests"], answers, strict=True):
                if answer != test["valid"]:
                    wrong.append((path.name, group["description"], test["description"]))
    return wrong, refused, total


def accepts(grammar, data):
    return grammar.accepts(json.dumps(data, ensure_ascii=False).encode())


@requires_shared
@pytest.mark.parametrize("draft", DRAFTS)
def test_no_verdict_is_wrong_and_no_more_is_refused(draft):
    wrong, refused, total = verdicts(draft)
    assert set(wrong) <= KNOWN_WRONG
    assert total > 500
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    if "CONSTRAIN_UPDATE_EXPECTED" in os.environ:
        expected[draft] = refused
        EXPECTED.write_text(
            json.dumps(expected, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    known = {(name, group) for name, group, _ in expected[draft]}
    now = {(name, group) for name, group, _ in refused}
    assert now - known == set(), "refused, and was answered before"
    assert known - now == set(), "answered now: update expected.json (see the docstring)"
