"""The corpora of real schemas: what compiles, what is refused and why, and every wrong verdict.

Run as a module for all of it, or a part:

    python -m tests.frontends.json_schema.corpora
    python -m tests.frontends.json_schema.corpora --collections Handwritten schemastore --style any

It prints how many schemas compile, what the others are refused for, the wrong verdicts on the
instances (in style "any" every verdict counts, in "canonical" only invalid ones accepted: a valid
one may be spelled otherwise), and the schemas that took longest to compile and to read. A schema
that refers to a document outside its corpus cannot be judged and is counted apart.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from types import FrameType
from typing import Any

from referencing import Registry, Resource
from referencing.exceptions import NoSuchResource
from referencing.jsonschema import DRAFT7

from constrain import Grammar
from constrain.errors import (
    LimitExceededError,
    SchemaError,
    UnsatisfiableError,
    UnsupportedFeatureError,
)
from tests.conftest import SHARED

DATA = SHARED / "data"
STYLES = ("any", "canonical")
OTHERS = ("schemastore", "tools")
"""Collections beside those of MaskBench."""

_SLOW_SECONDS = 0.5
_SHOWN = 4


@dataclass(frozen=True)
class Row:
    """A schema of a corpus.

    Attributes:
        collection: A collection of MaskBench, "schemastore" or "tools".
        id: Its name there.
        schema: The schema.
        tests: (instance, whether it is valid).
        registry: Documents that it may refer to, or None.
        format: Whether the verdicts hold with formats asserted.
    """

    collection: str
    id: str
    schema: Any
    tests: list[tuple[Any, bool]]
    registry: Any = None
    format: str = "assert"


@dataclass
class Outcome:
    """What became of a schema in one style.

    Attributes:
        kind: "compiled", or why not.
        reason: The message, if it was not compiled.
        construct_seconds: Until there was a grammar, or an error.
        text_seconds: For each instance.
        wrong: What is wrong.
        broken: An error while an instance was read.
    """

    kind: str = "compiled"
    reason: str = ""
    construct_seconds: float = 0.0
    text_seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    broken: str = ""


def collections() -> list[str]:
    """The names of all collections."""
    bench = sorted((DATA / "jsonschemabench" / "dev").glob("*.jsonl.gz"))
    return [path.name.removesuffix(".jsonl.gz") for path in bench] + list(OTHERS)


def rows(collection: str) -> Iterator[Row]:
    """The schemas of a collection, in the order of its files."""
    if collection == "schemastore":
        for d in _lines("schemastore/dev/schemastore.jsonl.gz"):
            tests = [(t["data"], t["valid"]) for t in d["tests"]]
            ignored = any(t.get("formats") == "ignored" for t in d["tests"])
            format = "annotate" if ignored else "assert"
            yield Row(collection, d["id"], d["schema"], tests, _store_registry(), format)
    elif collection == "tools":
        for name in ("bfcl", "github-mcp", "spec-schemas"):
            for d in _lines(f"tools/{name}.jsonl.gz"):
                schema = d["parameters"] if "parameters" in d else d["schema"]
                tests = [(call, True) for call in d.get("valid_calls", ())]
                yield Row(collection, d["id"], schema, tests)
    else:
        for d in _lines(f"jsonschemabench/dev/{collection}.jsonl.gz"):
            tests = [(t["data"], t["valid"]) for t in d["tests"]]
            yield Row(collection, d["id"], d["schema"], tests)


def sample(each: int, others: int, seed: int) -> list[Row]:
    """A seeded sample: `each` from every collection of MaskBench, `others` from every other."""
    rng = random.Random(seed)
    found: list[Row] = []
    for name in collections():
        here = list(rows(name))
        found += rng.sample(here, min(others if name in OTHERS else each, len(here)))
    return found


def judge(row: Row, style: str) -> Outcome:
    """Compile a schema and read all its instances."""
    outcome = Outcome()
    start = time.perf_counter()
    try:
        grammar = Grammar.from_json_schema(
            json.dumps(row.schema), style=style, registry=row.registry, format=row.format
        )
    except UnsatisfiableError as error:
        outcome.kind, outcome.reason = "unsatisfiable", str(error)
        # Then no instance is valid.
        outcome.wrong += [_shown("rejected", d) for d, valid in row.tests if valid]
    except UnsupportedFeatureError as error:
        outcome.kind, outcome.reason = "refused", str(error)
    except LimitExceededError as error:
        outcome.kind, outcome.reason = "limit", str(error)
    except SchemaError as error:
        leads_away = "leads nowhere" in str(error)
        outcome.kind = "document missing" if leads_away else "invalid schema"
        outcome.reason = str(error)
    outcome.construct_seconds = time.perf_counter() - start
    if outcome.kind != "compiled":
        return outcome
    for data, valid in row.tests:
        text = json.dumps(data, ensure_ascii=False).encode()
        start = time.perf_counter()
        try:
            accepted = grammar.accepts(text)
        except LimitExceededError as error:
            outcome.broken = str(error)
        else:
            if accepted and not valid:
                outcome.wrong.append(_shown("accepted", data))
            if valid and not accepted and style == "any":
                outcome.wrong.append(_shown("rejected", data))
        outcome.text_seconds.append(time.perf_counter() - start)
    return outcome


def _shown(verdict: str, data: Any) -> str:
    return f"{verdict} {json.dumps(data, ensure_ascii=False)[:300]}"


def _lines(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


@cache
def _store_registry() -> Any:
    """The schemas of SchemaStore, at the addresses by which they refer to each other."""
    by_name = {d["id"]: d["schema"] for d in _lines("schemastore/dev/schemastore.jsonl.gz")}

    def retrieve(uri: str) -> Any:
        name = uri.split("#")[0].rsplit("/", 1)[-1]
        known = uri.startswith(("https://json.schemastore.org/", "https://www.schemastore.org/"))
        schema = by_name.get(name, by_name.get(f"{name}.json")) if known or "/" not in uri else None
        if schema is None:
            raise NoSuchResource(ref=uri)
        return Resource.from_contents(schema, default_specification=DRAFT7)

    return Registry(retrieve=retrieve)


class _TookTooLongError(Exception):
    pass


def _interrupt(signal_number: int, frame: FrameType | None) -> None:
    raise _TookTooLongError


def _main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--collections", nargs="+", choices=collections(), default=collections())
    parser.add_argument("--style", nargs="+", choices=STYLES, default=list(STYLES))
    parser.add_argument("--only", nargs="+", help="ids of schemas")
    parser.add_argument("--seconds", type=float, default=10, help="for one schema in one style")
    parser.add_argument("--json", help="also write the outcomes to this file, a line each")
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, _interrupt)
    judge(Row("", "", {"type": "integer"}, [(1, True)]), "any")  # loads the kernels
    outcomes: dict[str, list[tuple[Row, Outcome]]] = {style: [] for style in options.style}
    chosen = (row for name in options.collections for row in rows(name))
    gc.disable()  # a pass over the heap of this run would count as a schema's own time
    for i, row in enumerate(chosen):
        if options.only and row.id not in options.only:
            continue
        for style in options.style:
            outcome = _judge_within(options.seconds, row, style)
            outcomes[style].append((row, outcome))
            if options.json:
                _write(options.json, style, row, outcome)
        if i % 50 == 0:
            gc.collect()
    for style, found in outcomes.items():
        sys.stdout.write("\n".join(_report(style, found)) + "\n")


def _judge_within(seconds: float, row: Row, style: str) -> Outcome:
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return judge(row, style)
    except _TookTooLongError:
        return Outcome("took too long", f"over {seconds:g} s", construct_seconds=seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _write(path: str, style: str, row: Row, outcome: Outcome) -> None:
    with open(path, "a", encoding="utf-8") as file:
        entry = {"style": style, "collection": row.collection, "id": row.id, **vars(outcome)}
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _report(style: str, found: list[tuple[Row, Outcome]]) -> Iterator[str]:
    """The lines of the report on one style."""
    yield f"\n## style {style}: {len(found)} schemas\n"
    kinds = Counter([outcome.kind for _, outcome in found])
    for kind, count in kinds.most_common():
        yield f"{count:6} {kind} ({count / len(found):.2%})"
    judged = len(found) - kinds["document missing"]
    share = kinds["compiled"] / max(judged, 1)
    yield f"       {share:.2%} compile of those with all documents here"
    instances = sum([len(outcome.text_seconds) for _, outcome in found])
    wrong = [(row, w) for row, outcome in found for w in outcome.wrong]
    broken = [(row, outcome.broken) for row, outcome in found if outcome.broken]
    yield f"{instances:6} instances read, {len(wrong)} wrong verdicts, {len(broken)} broke down"
    yield from [f"       {r.collection}/{r.id}: {_line(text)}" for r, text in (wrong + broken)]
    for kind in kinds:
        if kind in ("compiled", "document missing"):
            continue
        yield f"\n{kind}, by reason:"
        reasons: dict[str, list[str]] = {}
        for row, outcome in found:
            if outcome.kind == kind:
                reason = re.sub(r"[\d,]{2,}|\d", "N", _line(outcome.reason).split(" (at ")[0])
                reasons.setdefault(reason, []).append(f"{row.collection}/{row.id}")
        for reason, ids in sorted(reasons.items(), key=lambda item: -len(item[1])):
            yield f"{len(ids):6} {reason}: {', '.join(ids[:_SHOWN])}"
    seconds = sorted([outcome.construct_seconds for _, outcome in found]) or [0.0]
    middle, late = seconds[len(seconds) // 2], seconds[int(len(seconds) * 0.99)]
    yield f"\ncompile: median {middle * 1e3:.1f} ms, 99 % {late * 1e3:.0f} ms"
    yield f"\ncompiling, over {_SLOW_SECONDS} s:"
    yield from _slowest([(o.construct_seconds, row, o) for row, o in found])
    yield f"\nreading one instance, over {_SLOW_SECONDS} s:"
    yield from _slowest([(max(o.text_seconds, default=0.0), row, o) for row, o in found])


def _line(text: str) -> str:
    return text.splitlines()[0][:200]


def _slowest(costs: list[tuple[float, Row, Outcome]]) -> Iterator[str]:
    for seconds, row, outcome in sorted(costs, key=lambda cost: -cost[0]):
        if seconds > _SLOW_SECONDS:
            yield f"{seconds:6.2f} s {row.collection}/{row.id} ({outcome.kind})"


if __name__ == "__main__":
    _main()
