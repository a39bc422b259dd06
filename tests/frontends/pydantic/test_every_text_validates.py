"""The contract: each text of the grammar validates, whatever the type and the style."""

from __future__ import annotations

import datetime as dt
import random
import warnings
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Any, Literal, Optional, Union

import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain.errors import GrammarError
from constrain.frontends.json_schema.style import resolve_style
from tests.frontends.pydantic.cases import (
    CASES,
    CHOICES,
    NETWORK,
    NUMBERS,
    STRINGS,
    TIMES,
    AliasedOpen,
    Allowing,
    ByName,
)
from tests.frontends.pydantic.drawing import TypeTexts

STYLES = ("canonical", "any")
COUNT = 12
"""Texts of each type and style."""
IN_ORDER = replace(resolve_style("any"), property_order="declared")
"""For `HARD_TO_DRAW`: in any order, among keys of any name, a blind walk hardly meets the keys that
must come.
"""
HARD_TO_DRAW = (AliasedOpen, ByName, Allowing)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", list(CASES))
def test_every_text_validates(name: str, style: str) -> None:
    kind = CASES[name]
    in_order = style == "any" and kind in HARD_TO_DRAW
    texts = TypeTexts(kind, style=IN_ORDER if in_order else style)
    drawn = list(texts.drawn(name, COUNT))
    assert len(drawn) > COUNT // 2
    wrong = [text for text in drawn if not texts.validates(text)]
    assert not wrong


@pytest.mark.parametrize("kind", ["EmailStr", "NameEmail"])
@pytest.mark.parametrize("style", STYLES)
def test_every_address_validates(kind: str, style: str) -> None:
    pytest.importorskip("email_validator", reason="pydantic[email] is not installed")
    texts = TypeTexts(getattr(pydantic, kind), style=style)
    wrong = [text for text in texts.drawn(kind, 40) if not texts.validates(text)]
    assert not wrong
    assert texts.accepts('"jane.doe+x@mail.example-shop.com"')
    assert not texts.accepts('"jane@localhost"')
    assert not texts.accepts('"jane@shop.test"')


def test_what_is_drawn_with_the_order_of_properties_free() -> None:
    texts = TypeTexts(CASES["Plain"], property_order="any")
    assert texts.accepts('{"e": 1, "a": 2}')
    assert all(map(texts.validates, texts.drawn("free", COUNT)))


# Types made of types

LEAVES = [
    kind
    for kinds in (NUMBERS, STRINGS, TIMES, NETWORK, CHOICES)
    for kind in kinds.values()
    if not isinstance(kind, pydantic.TypeAdapter)
]
KEYS = [str, int, bool, CASES["date"], CASES["enum"], CASES["uuid"], Literal["a", "b"]]


def _bounded(kind: Any, least: int, more: int) -> Any:
    return Annotated[kind, pydantic.Field(min_length=least, max_length=least + more)]


def _model(fields: list[tuple[Any, bool, bool]], extra: str) -> Any:
    made: dict[str, Any] = {}
    for index, (kind, required, aliased) in enumerate(fields):
        default: Any = ... if required else None
        alias = f"alias {index}" if aliased else None
        made[f"f{index}"] = (kind, pydantic.Field(default, alias=alias))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bytes and the like as defaults of no matter
        config = pydantic.ConfigDict(extra=extra)  # type: ignore[typeddict-item]
        return pydantic.create_model("Made", __config__=config, **made)


def _composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    field = st.tuples(inner, st.booleans(), st.booleans())
    return st.one_of(
        inner.map(lambda kind: list[kind]),  # type: ignore[valid-type]
        inner.map(lambda kind: Optional[kind]),  # noqa: UP045
        st.tuples(inner, inner).map(lambda kinds: Union[kinds]),  # noqa: UP007
        st.tuples(inner, inner).map(lambda kinds: tuple[kinds]),  # type: ignore[valid-type]
        st.tuples(st.sampled_from(KEYS), inner).map(lambda kinds: dict[kinds]),  # type: ignore[valid-type, misc]
        st.builds(
            _bounded,
            inner.map(lambda kind: list[kind]),  # type: ignore[valid-type]
            st.integers(0, 2),
            st.integers(0, 2),
        ),
        st.builds(
            _model,
            st.lists(field, min_size=1, max_size=3),
            st.sampled_from(["ignore", "forbid"]),
        ),
    )


CONSTRAINTS = st.one_of(
    st.builds(
        pydantic.Field,
        ge=st.sampled_from([None, 0, 1, 0.5, Decimal("-1.5"), dt.date(2024, 2, 29)]),
        lt=st.sampled_from([None, 5, 9.5]),
        max_length=st.sampled_from([None, 0, 3]),
    ),
    st.builds(pydantic.Field, min_length=st.sampled_from([1, 2])),
    st.builds(pydantic.Field, pattern=st.sampled_from(["^[a-c]+$", "a$", "1"])),
    st.sampled_from(
        [
            pydantic.AllowInfNan(False),
            pydantic.Strict(),
            pydantic.StringConstraints(strip_whitespace=True, pattern="^ ?[a-c]+$"),
            pydantic.StringConstraints(to_lower=True),
        ]
    ),
)
"""Also for types that they do not fit: of those there is no grammar, and no other error either."""
CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "str_max_length": st.just(8),
        "str_strip_whitespace": st.just(True),
        "str_to_lower": st.just(True),
        "strict": st.just(True),
        "allow_inf_nan": st.just(False),
        "validate_default": st.just(True),
        "val_json_bytes": st.sampled_from(["hex", "base64"]),
    },
)
TYPES = st.recursive(st.sampled_from(LEAVES), _composed, max_leaves=4)


# Of a union of a network and a boolean pydantic tries both, and hands `true` to ipaddress.
@pytest.mark.filterwarnings("ignore:__int__ returned non-int:DeprecationWarning")
@settings(max_examples=60)
@given(kind=TYPES, style=st.sampled_from(STYLES), seed=st.integers(0, 2**32))
def test_texts_of_composed_types_validate(kind: Any, style: str, seed: int) -> None:
    texts = TypeTexts(kind, style=style)
    rng = random.Random(seed)
    for steps in (0, 5, 30):
        text = texts.draw(rng, steps)
        assert text is None or texts.validates(text), text


def _constrained(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    annotated = st.tuples(inner, CONSTRAINTS).map(lambda pair: Annotated[pair])
    sets = inner.map(lambda kind: set[kind])  # type: ignore[valid-type]
    return st.one_of(annotated, annotated, sets, _composed(inner))


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=150, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    kind=st.recursive(st.sampled_from(LEAVES), _constrained, max_leaves=4),
    config=CONFIGS,
    style=st.sampled_from(STYLES),
    seed=st.integers(0, 2**32),
)
def test_texts_of_constrained_types_validate(
    kind: Any, config: dict[str, Any], style: str, seed: int
) -> None:
    # Built later, so that what pydantic refuses, the grammar refuses, too.
    made = pydantic.create_model("Made", __config__={**config, "defer_build": True}, a=(kind, ...))  # type: ignore[call-overload]
    try:
        texts = TypeTexts(made, style=style)
    except GrammarError:
        return
    rng = random.Random(seed)
    for steps in (0, 8, 30):
        text = texts.draw(rng, steps)
        assert text is None or texts.validates(text), text


def test_a_decimal_is_what_the_text_says() -> None:
    texts = TypeTexts(CASES["decimal price"])
    assert texts.adapter.validate_json('"12.50"') == Decimal("12.50")
