"""The schema in between: names, reports, and types of any depth and number."""

from __future__ import annotations

from typing import Any

import pydantic

from constrain import Grammar
from constrain.frontends.pydantic import from_pydantic
from tests.frontends.pydantic.cases import Cat, Dog, Owner, Pair, Ping
from tests.patience import fails_after


def test_models_are_named_once() -> None:
    made = from_pydantic(tuple[Cat, Dog, Cat, list[Cat]])
    assert sorted(made.schema["$defs"]) == ["Cat", "Colour", "Dog"]


def test_names_are_told_apart() -> None:
    def model() -> Any:
        return pydantic.create_model("Same", a=(int, ...))

    made = from_pydantic(tuple[model(), model(), Pair[int], Pair[str]])  # type: ignore[misc]
    assert sorted(made.schema["$defs"]) == ["Pair_int", "Pair_str", "Same", "Same_2"]


def test_the_report_is_of_the_schema() -> None:
    uses = {(use.keyword, use.use) for use in Grammar.from_pydantic(Owner).report}
    assert ("additionalProperties", "enforced") in uses
    assert not any(use == "refused" for _, use in uses)


def test_a_grammar_says_what_it_is_of() -> None:
    assert Grammar.from_pydantic(Ping).description == "Grammar.from_pydantic(Ping)"


def test_many_models_in_a_chain() -> None:
    kind: Any = Ping
    for i in range(60):
        kind = pydantic.create_model(f"M{i}", next=(kind | None, None), same=(list[kind], []))
    with fails_after(20):
        grammar = Grammar.from_pydantic(kind)
        assert grammar.accepts(b'{"next": {"next": {"same": [{"next": null}]}}}')
