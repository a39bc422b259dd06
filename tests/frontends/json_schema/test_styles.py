"""Styles: what may be written, never what is valid."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from constrain.frontends.json_schema import JSONStyle
from tests.frontends.json_schema.texts import Texts, strict_loads

POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "number"}, "tag": {"type": "string"}},
    "required": ["x"],
    "additionalProperties": False,
}


def accepted(texts: Texts, *candidates: str) -> list[bool]:
    return [texts.accepts(t) for t in candidates]


class TestCanonical:
    texts = Texts(POINT)

    def test_declared_order(self) -> None:
        assert accepted(
            self.texts, '{"x":1,"y":2}', '{"x":1,"tag":"a"}', '{"y":2,"x":1}', '{"tag":"a","x":1}'
        ) == [True, True, False, False]

    def test_whitespace_is_bounded(self) -> None:
        assert accepted(
            self.texts,
            '{"x": 1, "y": 2}',
            '{\n  "x": 1,\n  "y": 2\n}',
            '{"x":1}\n',
            ' {"x":1}',
            '{"x":  1}',
            '{"x" :1}',
            '{\n\n"x":1}',
            "{" + "\n" + " " * 20 + '"x":1}',
            "{" + "\n" + " " * 21 + '"x":1}',
        ) == [True, True, False, False, False, False, False, True, False]

    def test_numbers_are_plain(self) -> None:
        numbers = ("-7", "-0", "1.0", "1e2", "01", "9" * 20, "9" * 21)
        assert accepted(Texts({"type": "integer"}), *numbers) == [True, *[False] * 4, True, False]
        decimals = ("1.50", "-0.5", "0", "0.0", "-0.0", "1e-2", "0." + "1" * 17, "0." + "1" * 18)
        assert accepted(Texts({"type": "number"}), *decimals) == [
            True,
            True,
            True,
            True,
            False,
            False,
            True,
            False,
        ]

    def test_escapes_are_minimal(self) -> None:
        strings = (r'"a\nb"', '"é/"', r'"\u001f"', r'"\u0061"', r'"\/"', r'"\u00e9"', '"\x7f"')
        assert accepted(Texts({"type": "string"}), *strings) == [
            True,
            True,
            True,
            False,
            False,
            False,
            True,
        ]

    def test_undeclared_properties_come_last(self) -> None:
        texts = Texts({"properties": {"a": {}, "b": {}}, "required": ["b", "z"]})
        assert accepted(
            texts,
            '{"b":1,"z":2}',
            '{"a":0,"b":1,"z":2,"q":3}',
            '{"z":2,"b":1}',
            '{"q":3,"b":1,"z":2}',
        ) == [True, True, False, False]


class TestBoundsWiden:
    """A style never makes a satisfiable schema unsatisfiable."""

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "integer", "minimum": 10**30},
            {"type": "integer", "minimum": 10**30, "multipleOf": 7},
            {"type": "number", "exclusiveMinimum": 1e-30, "exclusiveMaximum": 1.1e-30},
            {"type": "number", "multipleOf": 1e-25, "exclusiveMinimum": 0, "maximum": 1e-24},
            {"const": 1.25e-40},
            {"const": 3e50},
            {"type": "integer", "not": {"multipleOf": 2}, "minimum": 10**22},
            {"type": "number", "not": {"multipleOf": 0.001}, "minimum": 0, "maximum": 0.001},
        ],
    )
    def test_a_text_is_left(self, schema: Any) -> None:
        tight = JSONStyle(integer_digits=1, fraction_digits=1, whitespace="none")
        texts, anything = Texts(schema, style=tight), Texts(schema, style="any")
        rng = random.Random(0)
        for steps in (0, 1, 3, 9):
            text = texts.draw(rng, steps)
            assert text is not None
            assert anything.accepts(text)


class TestKnobs:
    def test_compact(self) -> None:
        texts = Texts(POINT, style=JSONStyle(whitespace="none"))
        assert accepted(texts, '{"x":1,"y":2}', '{"x": 1,"y":2}', '{"x":1, "y":2}') == [
            True,
            False,
            False,
        ]

    def test_what_json_dumps_writes(self) -> None:
        texts = Texts({}, style=JSONStyle(whitespace="one_space"))
        value = {"a": [1, {"b": []}, "x"], "c": {}}
        assert texts.accepts(json.dumps(value))
        assert not texts.accepts(json.dumps(value, separators=(",", ":")))
        assert not texts.accepts(json.dumps(value, indent=1))

    def test_unbounded_whitespace(self) -> None:
        texts = Texts(POINT, style=JSONStyle(whitespace="unbounded"))
        assert texts.accepts(' \t\r\n{ "x"\n:\t1 , "y" :2}\n\n  ')

    def test_indent(self) -> None:
        texts = Texts({}, style=JSONStyle(max_indent=2))
        assert texts.accepts("[\n  1\n]")
        assert not texts.accepts("[\n   1\n]")

    def test_any_order(self) -> None:
        texts = Texts(POINT, style=JSONStyle(property_order="any"))
        assert accepted(
            texts,
            '{"y":2,"x":1}',
            '{"tag":"","y":0,"x":1}',
            '{"y":2}',
            '{"x":1,"x":1}',
            '{"x":1,"y":1,"x":2}',
        ) == [True, True, False, False, False]

    def test_any_order_of_many_properties(self) -> None:
        names = [f"p{i}" for i in range(40)]
        schema = {
            "properties": {n: {"type": "null"} for n in names},
            "required": names,
            "type": "object",
        }
        texts = Texts(schema, style=JSONStyle(property_order="any", whitespace="none"))
        random.Random(1).shuffle(names)
        members = [f'"{n}":null' for n in names]
        assert texts.accepts("{" + ",".join(members) + "}")
        assert not texts.accepts("{" + ",".join(members[1:]) + "}")
        assert not texts.accepts("{" + ",".join([*members, members[3]]) + "}")

    def test_ascii(self) -> None:
        texts = Texts({"maxLength": 1}, style=JSONStyle(ensure_ascii=True))
        assert accepted(
            texts, r'"\u00e9"', r'"\ud83d\ude00"', '"é"', '"😀"', r'"\ud83d"', r'"\u0061"', '"a"'
        ) == [True, True, False, False, False, False, True]

    def test_lone_surrogates_never(self) -> None:
        texts = Texts({"type": "string"}, style="any")
        assert accepted(
            texts,
            r'"\ud800"',
            r'"\ude00\ud83d"',
            r'"\ud83d\u0061"',
            r'"\uD83D\uDE00"',
            '"\U0001f600"',
        ) == [False, False, False, True, True]

    @pytest.mark.parametrize(
        "wrong",
        [
            {"whitespace": "some"},
            {"escapes": 1},
            {"integer_digits": 0},
            {"max_indent": -1},
            {"numbers": ""},
        ],
    )
    def test_wrong_values(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            JSONStyle(**wrong)

    def test_unknown_preset(self) -> None:
        with pytest.raises(ValueError, match="pretty"):
            Texts({}, style="pretty")


@pytest.mark.parametrize("style", ["canonical", "any"])
def test_random_texts_are_json_and_satisfy_the_schema(style: str) -> None:
    texts = Texts(POINT, style=style)
    rng = random.Random(7)
    drawn = [text for n in range(40) if (text := texts.draw(rng, n)) is not None]
    assert len(drawn) > 20
    for text in drawn:
        value = strict_loads(text)
        assert isinstance(value["x"], (int, float))
        assert set(value) <= {"x", "y", "tag"}
