"""The texts of the catalogue: what engine and real parser say of each."""

from __future__ import annotations

import pytest

from tests.catalogue.entries import NAMES, entry, is_outside

LEAST = 6
"""Texts that a grammar has at least, to accept and to reject."""


@pytest.mark.parametrize("name", NAMES)
def test_there_are_enough_texts(name):
    found = entry(name)
    assert len(found.accept) >= LEAST
    assert len(found.reject) >= LEAST
    assert found.loaded.options.about.get("source"), "options.toml says where it is from"


@pytest.mark.parametrize("name", NAMES)
def test_accepted_texts(name):
    found = entry(name)
    for text in found.accept:
        assert found.grammar.first_rejection(text.data) is None, text
        assert found.oracle.complaint(text.data.decode()) is None, text


@pytest.mark.parametrize("name", NAMES)
def test_rejected_texts(name):
    found = entry(name)
    for text in found.reject:
        where = found.grammar.first_rejection(text.data)
        assert where is not None, text
        assert where.expected or where.complete, ("a dead end", text)
        assert (found.oracle.complaint(text.data.decode()) is None) == is_outside(text), text
