"""One lexer: the terminals that compete at a place, and the lexemes that win there.

This is lark's `BasicLexer` as an automaton. Its terminals, in lark's order, are one list of threads
(`threads`): the first terminal that matches wins with the match that `re` would find. Where a
thread matches while preferred ones go on, the lexeme ends here only if none of those matches later.
So what may follow a lexeme is less than anything: that is *pending* where it ends, and the next
lexemes are scanned under it. A place in a text is, for lexers, a `Spot`: what lookbehinds may ask
about, and what is pending.

    NAME: /[a-z]+/ %ignore " "    spots: the start; after a NAME, where no letter may follow

A lexer has, at each spot, finitely many lexemes, each a regular set of words that leads to another
spot: so all that a lexer guards is finite, and no intersection is left in the terms.

String terminals that a pattern of the same priority also matches are told apart afterwards, as
lark does it (`UnlessCallback`): the pattern scans, and the text decides the type.

Cost: O(states * threads * parts of the alphabet), once for each set of terminals that compete; a
spot adds the states in which something of an earlier lexeme is still pending.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from constrain.algebra.terms import Term
from constrain.frontends.lark.equations import Equation, solve
from constrain.frontends.lark.forbidden import Forbidden
from constrain.frontends.lark.threads import NO_DEMANDS, Demand, Left, Machine, Thread

__all__ = ["START", "Contest", "End", "Lexeme", "Place", "Scanner", "Spot", "growing"]


@dataclass(frozen=True, slots=True)
class Contest:
    """Terminals that compete.

    Attributes:
        terminals: Name and address of each, in the order in which they are tried.
        unless: For a pattern, the string terminals that take its place where the text is theirs:
            name and address of each, in the order in which they are tried.
    """

    terminals: tuple[tuple[str, int], ...]
    unless: Mapping[str, tuple[tuple[str, int], ...]]


class Spot(NamedTuple):
    """A place between lexemes.

    Attributes:
        left: The memory of the text before, where something may ask about it; else empty.
        pending: What the lexemes before demand of the text to come.
    """

    left: Left
    pending: frozenset[Demand]


START: Final = Spot((), NO_DEMANDS)
"""Before any text."""


class End(NamedTuple):
    """Where a lexeme ends.

    Attributes:
        scanned: The terminal that matched.
        name: What it becomes: itself, or a string terminal in its place.
        spot: The place after it.
    """

    scanned: str
    name: str
    spot: Spot


class Lexeme(NamedTuple):
    """Texts that are scanned alike; the words are never empty, and not the empty text."""

    scanned: str
    name: str
    words: Term
    spot: Spot


_State = tuple[tuple[Thread, ...], Left, frozenset[Thread]]
_Match = tuple[str, str, frozenset[Thread], frozenset[Demand]]
"""Terminal, what it becomes, threads that are preferred, what lookaheads at its end ask."""


@dataclass(slots=True)
class _Node:
    """A state of the automaton: where each set of atoms leads, and the matches that end here."""

    matches: list[_Match]
    edges: dict[_State, int] = field(default_factory=dict)


_K = TypeVar("_K")
_V = TypeVar("_V")


class Place(NamedTuple):
    """A state inside a lexeme, with what earlier lexemes still demand, and their memory."""

    state: _State
    pending: frozenset[Demand]
    left: Left


class Scanner:
    """The lexemes of one contest.

    Args:
        machine: Of the grammar.
        contest: The terminals.
        every_end: Every match that is the preferred one of a text that ends there, not only the
            preferred one of the whole text: lark's `dynamic_complete`.
        remembers: Some terminal may ask about the text before its beginning.
        forbidden: Tells what is pending by what it forbids; None: by how it came about.
    """

    def __init__(
        self,
        machine: Machine,
        contest: Contest,
        forbidden: Forbidden | None,
        *,
        every_end: bool = False,
        remembers: bool = False,
    ) -> None:
        self._machine = machine
        self._contest = contest
        self._forbidden = forbidden
        self._every_end = every_end
        self._remembers = remembers
        self._nodes: dict[_State, _Node] = {}
        self._places: dict[Place, tuple[tuple[End, ...], dict[Place, int]]] = {}
        self._lexemes: dict[Spot, tuple[Lexeme, ...]] = {}
        self._first: dict[frozenset[str], int] = {}
        self._near: dict[tuple[Spot, int], Spot] = {}
        self._reached: dict[Place, dict[End, None]] = {}
        self._words: dict[End, dict[Place, Term]] = {}

    def lexemes(self, spot: Spot) -> tuple[Lexeme, ...]:
        """What may be scanned at a spot."""
        made = self._lexemes.get(spot)
        if made is None:
            root = self.root(spot)
            made = self._lexemes[spot] = tuple(
                [
                    Lexeme(end.scanned, end.name, self.words(root, end), end.spot)
                    for end in self.reached(root)
                ]
            )
        return made

    def ends(self, spot: Spot) -> Iterable[End]:
        """The ends of what may be scanned at a spot."""
        return self.reached(self.root(spot))

    def root(self, spot: Spot) -> Place:
        """The place before the first code point of a lexeme."""
        machine, contest = self._machine, self._contest
        left = spot.left if self._remembers else ()
        first = [t for _, begin in contest.terminals for t in machine.begin(begin, left)]
        literals = {begin for group in contest.unless.values() for _, begin in group}
        shadow = frozenset([t for begin in literals for t in machine.begin(begin, left)])
        return Place((tuple(first), left, shadow), spot.pending, spot.left if spot.pending else ())

    def types(self, place: Place) -> bool:
        """Whether what a lexeme becomes that goes on from a place depends on this contest."""
        return bool(place.state[2])

    def first(self, names: frozenset[str]) -> int:
        """The code points with which lexemes begin that may become some terminals."""
        found = self._first.get(names)
        if found is None:
            found = 0
            for target, mask in self.at(self.root(START))[1].items():
                if any([e.scanned in names or e.name in names for e in self.reached(target)]):
                    found |= mask
            self._first[names] = found
        return found

    def near(self, spot: Spot, names: frozenset[str]) -> Spot:
        """A spot without what is pending that no lexeme could begin.

        After a `<` no `=` may come, which does not matter where only a name can.

        Args:
            spot: The spot.
            names: The terminals that can come.
        """
        first = self.first(names)
        found = self._near.get((spot, first))
        if found is None:
            machine = self._machine
            pending = machine.merge(
                [
                    Demand(True, machine.begun(d.threads, first)) if d.negative else d
                    for d in spot.pending
                ]
            )
            if self._forbidden is not None:
                pending = self._forbidden.representative(pending, first)
            left = spot.left if pending or self._remembers else ()
            found = self._near[spot, first] = Spot(left, pending)
        return found

    def at(self, place: Place) -> tuple[tuple[End, ...], Mapping[Place, int]]:
        """The lexemes that end at a place, and where each set of atoms leads."""
        known = self._places.get(place)
        if known is None:
            known = self._places[place] = self._look(place)
        return known

    def reached(self, place: Place) -> Iterable[End]:
        """The ends that can be reached from a place."""
        if place not in self._reached:
            self._reach(place)
        return self._reached[place]

    def samples(self, count: int) -> list[str]:
        """A few short texts, each of which ends a lexeme when nothing follows; shortest first."""
        root = self.root(START)
        texts = {root: ""}
        found: list[str] = []
        for place in growing(texts):
            ends, edges = self.at(place)
            if ends and texts[place]:
                found.append(texts[place])
                if len(found) == count:
                    break
            for target, mask in edges.items():
                if target not in texts:
                    texts[target] = texts[place] + self._machine.atoms.example(mask)
        return found

    def _look(self, place: Place) -> tuple[tuple[End, ...], dict[Place, int]]:
        machine = self._machine
        state, pending, left = place
        node = self._nodes.get(state)
        if node is None:
            node = self._nodes[state] = self._explore(state)
        if not pending and not node.matches:
            return (), {Place(t, NO_DEMANDS, ()): m for t, m in node.edges.items()}
        ends: dict[End, None] = {}
        for scanned, name, higher, demands in node.matches:
            more = machine.merge((*pending, *demands, *([Demand(True, higher)] if higher else ())))
            if self._forbidden is not None:
                more = self._forbidden.representative(more)
            if self._remembers:
                memory = state[1]
            else:
                memory = (left if pending else state[1]) if more else ()
            ends[End(scanned, name, Spot(memory, more))] = None
        edges: dict[Place, int] = {}
        threads = [t for d in pending for t in d.threads]
        masks = [*machine.masks(threads), *machine.behind_masks] if pending else []
        for target, mask in node.edges.items():
            for part in machine.atoms.partition(masks, mask):
                after = machine.remember(left, part) if pending else ()
                still = machine.step_pending(pending, part, after) if pending else NO_DEMANDS
                if still is not None:
                    if self._forbidden is not None:
                        still = self._forbidden.representative(still)
                    key = Place(target, still, after if still else ())
                    edges[key] = edges.get(key, 0) | part
        return tuple(ends), edges

    def _reach(self, root: Place) -> None:
        """Find the ends that can be reached from a place and all that it leads to."""
        new = {root: None}
        users: dict[Place, list[Place]] = {}
        for place in growing(new):
            for target in self.at(place)[1]:
                if target not in self._reached:
                    users.setdefault(target, []).append(place)
                    new[target] = None
        for place in new:
            ends, edges = self.at(place)
            found = self._reached[place] = dict.fromkeys(ends)
            for target in edges:
                if target not in new:
                    found.update(self._reached[target])
        todo = list(new)
        while todo:
            place = todo.pop()
            ends_here = self._reached[place]
            for user in users.get(place, ()):
                before = len(self._reached[user])
                self._reached[user].update(ends_here)
                if len(self._reached[user]) > before:
                    todo.append(user)
        self._machine.spend(sum([len(self._reached[p]) for p in new]))

    def words(self, root: Place, end: End) -> Term:
        """The words from a place to an end."""
        words = self._words.setdefault(end, {})
        if root in words:
            return words[root]
        spell = self._machine.atoms.spell
        equations: dict[Place, Equation[Place]] = {root: Equation()}
        for place in growing(equations):
            ends, edges = self.at(place)
            equation = equations[place]
            equation.ends = end in ends
            for target, mask in edges.items():
                if end in self._reached[target]:
                    equation.edges.append((spell(mask), target))
                    if target not in words and target not in equations:
                        equations[target] = Equation()
        self._machine.spend(len(equations))
        return solve(equations, root, words, end.name)

    def _explore(self, state: _State) -> _Node:
        machine = self._machine
        threads, left, shadow = state
        matches, going = self._matches(threads, shadow)
        node = _Node(matches)
        masks = [*machine.masks(going), *machine.masks(shadow), *machine.behind_masks]
        for part in machine.atoms.partition(masks):
            after = machine.remember(left, part)
            target = _without_subsumed(machine.step(going, part, after))
            if target:
                literals = frozenset(machine.step(shadow, part, after))
                key = (target, after, literals)
                node.edges[key] = node.edges.get(key, 0) | part
        return node

    def _matches(
        self, threads: Sequence[Thread], shadow: frozenset[Thread]
    ) -> tuple[list[_Match], list[Thread]]:
        """The matches that end here, and the threads that go on."""
        machine = self._machine
        matches: list[_Match] = []
        going: list[Thread] = []
        higher: list[Thread] = []
        otherwise: list[frozenset[Demand]] = [NO_DEMANDS]  # any of these: no match here counted
        for thread in threads:
            name = machine.name(thread)
            if name is None:
                higher.append(thread)
                for demands in otherwise:
                    both = thread.demands | demands
                    if not _contradicts(both):
                        going.append(Thread(thread.address, both))
                continue
            guard = frozenset() if self._every_end else frozenset(higher)
            matches.append((name, self._type(name, shadow), guard, thread.demands))
            if not thread.demands:
                break
            higher.append(thread)
            otherwise = _unless(otherwise, thread.demands)
        return matches, going

    def _type(self, name: str, shadow: frozenset[Thread]) -> str:
        if name in self._contest.unless and shadow:
            matched = {self._machine.name(t) for t in shadow if self._machine.completed(t)}
            for literal, _ in self._contest.unless[name]:
                if literal in matched:
                    return literal
        return name


def growing(items: dict[_K, _V]) -> Iterable[_K]:
    """The keys of a mapping, those too that are added on the way. Cost: a step for each."""
    at = 0
    while at < len(items):
        new = list(islice(reversed(items), len(items) - at))
        yield from reversed(new)
        at += len(new)


def _unless(
    otherwise: list[frozenset[Demand]], demands: frozenset[Demand]
) -> list[frozenset[Demand]]:
    """Each of `otherwise`, and not all of `demands`: by the first that fails."""
    found = []
    for before in otherwise:
        held = before
        for demand in demands:
            found.append(held | {Demand(not demand.negative, demand.threads)})
            held |= {demand}
    return [d for d in found if not _contradicts(d)]


def _contradicts(demands: frozenset[Demand]) -> bool:
    return any([Demand(not d.negative, d.threads) in demands for d in demands])


def _without_subsumed(threads: Iterable[Thread]) -> tuple[Thread, ...]:
    """Drop threads at the place of a preferred one that demands no more."""
    kept: dict[int, list[frozenset[Demand]]] = {}
    found = []
    for thread in threads:
        weaker = kept.setdefault(thread.address, [])
        if not any([w <= thread.demands for w in weaker]):
            weaker.append(thread.demands)
            found.append(thread)
    return tuple(found)
