"""Tokens that a walk does not tell are told one by one."""

from __future__ import annotations

import numpy as np
import pytest

from constrain import Grammar
from constrain.algebra.store import DEAD, TermStore
from constrain.automaton.settle import UnsureTokens
from tests.matcher.vocabularies import NASTY


@pytest.mark.parametrize("ids", [[], [0], [0, 1, 2, 3, 7, 18], [2, 4, 3, 4, 2]])
@pytest.mark.parametrize("pattern", ["(ab)+", "a{1,9}", "b"])
def test_each_token_by_itself(ids, pattern):
    # A walk may leave tokens untold of which another walk tells each one: then none is left.
    store = TermStore()
    state = store.intern(Grammar.from_regex(pattern).term)
    words = np.zeros(3, np.int32)
    UnsureTokens(NASTY, ids).settle(store, state, words)
    expected = {i for i in ids if store.advance(state, NASTY.token_bytes[i]) != DEAD}
    assert {i for i in range(96) if words[i >> 5] >> (i & 31) & 1} == expected
