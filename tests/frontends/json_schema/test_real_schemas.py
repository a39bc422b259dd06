"""Real schemas and their instances: no wrong verdict, no dead end, no text that is not JSON."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from typing import Any

import pytest

from constrain.errors import LimitExceededError, UnsatisfiableError, UnsupportedFeatureError
from tests.conftest import SHARED, requires_shared
from tests.frontends.json_schema.texts import Texts, strict_loads

pytestmark = requires_shared
BENCH = SHARED / "data" / "jsonschemabench" / "dev"
SAMPLE = 250


def sample(seed: int, size: int) -> list[dict[str, Any]]:
    lines: list[str] = []
    for path in sorted(BENCH.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines += file
    return [json.loads(line) for line in random.Random(seed).sample(lines, size)]


def compiled(schema: Any, **options: Any) -> Texts | str:
    try:
        return Texts(schema, **options)
    except UnsatisfiableError:
        return "unsatisfiable"
    except UnsupportedFeatureError:
        return "refused"
    except LimitExceededError:
        return "limit"


def test_verdicts_on_instances() -> None:
    outcomes: Counter[str] = Counter()
    wrong = []
    for row in sample(2020, SAMPLE):
        anything, canonical = compiled(row["schema"], style="any"), compiled(row["schema"])
        outcomes[anything if isinstance(anything, str) else "compiled"] += 1
        for test in row["tests"]:
            text = json.dumps(test["data"], ensure_ascii=False)
            if isinstance(anything, str):
                if anything == "unsatisfiable" and test["valid"]:
                    wrong.append((row["id"], "unsatisfiable", text[:200]))
                continue
            if anything.accepts(text) != test["valid"]:
                wrong.append((row["id"], test["valid"], text[:200]))
            assert not isinstance(canonical, str)
            if canonical.accepts(text) and not test["valid"]:
                wrong.append((row["id"], "canonical", text[:200]))
    assert wrong == []
    assert outcomes["compiled"] >= 0.96 * SAMPLE, outcomes


@pytest.mark.parametrize("seed", [1, 2])
def test_random_texts_of_real_schemas(seed: int) -> None:
    """Every walk ends (`draw` fails at a dead end), is strict JSON, and is in style "any" too."""
    rng = random.Random(seed)
    drawn = 0
    for row in sample(seed, 25):
        canonical, anything = compiled(row["schema"]), compiled(row["schema"], style="any")
        if isinstance(canonical, str) or isinstance(anything, str):
            continue
        for steps in (0, 25):
            text = canonical.draw(rng, steps)
            if text is not None:
                drawn += 1
                strict_loads(text)
                assert anything.accepts(text), (row["id"], text)
    assert drawn > 25
