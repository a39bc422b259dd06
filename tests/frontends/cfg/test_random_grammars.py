"""Random grammars against the recogniser that knows sets only: verdicts and live prefixes."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given, settings

from constrain import UnsatisfiableError
from constrain.frontends.cfg import lowering
from tests.frontends.cfg.grammars import (
    NAMES,
    check,
    grammars,
    grammars_that_lead_back,
    lowered,
)
from tests.reference.cfg_recogniser import Sentences


@settings(max_examples=150)
@given(grammars())
def test_every_short_string_has_the_verdict_of_the_grammar(productions):
    if Sentences(productions, 0).productive["s"]:
        check(productions, longest=5)
    else:
        with pytest.raises(UnsatisfiableError, match="can never finish"):
            lowered(productions)


@settings(max_examples=100)
@given(grammars_that_lead_back(("s",)))
def test_a_symbol_that_begins_with_itself(productions):
    check(productions, longest=6)


@settings(max_examples=100)
@given(grammars_that_lead_back(("s", "t")))
def test_symbols_that_begin_with_each_other(productions):
    check(productions, longest=6)


@settings(max_examples=60)
@given(grammars_that_lead_back(NAMES))
def test_many_symbols_that_begin_with_each_other(productions):
    check(productions, longest=5)


@settings(max_examples=60)
@given(grammars_that_lead_back(("s", "t", "u")))
def test_the_left_corner_transform_of_large_cycles(productions):
    with patch.object(lowering, "_MANY_SYMBOLS", 0):
        check(productions, longest=5)
