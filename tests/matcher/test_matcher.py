"""What each verb of a matcher does, before and after the end."""

from __future__ import annotations

import copy
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import constrain
from constrain import Grammar
from tests.algebra.strategies import plain_terms
from tests.matcher.vocabularies import JSON, NASTY, allowed_ids

A, B, AB, EOS, OTHER_EOS = 0, 1, 2, 16, 17


def compiled(pattern="(ab)+"):
    return constrain.compile(Grammar.from_regex(pattern), NASTY)


def allowed(matcher):
    bitmask = constrain.allocate_token_bitmask(1, NASTY.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    return allowed_ids(bitmask, 0, NASTY.vocab_size)


@given(plain_terms, st.lists(st.integers(0, NASTY.vocab_size - 1), max_size=6))
def test_the_list_of_allowed_tokens_is_the_bitmask(term, tokens):
    matcher = played(term, tokens)
    if matcher is None:
        return
    try:
        ids = matcher.allowed_token_ids()
    except constrain.MatchError as error:
        with pytest.raises(type(error)):
            allowed(matcher)
    else:
        assert ids == sorted(allowed(matcher))


def test_a_rejected_token_moves_nothing():
    matcher = compiled().matcher()
    assert not matcher.accept_token(B)
    assert matcher.num_steps == 0
    assert matcher.accept_token(A)
    assert not matcher.accept_token(A)
    assert matcher.accept_token(B)
    assert matcher.is_accepting


def test_the_end_token_is_accepted_only_at_a_sentence():
    matcher = compiled().matcher()
    assert not matcher.accept_token(EOS)
    assert matcher.accept_token(AB)
    assert matcher.accept_token(OTHER_EOS)
    assert matcher.is_terminated
    assert not matcher.accept_token(AB)
    assert not matcher.accept_bytes(b"ab")
    assert matcher.validate_tokens([AB]) == 0
    assert matcher.find_jump_forward_bytes() == b""


def test_a_terminated_matcher_says_so_and_can_go_back():
    matcher = compiled().matcher()
    assert matcher.accept_token(AB)
    assert matcher.accept_token(EOS)
    with pytest.raises(constrain.MatchError, match="has ended"):
        allowed(matcher)
    matcher.rollback(1)
    assert not matcher.is_terminated
    assert allowed(matcher) == {0, 4, 2, 3, EOS, OTHER_EOS}
    matcher.accept_token(EOS)
    matcher.reset()
    assert allowed(matcher) == {0, 4, 2, 3}


def test_only_end_tokens_when_a_sentence_cannot_grow():
    matcher = compiled("ab").matcher()
    assert not matcher.must_end
    assert matcher.accept_bytes(b"ab")
    assert allowed(matcher) == {EOS, OTHER_EOS}
    assert matcher.must_end
    assert matcher.accept_token(EOS)
    assert not matcher.must_end  # it has ended


@given(plain_terms, st.lists(st.integers(0, NASTY.vocab_size - 1), max_size=6))
def test_a_text_must_end_where_the_mask_has_end_tokens_only(term, tokens):
    matcher = played(term, tokens)
    if matcher is None or matcher.is_terminated:
        return
    try:
        only_ends = allowed(matcher) == {EOS, OTHER_EOS}
    except constrain.DeadEndError:
        only_ends = False
    assert matcher.must_end == only_ends


def test_rolling_back_too_far_is_an_error_and_moves_nothing():
    matcher = compiled().matcher()
    assert matcher.accept_token(AB)
    with pytest.raises(constrain.RollbackError, match="2 steps: 1 were"):
        matcher.rollback(2)
    with pytest.raises(constrain.RollbackError):
        matcher.rollback(-1)
    assert matcher.is_accepting


def test_token_ids_out_of_range_are_errors():
    matcher = compiled().matcher()
    for bad in (-1, NASTY.vocab_size, 2**40):
        with pytest.raises(constrain.TokenRejectedError, match=r"outside 0\.\.69"):
            matcher.accept_token(bad)
        with pytest.raises(constrain.TokenRejectedError):
            matcher.validate_tokens([A, bad])
    with pytest.raises(TypeError):
        matcher.accept_token("a")
    assert not matcher.accept_token(
        NASTY.vocab_size - 1
    )  # padding: it exists, and is never allowed


def test_numpy_integers_are_token_ids():
    matcher = compiled().matcher()
    assert matcher.accept_token(np.int64(AB))


def test_forced_text_stops_where_there_is_a_choice():
    matcher = compiled("abb(a|b)|abbb").matcher()
    assert matcher.find_jump_forward_bytes() == b"abb"
    assert matcher.num_steps == 0
    assert matcher.accept_bytes(b"abb")
    assert matcher.find_jump_forward_bytes() == b""
    assert compiled("(ab)?").matcher().find_jump_forward_bytes() == b""


def test_long_forced_text_comes_in_pieces():
    text = b"ab" * 40_000
    matcher = constrain.compile(Grammar.text(text), NASTY).matcher()
    first = matcher.find_jump_forward_bytes()
    assert first == text[:65_536]
    assert matcher.accept_bytes(first)
    rest = matcher.find_jump_forward_bytes()
    assert rest == text[65_536:]
    assert matcher.accept_bytes(rest)
    assert matcher.find_jump_forward_bytes() == b""


def test_a_matcher_is_accepting_only_where_the_text_is_a_sentence():
    matcher = compiled().matcher()
    assert not matcher.is_accepting
    assert matcher.accept_token(A)
    assert not matcher.is_accepting
    assert matcher.accept_token(B)
    assert matcher.is_accepting
    assert matcher.accept_token(EOS)
    assert matcher.is_accepting


def test_words_past_the_vocabulary_are_cleared():
    bitmask = np.full((2, 9), -1, np.int32)
    compiled("a").matcher().fill_next_token_bitmask(bitmask, 1)
    assert allowed_ids(bitmask, 1, 9 * 32) == {0, 4}
    assert (bitmask[0] == -1).all()


def test_the_bitmask_must_fit():
    matcher = compiled().matcher()
    with pytest.raises(constrain.SamplingError, match="70 tokens need 3"):
        matcher.fill_next_token_bitmask(np.zeros((1, 2), np.int32))
    with pytest.raises(constrain.SamplingError, match="int32"):
        matcher.fill_next_token_bitmask(np.zeros((1, 3), np.int64))
    for row in (1, -1):
        with pytest.raises(IndexError, match="no row"):
            matcher.fill_next_token_bitmask(np.zeros((1, 3), np.int32), row=row)
    with pytest.raises(IndexError, match="no row"):
        matcher.fill_next_token_bitmask(np.zeros(3, np.int32), row=1)
    wide = np.full((2, 5), -1, np.int32)
    matcher.fill_next_token_bitmask(wide, row=1)
    assert (wide[0] == -1).all()
    assert (wide[1, 3:] == 0).all()


def test_torch_bitmasks_are_filled_in_place():
    bitmask = constrain.allocate_token_bitmask(2, NASTY.vocab_size, like="torch")
    compiled().matcher().fill_next_token_bitmask(bitmask, 1)
    assert allowed_ids(bitmask.numpy(), 1, NASTY.vocab_size) == {0, 4, 2, 3}


def test_a_batch_is_its_rows_one_by_one():
    a, b = compiled().matcher(), compiled("b+").matcher()
    bitmask = constrain.allocate_token_bitmask(3, NASTY.vocab_size)
    free = bitmask[1].copy()
    constrain.fill_next_token_bitmasks([a, None, b], bitmask)
    assert allowed_ids(bitmask, 0, NASTY.vocab_size) == allowed(a)
    assert (bitmask[1] == free).all()
    assert allowed_ids(bitmask, 2, NASTY.vocab_size) == allowed(b)


def test_a_batch_names_the_row_that_failed():
    done = compiled("b").matcher()
    done.accept_token(B)
    done.accept_token(EOS)
    bitmask = constrain.allocate_token_bitmask(2, NASTY.vocab_size)
    with pytest.raises(constrain.MatchError, match="row 1: "):
        constrain.fill_next_token_bitmasks([compiled().matcher(), done], bitmask)
    with pytest.raises(constrain.SamplingError, match="3 matchers"):
        constrain.fill_next_token_bitmasks([None] * 3, bitmask)


def test_a_dead_end_names_the_bytes_that_are_missing():
    # By hand, since `compile` refuses it.
    matcher = constrain.CompiledGrammar(
        Grammar.from_regex("ax"), NASTY, constrain.Limits()
    ).matcher()
    assert matcher.accept_token(A)
    for _ in range(2):
        with pytest.raises(constrain.DeadEndError, match="'x'"):
            allowed(matcher)


def test_what_a_vocabulary_cannot_spell_is_refused():
    with pytest.raises(constrain.VocabularyError, match="at the start the text goes on with 'x'"):
        constrain.compile(Grammar.from_regex("x"), NASTY)
    with pytest.raises(constrain.VocabularyError, match="after 'ab' the text goes on with 'x'"):
        constrain.compile(Grammar.from_regex("abx+"), NASTY)
    compiled = constrain.compile(Grammar.from_regex("abx|b"), NASTY)  # there is another way
    assert compiled.matcher().validate_tokens([B, EOS]) == 2


def test_an_empty_language_is_an_error():
    with pytest.raises(constrain.UnsatisfiableError, match="no text"):
        constrain.compile(Grammar.from_regex("a(?!b)b"), NASTY)


def test_compile_wants_a_grammar_and_a_vocabulary():
    with pytest.raises(TypeError, match="Grammar, not str"):
        constrain.compile("a+", NASTY)
    with pytest.raises(TypeError, match="Vocabulary, not list"):
        constrain.compile(Grammar.from_regex("a"), [b"a"])


ids = st.lists(st.integers(0, NASTY.vocab_size - 1), max_size=12)


@given(plain_terms, ids, st.data())
def test_rollback_and_replay_is_the_identity(term, tokens, data):
    matcher = start(term)
    if matcher is None:
        return
    taken = [i for i in tokens if matcher.accept_token(i)]
    back = data.draw(st.integers(0, len(taken)))
    before = describe(matcher)
    twin = matcher.fork()
    matcher.rollback(back)
    for i in taken[len(taken) - back :]:
        assert matcher.accept_token(i)
    assert describe(matcher) == before == describe(twin)
    matcher.reset()
    assert describe(matcher) == describe(start(term))
    assert describe(twin) == before


@given(plain_terms, ids)
def test_validating_moves_nothing_and_agrees_with_accepting(term, tokens):
    matcher = start(term)
    if matcher is None:
        return
    before = describe(matcher)
    valid = matcher.validate_tokens(tokens)
    assert describe(matcher) == before
    for count, i in enumerate(tokens):
        assert matcher.accept_token(i) == (count < valid) or count > valid
        if count == valid:
            break


@given(plain_terms, st.lists(st.sampled_from([b"a", b"b", b"\x80", b"\xff"]), max_size=10))
def test_any_tokenisation_of_an_accepted_text_is_accepted(term, parts):
    text = b"".join(parts)
    matcher = start(term)
    if matcher is None:
        return
    whole = matcher.fork()
    alive = whole.accept_bytes(text)
    single = {b: i for i, b in enumerate(NASTY.token_bytes) if b and len(b) == 1}
    one_by_one = matcher.fork()
    assert all(one_by_one.accept_token(single[bytes([b])]) for b in text) == alive
    if alive:
        assert one_by_one.is_accepting == whole.is_accepting
        greedy, at = matcher.fork(), 0
        while at < len(text):
            token = max(
                (i for i, b in enumerate(NASTY.token_bytes) if b and text.startswith(b, at)),
                key=lambda i: len(NASTY.token_bytes[i]),
            )
            assert greedy.accept_token(token)
            at += len(NASTY.token_bytes[token])
        assert greedy.is_accepting == whole.is_accepting


def start(term):
    compiled = constrain.CompiledGrammar(Grammar(term, "test"), NASTY, constrain.Limits())
    return None if compiled.automaton.is_empty(compiled.automaton.start) else compiled.matcher()


def played(term, tokens):
    """A matcher of a term after those of some tokens that it accepts; None if no text is in it."""
    matcher = start(term)
    for token in tokens if matcher is not None else ():
        matcher.accept_token(token)
    return matcher


def describe(matcher):
    """All that can be seen of a matcher's place."""
    if matcher.is_terminated:
        return "terminated", matcher.num_steps
    try:
        mask = frozenset(allowed(matcher))
    except constrain.DeadEndError:
        mask = None
    return mask, matcher.is_accepting, matcher.num_steps, matcher.find_jump_forward_bytes()


def test_rows_are_remembered_and_forgotten_by_bytes():
    limits = constrain.Limits(max_mask_rows_bytes=4 * 3 * 2)  # two rows
    grammar = Grammar.from_regex("aaab?|bbbb|abab")
    small = constrain.compile(grammar, NASTY, limits=limits)
    large = constrain.compile(grammar, NASTY)
    for _ in range(2):
        for text in (b"", b"a", b"aa", b"aaa", b"b", b"bb", b"ab", b"aba"):
            one, other = small.matcher(), large.matcher()
            assert one.accept_bytes(text)
            assert other.accept_bytes(text)
            assert allowed(one) == allowed(other)


def test_one_compiled_grammar_serves_many_threads():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string", "maxLength": 4}}},
        "required": ["a"],
    }
    grammar = Grammar.from_json_schema(schema)
    shared = constrain.compile(grammar, JSON)
    failures = []

    def walk(seed):
        rng = np.random.default_rng(seed)
        alone = constrain.compile(grammar, JSON)
        mine, theirs = alone.matcher(), shared.matcher()
        bitmasks = constrain.allocate_token_bitmask(2, JSON.vocab_size)
        try:
            for _ in range(60):
                try:
                    constrain.fill_next_token_bitmasks([mine, theirs], bitmasks)
                except constrain.DeadEndError:  # this vocabulary has halves of characters
                    mine.reset()
                    theirs.reset()
                    continue
                if not (bitmasks[0] == bitmasks[1]).all():
                    failures.append(seed)
                choices = sorted(allowed_ids(bitmasks, 0, JSON.vocab_size))
                token = int(rng.choice(choices))
                assert mine.accept_token(token)
                assert theirs.accept_token(token)
                if mine.is_terminated:
                    mine.reset()
                    theirs.reset()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=walk, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_long_life_does_not_fill_the_automaton():
    # Each depth of nesting is a state of its own, and so is each order of brackets.
    schema = {
        "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}},
        "$ref": "#/$defs/t",
    }
    grammar = Grammar.from_json_schema(schema, limits=constrain.Limits(max_terms=4000))
    shared = constrain.compile(grammar, JSON, limits=constrain.Limits(max_terms=4000))
    old = shared.matcher()
    for depth in range(1, 60):
        text = b"[" * depth + b"]" * depth
        matcher = shared.matcher()
        assert matcher.accept_bytes(text)
        assert matcher.is_accepting
        assert grammar.accepts(text)
        assert not grammar.accepts(text + b"]")
    assert shared.num_terms <= 4000
    assert old.accept_bytes(b"[[]]")
    assert old.is_accepting


