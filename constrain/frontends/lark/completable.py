"""Whether every stack of a parser is completed by some text: a proof over the grammar alone.

What may keep a sentence from being finished is little: after a lexeme a lexer cannot produce some
others at once (`adjacency`), and where the table of an LALR parser has a conflict it shifts a
terminal before which a rule should be reduced. So terminals fall into a few classes that neither
tells apart, and what a parser must foresee of the next lexeme is its class.

    stmt: "if" e stmt | "if" e stmt "else" stmt | ...     classes {"else"}, {all others}

Then, for each symbol, which class may come after it if it is followed by which class before it;
and, for each rule, the classes under which it can be reduced and still be completed by whatever may
be around it. If every item whose dot stands behind a terminal has a way on, no stack is a dead end.
A "no" only means that it is unknown.

Items of one rule with the same parts before the dot stand in the same states, so any of them will
do; and where a rule may begin, so may all that begin with it.

Cost: O(size of the grammar * classes^2), a few times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from constrain.frontends.lark.automaton import ROOT, Production
from constrain.frontends.lark.table import END

__all__ = ["Reading", "is_completable"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One way in which a terminal comes about.

    Attributes:
        kind: Names the way.
        blocked: The kinds that cannot, or perhaps cannot, come next.
        decided: The kinds that come with it or not at all: when more text comes, it is known
            whether one of them did.
        final: No lexeme comes after it any more.
    """

    kind: str
    blocked: frozenset[str]
    decided: frozenset[str] = frozenset()
    final: bool = False


def is_completable(
    productions: Sequence[Production],
    readings: Mapping[str, Sequence[Reading]],
    between: Iterable[frozenset[str]],
    overridden: Mapping[Production, frozenset[str]],
) -> bool:
    """Whether every stack that a text leads to is completed by some text.

    Args:
        productions: Reduced: each symbol has a sentence and is part of one.
        readings: Of each terminal that occurs in them.
        between: What may be blocked at the start of a text, and after each lexeme that the parser
            does not see.
        overridden: For a production, the terminals before which the parser does not reduce it where
            the grammar would have it so.
    """
    folded, not_before = _fold(productions, overridden)
    return _Proof(folded, readings, list(between), not_before).holds()


def _fold(
    productions: Sequence[Production], overridden: Mapping[Production, frozenset[str]]
) -> tuple[list[Production], dict[Production, frozenset[str]]]:
    """Put the productions of a rule that is nothing but an alternative of another into the other.

    So that `then: "if" e stmt` and `else: "if" e stmt "else" stmt` of `stmt: then | else` are seen
    to begin alike.
    """
    places: dict[str, set[str]] = {}  # the rules of which a symbol is an alternative; "" elsewhere
    for origin, expansion in productions:
        for symbol in expansion:
            places.setdefault(symbol, set()).add(
                origin if len(expansion) == 1 and origin != ROOT else ""
            )
    into = {}
    for symbol in {p.origin for p in productions}:
        parents = places.get(symbol, set())
        if len(parents) == 1 and (parent := next(iter(parents))) not in ("", symbol):
            into[symbol] = parent
    for symbol in list(into):
        above, at = {symbol}, into[symbol]
        while at in into and at not in above:
            above.add(at)
            at = into[at]
        if at in above:  # they derive each other
            del into[symbol]
    found: dict[Production, frozenset[str]] = {}
    for production in productions:
        if (
            len(production.expansion) == 1
            and into.get(production.expansion[0]) == production.origin
        ):
            continue
        origin, terminals = production.origin, overridden.get(production, frozenset())
        while origin in into:
            unit = Production(into[origin], (origin,))
            terminals |= overridden.get(unit, frozenset())
            origin = into[origin]
        folded = Production(origin, production.expansion)
        found[folded] = found[folded] & terminals if folded in found else terminals
    return list(found), {p: terminals for p, terminals in found.items() if terminals}


