"""Terminals are checked one by one, and never compared with each other."""

from __future__ import annotations

import logging

import pytest

from constrain import Grammar, GrammarSyntaxError

OVERLAP = "start: (A | B)+\nA: /[a-m]+x/\nB: /[h-z]+x/"


@pytest.mark.parametrize("lexer", ["contextual", "basic"])
def test_terminals_are_not_compared(lexer, caplog, monkeypatch):
    lark_lexer = pytest.importorskip("lark.lexer")

    def compared(*_args, **_kwargs):
        raise AssertionError("all terminals were compared")

    Grammar.from_lark('start: "a"')  # lark compares the terminals of its own syntax, once
    if lark_lexer.has_interegular:
        monkeypatch.setattr(lark_lexer.interegular.Comparator, "from_regexes", compared)
    with caplog.at_level(logging.DEBUG, logger="lark"):
        grammar = Grammar.from_lark(OVERLAP, lexer=lexer)
    assert not caplog.records
    assert grammar.accepts(b"axhx")


@pytest.mark.parametrize("lexer", ["contextual", "basic"])
def test_a_terminal_that_matches_nothing_is_refused(lexer):
    with pytest.raises(GrammarSyntaxError, match="zero-width"):
        Grammar.from_lark("start: A | B\nA: /a*/\nB: /b/", lexer=lexer)