def test_what_no_token_holds_is_seen_however_long_the_way():
    vocab = constrain.Vocabulary(
        [*(bytes([b]) for b in b"abcdefghijklmnopqrstuvwxyz "), None], [27]
    )
    with pytest.raises(constrain.VocabularyError, match="byte 0xC3"):
        constrain.compile(Grammar.from_regex("[a-z ]{1,30}é"), vocab)


def test_a_grammar_that_is_large_from_the_start_keeps_its_automaton():
    grammar = Grammar.from_regex("a" * 600, limits=constrain.Limits(max_terms=1000))
    compiled = constrain.compile(grammar, NASTY, limits=constrain.Limits(max_terms=1000))
    assert compiled.matcher().accept_bytes(b"a" * 600)
    assert compiled.automaton is compiled.automaton


def test_combinations_have_short_names():
    grammar = Grammar.from_regex("a")
    for _ in range(40):
        grammar = grammar | grammar
    assert len(grammar.description) < 500
    assert len(repr(grammar)) < 5_000
    assert grammar.accepts(b"a")


def test_wrong_types_are_typed_errors():
    grammar = Grammar.from_regex("a")
    for text in (5, [97], None, "a"):
        with pytest.raises(TypeError, match="reads bytes"):
            grammar.accepts(text)
    for pattern in (None, b"a", 5):
        with pytest.raises(constrain.GrammarError, match="must be a str"):
            Grammar.from_regex(pattern)
    with pytest.raises(TypeError, match=r"constrain\.Limits"):
        Grammar.from_regex("a", limits=5)
    with pytest.raises(constrain.GrammarError, match="max_terms must be a positive int"):
        constrain.Limits(max_terms=-1)
    with pytest.raises(constrain.GrammarError):
        Grammar.from_json_schema({}, style="canon")
    with pytest.raises(TypeError, match="row 0 is no"):
        constrain.fill_next_token_bitmasks(["x"], np.zeros((1, 3), np.int32))


