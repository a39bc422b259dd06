"""Every shape of recursion by name, what it costs, and what is refused."""

from __future__ import annotations

import pytest

from constrain import LimitExceededError, Limits, UnsatisfiableError
from constrain.algebra.store import DEAD, TermStore
from constrain.algebra.terms import EMPTY, EPS, complement, intersect, literal
from constrain.frontends import cfg
from tests.frontends.cfg.grammars import check, lowered
from tests.patience import fails_after

A, B, C = ("text", b"a"), ("text", b"b"), ("text", b"c")


def sym(name):
    return ("symbol", name)


def seq(*parts):
    return ("sequence", *parts)


def either(*members):
    return ("choice", *members)


def maybe(e):
    return ("repeat", e, 0, 1)


SHAPES = {
    "left": {"s": either(seq(sym("s"), A), B)},
    "right": {"s": either(seq(A, sym("s")), B)},
    "both": {"s": either(seq(sym("s"), A, sym("s")), B)},
    "middle": {"s": either(seq(A, sym("s"), B), seq())},
    "hidden": {"s": either(seq(sym("n"), sym("s"), A), B), "n": maybe(B)},
    "hidden by two": {"s": either(seq(sym("n"), sym("n"), sym("s"), A), B), "n": maybe(A)},
    "hidden by itself": {"s": either(seq(sym("s"), sym("s"), A), seq())},
    "mutual": {"s": either(seq(sym("t"), A), B), "t": either(seq(sym("s"), B), A)},
    "mutual, each also alone": {
        "s": either(seq(sym("t"), A), seq(sym("s"), B), B),
        "t": either(seq(sym("s"), B), seq(sym("t"), A), A),
    },
    "three in a ring": {
        "s": either(seq(sym("t"), A), B),
        "t": either(seq(sym("u"), B), seq(sym("t"), B)),
        "u": either(sym("s"), seq(sym("u"), sym("s")), A),
    },
    "cyclic": {"s": either(sym("s"), A)},
    "cyclic ring": {"s": either(sym("t"), A), "t": either(sym("u"), seq(B, B)), "u": sym("s")},
    "cyclic ring, each also alone": {
        "s": either(sym("s"), sym("t"), A),
        "t": either(sym("t"), sym("s"), B),
    },
    "cyclic through what is nullable": {
        "s": either(seq(sym("n"), sym("s"), sym("n")), A),
        "n": maybe(B),
    },
    "nullable": {"s": either(seq(sym("s"), sym("s")), A, seq())},
    "nothing but the empty string": {
        "s": either(seq(sym("t"), sym("t")), seq()),
        "t": maybe(sym("s")),
    },
    "repeats itself": {"s": either(("repeat", sym("s"), 2, 3), A)},
    "repeats itself without bound": {"s": either(seq(("repeat", sym("s"), 0, None), B), A)},
    "a useless symbol": {"s": either(A, seq(sym("t"), B)), "t": seq(sym("t"), A)},
    "palindromes": {"s": either(seq(A, sym("s"), A), seq(B, sym("s"), B), A, B, seq())},
    "as many": {"s": either(seq(sym("s"), A, sym("s"), B, sym("s")), seq())},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_language_is_kept(shape):
    check(SHAPES[shape], longest=8)


EXPRESSIONS = {
    "levels": {
        "s": either(seq(sym("s"), A, sym("t")), sym("t")),
        "t": either(seq(sym("t"), B, C), C),
    },
    "no precedence": {
        "s": either(seq(sym("s"), A, sym("s")), seq(sym("s"), B, sym("s")), seq(B, sym("s")), C)
    },
    "through a name": {
        "s": either(sym("t"), C),
        "t": either(seq(sym("s"), A, sym("s")), seq(B, sym("s"))),
    },
    "through names at both ends": {
        "s": either(sym("t"), sym("u"), C),
        "t": seq(sym("s"), A, sym("v")),
        "u": either(seq(B, sym("s")), seq(A, sym("u"))),
        "v": sym("s"),
    },
    "mutual and ambiguous": {
        "s": either(seq(sym("s"), A, sym("s")), seq(sym("t"), B, sym("s")), C),
        "t": either(seq(sym("t"), B, sym("t")), seq(sym("s"), C, sym("t")), A),
    },
    "in a group": {"s": either(seq(sym("s"), either(seq(A, maybe(sym("s"))), seq(B, C))), C)},
    "pairs": {"s": either(seq(sym("s"), sym("s")), C, A)},
    "right": {"s": either(seq(C, A, sym("s")), C)},
    "list of lists": {"s": ("repeat", sym("t"), 0, None), "t": ("repeat", C, 0, None)},
}


@pytest.mark.parametrize("shape", EXPRESSIONS)
def test_recursion_at_an_end_needs_no_more_states_for_longer_texts(shape):
    store = TermStore()
    start = store.intern(lowered(EXPRESSIONS[shape]))
    unit = b"cc" if shape in ("pairs", "list of lists") else b"ca"
    state = store.advance(start, unit * 10)
    before = store.num_terms
    state = store.advance(state, unit * 2000 + b"c")
    assert state != DEAD
    assert store.nullable(state)
    assert store.num_terms == before


def test_large_counts_cost_nothing():
    many = ("repeat", seq(A, maybe(C)), 10**9, 10**9 + 7)
    store = TermStore()
    state = store.intern(lowered({"s": either(B, seq(sym("s"), many), many)}))
    assert store.num_terms < 50
    state = store.advance(state, b"a" * 100)
    assert not store.is_empty(state)
    assert not store.nullable(state)
    assert store.num_terms < 2000


def test_a_count_over_the_bound_is_refused_by_name():
    with pytest.raises(LimitExceededError, match="max_repeat"):
        TermStore().intern(lowered({"s": ("repeat", A, 2**31, None)}))


@pytest.mark.parametrize(
    ("productions", "message"),
    [
        ({"s": sym("s")}, "rule 's' can never finish: every way through it needs 's' again"),
        ({"s": seq(A, sym("s"))}, "rule 's' can never finish: every way through it needs 's'"),
        (
            {"s": seq(A, sym("t")), "t": either(seq(B, sym("u")), sym("t")), "u": sym("t")},
            "rules 't', 'u' can never finish: 't' needs 'u' needs 't' again; rule 's' needs 't'",
        ),
        ({"s": either()}, "rule 's' can never finish: something in it matches no text"),
        ({"s": ("set", b"")}, "rule 's' can never finish: something in it matches no text"),
    ],
)
def test_a_grammar_without_a_sentence_says_which_rules_never_finish(productions, message):
    with pytest.raises(UnsatisfiableError) as caught:
        lowered(productions)
    assert message in str(caught.value)


def test_only_the_empty_string():
    assert lowered({"s": seq(sym("t"), sym("t")), "t": seq()}) is EPS


def test_depth_is_no_recursion():
    deep = cfg.Terminal(literal(b"x"))
    for _ in range(30_000):
        deep = cfg.Sequence((deep,))
    store = TermStore()
    state = store.intern(cfg.lower({"s": deep}, "s"))
    assert store.nullable(store.advance(state, b"x"))


def test_a_chain_of_many_rules_is_read_in_one_pass():
    productions = {f"r{i}": seq(A, sym(f"r{i + 1}")) for i in range(20_000)} | {"r20000": B}
    with fails_after(10):
        store = TermStore()
        state = store.intern(lowered(productions, "r0"))
        assert store.advance(state, b"aaaa") != DEAD


def test_rules_that_double_stay_small():
    productions = {f"r{i}": seq(sym(f"r{i + 1}"), sym(f"r{i + 1}")) for i in range(60)}
    store = TermStore()
    state = store.intern(lowered(productions | {"r60": A}, "r0"))
    assert store.advance(state, b"a" * 1000) != DEAD
    assert store.num_terms < 5000


def test_a_ring_of_more_symbols_than_are_eliminated():
    n = 40
    ring = {
        f"r{i}": either(
            seq(sym(f"r{(i + 1) % n}"), A),
            seq(sym(f"r{i * 7 % n}"), B if i % 3 else seq()),
            seq(sym("n"), sym(f"r{(i + 5) % n}"), B),
            A,
        )
        for i in range(n)
    }
    check(ring | {"n": maybe(B)}, longest=5, start="r0")


def test_a_ring_of_many_symbols_costs_what_is_reached():
    n = 300
    productions = {
        f"r{i}": either(seq(sym(f"r{(i + 1) % n}"), A), seq(sym(f"r{i * 7 % n}"), B), C)
        for i in range(n)
    }
    store = TermStore()
    state = store.intern(lowered(productions, "r0"))
    state = store.advance(state, b"caaabab")
    assert not store.is_empty(state)


def test_a_grammar_over_the_limit_is_refused():
    productions = {"s": seq(*[A] * 50)}
    expressions = {"s": cfg.Sequence(tuple(cfg.Terminal(literal(b"a")) for _ in range(50)))}
    with pytest.raises(LimitExceededError, match="max_source_nodes"):
        cfg.lower(expressions, "s", limits=Limits(max_source_nodes=20))
    assert lowered(productions) is not EMPTY


def test_one_rule_object_for_one_symbol():
    productions = {
        "s": cfg.Sequence((cfg.Symbol("t"), cfg.Symbol("t"))),
        "t": cfg.Choice(
            (
                cfg.Sequence((cfg.Terminal(literal(b"a")), cfg.Symbol("t"))),
                cfg.Terminal(literal(b"b")),
            )
        ),
    }
    term = cfg.lower(productions, "s")
    assert term.head is term.tail
    assert term.head.name == "t"


def test_what_recurses_at_its_right_end_only_is_regular():
    right = lowered({"s": either(seq(A, ("repeat", B, 2, 5), sym("t")), C), "t": maybe(sym("s"))})
    nested = lowered({"s": either(seq(A, sym("s"), B), C)})
    assert right.regular
    assert not nested.regular
    store = TermStore()
    both = store.intern(intersect((right, complement(literal(b"c")))))
    assert store.nullable(store.advance(both, b"abbc"))
    assert store.advance(both, b"c") == DEAD
