"""Figures of the smaller measurements: batches, steps, sharing, memory held."""

import itertools
import threading

import pytest

from benchmarks.batches import summarise_batches
from benchmarks.engines.parts import in_threads, part_bounds
from benchmarks.held import summarise_held
from benchmarks.isolated import Outcome
from benchmarks.sharing import summarise_sharing
from benchmarks.steps import summarise_steps
from benchmarks.tools import sample_tools
from tests.conftest import requires_shared


@pytest.mark.parametrize(("rows", "parts"), list(itertools.product((0, 1, 5, 64), (1, 2, 3))))
def test_parts_of_a_batch_are_all_of_it(rows, parts):
    bounds = part_bounds(rows, parts)
    assert len(bounds) == parts
    assert [row for first, last in bounds for row in range(first, last)] == list(range(rows))


@pytest.mark.parametrize("threads", [1, 3])
def test_nothing_is_filled_before_it_is_asked_for(threads):
    filled = []
    fill = in_threads(lambda *part: filled.append((part, threading.get_ident())), 7, threads)
    assert filled == []
    fill()
    assert sorted(part for part, _ in filled) == part_bounds(7, threads)
    assert (threading.get_ident() in {thread for _, thread in filled}) == (threads == 1)


def test_a_row_above_the_copy_and_the_gain_of_threads():
    def outcome(run, slower):
        return Outcome(
            {"engine": "constrain", "rows": 4, "run": run},
            [
                {
                    "long": long,
                    "rows": 2 if long else 4,
                    "distinct": distinct,
                    "threads": threads,
                    "cold": [distinct * 40_000 * slower // (1 if long else threads)] * 3,
                    "visited": [8_000 * slower] * 3,
                    "copy": 4_000,
                }
                for distinct, threads, long in (
                    (1, 1, False),
                    (4, 1, False),
                    (4, 2, False),
                    (2, 1, True),
                    (2, 2, True),
                )
            ],
        )

    broken = Outcome({"engine": "peer", "rows": 4, "run": 0}, [], "exit status -11: ")
    document = summarise_batches([outcome(0, 1), outcome(1, 3), outcome(2, 2), broken])
    ours = document["engines"]["constrain"]
    one, four, threaded = ours["points"]
    assert one["cold"]["mean"] == {"median": 20.0, "low": 10.0, "high": 30.0}
    assert four["above_copy"]["p50"] == {"median": 3.0, "low": 1.0, "high": 5.0}
    assert threaded["cold"]["total_ms"]["median"] == pytest.approx(0.48)
    assert ours["thread_speedup"] == {"2": pytest.approx(2.0)}
    assert [point["cold"]["mean"]["median"] for point in ours["long_points"]] == [80.0, 80.0]
    assert ours["thread_speedup_of_long_rows"] == {"2": pytest.approx(1.0)}
    assert document["engines"]["peer"] == {
        "broken": ["exit status -11: "],
        "points": [],
        "long_points": [],
        "thread_speedup": {},
        "thread_speedup_of_long_rows": {},
    }


def test_a_verb_that_an_engine_lacks_has_no_figures():
    results = [{"accept": [1_000, 3_000], "fork": [500]}, {"accept": [2_000]}]
    document = summarise_steps([Outcome({"engine": "peer", "run": 0}, results)])
    verbs = document["engines"]["peer"]["verbs"]
    assert list(verbs) == ["accept", "fork"]
    assert verbs["accept"]["n"] == 3
    assert verbs["accept"]["p50"]["median"] == 2.0


def test_sharing_compares_a_tool_with_itself():
    def played(ms, **more):
        return {"first_mask_ns": int(ms * 1e6), "played_ns": int(2 * ms * 1e6), **more}

    in_order = [
        played(1),
        played(1, again=played(0.5), alone=played(4)),
        {"refused": "its call"},
        played(4, again=played(1), alone=played(6)),
        played(4, again=played(1), alone={"refused": "a time-out"}),
    ]
    strings = [
        {"prepare_ns": 9e6, "first_mask_ns": 5e6, "in_string_ns": 2e6},
        {"prepare_ns": 1e6, "first_mask_ns": 4e6, "in_string_ns": 1e5},
    ]
    one = [
        {"first_mask_ns": 8e6, "tools": 4},
        {"first_mask_ns": 2e6, "tools": 3},
        {"played_ns": 1e6},
        {"refused": "its call"},
        {"played_ns": 3e6},
    ]
    about = {"engine": "constrain", "run": 0}
    document = summarise_sharing(
        [
            Outcome(about | {"kind": "in order"}, in_order),
            Outcome(about | {"kind": "all at once"}, [], "timeout after 120 s"),
            Outcome(about | {"kind": "one grammar"}, one),
            Outcome(about | {"kind": "second process"}, strings),
        ]
    )
    ours = document["engines"]["constrain"]
    figures = {key: figure["median"] for key, figure in ours["figures"].items()}
    assert figures["in_order_first_mask_total_ms"] == 10.0
    assert figures["in_order_first_mask_mean_ms"] == 2.5
    assert figures["alone_first_mask_mean_ms"] == 5.0
    assert figures["shared_first_mask"] == 0.5
    assert figures["shared_played"] == 0.5
    assert figures["again_played"] == 0.15
    assert figures["first_tool_played_ms"] == 2.0
    assert figures["one_grammar_tools"] == 4
    assert figures["one_grammar_of_one_by_one"] == 8 / (4 * 2.5)
    assert figures["one_grammar_again_first_mask_ms"] == 2.0
    assert figures["one_grammar_call_played_mean_ms"] == 2.0
    assert figures["first_process_in_string_ms"] == 2.0
    assert figures["second_process_in_string_ms"] == 0.1
    assert figures["of_a_process"] == 2.5 / 4
    assert ours["refused"] == 1
    assert ours["broken"] == ["all at once: timeout after 120 s"]


def test_memory_held_has_its_halves_and_its_own_counts():
    points = [{"schemas": 10 * n, "resident_mib": n, "peak_mib": 2 * n} for n in (1, 2, 3, 4)]
    kept = [*points, {"held_bytes": [2**20, 3 * 2**20]}]
    bounded = {"rows bound": 2**21, "bounded rows": 2**20}
    document = summarise_held(
        [
            Outcome({"engine": "constrain", "kind": "kept", "run": 0}, kept),
            Outcome({"engine": "constrain", "kind": "bounded", "run": 0}, [bounded]),
            Outcome({"engine": "constrain", "kind": "dropped", "run": 0}, points, "exit status 1"),
        ]
    )
    mib = {key: f["median"] for key, f in document["engines"]["constrain"]["mib"].items()}
    assert mib == {
        "kept: held at half of the sample": 2.0,
        "kept: held at the end": 4.0,
        "kept: peak": 8.0,
        "kept: own counts, sum": 4.0,
        "kept: own count of one, p50": 1.0,
        "kept: own count of one, p99": 3.0,
        "kept: own count of one, max": 3.0,
        "bounded: rows bound": 2.0,
        "bounded: bounded rows": 1.0,
    }
    assert document["engines"]["constrain"]["broken"] == ["dropped: exit status 1"]


@requires_shared
def test_tools_are_the_same_each_time_and_no_two_alike():
    some, more = sample_tools(20), sample_tools(40)
    assert some == more[:20]
    assert len({workload.schema for workload in more}) == 40
    assert all(text.valid for workload in more for text in workload.texts)
