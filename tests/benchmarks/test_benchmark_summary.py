import io
import json

import pytest
from rich.console import Console

from benchmarks.plan import Plan, PlannedSchema, PlannedText
from benchmarks.play import PlayedText, Record
from benchmarks.report import print_report
from benchmarks.statistics import STATISTICS
from benchmarks.summary import FORMAT, MEASURES, summarise_runs
from benchmarks.watch import Run

TEXTS = (
    PlannedText(0, "[1]", True, (1, 2), None),
    PlannedText(1, "[2]", False, (1, 3), None),
)
PLAN = Plan(
    "tiny",
    "nowhere",
    32,
    ("constrain", "peer"),
    {},
    0,
    tuple(PlannedSchema(name, "c", "{}", TEXTS) for name in ("s1", "s2", "s3")),
)


def _played(index, valid, accepted, *, us, steps, **more):
    times = [int(us * 1000)] * steps
    return PlayedText(
        index, valid, accepted, None if accepted else steps - 1, cold_ns=times,
        visited_ns=times, accept_ns=times, accept_visited_ns=times, **more,
    )  # fmt: skip


def _record(schema, engine, ms, texts):
    return Record(schema, engine, None, None, 1, int(ms * 1e6), int(ms * 1e6), texts)


def _run(slower=1.0):
    ours = [
        _record("s1", "constrain", 1 * slower, [
            _played(0, True, True, us=2 * slower, steps=4),
            _played(1, False, True, us=2 * slower, steps=4),
        ]),
        _record("s2", "constrain", 3 * slower, [
            _played(0, True, False, us=2 * slower, steps=1),
            _played(1, True, False, us=2 * slower, steps=1, style=True),
        ]),
        Record("s3", "constrain", refused=("UnsupportedFeatureError", "not: at #/not")),
    ]  # fmt: skip
    theirs = [
        _record("s1", "peer", 2, [
            _played(0, True, True, us=8, steps=4),
            _played(1, False, False, us=4, steps=2),
        ]),
        Record("s2", "peer", broken="timeout (compile)"),
        _record("s3", "peer", 50, [
            _played(0, True, True, us=1, steps=1, failure="it broke"),
            _played(1, False, False, us=1, steps=1),
        ]),
    ]  # fmt: skip
    ready = {
        "engines": {
            name: {
                "version": "1",
                "settings": "made up",
                "after_vocabulary_mib": 30.0,
                "warm_up_verdicts_right": name == "constrain",
            }
            for name in PLAN.engines
        },
        "timer_ns": 60.0,
        "before_engines_mib": 10.0,
        "resident_mib": 33.0,
    }
    return Run(ours + theirs, ready, {"peak_mib": 40.0, "resident_mib": 35.0}, restarts=1)


@pytest.fixture
def document():
    return summarise_runs(
        PLAN,
        [_run(), _run(slower=3), _run(slower=2)],
        {"constrain": _run()},
        {"seed": 0},
        {"absentee": "not installed"},
    )


def test_the_document_is_plain_json_with_a_fixed_layout(document):
    assert json.loads(json.dumps(document)) == document
    assert list(document) == [
        "format", "date", "machine", "settings", "vocabulary", "sample", "timer_ns", "restarts",
        "absent", "engines", "ratios",
    ]  # fmt: skip
    assert document["format"] == FORMAT
    assert document["restarts"] == [1, 1, 1]
    assert set(document["machine"]) == {"cpu", "cores", "system", "python", "load_1min"}
    for engine in document["engines"].values():
        assert list(engine["measures"]) == list(MEASURES)
        for measure in engine["measures"].values():
            assert set(measure) == {"n", *STATISTICS}
            assert set(measure["mean"]) == {"median", "low", "high"}


