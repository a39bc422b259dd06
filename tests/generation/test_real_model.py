"""The main job, on the real model: JSON that fits a schema, whatever the temperature."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

import constrain
from constrain.cli.demo import SCHEMA
from tests.real_model import real_model

SCHEMAS: list[tuple[str, dict[str, Any]]] = [
    ("Invent a hotel.", SCHEMA),
    (
        "List three colours.",
        {
            "type": "array",
            "items": {"enum": ["red", "green", "blue", "grün", "青"]},
            "minItems": 3,
            "maxItems": 3,
        },
    ),
    (
        "Describe a family tree.",
        {
            "$defs": {
                "person": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "minLength": 1, "maxLength": 8},
                        "children": {
                            "type": "array",
                            "items": {"$ref": "#/$defs/person"},
                            "maxItems": 2,
                        },
                    },
                    "required": ["name"],
                    "additionalProperties": False,
                }
            },
            "$ref": "#/$defs/person",
        },
    ),
]


@pytest.mark.parametrize("temperature", [0.0, 1.5])
@pytest.mark.parametrize(("question", "schema"), SCHEMAS, ids=["nested", "enum", "recursive"])
def test_the_text_fits_the_schema(
    question: str, schema: dict[str, Any], temperature: float
) -> None:
    model, tokenizer = real_model()
    grammar = constrain.Grammar.from_json_schema(schema)
    result = constrain.generate(
        model,
        tokenizer,
        [{"role": "user", "content": question}],
        grammar=grammar,
        params=constrain.SamplingParams(temperature=temperature, seed=11),
        max_new_tokens=160,
    )
    if result.finish_reason == "stop":
        jsonschema.Draft202012Validator(schema).validate(json.loads(result.text))
        assert grammar.accepts(result.text_bytes)
    else:  # a model may go on and on in a recursive schema: then what came is how a sentence begins
        rejection = grammar.first_rejection(result.text_bytes)
        assert rejection is None or rejection.at_end


def test_a_batch_of_questions_with_a_grammar_each() -> None:
    model, tokenizer = real_model()
    grammars = [
        constrain.Grammar.from_json_schema({"type": "integer", "minimum": 10, "maximum": 99}),
        constrain.Grammar.from_regex("(yes|no), because [a-z ]{5,20}[.]"),
        None,
    ]
    results = constrain.generate(
        model,
        tokenizer,
        ["How old is the ship? ", "Is the sea blue? ", "The sea is"],
        grammar=grammars,
        params=constrain.SamplingParams(seed=3),
        max_new_tokens=24,
    )
    for grammar, result in zip(grammars, results, strict=True):
        if grammar is not None and result.finish_reason == "stop":
            assert grammar.accepts(result.text_bytes)
    assert 10 <= results[0].parsed <= 99
    assert results[2].timings.num_tokens == 24
