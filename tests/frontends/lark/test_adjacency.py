"""What may follow what is the same, however little is tried to find it out."""

from __future__ import annotations

from pathlib import Path

import pytest

from constrain import Grammar
from constrain.fixtures import load_grammar
from constrain.frontends.lark import adjacency

GRAMMARS = Path(__file__).parents[3] / "grammars"


# Words that begin like others, stand for a pattern, or differ in case or in script only.
WORDS = """
start: (A | NAME | KELVIN | "a" | "ab"i | "abc" | "AB" | "abd" | other)*
other: "k"i | "K" | "if" | "\u017ft" | "st"i
A: "x" | "xy"
NAME: /[a-z]+/
KELVIN: /\u212a/
%ignore " "
"""


def results(name: str, monkeypatch: pytest.MonkeyPatch) -> list[adjacency.Adjacency | None]:
    found = []
    result = adjacency._Search.result
    with monkeypatch.context() as patch:
        patch.setattr(
            adjacency._Search, "result", lambda search: found.append(result(search)) or found[-1]
        )
        if name == "words":
            for lexer in ("contextual", "basic"):
                Grammar.from_lark(WORDS, lexer=lexer)
        else:
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


@pytest.mark.parametrize("name", ["words", "python", "c", "go", "sql_select"])
def test_words_that_differ_are_not_looked_at_beside_each_other(name, monkeypatch):
    near = results(name, monkeypatch)
    assert any(near)
    monkeypatch.setattr(adjacency._Words, "near", lambda self, text, names: names)
    assert results(name, monkeypatch) == near


def test_what_is_left_out_fails_on_the_text_before_it_ends(monkeypatch):
    searches = []
    result = adjacency._Search.result
    monkeypatch.setattr(
        adjacency._Search, "result", lambda search: searches.append(search) or result(search)
    )
    Grammar.from_lark(WORDS)
    (search,) = searches
    every = frozenset(search._terminals)
    left_out = 0
    for text in ["a", "ab", "abc", "abcd", "AB ", "abd", "i", "if ", "k", "K", "st", "s", "S"]:
        for spelled in (text, text.replace("s", "\u017f").replace("k", "\u212a")):
            for name in every - search._words.near(spelled, every):
                left_out += 1
                assert search._run(name, spelled) == adjacency._Run(0, True), (name, spelled)
    assert left_out > 50


def test_hundreds_of_words_are_within_the_limits():
    words = " | ".join(f'"word{n}"' for n in range(800))
    grammar = Grammar.from_lark(f'start: ({words})*\n%ignore " "\n')
    assert grammar.accepts(b"word1 word799 word77")
    assert not grammar.accepts(b"word1 word800")
