"""Made-up schemas and texts of growing size; the same on every machine."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.plan import PlannedSchema, PlannedText
from benchmarks.vocabularies import TokenizerFiles, encode

__all__ = [
    "DEPTHS",
    "PROPERTIES",
    "Case",
    "depth_cases",
    "length_cases",
    "planned",
    "property_cases",
]

PROPERTIES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000)
DEPTHS = (1, 2, 5, 10, 20, 50, 100, 200)

_KINDS: tuple[dict[str, Any], ...] = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "boolean"},
    {"enum": ["low", "middle", "high"]},
    {"type": "array", "items": {"type": "string"}},
    {"type": "number"},
    {"type": "object", "properties": {"x": {"type": "number"}, "unit": {"type": "string"}}},
)
_VALUES = ("some text", 12, True, "middle", ["one", "two"], 1.5, {"x": 2.5, "unit": "mm"})
_WORDS = "time year people way day man thing woman life child world school state family".split()


@dataclass(frozen=True, slots=True)
class Case:
    """A schema with one valid text.

    Attributes:
        id: Unique in a study.
        schema: A JSON Schema.
        text: A text that it accepts, in declared order.
    """

    id: str
    schema: dict[str, Any]
    text: str


def property_cases(sizes: Sequence[int] = PROPERTIES) -> list[Case]:
    """An object with n properties of seven kinds; a text with the first, the middle and the last.

    The id is n.
    """
    cases = []
    for size in sizes:
        properties = {f"property_{n}": _KINDS[n % len(_KINDS)] for n in range(size)}
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        used = sorted({0, size // 2, size - 1})
        text = json.dumps({f"property_{n}": _VALUES[n % len(_VALUES)] for n in used})
        cases.append(Case(str(size), schema, text))
    return cases


def depth_cases(depths: Sequence[int] = DEPTHS) -> list[Case]:
    """Objects in objects, each with a name and the next one. The id is the depth."""
    cases = []
    for depth in depths:
        schema: dict[str, Any] = {"type": "string"}
        value: Any = "end"
        for level in range(depth):
            schema = {
                "type": "object",
                "properties": {"name": {"type": "string"}, f"inner_{depth - level}": schema},
                "required": ["name", f"inner_{depth - level}"],
                "additionalProperties": False,
            }
            value = {"name": "level", f"inner_{depth - level}": value}
        cases.append(Case(str(depth), schema, json.dumps(value)))
    return cases


def length_cases(words: int) -> list[Case]:
    """Long strings and long arrays: without a bound, far from it, and with it just reached.

    Args:
        words: Words of the string, four times as many as the array has items.
    """
    draw = random.Random(0)
    string = " ".join(draw.choice(_WORDS) for _ in range(words))
    array = [draw.randrange(1_000) for _ in range(max(words // 4, 1))]
    far = 1_000_000
    cases = []
    for bound, given in (("no bound", None), ("far", far), ("reached", 0)):
        length = {} if given is None else {"maxLength": given or len(string)}
        items = {} if given is None else {"maxItems": given or len(array)}
        integers = {"type": "array", "items": {"type": "integer"}} | items
        cases.append(Case(f"string, {bound}", {"type": "string"} | length, json.dumps(string)))
        cases.append(Case(f"array, {bound}", integers, json.dumps(array)))
    return cases


def planned(cases: Sequence[Case], files: TokenizerFiles) -> tuple[PlannedSchema, ...]:
    """Cases with their texts as token ids."""
    ids = encode([case.text for case in cases], files)
    return tuple(
        PlannedSchema(
            case.id,
            "growth",
            json.dumps(case.schema),
            (PlannedText(0, case.text, True, text_ids, None),),
        )
        for case, text_ids in zip(cases, ids, strict=True)
    )
