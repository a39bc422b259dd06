"""Tokens by name and id: which ids the masks hold, at each step."""

from __future__ import annotations

import pytest

import constrain
from constrain import Grammar, Vocabulary
from tests.matcher.vocabularies import allowed_ids

VOCAB = Vocabulary(
    [b"a", b"b", b"<think>", b"x", None, None, None],
    [6],
    {"<think>": 4, "</think>": 5, "<eos>": 6},
)
A, B, SPELLED, X, THINK, END_THINK, EOS = range(7)


def masks(text, ids):
    """The ids allowed at first and after each of `ids`, which must be accepted."""
    compiled = constrain.CompiledGrammar(Grammar.from_gbnf(text), VOCAB, constrain.Limits())
    matcher = compiled.matcher()
    bitmask = constrain.allocate_token_bitmask(1, VOCAB.vocab_size)
    found = []
    for token_id in (None, *ids):
        assert token_id is None or matcher.accept_token(token_id)
        matcher.fill_next_token_bitmask(bitmask)
        found.append(allowed_ids(bitmask, 0, VOCAB.vocab_size))
    return found


ANY_BUT_EOS = {A, B, SPELLED, X, THINK, END_THINK}


@pytest.mark.parametrize(
    "text",
    [
        'root ::= <think> thought </think> "b"\nthought ::= !</think>*',
        'root ::= <[4]> thought <[5]> "b"\nthought ::= !<[5]>*',
        'root ::= Token(4) ExcludeToken(5)* Token(5) "b"',
    ],
)
def test_a_thought_between_tokens(text):
    ids = (THINK, A, SPELLED, THINK, END_THINK, B)
    thinking = [ANY_BUT_EOS] * 4
    assert masks(text, ids) == [{THINK}, *thinking, {B}, {EOS}]


def test_a_token_is_not_its_text_and_a_text_is_not_the_token():
    assert masks('root ::= "<think>"', (SPELLED,)) == [{SPELLED}, {EOS}]
    assert masks("root ::= <think>", (THINK,)) == [{THINK}, {EOS}]


def test_tokens_in_recursive_rules():
    text = 'root ::= root <think> "a" | "a"'
    assert masks(text, (A, THINK, A)) == [{A}, {THINK, EOS}, {A}, {THINK, EOS}]


def test_tags_of_tokens():
    text = 'root ::= TokenTagDispatch((4, call), excludes=(0,))\ncall ::= "b"'
    free = {B, SPELLED, X, THINK, END_THINK, EOS}
    assert masks(text, (X, THINK, B, B)) == [free, free, {B}, free, free]


@pytest.mark.parametrize("item", ["<tool>", "<[99]>"])
def test_a_token_that_the_vocabulary_lacks_is_refused(item):
    grammar = Grammar.from_gbnf(f'root ::= {item} "a"')
    with pytest.raises(constrain.VocabularyError):
        constrain.compile(grammar, VOCAB)
