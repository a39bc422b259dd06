"""Records of all runs in, one JSON document out: every figure that the tables show.

A figure is computed for each run by itself; the document has its median over the runs, the lowest
and the highest. Ratios compare like with like: only schemas that both engines compiled, and in each
text only the positions that both reached.
"""

from __future__ import annotations

import dataclasses
import datetime
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.plan import Plan
from benchmarks.play import PlayedText, Record
from benchmarks.statistics import STATISTICS, spread_figures, summarise
from benchmarks.watch import Run

__all__ = ["FORMAT", "MEASURES", "OURS", "machine", "summarise_runs"]

FORMAT = 1
"""Version of the document's layout."""

OURS = "constrain"

_TOP = 10

MEASURES: dict[str, Callable[[Record], Iterable[float]]] = {
    "compile_ms": lambda record: [record.compile_ns / 1e6],
    "first_mask_ms": lambda record: [record.first_mask_ns / 1e6],
    "first_mask_cpu_ms": lambda record: [record.first_mask_cpu_ns / 1e6],
    "mask_cold_us": lambda record: _microseconds(text.cold_ns for text in record.texts),
    "mask_visited_us": lambda record: _microseconds(text.visited_ns for text in record.texts),
    "accept_us": lambda record: _microseconds(text.accept_ns for text in record.texts),
    "accept_visited_us": lambda record: _microseconds(t.accept_visited_ns for t in record.texts),
}
"""Samples of each measure that a record holds."""

_SERIES = ("cold_ns", "visited_ns", "accept_ns", "accept_visited_ns")


def summarise_runs(
    plan: Plan,
    runs: Sequence[Run],
    alone: dict[str, Run],
    settings: dict[str, Any],
    absent: dict[str, str],
) -> dict[str, Any]:
    """The document of a benchmark.

    Args:
        plan: What was played.
        runs: At least one, all engines together.
        alone: For each engine a run in a process of its own, for its memory; may be empty.
        settings: The command line, for whoever repeats it.
        absent: Engines that were asked for and are not installed, with the reason.
    """
    ready = runs[0].ready or {"engines": {}}
    by_run = [_by_engine(run, plan) for run in runs]
    engines = {
        name: _engine(name, plan, by_run, ready["engines"].get(name, {}), alone.get(name))
        for name in plan.engines
    }
    return {
        "format": FORMAT,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "settings": settings,
        "vocabulary": plan.vocabulary,
        "sample": _sample(plan),
        "timer_ns": ready.get("timer_ns"),
        "restarts": [run.restarts for run in runs],
        "absent": absent,
        "engines": engines,
        "ratios": {
            name: _ratios(
                [records[OURS] for records in by_run], [records[name] for records in by_run]
            )
            for name in plan.engines
            if OURS in plan.engines and name != OURS
        },
    }


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load_1min": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _sample(plan: Plan) -> dict[str, Any]:
    texts = [text for schema in plan.schemas for text in schema.texts]
    return {
        "schemas": len(plan.schemas),
        "collections": dict(sorted(Counter(schema.collection for schema in plan.schemas).items())),
        "valid_texts": sum(text.valid for text in texts),
        "invalid_texts": sum(not text.valid for text in texts),
        "tokens": sum(len(text.ids) for text in texts),
    }


def _by_engine(run: Run, plan: Plan) -> dict[str, dict[str, Record]]:
    table: dict[str, dict[str, Record]] = {name: {} for name in plan.engines}
    for record in run.records:
        table[record.engine][record.schema] = record
    return table


def _engine(
    name: str,
    plan: Plan,
    by_run: Sequence[dict[str, dict[str, Record]]],
    prepared: dict[str, Any],
    alone: Run | None,
) -> dict[str, Any]:
    first = by_run[0][name]
    played = [record for record in first.values() if _compiled(record)]
    measures = {
        measure: _over_runs(
            [
                [
                    value
                    for record in records[name].values()
                    if _compiled(record)
                    for value in of(record)
                ]
                for records in by_run
            ]
        )
        for measure, of in MEASURES.items()
    }
    return {
        "prepared": prepared,
        "schemas": len(first),
        "compiled": len(played),
        "refused": dict(Counter(r.refused[0] for r in first.values() if r.refused).most_common()),
        "refusals": {r.schema: list(r.refused) for r in first.values() if r.refused},
        "broken": {r.schema: r.broken for r in first.values() if r.broken},
        "verdicts": _verdicts(played),
        "unlike_first_run": sum(_outcome(records[name]) != _outcome(first) for records in by_run),
        "measures": measures,
        "slowest": _slowest(played),
        "memory": _memory(name, alone),
    }


def _compiled(record: Record) -> bool:
    return record.refused is None and record.broken is None


def _outcome(records: dict[str, Record]) -> list[Any]:
    return [
        (r.schema, r.refused and r.refused[0], [(t.accepted, t.rejected_at) for t in r.texts])
        for r in records.values()
        if r.broken is None
    ]


