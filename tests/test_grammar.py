"""Grammars put together in Python."""

from __future__ import annotations

import itertools
import re
from typing import get_args

import pytest

import constrain
from constrain import Grammar, GrammarError, LimitExceededError, Limits, VocabularyError
from constrain.frontends.json_schema.keywords import DIALECTS
from constrain.frontends.json_schema.style import PRESETS
from constrain.frontends.lark.read import LEXERS
from constrain.grammar import options

TEXTS = ["".join(p) for n in range(7) for p in itertools.product("ab,", repeat=n)]
X = Grammar.from_regex("a|ab")


@pytest.mark.parametrize(
    ("grammar", "pattern"),
    [
        (Grammar.text("ab") | Grammar.text(""), "(ab)?"),
        (Grammar.text("ab").optional(), "(ab)?"),
        (X.repeat(), "(a|ab)*"),
        (X.repeat(2), "(a|ab){2,}"),
        (X.repeat(1, 3), "(a|ab){1,3}"),
        (X.repeat(0, 0), ""),
        (X.repeat(separator=","), "((a|ab)(,(a|ab))*)?"),
        (X.repeat(2, 3, separator=","), "(a|ab)(,(a|ab)){1,2}"),
        (X.repeat(0, 0, separator=","), ""),
        (X.repeat(1, separator=Grammar.from_regex(",|b")), "(a|ab)((,|b)(a|ab))*"),
        (X.optional().repeat(2, 2, separator=","), "(a|ab)?,(a|ab)?"),
        (Grammar.from_choices(["a", "ab", "a", ",b", ""]), "a|ab|,b|"),
        (Grammar.from_choices(["b"]) + X.repeat(0, 1), "b(a|ab)?"),
        (X + ",", "(a|ab),"),
        ("b" + X + "b", "b(a|ab)b"),
        ("," | X | "b", ",|a|ab|b"),
    ],
    ids=repr,
)
def test_combinations_mean_what_the_pattern_means(grammar: Grammar, pattern: str) -> None:
    expected = [t for t in TEXTS if re.fullmatch(pattern, t)]
    assert [t for t in TEXTS if grammar.accepts(t.encode())] == expected


def made_from(grammar: Grammar) -> str:
    return repr(grammar).partition("\n")[0]


def test_what_it_was_made_from_is_shown() -> None:
    grammar = (Grammar.from_choices(["yes", "no"]) + Grammar.text("!")).repeat(1, 3, separator=", ")
    assert made_from(grammar) == (
        "# (Grammar.from_choices(['yes', 'no']) + Grammar.text('!')).repeat(1, 3, separator=', ')"
    )
    assert made_from(Grammar.token("<a>", 3, others=True)) == (
        "# Grammar.token('<a>', 3, others=True)"
    )
    assert made_from(Grammar.any_text().optional()) == "# Grammar.any_text().optional()"


def test_ten_thousand_choices() -> None:
    choices = [f"choice {i}" for i in range(10_000)]
    grammar = Grammar.from_choices(choices)
    assert grammar.accepts(b"choice 9999")
    assert not grammar.accepts(b"choice 10000")
    assert not grammar.accepts(b"choice 01")


def test_any_text_is_well_formed() -> None:
    assert Grammar.any_text().accepts("naïve \0 日本 😀".encode())
    assert not Grammar.any_text().accepts(b"\xff")
    assert not Grammar.any_text().accepts("é".encode()[:1])