def test_usual_mistakes_have_a_way_out():
    grammar = Grammar.from_regex("a")
    compiled = constrain.compile(grammar, NASTY)
    matcher = compiled.matcher()
    bitmask = constrain.allocate_token_bitmask(1, NASTY.vocab_size)
    with pytest.raises(TypeError, match=r"limits must be a constrain\.Limits, not int"):
        constrain.compile(grammar, NASTY, limits=5)
    with pytest.raises(TypeError, match=r"hint: compiled\.matcher\(\) makes one"):
        constrain.fill_next_token_bitmasks([compiled], bitmask)
    with pytest.raises(TypeError, match=r"not str\nhint: data\.encode\(\)"):
        matcher.accept_bytes("a")
    with pytest.raises(TypeError, match=r"a token id is an integer, not float"):
        matcher.accept_token(1.0)
    with pytest.raises(TypeError, match=r"a token id is an integer, not list"):
        matcher.validate_tokens([[1]])
    with pytest.raises(TypeError, match=r"a list of token ids, not int"):
        matcher.validate_tokens(1)
    with pytest.raises(
        TypeError, match=r"made by compiled\.matcher\(\), not of .* CompiledGrammar"
    ):
        constrain.Matcher(compiled)
    with pytest.raises(TypeError, match=r"num_steps is an integer, not str"):
        matcher.rollback("1")
    with pytest.raises(constrain.SamplingError, match=r"hint: of \[batch, positions, vocab_size\]"):
        constrain.apply_token_bitmask(np.zeros((1, 1, NASTY.vocab_size), np.float32), bitmask)
    with pytest.raises(
        constrain.SamplingError, match=r"hint: apply_token_bitmask\(logits, bitmask\)"
    ):
        constrain.apply_token_bitmask(bitmask, np.zeros((1, NASTY.vocab_size), np.float32))
    with pytest.raises(constrain.VocabularyError, match=r"hint: it has '<"):
        constrain.compile(Grammar.token("none"), NASTY)


