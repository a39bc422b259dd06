"""A grammar without empty productions and without cycles, so that reducing always comes to an end.

    s: a s a | "x"      a: ""  | b      b: a | "y"
    s: a s a | s a | a s | "x"          a: "y"        (a and b derive each other: one symbol)

Cost: O(size of the grammar), times the ways to leave out parts that may be empty; long productions
are cut in two first where those are many.
Source: the first steps to Chomsky normal form, as in Hopcroft and Ullman (1979), section 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final

from constrain.frontends.components import components
from constrain.frontends.lark.automaton import Production, deriving

__all__ = ["without_empty_and_cycles"]

_FEW: Final = 4
"""Parts of one production that may be empty, up to which it stays whole."""


def without_empty_and_cycles(
    productions: Iterable[Production], root: str
) -> tuple[list[Production], bool]:
    """An equivalent grammar but for the empty text, and whether `root` has the empty text."""
    rules = list(productions)
    nullable = deriving(rules)
    full = _with_parts_left_out(_cut(rules, nullable), nullable)
    return _without_cycles(full, root), root in nullable


def _cut(rules: Iterable[Production], nullable: set[str]) -> list[Production]:
    """Cut off the first part of productions in which many may be empty; extends `nullable`."""
    found = []
    tails: dict[tuple[str, ...], str] = {}
    for rule in rules:
        origin, rest = rule
        while sum([s in nullable for s in rest]) > _FEW:
            known = rest[1:] in tails
            tail = tails.setdefault(rest[1:], f"{rule.origin}/{len(tails)}")
            found.append(Production(origin, (rest[0], tail)))
            if all([s in nullable for s in rest[1:]]):
                nullable.add(tail)
            if known:
                break
            origin, rest = tail, rest[1:]
        else:
            found.append(Production(origin, rest))
    return found


def _with_parts_left_out(rules: Iterable[Production], nullable: set[str]) -> list[Production]:
    found: dict[Production, None] = {}
    for origin, expansion in rules:
        choices = [((s,), ()) if s in nullable else ((s,),) for s in expansion]
        for kept in product(*choices):
            parts = tuple([s for part in kept for s in part])
            if parts:
                found[Production(origin, parts)] = None
    # A symbol that is only ever empty has no production left.
    origins = {r.origin for r in found}
    empty_only = nullable - origins
    return [r for r in found if not empty_only.intersection(r.expansion)]


def _without_cycles(rules: Sequence[Production], root: str) -> list[Production]:
    """Make one symbol of those that derive each other."""
    origins = {r.origin for r in rules}
    units: dict[str, list[str]] = {}
    for origin, expansion in rules:
        if len(expansion) == 1 and expansion[0] in origins:
            units.setdefault(origin, []).append(expansion[0])
    leader = _leaders(units, root)
    found: dict[Production, None] = {}
    for origin, expansion in rules:
        parts = tuple([leader.get(s, s) for s in expansion])
        made = Production(leader.get(origin, origin), parts)
        if parts != (made.origin,):
            found[made] = None
    return list(found)


def _leaders(units: dict[str, list[str]], root: str) -> dict[str, str]:
    """For each symbol on a cycle of unit productions one that stands for all on it."""
    symbols = list(dict.fromkeys((root, *units)))
    number = {symbol: n for n, symbol in enumerate(symbols)}
    parts = components(
        [[number[s] for s in units.get(symbol, ()) if s in number] for symbol in symbols]
    )[1]
    return {symbols[n]: symbols[part[0]] for part in parts for n in part}
