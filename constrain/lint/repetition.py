r"""Loops that a model may not leave: whitespace, and other short pieces, any number of times.

A mask allows another blank after every blank, and some models go on until their budget is spent.
A bound ends that. Lists of larger parts are left alone: `("," item)*`.

Cost: O(size of the grammar).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constrain.frontends.cfg import Expression, Repetition, Symbol, Terminal
from constrain.frontends.cfg.graph import Graph
from constrain.limits import Limits
from constrain.lint.findings import Finding
from constrain.lint.outline import Definition, Outline, Span, walk
from constrain.lint.patterns import PatternRepetition
from constrain.lint.shapes import Shape, Shapes, loops_in

__all__ = ["check_repetition"]

_SHORT: Final = 16
"""Bytes of a round; longer ones are lists of something."""


def check_repetition(
    outline: Outline, graph: Graph, limits: Limits, *, lark: bool
) -> Iterator[Finding]:
    """All findings about loops.

    Args:
        outline: The grammar.
        graph: Of it.
        limits: Bound the search for what is whitespace.
        lark: It is in Lark's syntax: counts outside patterns are written `~0..8`.
    """
    shapes = Shapes(graph, limits)
    between: set[str] = set()
    for body, span in outline.ignored:
        between.update(p.name for p in walk(body) if isinstance(p, Symbol))
        yield from _ignored(outline, shapes.of(graph[body]), body, span)
    for definition in outline.definitions.values():
        if definition.name in between:
            continue
        found: list[Finding] = []
        root = graph[definition.body]
        if graph.recursive[root] and shapes.of(root).blank:
            found.append(_blank_rule(outline, definition))
        for part in walk(definition.body):
            place = outline.place(part, definition.name)
            in_rules = lark and not isinstance(part, PatternRepetition)
            counts = "~{}..{}" if in_rules else "{{{},{}}}"
            if isinstance(part, Repetition) and part.hi is None:
                shape = shapes.of(graph[part.body])
                shown = _shown(outline, part.body)
                found += _loop(outline, shape, place, shown, counts, part.lo)
            elif isinstance(part, Terminal):
                for loop in loops_in(part.term):
                    shape = shapes.of_term(loop.body)
                    found += _loop(outline, shape, place, "...", counts, loop.lo)
        # The first of a kind in a definition; the others are of the same make.
        yield from {f.code: f for f in reversed(found)}.values()


def _blank_rule(outline: Outline, definition: Definition) -> Finding:
    return outline.source.finding(
        "unbounded-whitespace",
        f"{definition.name!r} is blanks without end, which a model may write until its budget is "
        "spent",
        "write it as a repeat with a bound, not as a rule that needs itself",
        definition.span,
    )


def _loop(
    outline: Outline, shape: Shape, place: Span | None, shown: str, counts: str, lo: int
) -> Iterator[Finding]:
    if shape.width is None or not 0 < shape.width <= _SHORT or shape.tokens:
        return
    bounded = shown + counts.format(lo, max(8 if shape.blank else 200, lo))
    if shape.blank:
        yield outline.source.finding(
            "unbounded-whitespace",
            "blanks without end, which a model may write until its budget is spent",
            f"bound them, as in {bounded}",
            place,
        )
    else:
        yield outline.source.finding(
            "unbounded-repetition",
            f"{shown} any number of times, which a model may write until its budget is spent",
            f"bound it where the longest sensible text is known, as in {bounded}",
            place,
        )


def _ignored(outline: Outline, shape: Shape, body: Expression, span: Span) -> Iterator[Finding]:
    shown = _shown(outline, body)
    if shape.blank:
        yield outline.source.finding(
            "unbounded-whitespace",
            f"{shown} may come any number of times between two lexemes: a model may write it until "
            "its budget is spent",
            "put it into the rules where it may stand, with a bound, instead of %ignore",
            span,
        )


def _shown(outline: Outline, body: Expression) -> str:
    span = outline.places.get(body)
    if span is None:
        return "..."
    text = re.sub(r"\s+", " ", outline.source.text[span[0] : span[1]]).strip()
    return text if len(text) <= 40 else f"{text[:30]}...{text[-7:]}"
