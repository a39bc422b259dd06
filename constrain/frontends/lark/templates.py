r"""Templates that grow without end, found before lark writes them out until memory is gone.

lark makes a rule for each different use of a template. That ends unless a parameter comes back to
itself inside of another template:

    _list{x}: x | _list{x} "," x          one rule for each x
    t{x}: x | t{pair{x}}                  t{a}, t{pair{a}}, t{pair{pair{a}}}, ...

So: a graph of parameters, with an edge where one stands in an argument, marked where it stands
deeper than the argument itself. It never ends if a marked edge lies on a cycle.

Cost: O(length of the text), times how deep uses nest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from constrain.errors import GrammarSyntaxError
from constrain.frontends.components import components

__all__ = ["check_templates"]

_TOKEN: Final = re.compile(
    r"""(?://|\#)[^\n]*+ | "(?:\\.|[^"\\\n])*+" | /(?!/)(?:\\.|[^/\\])++/
    | (?P<name>[_a-zA-Z][_a-zA-Z0-9]*+) | (?P<mark>[{},:.]) | (?P<number>[0-9]++)""",
    re.VERBOSE | re.DOTALL,
)
_DEEPEST: Final = 50
"""lark itself gives up on uses that nest much deeper."""


class _Token(NamedTuple):
    text: str
    start: int
    end: int


class _Use(NamedTuple):
    """A parameter in an argument of a use."""

    parameter: tuple[str, int]
    argument: tuple[str, int]
    grows: bool
    span: tuple[int, int]


def check_templates(text: str) -> None:
    """Refuse a grammar whose templates never end.

    Raises:
        GrammarSyntaxError: One does; the caret is under its use.
    """
    if "{" not in text:
        return
    uses = list(_uses(text))
    number: dict[tuple[str, int], int] = {}
    for use in uses:
        for node in (use.parameter, use.argument):
            number.setdefault(node, len(number))
    edges: list[list[int]] = [[] for _ in number]
    for use in uses:
        edges[number[use.parameter]].append(number[use.argument])
    component, _ = components(edges)
    for use in uses:
        ends = component[number[use.parameter]], component[number[use.argument]]
        if use.grows and ends[0] == ends[1]:
            raise GrammarSyntaxError(
                f"template {use.argument[0]!r} never ends: each use needs another with a longer "
                "argument",
                source=text,
                span=use.span,
                hint="pass the parameter itself, not a template of it",
            )


def _uses(text: str) -> Iterator[_Use]:
    tokens = [
        _Token(m[0], m.start(), m.end()) for m in _TOKEN.finditer(text) if m.lastgroup is not None
    ]
    closing = _closing(tokens)
    template, parameters = "", dict[str, int]()
    at = 0
    while at < len(tokens):
        name, opens = tokens[at].text, at + 1 if at + 1 < len(tokens) else at
        end = closing.get(opens)
        if not (name[0].isalpha() or name[0] == "_"):
            at += 1
            continue
        after = at + 1 if end is None else end + 1
        if _is_head(tokens, after):
            inside = tokens[opens + 1 : end] if end is not None else []
            names = [t.text for t in inside if t.text not in ",{}"]
            template, parameters = name, {n: i for i, n in enumerate(names)}
            at = after
            continue
        if end is not None and parameters:
            yield from _of_use(tokens, at, end, template, parameters)
        at += 1


def _of_use(
    tokens: Sequence[_Token], at: int, end: int, template: str, parameters: dict[str, int]
) -> Iterator[_Use]:
    depth = argument = 0
    for token in tokens[at + 1 : end + 1]:
        depth += (token.text == "{") - (token.text == "}")
        if depth > _DEEPEST:
            return
        if token.text == "," and depth == 1:
            argument += 1
        elif token.text in parameters:
            parameter = (template, parameters[token.text])
            span = (tokens[at].start, tokens[end].end)
            yield _Use(parameter, (tokens[at].text, argument), depth > 1, span)


def _closing(tokens: Sequence[_Token]) -> dict[int, int]:
    """The place of the brace that closes each."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for i, token in enumerate(tokens):
        if token.text == "{":
            opened.append(i)
        elif token.text == "}" and opened:
            found[opened.pop()] = i
    return found


def _is_head(tokens: Sequence[_Token], at: int) -> bool:
    """Whether a colon comes, perhaps after a priority."""
    texts = [t.text for t in tokens[at : at + 3]]
    return texts[:1] == [":"] or (texts[:1] == ["."] and texts[2:] == [":"])
