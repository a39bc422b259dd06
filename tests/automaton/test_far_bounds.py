"""A state without its far bounds tells which short tokens may follow it."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain import Grammar, Limits, Vocabulary, allocate_token_bitmask, compile
from constrain.algebra import terms as t
from constrain.algebra.store import TermStore
from constrain.algebra.structure import Structure
from constrain.automaton import Automaton, far_bounds, inclusion
from constrain.automaton.far_bounds import FarBounds
from constrain.automaton.inclusion import Inclusions
from constrain.automaton.long_tokens import LENGTHS, _rows, long_tokens, longer_than
from constrain.automaton.masks import MaskRows
from constrain.kernels.derive import layout as lay
from tests.algebra.strategies import boolean_terms, plain_terms

SHORT = [bytes(p) for n in range(5) for p in itertools.product(b"ab", repeat=n)]


def _long_texts():
    """Words with spaces between them, up to 90 bytes long, and ends of strings after some."""
    rng = random.Random(7)
    yield from (bytes([byte]) for byte in range(256))
    for _ in range(250):
        words = [rng.choice(["a", "ab", "zz", "é", "9", "  "]) for _ in range(rng.randint(1, 40))]
        text = rng.choice(["", " "]).join(words) + rng.choice(["", "", '"', '",', '"]'])
        yield text.encode()[:90]


LONG = Vocabulary([*_long_texts(), None], eos_token_ids=[506])

PATTERNS = [
    r"^(?:\S+\s+){0,29}\S+$",
    r"^(?:\S+\s+){0,99}\S+$",
    r"^[a-z]*( [a-z]+){3,14}$",
    r"^a.*z$",
    r"^(?:...){0,40}zzz$",
    r"^[^9]{0,70}9?$",
    r"^(?:[ab]{0,30} ){0,3}$",
    r"z[a-z]{3}",
    r"é{2,}",
    r"^$|^(?:\S+ ?){0,60}$",
]
BEGINNINGS = ['"', '"a', '"ab  zz', '"a é ', '"' + "ab " * 9, '"' + "z" * 23, '"a"', '"\\u']


@pytest.mark.parametrize("longest", [13, 24, 25, 31, 40, 64, 100, 300, None])
@pytest.mark.parametrize("shortest", [0, 1, 20])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_rows_are_those_of_the_plain_walk(pattern, shortest, longest):
    schema = {"type": "string", "pattern": pattern, "minLength": shortest}
    if longest is not None:
        schema["maxLength"] = shortest + longest
    automaton = Automaton(Grammar.from_json_schema(schema), LONG, Limits())
    for text in BEGINNINGS:
        state = automaton.after_bytes(automaton.start, text.encode())
        if state != 0:
            assert (automaton.mask_row(state).words == automaton.walk_mask(state)).all(), text


@pytest.mark.parametrize(
    ("schema", "text", "told"),
    [
        ({"pattern": r"^(?:\S+\s+){0,99}\S+$", "maxLength": 400}, '"a ', True),
        ({"pattern": r"^(?:\S+\s+){0,99}\S+$"}, '"a ', True),
        ({"pattern": r"^(?:\S+\s+){0,99}\S+$", "minLength": 1}, '"a ', True),
        ({"pattern": r"^[^9]*9$", "maxLength": 400}, '"a ', True),
        # Not where a text of 16 bytes may be too long already, or what is left is not known.
        ({"pattern": r"^[^9]*9$", "maxLength": 18}, '"a ', False),
        ({"pattern": r"^[^9]*9$", "not": {"pattern": "z{3}"}, "maxLength": 400}, '"a ', False),
    ],
)
def test_which_rows_are_told_by_others(schema, text, told, monkeypatch):
    found = []
    make = MaskRows._make_of_far

    def spy(rows, state):
        row = make(rows, state)
        found.append(row is not None)
        return row

    monkeypatch.setattr(MaskRows, "_make_of_far", spy)
    automaton = Automaton(Grammar.from_json_schema({"type": "string", **schema}), LONG, Limits())
    automaton.mask_row(automaton.after_bytes(automaton.start, text.encode()))
    assert any(found) == told


@pytest.fixture
def near_is_far(monkeypatch):
    """Bounds of two bytes count as far, so that short texts show all there is to see."""
    monkeypatch.setattr(far_bounds, "LEAST_REACH", 2)
    monkeypatch.setattr(far_bounds, "LEAST_OF_WORDS", 2)
    monkeypatch.setattr(far_bounds, "LENGTHS", (1,))


most = st.sampled_from([3, 5, 12, 14])
bounded = st.builds(t.repeat, plain_terms, st.integers(0, 3), most)
words = st.builds(
    lambda x, y, hi: t.cat(t.repeat(t.cat(x, y), 0, hi), x), plain_terms, plain_terms, most
)
letters = st.builds(lambda hi: t.repeat(t.ByteClass(3 << 97), 0, hi), most)
pieces = st.one_of(bounded, words, plain_terms)
heads = st.one_of(
    pieces,
    st.builds(t.cat, pieces, pieces),
    st.lists(pieces, min_size=2, max_size=2).map(t.alt),
    st.builds(lambda a, b: t.intersect((a, b)), letters, pieces),
    st.builds(lambda a, b, c: t.cat(t.intersect((a, b)), c), letters, pieces, pieces),
    st.builds(lambda a, b: t.intersect((a, t.complement(b))), letters, pieces),
    st.builds(lambda a, b: t.intersect((a, b)), bounded, boolean_terms),
)


@settings(
    max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(heads, st.sampled_from(["", ",", "rule"]))
def test_both_let_the_same_short_texts_through(near_is_far, head, after):
    rule = t.Rule("after", lambda: t.literal(b"ab"))
    store = TermStore()
    start = store.intern(t.cat(head, rule if after == "rule" else t.literal(after.encode())))
    bounds = FarBounds(store, Structure(store))
    for text in SHORT[:15]:
        state = store.advance(start, text)
        found = None if state == 0 or store.is_empty(state) else bounds.without(state)
        if found is None:
            continue
        assert found.state != state
        for more in SHORT:
            alive = store.advance(state, more) != 0
            if len(more) <= found.longest:
                assert alive == (store.advance(found.state, more) != 0), (text, more)
            elif alive:
                assert store.advance(found.state, more) != 0, (text, more)
            if alive and found.at_most is not None:
                assert store.advance(found.at_most, more) != 0, (text, more)
            if found.at_least is not None and store.advance(found.at_least, more) != 0:
                assert alive, (text, more)
            ends = alive and store.nullable(store.advance(state, more))
            ended = store.advance(found.state, more)
            if len(more) <= found.longest:
                assert ends == (ended != 0 and store.nullable(ended)), (text, more)


@pytest.mark.parametrize(("max_states", "known"), [(10_000, True), (100, None)])
def test_that_one_member_is_part_of_another(max_states, known):
    store = TermStore()
    letters = store.intern(t.repeat(t.ByteClass(3 << 97), 0, None))
    words = store.intern(t.cat(t.literal(b"a"), t.repeat(t.literal(b"ab"), 0, 3000)))
    assert store.is_part(words, letters, max_states=max_states) is known
    assert store.is_part(letters, words, max_states=max_states) is False
    assert int(store.arena[lay.EMPTINESS_LIMIT]) == Limits().max_emptiness_states


def test_searches_for_nothing_are_few(monkeypatch):
    monkeypatch.setattr(inclusion, "MAX_STATES", 3)
    asked = []
    is_part = TermStore.is_part

    def spy(store, state, of, *, max_states):
        found = is_part(store, state, of, max_states=max_states)
        asked.append(found)
        return found

    monkeypatch.setattr(TermStore, "is_part", spy)
    pattern = "^(?:" + "|".join(f"{n}[a-z]{{{n}}}" for n in range(10, 40)) + ")*$"
    # That it is made of texts without an A can be read; of such before those without a B cannot.
    both = [{"pattern": pattern}, {"pattern": "^[^A]*[^B]*$"}]
    schema = {"type": "string", "allOf": both, "maxLength": 400}
    automaton = Automaton(Grammar.from_json_schema(schema), LONG, Limits())
    for n in range(10, 40):
        state = automaton.after_bytes(automaton.start, f'"{n}abcde'.encode())
        assert (automaton.mask_row(state).words == automaton.walk_mask(state)).all()
    assert asked.count(None) == inclusion.MAX_SEARCHES


def test_rules_inside_of_themselves_have_no_far_bounds():
    rule = t.Rule("r", lambda: t.cat(t.literal(b"a"), t.alt((rule, t.EPS))))
    store = TermStore()
    term = t.cat(t.repeat(t.literal(b"b"), 0, 99), rule)
    state = store.intern(term)
    store.make_first(state)
    assert FarBounds(store, Structure(store)).without(state) is not None, "before the rule"
    state = store.intern(t.intersect((t.repeat(t.ByteClass(3 << 97), 0, 99), rule)))
    store.make_first(state)
    assert FarBounds(store, Structure(store)).without(state) is None


@pytest.mark.parametrize("length", [16, 17, 40, 89, 90, 500])
def test_long_tokens(length):
    lengths = [len(LONG.bytes_of(i)) for i in range(506)] + [0]
    trie, past = long_tokens(LONG, length)
    assert past == max(known for known in LENGTHS if known <= length)
    assert sorted(trie.tokens.tolist()) == [i for i in range(507) if lengths[i] > past]
    words = longer_than(LONG, length).view("uint32")
    told = [bool(int(words[i >> 5]) >> (i & 31) & 1) for i in range(32 * len(words))]
    assert told == [i < 507 and lengths[i] > length for i in range(len(told))]


def test_a_pattern_may_have_bounds_without_end():
    parts = "|".join(f"(?:{chr(97 + n % 26)}+-){{0,{n}}}{n}" for n in range(30, 400))
    schema = {"type": "string", "pattern": f"^(?:{parts})$", "maxLength": 2000}
    automaton = Automaton(Grammar.from_json_schema({"items": schema}), LONG, Limits())
    for text in ('["', '["a', '["z-', '["b-b'):
        state = automaton.after_bytes(automaton.start, text.encode())
        assert (automaton.mask_row(state).words == automaton.walk_mask(state)).all(), text


def test_words_are_told_by_what_allows_more_and_what_allows_less(monkeypatch):
    asked = []
    make = MaskRows._make_of_far

    def spy(rows, state):
        row = make(rows, state)
        asked.append((rows._far_bounds.known(state), row))
        return row

    monkeypatch.setattr(MaskRows, "_make_of_far", spy)
    schema = {"type": "string", "pattern": r"^(?:\S+\s+){0,9}\S+$"}
    automaton = Automaton(Grammar.from_json_schema(schema), LONG, Limits())
    for n in range(1, 10):
        state = automaton.after_bytes(automaton.start, b'"' + b"ab " * n + b"a")
        assert (automaton.mask_row(state).words == automaton.walk_mask(state)).all(), n
    told = [like for like, row in asked if row is not None]
    assert len({like.state for like in told}) == len({like.at_least for like in told}) == 1
    assert len(told) == 4


text = t.repeat(t.alt((t.ByteClass(7 << 97), t.literal("é".encode()))), 0, None)


@settings(max_examples=300)
@given(st.one_of(heads, boolean_terms, st.builds(t.cat, heads, boolean_terms)))
def test_what_is_seen_to_be_made_of_texts_is(head):
    store = TermStore()
    state, of = store.intern(head), store.intern(text)
    if store.is_empty(state) or not Inclusions(store, Structure(store)).is_part(state, of, no_one):
        return
    assert store.is_part(state, of, max_states=10_000) is True


def no_one(state):
    """Without a search."""
    return None


@pytest.mark.parametrize(
    ("pattern", "seen"),
    [
        (r"([a-c]{1,63}(é|b))*a{5,900}", True),
        (r"[a-c]+(?:éé|c{2}(?:é|ab)*)*", True),
        (r"[a-cê]+", False),
        (r"[a-c]*d", False),
    ],
)
def test_what_is_seen_without_a_search_of_all_states(pattern, seen):
    store = TermStore()
    state = store.intern(Grammar.from_regex(pattern).term)
    of = store.intern(text)
    assert Inclusions(store, Structure(store)).is_part(state, of, no_one) is seen


def word(letters):
    return t.cat(t.repeat(t.byte_class(letters), 1, None), t.literal(b"-"))


@pytest.mark.parametrize("hi", [1, 2, 3, 9])
def test_near_bounds_are_no_farther_than_those_they_stand_for(hi):
    store = TermStore()
    long_words = t.repeat(t.cat(word(b"ab"), t.literal(b"12345678")), 0, hi)
    state = store.intern(t.cat(long_words, t.repeat(word(b"ab"), 0, 3), t.literal(b"c")))
    like = FarBounds(store, Structure(store)).without(state)
    at_least = None if like is None else like.at_least
    assert (at_least is None) == (hi <= far_bounds.NEAR)
    assert at_least is None or store.is_part(at_least, state, max_states=10_000)


LETTERS = bytes([*range(65, 91), *range(97, 122)])
WORDS = Vocabulary(
    [bytes([byte]) for byte in range(256)]
    + [b"a-" * n for n in range(2, 22)]
    + [b"@yy" + b"a-" * n for n in range(1, 15)]
    + [None],
    eos_token_ids=[256 + 20 + 14],
)


@pytest.mark.parametrize("start", [b"2", b"3"])
def test_nothing_is_said_of_what_comes_after_terms_not_looked_into(start):
    words = t.repeat(word(LETTERS + b"z"), 0, 20)
    wanted = t.cat(
        t.repeat(word(LETTERS), 0, None), t.literal(b"z-"), t.repeat(word(LETTERS), 15, 15)
    )
    both = t.intersect((words, wanted))  # ten words may not begin it, as sixteen must follow
    inner = t.Rule("inner", lambda: t.literal(b"yy"))
    rule = t.Rule("rule", lambda: t.cat(t.literal(b"@"), inner))
    end, other = t.literal(b'"'), t.literal(b"&&")
    before = t.alt((t.cat(t.alt((both, rule)), end), other))
    after = t.alt((t.cat(t.alt((words, rule)), both, end), other))
    alone = t.alt((t.cat(both, end), other))
    starts = zip((b"1", b"2", b"3"), (alone, before, after), strict=True)
    term = t.alt([t.cat(t.literal(digit), rest) for digit, rest in starts])
    automaton = Automaton(Grammar(term, "test"), WORDS, Limits())
    for text in (b"1", start):
        state = automaton.after_bytes(automaton.start, text)
        assert (automaton.mask_row(state).words == automaton.walk_mask(state)).all(), text


def test_bounds_of_any_length_leave_no_row_each():
    vocab = Vocabulary([*_long_texts(), None], eos_token_ids=[506])
    for length in (90, 91, 1_000, 10_000_000):
        assert not longer_than(vocab, length).any()
    for hi in range(200, 260):
        automaton = Automaton(Grammar.from_regex(rf"(?:\S+ ){{0,{hi}}}\S+"), vocab, Limits())
        automaton.mask_row(automaton.start)
    assert max(_rows(vocab)) <= vocab.trie.max_depth


@pytest.mark.parametrize("quoted", [False, True])
def test_masks_beside_what_a_text_must_not_have_take_no_long_searches(quoted):
    if quoted:
        pattern = r"^(\p{L}+ ){3,400}\p{L}+$"
        schema = {"type": "string", "pattern": pattern, "not": {"pattern": "bad"}}
        grammar = Grammar.from_json_schema(schema)
    else:
        words = Grammar.from_regex(r"(\w+ ){3,40}\w+") & Grammar.from_regex(r".{0,300}")
        grammar = words & ~Grammar.from_regex(r"(?s).*(bad|evil).*")
    tokens = [b'"', b"a", b"d", b"bad", b"a bad", b" ", b"\xc3", b"\xa9"]
    vocab = Vocabulary([*tokens, None], eos_token_ids=[8])
    matcher = compile(grammar, vocab, limits=Limits(max_emptiness_states=5_000)).matcher()
    bitmask = allocate_token_bitmask(1, vocab.vocab_size)
    if quoted:
        assert matcher.accept_token(0)
    for token, allowed in ((1, {1, 2, 6}), (5, {1, 2, 5, 6}), (1, {1, 2, 6})):
        matcher.fill_next_token_bitmask(bitmask)
        assert {i for i in range(9) if bitmask[0, 0] >> i & 1} == allowed
        assert matcher.accept_token(token)
