r"""The lexemes of a grammar text: names, strings, regular expressions, JSON after a directive.

    start: <|sys|> "a"{2} | /b+/i     name ":" special string "{" number "}" "|" regex

`%json`, `%regex` and `%llguidance` are followed by a JSON value, which is one lexeme with them.

Cost: O(length of the text).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from constrain.errors import GrammarSyntaxError
from constrain.limits import Limits

__all__ = ["DIRECTIVES", "Lexeme", "read_lexemes"]

DIRECTIVES: Final = (
    "%llguidance",
    "%ignore",
    "%import",
    "%json",
    "%regex",
    "%lark",
    "%if",
    "%declare",
    "%override",
    "%extend",
)
_WITH_JSON: Final = {
    "%json": "a JSON Schema",
    "%regex": "an object",
    "%llguidance": "an object",
}

_LEXEME: Final = re.compile(
    r"""
    (?P<blank> [ \t]+ | (?:\#|//)[^\n]* )
  | (?P<newline> \r?\n )
  | (?P<string> "(?:\\.|[^"\\\n])*"i? )
  | (?P<regex> /(?:\\.|[^/\\])+/[a-z]* )
  | (?P<special> <[^<>\s]+> )
  | (?P<directive> %[a-z_]* )
  | (?P<number> 0[xX][0-9a-fA-F]+ | [+-]?[0-9]+(?:\.(?!\.)[0-9]*)?(?:[eE][+-]?[0-9]+)? )
  | (?P<terminal> _?[A-Z](?:[_A-Z0-9]|-(?!>))* )
  | (?P<rule> _?[a-z](?:[_a-z0-9]|-(?!>))* )
  | (?P<reference> @[a-zA-Z0-9_\-]+ )
  | (?P<sign> -> | :: | \.\. | [:,.(){}\[\]~|=&*+?!_] )
    """,
    re.VERBOSE,
)
_STARTED: Final = {
    '"': ("the string is not closed", 'close it with "; a newline in it is written \\n'),
    "/": ("the regular expression is not closed", "close it with /; a / in it is written \\/"),
    "<": ("the special token is not closed", "as in <|name|> or <[128]>, without blanks"),
    "'": ("strings are in double quotes", 'write "..."'),
    "$": ("a grammar has no '$'", None),
}


@dataclass(frozen=True, slots=True)
class Lexeme:
    """One lexeme.

    Attributes:
        kind: "string", "regex", "special", "number", "terminal", "rule", "reference", "newline",
            "end"; for signs and directives, their text.
        text: As it stands; of the JSON after a directive, that JSON.
        start: Offset in code points.
        stop: Offset of its end.
        value: The JSON after a directive, as Python data.
    """

    kind: str
    text: str
    start: int
    stop: int
    value: Any = None


def read_lexemes(text: str, limits: Limits) -> list[Lexeme]:
    """All lexemes, the last of kind "end".

    Raises:
        GrammarSyntaxError: Something is none.
        LimitExceededError: There are more than `max_source_nodes`.
    """
    found: list[Lexeme] = []
    at = 0
    while at < len(text):
        match = _LEXEME.match(text, at)
        if match is None:
            raise _no_lexeme(text, at)
        kind, start, at = str(match.lastgroup), at, match.end()
        if kind == "blank":
            continue
        written = match[0]
        if kind == "directive":
            lexeme, at = _directive(text, written, start, at)
            found.append(lexeme)
        else:
            name = written if kind == "sign" else kind
            found.append(Lexeme(name, written, start, at))
        limits.check("max_source_nodes", len(found), "a grammar")
    found.append(Lexeme("newline", "", at, at))
    found.append(Lexeme("end", "", at, at))
    return found


def _directive(text: str, written: str, start: int, at: int) -> tuple[Lexeme, int]:
    if written == "%grammar_options":  # what xgrammar calls it
        written = "%llguidance"
    if written not in DIRECTIVES:
        raise GrammarSyntaxError(
            f"there is no directive {written!r}",
            source=text,
            span=(start, at),
            hint=f"there are {', '.join(DIRECTIVES)}",
        )
    if written not in _WITH_JSON:
        return Lexeme(written, written, start, at), at
    blank = re.compile(r"\s*").match(text, at)
    begin = at if blank is None else blank.end()
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except (ValueError, RecursionError) as e:
        place = getattr(e, "pos", begin)
        reason = getattr(e, "msg", "it nests too deep")
        raise GrammarSyntaxError(
            f"no JSON after {written}: {reason}",
            source=text,
            span=(place, place + 1),
            hint=f"{written} is followed by {_WITH_JSON[written]} as JSON",
        ) from e
    return Lexeme(written, text[begin:end], start, end, value), end


def _refuse_constant(name: str) -> Any:  # noqa: ANN401 - it never returns
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)


def _no_lexeme(text: str, at: int) -> GrammarSyntaxError:
    reason, hint = _STARTED.get(text[at], (f"unexpected {text[at]!r}", None))
    return GrammarSyntaxError(reason, source=text, span=(at, at + 1), hint=hint)
