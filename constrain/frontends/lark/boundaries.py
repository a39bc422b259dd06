"""The places between lexemes, as rules: lexer and parser together are one term.

At a boundary, which is the stacks of a parser and a spot of its lexers, each lexeme that the parser
can take leads to another boundary. A body is made when a text gets there, so an LALR table, or the
stacks of an ambiguous grammar, cost what the text visits.

    boundary(stacks, spot) = words of a lexeme · boundary(stacks after it, spot after it) | ...

A lexeme that `%ignore` names leads back to the same stacks.

A rule promises that it is not empty. The parser's stacks alone keep that promise where the lexers
can always go on (`completable`); elsewhere each boundary is asked about before anything leads to
it (`saturation`).

What places have in common is shared, unless each must be asked about: which lexemes begin how is
worked out once for each set of terminals that the parser takes; lexemes that begin alike have one
rule wherever they lead to the same stacks; and a spot keeps of what is pending only what a lexeme
could begin with.

Cost: for a new place, the parser's reductions, and a look-up for each way in which a lexeme begins.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple
from weakref import WeakValueDictionary

from constrain.algebra.terms import EMPTY, EPS, Rule, Term, alt, cat
from constrain.frontends.lark.indent import IndentedLalr, Newlines
from constrain.frontends.lark.prospects import Prospects
from constrain.frontends.lark.scanner import START, End, Place, Scanner, Spot
from constrain.frontends.lark.stacks import Fed, Moves, Parser, Stack
from constrain.frontends.lark.threads import Machine

__all__ = ["Boundaries", "Scanners", "stacks_of"]

Scanners = Callable[[frozenset[Stack]], Iterable[tuple[Scanner, frozenset[str]]]]
"""The lexers at some stacks, each with the terminals whose lexemes the parser does not see."""


class _Boundary:
    """A place between lexemes, and the thunk of its rule.

    It keeps the rule, and the rule it, so that the same place is the same rule while that is used.
    """

    __slots__ = ("__weakref__", "accepts", "boundaries", "rule", "spot", "stacks")
    rule: Rule

    def __init__(
        self, boundaries: Boundaries, stacks: frozenset[Stack], spot: Spot, accepts: bool
    ) -> None:
        self.boundaries = boundaries
        self.stacks = stacks
        self.spot = spot
        self.accepts = accepts

    def __call__(self) -> Term:
        return self.boundaries.body(self)


class _Part:
    """The lexemes that begin with one of some code points, where the parser takes the same ones.

    Attributes:
        scanner: The lexer.
        place: After that code point.
        ends: The ends that can be reached and that the parser takes: each with the terminal, or
            None if the parser does not see it, and the name of the boundary.
        words: From the place to each end, as far as they are known.
    """

    __slots__ = ("ends", "place", "scanner", "words")

    def __init__(
        self, scanner: Scanner, place: Place, ends: Sequence[tuple[End, str | None, str]]
    ) -> None:
        self.scanner = scanner
        self.place = place
        self.ends = ends
        self.words: list[Term | None] = [None] * len(ends)


class _Begun:
    """The thunk of lexemes that begin alike. There are many: a `partial` is three objects."""

    __slots__ = ("boundaries", "fed", "part", "stacks")

    def __init__(
        self, boundaries: Boundaries, part: _Part, fed: Fed, stacks: frozenset[Stack] | None
    ) -> None:
        self.boundaries = boundaries
        self.part = part
        self.fed = fed
        self.stacks = stacks

    def __call__(self) -> Term:
        return self.boundaries.rest(self.part, self.fed, self.stacks)


class _Way(NamedTuple):
    """How lexemes begin.

    Attributes:
        spelled: The bytes of the first code point.
        part: What it begins.
        nullable: The text may end after it.
        group: That of all its terminals, if they have the same and the parser sees them all.
    """

    spelled: Term
    part: _Part
    nullable: bool
    group: int | None


_Shape = list[_Way]


class _Plan(NamedTuple):
    """The lexemes of a lexer at a spot.

    Attributes:
        scanner: The lexer.
        ignored: Terminals that the parser does not see.
        ends: Each end, whether a text may end there, and whether one may go on there.
        names: The terminals that the parser may get.
        ways: For each set of first code points, its bytes, the place after it, and the numbers of
            the ends that can be reached, and that are reached.
        shapes: What of that remains, by the key of the parser's moves.
    """

    scanner: Scanner
    ignored: frozenset[str]
    ends: list[tuple[End, bool, bool]]
    names: frozenset[str]
    ways: list[tuple[Term, Place, list[int], list[int]]]
    shapes: dict[tuple[Hashable, bool], _Shape]


def stacks_of(rule: Rule) -> tuple[Parser, frozenset[Stack]] | None:
    """The parser and stacks that a rule stands for, if it is a place between lexemes.

    For one inside the newline of an `Indenter`, those after that.
    """
    if isinstance(rule.thunk, _Boundary):
        return rule.thunk.boundaries.parser, rule.thunk.stacks
    owner = getattr(getattr(rule.thunk, "func", None), "__self__", None)
    return (owner.parser, owner.stacks) if isinstance(owner, Newlines) else None


class Boundaries:
    """The rules of one grammar.

    Args:
        machine: Of the grammar.
        parser: What takes the lexemes.
        scanners: The lexers at a place; each lexeme of each may come.
        prospects: What is a dead end, or None if there is none.
        indented: The parser again, if it counts how far lines are indented.
        share: Share what is alike at places where the parser takes the same lexemes. Else each
            place is made on its own, which is slow and plain.

    Attributes:
        parser: What takes the lexemes.
    """

    def __init__(
        self,
        machine: Machine,
        parser: Parser,
        scanners: Scanners,
        prospects: Prospects | None,
        indented: IndentedLalr | None = None,
        *,
        share: bool = True,
    ) -> None:
        self._machine = machine
        self.parser = parser
        self._scanners = scanners
        self._prospects = prospects
        self._indented = indented
        self._made: WeakValueDictionary[tuple[frozenset[Stack], Spot], _Boundary] = (
            WeakValueDictionary()
        )
        self._shares = share and prospects is None
        self._plans: dict[tuple[Scanner, Spot, str | None], _Plan] = {}
        self._parts: dict[Hashable, _Part] = {}
        self._names: dict[tuple[frozenset[str], frozenset[str]], frozenset[str]] = {}
        self._lines: WeakValueDictionary[tuple[Scanner, frozenset[Stack]], Newlines] = (
            WeakValueDictionary()
        )
        self._lock = threading.Lock()

    def start(self) -> Rule | None:
        """The place before any text; None if no text is a sentence."""
        return self._boundary(self.parser.start(), START, "start")

    def _boundary(self, stacks: frozenset[Stack], spot: Spot, name: str) -> Rule | None:
        if self._prospects is not None:
            stacks = self._prospects.alive(stacks, spot)
        if not stacks:
            return None
        if self._shares and spot.pending:
            spot = self._near(stacks, spot)
        key = (stacks, spot)
        with self._lock:
            found = self._made.get(key)
            if found is None:
                machine = self._machine
                accepts = self.parser.accepts(stacks)
                nullable = accepts and machine.holds_at_end(spot.pending)
                if not nullable and machine.forbids_all(spot.pending, spot.left):
                    return None
                found = self._made[key] = _Boundary(self, stacks, spot, accepts)
                found.rule = Rule(name, found, nullable=nullable, keep=False)
        return found.rule

    def _near(self, stacks: frozenset[Stack], spot: Spot) -> Spot:
        """A spot without what no lexeme that can come depends on."""
        names = self.parser.waits_for(stacks)
        if names is not None:
            for scanner, ignored in self._scanners(stacks):
                known = self._names.get((names, ignored))
                if known is None:
                    known = self._names[names, ignored] = names | ignored
                return scanner.near(spot, known)
        return spot

    def body(self, boundary: _Boundary) -> Term:
        """What may come at a boundary."""
        stacks, spot = boundary.stacks, boundary.spot
        members: list[Term] = [EPS] if boundary.rule.nullable else []
        newline = None
        if self._indented is not None and self._indented.counts(stacks):
            newline = self._indented.newline
        for scanner, ignored in self._scanners(stacks):
            if newline is not None:
                members.append(self._newlines(boundary, scanner))
            if self._shares:
                members += self._begun(boundary, self._plan(scanner, ignored, spot, newline))
            else:
                ends = [end for end in scanner.ends(spot) if end.name != newline]
                members.append(self._words(boundary, scanner.root(spot), ends, scanner, ignored))
        return alt(members)

    def _words(
        self,
        boundary: _Boundary,
        place: Place,
        ends: Iterable[End],
        scanner: Scanner,
        ignored: frozenset[str],
    ) -> Term:
        """What is left of some lexemes from a place inside them, and what follows."""
        stacks = boundary.stacks
        members = []
        names = {end.name: None for end in ends if end.scanned not in ignored}
        fed = self.parser.feed_all(stacks, names)
        for end in ends:
            after = stacks if end.scanned in ignored else fed.get(end.name)
            then = self._boundary(after, end.spot, f"after {end.name}") if after else None
            if then is not None:
                members.append(cat(scanner.words(place, end), then))
        return alt(members)

    def _begun(self, boundary: _Boundary, plan: _Plan) -> Iterable[Term]:
        """The lexemes of a lexer, a rule for those that begin alike.

        Most texts that are tried go on in one way, so the rest is made when that is known.
        """
        moves = self.parser.moves(boundary.stacks, plan.names)
        key = (moves.key, boundary.accepts)
        shape = plan.shapes.get(key)
        if shape is None:
            shape = plan.shapes[key] = self._shape(plan, moves, boundary.accepts)
        for spelled, part, nullable, group in shape:
            if group is None:
                lexeme = _Begun(self, part, moves, boundary.stacks)
                rule = Rule("in a lexeme", lexeme, nullable=nullable, keep=False)
            else:
                begun, fed = moves.begun(group)
                found = begun.get(part)
                if found is None:
                    lexeme = _Begun(self, part, fed, None)
                    made = Rule("in a lexeme", lexeme, nullable=nullable, keep=False)
                    found = begun.setdefault(part, made)
                rule = found
            yield cat(spelled, rule)

    def rest(self, part: _Part, fed: Fed, stacks: frozenset[Stack] | None) -> Term:
        """What is left of lexemes that begin alike, and what follows.

        Args:
            part: The lexemes.
            fed: What comes of feeding them to the parser.
            stacks: After lexemes that the parser does not see, if there are some.
        """
        members = []
        for number, (end, name, title) in enumerate(part.ends):
            after = stacks if name is None else fed.after(name)
            assert after is not None
            then = self._boundary(after, end.spot, title)
            if then is not None:
                words = part.words[number]
                if words is None:
                    words = part.words[number] = part.scanner.words(part.place, end)
                members.append(cat(words, then))
        return alt(members)

    def _shape(self, plan: _Plan, moves: Moves, accepts: bool) -> _Shape:
        """What of a plan the parser takes."""
        outcomes = moves.outcomes()
        nullable: list[bool | None] = []  # None: it cannot come
        for end, can_end, can_go_on in plan.ends:
            outcome = accepts if end.scanned in plan.ignored else outcomes.get(end.name)
            if outcome is None or not ((outcome and can_end) or can_go_on):
                nullable.append(None)
            else:
                nullable.append(outcome and can_end)
        shape = []
        for spelled, place, reached, here in plan.ways:
            ends = [plan.ends[n][0] for n in reached if nullable[n] is not None]
            if ends:
                part = self._part(plan, place, ends)
                groups = {None if t is None else moves.group(t) for _, t, _ in part.ends}
                group = groups.pop() if len(groups) == 1 else None
                shape.append(_Way(spelled, part, any([nullable[n] for n in here]), group))
        return shape

    def _part(self, plan: _Plan, place: Place, ends: Sequence[End]) -> _Part:
        """Lexemes that go on alike; the same for all lexers that tell no more of them."""
        named = tuple([(end, None if end.scanned in plan.ignored else end.name) for end in ends])
        key = (plan.scanner if plan.scanner.types(place) else None, place, named)
        found = self._parts.get(key)
        if found is None:
            titled = [(end, name, f"after {end.name}") for end, name in named]
            found = self._parts.setdefault(key, _Part(plan.scanner, place, titled))
        return found

    def _plan(
        self, scanner: Scanner, ignored: frozenset[str], spot: Spot, newline: str | None
    ) -> _Plan:
        """What the lexemes at a spot are, whatever the parser says; newlines left out."""
        found = self._plans.get((scanner, spot, newline))
        if found is None:
            machine = self._machine
            ends = [end for end in scanner.ends(spot) if end.name != newline]
            number = {end: n for n, end in enumerate(ends)}
            ways = [
                (
                    machine.atoms.spell(mask),
                    target,
                    [number[end] for end in scanner.reached(target) if end in number],
                    [number[end] for end in scanner.at(target)[0] if end in number],
                )
                for target, mask in scanner.at(scanner.root(spot))[1].items()
            ]
            found = self._plans[scanner, spot, newline] = _Plan(
                scanner,
                ignored,
                [
                    (
                        end,
                        machine.holds_at_end(end.spot.pending),
                        not machine.forbids_all(end.spot.pending, end.spot.left),
                    )
                    for end in ends
                ],
                frozenset([end.name for end in ends if end.scanned not in ignored]),
                ways,
                {},
            )
        return found

    def _newlines(self, boundary: _Boundary, scanner: Scanner) -> Term:
        assert self._indented is not None
        stacks = self._indented.feed_newline(boundary.stacks)
        if not stacks:
            return EMPTY
        key = (scanner, stacks)
        found = self._lines.get(key) if self._shares else None
        if found is None:
            found = Newlines(
                self._machine,
                self._indented,
                scanner,
                stacks,
                self._after_newline,
                share=self._shares,
            )
            if self._shares:
                found = self._lines.setdefault(key, found)
        return found.term(boundary.spot)

    def _after_newline(self, stacks: frozenset[Stack], spot: Spot) -> Rule | None:
        return self._boundary(stacks, spot, "after a newline") if stacks else None
