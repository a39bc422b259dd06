"""Where pydantic's own JSON Schema lets through what validation rejects, and what is left in."""

from __future__ import annotations

import datetime as dt
import json
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, TypeAdapter

from tests.frontends.pydantic.cases import CASES, Colour
from tests.frontends.pydantic.drawing import TypeTexts

# name, values that are in, JSON texts that pydantic rejects
REJECTED: list[tuple[str, list[Any], list[str]]] = [
    ("Owner", [{"pet": {"kind": "cat"}}], ['{"pet": {}}', '{"pet": {"kind": "cow"}}']),
    ("numbers as tags", [{"number": 1}], ["{}", '{"number": 3}']),
    ("aliased tags", [{"Kind": "two"}], ["{}", '{"Kind": "three"}']),
    ("int strict", [1, 0, -7], ["1.0", "1e2", '"1"']),
    ("float above 1", [1.5, 2], ["1.00000000000000001", "1"]),
    ("decimal places", ["1.25", 1.25], ['"1.255"', "1.255", '"1e-3"']),
    ("decimal price", [12.5, "999999.99"], ["0", "1000000", '"0.00"', '"-1"']),
    ("decimal 30 digits", [10**29, "9" * 30], [f"1{30 * '0'}", f'"-1{30 * "0"}"']),
    ("decimal 30 whole digits", [-(10**29)], [f"-1{30 * '0'}"]),
    ("int of other bounds", [2, 8], ["0", "10", "3"]),
    ("bytes of True", ["", "a"], ['"a{0,True}"', '"ab"']),
    ("date bounded by texts", ["2024-12-31"], ['"2024-02-28"', '"2025-01-01"']),
    (
        "datetime ge seconds",
        ["1970-01-01T00:00:05Z"],
        ['"1970-01-01T00:00:04Z"', '"2024-02-29T12:00:00Z"'],
    ),
    ("time bounded by a text", ["09:00:00"], ['"08:59:59"']),
    ("timedelta of other bounds", ["PT5S", "PT7S"], ['"PT4S"', '"PT8S"']),
    ("decimal", ["0.1", 1e5], ['"NaN"', '"inf"', '""', '"."']),
    ("date", ["2024-02-29"], ['"2023-02-29"', '"0000-01-01"', '"2024-1-1"']),
    ("date bounded", ["2024-12-31"], ['"2024-02-28"', '"2025-01-01"']),
    (
        "datetime",
        ["2024-02-29T23:59:59Z", "2024-02-29T00:00:00.123456+23:59"],
        ['"2016-12-31T23:59:60Z"', '"0000-01-01T00:00:00Z"', '"2024-01-01T00:00:00+24:00"'],
    ),
    ("datetime aware", ["2024-02-29T00:00:00-05:30"], ['"2024-02-29T00:00:00"']),
    ("datetime naive", ["2024-02-29T00:00:00"], ['"2024-02-29T00:00:00Z"']),
    (
        "datetime bounded",
        ["2024-02-29T10:00:01Z", "2024-02-29T13:00:00Z"],
        ['"2024-02-29T10:00:00Z"', '"2024-02-29T13:00:01Z"', '"2024-02-29T14:00:00+00:00"'],
    ),
    ("time", ["09:00:00", "09:00:00.5+01:00"], ['"23:59:60Z"', '"24:00:00"']),
    ("time bounded", ["09:00:00", "17:29:59.999999"], ['"08:59:59"', '"17:30:00"']),
    ("timedelta", ["P1DT2H", "PT0.5S", "P3W"], ['"P"', '"PT"', '"PT999999999999H"']),
    ("timedelta positive", ["PT1S"], ['"PT0S"', '"-PT1S"']),
    ("uuid4", ["6fa459ea-ee8a-4ca4-894e-db77e160355e"], ['"6fa459ea-ee8a-1ca4-894e-db77e160355e"']),
    ("HttpUrl", ["https://example.org/a?b=c#d"], ['"ftp://a"', '"http://"', '"http://a:70000"']),
    ("AnyUrl", ["s3://bucket/key", "http://10.0.0.1:80/"], ['"http://1.2.3.4.5"', '"x"']),
    ("IPv4Network", ["10.0.0.0/8", "10.1.2.3"], ['"10.0.0.1/8"', '"10.0.0.0/33"']),
    ("IPv6Address", ["::1", "1:2:3:4:5:6:7:8"], ['"1:2:3:4:5:6::7:8"', '"::g"']),
    ("Base64Str", ["aGk="], ['"aGk"', '"////"']),
    ("bytes base64", ["aGk="], ['"aGl="', '"a"']),
    ("bytes lengths", ["ab"], ['"éé"', '"a"', '"abcd"']),
    ("mixed enum", [1, "x", 2.5, None], []),
    ("str stripped", ["a", "a b"], ['" "', '"\\u3000"']),
    ("half bounded union", [1, 9, 0.5, 9.25], ["0", "0.4", "9.5", "10"]),
    ("union with decimals", [1, -1, 1.5], ["2", "-1.5", "-2"]),
    ("Base64Str of config", ["aGk="], ['""', '"aGlhaGlhaGlh"']),
    ("Base64Bytes lengths", ["aGk="], ['"aGk"', '"aGlhaGlhaGlh"']),
    ("pattern of a union", ["aa"], ["1", '"1"']),
    ("complex", ["2j", "1+2j", "0j"], ['"1+2"', '"1-j2"']),
    ("set of hashables", [[1, "a", None]], ["[[]]"]),
    ("set of tuples of any", [[[1, "a"]]], ["[[[1]]]"]),
    ("set of JSON values", [[1, "a", None]], ["[{}]", "[[]]"]),
    ("set of what a user makes", [[[1, 2]]], ['[["a"]]']),
    ("set of frozen models of any", [[{"a": 1}]], ['[{"a": []}]']),
    ("str not lower", ["", "aB", "1"], ['"a"', '"a1"']),
    ("str not of digits", ["", "1a"], ['"1"', '"123"', '"abcd"']),
    ("str not of ascii", ["é"], ['"a"', '""']),
    ("bytes size bounded", [4, 1024], ["3", "1025", "-1"]),
    ("set of two numbers", [[1, 2]], ["[1]", "[1, 1]"]),
    ("set of two bools", [[True, False]], ["[true]", "[true, true]"]),
    ("set of two or none", [[1, None], [0, 1]], ["[1, 1]", "[null]"]),
    ("set of two tuples", [[["red", True], ["red", False]]], ['[["red", true]]']),
    ("dict of two numbers", [{"1": 0, "2": 0}], ['{"1": 0}', '{"1": 0, "3": 0}']),
    ("set of two", [[1, 2]], ["[1, 1]", "[1]"]),
    ("set of lists", [[]], ["[[1]]"]),
    ("set of models", [[]], ['[{"a": 1}]']),
    ("dict of ints", [{"1": True, "-5": False}], ['{"x": true}', '{"1e0": true}']),
    ("dict of literals", [{"a": 1}], ['{"c": 1}']),
    ("dict of mixed literals", [{"a": 1}], ['{"1": 1}']),
    ("dict of an int enum", [{"1": 1}], ['{"3": 1}']),
    ("dict of tuples", [{}], ['{"a": 1}']),
    ("Aliased", [{"X": 1, "list": [1, 2]}], ['{"X": 1, "list": [1]}', '{"x": 1, "list": [1, 2]}']),
    ("Aliased", [{"X": 1, "list": [1, 2], "why": 3}], ['{"X": 1, "list": [1, 2], "why": "a"}']),
    ("AliasedForbidding", [], ['{"X": 1, "list": [1, 2], "deep": {}}']),
    (
        "AliasedOpen",
        [{"X": 1, "z": 1, "w": 2, "q": 3}],
        ['{"X": 1, "z": 1, "w": 2, "more": {"y": "a"}}'],
    ),
    ("ByName", [{"X": 1, "q": None}], ['{"X": 1, "y": "a"}']),
    ("Allowing", [{"a": 1, "e": 2, "q": [3]}], ['{"a": 1, "e": 2, "c": "x"}']),
    ("AllowingInts", [{"b": 1, "q": 2}], ['{"b": 1, "q": "a"}']),
    ("Forbidding", [{"a": 1, "e": 2}], ['{"a": 1, "e": 2, "q": 3}']),
    ("Swapped", [{"b": 1, "a": "x"}], ['{"b": "x", "a": "x"}', '{"b": 1}']),
    ("SharedAlias", [{"k": 1}], ['{"k": "a"}']),
    ("ValidatedDefaults", [{"a": 1, "c": 2}], ["{}", '{"a": 1}']),
    ("Extra", [{"a": 9, "b": "u", "c": 3}], ['{"a": 1, "c": 2}']),
    ("Checked", [{"a": "xy", "B": 0, "c": 1}], ['{"a": "xyz"}', '{"a": "x", "B": -1}']),
    ("Standard", [{"a": 1}], ["{}"]),
    ("Partial", [{"title": "x"}], ['{"year": 1}']),
    ("Point", [[1], [1, 2], [1, 2, "x"]], ["[]", "[1, 2, 3]"]),
    ("ListRoot", [[{"a": 1}]], ["[{}, {}, {}]"]),
    (
        "Configured",
        [{"a": "x", "b": ["abc"], "c": 1.5, "d": {"a": 1}}],
        ['{"a": "", "b": [], "c": 1, "d": {}}'],
    ),
]


