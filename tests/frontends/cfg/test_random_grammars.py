"""Random grammars against the recogniser that knows sets only: verdicts and live prefixes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from constrain import UnsatisfiableError
from tests.frontends.cfg.grammars import check, grammars, lowered
from tests.reference.cfg_recogniser import Sentences


@settings(max_examples=400)
@given(grammars())
def test_every_short_string_has_the_verdict_of_the_grammar(productions):
    if Sentences(productions, 0).productive["s"]:
        check(productions, longest=5)
    else:
        with pytest.raises(UnsatisfiableError, match="can never finish"):
            lowered(productions)


@settings(max_examples=200)
@given(grammars(("s", "t")))
def test_two_symbols_that_lead_to_each_other(productions):
    if Sentences(productions, 0).productive["s"]:
        check(productions, longest=7)
