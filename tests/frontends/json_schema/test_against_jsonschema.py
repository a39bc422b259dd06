"""Generated schemas and values: our verdict in style "any" against the `jsonschema` package."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from constrain.errors import LimitExceededError, UnsatisfiableError, UnsupportedFeatureError
from tests.frontends.json_schema.schemas import schemas, values
from tests.frontends.json_schema.texts import Texts, exact, spell, strict_loads

SLOW = settings(
    max_examples=300,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
)


def compare(schema: Any, instances: list[Any], seed: int) -> None:
    validator = Draft202012Validator(exact(schema))
    # Spellings with an exponent are left out under some keywords, see `digits`.
    exponents = not any(word in repr(schema) for word in ("multipleOf", "integer"))
    rng = random.Random(seed)
    try:
        anything = Texts(schema, style="any")
    except UnsatisfiableError:
        for value in instances:
            assert not validator.is_valid(exact(value)), (schema, value)
        return
    except (UnsupportedFeatureError, LimitExceededError):
        return
    for value in instances:
        text = spell(value, rng, exponents=exponents)
        assert anything.accepts(text) == validator.is_valid(exact(value)), (schema, text)
    canonical = Texts(schema)
    for steps in (0, 8, 30):
        text = canonical.draw(rng, steps)
        if text is not None:
            assert validator.is_valid(strict_loads(text)), (schema, text)
            assert anything.accepts(text), (schema, text)


@given(schemas(combinators=False), st.lists(values, min_size=3, max_size=8), st.integers(0, 99))
@SLOW
def test_core_keywords(schema: Any, instances: list[Any], seed: int) -> None:
    compare(schema, instances, seed)


@given(schemas(combinators=True), st.lists(values, min_size=3, max_size=8), st.integers(0, 99))
@SLOW
def test_all_keywords(schema: Any, instances: list[Any], seed: int) -> None:
    compare(schema, instances, seed)
