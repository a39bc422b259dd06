"""Records of all runs in, points of curves out: a median over the runs with its range.

A figure in which the engine did not play the case to its end in every run is no point: a curve
ends where an engine refuses, times out or breaks down.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.isolated import Outcome
from benchmarks.play import Record
from benchmarks.statistics import spread
from benchmarks.watch import Run

__all__ = [
    "Point", "as_json", "batch_curves", "first_mask_ms", "length_curves", "mean_mask_us",
    "played_by_all", "size_curves",
]  # fmt: skip

Curves = dict[str, list["Point"]]
"""Points by engine, ascending in x."""


@dataclass(frozen=True, slots=True)
class Point:
    """A figure over several runs at one size."""

    x: float
    median: float
    low: float
    high: float


def first_mask_ms(records: Sequence[Record]) -> float:
    """Mean first mask of some schemas in one run."""
    return float(np.mean([record.first_mask_ns for record in records])) / 1e6


def mean_mask_us(records: Sequence[Record]) -> float:
    """Mean cold mask of some schemas in one run, first masks apart."""
    times = [time_ns for record in records for text in record.texts for time_ns in text.cold_ns]
    return float(np.mean(times)) / 1e3


def size_curves(
    runs_by_size: dict[float, Sequence[Run]],
    engines: Sequence[str],
    of: Callable[[Sequence[Record]], float],
    ids: Callable[[float], Sequence[str]],
) -> Curves:
    """One curve for each engine.

    Args:
        runs_by_size: The runs in which a size was played.
        engines: Names.
        of: A figure of one run out of its records at that size.
        ids: Which records belong to a size.
    """
    curves: Curves = {engine: [] for engine in engines}
    for size in sorted(runs_by_size):
        wanted = set(ids(size))
        for engine in engines:
            chosen = [
                [r for r in run.records if r.engine == engine and r.schema in wanted]
                for run in runs_by_size[size]
            ]
            if all(len(c) == len(wanted) and all(map(_played, c)) for c in chosen):
                curves[engine].append(_point(size, [of(records) for records in chosen]))
    return curves


def played_by_all(runs: Sequence[Run], engines: Sequence[str]) -> set[str]:
    """The schemas that each engine played to their end in every run."""
    schemas = {record.schema for run in runs for record in run.records}
    return {
        schema
        for schema in schemas
        if all(
            any(r.engine == engine and r.schema == schema and _played(r) for r in run.records)
            for run in runs
            for engine in engines
        )
    }


def length_curves(runs: Sequence[Run], engines: Sequence[str], case: str, bins: int) -> Curves:
    """Mean mask in us against the position in one long text, the positions in `bins` equal parts.

    The first mask is left out: it holds the compile.
    """
    curves: Curves = {engine: [] for engine in engines}
    for engine in engines:
        records = [
            record
            for run in runs
            for record in run.records
            if record.engine == engine and record.schema == case
        ]
        if len(records) < len(runs) or not all(map(_played, records)):
            continue
        series = [np.asarray(record.texts[0].cold_ns, np.float64) / 1e3 for record in records]
        edges = np.linspace(0, min(map(len, series)), bins + 1).astype(int)
        for first, last in itertools.pairwise(edges.tolist()):
            if first < last:
                middle = (first + last) / 2
                means = [float(times[first:last].mean()) for times in series]
                curves[engine].append(_point(middle, means))
    return curves


def batch_curves(outcomes: Sequence[Outcome], engines: Sequence[str], which: str) -> Curves:
    """Mean time of a row in us against the number of distinct grammars in a batch, one thread.

    Args:
        outcomes: Of `benchmarks.batches`.
        engines: Names.
        which: `cold` or `visited`.
    """
    curves: Curves = {}
    for engine in engines:
        by_size: dict[int, list[float]] = {}
        mine = [outcome for outcome in outcomes if outcome.arguments["engine"] == engine]
        for outcome in mine:
            for result in outcome.results:
                if result["threads"] == 1 and not result["long"]:
                    a_row = float(np.mean(result[which])) / outcome.arguments["rows"] / 1e3
                    by_size.setdefault(result["distinct"], []).append(a_row)
        whole = {size: rows for size, rows in by_size.items() if len(rows) == len(mine)}
        curves[engine] = [_point(size, whole[size]) for size in sorted(whole)]
    return curves


def as_json(curves: Curves) -> dict[str, list[dict[str, Any]]]:
    """Curves as JSON holds them."""
    return {engine: [asdict(point) for point in points] for engine, points in curves.items()}


def _played(record: Record) -> bool:
    return (
        record.broken is None
        and record.refused is None
        and all(text.failure is None and text.accepted == text.valid for text in record.texts)
    )


def _point(x: float, values: Sequence[float]) -> Point:
    over = spread(values)
    return Point(float(x), over.median, over.low, over.high)
