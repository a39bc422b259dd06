"""What may follow what is the same, whether a text is tried on each pending thing once or again."""

from __future__ import annotations

from pathlib import Path

import pytest

from constrain.fixtures import load_grammar
from constrain.frontends.lark import adjacency

GRAMMARS = Path(__file__).parents[3] / "grammars"


def results(name: str, monkeypatch: pytest.MonkeyPatch) -> list[adjacency.Adjacency | None]:
    found = []
    result = adjacency._Search.result
    with monkeypatch.context() as patch:
        patch.setattr(
            adjacency._Search, "result", lambda search: found.append(result(search)) or found[-1]
        )
        load_grammar(GRAMMARS / f"{name}.lark")
    return found


@pytest.mark.parametrize("name", ["python", "c", "go", "sql_select"])
def test_what_was_tried_is_not_tried_again(name, monkeypatch):
    remembered = results(name, monkeypatch)
    assert any(remembered)

    def try_all(search, spots, text):
        return all(search._settles(spot, text) for spot in spots)

    monkeypatch.setattr(adjacency._Search, "_settles_all", try_all)
    assert results(name, monkeypatch) == remembered
