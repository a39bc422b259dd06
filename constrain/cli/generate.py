"""`constrain generate`: one prompt, one grammar, the text on standard output."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import constrain
from constrain.cli.console import say, usage_as_json, write_json
from constrain.cli.loading import ModelOption, ThreadsOption, chat_or_text, load
from constrain.cli.report import say_relaxed
from constrain.cli.sources import (
    DialectOption,
    FormatOption,
    GbnfOption,
    GrammarOption,
    LarkOption,
    LexerOption,
    ParserOption,
    RegexOption,
    SchemaOption,
    SpellingOption,
    StartOption,
    Style,
    UnsupportedOption,
    read_grammar,
)
from constrain.generation import GenerationResult

__all__ = ["generate", "timings_as_json"]


def generate(
    prompt: Annotated[str, typer.Option(metavar="TEXT", help="What to ask the model.")],
    schema: SchemaOption = None,
    regex: RegexOption = None,
    gbnf: GbnfOption = None,
    lark: LarkOption = None,
    grammar_file: GrammarOption = None,
    start: StartOption = None,
    parser: ParserOption = None,
    lexer: LexerOption = None,
    style: SpellingOption = None,
    dialect: DialectOption = None,
    formats: FormatOption = None,
    on_unsupported: UnsupportedOption = None,
    model: ModelOption = None,
    threads: ThreadsOption = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Use the prompt as it is, without a chat template.")
    ] = False,
    max_new_tokens: Annotated[int, typer.Option(min=0, help="Bound on the tokens drawn.")] = 256,
    temperature: Annotated[float, typer.Option(help="0 is greedy: the most probable token.")] = 1.0,
    top_p: Annotated[float, typer.Option(help="Keep the likeliest tokens up to this mass.")] = 1.0,
    top_k: Annotated[int, typer.Option(help="Keep this many of the likeliest; 0: all.")] = 0,
    min_p: Annotated[
        float, typer.Option(help="Keep tokens this likely relative to the likeliest.")
    ] = 0.0,
    seed: Annotated[int | None, typer.Option(help="The same seed, the same text.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object with figures.")
    ] = False,
) -> None:
    """Let a model write text that fits a schema, regex or grammar; exit code 1 if it was cut."""
    with usage_as_json(as_json):
        grammar = read_grammar(
            schema,
            regex,
            style,
            dialect,
            formats,
            on_unsupported,
            usual_style=Style.CANONICAL,
            gbnf=gbnf,
            lark=lark,
            grammar=grammar_file,
            start=start,
            parser=parser,
            lexer=lexer,
        )
        say_relaxed(grammar)
        params = constrain.SamplingParams(
            temperature=temperature, top_p=top_p, top_k=top_k, min_p=min_p, seed=seed
        )
        loaded = load(model, threads)
        stream = constrain.generate(
            loaded.model,
            loaded.tokenizer,
            prompt if raw else chat_or_text(loaded.tokenizer, prompt),
            grammar=grammar,
            params=params,
            max_new_tokens=max_new_tokens,
            stream=True,
        )
        if not as_json:
            for piece in stream:
                sys.stdout.write(piece)
                sys.stdout.flush()
            sys.stdout.write("\n")
        result = stream.result
    if as_json:
        write_json(
            {
                "text": result.text,
                "finish_reason": result.finish_reason,
                "token_ids": list(result.token_ids),
                "timings": timings_as_json(result),
            }
        )
    if result.finish_reason == "length":
        say(f"the text was cut after {result.timings.num_tokens} tokens", "yellow")
        say("hint: raise --max-new-tokens, or bound lengths and repeats in the grammar", "cyan")
        raise typer.Exit(1)


def timings_as_json(result: GenerationResult) -> dict[str, float | int]:
    """Return the figures of a result, flat, with units in the names."""
    timings = result.timings
    return {
        "num_prompt_tokens": timings.num_prompt_tokens,
        "num_tokens": timings.num_tokens,
        "vocabulary_s": timings.vocabulary_s,
        "compile_s": timings.compile_s,
        "first_mask_s": timings.first_mask_s,
        "prefill_s": timings.prefill_s,
        "mask_p50_us": timings.percentile("mask", 50),
        "mask_p99_us": timings.percentile("mask", 99),
        "sampler_p50_us": timings.percentile("sampler", 50),
        "accept_p50_us": timings.percentile("accept", 50),
        "forward_p50_us": timings.percentile("forward", 50),
        "tokens_per_second": timings.tokens_per_second,
    }