@pytest.mark.parametrize(("name", "inside", "outside"), REJECTED)
def test_rejects_what_pydantic_rejects(name: str, inside: list[Any], outside: list[str]) -> None:
    texts = TypeTexts(CASES[name], style="any")
    for value in inside:
        text = json.dumps(value)
        assert texts.validates(text), text
        assert texts.accepts(text), text
    for text in outside:
        assert not texts.validates(text), text
        assert not texts.accepts(text), text


def test_a_default_whose_validation_raises_must_be_written() -> None:
    def refuse(value: int) -> int:
        raise KeyError(value)

    class Model(BaseModel, validate_default=True):
        a: Annotated[int, AfterValidator(refuse)] = 0

    assert not TypeTexts(Model).accepts("{}")
    assert TypeTexts(Model).accepts('{"a": 0}')


# name, JSON texts that pydantic accepts and the grammar leaves out, as its documentation says
LEFT_OUT = [
    ("date", ["1577836800", '"2024-02-29T00:00:00"']),
    ("datetime", ["1577836800", '"2024-02-29 00:00:00Z"', '"2024-02-29"', '"2024-02-29T00:00:00"']),
    ("timedelta", ["1.5", '"-P1D"']),
    ("int", ["1.0", "1e2", '"1"', "true"]),
    ("bool", ["1", '"yes"']),
    ("Plain", ['{"a": 1, "e": 2, "ignored": 3}']),
    ("uuid", ['"6fa459eaee8a4ca4894edb77e160355e"']),
    ("decimal bounded", ['"0.2"']),
    ("pattern \\d+", ['"٣"']),
]


