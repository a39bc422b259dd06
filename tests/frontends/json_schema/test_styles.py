"""Styles: what may be written, never what is valid."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter
from typing import Any, ClassVar

import pytest

from constrain import Grammar
from constrain.errors import GrammarError, LimitExceededError
from constrain.frontends.json_schema import JSONStyle
from constrain.frontends.json_schema.style import CANONICAL, PRESETS
from constrain.limits import Limits
from tests.conftest import SHARED, requires_shared
from tests.frontends.json_schema.texts import FAVOURITES, Texts, strict_loads

POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "number"}, "tag": {"type": "string"}},
    "required": ["x"],
    "additionalProperties": False,
}
TREE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["v"],
    "additionalProperties": False,
}


def nested_list(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


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
        tight = JSONStyle(integer_digits=1, fraction_digits=1, whitespace="compact")
        texts, anything = Texts(schema, style=tight), Texts(schema, style="any")
        rng = random.Random(0)
        for steps in (0, 1, 3, 9):
            text = texts.draw(rng, steps)
            assert text is not None
            assert anything.accepts(text)


class TestKnobs:
    def test_compact(self) -> None:
        texts = Texts(POINT, style=JSONStyle(whitespace="compact"))
        assert accepted(texts, '{"x":1,"y":2}', '{"x": 1,"y":2}', '{"x":1, "y":2}') == [
            True,
            False,
            False,
        ]

    def test_what_json_dumps_writes(self) -> None:
        texts = Texts({}, style=JSONStyle(whitespace="spaced"))
        value = {"a": [1, {"b": []}, "x"], "c": {}}
        assert texts.accepts(json.dumps(value))
        assert not texts.accepts(json.dumps(value, separators=(",", ":")))
        assert not texts.accepts(json.dumps(value, indent=1))

    @pytest.mark.parametrize("indent", [0, 1, 2, 4])
    def test_pretty_is_what_json_dumps_writes(self, indent: int) -> None:
        texts = Texts({}, style=JSONStyle(whitespace="pretty", indent=indent))
        value = {"a": [1, {"b": [], "c": {}}, "x", [[[1, 2], [3]]]], "d": {"e": None}}
        text = json.dumps(value, indent=indent)
        assert texts.accepts(text)
        assert not texts.accepts(json.dumps(value))
        assert not texts.accepts(text.replace("\n", "\n ", 1))
        last = text.rindex("\n")
        assert not texts.accepts(text[:last] + "\n " + text[last + 1 :])
        assert not texts.accepts(text + "\n")

    def test_pretty_at_any_depth(self) -> None:
        texts = Texts(TREE, style="pretty")
        value: Any = {"v": 0}
        for i in range(100):
            value = {"v": i, "kids": [value, {"v": 1, "kids": []}]}
        text = json.dumps(value, indent=2)
        assert texts.accepts(text)
        at = text.index(" " * 100 + '"v"')
        assert not texts.accepts(text[:at] + text[at + 1 :])
        least = texts.shortest_end(texts.start) or b""
        assert re.fullmatch(rb'\{\n  "v": \d\n\}', least)

    def test_pretty_ends_at_a_limit(self) -> None:
        texts = Texts({}, style="pretty", limits=Limits(max_nesting=20))
        deep = [nested_list(19), nested_list(20)]
        assert texts.accepts(json.dumps(deep[0], indent=2))
        with pytest.raises(LimitExceededError, match=r"'pretty'.*max_nesting >= 21, and 20"):
            texts.accepts(json.dumps([deep[1]], indent=2))

    def test_pretty_recursion_is_no_regular_language(self) -> None:
        grammar = Grammar.from_json_schema(TREE, style="pretty")
        with pytest.raises(LimitExceededError, match="max_nesting"):
            grammar & Grammar.from_regex("a")

    def test_flexible_whitespace(self) -> None:
        texts = Texts(POINT, style="flexible")
        assert texts.accepts('{\r\n\t"x" :\n\n1 ,"y": 2 }')
        assert accepted(texts, ' {"x":1}', '{"x":1}\n') == [False, False]
        texts = Texts(POINT, style=JSONStyle(whitespace="flexible", max_whitespace=2))
        assert accepted(texts, '{  "x":1}', '{   "x":1}', '{"x"  :  1}') == [True, False, True]

    def test_whitespace_by_a_regular_expression(self) -> None:
        texts = Texts({}, style=JSONStyle(whitespace="\n? ?"))
        assert accepted(texts, '{ "a"\n: [\n ] }', '{"a":[1,2]}', "[1,  2]", " 1") == [
            True,
            True,
            False,
            False,
        ]
        texts = Texts({}, style=JSONStyle(whitespace=" "))
        assert accepted(texts, '{ "a" : [ ] }', '{"a":[]}') == [True, False]

    @pytest.mark.parametrize(
        ("pattern", "words"),
        [
            (r"\s*", "more than whitespace"),
            ("[ x]", "more than whitespace"),
            ("pretti", "'pretty', 'flexible'"),
            (r"(?!\n)\n", "matches nothing"),
            ("( ", "line 1, column 1"),
            (r"( )\1", "back-reference"),
        ],
    )
    def test_a_regular_expression_is_for_whitespace_only(self, pattern: str, words: str) -> None:
        with pytest.raises(GrammarError, match=r"JSONStyle\.whitespace") as caught:
            JSONStyle(whitespace=pattern)
        assert words in str(caught.value)

    def test_unbounded_whitespace(self) -> None:
        texts = Texts(POINT, style=JSONStyle(whitespace="any"))
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
        texts = Texts(schema, style=JSONStyle(property_order="any", whitespace="compact"))
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
            {"whitespace": None},
            {"indent": -1},
            {"max_whitespace": 1.5},
            {"ensure_ascii": "yes"},
            {"property_order": "free"},
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
        with pytest.raises(GrammarError, match=r"'canonical', 'compact', .*not 'tidiest'"):
            Texts({}, style="tidiest")
        with pytest.raises(GrammarError, match="not 3"):
            Texts({}, style=3)


class TestPropertyOrder:
    SCHEMA: ClassVar[dict[str, Any]] = {
        "properties": {"a": {}, "b": {}},
        "additionalProperties": False,
        "required": ["a"],
    }
    SWAPPED = '{"b":1,"a":2}'

    @pytest.mark.parametrize("style", ["canonical", "compact", JSONStyle()])
    def test_any_frees_the_order_in_every_style(self, style: Any) -> None:
        assert not Texts(self.SCHEMA, style=style).accepts(self.SWAPPED)
        texts = Texts(self.SCHEMA, style=style, property_order="any")
        assert accepted(texts, self.SWAPPED, '{"a":1}', '{"b":1}', '{"a":1,"b":2,"a":1}') == [
            True,
            True,
            False,
            False,
        ]

    def test_declared_leaves_it_to_the_style(self) -> None:
        for style in ("any", JSONStyle(property_order="any")):
            assert Texts(self.SCHEMA, style=style, property_order="declared").accepts(self.SWAPPED)
        declared = JSONStyle(whitespace="any", escapes="any", numbers="any")
        assert not Texts(self.SCHEMA, style=declared).accepts(self.SWAPPED)

    def test_forty_properties_all_required(self) -> None:
        names = [f"p{i}" for i in range(40)]
        schema = {"properties": dict.fromkeys(names, True), "required": names, "type": "object"}
        texts = Texts(schema, style="compact", property_order="any")
        random.Random(3).shuffle(names)
        members = [f'"{n}":1' for n in names]
        assert texts.accepts("{" + ",".join(members) + "}")
        assert not texts.accepts("{" + ",".join(members[1:]) + "}")

    @pytest.mark.parametrize("wrong", ["free", None, 1])
    def test_wrong_values(self, wrong: Any) -> None:
        with pytest.raises(
            GrammarError, match=f"property_order.*'declared' or 'any', not {wrong!r}"
        ):
            Texts({}, property_order=wrong)


STYLES = {
    "canonical": CANONICAL,
    "compact": PRESETS["compact"],
    "pretty": PRESETS["pretty"],
    "flexible": PRESETS["flexible"],
    "ascii": JSONStyle(ensure_ascii=True, whitespace="spaced"),
    "tight": JSONStyle(whitespace="compact", integer_digits=1, fraction_digits=1),
    "regex": JSONStyle(whitespace=r"\n? {0,2}", property_order="any"),
}


def corpora(seed: int, share: int) -> list[tuple[str, Any]]:
    """Some schemas of every corpus, drawn with a seed; `share` is how many of each file."""
    found = []
    for path in sorted((SHARED / "data").glob("*/**/*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file if line.startswith("{")]
        rows = [row for row in rows if isinstance(row.get("schema", row.get("parameters")), dict)]
        for row in random.Random(seed).sample(rows, min(share, len(rows))):
            found.append((row["id"], row.get("schema", row.get("parameters"))))
    return found


def walk(texts: Texts, rng: random.Random, steps: int) -> bytes | None:
    """Some random bytes and the shortest end, or None if it is not found soon."""
    out, state = b"", texts.start
    for _ in range(steps):
        allowed = texts.store.next_bytes(state)
        liked = [b for b in allowed if b in FAVOURITES] or list(allowed)
        if not liked:
            break
        out += bytes((rng.choice(liked),))
        state = texts.store.advance(state, out[-1:])
    end = texts.shortest_end(state, budget=400)
    return None if end is None else out + end


@requires_shared
def test_no_style_makes_a_satisfiable_schema_unsatisfiable() -> None:
    """Nor has one a text that style "any" has not, or one that ends nowhere."""
    rng = random.Random(11)
    drawn: Counter[str] = Counter()
    schemas = corpora(seed=5, share=2)
    assert len(schemas) > 40
    for number, (name, schema) in enumerate(schemas):
        try:
            anything = Texts(schema, style="any")
        except (GrammarError, LimitExceededError):
            continue  # not for a reason that a style has: it is the last step
        chosen = list(STYLES)[number % len(STYLES)]
        for style in {"canonical", chosen}:
            texts = Texts(schema, style=STYLES[style])
            assert not texts.store.is_empty(texts.start), (name, style)
            for steps in (0, 30):
                text = walk(texts, rng, steps)
                if text is not None:
                    strict_loads(text)
                    assert anything.accepts(text), (name, style, text)
                    drawn[style] += 1
    assert drawn["canonical"] > 60, drawn
    assert set(drawn) == set(STYLES)


@pytest.mark.parametrize("style", ["canonical", "any"])
def test_random_texts_are_json_and_satisfy_the_schema(style: str) -> None:
    texts = Texts(POINT, style=style)
    rng = random.Random(7)
    drawn = [text for n in range(40) if (text := texts.draw(rng, n)) is not None]
    assert len(drawn) > 20
    for text in drawn:
        # The exponents of style "any" have no bound, so such numbers stay as they are written.
        pairs = json.loads(text, parse_float=str, object_pairs_hook=list)
        value = dict(pairs)
        assert len(value) == len(pairs)
        assert isinstance(value["x"], int) or (style == "any" and set(value["x"]) & set(".eE"))
        assert set(value) <= {"x", "y", "tag"}
