import gzip
import json

import pytest

from benchmarks.declared_order import in_declared_order
from benchmarks.registry import MASKBENCH, DataMissingError, allocate, sample

needs_maskbench = pytest.mark.skipif(
    not MASKBENCH.is_dir(), reason=f"the MaskBench schemas are absent: expected {MASKBENCH}"
)


def _entry(name, schema, tests):
    return {"id": name, "schema": schema, "tests": tests}


@pytest.fixture
def data(tmp_path):
    """Two collections, of 8 and 2 schemas, and one schema without tests in the first."""
    for collection, size in (("big", 8), ("small", 2)):
        entries = [
            _entry(
                f"{collection}-{i}.json", {"const": [collection, i]}, [{"valid": True, "data": [i]}]
            )
            for i in range(size)
        ]
        if collection == "big":
            entries.append(_entry("untested.json", {}, []))
        with gzip.open(tmp_path / f"{collection}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(entry) + "\n" for entry in entries)
    return tmp_path


@pytest.mark.parametrize(
    ("sizes", "total", "expected"),
    [
        ({"a": 10, "b": 10}, 4, {"a": 2, "b": 2}),
        ({"a": 90, "b": 9, "c": 1}, 10, {"a": 8, "b": 1, "c": 1}),
        ({"a": 3, "b": 2, "c": 1}, 2, {"a": 1, "b": 1, "c": 0}),
        ({"a": 2, "b": 1}, 50, {"a": 2, "b": 1}),
        ({"a": 2, "empty": 0}, 2, {"a": 2, "empty": 0}),
        ({}, 5, {}),
    ],
)
def test_shares_are_proportional_and_no_stratum_is_left_out(sizes, total, expected):
    assert allocate(sizes, total) == expected


def test_a_sample_depends_on_size_and_seed_alone(data):
    chosen = sample(5, 7, data=data)
    assert chosen == sample(5, 7, data=data)
    assert [w.id for w in chosen] != [w.id for w in sample(5, 8, data=data)]
    assert sorted(w.collection for w in chosen) == ["big", "big", "big", "big", "small"]


def test_schemas_without_tests_are_never_chosen(data):
    chosen = sample(100, data=data)
    assert len(chosen) == 10
    assert "untested.json" not in [w.id for w in chosen]


def test_only_chooses_by_id(data):
    (workload,) = sample(1, data=data, only=["small-1.json"])
    assert workload.id == "small-1.json"
    assert workload.schema == '{"const": ["small", 1]}'
    assert [(t.index, t.text, t.valid, t.declared) for t in workload.texts] == [
        (0, "[1]", True, None)
    ]


def test_an_unknown_id_is_named(data):
    with pytest.raises(DataMissingError, match=r"nowhere\.json"):
        sample(1, data=data, only=["nowhere.json"])


def test_a_schema_is_played_once_however_many_files_hold_it(data):
    with gzip.open(data / "twin.jsonl.gz", "wt", encoding="utf-8") as file:
        entry = _entry("twin.json", {"const": ["small", 1]}, [{"valid": True, "data": [1]}])
        file.write(json.dumps(entry) + "\n")
    assert len(sample(100, data=data)) == 10


def test_absent_data_is_said(tmp_path):
    with pytest.raises(DataMissingError, match="nothing-here"):
        sample(3, data=tmp_path / "nothing-here")


@needs_maskbench
def test_the_real_sample_covers_every_collection_and_repeats_itself():
    chosen = sample(40, 1)
    assert chosen == sample(40, 1)
    assert len({w.collection for w in chosen}) == len(list(MASKBENCH.glob("*.jsonl.gz")))
    for workload in chosen:
        assert workload.texts
        for text in workload.texts:
            assert json.loads(text.text) == json.loads(text.declared or text.text)


SCHEMA = {
    "$defs": {"node": {"properties": {"id": {}, "child": {"$ref": "#/$defs/node"}}}},
    "properties": {
        "first": {"type": "string"},
        "list": {"type": "array", "items": [{"properties": {"x": {}, "y": {}}}]},
        "tree": {"allOf": [{"$ref": "#/$defs/node"}]},
        "part": {
            "anyOf": [
                {"properties": {"data": {}, "kind": {"const": "image"}}},
                {"properties": {"kind": {"enum": ["text"]}, "text": {}, "lang": {}}},
                {"properties": {"url": {}}},
            ]
        },
    },
    "additionalProperties": {"properties": {"p": {}, "q": {}}},
}


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        ('{"z": 1, "list": [], "first": ""}', '{"first": "", "list": [], "z": 1}'),
        ('{"list": [{"y": 1, "x": 2}]}', '{"list": [{"x": 2, "y": 1}]}'),
        (
            '{"tree": {"child": {"child": 0, "id": 1}, "id": 2}}',
            '{"tree": {"id": 2, "child": {"id": 1, "child": 0}}}',
        ),
        ('{"other": {"q": 1, "p": 2}}', '{"other": {"p": 2, "q": 1}}'),
        ('{"part": {"lang": 1, "kind": "text"}}', '{"part": {"kind": "text", "lang": 1}}'),
        ('{"part": {"kind": "image", "data": 1}}', '{"part": {"data": 1, "kind": "image"}}'),
        ('[{"b": 1, "a": 2}]', '[{"b": 1, "a": 2}]'),
        ("null", "null"),
    ],
)
def test_keys_follow_the_schema(instance, expected):
    assert json.dumps(in_declared_order(json.loads(instance), SCHEMA)) == expected


@pytest.mark.parametrize(
    "schema", [True, {"$ref": "#"}, {"$ref": "#/nowhere/0"}, {"$ref": "other"}]
)
def test_odd_schemas_leave_the_order_alone(schema):
    assert json.dumps(in_declared_order({"b": 1, "a": [2]}, schema)) == '{"b": 1, "a": [2]}'
