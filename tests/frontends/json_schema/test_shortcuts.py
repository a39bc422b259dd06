"""Shortcuts against the plain way: what is decided at sight, and what is not looked at early."""

from __future__ import annotations

import random
from typing import Any

import pytest

from constrain.errors import ConstrainError
from constrain.frontends.json_schema import audit, compile, emptiness, from_json_schema, same
from tests.conftest import requires_shared
from tests.frontends.json_schema.generators import DRAFTS, Maker
from tests.frontends.json_schema.test_real_schemas import sample


def outcome(schema: Any, **options: Any) -> str:
    """The error of a schema, or none."""
    try:
        from_json_schema(schema, **options)
    except ConstrainError as error:
        return f"{type(error).__name__}: {error}"
    return "fine"


def plainly(patch: pytest.MonkeyPatch) -> None:
    """Decide nothing at sight, look at everything, and compare all nodes."""
    patch.setattr(emptiness, "_plainly_has_value", lambda _: False)
    is_needed = audit.places
    patch.setattr(compile, "places", lambda source: is_needed(source) and (lambda _: True))

    def everything(source: Any, frozen: Any) -> Any:
        source.is_rewritten = True
        return canonical(source, frozen)

    canonical = same.canonical_nodes
    patch.setattr("constrain.frontends.json_schema.meaning.canonical_nodes", everything)


@pytest.mark.parametrize("draft", DRAFTS)
def test_made_schemas(draft: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(200):
        rng = random.Random(seed)
        schema = Maker(rng, draft).root(depth=rng.choice([2, 3]))
        found = outcome(schema, dialect=draft)
        with monkeypatch.context() as patch:
            plainly(patch)
            assert outcome(schema, dialect=draft) == found, schema


@requires_shared
def test_real_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in sample(seed=5, size=60):
        schema = row["schema"]
        found = outcome(schema)
        with monkeypatch.context() as patch:
            plainly(patch)
            assert outcome(schema) == found
