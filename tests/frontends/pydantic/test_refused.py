"""What cannot be said of a text is refused, and the message names the field."""

from __future__ import annotations

import datetime as dt
import enum
import re
import sys
import typing
from decimal import Decimal
from typing import Annotated, Any, Literal

import annotated_types
import pydantic
import pytest
from pydantic import AfterValidator, BaseModel, Field, PlainValidator, WithJsonSchema

import constrain
from constrain import Grammar
from constrain.errors import (
    BackendUnavailableError,
    GrammarError,
    LimitExceededError,
    UnsatisfiableError,
    UnsupportedFeatureError,
)
from tests.frontends.pydantic.cases import LAST, Colour, Node, text


def plain(kind: Any) -> Any:
    return pydantic.create_model("Model", field=(kind, ...))


class Inner(BaseModel):
    deep: list[pydantic.FilePath]


class TextRoot(pydantic.RootModel[str]):
    pass


class EmptyEnum(enum.Enum):
    pass


REFUSED = {
    "FilePath": (plain(pydantic.FilePath), "whether a file exists"),
    "DirectoryPath": (plain(pydantic.DirectoryPath), "whether a folder exists"),
    "NewPath": (plain(pydantic.NewPath), "whether a path is free"),
    "ImportString": (plain(pydantic.ImportString), "what can be imported"),
    "Pattern": (plain(re.Pattern), "regular expression"),
    "Json of a pattern": (plain(pydantic.Json[text("a")]), "a JSON text inside of a string"),
    "Json of itself": (plain(pydantic.Json[Node]), "contains itself"),
    "nested": (plain(dict[str, Inner]), "Inner.deep[]"),
    "plain validator": (plain(Annotated[int, PlainValidator(lambda v: v)]), "says nothing of"),
    "no JSON": (
        pydantic.create_model(
            "M", __config__={"arbitrary_types_allowed": True}, field=(re.Match, ...)
        ),
        "no JSON text",
    ),
    "callable": (plain(typing.Callable[[], int]), "no JSON text"),
    "literal of a plain enum": (Literal[Colour.RED], "no JSON text"),
    "multiple of a union": (plain(Annotated[int | Decimal, Field(multiple_of=2)]), "multiple_of"),
    "bound of a converted str": (plain(Annotated[str, AfterValidator(len), Field(gt=3)]), "`gt`"),
    "bound of what cannot be compared": (
        plain(Annotated[dt.date | dt.datetime, Field(ge=dt.date(2024, 2, 29))]),
        "`ge` of a type",
    ),
    "bound of a secret": (plain(Annotated[pydantic.Secret[int], Field(gt=3)]), "`gt` of a type"),
    "bound of another type": (plain(Annotated[int | dt.date, Field(le=5)]), "`le` of a type"),
    "a bound that is no number": (
        plain(Annotated[int | float, Field(ge=float("nan"))]),
        "`ge` of a type",
    ),
    "finite texts": (
        plain(Annotated[float | str, pydantic.AllowInfNan(False)]),
        "`allow_inf_nan` of a type",
    ),
    "pattern of a date": (plain(Annotated[dt.date, Field(pattern="^2")]), "`pattern` of a type"),
    "pattern of a root": (plain(Annotated[TextRoot, Field(pattern="^2")]), "`pattern` of a type"),
    "pattern after a change of case": (
        plain(Annotated[str | int, pydantic.StringConstraints(to_lower=True, pattern="^[a-z]$")]),
        "after a change of case",
    ),
    "base 64 in lower case": (
        pydantic.create_model(
            "Model", __config__={"str_to_lower": True}, field=(pydantic.Base64Str, ...)
        ),
        "after a change of case",
    ),
    "base 64 twice": (
        pydantic.create_model(
            "Model", __config__={"val_json_bytes": "base64"}, field=(pydantic.Base64Bytes, ...)
        ),
        "encoded bytes",
    ),
    "set of two floats": (plain(Annotated[set[float], Field(min_length=2)]), "may differ"),
    "dict of two floats": (plain(Annotated[dict[float, int], Field(min_length=2)]), "may differ"),
    "keys that are multiples": (
        plain(dict[Annotated[int, Field(multiple_of=2)], int]),
        "multiples",
    ),
    "negative alias": (
        pydantic.create_model("M", x=(int, Field(validation_alias=pydantic.AliasPath("a", -1)))),
        "from the end",
    ),
    "no double is greater": (plain(Annotated[float, Field(gt=sys.float_info.max)]), "no double"),
    "a Decimal without digits": (
        pydantic.create_model("M", field=(Annotated[Decimal, Field(max_digits=0)], ...)),
        "no JSON text",
    ),
    "datetimes after the last": (Annotated[dt.datetime, Field(gt=LAST)], "no JSON text"),
    "nested classes in a pattern": (plain(text(r"^[a-z&&[^b]]$")), "Rust's regex crate"),
    "a property in a pattern": (plain(text(r"\p{Greek}")), "'Greek'"),
    "no case beyond ASCII": (plain(text(r"(?i)[^é]")), "case does not matter"),
}


