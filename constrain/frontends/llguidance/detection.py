r"""Whether a text is written in this dialect: does it use something that lark's own lacks?

That is `%json`, `%regex`, `%lark`, `%llguidance`, `%if`, a special token, `&`, `~` before anything
but a number, counts in braces, a parameter (`::`), another grammar (`@name`), or attributes after
the name of a rule. Strings, patterns and comments are skipped.

Cost: O(length of the text).
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_llguidance"]

_SKIPPED: Final = r'"(?:\\.|[^"\\\n])*"i? | (?:\#|//)[^\n]* | /(?!/)(?:\\.|[^/\\\n])+/[a-z]*'
_MARKS: Final = r"""
    %(?:json|regex|lark|llguidance|grammar_options|if)\b
  | <[^<>\s]+>
  | &
  | ~(?!\s*[0-9])
  | ::
  | @[a-zA-Z0-9_]
  | [\w)\]"] [ \t]* \{ [ \t]* (?:,|[0-9])
  | ^[ \t]*[?!_]*[a-z][\w-]*\[ [ \t]* (?:lazy|stop|suffix|max_tokens|temperature|capture|stop_capture)\b
"""
_EITHER: Final = re.compile(rf"(?P<skipped>{_SKIPPED})|(?P<mark>{_MARKS})", re.X | re.M)
_COUNTS: Final = re.compile(r"[ \t]*\{[ \t]*(?:,|[0-9])")


def is_llguidance(text: str) -> bool:
    """Whether only this dialect can have meant the text."""
    for match in _EITHER.finditer(text):
        if match["mark"] is not None:
            return True
        if match[0][0] in '"/' and not match[0].startswith("//") and _COUNTS.match(text, match.end()):
            return True
    return False
