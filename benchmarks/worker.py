"""A process that plays a plan and reports each step as a line of JSON on its standard output.

    python -m benchmarks.worker PLAN [--done N]

It loads the tokenizer, prepares every engine and warms each of them up with a schema that is not in
the sample, so that no kernel is compiled or loaded in a timed call. Then it plays the plan's steps
from the N-th on. All engines live in this one process and take turns, schema by schema.

Events: `ready`, then for each step `start`, `compiled` and `record`, and `end`.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from benchmarks import memory
from benchmarks.engines import Engine, absence, create, installed_version
from benchmarks.plan import Plan, PlannedSchema, PlannedText
from benchmarks.play import play_schema, timer_overhead_ns
from benchmarks.vocabularies import TokenizerFiles, encode

__all__ = ["WARM_UP_SCHEMAS", "main"]

WARM_UP_SCHEMAS = (
    '{"type": "object", "properties": {"warm": {"type": "string"}, '
    '"up": {"type": "array", "items": {"type": "integer"}}, '
    '"both": {"anyOf": [{"type": "null"}, {"type": "number"}]}}, "required": ["warm"]}',
    '{"type": "object", "properties": {"again": {"enum": ["a", "bc", 1]}, '
    '"yes": {"type": "boolean"}, "code": {"type": "string", "pattern": "^[a-z]{2,4}$"}}, '
    '"additionalProperties": false}',
)
_WARM_UP_TEXTS = (
    '{"warm": "up \u00e9", "up": [1, 22], "both": 1.5}',
    '{"again": "bc", "yes": true, "code": "xyz"}',
)


def main(argv: list[str] | None = None) -> int:
    """Play a plan; the exit status is 0 once `end` was reported."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worker")
    parser.add_argument("plan", type=Path)
    parser.add_argument("--done", type=int, default=0, help="steps that need not be played again")
    arguments = parser.parse_args(argv)
    events = _own_standard_output()
    plan = Plan.read(arguments.plan)
    from transformers import AutoTokenizer

    # Held to the end: were it freed in between, memory would seem to shrink.
    tokenizer = AutoTokenizer.from_pretrained(plan.tokenizer_folder)
    engines = _prepare(plan, tokenizer, events)
    for number, (index, name) in enumerate(plan.steps()):
        if number < arguments.done:
            continue
        _tell(events, event="start", step=number)
        record = play_schema(
            engines[name], plan.schemas[index], lambda: _tell(events, event="compiled")
        )
        engines[name].settle()
        _tell(events, event="record", record=dataclasses.asdict(record))
    peak_mib = memory.peak_mib()
    memory.give_back()
    _tell(events, event="end", peak_mib=peak_mib, resident_mib=memory.resident_mib())
    return 0


def _own_standard_output() -> TextIO:
    """Keep standard output for events: what engines print there goes to standard error."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return events


def _tell(events: TextIO, **event: object) -> None:
    events.write(json.dumps(event) + "\n")
    events.flush()


def _prepare(plan: Plan, tokenizer: object, events: TextIO) -> dict[str, Engine]:
    files = plan.tokenizer
    _ = files.token_bytes, files.eos_token_id  # read before any engine is timed
    warm_up = _warm_up(files)
    memory.give_back()
    resident = memory.resident_mib()
    engines: dict[str, Engine] = {}
    prepared: dict[str, dict[str, Any]] = {}
    for name in plan.engines:
        reason = absence(name)
        if reason is not None:
            raise RuntimeError(f"{name}: {reason}")
        engines[name], prepared[name] = _prepare_one(name, files, tokenizer, warm_up)
        _tell(events, event="preparing", engine=name)
    memory.give_back()
    memory.reset_peak()
    gc.freeze()
    _tell(
        events,
        event="ready",
        engines=prepared,
        timer_ns=timer_overhead_ns(),
        before_engines_mib=resident,
        resident_mib=memory.resident_mib(),
    )
    return engines


def _warm_up(files: TokenizerFiles) -> list[PlannedSchema]:
    ids = encode(_WARM_UP_TEXTS, files)
    return [
        PlannedSchema("warm-up", "", schema, (PlannedText(0, text, True, text_ids, None),))
        for schema, text, text_ids in zip(WARM_UP_SCHEMAS, _WARM_UP_TEXTS, ids, strict=True)
    ]


def _prepare_one(
    name: str, files: TokenizerFiles, tokenizer: object, warm_up: list[PlannedSchema]
) -> tuple[Engine, dict[str, Any]]:
    started = time.perf_counter()
    engine = create(name)
    imported = time.perf_counter()
    engine.prepare(files, tokenizer)
    ready = time.perf_counter()
    memory.give_back()
    before_mib = memory.resident_mib()
    warm_up_started = time.perf_counter()
    records = [play_schema(engine, planned) for planned in warm_up]
    warmed = time.perf_counter()
    engine.settle()
    return engine, {
        "version": installed_version(name),
        "settings": engine.settings,
        "import_s": imported - started,
        "vocabulary_s": ready - imported,
        "warm_up_s": warmed - warm_up_started,
        "warm_up_verdicts_right": all(
            record.refused is None and record.texts[0].accepted for record in records
        ),
        "first_mask_in_process_ms": records[0].first_mask_ns / 1e6,
        "after_vocabulary_mib": before_mib,
    }


if __name__ == "__main__":
    sys.exit(main())