@pytest.mark.parametrize(("kind", "message"), REFUSED.values(), ids=list(REFUSED))
def test_refuses_by_name(kind: Any, message: str) -> None:
    with pytest.raises(UnsupportedFeatureError) as refusal:
        Grammar.from_pydantic(kind)
    assert message in str(refusal.value)
    assert "Model.field" in str(refusal.value) or kind.__name__ != "Model" or "Inner" in message


@pytest.mark.parametrize("name", list(REFUSED))
def test_a_refusal_has_a_way_out(name: str) -> None:
    kind, _ = REFUSED[name]
    with pytest.raises(UnsupportedFeatureError) as refusal:
        Grammar.from_pydantic(kind)
    assert refusal.value.hint
    if "WithJsonSchema" not in refusal.value.hint or "Model.field" not in str(refusal.value):
        return
    said = WithJsonSchema({"const": "x"})
    field = kind.model_fields["field"]
    inner = Annotated[field.annotation, *field.metadata, said]
    told = pydantic.create_model("Model", __config__=kind.model_config, field=(inner, ...))
    grammar = Grammar.from_pydantic(told)
    assert grammar.accepts(b'{"field": "x"}')
    assert not grammar.accepts(b'{"field": "y"}')


@pytest.mark.parametrize(
    "kind",
    [annotated_types.IsNotFinite[float], annotated_types.IsNan[Decimal]],
    ids=["not finite", "nan"],
)
def test_no_number_that_is_written_is_infinite(kind: Any) -> None:
    with pytest.raises(UnsupportedFeatureError, match="no JSON text"):
        Grammar.from_pydantic(kind)


def test_a_choice_that_is_no_json_is_left_out() -> None:
    kind = typing.Callable[[], int] | int
    grammar = Grammar.from_pydantic(kind)
    assert grammar.accepts(b"1")


@pytest.mark.parametrize(
    "wrong",
    ["Model", b"x", 3, object(), Node(value=1), {}, {"a": 1}, {"type": "int"}, [int], (int, str)],
)
def test_no_type(wrong: Any) -> None:
    with pytest.raises(GrammarError, match="is no type"):
        Grammar.from_pydantic(wrong)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Annotated[int, Field(ge=0.5)], "coercible to an integer"),
        (Annotated[dt.date, Field(ge=dt.datetime(2024, 1, 1))], "coercible to a date"),
        (Annotated[EmptyEnum, pydantic.Strict()], "Unable to apply constraint 'strict'"),
    ],
)
def test_constraints_that_pydantic_cannot_apply(kind: Any, reason: str) -> None:
    with pytest.raises(GrammarError, match=reason):
        Grammar.from_pydantic(kind)


def test_a_model_with_a_name_that_is_not_defined() -> None:
    made = pydantic.create_model("Model", field=("NotYet", ...))
    with pytest.raises(GrammarError, match="not fully defined"):
        Grammar.from_pydantic(made)


def test_options() -> None:
    with pytest.raises(GrammarError, match="property_order"):
        Grammar.from_pydantic(int, property_order="sorted")
    with pytest.raises(GrammarError, match="style"):
        Grammar.from_pydantic(int, style="pretty please")
    with pytest.raises(TypeError, match="Limits"):
        Grammar.from_pydantic(int, limits=3)  # type: ignore[arg-type]
    with pytest.raises(LimitExceededError):
        Grammar.from_pydantic(Node, limits=constrain.Limits(max_source_nodes=3))


def test_nothing_validates() -> None:
    with pytest.raises(UnsatisfiableError):
        Grammar.from_pydantic(Annotated[int, Field(gt=3, lt=3)])


def test_without_pydantic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(BackendUnavailableError, match=r"constrain-decoding\[pydantic\]"):
        Grammar.from_pydantic(int)


def test_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pydantic, "VERSION", "2.4.1")
    with pytest.raises(UnsupportedFeatureError, match=r"pydantic 2\.4\.1"):
        Grammar.from_pydantic(int)
