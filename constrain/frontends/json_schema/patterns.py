"""`pattern` as a language: what an ECMA-262 pattern matches somewhere in a string."""

from __future__ import annotations

from functools import lru_cache

from constrain.algebra.terms import Term
from constrain.algebra.utf8 import UTF8, Alphabet
from constrain.frontends.json_schema.string import Language
from constrain.frontends.regex import lower, parse, search
from constrain.limits import Limits

__all__ = ["pattern_language"]


# Languages are immutable but for terms they remember, so schemas may share them.
@lru_cache(maxsize=2048)
def pattern_language(source: str, limits: Limits) -> Language:
    """The strings in which a pattern matches somewhere.

    Raises:
        RegexSyntaxError: It does not parse.
        UnsupportedFeatureError: It has what no regular language has.
        LimitExceededError: It is larger than the limits allow.
    """
    tree = search(parse(source, "ecma", limits=limits))

    def make(alphabet: Alphabet) -> Term:
        return lower(tree, alphabet, limits=limits)

    language = Language(f"pattern {source!r}", make)
    if "(?" in source:
        language.term(UTF8)  # lookaround is refused, if at all, when it is lowered: let it be now
    return language