def test_long_tokens_are_counted():
    vocab = constrain.Vocabulary([b"a" * 40_000, b"a", b"b", None], [3])
    matcher = constrain.compile(Grammar.from_regex("a{0,1000000}b"), vocab).matcher()
    bitmask = constrain.allocate_token_bitmask(1, 4)
    for _ in range(3):
        matcher.fill_next_token_bitmask(bitmask)
        assert allowed_ids(bitmask, 0, 4) == {0, 1, 2}
        assert matcher.accept_token(0)


def long_texts():
    """A grammar whose states never come back, and a text of it."""
    grammar = Grammar.from_gbnf('root ::= "a" root "b" | ""', limits=SMALL)
    return grammar, b"a" * 900 + b"b" * 900


SMALL = constrain.Limits(max_terms=4_000)


def test_a_long_text_moves_to_a_fresh_automaton():
    grammar, text = long_texts()
    compiled = constrain.compile(grammar, NASTY, limits=SMALL)
    first = compiled.automaton
    ids = [NASTY.token_bytes.index(bytes([b])) for b in text]
    matcher = compiled.matcher()
    bitmask = constrain.allocate_token_bitmask(1, NASTY.vocab_size)
    seen = {id(first)}
    for token in ids[:1000]:
        matcher.fill_next_token_bitmask(bitmask)
        assert bitmask[0, token >> 5] >> (token & 31) & 1
        assert token in matcher._known_steps[matcher._states[-1]]  # so no step makes a state
        assert matcher.accept_token(token)
        seen.add(id(matcher._automaton))
        assert matcher._automaton.num_terms <= SMALL.max_terms
    assert len(seen) > 1
    assert compiled.automaton is not first

    plain = constrain.compile(grammar, NASTY).matcher()  # with room for all of it
    assert plain.validate_tokens(ids[:1000]) == 1000
    for token in ids[:1000]:
        plain.accept_token(token)
    expected = constrain.allocate_token_bitmask(1, NASTY.vocab_size)
    for back in (0, 1, 150, 500):
        for one, mask in ((matcher.fork(), bitmask), (plain.fork(), expected)):
            one.rollback(back)
            one.fill_next_token_bitmask(mask)
            assert one.num_steps == 1000 - back
        assert (bitmask == expected).all(), back


