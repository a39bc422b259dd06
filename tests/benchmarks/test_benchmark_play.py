import dataclasses
import gc
import json

import pytest

from benchmarks.plan import PlannedSchema, PlannedText
from benchmarks.play import Record, play_schema, timer_overhead_ns
from tests.benchmarks.fake_engine import FakeEngine


def _schema(language, *texts):
    planned = [
        PlannedText(index, str(ids), valid, tuple(ids), declared)
        for index, (ids, valid, declared) in enumerate(texts)
    ]
    return PlannedSchema("s", "c", json.dumps(language), tuple(planned))


def test_verdicts_and_where_a_text_stops():
    planned = _schema(
        [[1, 2, 3], [1, 4]],
        ([1, 2, 3], True, None),
        ([1, 2], False, None),  # a prefix is not a sentence
        ([1, 5, 3], False, None),
        ([7], True, None),
    )
    record = play_schema(FakeEngine(), planned)
    assert [(t.accepted, t.rejected_at, t.failure) for t in record.texts] == [
        (True, None, None),
        (False, 2, None),
        (False, 1, None),
        (False, 0, None),
    ]


def test_the_first_mask_is_counted_once():
    planned = _schema([[1, 2]], ([1, 2], True, None), ([1, 2], True, None))
    record = play_schema(FakeEngine(), planned)
    first, second = record.texts
    assert len(first.cold_ns) == 2
    assert len(second.cold_ns) == 3
    assert len(first.visited_ns) == len(second.visited_ns) == 3
    assert len(first.accept_ns) == len(first.accept_visited_ns) == 2
    assert 0 < record.compile_ns <= record.first_mask_ns


def test_the_first_text_goes_on_with_the_matcher_of_the_first_mask():
    engine = FakeEngine()
    play_schema(engine, _schema([[1]], ([1], True, None)))
    (compiled,) = engine.compiled
    assert compiled.matchers == 2  # one of the first mask and the cold pass, one of the second


def test_a_refusal_has_its_type_and_first_line():
    record = play_schema(FakeEngine(), PlannedSchema("s", "c", "{}", ()))
    assert record.refused == ("TypeError", "a list, please")
    assert record.texts == []


@pytest.mark.parametrize(
    ("broken", "failure"),
    [
        ("in fill", "ValueError: no mask here"),
        ("in accept", "RuntimeError: token 1 at position 0 is in the mask but refused"),
        ("by its own word", "it said so itself"),
    ],
)
def test_what_breaks_is_not_a_verdict(broken, failure):
    record = play_schema(FakeEngine(broken=broken), _schema([[1, 2]], ([1, 2], True, None)))
    (text,) = record.texts
    assert text.failure == failure
    assert text.visited_ns == []


def test_a_valid_text_refused_for_its_order_of_keys_is_a_matter_of_style():
    planned = _schema([[1, 2]], ([2, 1], True, (1, 2)), ([3], True, (4,)), ([2, 1], False, None))
    record = play_schema(FakeEngine(), planned)
    assert [text.style for text in record.texts] == [True, False, False]


def test_an_engine_may_say_that_it_knows_another_style():
    planned = _schema([[1]], ([5], True, None))
    record = play_schema(FakeEngine(other_style=("[5]",)), planned)
    assert record.texts[0].style
    assert not record.texts[0].accepted


def test_the_collector_is_on_again():
    play_schema(FakeEngine(), PlannedSchema("s", "c", "{}", ()))
    assert gc.isenabled()


def test_records_survive_json():
    record = play_schema(FakeEngine(), _schema([[1]], ([1], True, None)))
    assert Record.from_json(json.loads(json.dumps(dataclasses.asdict(record)))) == record


def test_the_timer_costs_something():
    assert 0 < timer_overhead_ns(200) < 1e6