class _Proof:
    def __init__(
        self,
        productions: Sequence[Production],
        readings: Mapping[str, Sequence[Reading]],
        between: list[frozenset[str]],
        overridden: Mapping[Production, frozenset[str]],
    ) -> None:
        self._productions = productions
        self._readings = readings
        self._between = between
        symbols = {r.kind: name for name, each in readings.items() for r in each} | {END: END}
        every = [r for each in readings.values() for r in each]
        blocking = [*{s for r in every for s in (r.blocked, r.decided)}, *between]
        classes: dict[tuple[object, ...], int] = {}
        self._class = {
            kind: classes.setdefault(
                (
                    *[kind in blocked for blocked in blocking],
                    *[name in terminals for terminals in overridden.values()],
                ),
                len(classes),
            )
            for kind, name in symbols.items()
        }
        self._num_classes = len(classes)
        self._clear = not any(blocking) and not overridden
        self._every = (1 << len(classes)) - 1
        self._not_before = {
            p: ~self._mask([k for k, name in symbols.items() if name in terminals])
            for p, terminals in overridden.items()
        }
        self._after: dict[str, list[int]] = {}

    def holds(self) -> bool:
        if self._clear:
            return True
        self._compute_after()
        self._contexts()
        return self._every_item_goes_on()

    def _mask(self, kinds: Iterable[str]) -> int:
        mask = 0
        for kind in kinds:
            mask |= 1 << self._class[kind]
        return mask

    def _allowed(self, blocked: frozenset[str]) -> int:
        """The classes of which some kind is not blocked; a class is blocked as a whole."""
        return self._mask([kind for kind in self._class if kind not in blocked])

    # Which class may come after a symbol, by the class that comes before

    def _compute_after(self) -> None:
        after = self._after
        for name, readings in self._readings.items():
            row = after[name] = [0] * self._num_classes
            for reading in readings:
                row[self._class[reading.kind]] |= self._allowed(reading.blocked)
        users: dict[str, list[Production]] = {}
        for production in self._productions:
            after.setdefault(production.origin, [0] * self._num_classes)
            for symbol in set(production.expansion):
                users.setdefault(symbol, []).append(production)
        todo = dict.fromkeys(self._productions)
        while todo:
            production = next(iter(todo))
            del todo[production]
            row = after[production.origin]
            grown = [old | new for old, new in zip(row, self._through(production, 0), strict=True)]
            if grown != row:
                after[production.origin] = grown
                todo.update(dict.fromkeys(users.get(production.origin, ())))

    def _through(self, production: Production, start: int) -> list[int]:
        """What may come after a production, by what comes before its parts from `start` on."""
        keep = self._not_before.get(production, -1)
        found = [1 << c for c in range(self._num_classes)]
        for symbol in reversed(production.expansion[start:]):
            row = self._after[symbol]
            if keep != -1:
                found = [f & keep for f in found]
                keep = -1
            found = [_compose(row[c], found) for c in range(self._num_classes)]
        return found if keep == -1 else [f & keep for f in found]

    # Under which classes a rule may be reduced, for all that may be around it

    def _contexts(self) -> None:
        """For each rule, the classes that lead on, in every context; the hardest contexts only."""
        origins = {p.origin for p in self._productions}
        self._around: dict[str, set[int]] = {}
        self._begins: dict[str, list[tuple[str, list[int]]]] = {}
        inside: dict[tuple[str, tuple[str, ...]], dict[str, list[list[int]]]] = {}
        for production in self._productions:
            origin, expansion = production
            for at, symbol in enumerate(expansion):
                if symbol not in origins:
                    continue
                through = self._through(production, at + 1)
                if at == 0 and origin != ROOT:
                    self._begins.setdefault(origin, []).append((symbol, through))
                else:
                    items = inside.setdefault((origin, expansion[:at]), {})
                    items.setdefault(symbol, []).append(through)
        within: dict[str, list[list[tuple[str, list[int]]]]] = {}
        for (origin, _), items in inside.items():
            rows = [(symbol, self._any(each)) for symbol, each in items.items()]
            within.setdefault(origin, []).append(rows)
        todo = [(ROOT, self._mask([END]))]
        done: set[tuple[tuple[str, int], ...]] = set()
        while todo:
            origin, mask = todo.pop()
            if mask not in self._around.get(origin, {mask}):
                continue  # a harder one has come
            for rows in within.get(origin, ()):
                wanted = tuple([(symbol, self._leading_to(row, mask)) for symbol, row in rows])
                if wanted not in done:
                    done.add(wanted)
                    for part, good in self._corners(wanted).items():
                        if self._add_context(part, good):
                            todo.append((part, good))

    def _add_context(self, origin: str, mask: int) -> bool:
        known = self._around.setdefault(origin, set())
        if any([k & mask == k for k in known]):
            return False
        known.difference_update([k for k in known if k & mask == mask])
        known.add(mask)
        return True

    def _any(self, rows: Iterable[list[int]]) -> list[int]:
        found = [0] * self._num_classes
        for row in rows:
            found = [f | r for f, r in zip(found, row, strict=True)]
        return found

    def _leading_to(self, row: Sequence[int], mask: int) -> int:
        found = 0
        for c, each in enumerate(row):
            if each & mask:
                found |= 1 << c
        return found

    def _corners(self, wanted: Iterable[tuple[str, int]]) -> dict[str, int]:
        """For all that some symbols may begin with, the classes that lead on to one of them."""
        found = dict(wanted)
        todo = dict.fromkeys(found)
        while todo:
            origin = next(iter(todo))
            del todo[origin]
            for part, row in self._begins.get(origin, ()):
                good = self._leading_to(row, found[origin]) | found.get(part, 0)
                if good != found.get(part):
                    found[part] = good
                    todo[part] = None
        return found

    def _every_item_goes_on(self) -> bool:
        rows: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        for production in self._productions:
            origin, expansion = production
            starts = [at + 1 for at, s in enumerate(expansion) if s in self._readings]
            for at in [0, *starts] if origin == ROOT else starts:
                key = (origin, expansion[:at])
                before = rows.get(key, [0] * self._num_classes)
                rows[key] = self._any([before, self._through(production, at)])
        self._around[ROOT] = {self._mask([END])}
        for (origin, parts), row in rows.items():
            readings = self._readings[parts[-1]] if parts else []
            ends = [r for r in readings if not r.final]
            ways = {(r.blocked, r.decided) for r in ends}
            for decided in {r.decided for r in ends} or {frozenset[str]()}:
                ways |= {(blocked, decided) for blocked in self._between}
            for context in self._around.get(origin, {0}):
                good = self._leading_to(row, context)
                for blocked, decided in ways:
                    here = good & ~self._mask(decided)
                    if not here & self._allowed(blocked) and (here or not decided):
                        return False
        return True


def _compose(mask: int, row: Sequence[int]) -> int:
    found = 0
    while mask:
        low = mask & -mask
        found |= row[low.bit_length() - 1]
        mask ^= low
    return found