def test_bytes_and_tokens_are_taken_again_in_a_fresh_automaton():
    grammar, _ = long_texts()
    compiled = constrain.compile(grammar, NASTY, limits=SMALL)
    first = compiled.automaton
    matcher = compiled.matcher()
    token = NASTY.token_bytes.index(b"a")
    for _ in range(300):
        assert matcher.accept_bytes(b"aa")
        assert matcher.accept_token(token)
    assert matcher._automaton is not first
    assert matcher.accept_bytes(b"b" * 900)
    assert matcher.is_accepting
    assert not matcher.accept_bytes(b"b")
    matcher.rollback(601)
    assert matcher.num_steps == 0
    assert matcher.accept_bytes(b"ab")


def test_a_batch_of_vocabularies_of_several_widths():
    narrow, wide = compiled().matcher(), constrain.compile(Grammar.from_regex("a"), JSON).matcher()
    for matchers in ([narrow, None, wide], [wide, narrow, None], [None, None, None], []):
        for _ in range(2):  # made first, then remembered
            bitmask = np.full((4, 5), -1, np.int32)
            bitmask[:, 1] = 7
            expected = bitmask.copy()
            for row, matcher in enumerate(matchers):
                if matcher is not None:
                    matcher.fill_next_token_bitmask(expected, row)
            constrain.fill_next_token_bitmasks(matchers, bitmask)
            assert (bitmask == expected).all()
            every_second = np.zeros((4, 10), np.int32)[:, :5]  # rows that lie apart
            every_second[:] = -1
            every_second[:, 1] = 7
            constrain.fill_next_token_bitmasks(matchers, every_second)
            assert (every_second == expected).all()
    with pytest.raises(constrain.SamplingError, match="2 words a row"):
        constrain.fill_next_token_bitmasks([narrow], np.zeros((1, 2), np.int32))


