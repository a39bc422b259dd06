r"""The Lark dialect of the engine llguidance, to terms.

In: the text of a grammar. Out: a term, the texts that such a grammar denotes. Decided here: its
syntax, which is Lark's with additions and without some parts; how its lexemes compete; what JSON in
it looks like. Not decided here: patterns (`regex`), schemas (`json_schema`), the automaton of a
parser (`lark`).

    >>> term = from_llguidance('start: <|tool|> %json {"type": "integer"} | /[^{](.|\n)*/')
    >>> term.nullable
    False

Read in this order: `lexer`, `syntax` with `parameters`, `reader` with `options`, `imports` and
`substrings`, `grammar_list` (text to syntax trees), `terminals` and `inline_json` (parts of them to
terms), `contest` (lexemes that compete), `productions` with `calls` (the rest to rules without
operators), `stacks` and `follow` (the parser), `boundary` and `ways` (both together), `dead_ends`
with `spacious`, `boundaries` with `runs` (the rules), `lower` (all of it), `detection` (which
dialect a text is).
"""

from __future__ import annotations

from collections.abc import Sequence

from constrain.algebra.terms import Term, alt
from constrain.algebra.within import within_tokens
from constrain.errors import GrammarError
from constrain.frontends.llguidance.detection import is_dialect
from constrain.frontends.llguidance.grammar_list import read_grammars
from constrain.frontends.llguidance.inline_json import prelude_of
from constrain.frontends.llguidance.lower import lower
from constrain.frontends.llguidance.productions import make_productions
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["from_llguidance", "is_dialect", "prelude_of"]


def from_llguidance(
    text: str, *, start: str | Sequence[str] = "start", limits: Limits = DEFAULT_LIMITS
) -> Term:
    """The texts of a grammar in llguidance's dialect of Lark: see `Grammar.from_lark`.

    Raises:
        GrammarSyntaxError: The grammar is wrong.
        UnsupportedFeatureError: Something in it cannot be honoured exactly.
        UnsatisfiableError: No text is in the language.
        LimitExceededError: It is larger than the limits allow.
    """
    starts = [start] if isinstance(start, str) else list(start)
    if not starts:
        raise GrammarError("start names no rule", hint="start='start'")
    grammar, named, most_tokens = read_grammars(text, limits)
    made, symbols = make_productions(grammar, named, starts, limits)
    term = alt([lower(made, symbol, limits) for symbol in symbols])
    return term if most_tokens is None else within_tokens(term, most_tokens)
