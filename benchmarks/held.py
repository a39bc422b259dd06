"""`python -m benchmarks held`: what compiled grammars hold in memory, and whether it is bounded.

The schemas of the sample are compiled, and their texts played, in a process that holds one engine:

- *dropped*: each compiled grammar is let go after its texts. What grows is shared by grammars, or
  kept for the next one.
- *kept*: all of them stay. What grows above *dropped* is theirs. For `constrain` the sum of their
  own counts (`CompiledGrammar.nbytes`) stands beside it.

And, of `constrain` alone, *bounded*: one grammar with thousands of states under
`Limits(max_mask_rows_bytes=...)`, whose rows must stay within that bound.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import string
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console

from benchmarks import memory
from benchmarks.engines import Compiled, create
from benchmarks.isolated import Job, Outcome, take_turns
from benchmarks.options import add_options
from benchmarks.play import accepts
from benchmarks.registry import sample
from benchmarks.statistics import spread_figures, summarise
from benchmarks.study import print_broken, print_heading, run_study, table_of_engines
from benchmarks.summary import OURS, machine
from benchmarks.vocabularies import TokenizerFiles, encode, locate

__all__ = ["main", "measure", "summarise_held"]

ROWS_BOUND_MIB = 2
_STEP = 10


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the table and write the JSON document."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks held",
        description="Resident memory of compiled grammars, kept and dropped; cache bounds.",
    )
    add_options(parser, engines=("constrain", "llguidance", "glrmask-lazy"), runs=1)
    parser.add_argument("--schemas", type=int, default=300, help="size of the sample (%(default)s)")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds without a result")
    arguments = parser.parse_args(argv)

    def jobs(present: Sequence[str]) -> list[Job]:
        sample(1)
        about = {"vocabulary": arguments.vocab, "schemas": arguments.schemas}
        kinds = {engine: ["dropped", "kept"] for engine in present}
        if OURS in kinds:
            kinds[OURS].append("bounded")
        return [
            Job(
                "benchmarks.held",
                {"engine": engine, "kind": kind, "run": run} | about,
                arguments.timeout,
            )
            for run, engine in take_turns(present, arguments.runs)
            for kind in kinds[engine]
        ]

    settings = {"runs": arguments.runs, "schemas": arguments.schemas}
    return run_study("held", arguments, jobs, summarise_held, settings, _print)


def measure(
    engine: str, kind: str, run: int, vocabulary: str, schemas: int
) -> Iterator[dict[str, Any]]:
    """One kind of measurement on one engine, in this process.

    Yields:
        Of `kept` and `dropped` after every tenth schema `schemas` so far, `resident_mib` and
        `peak_mib` above what was resident before; of `kept` at the end `held_bytes`, what the
        grammars count themselves, if they do. Of `bounded`: `nbytes` without a bound and with it.
    """
    from transformers import AutoTokenizer

    files = locate(vocabulary)
    tokenizer = AutoTokenizer.from_pretrained(files.folder)
    if kind == "bounded":
        yield _bounded(files, tokenizer)
        return
    workloads = sample(schemas)
    texts = [encode([text.text for text in workload.texts], files) for workload in workloads]
    adapter = create(engine)
    adapter.prepare(files, tokenizer)
    warm_up = adapter.compile('{"type": "array", "items": {"type": "string"}}')
    _play(warm_up, encode(['["warm", "up"]'], files))
    memory.give_back()
    memory.reset_peak()
    before = memory.resident_mib() or 0.0
    kept: list[Compiled] = []
    for number, (workload, ids) in enumerate(zip(workloads, texts, strict=True), 1):
        try:
            compiled = adapter.compile(workload.schema)
            _play(compiled, ids)
        except Exception:
            compiled = None  # refused: it holds nothing
        adapter.settle()
        if kind == "kept" and compiled is not None:
            kept.append(compiled)
        if number % _STEP == 0 or number == len(workloads):
            del compiled
            memory.give_back()
            yield {
                "schemas": number,
                "resident_mib": (memory.resident_mib() or 0.0) - before,
                "peak_mib": (memory.peak_mib() or 0.0) - before,
            }
    counts = [getattr(compiled, "held_bytes", None) for compiled in kept]
    if counts and all(count is not None for count in counts):
        yield {"held_bytes": [int(count()) for count in counts if count is not None]}


def summarise_held(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """One document of all outcomes: MiB of growth, medians over the runs with their range."""
    engines: dict[str, Any] = {}
    for name in dict.fromkeys(outcome.arguments["engine"] for outcome in outcomes):
        mine = [outcome for outcome in outcomes if outcome.arguments["engine"] == name]
        figures: dict[str, list[float]] = {}
        for outcome in mine:
            kind = outcome.arguments["kind"]
            points = [result for result in outcome.results if "resident_mib" in result]
            if points and outcome.broken is None:
                half = points[len(points) // 2 - 1] if len(points) > 1 else points[0]
                figures.setdefault(f"{kind}: held at half of the sample", []).append(
                    half["resident_mib"]
                )
                figures.setdefault(f"{kind}: held at the end", []).append(
                    points[-1]["resident_mib"]
                )
                figures.setdefault(f"{kind}: peak", []).append(points[-1]["peak_mib"])
            for result in outcome.results:
                if "held_bytes" in result:
                    _add_own_counts(figures, result["held_bytes"])
                for key in ("rows bound", "unbounded nbytes", "bounded nbytes", "bounded rows"):
                    if key in result:
                        figures.setdefault(f"bounded: {key}", []).append(result[key] / 2**20)
        broken = [f"{o.arguments['kind']}: {o.broken}" for o in mine if o.broken is not None]
        engines[name] = {
            "broken": broken,
            "mib": {key: spread_figures(values) for key, values in figures.items()},
        }
    return {
        "format": 1,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "engines": engines,
    }


def _add_own_counts(figures: dict[str, list[float]], held_bytes: Sequence[int]) -> None:
    of_one = summarise([count / 2**20 for count in held_bytes])
    figures.setdefault("kept: own counts, sum", []).append(of_one["mean"] * of_one["n"])
    for statistic in ("p50", "p99", "max"):
        key = f"kept: own count of one, {statistic}"
        figures.setdefault(key, []).append(of_one[statistic])


def _play(compiled: Compiled, texts: Sequence[Sequence[int]]) -> None:
    for ids in texts:
        accepts(compiled.start(), ids)


def _bounded(files: TokenizerFiles, tokenizer: object) -> dict[str, Any]:
    """`nbytes` of one grammar after a text of many words, with and without a bound on rows.

    Inside of each word the row is another one. The same text makes the same terms, so what is less
    with the bound is rows.
    """
    import constrain

    draw = random.Random(0)
    words = ["".join(draw.choices(string.ascii_lowercase, k=12)) for _ in range(500)]
    vocab = constrain.Vocabulary.from_transformers(
        tokenizer, vocab_size=files.vocab_size, eos_token_ids=[files.eos_token_id]
    )
    ids = encode([json.dumps(words)], files)[0]
    grammar = constrain.Grammar.from_json_schema({"type": "array", "items": {"enum": words}})
    bitmask = constrain.allocate_token_bitmask(1, files.vocab_size)
    held = {}
    bound = ROWS_BOUND_MIB << 20
    for name, limits in (
        ("unbounded", constrain.Limits()),
        ("bounded", constrain.Limits(max_mask_rows_bytes=bound)),
        ("one row", constrain.Limits(max_mask_rows_bytes=1)),
    ):
        compiled = constrain.compile(grammar, vocab, limits=limits)
        matcher = compiled.matcher()
        most = 0
        for token_id in ids:
            matcher.fill_next_token_bitmask(bitmask)
            if not matcher.accept_token(token_id):
                raise RuntimeError("the text of five hundred words is refused")
            most = max(most, compiled.nbytes)
        held[name] = most
    one_row = bitmask.nbytes
    rows = held["bounded"] - held["one row"] + one_row
    if rows > bound:
        raise RuntimeError(f"rows take {rows:,} bytes, and the bound is {bound:,}")
    return {
        "rows bound": bound,
        "unbounded nbytes": held["unbounded"],
        "bounded nbytes": held["bounded"],
        "bounded rows": rows,
    }


def _print(document: dict[str, Any], console: Console) -> None:
    print_heading(document, f"{document['settings']['schemas']} schemas", console)
    table = table_of_engines(document, "Growth of resident memory, MiB")
    engines = document["engines"]
    for key in dict.fromkeys(key for engine in engines.values() for key in engine["mib"]):
        figures = [engine["mib"].get(key) for engine in engines.values()]
        table.add_row(key, *("-" if f is None else f"{f['median']:,.2f}" for f in figures))
    console.print(table)
    print_broken(document, console)