def test_a_batch_that_fails_writes_nothing():
    stuck = constrain.CompiledGrammar(Grammar.from_regex("ax"), NASTY, constrain.Limits()).matcher()
    assert stuck.accept_token(A)
    ended = compiled("b").matcher()
    assert ended.accept_token(B)
    assert ended.accept_token(EOS)
    bitmask = constrain.allocate_token_bitmask(3, NASTY.vocab_size)
    before = bitmask.copy()
    for workers in (1, 3):
        for _ in range(2):
            with pytest.raises(constrain.DeadEndError, match="row 1: "):
                constrain.fill_next_token_bitmasks(
                    [compiled().matcher(), stuck, ended], bitmask, workers=workers
                )
            assert (bitmask == before).all()
    with pytest.raises(constrain.SamplingError, match="workers=0"):
        constrain.fill_next_token_bitmasks([ended], bitmask, workers=0)


@given(plain_terms, st.data())
def test_forks_of_forks_go_their_own_ways(term, data):
    first = start(term)
    if first is None:
        return
    # Each matcher with the tokens it has taken; what any of them does, no other sees.
    family = [(first, [])]
    for _ in range(data.draw(st.integers(1, 25))):
        matcher, taken = data.draw(st.sampled_from(family))
        match data.draw(st.sampled_from(["accept", "accept", "accept", "fork", "back", "reset"])):
            case "accept":
                token = data.draw(st.integers(0, NASTY.vocab_size - 1))
                if matcher.accept_token(token):
                    taken.append(token)
            case "fork":
                ways = [constrain.Matcher.fork, copy.copy, copy.deepcopy]
                family.append((data.draw(st.sampled_from(ways))(matcher), taken.copy()))
            case "back":
                count = data.draw(st.integers(0, len(taken)))
                matcher.rollback(count)
                del taken[len(taken) - count :]
                with pytest.raises(constrain.RollbackError):
                    matcher.rollback(len(taken) + 1)
            case "reset":
                matcher.reset()
                taken.clear()
    for matcher, taken in family:
        alone = start(term)
        assert all(map(alone.accept_token, taken))
        assert describe(matcher) == describe(alone)
        assert matcher.num_steps == len(taken)
        assert matcher.is_terminated == alone.is_terminated


