"""Rules that nothing uses or that never end, cycles, loops over nothing, alternatives twice.

All of it is read off the graph that `frontends.cfg` makes of a grammar. A *cycle* is a rule that is
the whole of itself, with what stands beside it empty: its texts can be read in endless ways. Left
recursion is none.

    x: x | "a"                 cyclic-rule
    x: ("a"?)*                 nullable-loop: a round may read nothing
    x: x "a" | "b"             nothing to say

Cost: O(size of the grammar).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from constrain.frontends.cfg import Choice, Expression, Repetition, Sequence, Symbol
from constrain.frontends.cfg.graph import Graph
from constrain.frontends.components import components
from constrain.limits import Limits
from constrain.lint.findings import Finding
from constrain.lint.outline import Definition, Outline, walk
from constrain.lint.patterns import PatternChoice

__all__ = ["check_rules", "make_graph"]

_QUOTED_OR_BLANK: Final = re.compile(
    r"""("(?:\\.|[^"\\])*+"|\[(?:\\.|[^\]\\])*+\]|/(?:\\.|[^/\\])++/)|\s++"""
)
_ALL: Final = "\0all"
"""No grammar has a rule of this name."""


def make_graph(outline: Outline, limits: Limits) -> Graph:
    """The graph of all definitions, those too that nothing uses.

    Raises:
        LimitExceededError: There are more expressions than `max_source_nodes`.
    """
    productions = dict(outline.productions())
    every: list[Expression] = [Symbol(name) for name in productions]
    productions[_ALL] = Choice((*every, *[body for body, _ in outline.ignored]))
    # How deep rules begin with each other matters to derivatives only.
    return Graph(productions, Symbol(_ALL), replace(limits, max_nesting=1 << 60))


def check_rules(outline: Outline, graph: Graph) -> Iterator[Finding]:
    """All findings about the shape of rules."""
    yield from _unused(outline)
    yield from _endless(outline, graph)
    yield from _cyclic(outline, graph)
    for definition in outline.definitions.values():
        for part in walk(definition.body):
            if isinstance(part, Repetition):
                yield from _empty_rounds(outline, graph, definition, part)
            elif isinstance(part, Choice):
                yield from _duplicates(outline, part)


def _unused(outline: Outline) -> Iterator[Finding]:
    definitions = outline.definitions
    starts = [name for name in outline.starts if name in definitions]
    if len(starts) < len(outline.starts):
        return  # which rules are used cannot be told
    todo = [*starts, *outline.roots]
    for body, _ in outline.ignored:
        todo += _uses(outline, body)
    reached: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in reached and name in definitions:
            reached.add(name)
            todo += _uses(outline, definitions[name].body)
    whole = " or ".join(map(repr, outline.starts))
    for definition in definitions.values():
        if definition.name not in reached:
            kind = "terminal" if definition.is_terminal else "rule"
            yield outline.source.finding(
                f"unused-{kind}",
                f"no text of {whole} needs {kind} {definition.name!r}",
                "take it out, or use it where it was meant to stand",
                definition.span,
            )


def _uses(outline: Outline, body: Expression) -> Iterator[str]:
    for part in walk(body):
        if isinstance(part, Symbol):
            yield part.name
        yield from outline.uses.get(part, ())


def _endless(outline: Outline, graph: Graph) -> Iterator[Finding]:
    """Rules without a text, those that are the reason for it."""
    definitions = outline.definitions
    endless = [n for n, d in definitions.items() if not graph.productive[graph[d.body]]]
    needs = {
        name: [n for n in _uses(outline, definitions[name].body) if n in definitions]
        for name in endless
    }
    number = {name: i for i, name in enumerate(endless)}
    ring = components([[number[n] for n in needs[name] if n in number] for name in endless])[1]
    for part in ring:
        names = sorted([endless[i] for i in part], key=lambda n: definitions[n].span)
        inner = [n for name in names for n in needs[name] if n in number]
        if not set(inner) <= set(names):
            continue  # what it needs is the reason
        first = definitions[names[0]]
        users = [n for n in endless if n not in names and set(needs[n]) & set(names)]
        if not inner:
            why = f"{first.name!r} can never finish: something in it matches no text"
        elif len(names) == 1:
            why = f"{first.name!r} can never finish: every way through it needs {first.name!r}"
        else:
            why = f"{_listed(names)} can never finish: each needs another of them"
        more = f"; {_listed(users)} cannot either" if users else ""
        yield outline.source.finding(
            "never-finishes", why + more, "give it an alternative that ends", first.span
        )


