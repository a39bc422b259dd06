"""What a state is made of, read off its term."""

import pytest

from constrain.algebra.store import TermStore
from constrain.algebra.structure import Structure
from constrain.algebra.terms import EMPTY, EPS, byte_class, literal, star


@pytest.mark.parametrize(
    ("term", "byte"),
    [
        (byte_class(b"\x00"), 0),
        (byte_class(b"a"), 97),
        (byte_class(b"\xff"), 255),
        (byte_class(b"ab"), None),
        (byte_class(bytes(range(256))), None),
        (literal(b"ab"), None),
        (star(byte_class(b"a")), None),
        (EPS, None),
        (EMPTY, None),
    ],
)
def test_a_single_byte_is_a_class_of_one(term, byte):
    store = TermStore()
    assert Structure(store).single_byte(store.intern(term)) == byte
