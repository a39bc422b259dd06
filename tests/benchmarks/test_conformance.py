"""Verdicts of engines: the cases, one process for each engine, and what is counted."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from benchmarks.conformance import run, watch
from benchmarks.conformance.cases import Case, _test, real_cases, suite_cases
from benchmarks.conformance.cases import Test as Text
from benchmarks.conformance.engines import ENGINES, create, is_installed
from benchmarks.conformance.watch import Played, WorkerError, play
from tests.conftest import requires_shared

OBJECT = {"type": "object", "properties": {"b": {"type": "integer"}, "a": {}}, "required": ["b"]}


def case(schema: Any, *tests: tuple[Any, bool], group: str = "real") -> Case:
    made = tuple([_test(str(i), data, schema, valid) for i, (data, valid) in enumerate(tests)])
    return Case(group, "a case", json.dumps(schema), True, False, made)


def test_a_valid_text_has_its_value_in_other_spellings() -> None:
    test = _test("", {"a": "x", "b": 1.0}, OBJECT, True)
    assert test.text == '{"a": "x", "b": 1.0}'
    other = '{"a": "x", "b": 1}'
    assert test.respelt == (
        '{"b": 1, "a": "x"}',
        '{"b":1,"a":"x"}',
        other,
        other.replace(" ", ""),
    )
    assert _test("", {"a": 1}, OBJECT, False).respelt == ()


def test_a_value_of_the_schema_is_spelt_as_it_is_there() -> None:
    schema = {"const": {"b": -2.0, "a": [True]}}
    assert '{"b": -2.0, "a": [true]}' in _test("", {"a": [True], "b": -2}, schema, True).respelt


@requires_shared
def test_the_suite_says_its_draft() -> None:
    cases = list(suite_cases("draft7"))
    assert not any(c.name.startswith("format:") for c in cases)
    for c in cases:
        schema = json.loads(c.schema)
        assert isinstance(schema, bool) or "$schema" in schema
    assert sum(c.is_remote for c in cases) > 5


@requires_shared
def test_the_sample_is_always_the_same() -> None:
    first = list(real_cases(30, 0))
    assert first == list(real_cases(30, 0))
    assert first != list(real_cases(30, 1))


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_judges_an_object(name: str) -> None:
    if not is_installed(name):
        pytest.skip(f"{name} is not installed: pip install -e '.[bench]'")
    engine, version = create(name)
    schema = {**OBJECT, "properties": {"b": {"type": "integer"}, "a": {"type": "string"}}}
    judged = case(schema, ({"b": 1, "a": "é"}, True), ({"a": "é"}, False), ({"b": "1"}, False))
    accepts = engine.compile(judged)
    assert [accepts(test.text) for test in judged.tests] == [True, False, False]
    assert not accepts('{"b": 1')
    assert version
    assert engine.settings


def test_a_worker_plays_each_case() -> None:
    cases = [
        case({"type": "integer"}, (1, True), ("a", False)),
        case({"pattern": r"(a)\1"}, ("aa", True)),
        case({"type": "integer", "enum": ["a"]}, ("a", False), (1, True)),
        case(OBJECT, ({"a": 1, "b": 2}, True)),
    ]
    told: list[int] = []
    played = play(cases, "constrain-canonical", told.append)
    assert told == [0, 1, 2, 3]
    assert played.answers[0] == ["right", "right"]
    assert str(played.answers[1]).startswith("refused: UnsupportedFeatureError: a back-reference")
    assert played.answers[2:] == [["right", "rejected"], ["respelt"]]
    counts = run.summarise(cases, played)
    assert counts["texts"] == {"real": {"right": 3, "respelt": 1, "rejected": 1, "refused": 1}}
    assert counts["schemas"] == {"real": {"compiled": 3, "refused": 1, "wrong": 1}}


_FAKE = """
import json, os, sys, time
def tell(**event): print(json.dumps(event), flush=True)
tell(event="ready", version="1", settings="made up")
for number in range(int(sys.argv[-1]), 4):
    tell(event="start", case=number)
    if number == 1: os._exit(7)
    tell(event="compiled")
    if number == 2:
        while True: pass
    tell(event="verdicts", verdicts=["right"])
tell(event="end")
"""


def test_a_worker_that_crashes_or_hangs_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "COMMAND", [sys.executable, "-c", _FAKE])
    monkeypatch.setattr(watch, "PLAY_S", 0.3)
    cases = [case(True, (1, True))] * 4
    played = play(cases, "fake")
    expected = [["right"], "broke: compile: exit status 7", "broke: play: over 0 s", ["right"]]
    assert played.answers == expected
    counts = run.summarise(cases, played)
    assert counts["texts"] == {"real": {"right": 2, "broke": 2}}


def test_an_engine_that_cannot_be_prepared_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "COMMAND", [sys.executable, "-c", "raise SystemExit('no engine')"])
    with pytest.raises(WorkerError, match="no engine"):
        play([case(True, (1, True))], "fake")


def test_figures_of_another_version_are_not_kept() -> None:
    cases = [Case("real", "", "true", True, False, (Text("", "1", True, ()),))]
    now = run.summarise(cases, Played("2", "s", [["right"]]))
    last = {**now, "texts": {"draft7": {"right": 5}}, "schemas": {"draft7": {"compiled": 5}}}
    assert run._merge(None, now) == now
    assert run._merge({**last, "version": "1"}, now) == now
    assert run._merge(last, now)["texts"] == {"draft7": {"right": 5}, "real": {"right": 1}}