def _over_runs(samples: Sequence[Sequence[float]]) -> dict[str, Any]:
    figures = [summarise(values) for values in samples]
    if any(figure["n"] == 0 for figure in figures):
        return {"n": 0}
    return {"n": int(figures[0]["n"])} | {
        statistic: spread_figures([figure[statistic] for figure in figures])
        for statistic in STATISTICS
    }


def _microseconds(series: Iterable[Sequence[int]]) -> list[float]:
    return [time_ns / 1e3 for times in series for time_ns in times]


def _verdicts(records: Sequence[Record]) -> dict[str, Any]:
    """Counts of each outcome, and where the wrong ones are."""
    texts = [(record.schema, text) for record in records for text in record.texts]
    judged = [(schema, text) for schema, text in texts if text.failure is None]
    return {
        "texts": len(texts),
        "right": sum(text.accepted == text.valid for _, text in judged),
        "valid_rejected": [
            _place(s, t) for s, t in judged if t.valid and not t.accepted and not t.style
        ],
        "invalid_accepted": [_place(s, t) for s, t in judged if t.accepted and not t.valid],
        "other_style": [_place(s, t) for s, t in judged if t.valid and not t.accepted and t.style],
        "failed": [
            _place(s, t) | {"failure": t.failure} for s, t in texts if t.failure is not None
        ],
    }


def _place(schema: str, text: PlayedText) -> dict[str, Any]:
    return {"schema": schema, "text": text.index, "rejected_at": text.rejected_at}


def _slowest(records: Sequence[Record]) -> dict[str, Any]:
    first_masks = sorted(records, key=lambda record: -record.first_mask_ns)[:_TOP]
    masks = [
        # The first mask of the first text belongs to `first_mask`, so positions start at 1 there.
        (time_ns, record.schema, text.index, position + (number == 0))
        for record in records
        for number, text in enumerate(record.texts)
        for position, time_ns in enumerate(text.cold_ns)
    ]
    return {
        "first_mask": [{"schema": r.schema, "ms": r.first_mask_ns / 1e6} for r in first_masks],
        "mask_cold": [
            {"schema": schema, "text": text, "position": position, "us": time_ns / 1e3}
            for time_ns, schema, text, position in sorted(masks, reverse=True)[:_TOP]
        ],
    }


def _memory(name: str, alone: Run | None) -> dict[str, float | None] | None:
    """Growth of resident memory in a process that holds this engine alone, in MiB."""
    if alone is None or alone.ready is None or alone.end is None:
        return None
    before = alone.ready["before_engines_mib"]
    after_vocabulary = alone.ready["engines"][name]["after_vocabulary_mib"]
    warm = alone.ready["resident_mib"]
    if before is None or warm is None or alone.end["peak_mib"] is None:
        return None
    return {
        "import_and_vocabulary_mib": after_vocabulary - before,
        "warm_up_mib": warm - after_vocabulary,
        "sample_peak_mib": alone.end["peak_mib"] - warm,
        "sample_held_mib": alone.end["resident_mib"] - warm,
        "restarts": alone.restarts,
    }


def _ratios(
    ours: Sequence[dict[str, Record]], theirs: Sequence[dict[str, Record]]
) -> dict[str, Any]:
    """Ours / theirs for each statistic, on what both played."""
    pairs_by_run = [
        [_common(mine[schema], other[schema]) for schema in mine if _both(schema, mine, other)]
        for mine, other in zip(ours, theirs, strict=True)
    ]
    ratios: dict[str, Any] = {"schemas": len(pairs_by_run[0])}
    for measure, of in MEASURES.items():
        figures = []
        for pairs in pairs_by_run:
            mine = summarise([value for pair in pairs for value in of(pair[0])])
            other = summarise([value for pair in pairs for value in of(pair[1])])
            if mine["n"] and other["n"]:
                figures.append({name: mine[name] / other[name] for name in STATISTICS})
        if figures:
            ratios[measure] = {
                name: spread_figures([figure[name] for figure in figures]) for name in STATISTICS
            }
    return ratios


def _both(schema: str, mine: dict[str, Record], other: dict[str, Record]) -> bool:
    return schema in other and _compiled(mine[schema]) and _compiled(other[schema])


def _common(mine: Record, other: Record) -> tuple[Record, Record]:
    """Both records cut down to the positions of each text that both engines reached."""
    pair = (dataclasses.replace(mine, texts=[]), dataclasses.replace(other, texts=[]))
    for left, right in zip(mine.texts, other.texts, strict=True):
        for record, text, another in ((pair[0], left, right), (pair[1], right, left)):
            cut = PlayedText(text.index, text.valid)
            for series in _SERIES:
                length = min(len(getattr(text, series)), len(getattr(another, series)))
                setattr(cut, series, getattr(text, series)[:length])
            record.texts.append(cut)
    return pair