def test_a_call_between_special_tokens() -> None:
    vocab = constrain.Vocabulary(
        [bytes([b]) for b in range(128)],
        eos_token_ids=[130],
        special_tokens={"<call>": 128, "</call>": 129, "<eos>": 130},
        vocab_size=131,
    )
    schema = Grammar.from_json_schema({"type": "object", "properties": {"x": {"const": 1}}})
    call = Grammar.token("<call>") + schema + Grammar.token("</call>")
    matcher = constrain.compile(call.repeat(1), vocab).matcher()
    for token in (128, *b'{"x":1}', 129, 128, *b"{}", 129, 130):
        assert matcher.accept_token(token)
    assert matcher.is_terminated
    with pytest.raises(VocabularyError, match="no token '<cal>'"):
        constrain.compile(Grammar.token("<cal>"), vocab)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Grammar.from_choices([]), "there are no choices"),
        (lambda: Grammar.from_choices("yes"), r"not one str\nhint: write \['yes'\]"),
        (lambda: Grammar.from_choices(["a", 1]), "choice 1 must be a str, not int"),
        (lambda: Grammar.from_choices(["\ud800"]), "lone surrogate"),
        (lambda: Grammar.token(), "named by a str or an id"),
        (lambda: Grammar.token(None), "named by a str or an id"),
        (lambda: X.repeat(3, 2), "lo=3, hi=2"),
        (lambda: X.repeat(-1), "lo=-1"),
    ],
)
def test_what_makes_no_grammar_is_said(make, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        make()


def test_choices_have_a_limit() -> None:
    with pytest.raises(LimitExceededError, match="max_input_bytes"):
        Grammar.from_choices(["abc"] * 10, limits=Limits(max_input_bytes=20))


def test_a_token_that_is_in_both() -> None:
    think = Grammar.token("<think>")
    both = (think + Grammar.text("a")) & (think + Grammar.from_regex("[ab]"))
    vocab = constrain.Vocabulary(
        [b"a", b"b", None, None], [3], special_tokens={"<think>": 2, "<eos>": 3}
    )
    matcher = constrain.compile(both, vocab).matcher()
    assert not matcher.accept_token(0)
    assert matcher.accept_token(2)
    assert not matcher.accept_token(1)
    assert matcher.accept_token(0)
    with pytest.raises(constrain.UnsatisfiableError, match="no text is in both"):
        think & Grammar.token("<think>", others=True)
    with pytest.raises(constrain.UnsatisfiableError, match="no text is in both"):
        think & Grammar.text("<think>")


def test_the_names_of_options_are_those_that_exist() -> None:
    """Types say which names there are; here they are compared with what reads them."""
    assert set(get_args(options.StyleName)) == set(PRESETS)
    assert set(get_args(options.SchemaDialect)) == set(DIALECTS)
    assert set(get_args(options.LarkParser)) == set(LEXERS)
    assert set(get_args(options.LarkLexer)) == {name for names in LEXERS.values() for name in names}


@pytest.mark.parametrize(
    ("make", "option", "names"),
    [
        (lambda **given: Grammar.from_json_schema({}, **given), "style", options.StyleName),
        (lambda **given: Grammar.from_json_schema({}, **given), "dialect", options.SchemaDialect),
        (lambda **given: Grammar.from_json_schema({}, **given), "format", options.FormatUse),
        (
            lambda **given: Grammar.from_json_schema({}, **given),
            "property_order",
            options.PropertyOrder,
        ),
        (
            lambda **given: Grammar.from_json_schema({}, **given),
            "on_unsupported",
            options.OnUnsupported,
        ),
        (lambda **given: Grammar.from_regex("a", **given), "dialect", options.RegexDialect),
        (lambda **given: Grammar.from_lark('start: "a"', **given), "dialect", options.LarkDialect),
        (lambda **given: Grammar.from_lark('start: "a"', **given), "parser", options.LarkParser),
    ],
)
def test_each_name_of_an_option_is_taken_and_no_other(make, option, names) -> None:
    for name in get_args(names):
        make(**{option: name})
    with pytest.raises(GrammarError, match=option):
        make(**{option: "other"})


def test_what_is_neither_a_grammar_nor_a_text_does_not_combine() -> None:
    for other in (5, b"a", None):
        with pytest.raises(TypeError, match="unsupported operand"):
            X + other
        with pytest.raises(TypeError, match="unsupported operand"):
            other | X
