"""The document of a benchmark as tables on the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.summary import OURS

__all__ = ["print_report"]

_SHOWN = {
    "first_mask_ms": ("first mask, ms", ("mean", "p50", "p99", "max")),
    "mask_cold_us": ("mask cold, us", ("mean", "p50", "p99", "p99.9", "max")),
    "mask_visited_us": ("mask visited, us", ("mean", "p50", "p99", "p99.9", "max")),
    "accept_us": ("accept, us", ("mean", "p50", "p99")),
}
_WRONG = {
    "valid_rejected": "valid instance rejected",
    "invalid_accepted": "invalid instance accepted",
    "failed": "broke down",
}


def print_report(document: dict[str, Any], console: Console, *, wrong_of: str = OURS) -> None:
    """Print every table of a document.

    Args:
        document: What `summary.summarise_runs` gave.
        console: Where to.
        wrong_of: The engine whose wrong verdicts and slowest calls are listed one by one.
    """
    _print_heading(document, console)
    console.print(_times(document))
    if document["ratios"]:
        console.print(_ratios(document))
    console.print(_outcomes(document))
    console.print(_costs(document))
    for name, engine in document["engines"].items():
        settings = engine["prepared"].get("settings", "")
        console.print(f"{name}: {settings}", style="dim", highlight=False)
        if engine["prepared"].get("warm_up_verdicts_right") is False:
            told = f"{name}: wrong on a warm-up schema, so its first times may hold the warm-up"
            console.print(told, style="red", highlight=False)
    if wrong_of in document["engines"]:
        _print_details(wrong_of, document["engines"][wrong_of], console)


def _print_heading(document: dict[str, Any], console: Console) -> None:
    machine, sample = document["machine"], document["sample"]
    console.print(
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load_1min']}, Python "
        f"{machine['python']}, {machine['system']}; {document['date']}",
        highlight=False,
    )
    console.print(
        f"{sample['schemas']} schemas, {sample['valid_texts']} valid and {sample['invalid_texts']} "
        f"invalid instances, {sample['tokens']} tokens; vocabulary {document['vocabulary']}; "
        f"{len(document['restarts'])} run(s), restarts {sum(document['restarts'])}; "
        f"timer {document['timer_ns']:.0f} ns a call, included",
        highlight=False,
    )
    for name, reason in document["absent"].items():
        console.print(f"{name}: not measured, {reason}", style="yellow", highlight=False)


def _times(document: dict[str, Any]) -> Table:
    table = Table(title="Times: median over the runs (lowest - highest, where a tenth apart)")
    table.add_column("")
    for name, engine in document["engines"].items():
        table.add_column(f"{name}\n{engine['prepared'].get('version', '')}", justify="right")
    for measure, (label, statistics) in _SHOWN.items():
        for statistic in statistics:
            cells = []
            for engine in document["engines"].values():
                figure = engine["measures"][measure].get(statistic)
                cells.append("-" if figure is None else _with_spread(figure))
            table.add_row(f"{label} {statistic}", *cells, end_section=statistic == statistics[-1])
    return table


def _ratios(document: dict[str, Any]) -> Table:
    table = Table(title=f"{OURS} / peer, where both played (below 1: {OURS} is faster)")
    table.add_column("")
    for name, ratios in document["ratios"].items():
        table.add_column(f"{name}\n{ratios['schemas']} schemas", justify="right")
    for measure, (label, statistics) in _SHOWN.items():
        for statistic in statistics:
            figures = [
                ratios.get(measure, {}).get(statistic) for ratios in document["ratios"].values()
            ]
            cells = ["-" if figure is None else _with_spread(figure) for figure in figures]
            table.add_row(f"{label} {statistic}", *cells, end_section=statistic == statistics[-1])
    return table


def _outcomes(document: dict[str, Any]) -> Table:
    table = Table(title="Schemas and verdicts")
    table.add_column("")
    engines = document["engines"].values()
    for name in document["engines"]:
        table.add_column(name, justify="right")
    table.add_row("schemas tried", *(str(engine["schemas"]) for engine in engines))
    table.add_row("compiled", *(str(engine["compiled"]) for engine in engines))
    table.add_row("refused", *(_counts(engine["refused"]) for engine in engines))
    broken = [_counts(_count_values(engine["broken"])) for engine in engines]
    table.add_row("timed out or crashed", *broken, end_section=True)
    table.add_row("instances played", *(str(engine["verdicts"]["texts"]) for engine in engines))
    table.add_row("right verdicts", *(str(engine["verdicts"]["right"]) for engine in engines))
    for kind, label in _WRONG.items():
        table.add_row(label, *(str(len(engine["verdicts"][kind])) for engine in engines))
    other_style = [str(len(engine["verdicts"]["other_style"])) for engine in engines]
    table.add_row("valid, but not this engine's style", *other_style)
    return table


def _costs(document: dict[str, Any]) -> Table:
    table = Table(title="Preparation, and resident memory of a process with this engine alone")
    table.add_column("")
    for name in document["engines"]:
        table.add_column(name, justify="right")
    engines = document["engines"].values()
    for key, label in (
        ("import_s", "import, s"),
        ("vocabulary_s", "vocabulary, s"),
        ("warm_up_s", "warm-up (kernels, 2 schemas), s"),
        ("first_mask_in_process_ms", "first mask of the process, ms"),
    ):
        table.add_row(label, *(_number(engine["prepared"].get(key)) for engine in engines))
    for key, label in (
        ("import_and_vocabulary_mib", "import and vocabulary, MiB"),
        ("warm_up_mib", "warm-up, MiB"),
        ("sample_peak_mib", "sample, peak growth, MiB"),
        ("sample_held_mib", "sample, held at the end, MiB"),
    ):
        table.add_row(label, *(_number((engine["memory"] or {}).get(key)) for engine in engines))
    return table


def _print_details(name: str, engine: dict[str, Any], console: Console) -> None:
    lines = []
    for kind, label in _WRONG.items():
        for case in engine["verdicts"][kind]:
            place = f"{case['schema']} test {case['text']}, token {case['rejected_at']}"
            failure = f": {case['failure']}" if "failure" in case else ""
            lines.append(f"{label}: {place}{failure}")
    for case in engine["slowest"]["first_mask"]:
        console.print(
            f"{name}: first mask {case['ms']:.2f} ms: {case['schema']}",
            highlight=False,
            markup=False,
        )
    for case in engine["slowest"]["mask_cold"]:
        place = f"{case['schema']} test {case['text']}, token {case['position']}"
        lines.append(f"mask {case['us']:.0f} us: {place}")
    for line in lines:
        console.print(f"{name}: {line}", highlight=False, markup=False, soft_wrap=True)


def _with_spread(figure: dict[str, float]) -> str:
    median, low, high = figure["median"], figure["low"], figure["high"]
    if high - low <= 0.1 * median:
        return _number(median)
    return f"{_number(median)} ({_number(low)} - {_number(high)})"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _counts(counts: dict[str, int]) -> str:
    if not counts:
        return "0"
    return "\n".join([str(sum(counts.values())), *(f"{name} {n}" for name, n in counts.items())])


def _count_values(values: dict[str, str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for value in values.values():
        kind = value.split(",")[0].rstrip(")") + (")" if "(" in value else "")
        counts[kind] = counts.get(kind, 0) + 1
    return counts