def _cyclic(outline: Outline, graph: Graph) -> Iterator[Finding]:
    wholes = [_wholes(graph, n) for n in range(len(graph.nodes))]
    by_root = {graph[d.body]: d for d in outline.definitions.values()}
    for component in components(wholes)[1]:
        if len(component) == 1 and component[0] not in wholes[component[0]]:
            continue
        found = [by_root[n] for n in component if n in by_root]
        if not found:
            continue
        found.sort(key=lambda d: d.span)
        names = [d.name for d in found]
        what = f"{names[0]!r} is" if len(names) == 1 else f"{_listed(names)} are"
        yield outline.source.finding(
            "cyclic-rule",
            f"{what} the whole of {'itself' if len(names) == 1 else 'each other'}, so a text can "
            "be read in endless ways",
            f"take out the alternative that is {names[0]!r} and nothing else",
            found[0].span,
        )


def _wholes(graph: Graph, n: int) -> list[int]:
    """The successors that a string of a node may be the whole of."""
    if not graph.productive[n]:
        return []
    node = graph.nodes[n]
    successors = [s for s in graph.successors[n] if graph.productive[s]]
    if isinstance(node, Sequence):
        solid = [s for s in graph.successors[n] if not graph.nullable[s]]
        return successors if not solid else solid if len(solid) == 1 else []
    if isinstance(node, Repetition):
        once = node.lo <= 1 or graph.nullable[graph.successors[n][0]]
        return successors if once and node.hi != 0 else []
    return successors


def _empty_rounds(
    outline: Outline, graph: Graph, definition: Definition, part: Repetition
) -> Iterator[Finding]:
    if not graph.nullable[graph[part.body]] or (part.hi is not None and part.hi <= 1):
        return
    inner = outline.places.get(part.body)
    shown = "its body" if inner is None else f"`{_normal(outline, inner)}`"
    place = outline.place(part, definition.name)
    if part.hi is None:
        yield outline.source.finding(
            "nullable-loop",
            f"a loop whose rounds may read nothing: {shown} matches the empty text",
            "repeat what is not empty, as in x* for (x?)* and for (x*)*",
            place,
        )
    else:
        yield outline.source.finding(
            "nullable-repeat",
            f"the least count says nothing: {shown} matches the empty text"
            if part.lo
            else f"texts can be read in several ways: {shown} matches the empty text",
            "repeat what is not empty, from 0 times on",
            place,
        )


def _duplicates(outline: Outline, choice: Choice) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    again: list[tuple[tuple[int, int], str]] = []
    for member in choice.members:
        span = outline.places.get(member)
        shown = "" if span is None else outline.source.text[span[0] : span[1]].strip()
        if not isinstance(choice, PatternChoice):
            shown = _QUOTED_OR_BLANK.sub(lambda found: found[1] or " ", shown)
        if span is not None and shown and seen.setdefault(shown, span[0]) != span[0]:
            again.append((span, shown))
    if again:
        span, shown = again[0]
        line = outline.source.line(seen[shown])
        short = shown if len(shown) <= 40 else shown[:40] + "..."
        more = f"; so do {len(again) - 1} more" if len(again) > 1 else ""
        yield outline.source.finding(
            "duplicate-alternative",
            f"the alternative `{short}` stands there twice, first in line {line}{more}",
            "take one out",
            span,
        )


def _normal(outline: Outline, span: tuple[int, int]) -> str:
    text = re.sub(r"\s+", " ", outline.source.text[span[0] : min(span[1], span[0] + 40)]).strip()
    return text + ("..." if span[1] - span[0] > 40 else "")


def _listed(names: Iterable[str]) -> str:
    shown = [repr(n) for n in names]
    if len(shown) > 5:
        shown = [*shown[:4], f"{len(shown) - 4} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
