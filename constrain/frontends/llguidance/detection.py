r"""Whether a text is written in this dialect: does it use something that lark's own lacks?

That is `%json`, `%regex`, `%lark`, `%llguidance`, `%if`, a special token, `&`, `~` before anything
but a number, counts in braces, a parameter (`::`), another grammar (`@name`), or attributes after
the name of a rule. Strings, patterns and comments are skipped.

Cost: O(length of the text).
"""

from __future__ import annotations

import re
from typing import Any, Final

from constrain.errors import GrammarError

__all__ = ["is_dialect"]

_SKIPPED: Final = r'"(?:\\.|[^"\\\n])*"i? | (?:\#|//)[^\n]* | /(?!/)(?:\\.|[^/\\\n])+/[a-z]*'
_MARKS: Final = r"""
    %(?:json|regex|lark|llguidance|grammar_options|if)\b
  | <\S
  | &
  | ~(?!\s*[0-9])
  | ::
  | @[a-zA-Z0-9_]
  | [\w)\]"] [ \t]* \{ [ \t]* (?:,|[0-9])
  | ^[ \t]*[?!_]*[a-z][\w-]*\[ [ \t]*
    (?:lazy|stop|suffix|max_tokens|temperature|capture|stop_capture)\b
"""
_EITHER: Final = re.compile(rf"(?P<skipped>{_SKIPPED})|(?P<mark>{_MARKS})", re.X | re.M)
_COUNTS: Final = re.compile(r"[ \t]*\{[ \t]*(?:,|[0-9])")


def is_dialect(text: str, dialect: str, *of_lark: Any) -> bool:  # noqa: ANN401 - of from_lark
    """Whether a text is to be read in this dialect.

    Args:
        text: The grammar.
        dialect: "lark", "llguidance" or "auto".
        of_lark: Parser, lexer, import paths and postlex, which only lark has.

    Raises:
        GrammarError: There is no such dialect, or arguments for lark were given with this one.
    """
    if dialect not in ("auto", "lark", "llguidance"):
        raise GrammarError(f"dialect must be 'auto', 'lark' or 'llguidance', not {dialect!r}")
    if not isinstance(text, str):
        raise GrammarError(f"a grammar must be a str, not {type(text).__name__}")
    if dialect == "lark" or (dialect == "auto" and not _has_marks(text)):
        return False
    parser, lexer, import_paths, postlex = of_lark
    if parser != "lalr" or lexer != "auto" or import_paths or postlex is not None:
        raise GrammarError(
            "the dialect 'llguidance' has a parser and a lexer of its own",
            hint="leave out parser, lexer, import_paths and postlex, or pass dialect='lark'",
        )
    return True


def _has_marks(text: str) -> bool:
    if text.lstrip().startswith("{"):  # several grammars, in JSON
        return True
    for match in _EITHER.finditer(text):
        if match["mark"] is not None:
            return True
        is_comment = match[0].startswith(("#", "//"))
        if not is_comment and _COUNTS.match(text, match.end()):
            return True
    return False
