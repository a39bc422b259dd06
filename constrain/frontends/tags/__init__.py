"""Tags: structure inside free text, such as tool calls and reasoning.

In: a structural tag as JSON, tools as in a request, or a grammar that reasoning comes before. Out:
a term. Decided here: where free text ends, what each format means, how model families write calls
and their arguments, and which texts may also be special tokens. Not decided here: what schemas,
expressions and grammars inside tags mean (`json_schema`, `regex`, `gbnf`, `llguidance`), and which
special tokens a vocabulary has (`automaton`).

    >>> tag = {"begin": "<think>", "content": {"type": "any_text"}, "end": "</think>"}
    >>> term = from_structural_tag({"type": "tag", **tag})
    >>> term.nullable
    False

Read in this order: `markers` (texts that may be special tokens), `free_text` (until a trigger),
`bounded_text`, `reasoning`, `fields` (JSON objects read), `argument_styles` (a table),
`python_text`, `argument_members`, `argument_values` and `unwritable` (objects written otherwise
than as JSON), `arguments` (from a schema), `formats` (each type of format), `structural_tag` (the
whole), `tool_formats` (a table), `tools`.
"""

from __future__ import annotations

from constrain.frontends.tags.argument_styles import ArgumentStyle
from constrain.frontends.tags.reasoning import with_reasoning
from constrain.frontends.tags.structural_tag import from_structural_tag
from constrain.frontends.tags.tool_formats import TOOL_FORMATS, ToolFormat
from constrain.frontends.tags.tools import from_tools

__all__ = [
    "TOOL_FORMATS",
    "ArgumentStyle",
    "ToolFormat",
    "from_structural_tag",
    "from_tools",
    "with_reasoning",
]
