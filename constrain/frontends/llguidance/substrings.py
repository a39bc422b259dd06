"""`%regex`: the texts made of some chunks that follow one another in a longer text, or of none.

    {"substring_words": "foo bar"}      "", "foo", " ", "bar", "foo ", " bar", "foo bar"

How: the automaton of all suffixes of the chunks, in which every node may end. A chunk that comes
again with another one before it has nodes of its own, so that there are at most two for each.

Cost: O(chunks). Source: Blumer et al., "The smallest automaton recognizing the subwords of a text"
(1985).
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Final

from constrain.algebra.terms import EPS, Rule, Term, alt, cat, literal
from constrain.errors import GrammarSyntaxError
from constrain.frontends.llguidance.syntax import Substring

__all__ = ["read_substring", "substring"]

_FIELDS: Final = ("substring_chunks", "substring_words", "substring_chars")
_WORDS: Final = re.compile(r"\w+|\W")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def read_substring(value: Any, source: str, span: tuple[int, int]) -> Substring:  # noqa: ANN401
    """What a `%regex` says.

    Raises:
        GrammarSyntaxError: It is not one of the three fields, with a value of its type.
    """

    def wrong(reason: str, hint: str | None = None) -> GrammarSyntaxError:
        return GrammarSyntaxError(reason, source=source, span=span, hint=hint)

    names = ", ".join(_FIELDS)
    if not isinstance(value, dict):
        raise wrong("%regex is followed by an object", f"with one of {names}")
    for name in value:
        if name not in _FIELDS:
            raise wrong(f"%regex has no field {name!r}", f"it has {names}")
    if len(value) != 1:
        raise wrong("%regex has exactly one field", f"one of {names}")
    ((name, given),) = value.items()
    if name == "substring_chunks":
        if not isinstance(given, list) or not all(isinstance(c, str) for c in given):
            raise wrong("substring_chunks is a list of strings")
        chunks = given
    elif not isinstance(given, str):
        raise wrong(f"{name} is a string")
    else:
        chunks = _WORDS.findall(given) if name == "substring_words" else list(given)
    if any(map(_SURROGATE.search, chunks)):
        raise wrong(f"{name} has half a surrogate pair in it, which no text has")
    return Substring(tuple([c for c in chunks if c]), span)


def substring(chunks: tuple[str, ...]) -> Term:
    """The texts of some chunks that follow one another."""
    edges = _suffix_automaton(chunks)
    rules: list[Rule] = []

    def body(node: int) -> Term:
        after = [cat(literal(c.encode()), rules[to]) for c, to in edges[node].items()]
        return alt((EPS, *after))

    rules += [
        Rule("substring", partial(body, node), nullable=True, regular=True)
        for node in range(len(edges))
    ]
    return rules[0]


def _suffix_automaton(chunks: tuple[str, ...]) -> list[dict[str, int]]:
    """Where each node leads by a chunk; 0 is the first node, and every node may end."""
    edges: list[dict[str, int]] = [{}]
    length, link = [0], [-1]
    last = 0
    for chunk in chunks:
        new = len(edges)
        edges.append({})
        length.append(length[last] + 1)
        link.append(0)
        at, last = last, new
        while at >= 0 and chunk not in edges[at]:
            edges[at][chunk] = new
            at = link[at]
        if at < 0:
            continue
        to = edges[at][chunk]
        if length[to] == length[at] + 1:
            link[new] = to
            continue
        twin = len(edges)
        edges.append(dict(edges[to]))
        length.append(length[at] + 1)
        link.append(link[to])
        while at >= 0 and edges[at].get(chunk) == to:
            edges[at][chunk] = twin
            at = link[at]
        link[to] = link[new] = twin
    return edges
