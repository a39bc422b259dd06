"""Curves out of records, made-up cases, pictures."""

import json

import pytest

import constrain
from benchmarks.growth.cases import depth_cases, length_cases, property_cases
from benchmarks.growth.curves import (
    Point,
    batch_curves,
    first_mask_ms,
    length_curves,
    mean_mask_us,
    played_by_all,
    size_curves,
)
from benchmarks.growth.plot import Panel, plot
from benchmarks.isolated import Outcome
from benchmarks.play import PlayedText, Record
from benchmarks.watch import Run

ENGINES = ("a", "b")


def _record(engine, schema, ms, us=(1,), **more):
    text = PlayedText(0, True, accepted=True, cold_ns=[int(t * 1e3) for t in us])
    return Record(schema, engine, first_mask_ns=int(ms * 1e6), texts=[text], **more)


def _runs(*by_run):
    return [Run(list(records)) for records in by_run]


def test_a_point_is_the_median_over_the_runs_with_its_range():
    runs = _runs(*[[_record("a", "10", ms)] for ms in (3, 1, 8)])
    curves = size_curves({10.0: runs}, ("a",), first_mask_ms, lambda size: [str(int(size))])
    assert curves == {"a": [Point(10.0, 3.0, 1.0, 8.0)]}


def test_a_curve_ends_where_an_engine_breaks_in_any_run():
    broken = Record("20", "b", broken="timeout (compile)")
    refused = Record("20", "b", refused=("Error", "no"))
    for last in (broken, refused):
        runs = _runs(
            [_record("a", "10", 1), _record("b", "10", 1), _record("a", "20", 2), last],
            [_record(e, s, 2) for e in ENGINES for s in ("10", "20")],
        )
        curves = size_curves(
            {10.0: runs, 20.0: runs}, ENGINES, first_mask_ms, lambda size: [str(int(size))]
        )
        assert [point.x for point in curves["a"]] == [10, 20]
        assert [point.x for point in curves["b"]] == [10]


def test_a_text_that_was_not_accepted_is_no_point():
    record = _record("a", "10", 1)
    record.texts[0].accepted = False
    curves = size_curves({10.0: _runs([record])}, ("a",), first_mask_ms, lambda _: ["10"])
    assert curves == {"a": []}


def test_a_size_of_several_schemas_needs_them_all():
    whole = [_record("a", "x", 1, (1, 3)), _record("a", "y", 3, (5,))]
    ids = lambda _: ["x", "y"]  # noqa: E731
    assert size_curves({1.0: _runs(whole)}, ("a",), first_mask_ms, ids)["a"][0].median == 2.0
    assert size_curves({1.0: _runs(whole)}, ("a",), mean_mask_us, ids)["a"][0].median == 3.0
    assert size_curves({1.0: _runs(whole[:1])}, ("a",), first_mask_ms, ids) == {"a": []}


def test_only_schemas_that_every_engine_played_in_every_run_are_compared():
    other = _record("b", "y", 1)
    other.texts[0].accepted = False
    both = [_record(engine, schema, 1) for engine in ENGINES for schema in ("x", "y", "z")]
    without_z = [r for r in both if (r.engine, r.schema) != ("b", "z")]
    second = [r for r in both if (r.engine, r.schema) != ("b", "y")]
    assert played_by_all(_runs(both), ENGINES) == {"x", "y", "z"}
    assert played_by_all(_runs(both, without_z), ENGINES) == {"x", "y"}
    assert played_by_all(_runs(both, [*second, other]), ENGINES) == {"x", "z"}
    assert played_by_all(_runs(both, [*second, other]), ("a",)) == {"x", "y", "z"}


def test_positions_are_cut_into_parts_that_leave_nothing_out():
    runs = _runs(
        [_record("a", "long", 1, range(1, 11))],
        [_record("a", "long", 1, range(3, 33, 3))],
    )
    curve = length_curves(runs, ENGINES, "long", 5)
    assert curve["b"] == []
    assert [point.x for point in curve["a"]] == [1, 3, 5, 7, 9]
    assert [point.low for point in curve["a"]] == [1.5, 3.5, 5.5, 7.5, 9.5]
    assert [point.median for point in curve["a"]] == [3, 7, 11, 15, 19]
    few = length_curves(_runs([_record("a", "long", 1, (4, 6))]), ("a",), "long", 5)
    assert [point.median for point in few["a"]] == [4, 6]


def test_batches_count_one_thread_short_rows_and_whole_engines():
    def outcome(run, *sizes):
        results = [
            {
                "long": long,
                "distinct": n,
                "threads": t,
                "cold": [(n + long) * 8_000] * 2,
                "visited": [8_000],
            }
            for n in sizes
            for t in (1, 2)
            for long in (False, True)
        ]
        return Outcome({"engine": "a", "rows": 8, "run": run}, results)

    curves = batch_curves([outcome(0, 1, 4), outcome(1, 1)], ENGINES, "cold")
    assert curves == {"a": [Point(1.0, 1.0, 1.0, 1.0)], "b": []}


@pytest.mark.parametrize(
    "case",
    [*property_cases((1, 2, 9)), *depth_cases((1, 3)), *length_cases(30)],
    ids=lambda case: case.id,
)
def test_every_made_up_text_fits_its_schema(case):
    grammar = constrain.Grammar.from_json_schema(case.schema)
    assert grammar.accepts(case.text.encode())
    assert not grammar.accepts(case.text[:-1].encode())


def test_a_bound_that_is_reached_allows_no_more():
    cases = {case.id: case for case in length_cases(10)}
    string, array = cases["string, reached"], cases["array, reached"]
    longer = (json.dumps(json.loads(string.text) + "x"), json.dumps([*json.loads(array.text), 1]))
    for case, text in zip((string, array), longer, strict=True):
        assert not constrain.Grammar.from_json_schema(case.schema).accepts(text.encode())


def test_a_picture_is_drawn_without_a_screen(tmp_path):
    pytest.importorskip("matplotlib")
    line = {"constrain": [Point(1, 2, 1, 3), Point(10, 4, 4, 4)], "llguidance": []}
    panels = [Panel("t", "x", "y", line, {"constrain": [Point(5, 3, 3, 3)]}) for _ in range(4)]
    plot(tmp_path / "deep" / "picture.png", "heading", panels)
    assert (tmp_path / "deep" / "picture.png").read_bytes().startswith(b"\x89PNG")
