"""The kernels against the slow algebra: the same normal forms, derivatives and verdicts."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.algebra import reference as ref
from constrain.algebra import terms as t
from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.store import DEAD, TermStore
from constrain.algebra.utf8 import UTF8
from constrain.errors import LimitExceededError, UnsupportedFeatureError
from constrain.kernels.derive import layout as lay
from constrain.limits import Limits
from tests.algebra.strategies import (
    ALL_TOKEN_IDS,
    ALPHABET,
    TOKEN_IDS,
    Tokens,
    boolean_terms,
    capturing_terms,
    plain_terms,
    texts,
    token_terms,
)


def as_reference(store: TermStore, node: int) -> ref.Node:
    """A node of the arena in the reference's own form."""
    arena = store.arena
    kind, a, b, c = (
        int(arena[lay.NODE * node + f]) for f in (lay.KIND, lay.ARG_A, lay.ARG_B, lay.ARG_C)
    )
    if kind in (lay.ALT, lay.AND):
        at = int(arena[lay.POOL]) + a
        members = frozenset(as_reference(store, int(m)) for m in arena[at : at + b])
        return ("alt" if kind == lay.ALT else "and", members)
    if kind == lay.CLASS:
        at = int(arena[lay.CLASSES]) + a * lay.CLASS_WORDS
        return ("class", int.from_bytes(arena[at : at + lay.CLASS_WORDS].tobytes(), "little"))
    if kind == lay.CAT:
        return ("cat", as_reference(store, a), as_reference(store, b))
    if kind == lay.REPEAT:
        return ("repeat", as_reference(store, a), b, float("inf") if c == lay.INFINITE else c)
    if kind == lay.NOT:
        return ("not", as_reference(store, a))
    return ref.EPS if kind == lay.EPS else ref.EMPTY


@given(plain_terms)
def test_interned_terms_have_the_reference_normal_form(term):
    store = TermStore()
    assert as_reference(store, store.intern(term)) == ref.Reference().intern(term)


@pytest.mark.parametrize("patience", [0, 1, lay.MAX_PATIENCE])
@given(plain_terms, texts)
def test_derivatives_have_the_reference_normal_form(patience, term, text):
    store, slow = TermStore(), ref.Reference()
    store.arena[lay.PATIENCE] = patience
    state, node = store.intern(term), slow.intern(term)
    for b in text:
        state, node = store.advance(state, bytes([b])), slow.derive(node, b)
        assert as_reference(store, state) == node


@given(boolean_terms)
def test_a_state_is_dead_exactly_where_no_sentence_begins_so(term):
    store, slow = TermStore(), ref.Reference()
    start, root = store.intern(term), slow.intern(term)
    assert store.is_empty(start) == slow.empty(root)
    for length in range(4):
        for text in map(bytes, itertools.product(ALPHABET, repeat=length)):
            state, node = store.advance(start, text), slow.after(root, text)
            assert (state == DEAD) == slow.empty(node), text
            if state != DEAD:
                assert store.nullable(state) == ref.nullable(node), text


@given(capturing_terms, texts)
def test_terms_that_capture_step_as_the_reference_does(term, text):
    store, slow = TermStore(), ref.Reference()
    state, node = store.intern(term), slow.intern(term)
    assert store.is_empty(state) == slow.empty(node)
    for b in text:
        alive = [c for c in ALPHABET if not slow.empty(slow.derive(node, c))]
        assert [c for c in store.next_bytes(state) if c in ALPHABET] == sorted(alive)
        state, node = store.advance(state, bytes([b])), slow.derive(node, b)
        assert (state == DEAD) == slow.empty(node)
        if state == DEAD:
            break
        assert store.nullable(state) == ref.nullable(node)


def test_states_that_differ_in_what_they_captured_share_a_blurred_one():
    word = t.cat(t.plus(t.byte_class(b"abc")), t.literal(b";"))
    twice = t.capture(word, lambda w: t.literal(w), before=t.literal(b"="))
    store = TermStore()
    start = store.intern(t.cat(twice, t.literal(b"!")))
    one, other = store.advance(start, b"ab"), store.advance(start, b"c")
    assert one != other
    assert store.blur(one) == store.blur(other)
    assert store.nullable(store.advance(one, b"a;=aba;!"))
    assert store.advance(one, b"a;=abb") == DEAD


