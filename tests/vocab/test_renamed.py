"""`vocabulary=` of `generate` and `lint` is called `vocab=`, as everywhere else; both work."""

from __future__ import annotations

import pytest

import constrain
from constrain.lint import lint
from tests.generation.stand_ins import StandIn, vocabulary


def test_generate_takes_the_older_name() -> None:
    grammar = constrain.Grammar.from_regex("ab")
    with pytest.warns(DeprecationWarning, match="the argument is called vocab") as warned:
        result = constrain.generate(  # type: ignore[call-overload]
            StandIn(), None, [3], grammar=grammar, vocabulary=vocabulary()
        )
    assert result.text == "ab"
    assert [one.filename for one in warned] == [__file__]


def test_lint_takes_the_older_name() -> None:
    with pytest.warns(DeprecationWarning, match="the argument is called vocab") as warned:
        (finding,) = lint('root ::= "a" "x"', kind="gbnf", vocabulary=vocabulary())
    assert finding == lint('root ::= "a" "x"', kind="gbnf", vocab=vocabulary())[0]
    assert [one.filename for one in warned] == [__file__]


def test_both_names_at_once_are_refused() -> None:
    with pytest.raises(TypeError, match="both vocab and vocabulary"):
        lint("root ::= ", kind="gbnf", vocab=vocabulary(), vocabulary=vocabulary())
