"""Where lark's LALR table does not do what the grammar says: conflicts that it resolved.

A conflict between shifting and reducing is resolved by shifting, one between rules by priority. So
before some terminals a rule is not reduced where it ends, though it may be followed by them:

    start: a "x" "y"    a: "a" | "a" "x" a      after "a", "x" is shifted: no text ever ends

The same rule may have a conflict in some states and none in others. So the grammar is written out
anew: a rule is split in as many as there are ways in which it and its parts behave in the states
where it begins.

Whether a terminal may follow is told by the sets FOLLOW, so there may be too many here, never too
few.

Cost: O(size of the table + transitions on rules * their productions).
Source: DeRemer, "Simple LR(k) grammars" (1971), for FOLLOW; the split is the coarsest partition of
the transitions that is stable, as in Hopcroft's minimization.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from constrain.frontends.components import unions
from constrain.frontends.lark.automaton import ROOT, Production, deriving
from constrain.frontends.lark.lalr import Lalr
from constrain.frontends.lark.table import END

__all__ = ["split_by_conflicts"]

_Transition = tuple[int, str]
"""A state and a rule that may begin there."""
_Signature = tuple[frozenset[str], ...]


def split_by_conflicts(
    parser: Lalr, productions: Sequence[Production]
) -> tuple[list[Production], dict[Production, frozenset[str]]]:
    """The grammar, rules split where states differ, and what its productions must not precede.

    Args:
        parser: lark's table.
        productions: Those that matter, of the grammar that the table was made for, that of `$root`
            the first.

    Returns:
        Productions of an equivalent grammar, and for some of them the terminals before which the
        table has something else than to reduce them, where they may follow.
    """
    walks = _Walks(parser, productions)
    local = _local_conflicts(parser, walks, _follow(productions))
    if not local:
        return list(productions), {}
    names = _names(walks, local)
    found: dict[Production, frozenset[str]] = {}
    done: set[str] = set()
    root = walks.by_origin[ROOT][0]
    made = [Production(ROOT, (names.get((parser.first, root.expansion[0]), root.expansion[0]),))]
    for transition, parts in walks.parts.items():
        name = names.get(transition, transition[1])
        if name in done:
            continue
        done.add(name)
        signature = local.get(transition, ())
        for n, (production, inner) in enumerate(
            zip(walks.by_origin[transition[1]], parts, strict=True)
        ):
            at = iter(inner)
            expansion = tuple(
                [
                    names.get(next(at), symbol) if symbol in walks.by_origin else symbol
                    for symbol in production.expansion
                ]
            )
            made.append(Production(name, expansion))
            if signature and signature[n]:
                found[made[-1]] = signature[n]
    follow = _follow(made)
    exact = {p: terminals & follow[p.origin] for p, terminals in found.items()}
    return made, {p: terminals for p, terminals in exact.items() if terminals}


class _Walks:
    """Every production from every state where it may begin.

    Attributes:
        by_origin: The productions of each rule.
        parts: For each transition on a rule, for each of its productions, the transitions on rules
            that it goes through.
        ends: The state where it ends, in the same order.
    """

    def __init__(self, parser: Lalr, productions: Sequence[Production]) -> None:
        by_origin: dict[str, list[Production]] = {}
        for production in productions:
            by_origin.setdefault(production.origin, []).append(production)
        self.by_origin = by_origin
        self.parts: dict[_Transition, list[list[_Transition]]] = {}
        self.ends: dict[_Transition, list[int]] = {}
        pushes = {state: parser.pushes(state) for state in parser.states}
        start = by_origin[ROOT][0].expansion[0]
        todo = [(parser.first, start)]
        while todo:
            transition = todo.pop()
            if transition in self.parts:
                continue
            parts = self.parts[transition] = []
            ends = self.ends[transition] = []
            first, origin = transition
            for production in by_origin[origin]:
                state = first
                inner = []
                for symbol in production.expansion:
                    if symbol in by_origin:
                        inner.append((state, symbol))
                    state = pushes[state][symbol]
                parts.append(inner)
                ends.append(state)
                todo += inner


def _local_conflicts(
    parser: Lalr, walks: _Walks, follow: Mapping[str, frozenset[str]]
) -> dict[_Transition, _Signature]:
    """For transitions, what the productions must not precede; only where there is something."""
    complete: dict[int, dict[Production, None]] = {}
    for (_, origin), ends in walks.ends.items():
        for production, end in zip(walks.by_origin[origin], ends, strict=True):
            complete.setdefault(end, {})[production] = None
    before: dict[tuple[int, Production], frozenset[str]] = {}
    for state, productions in complete.items():
        actions = {
            symbol: parser.action(state, symbol)
            for symbol in parser.row(state)
            if symbol not in walks.by_origin
        }
        if len(productions) == 1 and not any([isinstance(a, int) for a in actions.values()]):
            continue
        for production in productions:
            reduces = (production.origin, len(production.expansion))
            after = follow[production.origin]
            others = [t for t, a in actions.items() if t in after and a != reduces]
            if others:
                before[state, production] = frozenset(others)
    found: dict[_Transition, _Signature] = {}
    for transition, ends in walks.ends.items():
        each = zip(ends, walks.by_origin[transition[1]], strict=True)
        signature = tuple([before.get(key, frozenset()) for key in each])
        if any(signature):
            found[transition] = signature
    return found


def _names(walks: _Walks, local: Mapping[_Transition, _Signature]) -> dict[_Transition, str]:
    """New names for rules at the transitions where they behave unlike elsewhere."""
    users: dict[_Transition, list[_Transition]] = {}
    for transition, parts in walks.parts.items():
        for inner in parts:
            for part in inner:
                users.setdefault(part, []).append(transition)
    touched = dict.fromkeys(local)
    todo = list(touched)
    while todo:
        for user in users.get(todo.pop(), ()):
            if user not in touched:
                touched[user] = None
                todo.append(user)
    index = {transition: n for n, transition in enumerate(touched)}
    uses = [
        [index.get(part, -1) for inner in walks.parts[transition] for part in inner]
        for transition in touched
    ]
    numbers = _numbered([(t[1], local.get(t, ())) for t in touched])
    while True:
        known = [*numbers, -1]  # the last for all transitions where nothing differs
        after = _numbered(
            [(n, *[known[used] for used in each]) for n, each in zip(numbers, uses, strict=True)]
        )
        if max(after) == max(numbers):
            return {t: f"{t[1]}/{n}" for t, n in zip(touched, after, strict=True)}
        numbers = after


def _numbered(keys: Iterable[Hashable]) -> list[int]:
    """A number for each, the same for equal ones."""
    table: dict[Hashable, int] = {}
    return [table.setdefault(key, len(table)) for key in keys]


def _follow(productions: Sequence[Production]) -> dict[str, frozenset[str]]:
    """What may follow each rule."""
    number = {origin: n for n, origin in enumerate(dict.fromkeys([p.origin for p in productions]))}
    nullable = deriving(productions)
    own: list[set[str]] = [set() for _ in number]
    begins_with: list[list[int]] = [[] for _ in number]
    for origin, expansion in productions:
        n = number[origin]
        for symbol in expansion:
            if symbol not in number:
                own[n].add(symbol)
                break
            begins_with[n].append(number[symbol])
            if symbol not in nullable:
                break
    first = unions(list(map(frozenset, own)), begins_with)
    own = [set() for _ in number]
    own[number[ROOT]].add(END)
    ends: list[list[int]] = [[] for _ in number]  # the rules that it may stand at the end of
    for origin, expansion in productions:
        after: frozenset[str] = frozenset()
        at_end = True
        for symbol in reversed(expansion):
            if symbol not in number:
                after, at_end = frozenset((symbol,)), False
                continue
            n = number[symbol]
            own[n] |= after
            if at_end:
                ends[n].append(number[origin])
            if symbol in nullable:
                after |= first[n]
            else:
                after, at_end = first[n], False
    return dict(zip(number, unions(list(map(frozenset, own)), ends), strict=True))
