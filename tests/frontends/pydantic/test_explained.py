"""Where a text leaves a type: in the words of the JSON Schema that the type has become."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from constrain import Grammar


class Line(BaseModel):
    sku: str
    count: Annotated[int, Field(ge=1, le=9)]


class Order(BaseModel):
    model_config = ConfigDict(extra="forbid")

    day: datetime.date
    kind: Literal["gift", "sale"]
    lines: Annotated[list[Line], Field(max_length=1)]


@pytest.mark.parametrize(
    ("text", "offset", "names", "last"),
    [
        ('{"date"', 4, ('"day"',), "#"),
        ('{"day": "2024-02-30"', 17, ("string",), "#/$defs/Order/properties/day/pattern"),
        (
            '{"day": "2024-02-28", "kind": "x"',
            31,
            ('"gift"', '"sale"'),
            "#/$defs/Order/properties/kind/enum",
        ),
        (
            '{"day": "2024-02-28", "kind": "gift", "lines": [{"sku": "", "count": 12',
            70,
            ('"}"',),
            "#/$defs/Line/properties/count/maximum",
        ),
        (
            '{"day": "2024-02-28", "kind": "gift", "lines": [{"sku": "", "count": 1},',
            71,
            ('"]"',),
            "#/$defs/Order/properties/lines/maxItems",
        ),
        ('{"day": "2024-02-28", "kind": "gift"}', 36, ('","',), "#/$defs/Order/required"),
    ],
)
def test_a_text_that_does_not_fit(
    text: str, offset: int, names: tuple[str, ...], last: str
) -> None:
    rejection = Grammar.from_pydantic(Order).first_rejection(text.encode())
    assert rejection is not None
    assert rejection.offset == offset
    assert rejection.expected_names == names
    assert rejection.rule_path[0] == "#"
    assert rejection.rule_path[-1].startswith(last)
