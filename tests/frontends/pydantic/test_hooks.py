"""What a user says of the JSON Schema narrows it, and never widens it."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, BeforeValidator, Field, PlainValidator, WithJsonSchema

from constrain import Grammar
from constrain.errors import UnsupportedFeatureError
from tests.frontends.pydantic.cases import CASES


def accepts(kind: Any, text: str) -> bool:
    return Grammar.from_pydantic(kind).accepts(text.encode())


def test_extra_keywords_hold_beside_the_type() -> None:
    kind = Annotated[int, Field(ge=3, json_schema_extra={"minimum": 0, "maximum": 5})]
    made = [accepts(kind, str(n)) for n in (2, 3, 5, 6)]
    assert made == [False, True, True, False]


def test_a_function_that_takes_words_away_takes_nothing() -> None:
    def forget(schema: dict[str, Any]) -> None:
        schema.clear()

    kind = Annotated[int, Field(ge=3, json_schema_extra=forget)]
    assert [accepts(kind, text) for text in ("2", "3", '"x"')] == [False, True, False]


def test_annotations_change_nothing() -> None:
    described = Annotated[int, Field(title="T", description="D", examples=["x"], deprecated=True)]

    class Model(BaseModel):
        field: described

    assert accepts(Model, '{"field": 1}')
    assert not accepts(Model, '{"field": "x"}')


def test_a_property_taken_out_is_not_written() -> None:
    grammar = Grammar.from_pydantic(CASES["Forgetful"])
    assert grammar.accepts(b'{"a": 1, "b": 2}')  # required, so pydantic needs it all the same

    class Model(BaseModel):
        model_config = {"json_schema_extra": lambda schema: schema["properties"].pop("hidden")}
        shown: int
        hidden: int = 3

    assert accepts(Model, '{"shown": 1}')
    assert not accepts(Model, '{"shown": 1, "hidden": 2}')


def test_words_beside_a_function_that_reads_first_stand_alone() -> None:
    today = Annotated[int, BeforeValidator(lambda v: 3), WithJsonSchema({"const": "today"})]
    assert accepts(today, '"today"')
    assert not accepts(today, "3")
    either = Annotated[Any, PlainValidator(lambda v: v, json_schema_input_type=int | None)]
    assert [accepts(either, text) for text in ("3", "null", '"x"')] == [True, True, False]


def test_words_beside_a_type_hold_both() -> None:
    small = Annotated[int, WithJsonSchema({"type": "number", "maximum": 2})]
    assert [accepts(small, text) for text in ("1", "1.5", "3")] == [True, False, False]


def test_a_plain_validator_with_words() -> None:
    kind = Annotated[Any, PlainValidator(lambda v: v), WithJsonSchema({"enum": ["x"]})]
    assert accepts(kind, '"x"')
    with pytest.raises(UnsupportedFeatureError, match="plain validator"):
        Grammar.from_pydantic(Annotated[Any, PlainValidator(lambda v: v)])


def test_a_hook_of_a_class() -> None:
    assert accepts(CASES["Hooked"], '{"a": 1, "b": 3, "c": "today"}')
    assert not accepts(CASES["Hooked"], '{"a": "x", "b": 3, "c": "today"}')
    assert not accepts(CASES["Hooked"], '{"a": 1, "b": 2, "c": "today"}')


def test_what_a_schema_skips_is_written_only_where_it_must() -> None:
    assert accepts(CASES["Skipping"], '{"a": 1}')
    assert not accepts(CASES["Skipping"], '{"a": null}')
    assert not accepts(CASES["Skipping"], '{"b": 1}')


def test_a_computed_field_is_not_asked_for() -> None:
    assert accepts(CASES["Computed"], '{"a": 1}')
    assert not accepts(CASES["Computed"], '{"a": 1, "b": 2}')


def test_a_field_that_is_not_dumped_is_read() -> None:
    assert accepts(CASES["Excluded"], '{"a": 1, "b": 2}')
