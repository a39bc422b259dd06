"""`constrain explain`: what became of a schema, pattern or grammar, and what compiling it costs."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.text import Text

import constrain
from constrain.cli.console import output, usage_as_json, write_json
from constrain.cli.report import report_as_json, show_report
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

__all__ = ["explain"]

_SHOWN = 200
"""Code points of a text that every text begins with; it can have 65,536 bytes."""


def explain(
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
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Say what was done with each keyword, how every text begins, and what compiling costs.

    It is compiled for a vocabulary of the 256 bytes, so no model is needed.
    """
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
    vocab = constrain.Vocabulary([*(bytes([b]) for b in range(256)), None], eos_token_ids=[256])
    constrain.warmup()
    started = time.perf_counter()
    compiled = constrain.compile(grammar, vocab)
    compile_ms = (time.perf_counter() - started) * 1e3
    forced = compiled.matcher().find_jump_forward_bytes()
    after = grammar.first_rejection(forced)
    could = ["the end"] if after is None or after.complete else []
    could += [] if after is None else after.expected
    begins_with = forced.decode("utf-8", "backslashreplace")
    if as_json:
        write_json(
            {
                "grammar": grammar.description,
                "keywords": report_as_json(grammar),
                "begins_with": begins_with,
                "then": could,
                "compile_ms": compile_ms,
                "num_terms": compiled.num_terms,
                "num_bytes": compiled.nbytes,
            }
        )
        return
    console = output()
    console.print(Text(repr(grammar)), soft_wrap=True)
    show_report(console, grammar)
    if len(begins_with) > _SHOWN:
        begins_with = f"{begins_with[:_SHOWN]}... ({len(forced):,} bytes)"
    if forced:
        console.print(Text(f"every text begins with: {begins_with}"), soft_wrap=True)
    console.print(Text(f"then comes: {', '.join(could)}"), soft_wrap=True)
    cost = (
        f"compiled in {compile_ms:.1f} ms: {compiled.num_terms:,} terms, {compiled.nbytes:,} bytes"
    )
    console.print(Text(cost), soft_wrap=True)
