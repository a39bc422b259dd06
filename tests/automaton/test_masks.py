"""Rows made from shared heads and counters are the rows of the plain walk."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import constrain
from constrain import Grammar, Limits, Vocabulary
from constrain.algebra import arena as arena_module
from constrain.algebra import store as store_module
from constrain.algebra import terms as t
from constrain.algebra.store import TermStore
from constrain.automaton import Automaton, headwalk, walker
from constrain.automaton.heads import pack_bits
from constrain.automaton.slices import PLAIN_TEXT, forest_of
from constrain.kernels.derive import layout as lay
from constrain.kernels.walk import layout as lay_walk
from constrain.kernels.walk.modes import BASED_ROW
from tests.algebra.strategies import boolean_terms, plain_terms
from tests.matcher.vocabularies import JSON, NASTY

# Every text of up to 4 letters is a token, so that a token can leave a head at any place of it.
DENSE = Vocabulary(
    [bytes(p) for n in range(1, 5) for p in itertools.product(b"ab,", repeat=n)] + [None],
    eos_token_ids=[3 + 9 + 27 + 81],
)

# The same with quotes.
QUOTED = Vocabulary(
    [bytes(p) for n in range(1, 5) for p in itertools.product(b'ab",', repeat=n)] + [None],
    eos_token_ids=[4 + 16 + 64 + 256],
)


def token_ids(words):
    """The ids whose bits are set."""
    return set(np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist())


def rule_of(term):
    """A rule with this language, without the empty text: what follows a head in real grammars."""
    body = t.non_nullable(term)
    store = TermStore()
    assume(not store.is_empty(store.intern(body)))
    return t.Rule("after", lambda: body)


@pytest.fixture(autouse=True)
def every_walk_is_long(monkeypatch):
    """Heads of these small vocabularies are shared too."""
    for name in ("LONG_WALK", "TEXT_WORTH", "WORTH"):
        monkeypatch.setattr(headwalk, name, 0)


def check_rows(term, vocab, texts):
    # No row is remembered, so that each is made anew.
    automaton = Automaton(Grammar(term, "test"), vocab, Limits(max_mask_rows_bytes=1))
    if automaton.is_empty(automaton.start):
        return
    # The second visit measures the heads, the third uses what was measured.
    for text in texts * 3:
        state = automaton.after_bytes(automaton.start, text)
        if state != 0:
            row = automaton.mask_row(state).words
            assert (row == automaton.walk_mask(state)).all(), text


short_texts = [bytes(p) for n in range(4) for p in itertools.product(b"ab,", repeat=n)]
counters = st.tuples(plain_terms, st.integers(0, 6), st.one_of(st.none(), st.integers(0, 12)))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(boolean_terms, max_size=3), plain_terms)
def test_heads_before_a_rule(parts, after):
    check_rows(t.cat(*parts, rule_of(after)), NASTY, [b"", b"a", b"b", b"ab", b"\x80", b"a\xff"])


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(counters, plain_terms, plain_terms)
def test_counted_heads_before_a_rule(counter, rest, after):
    body, lo, more = counter
    repeat = t.repeat(body, lo, None if more is None else lo + more)
    check_rows(t.cat(repeat, rest, rule_of(after)), NASTY, [b"", b"a", b"b", b"ab", b"aab"])


@pytest.mark.parametrize("rest", [b"", b",", b",a"])
@pytest.mark.parametrize("letter", [b"a", b"ab", b"aa"])
@pytest.mark.parametrize(("lo", "hi"), [(0, None), (0, 0), (0, 3), (2, 3), (3, 9), (5, None)])
def test_bounds_near_and_far(letter, lo, hi, rest):
    after = t.Rule("after", lambda: t.alt((t.literal(b"ba"), t.literal(b",,"), t.literal(b"a"))))
    body = t.byte_class(letter) if len(letter) == 1 else t.alt(map(t.literal, (letter, b"b")))
    check_rows(t.cat(t.repeat(body, lo, hi), t.literal(rest), after), DENSE, short_texts)


def test_a_head_is_shared_by_grammars_and_bounds():
    vocab = Vocabulary([bytes(p) for p in itertools.product(b'ab"', repeat=3)] + [None], [27])
    char = t.byte_class(b"ab")
    walks = []
    for hi in (2, 9, None):
        for tail in (b"ab", b"ba"):
            after = t.Rule("after", lambda tail=tail: t.literal(tail))
            grammar = Grammar(t.cat(t.repeat(char, 0, hi), t.literal(b'"'), after), "test")
            automaton = Automaton(grammar, vocab, Limits())
            walks.append(automaton.mask_row(automaton.start).words.tolist())
            assert walks[-1] == automaton.walk_mask(automaton.start).tolist()
    assert len({tuple(w) for w in walks}) > 1


def test_rows_are_dropped_by_bytes_and_made_again():
    compiled = constrain.compile(
        Grammar.from_regex("(a|b){3}"), DENSE, limits=Limits(max_mask_rows_bytes=1)
    )
    first = compiled.automaton.mask_row(compiled.automaton.start).words.copy()
    for text in (b"a", b"ab", b"aba"):
        compiled.automaton.mask_row(compiled.automaton.after_bytes(compiled.automaton.start, text))
    assert compiled.nbytes < 10_000_000
    assert (compiled.automaton.mask_row(compiled.automaton.start).words == first).all()


def test_a_row_cannot_be_written():
    compiled = constrain.compile(Grammar.from_regex("a"), DENSE)
    with pytest.raises(ValueError, match="read-only"):
        compiled.automaton.mask_row(compiled.automaton.start).words[0] = 1
    assert compiled.automaton.mask_row(compiled.automaton.start).words.dtype == np.int32


FREE_TEXT = [
    (r'"[^"\\\x00-\x1f]*"', True),
    (r'"(?!ab|xy)[^"\\\x00-\x1f]*"', True),
    (r"[^\x00]*", True),
    (r'"([^"\\\x00-\x1f]|\\["n])*"', True),
    (r'"[^"\\\x00-\x1f]{0,3}"', False),
    (r'"[^"\\\x00-\x1fx]*"', False),
    (r'"[^"\\]*"', True),
    (r'"[ -~é]*"', False),
    # What follows begins like the text, with a part of a character, or with what no text has.
    (r'"[^"\\\x00-\x1f]*a"', True),
    (r'"[^"\\\x00-\x1f]*é"', True),
    (r'"[^"\\\x00-\x1f]*[a"]"', True),
    (r'"[^"\\\x00-\x1f]*\n[^"\\\x00-\x1f]*"', True),
    (r'"[^"\\\x00-\x1f]*\\?"', True),
    (r'"(ab|[^"\\\x00-\x1f])*a{2}"', True),
]


@pytest.mark.parametrize(("pattern", "covered"), FREE_TEXT)
def test_states_that_let_all_plain_text_through(pattern, covered):
    vocab = Vocabulary(JSON.token_bytes, JSON.eos_token_ids)  # whose heads are not known yet
    automaton = Automaton(Grammar.from_regex(pattern), vocab, Limits(max_mask_rows_bytes=1))
    seen, todo, flagged = {automaton.start}, [automaton.start], False
    while todo and len(seen) < 60:
        state = todo.pop()
        row = automaton.mask_row(state)
        assert (row.words == automaton.walk_mask(state)).all()
        flagged |= bool(automaton._store.arena[lay.NODE * state + lay.FLAGS] & lay.COVERS)
        for token_id in row.token_ids():
            after = automaton.after_token(state, token_id)
            if after and after not in seen:
                seen.add(after)
                todo.append(after)
    assert flagged == covered


def test_a_look_for_plain_text_gives_up_where_each_character_makes_a_rule():
    """As where the spaces of a comment count: no more rules than tokens need, but a few."""
    made = []

    def after(count):
        def body():
            made.append(count)
            return t.alt((t.cat(PLAIN_TEXT.body, after(count + 1)), t.literal(b"\n")))

        return t.Rule(f"after {count}", body, keep=False)

    automaton = Automaton(Grammar(after(0), "counted"), JSON, Limits())
    row = automaton.mask_row(automaton.start)
    assert len(made) < 20  # a token has six characters at most
    assert (row.words == automaton.walk_mask(automaton.start)).all()


@pytest.mark.parametrize("vocab", [NASTY, JSON, DENSE])
def test_the_row_of_plain_text_is_what_the_walk_of_plain_text_allows(vocab):
    automaton = Automaton(Grammar(PLAIN_TEXT, "plain text"), vocab, Limits())
    forest = forest_of(vocab)
    allowed = token_ids(automaton.walk_mask(automaton.start))
    begins = token_ids(forest.words)
    assert allowed == begins | set(vocab.eos_token_ids)
    texts = {i for i, text in enumerate(vocab.token_bytes) if text}
    others = forest.plain[lay_walk.OTHERS]
    assert (texts - begins == set()) == (others == lay_walk.NO_TRIE)
    if others != lay_walk.NO_TRIE:
        assert set(forest.tokens_below([int(others)]).tolist()) == texts - begins


def test_a_search_for_emptiness_does_not_disturb_the_cover():
    # Both keep a queue. With one in common, states that forbid a text were taken to let it through.
    def regex(pattern):
        return Grammar.from_regex(pattern)

    text = regex(r'[^"\\\x00-\x1f]*')
    core = text & ~(
        regex(r"ac(| p?|!q?|#r?)")
        | regex(r"b[\s\S]*[^0-9][\s\S]*")
        | regex(r"wb[\s\S]*[^0-9][\s\S]*")
    )
    other = text & ~regex(r"[\s\S]*ab[^k][^m]{3}cd[\s\S]*")
    vocab = Vocabulary([*(bytes([b]) for b in range(256)), b"bx", b"b1", b"axy", None], [259])
    automaton = Automaton((regex("0") + other) | (regex("1") + core), vocab, Limits())
    state = automaton.after_bytes(automaton.start, b"0")
    for letter in b"abcdefg" * 20:  # the arena grows, so that no growth restarts the cover
        state = automaton.after_bytes(state, bytes([letter]))
    for prefix in (b"1", b"1w", b"1a", b"1ac", b"1b", b"1wb"):
        state = automaton.after_bytes(automaton.start, prefix)
        assert (automaton.mask_row(state).words == automaton.walk_mask(state)).all(), prefix


RUNS = st.sampled_from(["[^\\x00-\\x1f]", "[a-zA-Z0-9_.-]", "[ -~]", "[a-z0-9A-Zé]", '[^"ab]', "."])
BOUNDS = st.sampled_from(["*", "+", "{0,1}", "{1,3}", "{2,5}", "{3}", "{1,40}", "{5,}"])
AFTER = st.sampled_from(["", '"', "a", "ab|b", '"[a-z ]*"', "[0-9]{2}"])
TYPING = Vocabulary(
    [bytes(p) for n in range(1, 4) for p in itertools.product(b'ab" -', repeat=n)]
    + [bytes([b]) for b in range(256)]
    + [b"aaaaaaa", b'aaaa"', "aé".encode(), "éé".encode(), b"a\xc3"]
    + ["€a".encode(), "\u2028a".encode(), "a😀".encode(), b"\xe2\x82", b"\xed\xa0\x80", b"a\xe2a"]
    + [b"\x82\xaca", b"\xf4\x90", b"\xf4\x8f\xbf\xbf", b"\xe0\x80a", b"\xe0\xa0", None],
    eos_token_ids=[5 + 25 + 125 + 256 + 16],
)


def group_of(text):
    """The group of the last byte of a text."""
    for rest in [tail * n for tail in (b"\x80", b"\xbf") for n in range(4)]:
        try:
            (text + rest).decode()
        except UnicodeDecodeError:
            continue
        lead = max(i for i, byte in enumerate(text) if byte & 0xC0 != 0x80)
        return int(lay_walk.GROUPS[text[lead]])
    return lay_walk.MALFORMED


@pytest.mark.parametrize("vocab", [NASTY, JSON, TYPING])
def test_the_groups_of_bytes_in_a_node_and_below_it_and_the_levels(vocab):
    paths, expected, levels = [], [], []
    for node, depth in enumerate(vocab.trie.depth.tolist()):
        del paths[depth:]
        paths.append((paths[-1][1] if paths else b"") + bytes([vocab.trie.byte[node]]))
        paths[-1] = (node, paths[-1])
        expected.append(0)
        levels.append(1)
        for above, _ in paths:
            expected[above] |= 1 << group_of(paths[-1][1])
            levels[above] = max(levels[above], depth - int(vocab.trie.depth[above]) + 1)
    assert forest_of(vocab).preorder[len(expected) :].tolist() == expected + levels


@settings(max_examples=100)
@given(st.lists(st.tuples(RUNS, BOUNDS), min_size=1, max_size=3), AFTER, st.booleans())
def test_runs_of_many_bytes(parts, after, quoted):
    body = "".join(f"{run}{bound}" for run, bound in parts)
    pattern = f'"{body}"({after})' if quoted else f"{body}({after})"
    automaton = Automaton(Grammar.from_regex(pattern), TYPING, Limits(max_mask_rows_bytes=1))
    texts = [b"", b"a", b"aa", b'"', b'"a', b'"aaa', b'"aa"', b"-a-", "é".encode(), b"\xc3"]
    for text in texts * 2:
        state = automaton.after_bytes(automaton.start, text)
        if state != 0:
            assert (automaton.mask_row(state).words == automaton.walk_mask(state)).all(), text


EDGES = [0x80, 0xA0, 0xFF, 0x7FF, 0x800, 0xFFF, 0x1000, 0x1680, 0x2003, 0x2FFF, 0x3000, 0x3042]
EDGES += [0x3FFF, 0x4000, 0xCFFF, 0xD000, 0xD7FF, 0xE000, 0xEFFF, 0xF000, 0xFEFF, 0xFFFF]
EDGES += [0x10000, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, 0x10FFFF]
LETTERS = [chr(edge).encode() for edge in EDGES]
_TEXTS = {
    begin + letter[:n] + end
    for begin, ends in ((b"", b"e "), (b"e", b"e0"), (b" e0", b"e"), (b"00", b"0"))
    for letter in LETTERS
    for n, end in ((1, b""), (2, b""), (3, b""), *((4, bytes([byte])) for byte in ends))
}
_TEXTS |= {b'e"', b'e"a', b" ", b"0\xa0", b"0\xa0e", b"0e\x80", b"e\xc3e"}
MANY_LETTERS = Vocabulary([*sorted(_TEXTS), None], eos_token_ids=[len(_TEXTS)])


@settings(max_examples=100)
@given(st.sets(st.sampled_from(EDGES), max_size=5), st.booleans(), st.booleans())
def test_letters_that_lead_back_and_others_that_do_not(out, spaced, quoted):
    """Groups go by the first bytes of letters; some letters of a group are left out."""
    left_out = "".join(rf"\u{{{edge:X}}}" for edge in sorted(out))
    body = f'[^"\\s{left_out}]*'
    body = f"({body} )*{body}" if spaced else body
    grammar = Grammar.from_regex(f'{body}"[ab]' if quoted else body, dialect="ecma", flags="u")
    automaton = Automaton(grammar, MANY_LETTERS, Limits(max_mask_rows_bytes=1))
    for text in (b"", b"e", b"e0 ", b" ", b"\xe3", b"\xe3\x80", b"e\xf0"):
        state = automaton.after_bytes(automaton.start, text)
        if state != 0:
            assert (automaton.mask_row(state).words == automaton.walk_mask(state)).all(), text


names = st.sets(st.text("ab,", max_size=4).map(str.encode), max_size=6)
texts_of_names = [bytes(p) for n in range(4) for p in itertools.product(b'ab"', repeat=n)]


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names, names, plain_terms, plain_terms, st.booleans())
def test_states_that_differ_from_another_one_along_some_names(out, named, after, otherwise, quoted):
    quote, free = t.literal(b'"'), t.star(t.byte_class(set(range(256)) - set(b'"')))
    others = t.intersect((free, t.complement(t.alt(map(t.literal, out | named)))))
    parts = [t.cat(t.literal(name), quote, rule_of(after)) for name in named]
    keys = t.alt([*parts, t.cat(others, quote, rule_of(otherwise))])
    check_rows(t.cat(quote, keys) if quoted else keys, QUOTED, texts_of_names)


def test_such_states_use_the_row_of_the_other_one(monkeypatch):
    modes = []
    walk = walker.walk
    monkeypatch.setattr(walker, "walk", lambda *args: modes.append(args[-1]) or walk(*args))
    automaton = Automaton(Grammar.from_regex('(?!(ab|abba|b)")[^"]*"'), QUOTED, Limits())
    for text in (b"", b"a", b"ab"):
        state = automaton.after_bytes(automaton.start, text)
        assert (automaton.mask_row(state).words == automaton.walk_mask(state)).all()
    assert modes.count(BASED_ROW) == 3


@pytest.mark.parametrize("pattern", ["ab", "(?:a|b)", "aab|ba"])
def test_rows_that_differ_in_few_ids_are_all_kept(pattern):
    # A weak hash takes {0} and {1} for the same row, and then each forgets the other.
    vocab = Vocabulary([*(bytes([b]) for b in b"abcdefgh"), None, None], [8])
    automaton = Automaton(Grammar.from_regex(pattern), vocab, Limits())
    states = [automaton.after_bytes(automaton.start, text) for text in (b"", b"a", b"aa", b"b")]
    live = [state for state in states if state]
    for state in live:
        automaton.mask_row(state)
    assert all(automaton.known_row(state) is not None for state in live)


@pytest.mark.parametrize("text", [b"a", b"", b"ab"])
def test_a_token_named_by_a_rule_that_the_mask_makes(text):
    vocab = Vocabulary([b"a", b"b", b"ab", None, None], [3], special_tokens={"<call>": 4})
    call = t.Rule("call", lambda: t.alt((Grammar.token("<call>").term, t.literal(b"b"))))
    term = t.cat(t.literal(text), t.repeat(t.byte_class(b"b"), 0, 1), call)
    automaton = Automaton(Grammar(term, "test"), vocab, Limits())
    state = automaton.after_bytes(automaton.start, text)
    row = automaton.mask_row(state)
    assert row.token_ids() == [1, 4]
    assert (row.words == automaton.walk_mask(state)).all()
    assert automaton.after_token(state, 4) != 0


AFTER_A_RUN = [
    '[^"x]+"([ab" -]{1,9}|[ab]{2,8}"|"[ -]{1,7}a)*',
    '[^"x]{2,90}"(a[ab"]{1,8}|b[ -"]{2,7}|[ab]{3,5}"a)+',
    '(?:[^"x]|""b)*"(?:[^a]{1,5}|-[a" ]{1,4}b)*',
]


@pytest.mark.parametrize("pattern", AFTER_A_RUN)
@pytest.mark.parametrize("room", [4, 8, 16, 32, 64])
def test_a_walk_goes_on_where_it_was_when_terms_need_more_room(pattern, room, monkeypatch):
    least = dict.fromkeys(store_module.FIRST_CAPACITY, room)
    least |= {"products": lay.PRODUCT_SLOTS, "work": 64, "frames": 64}
    monkeypatch.setattr(store_module, "FIRST_CAPACITY", least)
    monkeypatch.setattr(arena_module, "_BLOCK", 4)  # what is zero is not copied
    for text in (b"", b"a", b'aa"'):
        automaton = Automaton(Grammar.from_regex(pattern), TYPING, Limits())
        state = automaton.after_bytes(automaton.start, text)
        assert (automaton.mask_row(state).words == automaton.walk_mask(state)).all(), text


@pytest.mark.parametrize("bound", ["{0,1}", "{0,2}", "{1,3}", "{0,90}"])
@pytest.mark.parametrize("between", ["[0-9]", "é", "[0-9é]"])
def test_rows_that_would_help_each_other(bound, between):
    # After a letter comes x{0,1}(letter x{0,1})*, for which x*(letter x{0,1})* would do, and back.
    automaton = Automaton(
        Grammar.from_regex(f'"(?:[ !#-/:-~]{between}{bound})*"x'), TYPING, Limits()
    )
    for text in (b"", b'"', b'"a', b'"aa', b'"a0', '"aé'.encode(), b'"-'):
        state = automaton.after_bytes(automaton.start, text)
        if state != 0:
            assert (automaton.mask_row(state).words == automaton.walk_mask(state)).all(), text


def test_states_that_differ_in_a_captured_text_share_a_row():
    grammar = Grammar.from_json_schema({"type": "object", "additionalProperties": {"const": 1}})
    automaton = Automaton(grammar, JSON, Limits())
    states = [
        automaton.after_bytes(automaton.start, text) for text in (b'{"a', b'{"ab', b'{"b":1,"b')
    ]
    rows = [automaton.mask_row(state) for state in states]
    assert rows[0] is rows[1]
    assert rows[1] is not rows[2]  # `b` came before
    for state, row in zip(states, rows, strict=True):
        assert row.words.tolist() == automaton.walk_mask(state).tolist()


@pytest.mark.parametrize("vocab", [JSON, TYPING])
@pytest.mark.parametrize("bound", ["{1,2}", "{1,17}", "{2,40}", "+", "*"])
@pytest.mark.parametrize("characters", ["[a-zA-Z0-9_-]", "[^/]", "."])
def test_keys_of_a_class_of_characters(vocab, bound, characters):
    keys = {f"^{characters}{bound}$": {"type": "boolean"}}
    schema = {"type": "object", "patternProperties": keys, "additionalProperties": False}
    automaton = Automaton(Grammar.from_json_schema(schema), vocab, Limits())
    for text in (
        b'{"',
        b'{"a',
        b'{"aab',
        b'{"ab":true,"',
        b'{"ab":true,"a',
        b'{"aaaaaaaaaaaaaaaaaa',
    ):
        state = automaton.after_bytes(automaton.start, text)
        if state != 0:
            assert (automaton.mask_row(state).words == plain_row(automaton, state)).all(), text


def plain_row(automaton, state):
    """The row of a state, token by token."""
    vocab = automaton.vocab
    allowed = [
        automaton.after_token(state, token) != 0 if token < vocab.num_tokens else False
        for token in range(vocab.vocab_size)
    ]
    for token in vocab.eos_token_ids:
        allowed[token] = automaton.is_accepting(state)
    return pack_bits(np.array(allowed))


@pytest.mark.parametrize("vocab", [JSON, TYPING])
@pytest.mark.parametrize("words", ["{0,1}", "{0,4}", "{0,6}", "{2,29}"])
@pytest.mark.parametrize("longest", [2, 5, 9, 300, None])
def test_counted_words_in_a_string_that_may_be_bounded_too(vocab, words, longest):
    schema = {"type": "string", "pattern": rf"^$|^(?:\S+\s+){words}\S+$"}
    if longest is not None:
        schema["maxLength"] = longest
    automaton = Automaton(Grammar.from_json_schema(schema), vocab, Limits())
    for text in (b'"', b'"a', b'"aa', b'"a a', b'"a  b', b'"a b c', '"é a'.encode(), b'"a"'):
        state = automaton.after_bytes(automaton.start, text)
        if state != 0:
            assert (automaton.mask_row(state).words == plain_row(automaton, state)).all(), text
