"""Ambiguity must not make the state grow with the text: the same states come round again."""

from __future__ import annotations

import pytest

from constrain import Grammar
from constrain.algebra.store import DEAD, TermStore
from constrain.limits import DEFAULT_LIMITS

AMBIGUOUS = {
    "list of lists": (
        'root ::= term (op root)*\nterm ::= [0-9]+ | "(" root ")"\nop ::= [-+*]',
        "1+2*",
    ),
    "star in star": ('root ::= block*\nblock ::= "a" block* | "b"', "ab"),
    "optional in star": ('root ::= block*\nblock ::= "a" block? | "b"', "ab"),
    "two kinds of list": (
        'root ::= (one | two)*\none ::= "a" ("," one)*\ntwo ::= "a" ("," two)*',
        "a,",
    ),
    "pairs": ('root ::= root root | "a"', "a"),
    "pairs or nothing": ('root ::= root root | "a" | ""', "a"),
    "operators": ('root ::= root "+" root | root "*" root | "n" | "(" root ")"', "n+n*"),
    "spaces twice": (
        'root ::= ws (item ws)*\nws ::= " "*\nitem ::= [a-z]+ ws ("," ws item)*',
        "a , b ",
    ),
    "dangling else": (
        'root ::= stmt*\nstmt ::= "x;" | "{" root "}" | "if " stmt ("else " stmt)?',
        "if x;if x;else x;",
    ),
}


@pytest.mark.parametrize(("text", "unit"), AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_no_new_states_after_a_while(text, unit):
    store = TermStore(DEFAULT_LIMITS)
    state = store.advance(store.intern(Grammar.from_gbnf(text).term), unit.encode() * 20)
    terms = store.num_terms
    state = store.advance(state, unit.encode() * 200)
    assert state != DEAD
    assert store.num_terms == terms
