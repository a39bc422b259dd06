"""Reasoning first: by text and by special tokens, begun by the prompt or not, left out or not."""

from __future__ import annotations

import itertools
import json

import pytest

import constrain
from constrain import Grammar, Vocabulary
from tests.frontends.tags.families import WRITE
from tests.frontends.tags.reader import Reader

TOOLS = [{"name": "ping"}, {"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}]
ANSWERS = {
    "tools": (Grammar.from_tools(TOOLS, format="hermes"), WRITE["hermes"]([("f", {"a": 1})])),
    "required": (
        Grammar.from_tools(TOOLS, "required", format="qwen3-coder"),
        WRITE["qwen3-coder"]([("ping", {}), ("f", {"a": 1})]),
    ),
    "schema": (Grammar.from_json_schema({"properties": {"a": {"type": "null"}}}), '{"a": null}'),
}
FREE = ["", "a", "<think>", "</think", "Is it {", "<tool_call>", '{"a": 1', "é\n\n"]


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("begin", [None, "<think>"])
@pytest.mark.parametrize("optional", [False, True])
def test_what_is_reasoned_about_follows(name, begin, optional):
    grammar, answer = ANSWERS[name]
    reasoned = grammar.with_reasoning(begin=begin, optional=optional)
    for free in FREE:
        text = f"{begin or ''}{free}</think>{answer}"
        assert reasoned.accepts(text.encode()), free
        for wrong in (text + "}", text.replace('"a"', '"b"').replace("=a>", "=b>")[:-1]):
            assert not reasoned.accepts(wrong.encode()), wrong
    assert reasoned.accepts(answer.encode()) == optional
    assert not reasoned.accepts(f"{begin or ''}Hm.".encode()) or (optional and name == "tools")
    if begin and name != "tools":
        assert not reasoned.accepts(f"Hm.</think>{answer}".encode())


TOKENS = ["<think>", "</think>", "<x>", b"<", b"think>", b"</think>{", b"{}", b"a", b"</", "<end>"]
VOCAB = Vocabulary(
    [t if isinstance(t, bytes) else None for t in TOKENS],
    [len(TOKENS) - 1],
    {t: i for i, t in enumerate(TOKENS) if isinstance(t, str)},
)
BLOCK = {
    "type": "tag",
    "begin": "<think>",
    "content": {"type": "any_text"},
    "end": "</think>",
}


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("begin", [None, "<think>"])
def test_every_run_of_four_tokens(begin, optional):
    answer = Grammar.from_choices(["{}", "{a"])
    grammar = answer.with_reasoning(begin=begin, optional=optional)
    block = BLOCK | {"begin": begin or ""}
    said = {"type": "optional", "content": block} if optional else block
    choices = [{"type": "const_string", "value": v} for v in ("{}", "{a")]
    value = {"type": "sequence", "elements": [said, {"type": "or", "elements": choices}]}
    compiled = constrain.compile(grammar, VOCAB)
    same = constrain.compile(Grammar.from_structural_tag(json.dumps(value)), VOCAB)
    for run in itertools.product(range(len(TOKENS) - 1), repeat=4):
        fits = compiled.matcher().validate_tokens(list(run))
        assert same.matcher().validate_tokens(list(run)) == fits
        reader = Reader([TOKENS[i] for i in run], run).verdict(value)
        assert reader[1] == (fits == 4), run
        if fits == 4:
            matcher = compiled.matcher()
            assert all(matcher.accept_token(i) for i in run)
            assert matcher.is_accepting == reader[0], run
