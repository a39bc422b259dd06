"""The places between lexemes, as rules: lexer and parser together are one term.

At a boundary, which is the stacks of a parser and a spot of its lexers, each lexeme that the parser
can take leads to another boundary. A body is made when a text gets there, so an LALR table, or the
stacks of an ambiguous grammar, cost what the text visits.

    boundary(stacks, spot) = words of a lexeme · boundary(stacks after it, spot after it) | ...

A lexeme that `%ignore` names leads back to the same stacks.

A rule promises that it is not empty. The parser's stacks alone keep that promise where the lexers
can always go on (`completable`); elsewhere each boundary is asked about before anything leads to
it (`saturation`).

What places have in common is shared, unless each must be asked about. Lexemes before which the
parser reduces the same go together: how they begin is worked out once for each set of them, and
they have the same rules wherever they lead to the same stacks. A spot keeps of what is pending only
what a lexeme could begin with.

Cost: for a new place, the parser's reductions, and a look-up for each group of lexemes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from constrain.algebra.terms import EMPTY, EPS, Branches, Rule, Term, alt, cat
from constrain.frontends.lark.indent import IndentedLalr, Newlines
from constrain.frontends.lark.prospects import Prospects
from constrain.frontends.lark.scanner import START, End, Place, Scanner, Spot
from constrain.frontends.lark.stacks import Group, Parser, Stack, Unchanged
from constrain.frontends.lark.threads import Machine

__all__ = ["Boundaries", "Scanners", "stacks_of"]

Scanners = Callable[[frozenset[Stack]], Iterable[tuple[Scanner, frozenset[str]]]]
"""The lexers at some stacks, each with the terminals whose lexemes the parser does not see."""

_UNSEEN: Final[frozenset[str | None]] = frozenset((None,))


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


class _Ways(NamedTuple):
    """How lexemes begin.

    Attributes:
        spelled: For each way, the bytes of the first code point.
        nullable: Whether the text may end after it.
        parts: What it begins.
    """

    spelled: tuple[Term, ...]
    nullable: tuple[bool, ...]
    parts: tuple[_Part, ...]


class _Lexemes:
    """What makes rules of lexemes that begin alike. There are many: a `partial` is three objects.

    Most texts that are tried go on in one way, so the rest is made when that is known.
    """

    __slots__ = ("boundaries", "group", "parts")

    def __init__(self, boundaries: Boundaries, parts: tuple[_Part, ...], group: Group) -> None:
        self.boundaries = boundaries
        self.parts = parts
        self.group = group

    def __call__(self, way: int) -> Term:
        return self.boundaries.rest(self.parts[way], self.group)


class _Plan:
    """The lexemes of a lexer at a spot, whatever the parser says.

    Attributes:
        scanner: The lexer.
        ignored: Whether there are some that the parser does not see.
        ends: Each end, the terminal or None if the parser does not see it, whether a text may end
            there, and whether one may go on there.
        names: The terminals that the parser may get.
        ways: For each set of first code points, its bytes, the place after it, and the numbers of
            the ends that can be reached, and that are reached.
        groups: What of that remains of a group, by its kind.
    """

    __slots__ = ("ends", "groups", "ignored", "names", "scanner", "ways")

    def __init__(
        self,
        scanner: Scanner,
        ends: list[tuple[End, str | None, bool, bool]],
        ways: list[tuple[Term, Place, list[int], list[int]]],
    ) -> None:
        self.scanner = scanner
        self.ends = ends
        self.names = frozenset([name for _, name, _, _ in ends if name is not None])
        self.ignored = any([name is None for _, name, _, _ in ends])
        self.ways = ways
        self.groups: dict[Hashable, _Ways] = {}


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
        self._alike: dict[_Ways, _Ways] = {}
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
                members += self._groups(boundary, self._plan(scanner, ignored, spot, newline))
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

    def _groups(self, boundary: _Boundary, plan: _Plan) -> Iterable[Term]:
        """The lexemes of a lexer that can come, in the groups that the parser tells apart."""
        groups = self.parser.groups(boundary.stacks, plan.names)
        if plan.ignored:
            groups = [*groups, Unchanged(boundary.stacks, _UNSEEN, boundary.accepts)]
        for group in groups:
            known = group.known()
            found = known.get(plan)
            if found is None:
                ways = self._ways(plan, group)
                found = known.get(ways)
                if found is None:
                    found = EMPTY
                    if ways.parts:
                        make = _Lexemes(self, ways.parts, group)
                        found = Branches("in a lexeme", ways.spelled, ways.nullable, make)
                    found = known.setdefault(ways, found)
                known[plan] = found
            yield found

    def rest(self, part: _Part, group: Group) -> Term:
        """What is left of lexemes that begin alike, and what follows."""
        members = []
        for number, (end, name, title) in enumerate(part.ends):
            then = self._boundary(group.after(name), end.spot, title)
            if then is not None:
                words = part.words[number]
                if words is None:
                    words = part.words[number] = part.scanner.words(part.place, end)
                members.append(cat(words, then))
        return alt(members)

    def _ways(self, plan: _Plan, group: Group) -> _Ways:
        """How the lexemes of a group begin."""
        kind = group.kind()
        found = plan.groups.get(kind)
        if found is None:
            nullable: dict[int, bool] = {}  # of the ends that can come
            for n, (_, name, can_end, can_go_on) in enumerate(plan.ends):
                if name in group.terminals:
                    may_end = can_end and group.may_end(name)
                    if may_end or can_go_on:
                        nullable[n] = may_end
            ways = []
            for spelled, place, reached, ended in plan.ways:
                numbers = [n for n in reached if n in nullable]
                if numbers:
                    may_end = any([nullable.get(n) for n in ended])
                    ways.append((spelled, may_end, self._part(plan, place, numbers)))
            made = _Ways(*zip(*ways, strict=True)) if ways else _Ways((), (), ())
            found = plan.groups.setdefault(kind, self._alike.setdefault(made, made))
        return found

    def _part(self, plan: _Plan, place: Place, numbers: Iterable[int]) -> _Part:
        """Lexemes that go on alike; the same for all lexers that tell no more of them."""
        ends = tuple([plan.ends[n][:2] for n in numbers])
        key = (plan.scanner if plan.scanner.types(place) else None, place, ends)
        found = self._parts.get(key)
        if found is None:
            titled = [(end, name, f"after {end.name}") for end, name in ends]
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
            described = [
                (
                    end,
                    None if end.scanned in ignored else end.name,
                    machine.holds_at_end(end.spot.pending),
                    not machine.forbids_all(end.spot.pending, end.spot.left),
                )
                for end in ends
            ]
            made = _Plan(scanner, described, ways)
            found = self._plans.setdefault((scanner, spot, newline), made)
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
