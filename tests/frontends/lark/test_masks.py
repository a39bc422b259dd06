"""The law at token level: a token is allowed if and only if a sentence begins so."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import constrain
from constrain import Grammar, GrammarError
from tests.frontends.lark.agreement import MODES
from tests.frontends.lark.test_indentation import TREES, TreeIndenter
from tests.frontends.lark.test_random_grammars import random_grammar
from tests.frontends.lark.test_verdicts import CALCULATOR, COMMENTS, JSON, KEYWORDS

# Tokens that span several lexemes, end inside one, or end where a longer match may still come.
TEXTS = [
    '"a',
    '": ',
    "1, ",
    "/*",
    "*/ ",
    "// x\n",
    "if ",
    "if",
    "ifx",
    " then ",
    "; let x=",
    "1.",
    "a",
]
TEXTS += [
    '\\"',
    '"]',
    "}]",
    "tru",
    "e}",
    "\n",
    "\n  ",
    "\n\t",
    "b\n ",
    "(x\n)",
    " + (",
    "-",
    ".5*b",
]
CASES = {
    "json": (Grammar.from_lark(JSON), '{"a": [1, true]}'),
    "calculator": (Grammar.from_lark(CALCULATOR), "a=1.5*(b+-2)"),
    "keywords": (Grammar.from_lark(KEYWORDS), "if a then ifx; let x=b;"),
    "comments": (Grammar.from_lark(COMMENTS, lexer="basic"), "a /* b */ / // x\n*"),
    "earley": (Grammar.from_lark(KEYWORDS, parser="earley"), "if a then ifx; let x=b;"),
    "trees": (Grammar.from_lark(TREES, postlex=TreeIndenter()), "a\n  b\n\tc\n  (x\n)\nd\n"),
}


def is_alive(grammar, prefix):
    where = grammar.first_rejection(prefix)
    return where is None or where.at_end


@pytest.mark.parametrize("name", CASES)
def test_a_token_is_allowed_iff_a_sentence_begins_so(name):
    grammar, sentence = CASES[name]
    tokens = [bytes([b]) for b in range(256)] + [t.encode() for t in TEXTS if len(t) > 1]
    vocab = constrain.Vocabulary([*tokens, None], [len(tokens)])
    matcher = constrain.compile(grammar, vocab).matcher()
    data = sentence.encode()
    for at in range(len(data) + 1):
        bitmask = constrain.allocate_token_bitmask(1, len(tokens) + 1)
        matcher.fill_next_token_bitmask(bitmask)
        bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")[: len(tokens) + 1]
        expected = [is_alive(grammar, data[:at] + token) for token in tokens]
        assert bits[:-1].astype(bool).tolist() == expected, (name, data[:at])
        assert bits[-1] == grammar.accepts(data[:at]), (name, data[:at])
        assert bits.any(), ("a dead end", name, data[:at])
        if at < len(data):
            assert matcher.accept_token(data[at])


@pytest.mark.parametrize("seed", [*range(8000, 8010), 8011])
def test_random_grammars(seed):
    """With tokens of every length up to three, which may hold several lexemes and parts of some.

    Not 8010: so ambiguous that a text needs too many stacks.
    """
    text = random_grammar(random.Random(seed))
    tokens = ["".join(t).encode() for n in (1, 2, 3) for t in itertools.product("abc ", repeat=n)]
    vocab = constrain.Vocabulary([*tokens, None], [len(tokens)])
    for parser, lexer in MODES[:3]:
        try:
            grammar = Grammar.from_lark(text, parser=parser, lexer=lexer)
        except GrammarError:
            continue
        compiled = constrain.compile(grammar, vocab)
        for prefix in ("", "a", "b", "ab", "bb", "ac", "cab", "a b"):
            if not is_alive(grammar, prefix.encode()):
                continue
            matcher = compiled.matcher()
            for byte in prefix.encode():
                assert matcher.accept_token(tokens.index(bytes([byte])))
            bitmask = constrain.allocate_token_bitmask(1, len(tokens) + 1)
            matcher.fill_next_token_bitmask(bitmask)
            bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")[: len(tokens) + 1]
            expected = [is_alive(grammar, prefix.encode() + token) for token in tokens]
            assert bits[:-1].astype(bool).tolist() == expected, (text, parser, lexer, prefix)
            assert bits[-1] == grammar.accepts(prefix.encode())
            assert bits.any(), ("a dead end", text, parser, lexer, prefix)
