"""`constrain demo`: a small model writes JSON that fits a schema, and says what it cost."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import constrain
from constrain.cli.console import output, say
from constrain.cli.loading import ModelOption, ThreadsOption, chat_or_text, compile_kernels, load
from constrain.generation import MODEL_NAME, GenerationResult
from constrain.generation.packages import require

__all__ = ["SCHEMA", "demo"]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z][a-z]+( [A-Z][a-z]+){1,2}$", "maxLength": 24},
        "kind": {"enum": ["hotel", "hostel", "cabin"]},
        "rating": {"type": "number", "minimum": 0, "maximum": 5, "multipleOf": 0.5},
        "address": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "minLength": 2, "maxLength": 20},
                "zip": {"type": "string", "pattern": "^[0-9]{4}$"},
            },
            "required": ["city", "zip"],
            "additionalProperties": False,
        },
        "rooms": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "beds": {"type": "integer", "minimum": 1, "maximum": 4},
                    "price": {"type": "number", "exclusiveMinimum": 0, "maximum": 500},
                },
                "required": ["beds", "price"],
                "additionalProperties": False,
            },
            "minItems": 2,
            "maxItems": 3,
        },
        "open": {"type": "boolean"},
    },
    "required": ["name", "kind", "rating", "address", "rooms", "open"],
    "additionalProperties": False,
}
PROMPT = (
    "Invent a place to stay in Norway and describe it as JSON with the keys name, kind, rating, "
    "address (city, zip), rooms (beds, price) and open."
)


def demo(
    model: ModelOption = None,
    threads: ThreadsOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another text.")] = 7,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="Bound on the tokens drawn.")] = 256,
) -> None:
    """Let a small model write JSON under a schema on the CPU, check it, and print what it cost."""
    validator = require("jsonschema", "checking the result").Draft202012Validator(SCHEMA)
    compiling_s = compile_kernels()
    grammar = constrain.Grammar.from_json_schema(SCHEMA)
    loaded = load(model, threads)
    console = output()
    console.print(Text("\nThe schema", "bold"))
    console.print(Text(_outline(SCHEMA)), soft_wrap=True)
    console.print(Text(f"\nWhat {MODEL_NAME if model is None else model} writes under it", "bold"))
    stream = constrain.generate(
        loaded.model,
        loaded.tokenizer,
        chat_or_text(loaded.tokenizer, PROMPT),
        grammar=grammar,
        params=constrain.SamplingParams(temperature=0.7, top_p=0.95, seed=seed),
        max_new_tokens=max_new_tokens,
        stream=True,
    )
    for piece in stream:
        sys.stdout.write(piece)
        sys.stdout.flush()
    sys.stdout.write("\n")
    result = stream.result
    _show_verdict(console, result, validator)
    _show_cost(console, result, compiling_s + loaded.kernels_s)
    if result.finish_reason != "stop":
        raise typer.Exit(1)


def _outline(schema: dict[str, Any]) -> str:
    """Write a schema compactly: one property a line."""
    lines = [
        f"  {name:<8} {json.dumps(subschema, ensure_ascii=False)}"
        for name, subschema in schema["properties"].items()
    ]
    return "\n".join(lines)


def _show_verdict(console: Console, result: GenerationResult, validator: Any) -> None:  # noqa: ANN401 - of jsonschema
    if result.finish_reason != "stop":
        say(f"\nthe text was cut after {result.timings.num_tokens} tokens", "yellow")
        return
    errors = [error.message for error in validator.iter_errors(result.parsed)]
    if errors:
        raise RuntimeError(f"jsonschema objects to what the grammar allowed: {'; '.join(errors)}")
    console.print(Text("\n✓ jsonschema finds nothing to object to", "green"))


def _show_cost(console: Console, result: GenerationResult, kernels_s: float) -> None:
    timings = result.timings
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    rows = [
        ("load kernels", f"{kernels_s:.2f} s", "once a process; compiled once a machine"),
        ("read vocabulary", f"{timings.vocabulary_s:.2f} s", "once a tokenizer"),
        ("compile schema", _duration(timings.compile_s * 1e6), "once a schema"),
        ("first mask", _duration(timings.first_mask_s * 1e6), "compile, matcher and mask"),
        ("mask, p50", _duration(timings.percentile("mask", 50)), "a token"),
        ("mask, p99", _duration(timings.percentile("mask", 99)), "a token"),
        ("sampler, p50", _duration(timings.percentile("sampler", 50)), "a token"),
        ("accept, p50", _duration(timings.percentile("accept", 50)), "a token"),
        ("forward, p50", _duration(timings.percentile("forward", 50)), "a token, the model alone"),
        ("prefill", f"{timings.prefill_s:.2f} s", f"{timings.num_prompt_tokens} tokens of prompt"),
        ("speed", f"{timings.tokens_per_second:.1f} tokens/s", f"{timings.num_tokens} tokens"),
    ]
    for row in rows:
        table.add_row(*row)
    console.print(Text("\nWhat it cost", "bold"))
    console.print(table)


def _duration(us: float) -> str:
    return f"{us:.0f} us" if us < 1000 else f"{us / 1000:.1f} ms"