def test_what_is_shared_is_not_copied():
    shared = compiled()
    matcher = shared.matcher()
    for twin in (copy.copy(matcher), copy.deepcopy({"request": matcher})["request"]):
        assert twin is not matcher
        assert twin.accept_token(A)
        assert twin._automaton is shared.automaton
    assert matcher.num_steps == 0
    for held in (shared, shared.vocab):
        assert copy.copy(held) is held
        assert copy.deepcopy(held) is held


def test_forks_move_to_a_fresh_automaton_with_what_they_share():
    grammar, _ = long_texts()
    compiled = constrain.compile(grammar, NASTY, limits=SMALL)
    token = NASTY.token_bytes.index(b"a")
    matcher = compiled.matcher()
    twins = []
    for _ in range(900):
        assert matcher.accept_token(token)
        twins.append(matcher.fork())
    assert matcher._automaton is not twins[0]._automaton
    for count, twin in enumerate(twins[::90]):
        steps = 1 + 90 * count
        assert twin.num_steps == steps
        assert not twin.fork().accept_bytes(b"b" * (steps + 1))
        assert twin.accept_bytes(b"b" * steps)
        assert twin.is_accepting
        twin.rollback(1 + steps // 2)
        assert twin.accept_bytes(b"b" * (steps - steps // 2))
        assert twin.is_accepting


def test_one_matcher_is_no_batch() -> None:
    vocab = constrain.Vocabulary([b"a", None], eos_token_ids=[1])
    matcher = constrain.compile(constrain.Grammar.from_regex("a"), vocab).matcher()
    bitmask = constrain.allocate_token_bitmask(1, 2)
    with pytest.raises(TypeError, match=r"not Matcher\nhint: .*matcher\.fill_next_token_bitmask"):
        constrain.fill_next_token_bitmasks(matcher, bitmask)  # type: ignore[arg-type]
