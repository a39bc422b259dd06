"""Tags: structure inside free text, such as tool calls and reasoning.

In: a structural tag, as JSON. Out: a term. Decided here: where free text ends, what each format
means, and which texts may also be special tokens. Not decided here: schemas, expressions and
grammars inside tags (`json_schema`, `regex`, `gbnf`), and which special tokens a vocabulary has
(`automaton`).

    >>> tag = {"begin": "<think>", "content": {"type": "any_text"}, "end": "</think>"}
    >>> term = from_structural_tag({"type": "tag", **tag})
    >>> term.nullable
    False

Read in this order: `markers` (texts that may be special tokens), `free_text` (until a trigger),
`fields` (JSON objects read), `formats` (each type of format), `structural_tag` (the whole).
"""

from __future__ import annotations

from constrain.frontends.tags.structural_tag import from_structural_tag

__all__ = ["from_structural_tag"]
