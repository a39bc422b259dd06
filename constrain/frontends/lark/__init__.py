"""Lark grammars to terms.

In: the text of a grammar in lark's syntax. Out: a term, the texts that lark's parser accepts with
that grammar, parser and lexer. Decided here: what lark's lexers and parsers accept, said in terms.
Not decided here: the syntax of grammars, imports and templates; that is lark's own code.

    >>> term = from_lark('start: "a" start "b" | "c"')
    >>> term.nullable
    False

Read in this order: `read` (lark's loader and its errors; `templates`, `alternatives` and `lexers`,
what it does not do well), `program` (a terminal as `re` tries it), `alphabet` (code points that no
terminal tells apart), `threads` (programs run over a text to come), `forbidden` (what they leave
pending, by what it forbids), `scanner` (the lexemes of a lexer), `equations` (their words as
terms), `automaton`, `normal`, `table` (the LALR table that lark would make), `stacks` (where a text
stands in a parser), `lalr` and `general` (the parser that runs the table, and one for all other
grammars), `indent` (lark's `Indenter`), `prospects` (whether there are dead ends: `adjacency`,
`conflicts`, `nesting` and `completable` to prove that there is none, `pushdowns` and `saturation`
to tell each), `tails` (stacks from which the same texts are possible), `boundaries` (lexer and
parser together), `lower` (all of it), `explain` (where a text stands).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from constrain.algebra.terms import Term, alt
from constrain.errors import GrammarError
from constrain.frontends.lark.lower import lower
from constrain.frontends.lark.read import check_options, read
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["from_lark"]


def from_lark(
    text: str,
    *,
    start: str | Sequence[str] = "start",
    parser: str = "lalr",
    lexer: str = "auto",
    import_paths: Sequence[Any] = (),
    postlex: Any = None,  # noqa: ANN401 - a lark Indenter, lark being optional
    limits: Limits = DEFAULT_LIMITS,
) -> Term:
    """The texts that lark parses: see `Grammar.from_lark`.

    Raises:
        BackendUnavailableError: lark is not installed.
        GrammarSyntaxError: The grammar is wrong.
        UnsupportedFeatureError: Something in it cannot be honoured exactly.
        UnsatisfiableError: No text is in the language.
        LimitExceededError: It is larger than the limits allow.
    """
    check_options(parser, lexer, postlex)
    starts = [start] if isinstance(start, str) else list(start)
    if not starts:
        raise GrammarError("start names no rule", hint="start='start'")
    made = read(text, starts, parser, lexer, import_paths, postlex, limits)
    return alt([lower(made, name, limits) for name in starts])