def test_figures_are_medians_over_runs(document):
    measures = document["engines"]["constrain"]["measures"]
    assert measures["first_mask_ms"]["n"] == 2
    assert measures["first_mask_ms"]["mean"] == {"median": 4.0, "low": 2.0, "high": 6.0}
    assert measures["first_mask_ms"]["max"] == {"median": 6.0, "low": 3.0, "high": 9.0}
    assert measures["mask_cold_us"]["n"] == 10
    assert measures["mask_cold_us"]["p50"] == {"median": 4.0, "low": 2.0, "high": 6.0}


def test_ratios_compare_what_both_played(document):
    ratios = document["ratios"]["peer"]
    assert ratios["schemas"] == 1  # s2 timed out there, s3 was refused here
    assert ratios["first_mask_ms"]["mean"] == {"median": 1.0, "low": 0.5, "high": 1.5}
    # Both reached 4 positions of the first text and 2 of the second: (8 * 4 + 4 * 2) / 6 us there.
    assert ratios["mask_cold_us"]["mean"]["low"] == pytest.approx(2 / (40 / 6))


def test_verdicts_are_sorted_by_what_they_mean(document):
    verdicts = document["engines"]["constrain"]["verdicts"]
    assert verdicts["texts"] == 4
    assert verdicts["right"] == 1
    assert verdicts["valid_rejected"] == [{"schema": "s2", "text": 0, "rejected_at": 0}]
    assert verdicts["invalid_accepted"] == [{"schema": "s1", "text": 1, "rejected_at": None}]
    assert verdicts["other_style"] == [{"schema": "s2", "text": 1, "rejected_at": 0}]
    peer = document["engines"]["peer"]["verdicts"]
    assert peer["failed"] == [
        {"schema": "s3", "text": 0, "rejected_at": None, "failure": "it broke"}
    ]
    assert peer["right"] == 3


def test_refusals_and_timeouts_are_counted_by_kind(document):
    ours, peer = document["engines"]["constrain"], document["engines"]["peer"]
    assert ours["refused"] == {"UnsupportedFeatureError": 1}
    assert ours["refusals"] == {"s3": ["UnsupportedFeatureError", "not: at #/not"]}
    assert (ours["schemas"], ours["compiled"]) == (3, 2)
    assert peer["broken"] == {"s2": "timeout (compile)"}
    assert peer["unlike_first_run"] == 0


def test_memory_is_growth_in_a_process_alone(document):
    assert document["engines"]["constrain"]["memory"] == {
        "import_and_vocabulary_mib": 20.0,
        "warm_up_mib": 3.0,
        "sample_peak_mib": 7.0,
        "sample_held_mib": 2.0,
        "restarts": 1,
    }
    assert document["engines"]["peer"]["memory"] is None


def test_the_slowest_calls_are_named(document):
    slowest = document["engines"]["constrain"]["slowest"]
    assert slowest["first_mask"][0] == {"schema": "s2", "ms": 3.0}
    # The first text's first mask was the first mask of the schema.
    assert {"schema": "s1", "text": 0, "position": 4, "us": 2.0} in slowest["mask_cold"]


def test_the_report_names_every_fault(document):
    screen = io.StringIO()
    print_report(document, Console(file=screen, width=160))
    shown = screen.getvalue()
    assert "absentee: not measured, not installed" in shown
    assert "valid instance rejected: s2 test 0, token 0" in shown
    assert "invalid instance accepted: s1 test 1" in shown
    assert "UnsupportedFeatureError 1" in shown
    assert "timeout (compile) 1" in shown
    assert "peer: wrong on a warm-up schema" in shown
    assert "constrain: wrong on" not in shown
    assert "1 (0.5 - 1.5)" in shown


def test_an_engine_that_played_nothing_has_empty_figures():
    runs = [Run([Record(s, e, broken="timeout (compile)") for s in ("s1",) for e in PLAN.engines])]
    document = summarise_runs(PLAN, runs, {}, {}, {})
    assert document["engines"]["constrain"]["measures"]["first_mask_ms"] == {"n": 0}
    assert document["ratios"]["peer"] == {"schemas": 0}