@pytest.mark.parametrize(
    "nothing",
    [
        t.special_token("no such token"),
        t.cat(t.literal(b"a"), t.special_token("no such token")),
        t.intersect((t.plus(t.literal(b"ab")), t.plus(t.literal(b"ba")))),
    ],
)
def test_a_text_that_nothing_can_follow_is_not_captured(nothing):
    store = TermStore(tokens=Tokens())
    captured = t.capture(t.byte_class(b"ab"), t.literal, before=nothing)
    assert store.intern(t.cat(t.literal(b"a"), captured)) == DEAD
    instead = t.capture(t.byte_class(b"ab"), t.literal, before=nothing, instead=t.literal(b"b"))
    assert store.advance(store.intern(instead), b"ab") != DEAD
    assert store.advance(store.intern(instead), b"aa") == DEAD


steps = st.lists(st.sampled_from([*ALPHABET, *[256 + i for i in TOKEN_IDS]]), max_size=6)


@given(token_terms, steps)
def test_terms_that_name_tokens_step_as_the_reference_does(term, steps):
    store, slow = TermStore(tokens=Tokens()), ref.Reference()
    state, node = store.intern(term), slow.intern(term)
    for step in steps:
        if slow.empty(node, ALL_TOKEN_IDS):
            return
        if step < 256:
            state = store.advance(state, bytes([step]))
        else:
            state = store.after_token(state, store.token_code(step - 256))
        node = slow.derive(node, step)
        assert (state == DEAD) == slow.empty(node, ALL_TOKEN_IDS)
        assert state == DEAD or store.nullable(state) == ref.nullable(node)


def test_a_rule_may_not_begin_with_a_capture():
    twice = t.capture(t.byte_class(b"ab"), t.literal)
    store = TermStore()
    with pytest.raises(AssertionError, match="begins with a capture"):
        store.advance(store.intern(t.Rule("twice", lambda: twice)), b"a")


@given(boolean_terms)
def test_next_bytes_are_those_that_keep_a_state_alive(term):
    store, slow = TermStore(), ref.Reference()
    state, node = store.intern(term), slow.intern(term)
    alive = [b for b in range(256) if not slow.empty(slow.derive(node, b))]
    assert list(store.next_bytes(state)) == alive
    assert store.next_bytes(DEAD) == b""


def test_counters_are_not_unrolled():
    store = TermStore()
    x = t.repeat(t.alt((t.literal(b"a"), t.literal(b"aa"))), 0, 1000)
    state = store.intern(x)
    assert store.nullable(store.advance(state, b"a" * 2000))
    assert store.advance(state, b"a" * 2001) == DEAD
    assert store.num_terms < 10_000


def test_a_huge_counter_costs_nothing():
    store = TermStore()
    bounded = t.repeat(t.byte_class(b"ab"), 0, 10**9)
    has_b = t.cat(t.star(t.ANY_BYTE), t.literal(b"b"), t.star(t.ANY_BYTE))
    state = store.intern(t.intersect((bounded, has_b)))
    assert not store.is_empty(state)
    assert store.num_terms < 200


def test_branches_behind_a_complement_are_searched():
    store = TermStore()
    heads = t.Heads((t.non_nullable(t.ALL),), (False,))
    state = store.intern(t.Branches("branch", heads, lambda _: t.literal(b"x")))
    assert store.next_bytes(state) == bytes(range(256))
    assert store.nullable(store.advance(state, b"ax"))


def test_recursion_through_a_rule():
    rule = t.Rule(
        "nested",
        lambda: t.alt((t.cat(t.literal(b"("), rule, t.literal(b")")), t.literal(b"x"))),
    )
    store = TermStore()
    state = store.intern(rule)
    deep = 50_000
    text = b"(" * deep + b"x" + b")" * deep
    assert store.nullable(store.advance(state, text))
    assert not store.nullable(store.advance(state, text[:-1]))
    assert store.advance(state, text + b")") == DEAD


def test_tail_recursion_does_not_grow_the_state():
    rule = t.Rule("list", lambda: t.alt((t.cat(t.literal(b"a,"), rule), t.literal(b"a"))))
    store = TermStore()
    state = store.intern(rule)
    few = store.advance(state, b"a," * 10)
    terms = store.num_terms
    assert store.advance(few, b"a," * 1000) == few
    assert store.num_terms == terms


def test_rule_bodies_are_made_only_when_reached():
    made = []

    def body(name):
        made.append(name)
        return t.literal(name.encode() * 2)

    rules = [t.Rule(name, lambda name=name: body(name)) for name in "abc"]
    store = TermStore()
    # The first byte decides which rule is reached.
    state = store.intern(t.alt([t.cat(t.literal(r.name.upper().encode()), r) for r in rules]))
    assert made == []
    assert store.nullable(store.advance(state, b"Bbb"))
    assert made == ["b"]


def _regular(term: t.Term) -> bool:
    return term.regular and not term.nullable and term is not t.EMPTY


def _has_more_than_the_empty_text(term):
    return t.non_nullable(term) is not t.EMPTY


