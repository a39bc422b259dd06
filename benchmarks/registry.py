"""Workloads: a seeded sample of real schemas, each with its valid and invalid instances.

The schemas are MaskBench's, from the development split. The sample is stratified over the
collections: each gets a share in proportion to its size and at least one schema, as long as there
is room for that. The same seed and size give the same schemas in the same order on every machine.

Texts are written as MaskBench writes them: `json.dumps(data, ensure_ascii=False)`, that is a space
after each comma and colon, keys in the instance's own order.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.declared_order import JSON, in_declared_order

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
MASKBENCH = SHARED / "data" / "jsonschemabench" / "dev"

__all__ = ["MASKBENCH", "ROOT", "SHARED", "DataMissingError", "Text", "Workload", "sample"]


class DataMissingError(Exception):
    """Data that the benchmark needs is not on this machine; the message says where it belongs."""


@dataclass(frozen=True, slots=True)
class Text:
    """One instance as a text.

    Attributes:
        index: Its position among the schema's tests in the data.
        text: What an engine is asked to accept, token by token.
        valid: The expected verdict, every `format` asserted.
        declared: The same value with keys in the schema's order, or None where that is `text`
            already. Only valid instances have one: it tells an engine that fixes the order of
            keys from one that is wrong.
    """

    index: int
    text: str
    valid: bool
    declared: str | None


@dataclass(frozen=True, slots=True)
class Workload:
    """One schema with its texts.

    Attributes:
        id: The schema's file name in MaskBench.
        collection: Where it came from, e.g. `Github_easy`.
        schema: The schema as JSON text.
        texts: At least one.
    """

    id: str
    collection: str
    schema: str
    texts: tuple[Text, ...]


def sample(
    size: int,
    seed: int = 0,
    *,
    data: Path = MASKBENCH,
    only: Sequence[str] = (),
) -> list[Workload]:
    """Choose the schemas of a run.

    Args:
        size: How many schemas; fewer come where the data has fewer.
        seed: Chooses another sample of the same shape.
        data: Folder of `<collection>.jsonl.gz` files.
        only: Ids of schemas; if any are given exactly these are played, in this order.

    Raises:
        DataMissingError: No such folder or no files in it, or an id of `only` is not there.

    Cost: reads the whole split once, about a second.
    """
    files = sorted(data.glob("*.jsonl.gz"))
    if not files:
        raise DataMissingError(
            f"no schemas: the benchmark expects the MaskBench data (*.jsonl.gz) in {data}"
        )
    collections = {file.name.removesuffix(".jsonl.gz"): list(_lines(file)) for file in files}
    if only:
        return _named(collections, only)
    shares = allocate({name: len(lines) for name, lines in collections.items()}, size)
    chosen = [
        _workload(name, line)
        for name, lines in collections.items()
        for line in random.Random(f"{seed}/{name}").sample(lines, shares[name])
    ]
    random.Random(seed).shuffle(chosen)
    return _without_repeats(chosen)


def allocate(sizes: dict[str, int], total: int) -> dict[str, int]:
    """Share `total` places among strata in proportion to their sizes.

    Each stratum gets one place first (the largest strata, if there are too few places), the rest
    go one by one to the stratum that is furthest below its proportional share.

    Returns:
        Places per stratum, never more than its size; they sum to min(total, sum of sizes).
    """
    everything = sum(sizes.values())
    total = min(total, everything)
    places = dict.fromkeys(sizes, 0)
    for name in sorted(sizes, key=lambda name: (-sizes[name], name))[:total]:
        places[name] = min(1, sizes[name])
    while sum(places.values()) < total:
        open_strata = [name for name in sizes if places[name] < sizes[name]]
        neediest = max(
            open_strata,
            key=lambda name: (sizes[name] * total / everything - places[name], name),
        )
        places[neediest] += 1
    return places


def _lines(file: Path) -> Iterable[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            if entry["tests"]:
                yield entry


def _named(collections: dict[str, list[dict[str, Any]]], ids: Sequence[str]) -> list[Workload]:
    by_id = {line["id"]: (name, line) for name, lines in collections.items() for line in lines}
    missing = [schema_id for schema_id in ids if schema_id not in by_id]
    if missing:
        raise DataMissingError(f"no schema with tests is called {', '.join(missing)}")
    return [_workload(*by_id[schema_id]) for schema_id in ids]


def _workload(collection: str, entry: dict[str, Any]) -> Workload:
    texts = []
    for index, test in enumerate(entry["tests"]):
        text = _dumps(test["data"])
        declared = (
            _dumps(in_declared_order(test["data"], entry["schema"])) if test["valid"] else text
        )
        texts.append(Text(index, text, test["valid"], None if declared == text else declared))
    return Workload(entry["id"], collection, _dumps(entry["schema"]), tuple(texts))


def _dumps(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)


def _without_repeats(workloads: list[Workload]) -> list[Workload]:
    """Drop a schema whose text was already seen: an engine's own cache would answer for it."""
    return list({workload.schema: workload for workload in reversed(workloads)}.values())[::-1]
