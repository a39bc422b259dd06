"""`python -m benchmarks sharing`: what engines share between schemas, and between processes.

- *In order*: 500 tool schemas in one process, one after the other, each compiled and its call
  played once. Right after some of them the same tool *again*, a new grammar of the same schema, and
  *alone*, with a vocabulary of its own that no other schema has touched. If nothing were shared,
  all would cost the same.
- *All at once*: one schema with all tools as alternatives.
- *One grammar*: the tools of a request, 500 of them or as many as have names of their own, as one
  grammar; once more without the first one, as another request has them; some calls in it.
- *Second process*: the first mask inside of a string, in a process that finds the caches which a
  process before it left on disk, and in that one. Kernels are compiled and loaded in both.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.engines import Compiled, Engine, create
from benchmarks.isolated import Job, Outcome, run_jobs, take_turns
from benchmarks.options import add_options
from benchmarks.registry import Workload
from benchmarks.statistics import spread_figures, summarise
from benchmarks.study import print_broken, print_heading, run_study, table_of_engines
from benchmarks.summary import machine
from benchmarks.tools import sample_tools
from benchmarks.vocabularies import TokenizerFiles, cache_folder, encode, locate

__all__ = ["main", "measure", "summarise_sharing"]

KINDS = ("in order", "all at once", "one grammar", "second process")
_PAIRS = 20
"""Tools that are compiled again and alone, and calls in one grammar of all tools."""
_WARM_UP = ('{"type": "array", "items": {"enum": [1, 22, true]}}', "[1, 22, true]")
"""Loads kernels and code, and has no string, so that nothing of those is warm."""
_IN_STRING = (
    '{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}',
    '{"name": "',
)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the table and write the JSON document."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks sharing",
        description="Tool schemas in order, alone and all at once; a second process.",
    )
    add_options(parser, engines=("constrain", "llguidance", "xgrammar", "glrmask-lazy"))
    parser.add_argument("--tools", type=int, default=500, help="tool schemas (%(default)s)")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds without a result")
    arguments = parser.parse_args(argv)

    def jobs(present: Sequence[str]) -> list[Job]:
        sample_tools(1)
        about = {"vocabulary": arguments.vocab, "tools": arguments.tools}
        return [
            Job(
                "benchmarks.sharing",
                {"engine": engine, "kind": kind, "run": run} | about,
                arguments.timeout,
            )
            for run, engine in take_turns(present, arguments.runs)
            for kind in KINDS
        ]

    settings = {"runs": arguments.runs, "tools": arguments.tools}
    return run_study("sharing", arguments, jobs, summarise_sharing, settings, _print)


def measure(
    engine: str, kind: str, run: int, vocabulary: str, tools: int
) -> Iterator[dict[str, Any]]:
    """One kind of measurement on one engine, in this process.

    Yields:
        For each tool `first_mask_ns` and `played_ns` (that and all masks of its call), or
        `refused`; `again` and `alone`, for some, hold the same of a second grammar, and without
        anything shared. For one grammar: the same with `tools`, how many there are, twice, then of
        calls `played_ns`. For a process of the last kind: `prepare_ns`, `first_mask_ns` and
        `in_string_ns`.
    """
    if kind == "second process":
        yield from _two_processes(engine, vocabulary)
        return
    files = locate(vocabulary)
    if kind == "in string":
        yield _first_in_string(engine, files)
        return
    workloads = sample_tools(tools)
    if kind == "all at once":
        schema = json.dumps({"anyOf": [json.loads(workload.schema) for workload in workloads]})
        workloads = [Workload("all", "tools", schema, workloads[-1].texts)]
    adapter = _prepared(engine, files)
    if kind == "one grammar":
        yield from _one_grammar(adapter, workloads, files)
        return
    texts = encode([workload.texts[0].text for workload in workloads], files)
    step = max(len(workloads) // _PAIRS, 1)
    for index, (workload, ids) in enumerate(zip(workloads, texts, strict=True)):
        result = _play(adapter, workload.schema, ids)
        if kind == "in order" and index % step == step - 1:
            adapter.settle()
            result["again"] = _play(adapter, workload.schema, ids)
            result["alone"] = _play(_prepared(engine, files), workload.schema, ids)
        yield result


def summarise_sharing(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """One document of all outcomes; each figure a median over the runs with its range.

    `shared_first_mask` and `shared_played` are the time of some tools in order / that of the same
    tools alone: 1 means that nothing is shared by a vocabulary; `again_...` that of a second
    grammar / alone. `first_tool_...` is the first one in order, which finds a vocabulary that is as
    new as the process. `of_a_process` is the mean first mask of tools in order / the first mask of
    a schema in a new process. `one_grammar_of_one_by_one` is the first mask of one grammar of all
    tools / the sum of those of as many tools in order.
    """
    engines: dict[str, Any] = {}
    for name in dict.fromkeys(outcome.arguments["engine"] for outcome in outcomes):
        mine = [outcome for outcome in outcomes if outcome.arguments["engine"] == name]
        by_run: dict[int, dict[str, list[dict[str, Any]]]] = {}
        for outcome in mine:
            kinds = by_run.setdefault(outcome.arguments["run"], {})
            kinds[outcome.arguments["kind"]] = outcome.results
        figures = [_figures(kinds) for kinds in by_run.values()]
        engines[name] = {
            "broken": [f"{o.arguments['kind']}: {o.broken}" for o in mine if o.broken],
            "refused": _refused(by_run),
            "figures": {
                key: spread_figures([run[key] for run in figures])
                for key in dict.fromkeys(key for run in figures for key in run)
                if all(key in run for run in figures)
            },
        }
    return {
        "format": 1,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "engines": engines,
    }


def _figures(kinds: dict[str, list[dict[str, Any]]]) -> dict[str, float]:
    """The figures of one run, in milliseconds and MiB; those that it does not give are left out."""
    figures: dict[str, float] = {}
    in_order = [r for r in kinds.get("in order", ()) if "first_mask_ns" in r]
    pairs = [r for r in in_order if "first_mask_ns" in r.get("alone", ())]
    for what in ("first_mask", "played") if pairs else ():
        every = summarise([result[f"{what}_ns"] / 1e6 for result in in_order])
        figures[f"in_order_{what}_total_ms"] = every["mean"] * every["n"]
        figures[f"in_order_{what}_mean_ms"] = every["mean"]
        figures[f"in_order_{what}_p99_ms"] = every["p99"]
        figures[f"first_tool_{what}_ms"] = in_order[0][f"{what}_ns"] / 1e6
        alone_ns = sum(pair["alone"][f"{what}_ns"] for pair in pairs)
        figures[f"alone_{what}_mean_ms"] = alone_ns / len(pairs) / 1e6
        figures[f"shared_{what}"] = sum(pair[f"{what}_ns"] for pair in pairs) / alone_ns
        figures[f"again_{what}"] = sum(pair["again"][f"{what}_ns"] for pair in pairs) / alone_ns
    one = [r for r in kinds.get("one grammar", ()) if "refused" not in r]
    grammars = [r for r in one if "tools" in r]
    for result, which in zip(grammars, ("one_grammar", "one_grammar_again"), strict=False):
        figures[f"{which}_tools"] = result["tools"]
        figures[f"{which}_first_mask_ms"] = result["first_mask_ns"] / 1e6
    if grammars and "in_order_first_mask_mean_ms" in figures:
        one_by_one = grammars[0]["tools"] * figures["in_order_first_mask_mean_ms"]
        figures["one_grammar_of_one_by_one"] = figures["one_grammar_first_mask_ms"] / one_by_one
    calls = [r["played_ns"] / 1e6 for r in one if "tools" not in r]
    if calls:
        figures["one_grammar_call_played_mean_ms"] = sum(calls) / len(calls)
    for result in kinds.get("all at once", ()):
        if "first_mask_ns" in result:
            figures["all_at_once_first_mask_ms"] = result["first_mask_ns"] / 1e6
    for result, which in zip(kinds.get("second process", ()), ("first", "second"), strict=False):
        for key in ("prepare", "first_mask", "in_string"):
            figures[f"{which}_process_{key}_ms"] = result[f"{key}_ns"] / 1e6
    first_of_process = figures.get("second_process_first_mask_ms")
    if first_of_process is not None and "in_order_first_mask_mean_ms" in figures:
        figures["of_a_process"] = figures["in_order_first_mask_mean_ms"] / first_of_process
    return figures


def _refused(by_run: dict[int, dict[str, list[dict[str, Any]]]]) -> int:
    first = next(iter(by_run.values()))
    return sum("refused" in result for result in first.get("in order", ()))


def _prepared(name: str, files: TokenizerFiles) -> Engine:
    """An engine with a vocabulary of its own, warmed up without a string."""
    from transformers import AutoTokenizer

    engine = create(name)
    engine.prepare(files, AutoTokenizer.from_pretrained(files.folder))
    schema, text = _WARM_UP
    result = _play(engine, schema, encode([text], files)[0])
    if "refused" in result:
        raise RuntimeError(f"{name} does not play the warm-up: {result['refused']}")
    engine.settle()
    # What was there before is not looked through again before each measurement: that would empty
    # the processor's caches, which no server does between two schemas.
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    return engine


def _one_grammar(
    engine: Engine, workloads: Sequence[Workload], files: TokenizerFiles
) -> Iterator[dict[str, Any]]:
    """All tools as one grammar, and calls of some of them; nothing where an engine has no such."""
    if not hasattr(engine, "compile_tools"):
        return
    named: dict[str, tuple[dict[str, Any], str]] = {}
    for workload in workloads:
        properties = json.loads(workload.schema)["properties"]
        name = properties["name"]["const"]
        tool = {"name": name, "parameters": properties["arguments"]}
        named.setdefault(name, (tool, workload.texts[0].text))
    tools = [tool for tool, _ in named.values()]
    engine.compile_tools([{"name": "loads_code"}])
    compiled, result = _first_mask(lambda: engine.compile_tools(tools))
    yield result | {"tools": len(tools)}
    yield _first_mask(lambda: engine.compile_tools(tools[1:]))[1] | {"tools": len(tools) - 1}
    calls = list(named.values())[:: max(len(tools) // _PAIRS, 1)]
    for ids in encode([engine.call_of_tool(text) for _, text in calls], files):
        yield _played(compiled, ids)


def _first_mask(compile_it: Callable[[], Compiled]) -> tuple[Compiled, dict[str, Any]]:
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter_ns()
        compiled = compile_it()
        compiled.start().fill()
        return compiled, {"first_mask_ns": time.perf_counter_ns() - start}
    finally:
        gc.enable()


def _play(engine: Engine, schema: str, ids: Sequence[int]) -> dict[str, Any]:
    """Compile a schema and play a text: (first mask), (that and all further masks)."""
    try:
        compiled, first = _first_mask(lambda: engine.compile(schema))
    except Exception as failure:
        return {"refused": f"{type(failure).__name__}: {failure}"[:300]}
    played = _played(compiled, ids)
    if "refused" not in played:
        played = first | {"played_ns": first["first_mask_ns"] + played["played_ns"]}
    return played


def _played(compiled: Compiled, ids: Sequence[int]) -> dict[str, Any]:
    """All masks of a text but the first."""
    clock = time.perf_counter_ns
    taken = 0
    gc.disable()
    try:
        matcher = compiled.start()
        matcher.fill()
        for token_id in ids:
            if not matcher.allows(token_id) or not matcher.accept(token_id):
                return {"refused": "its call"}
            start = clock()
            matcher.fill()
            taken += clock() - start
        error = matcher.error()
    except Exception as failure:
        return {"refused": f"{type(failure).__name__}: {failure}"[:300]}
    finally:
        gc.enable()
    return {"played_ns": taken} if error is None else {"refused": error[:300]}


def _first_in_string(name: str, files: TokenizerFiles) -> dict[str, Any]:
    from transformers import AutoTokenizer

    schema, text = _IN_STRING
    warm_up_schema, warm_up_text = _WARM_UP
    ids, warm_up_ids = encode([text, warm_up_text], files)
    tokenizer = AutoTokenizer.from_pretrained(files.folder)
    _ = files.token_bytes, files.eos_token_id  # read before the engine is timed
    engine = create(name)
    started = time.perf_counter_ns()
    engine.prepare(files, tokenizer)
    prepare_ns = time.perf_counter_ns() - started
    _play(engine, warm_up_schema, warm_up_ids)
    started = time.perf_counter_ns()
    matcher = engine.compile(schema).start()
    matcher.fill()
    first_mask_ns = time.perf_counter_ns() - started
    for token_id in ids:
        matcher.fill()
        if not matcher.allows(token_id) or not matcher.accept(token_id):
            raise RuntimeError(f"{name} refuses {text!r}")
    started = time.perf_counter_ns()
    matcher.fill()
    in_string_ns = time.perf_counter_ns() - started
    engine.settle()
    return {"prepare_ns": prepare_ns, "first_mask_ns": first_mask_ns, "in_string_ns": in_string_ns}


def _two_processes(engine: str, vocabulary: str) -> Iterator[dict[str, Any]]:
    """Two processes, one after the other, that begin with kernels and tokenizers alone on disk."""
    with tempfile.TemporaryDirectory(prefix="constrain-bench-") as folder:
        for part in ("kernels", "tokenizers"):
            target = cache_folder().parent / part
            target.mkdir(parents=True, exist_ok=True)
            os.symlink(target, Path(folder) / part)
        for process in range(2):
            arguments = {
                "engine": engine,
                "kind": "in string",
                "run": process,
                "vocabulary": vocabulary,
                "tools": 0,
            }
            environment = {"CONSTRAIN_CACHE_DIR": folder}
            (outcome,) = run_jobs([Job("benchmarks.sharing", arguments, 300.0, environment)])
            if outcome.broken is not None:
                raise RuntimeError(outcome.broken)
            yield from outcome.results


def _print(document: dict[str, Any], console: Console) -> None:
    print_heading(document, f"{document['settings']['tools']} tools", console)
    table = table_of_engines(document, "Sharing between schemas and processes")
    engines = document["engines"]
    keys = dict.fromkeys(key for engine in engines.values() for key in engine["figures"])
    for key in keys:
        cells = [engine["figures"].get(key) for engine in engines.values()]
        row = ["-" if cell is None else f"{cell['median']:,.3g}" for cell in cells]
        table.add_row(key.replace("_", " "), *row)
    table.add_row("tools refused", *(str(engine["refused"]) for engine in engines.values()))
    console.print(table)
    print_broken(document, console)
