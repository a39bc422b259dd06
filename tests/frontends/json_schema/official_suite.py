"""The official JSON-Schema-Test-Suite: its cases, its remote documents, and our verdicts on them.

Run as a module to write the ratchet after verdicts got better:
`python -m tests.frontends.json_schema.official_suite`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import referencing
import referencing.jsonschema
from jsonschema_specifications import REGISTRY

from constrain.errors import UnsatisfiableError, UnsupportedFeatureError
from tests.conftest import SHARED
from tests.frontends.json_schema.texts import Texts

SUITE = SHARED / "data" / "json-schema-test-suite"
RATCHET = Path(__file__).with_name("official_suite.json")
DRAFTS = {
    "draft4": referencing.jsonschema.DRAFT4,
    "draft6": referencing.jsonschema.DRAFT6,
    "draft7": referencing.jsonschema.DRAFT7,
    "draft2019-09": referencing.jsonschema.DRAFT201909,
    "draft2020-12": referencing.jsonschema.DRAFT202012,
}


class Verdict(NamedTuple):
    """`outcome` is "correct", "refused", "accepted wrongly" or "rejected wrongly"."""

    outcome: str
    case: str
    test: str


@cache
def registry(draft: str) -> Any:
    """The remote documents, where the suite wants them."""
    specification = DRAFTS[draft]
    resources = []
    for path in sorted((SUITE / "remotes").rglob("*.json")):
        name = path.relative_to(SUITE / "remotes").as_posix()
        if name.startswith("v1/"):
            continue  # a draft that is not released
        contents = json.loads(path.read_text(encoding="utf-8"))
        resource = referencing.Resource.from_contents(contents, default_specification=specification)
        resources.append((f"http://localhost:1234/{name}", resource))
    return REGISTRY.with_resources(resources)


def verdicts(draft: str, files: str = "*.json", **options: Any) -> Iterator[Verdict]:
    """Our verdict on every test of the files that match."""
    for path in sorted((SUITE / "tests" / draft).glob(files)):
        for case in json.loads(path.read_text(encoding="utf-8")):
            name = f"{path.stem}: {case['description']}"
            schema = case["schema"]
            named = isinstance(schema, dict) and "$schema" in schema
            dialect = None if named else draft
            try:
                texts = Texts(
                    schema, style="any", dialect=dialect, registry=registry(draft), **options
                )
            except UnsupportedFeatureError:
                yield from (Verdict("refused", name, t["description"]) for t in case["tests"])
                continue
            except UnsatisfiableError:
                texts = None
            for test in case["tests"]:
                text = json.dumps(test["data"], ensure_ascii=False)
                got = texts is not None and texts.accepts(text)
                wrong = "accepted wrongly" if got else "rejected wrongly"
                outcome = "correct" if got == test["valid"] else wrong
                yield Verdict(outcome, name, test["description"])


def summary(draft: str) -> dict[str, Any]:
    """What the ratchet keeps of the required tests of a draft."""
    found = list(verdicts(draft, format="annotate"))
    counts = Counter(v.outcome for v in found)
    return {
        "counts": dict(sorted(counts.items())),
        "refused": sorted({v.case for v in found if v.outcome == "refused"}),
    }


if __name__ == "__main__":
    RATCHET.write_text(
        json.dumps({draft: summary(draft) for draft in DRAFTS}, indent=1, ensure_ascii=False)
        + "\n",
        encoding="utf-8",
    )