heads = st.lists(plain_terms.map(t.non_nullable).filter(_regular), min_size=1, max_size=5)


@given(heads.map(tuple), st.data())
def test_branches_are_heads_with_rules_behind_them(heads, data):
    """Several with the same heads: what is known of these is the same for all."""
    store, slow = TermStore(), ref.Reference()
    nullables = data.draw(st.tuples(*[st.booleans() for _ in heads]))
    same = t.Heads(heads, nullables)
    for _ in range(3):
        drawn = [data.draw(plain_terms.filter(_has_more_than_the_empty_text)) for _ in heads]
        bodies = [
            t.optional(body) if nullable else t.non_nullable(body)
            for body, nullable in zip(drawn, nullables, strict=True)
        ]
        then = data.draw(plain_terms)
        term = t.Branches("branch", same, lambda number, bodies=bodies: bodies[number])
        plain = t.alt([t.cat(head, body) for head, body in zip(heads, bodies, strict=True)])
        beside = data.draw(plain_terms)
        state = store.intern(t.alt((t.cat(term, then), beside)))
        node = slow.intern(t.alt((t.cat(plain, then), beside)))
        spelled_out = slow.intern(t.alt((t.cat(term, then), beside)))
        for b in data.draw(texts):
            allowed = {byte for byte in ALPHABET if not slow.empty(slow.derive(node, byte))}
            assert {byte for byte in store.next_bytes(state) if byte in ALPHABET} == allowed
            state, node = store.advance(state, bytes([b])), slow.derive(node, b)
            spelled_out = slow.derive(spelled_out, b)
            if slow.empty(node):
                assert state == DEAD
                break
            assert store.nullable(state) == ref.nullable(node) == ref.nullable(spelled_out)


def test_no_token_begins_branches():
    """Also where their rows are had from others, so that they have no body."""
    names = t.Heads((t.literal(b"a"), t.literal(b"bb")), (False, False))
    store = TermStore(tokens=Tokens())
    for _ in range(2):
        branches = t.Branches("branch", names, lambda number: t.token(1))
        state = store.intern(t.alt((branches, t.cat(t.token(2), t.literal(b"c")))))
        assert store.nullable(store.advance(store.after_token(state, 2), b"c"))
        assert store.after_token(state, 1) == DEAD
        after = store.advance(state, b"bb")
        store.make_first(after)
        assert store.nullable(store.after_token(after, store.token_code(1)))


def test_a_token_begins_branches_where_a_head_may_be_over():
    heads = t.Heads((t.literal(b"a"), t.literal(b"abc"), t.literal(b"abd")), (False, True, False))
    bodies = (t.alt((t.token(1), t.literal(b"x"))), t.EPS, t.token(3))
    store = TermStore(tokens=Tokens())
    state = store.intern(t.Branches("branch", heads, bodies.__getitem__))
    after = store.advance(state, b"a")
    assert store.next_bytes(after) == b"bx"
    store.make_first(after)
    assert store.nullable(store.after_token(after, store.token_code(1)))
    assert store.after_token(after, store.token_code(3)) == DEAD
    after = store.advance(state, b"ab")
    assert store.after_token(after, store.token_code(1)) == DEAD
    assert store.nullable(store.advance(after, b"c"))


def test_heads_are_made_once_for_all_branches_that_have_them():
    made = []

    def letters():
        made.append("letters")
        return t.star(t.byte_range(97, 122))

    rest = t.Rule("letters", letters, nullable=True, regular=True)
    heads = t.Heads((t.cat(t.literal(b"a"), rest),), (False,))
    store = TermStore()
    for end in (b"0", b"1"):
        branches = t.Branches("branch", heads, lambda number, end=end: t.literal(end))
        assert store.nullable(store.advance(store.intern(branches), b"abc" + end))
    assert made == ["letters"]


def test_branches_are_made_only_when_reached_and_once():
    made = []

    def body(number):
        made.append(number)
        return t.alt((t.cat(t.literal(b"+"), again), t.EPS))

    heads = t.Heads(tuple([t.literal(name) for name in (b"A", b"BB", b"C")]), (True, True, True))
    again = t.Branches("branch", heads, body)
    store = TermStore()
    state = store.intern(again)
    assert made == []
    after = store.advance(state, b"BB")
    assert store.nullable(after)
    assert store.advance(after, b"+") == state
    assert made == [1]
    assert store.nullable(store.advance(state, b"BB+A+BB"))
    assert made == [1, 0]
    assert store.build_rules(10, max_terms=10**6) == 1
    assert made == [1, 0, 2]


