"""Grammars, vocabularies and what is compiled of them go to another process, and mean the same."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import constrain
from constrain import Grammar, GrammarError, Limits, Vocabulary
from constrain.algebra.terms import literal

VOCAB = Vocabulary(
    [
        *(bytes([byte]) for byte in range(256)),
        *(b'{"', b'": ', b'", "', b"ab", b"12", b"yes", b"no", b"true"),
        *(None, None),
    ],
    [264],
    {"<tool>": 265},
)
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
TOOL = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
TAG = {
    "type": "structural_tag",
    "format": {"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"},
}
WORD = Grammar.from_regex("[a-z]{2,9}")
GRAMMARS = {
    "from_json_schema": lambda: Grammar.from_json_schema(SCHEMA, style="compact"),
    "from_json_schema, as text": lambda: Grammar.from_json_schema('{"enum": [1, "a", null]}'),
    "from_json_schema, limits": lambda: Grammar.from_json_schema(
        True, limits=Limits(max_nesting=99)
    ),
    "from_pydantic": lambda: Grammar.from_pydantic(dict[str, int]),
    "from_lark": lambda: Grammar.from_lark('start: "a" WORD+\nWORD: /[bc]/\n%ignore " "'),
    "from_regex": lambda: Grammar.from_regex("a+|B", flags="i", dialect="rust"),
    "from_gbnf": lambda: Grammar.from_gbnf('root ::= "yes" | "no" root'),
    "from_choices": lambda: Grammar.from_choices(["yes", "no"]),
    "from_choices, once": lambda: Grammar.from_choices(iter(["yes", "no"])),
    "from_structural_tag": lambda: Grammar.from_structural_tag(TAG),
    "from_tools": lambda: Grammar.from_tools([TOOL], "required", format="hermes"),
    "text": lambda: Grammar.text("yes"),
    "any_text": Grammar.any_text,
    "token": lambda: Grammar.token("<tool>"),
    "__or__": lambda: WORD | Grammar.text("12"),
    "__add__": lambda: WORD + Grammar.text("12") + WORD,
    "__add__, a text": lambda: WORD + "12",
    "__radd__": lambda: "12" + WORD,
    "__ror__": lambda: "12" | WORD,
    "__and__": lambda: WORD & Grammar.from_regex("a.*"),
    "__invert__": lambda: ~WORD,
    "optional": lambda: WORD.optional(),
    "repeat": lambda: WORD.repeat(1, 4, separator=", "),
    "repeat, by a grammar": lambda: WORD.repeat(separator=WORD),
    "within_tokens": lambda: WORD.within_tokens(3) + Grammar.text("12"),
    "with_reasoning": lambda: WORD.with_reasoning("</think>", begin="<think>"),
}


def walk(grammar: Grammar, vocab: Vocabulary = VOCAB) -> list[list[int]]:
    """The masks along a text of the grammar: always the fourth token of those allowed, or less."""
    matcher = constrain.compile(grammar, vocab).matcher()
    bitmask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
    rows: list[list[int]] = []
    while len(rows) < 12 and not matcher.is_terminated:
        matcher.fill_next_token_bitmask(bitmask)
        rows.append(bitmask[0].tolist())
        allowed = [i for i in range(vocab.vocab_size) if bitmask[0, i >> 5] >> (i & 31) & 1]
        assert matcher.accept_token(allowed[min(3, len(allowed) - 1)])
    return rows


@pytest.mark.parametrize("name", GRAMMARS)
def test_a_grammar_out_of_a_pickle_gives_the_same_masks(name: str) -> None:
    grammar = GRAMMARS[name]()
    again = pickle.loads(pickle.dumps(grammar))
    assert walk(again) == walk(grammar)
    assert again.description == grammar.description
    assert again is not grammar
    assert walk(pickle.loads(pickle.dumps(again))) == walk(grammar)


def test_every_method_that_makes_a_grammar_is_here() -> None:
    makers = {
        name
        for name in vars(Grammar)
        if inspect.isroutine(member := getattr(Grammar, name))
        and inspect.signature(member).return_annotation == "Grammar"
        and name not in ("__copy__", "__deepcopy__")
    }
    assert makers == {name.partition(",")[0] for name in GRAMMARS}


def test_what_changes_later_is_pickled_as_it_was() -> None:
    schema: dict[str, Any] = {"type": "string", "maxLength": 2}
    choices = ["yes", "no"]
    grammar = Grammar.from_json_schema(schema) | Grammar.from_choices(choices)
    schema["maxLength"] = 9
    choices.append("true")
    again = pickle.loads(pickle.dumps(grammar))
    assert [again.accepts(text) for text in (b'"ab"', b'"abc"', b"yes", b"true")] == [
        True,
        False,
        True,
        False,
    ]


def test_a_grammar_that_is_in_it_twice_is_made_once() -> None:
    word = Grammar.from_regex("[a-z]{2}")
    for _ in range(20):
        word = word + word.optional()
    _, (_, steps) = word.__reduce__()
    assert len(steps) == 41


def test_a_long_chain_is_no_recursion() -> None:
    grammar = Grammar.text("0")
    for i in range(1, 3000):
        grammar = grammar | Grammar.text(str(i))
    again = pickle.loads(pickle.dumps(grammar))
    assert again.accepts(b"2999")
    assert not again.accepts(b"3000")


@pytest.mark.parametrize("depth", [400, 1_900])
def test_a_schema_that_nests_deeply_pickles(depth: int) -> None:
    schema: dict[str, Any] = {"const": 1}
    for _ in range(depth):
        schema = {"type": "array", "items": schema, "minItems": 1, "maxItems": 1}
    again = pickle.loads(pickle.dumps(Grammar.from_json_schema(schema, style="compact")))
    assert again.accepts(b"[" * depth + b"1" + b"]" * depth)


def test_a_number_of_numpy_in_a_schema_pickles() -> None:
    grammar = Grammar.from_json_schema({"const": np.float64(1.5)})
    assert pickle.loads(pickle.dumps(grammar)).accepts(b"1.5")


def test_what_was_made_of_a_term_is_a_typed_error() -> None:
    made = Grammar(literal(b"a"), "by hand")
    for grammar in (made, made.optional(), Grammar.text("b") | made):
        with pytest.raises(GrammarError, match="by hand cannot be pickled: it was made of a term"):
            pickle.dumps(grammar)


def test_an_argument_that_does_not_pickle_is_a_typed_error() -> None:
    from pydantic import BaseModel

    class Local(BaseModel):
        a: int

    with pytest.raises(GrammarError, match=r"Local.* cannot be pickled: it was made with a value"):
        pickle.dumps(Grammar.from_pydantic(Local))
    lock = threading.Lock()
    grammar = Grammar.from_lark('start: "a"', import_paths=[lambda *_: lock])
    with pytest.raises(GrammarError, match="with a value of type list that cannot"):
        pickle.dumps(grammar)


def test_a_copy_of_a_grammar_is_the_grammar() -> None:
    grammar = Grammar(literal(b"a"), "by hand")
    assert copy.copy(grammar) is grammar
    assert copy.deepcopy([grammar])[0] is grammar


def test_compiled_grammars_share_the_vocabulary_that_comes_with_them() -> None:
    text = pickle.dumps([constrain.compile(WORD, VOCAB), constrain.compile(WORD.optional(), VOCAB)])
    one, other = pickle.loads(text)
    third = pickle.loads(pickle.dumps(constrain.compile(WORD, VOCAB)))
    assert one.vocab is other.vocab is third.vocab
    assert walk(one.grammar, one.vocab) == walk(WORD)
    assert one.matcher().accept_token(97)


def test_limits_of_a_compiled_grammar_come_along() -> None:
    compiled = constrain.compile(WORD, VOCAB, limits=Limits(max_terms=12_345))
    assert pickle.loads(pickle.dumps(compiled))._limits.max_terms == 12_345


def test_another_process_gives_the_same_masks() -> None:
    grammars = [GRAMMARS[name]() for name in ("from_json_schema", "from_tools", "__or__")]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.starmap(walk, [(g, VOCAB) for g in grammars]) == list(map(walk, grammars))


def test_a_matcher_says_what_to_pickle_instead():
    matcher = constrain.compile(Grammar.from_regex("ab"), VOCAB).matcher()
    with pytest.raises(TypeError, match="pickle the compiled grammar"):
        pickle.dumps(matcher)
