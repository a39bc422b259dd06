"""Lark grammars: lark reads the syntax, and each literal as the pattern of a terminal.

Not the whole loader, which also wants every name to be defined.
"""

from __future__ import annotations

import re

from lark.exceptions import LarkError
from lark.grammar import NonTerminal
from lark.load_grammar import _literal_to_pattern, _parse_grammar


def complaint(text: str) -> str | None:
    try:
        tree = _parse_grammar(text, "<test>")
        for literal in tree.find_data("literal"):
            re.compile(_literal_to_pattern(literal.children[0]).to_regexp())
        for terminal in tree.find_data("term"):
            if any(found.children[1] for found in terminal.find_data("alias")):
                return "an alias in a terminal"
            for rule in terminal.scan_values(lambda value: isinstance(value, NonTerminal)):
                return f"the rule {rule.name} in a terminal"
    except (LarkError, re.error, ValueError, AssertionError) as error:
        return f"{type(error).__name__}: {error}"
    return None
