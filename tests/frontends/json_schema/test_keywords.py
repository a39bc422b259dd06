"""Every keyword by itself: texts that fit, near misses, and values of other kinds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.frontends.json_schema.texts import Texts

CASES: list[tuple[Any, list[str], list[str]]] = [
    # schema, accepted, rejected
    (True, ["1", "{}", '"a"', " [ ] ", '{"a": [null]}'], ["", "1 2", "{,}", "nul", "[1,]", "01"]),
    ({}, ["null", "true"], ["True", "'a'", "NaN", "Infinity", "1."]),
    ({"type": "null"}, ["null"], ["0", '"null"']),
    ({"type": "boolean"}, ["true", "false"], ["0", '"true"', "null"]),
    (
        {"type": "integer"},
        ["0", "-0", "1.0", "12e3", "1E2", "-7"],
        ["1.5", "1e-1", '"1"', "1.", "+1"],
    ),
    ({"type": "number"}, ["1.50e1", "0.1", "1e400", "-0.0"], [".5", "5.", "01", "1e", "--1"]),
    ({"type": "string"}, ['""', '"é"', r'"\u00e9"', '"\x7f"'], ['"a', r'"\x"', '"\x01"', "'a'"]),
    ({"type": "array"}, ["[]", "[1,[2]]"], ["{}", "[1 2]"]),
    ({"type": "object"}, ["{}", '{"a":1,"b":{}}'], ["[]", '{"a"}', "{a:1}"]),
    ({"type": ["string", "null"]}, ['"x"', "null"], ["1", "[]"]),
    (
        {"enum": [1, "a", None, [1, {"b": 2}]]},
        ["1", "1.0", '"a"', "null", '[1,{"b":2.0}]'],
        ["2", "[1]"],
    ),
    ({"enum": [{"a": 1, "b": 2}]}, ['{"b":2,"a":1}'], ['{"a":1}', '{"a":1,"b":2,"c":3}']),
    ({"const": 0}, ["0", "-0", "0.00", "0e5"], ["false", "1", '""']),
    ({"const": False}, ["false"], ["0", "null"]),
    ({"const": None}, ["null"], ["0", '""']),
    ({"const": []}, ["[]", "[ ]"], ["[0]", "{}"]),
    ({"const": "a\nb"}, [r'"a\nb"', r'"\u0061\u000ab"'], ['"a\nb"', '"ab"']),
    ({"minimum": 26}, ["26", "30", "100", "2.6e1", '"x"', "null"], ["25.99", "25", "-26", "2.6e0"]),
    ({"maximum": -1.5}, ["-1.5", "-1.50", "-2", "-1e10"], ["-1.4999", "0", "1"]),
    ({"exclusiveMinimum": 0}, ["0.1", "0.0001", "1e-300", "5.5"], ["0", "-0.1", "-0"]),
    ({"exclusiveMaximum": 10}, ["9.999", "-3"], ["10", "1e1", "10.0"]),
    ({"minimum": 9007199254740993}, ["9007199254740993"], ["9007199254740992"]),
    ({"multipleOf": 0.01}, ["0.07", "1.25", "3", "-2.5", "1e-2"], ["1.255", "0.001", "1e-3"]),
    ({"multipleOf": 3}, ["0", "3", "-9", "3.0", "111"], ["1", "3.5", "112"]),
    ({"type": "integer", "minimum": 0, "maximum": 300}, ["0", "300", "3e2"], ["301", "-1", "3.5"]),
    ({"minLength": 2}, ['"ab"', '"日本"', r'"\n\n"', "1"], ['"a"', '"😀"', r'"\ud83d\ude00"']),
    ({"maxLength": 1}, ['""', '"😀"', r'"\ud83d\ude00"', "[]"], ['"ab"', r'"\\\\"']),
    ({"pattern": "^red$|^blue$"}, ['"red"', '"blue"', "1"], ['"redblue"', '"xred"']),
    ({"pattern": "b+"}, ['"abc"', '"b"'], ['"ac"', '""']),
    ({"pattern": "^[0-9a-f]+$", "maxLength": 4}, ['"beef"'], ['"beef0"', '""', '"xy"']),
    ({"items": {"type": "integer"}}, ["[]", "[1,2]", "{}"], ['["a"]', "[1,null]"]),
    ({"prefixItems": [{"type": "null"}, True]}, ["[]", "[null]", "[null,1,2]"], ["[1]"]),
    ({"prefixItems": [True], "items": False}, ["[]", "[1]"], ["[1,2]"]),
    ({"minItems": 2, "maxItems": 3}, ["[1,2]", "[1,2,3]", '"a"'], ["[1]", "[1,2,3,4]"]),
    (
        {"properties": {"a": {"type": "integer"}}},
        ['{"a":1}', "{}", '{"b":"x"}', "[]"],
        ['{"a":"x"}'],
    ),
    ({"properties": {"a": False}}, ['{"b":1}'], ['{"a":1}', r'{"\u0061":1}']),
    ({"required": ["z"]}, ['{"z":1}', '{"b":0,"z":{}}', "[]"], ["{}", '{"b":1}']),
    (
        {"properties": {"a": True}, "additionalProperties": {"type": "null"}},
        ['{"a":1,"b":null}', "{}"],
        ['{"b":1}'],
    ),
    (
        {"properties": {"a": {}}, "additionalProperties": False},
        ['{"a":1}', r'{"\u0061":1}'],
        ['{"b":1}', '{"a":1,"a":2}', r'{"a":1,"\u0061":2}', '{"A":1}'],
    ),
    (
        {"patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 10}}},
        ['{"ab":12}', '{"ax":3}', '{"xb":10.5}', '{"c":"x"}', '{"ab":10}'],
        ['{"ab":5}', '{"ab":12.5}', '{"ax":"x"}', '{"xb":9}'],
    ),
    (
        {"properties": {"a1": {"maximum": 5}}, "patternProperties": {"^a": {"type": "integer"}}},
        ['{"a1":5}', '{"a2":6}'],
        ['{"a1":6}', '{"a1":1.5}', '{"a2":"x"}'],
    ),
    ({"anyOf": [{"type": "null"}, {"minimum": 3}]}, ["null", "3", '"x"'], ["2"]),
    (
        {"anyOf": [{"type": "integer"}, {"type": "string"}], "minimum": 2},
        ["2", '"a"'],
        ["1", "2.5"],
    ),
    ({"allOf": [{"minimum": 2}, {"maximum": 3}]}, ["2", "3", "2.5"], ["1", "4"]),
    ({"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]}, ["2", "3", "9"], ["6", "0", "1", "null"]),
    ({"not": {"type": "string"}}, ["1", "{}"], ['""']),
    ({"not": {"required": ["a"]}}, ['{"b":1}'], ['{"a":1}', "1"]),
    (
        {"if": {"minimum": 5}, "then": {"multipleOf": 5}, "else": {"multipleOf": 2}},
        ["5", "4"],
        ["6", "3"],
    ),
    ({"propertyNames": {"maxLength": 1}}, ['{"a":1}', "{}", "3"], ['{"ab":1}']),
    ({"maxProperties": 1}, ["{}", '{"a":1}'], ['{"a":1,"b":2}']),
    ({"minProperties": 1}, ['{"a":1}', "[]"], ["{}"]),
    (
        {"dependentRequired": {"a": ["b"]}},
        ['{"b":1}', '{"a":1,"b":2}', '{"b":2,"a":1}'],
        ['{"a":1}'],
    ),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, ['{"a":1,"b":2}', "{}"], ['{"a":1}']),
    ({"contains": {"type": "null"}}, ["[null]", "[1,null,2]", "1"], ["[]", "[1]"]),
    (
        {"contains": {"type": "null"}, "minContains": 2, "maxContains": 3},
        ["[null,null]", "[null,1,null,null]"],
        ["[null]", "[null,null,null,null]"],
    ),
    (
        {"uniqueItems": True, "items": {"enum": ["a", "b", 1]}},
        ['["a","b"]', "[]", '[1,"a"]'],
        ['["a","a"]', "[1,1.0]", r'["a","\u0061"]'],
    ),
]


@pytest.mark.parametrize(
    ("schema", "accepted", "rejected"), CASES, ids=[str(c[0])[:60] for c in CASES]
)
def test_keyword(schema: Any, accepted: list[str], rejected: list[str]) -> None:
    texts = Texts(schema, style="any")
    assert [t for t in accepted if not texts.accepts(t)] == []
    assert [t for t in rejected if texts.accepts(t)] == []


@pytest.mark.parametrize(
    ("schema", "accepted", "rejected"), CASES, ids=[str(c[0])[:60] for c in CASES]
)
def test_canonical_is_a_part_of_any(schema: Any, accepted: list[str], rejected: list[str]) -> None:
    canonical, anything = Texts(schema), Texts(schema, style="any")
    shortest = canonical.shortest_end(canonical.start)
    assert shortest is not None
    assert anything.accepts(shortest)
    assert [
        t for t in accepted + rejected if canonical.accepts(t) and not anything.accepts(t)
    ] == []


class TestDrafts:
    def test_draft_4_bounds_are_flags(self) -> None:
        texts = Texts({"minimum": 1, "exclusiveMinimum": True}, dialect="draft4", style="any")
        assert [texts.accepts(t) for t in ("1", "1.1", "2")] == [False, True, True]

    def test_draft_4_integers_are_written_without_point(self) -> None:
        schema = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}
        texts = Texts(schema, style="any")
        assert [texts.accepts(t) for t in ("1", "-0", "1.0", "1e2")] == [True, True, False, False]
        other = Texts({"not": {"type": "integer"}, "type": "number"}, dialect="draft4", style="any")
        assert [other.accepts(t) for t in ("1", "1.0", "1.5", "1e2")] == [False, True, True, True]

    def test_array_items_before_2020(self) -> None:
        schema = {"items": [{"type": "null"}], "additionalItems": False}
        for dialect in ("draft4", "draft6", "draft7", "draft2019-09"):
            texts = Texts(schema, dialect=dialect, style="any")
            assert [texts.accepts(t) for t in ("[]", "[null]", "[1]", "[null,1]")] == [
                True,
                True,
                False,
                False,
            ]

    def test_ref_overrides_its_siblings_up_to_draft_7(self) -> None:
        schema = {"definitions": {"a": {"minimum": 1}}, "$ref": "#/definitions/a", "maximum": 3}
        old = Texts(schema, dialect="draft7", style="any")
        new = Texts(schema, dialect="draft2019-09", style="any")
        assert [old.accepts(t) for t in ("0", "2", "5")] == [False, True, True]
        assert [new.accepts(t) for t in ("0", "2", "5")] == [False, True, False]

    def test_keywords_of_later_drafts_say_nothing(self) -> None:
        texts = Texts({"const": 1, "if": False, "then": False}, dialect="draft4", style="any")
        assert texts.accepts("2")
