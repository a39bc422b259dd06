"""From the model's tokens to an object: `generate` with a type, `parsed`, `parse`, `adapter`."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any, Literal

import pydantic
import pytest
from pydantic import BaseModel, TypeAdapter

import constrain
from constrain import Grammar, Vocabulary

torch = pytest.importorskip("torch")

TOKENS = [b'"', b"{", b"}", b":", b",", b"a", b"b", b"1", b"[", b"]", b" "]
VOCAB = Vocabulary([*TOKENS, None], eos_token_ids=[len(TOKENS)])


class One(BaseModel):
    a: Literal[1]


class Other(BaseModel):
    b: list[int]


def model(input_ids: Any) -> Any:
    wishes = torch.tensor([0.0, 0.0, 2.0, 0.0, 0.0, 1.0, 1.0, 0.5, 0.0, 3.0, -2.0, 1.0])
    return SimpleNamespace(logits=wishes.repeat(*input_ids.shape, 1))


def generate(grammar: Any, prompt: Any = None, **more: Any) -> Any:
    return constrain.generate(
        model,
        tokenizer=None,
        prompt=[0] if prompt is None else prompt,
        grammar=grammar,
        params=constrain.SamplingParams(temperature=0),
        vocab=VOCAB,
        **more,
    )


def test_a_class_is_a_grammar() -> None:
    result = generate(One)
    assert result.finish_reason == "stop"
    assert result.parsed == One(a=1)


def test_other_types_are_grammars() -> None:
    assert isinstance(generate(One | Other).parsed, (One, Other))
    assert generate(list[Literal[1]]).parsed == []
    assert generate(TypeAdapter(One)).parsed == One(a=1)


def test_a_grammar_and_a_compiled_one_read_back_too() -> None:
    grammar = Grammar.from_pydantic(One)
    assert generate(grammar).parsed == One(a=1)
    assert generate(constrain.compile(grammar, VOCAB)).parsed == One(a=1)
    assert grammar.adapter is not None
    assert grammar.adapter.validate_json('{"a": 1}') == One(a=1)
    assert Grammar.from_json_schema({}).adapter is None


def test_a_batch_has_a_type_for_each_row() -> None:
    schema = Grammar.from_json_schema({"const": {"a": 1}})
    results = generate([One, schema, Other], [[0], [0], [0]])
    assert [r.parsed for r in results] == [One(a=1), {"a": 1}, Other(b=[])]
    assert [r.parsed for r in generate(One, [[0], [0]])] == [One(a=1), One(a=1)]


def test_a_stream_has_it_at_the_end() -> None:
    assert generate(Other, stream=True).result.parsed == Other(b=[])


def test_a_text_can_be_read_as_any_type() -> None:
    result = generate(Grammar.from_json_schema({"const": {"a": 1}}))
    assert result.parsed == {"a": 1}
    assert result.parse(One) == One(a=1)
    with pytest.raises(pydantic.ValidationError):
        result.parse(Other)


def test_a_text_cut_short_is_no_object() -> None:
    with pytest.raises(pydantic.ValidationError):
        _ = generate(One, max_new_tokens=2).parsed
    with pytest.raises(json.JSONDecodeError):
        _ = generate(Grammar.from_json_schema({"const": {"a": 1}}), max_new_tokens=2).parsed


def test_what_is_no_type_is_refused() -> None:
    for wrong in ("One", 3, One(a=1)):
        with pytest.raises(TypeError, match=r"pydantic type or a constrain\.Grammar"):
            generate(wrong)


def test_pydantic_is_imported_when_it_is_used() -> None:
    code = (
        "import sys, constrain\n"
        "constrain.Grammar.from_json_schema({'type': 'integer'})\n"
        "assert 'pydantic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
