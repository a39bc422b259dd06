"""Grammars for tests, as the tuples that `tests.reference.cfg_recogniser` reads."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from constrain.algebra.store import DEAD, TermStore
from constrain.algebra.terms import byte_class, literal
from constrain.frontends import cfg
from tests.reference.cfg_recogniser import Sentences

NAMES = ("s", "t", "u", "v")


def expression_of(e):
    """The same as an expression of `constrain.frontends.cfg`."""
    match e:
        case ("text", text):
            return cfg.Terminal(literal(text))
        case ("set", members):
            return cfg.Terminal(byte_class(members))
        case ("symbol", name):
            return cfg.Symbol(name)
        case ("sequence", *parts):
            return cfg.Sequence(tuple(map(expression_of, parts)))
        case ("choice", *members):
            return cfg.Choice(tuple(map(expression_of, members)))
        case ("repeat", body, lo, hi):
            return cfg.Repetition(expression_of(body), lo, hi)
    raise AssertionError(e)


def lowered(productions, start="s"):
    return cfg.lower({name: expression_of(e) for name, e in productions.items()}, start)


def check(productions, alphabet=b"ab", longest=6, start="s"):
    """All strings over `alphabet` up to a length have the verdict that the grammar gives them."""
    told = Sentences(productions, longest)
    store = TermStore()
    states = {b"": store.intern(lowered(productions, start))}
    for length in range(longest + 1):
        for text in map(bytes, product(alphabet, repeat=length)):
            if length:
                before = states[text[:-1]]
                states[text] = store.advance(before, text[-1:])
            state = states[text]
            assert (state != DEAD and store.nullable(state)) == (text in told.texts[start]), text
            assert (not store.is_empty(state)) == (text in told.begun[start]), text
            if length < longest:
                more = {b for b in alphabet if text + bytes((b,)) in told.begun[start]}
                assert set(store.next_bytes(state)) & set(alphabet) == more, text
    return store


def expressions(names=NAMES):
    """Expressions over the letters a and b; symbols are frequent, so recursion is."""
    leaves = st.one_of(
        st.sampled_from([("symbol", n) for n in names]),
        st.sampled_from([("symbol", n) for n in names]),
        st.sampled_from([("text", t) for t in (b"", b"a", b"b", b"ab")] + [("set", b"ab")]),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda parts: ("sequence", *parts)),
            st.lists(inner, max_size=3).map(lambda members: ("choice", *members)),
            st.tuples(
                st.just("repeat"),
                inner,
                st.integers(0, 2),
                st.one_of(st.none(), st.integers(2, 3)),
            ),
            st.tuples(st.just("repeat"), inner, st.just(0), st.sampled_from((0, 1, None))),
        ),
        max_leaves=6,
    )


def grammars(names=NAMES):
    return st.fixed_dictionaries({name: expressions(names) for name in names})


def productions_that_lead_back(names):
    """Alternatives of few parts, most of which begin or end with a symbol."""
    symbols = st.sampled_from([("symbol", n) for n in names])
    maybe = symbols.map(lambda s: ("repeat", s, 0, 1))
    letters = st.sampled_from([("text", b"a"), ("text", b"b"), ("repeat", ("text", b"a"), 0, None)])
    part = st.one_of(symbols, maybe, letters)
    sequence = st.one_of(
        st.tuples(st.just("sequence"), symbols, part),
        st.tuples(st.just("sequence"), symbols, letters, symbols),
        st.tuples(st.just("sequence"), part, symbols),
        st.tuples(st.just("sequence"), symbols, letters, maybe),
        st.tuples(st.just("sequence"), maybe, symbols, letters),
        symbols,
        letters,
    )
    group = st.lists(sequence, min_size=1, max_size=2).map(lambda members: ("choice", *members))
    ending = st.tuples(st.just("sequence"), symbols, letters, group)
    alternative = st.one_of(sequence, sequence, ending)
    return st.lists(alternative, min_size=1, max_size=3).map(lambda ms: ("choice", *ms))


def grammars_that_lead_back(names):
    """Grammars with much left recursion; every symbol has a sentence."""
    body = productions_that_lead_back(names).map(lambda e: ("choice", ("text", b"b"), e))
    return st.fixed_dictionaries(dict.fromkeys(names, body))