@pytest.mark.parametrize(("name", "outside"), LEFT_OUT)
def test_leaves_out_other_spellings(name: str, outside: list[str]) -> None:
    texts = TypeTexts(CASES[name], style="any")
    for text in outside:
        assert texts.validates(text), text
        assert not texts.accepts(text), text


def test_bounds_of_dates_hold_at_both_ends() -> None:
    for name, first in (("past date", -1), ("future date", 2)):
        texts = TypeTexts(CASES[name])
        today = dt.date.today()
        for days in range(-3, 4):
            day = today + dt.timedelta(days)
            inside = days <= first if first < 0 else days >= first
            assert texts.accepts(json.dumps(day.isoformat())) == inside


def test_what_was_written_can_be_read() -> None:
    class Model(BaseModel):
        when: dt.datetime
        lasts: dt.timedelta
        colour: Colour
        data: bytes
        some: dict[int, tuple[int, float]]

    texts = TypeTexts(Model, style="any")
    model = Model(
        when=dt.datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=dt.UTC),
        lasts=dt.timedelta(days=2, hours=3, microseconds=5),
        colour=Colour.RED,
        data=b"abc",
        some={1: (2, 2.5)},
    )
    assert texts.accepts(model.model_dump_json())


@pytest.mark.parametrize("name", ["Plain", "Owner", "Node", "generic", "Standard", "Movie", "enum"])
def test_a_text_satisfies_the_published_schema_too(name: str) -> None:
    from jsonschema import Draft202012Validator

    kind = CASES[name]
    validator = Draft202012Validator(TypeAdapter(kind).json_schema(mode="validation"))
    for text in TypeTexts(kind).drawn(name, 12):
        assert validator.is_valid(json.loads(text)), text