def test_left_recursion_is_refused():
    rule = t.Rule("left", lambda: t.alt((t.cat(rule, t.literal(b"a")), t.literal(b"b"))))
    store = TermStore()
    with pytest.raises(UnsupportedFeatureError, match="left recursion"):
        store.advance(store.intern(rule), b"b")


def test_growth_past_the_limit_says_what_was_needed():
    store = TermStore(Limits(max_terms=2000))
    with pytest.raises(LimitExceededError, match="max_terms"):
        store.intern(t.literal(b"abc" * 5000))


def test_an_undecidable_intersection_ends_by_its_budget():
    # (a|b)*a(a|b){n} has 2**n states; with its mirror the search is long.
    ab = t.byte_class(b"ab")
    left = t.cat(t.star(ab), t.literal(b"a"), t.repeat(ab, 18, 18))
    right = t.cat(t.star(ab), t.literal(b"b"), t.repeat(ab, 18, 18))
    store = TermStore(Limits(max_emptiness_states=500))
    with pytest.raises(LimitExceededError, match="max_emptiness_states"):
        store.is_empty(store.intern(t.intersect((left, right))))


LETTER = UTF8.spell(CodepointSet.of(*filter(str.isalpha, map(chr, range(0x3000)))))
WORD = t.cat(t.plus(LETTER), t.literal(b" "))
ANY = UTF8.spell(CodepointSet.ANY)
ASCII = t.byte_class(bytes(range(0x80)))
UP_TO_300 = t.repeat(ANY, 0, 300)


@pytest.mark.parametrize(
    ("term", "empty"),
    [
        (t.intersect((t.repeat(WORD, 20, 30), UP_TO_300)), False),
        (t.intersect((t.repeat(WORD, 20, 30), t.repeat(ANY, 0, 5))), True),
        # ASCII goes on without end, and in both is only what is not ASCII.
        (t.intersect((t.repeat(ANY, 0, 1 << 30), t.complement(t.star(ASCII)))), False),
        (t.intersect((t.repeat(UTF8.spell(CodepointSet.of("éü")), 2, 9), UTF8.text)), False),
    ],
)
def test_a_search_does_not_get_lost_in_characters_that_are_begun(term, empty):
    store = TermStore(Limits(max_emptiness_states=3_000))
    assert store.is_empty(store.intern(term)) == empty


def test_a_text_with_what_it_must_not_have_is_dead_without_a_search():
    without = t.complement(t.cat(UTF8.text, t.literal(b"bad"), UTF8.text))
    store = TermStore(Limits(max_emptiness_states=3_000))
    start = store.intern(t.intersect((t.repeat(WORD, 3, 400), UP_TO_300, without)))
    assert store.advance(start, b"a bed") != DEAD
    assert store.advance(start, b"a bad") == DEAD


def chain_of_rules(length, end):
    """`a` so often, and then an end; each a rule."""

    def rule(i):
        rest = end if i == length else t.cat(t.literal(b"a"), rule(i + 1))
        return t.Rule(f"rule {i}", lambda: rest, regular=True)

    return rule(0)


@pytest.mark.parametrize(("end", "empty"), [(b"b", False), (b"aa", True)])
def test_a_search_goes_on_where_it_waited_for_a_body(end, empty):
    store = TermStore()
    even = t.repeat(t.literal(b"aa"), 0, None)
    term = t.intersect((chain_of_rules(250, t.literal(end)), t.complement(even)))
    state = store.intern(term)
    before = int(store.arena[lay.EPOCH])
    assert store.is_empty(state) == empty
    # One search, and one more for each time that the arena grew; not one for each of 250 bodies.
    assert int(store.arena[lay.EPOCH]) - before < 10


def test_a_search_that_another_one_came_between_begins_anew():
    store = TermStore()
    other = store.intern(t.intersect((t.complement(t.literal(b"a")), t.complement(t.EPS))))
    rules = [chain_of_rules(3, t.literal(b"b"))]

    def with_a_search():
        assert not store.is_empty(other)
        return rules[0]

    between = t.Rule("between", with_a_search, regular=True)
    some = t.alt((t.literal(b"c"), t.cat(t.literal(b"a"), between)))
    for wanted, empty in ((b"aaaab", False), (b"aaab", True)):
        both = store.intern(t.intersect((some, t.complement(t.literal(b"c")), t.literal(wanted))))
        assert store.is_empty(both) == empty


def test_many_alternatives_with_long_common_prefixes():
    words = [b"x" * 3000 + bytes([c]) for c in b"abc"]
    store = TermStore()
    state = store.intern(t.alt(map(t.literal, words)))
    for word in words:
        assert store.nullable(store.advance(state, word))
    assert store.advance(state, b"x" * 3000 + b"d") == DEAD
