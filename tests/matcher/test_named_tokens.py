"""Special tokens and other tokens that a grammar names as a whole."""

from __future__ import annotations

import numpy as np
import pytest

import constrain
from constrain import Grammar, Vocabulary, VocabularyError
from constrain.algebra import terms as t
from constrain.algebra.store import DEAD, OTHER_SPECIAL, OTHER_TOKEN
from constrain.automaton.named import others_of
from tests.matcher.vocabularies import JSON, NASTY, allowed_ids

VOCAB = Vocabulary(
    [b"a", b"b", b"ab", b"<tool>", None, None, b"\n", None, b"<", b"tool", b">"],
    eos_token_ids=[7],
    special_tokens={"<tool>": 4, "</tool>": 5, "<eos>": 7, "<far>": 12},
    vocab_size=16,
)
EOS = 7


def compiled(term: t.Term) -> constrain.CompiledGrammar:
    return constrain.compile(Grammar(term, "test"), VOCAB)


def allowed(matcher: constrain.Matcher) -> set[int]:
    bitmask = constrain.allocate_token_bitmask(1, VOCAB.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    ids = set(allowed_ids(bitmask, 0, VOCAB.vocab_size))
    for token in range(VOCAB.vocab_size):  # the mask says what accept_token does
        assert matcher.fork().accept_token(token) == (token in ids), token
    return ids


def test_a_special_token_is_allowed_only_where_the_grammar_names_it():
    letters = t.plus(t.byte_class(b"ab"))
    matcher = compiled(
        t.cat(letters, t.token("<tool>"), t.literal(b"b"), t.token("</tool>"))
    ).matcher()
    assert allowed(matcher) == {0, 1, 2}
    assert matcher.accept_token(2)
    assert allowed(matcher) == {0, 1, 2, 4}
    assert not matcher.accept_token(3)  # the same text, as bytes
    assert matcher.accept_token(4)
    assert allowed(matcher) == {1}
    assert matcher.accept_token(1)
    assert allowed(matcher) == {5}
    assert matcher.accept_token(5)
    assert allowed(matcher) == {EOS}


def test_a_name_that_is_no_special_token_is_the_token_of_that_text():
    matcher = compiled(t.cat(t.token("ab"), t.literal(b"ab"))).matcher()
    assert allowed(matcher) == {2}
    assert matcher.accept_token(2)
    assert allowed(matcher) == {0, 2}


def test_any_token_but_some():
    until = t.cat(t.star(t.token("</tool>", others=True)), t.token("</tool>"))
    matcher = compiled(until).matcher()
    everything = {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 12}
    assert allowed(matcher) == everything
    for token in (3, 12, 4, 0):
        assert matcher.accept_token(token)
        assert allowed(matcher) == everything
    assert matcher.accept_token(5)
    assert allowed(matcher) == {EOS}


def test_an_end_token_may_be_named():
    matcher = compiled(t.cat(t.literal(b"a"), t.token("<eos>"), t.literal(b"b"))).matcher()
    assert matcher.accept_token(0)
    assert allowed(matcher) == {EOS}
    assert matcher.accept_token(EOS)
    assert not matcher.is_terminated
    assert allowed(matcher) == {1}
    assert matcher.accept_token(1)
    assert matcher.accept_token(EOS)
    assert matcher.is_terminated


def test_an_end_token_that_is_named_ends_what_may_end():
    matcher = compiled(t.alt((t.literal(b"a"), t.cat(t.literal(b"a"), t.token("<eos>"))))).matcher()
    for _ in range(2):  # the first time nothing is known of the step
        assert matcher.accept_token(0)
        assert allowed(matcher) == {EOS}
        assert matcher._automaton.after_token(matcher._states[-1], EOS) != DEAD
        assert matcher.accept_token(EOS)
        assert matcher.is_terminated
        assert not matcher.accept_token(EOS)
        matcher.reset()


def test_tokens_in_rules_that_nobody_has_reached():
    rule = t.Rule(
        "calls", lambda: t.cat(t.token(4), t.literal(b"a"), t.optional(rule)), nullable=False
    )
    matcher = compiled(t.cat(t.literal(b"b"), t.alt((rule, t.literal(b"\n"))))).matcher()
    assert matcher.accept_token(1)
    assert allowed(matcher) == {4, 6}
    assert matcher.accept_token(4)
    assert matcher.accept_token(0)
    assert allowed(matcher) == {4, EOS}


def test_a_name_that_the_vocabulary_lacks_is_refused():
    with pytest.raises(VocabularyError, match=r"no token '<tol>'(.|\n)*'<tool>'"):
        compiled(t.cat(t.token("<tol>"), t.literal(b"a")))
    with pytest.raises(VocabularyError, match="ids go from 0 to 15"):
        compiled(t.token(99))


def test_bytes_alone_never_hold_a_named_token():
    grammar = Grammar(t.alt((t.token("<tool>"), t.literal(b"a"))), "test")
    assert grammar.accepts(b"a")
    assert not grammar.accepts(b"<tool>")


def test_special_tokens_that_a_vocabulary_may_have():
    begin = t.alt((t.literal(b"<tool>"), t.special_token("<tool>", "<other>")))
    matcher = compiled(t.cat(begin, t.literal(b"a"))).matcher()
    assert allowed(matcher) == {3, 4, 8}  # `<tool>` as text, as the special token, `<`
    assert matcher.accept_token(4)
    assert allowed(matcher) == {0}


def test_any_special_token_but_some():
    free = t.star(t.special_token("<tool>", others=True))
    matcher = compiled(t.cat(free, t.literal(b"a"))).matcher()
    assert allowed(matcher) == {0, 5, 12}
    assert matcher.accept_token(12)
    assert allowed(matcher) == {0, 5, 12}


def test_a_special_token_that_need_not_be_there_is_no_other_token():
    with pytest.raises(constrain.UnsatisfiableError):
        compiled(t.cat(t.special_token("ab"), t.literal(b"a")))


def test_no_text_is_forced_where_a_rule_that_nobody_has_made_names_a_token():
    calls = t.Rule("calls", lambda: t.alt((t.token("<tool>"), t.literal(b"ba"))))
    grammar = Grammar(t.cat(t.literal(b"a"), calls), "test")
    matcher = constrain.CompiledGrammar(grammar, VOCAB, constrain.Limits()).matcher()
    assert matcher.accept_bytes(b"a")
    assert matcher.find_jump_forward_bytes() == b""


@pytest.mark.parametrize("vocab", [VOCAB, NASTY, JSON], ids=["special", "nasty", "json"])
def test_other_tokens_of_a_vocabulary(vocab):
    found = others_of(vocab)
    assert others_of(vocab) is found
    special, ends = set(vocab.special_tokens.values()), set(vocab.eos_token_ids)
    texts = {i for i, text in enumerate(vocab.token_bytes) if text}
    expected = {OTHER_TOKEN: texts - special - ends, OTHER_SPECIAL: special - ends}
    for code, words in found.items():
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        assert set(np.flatnonzero(bits).tolist()) == expected[code]
        assert not words.flags.writeable
