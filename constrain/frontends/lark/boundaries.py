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
parser reduces the same go together: their words are worked out once for each set of them, and they
have the same rules wherever they lead to the same stacks. A spot keeps of what is pending only what
a lexeme could begin with.

Cost: for a new place, the parser's reductions, and a look-up for each group of lexemes; for a
lexeme that ends there, the stack after it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from constrain.algebra.terms import EMPTY, EPS, Branches, Heads, Rule, Term, alt, cat
from constrain.frontends.lark.indent import IndentedLalr, Newlines
from constrain.frontends.lark.prospects import Prospects
from constrain.frontends.lark.scanner import START, End, Place, Scanner, Spot
from constrain.frontends.lark.stacks import Group, Parser, Stack, Unchanged
from constrain.frontends.lark.threads import Machine

__all__ = ["Boundaries", "Boundary", "Scanners"]

Scanners = Callable[[frozenset[Stack]], Iterable[tuple[Scanner, frozenset[str]]]]
"""The lexers at some stacks, each with the terminals whose lexemes the parser does not see."""

_UNSEEN: Final[frozenset[str | None]] = frozenset((None,))


class Boundary:
    """A place between lexemes, and the thunk of its rule.

    It keeps the rule, and the rule it, so that the same place is the same rule while that is used.

    Attributes:
        boundaries: The rules of its grammar.
        stacks: Of the parser.
        spot: Of the lexers.
        accepts: Whether the text may end here.
        rule: Its rule.
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
        """What may come."""
        return self.boundaries.body(self)


class _Way(NamedTuple):
    """One of the lexemes of a group.

    Attributes:
        end: Where it ends.
        terminal: Its name, or None if the parser does not see it.
        title: The name of the place after it.
    """

    end: End
    terminal: str | None
    title: str


class _Lexemes(NamedTuple):
    """The lexemes of a group that can come.

    Attributes:
        words: Of each; and whether the text may end after it.
        ways: What it is.
    """

    words: Heads
    ways: tuple[_Way, ...]


class _After:
    """What makes the places after the lexemes of a group, each when such a lexeme has ended.

    There are many: a `partial` is three objects.
    """

    __slots__ = ("boundaries", "group", "ways")

    def __init__(self, boundaries: Boundaries, group: Group, ways: tuple[_Way, ...]) -> None:
        self.boundaries = boundaries
        self.group = group
        self.ways = ways

    def __call__(self, number: int) -> Term:
        return self.boundaries.after(self.group, self.ways[number])


_Begun = tuple[tuple[Place, int], ...]
"""Places after one code point, each with the code points that lead there."""


class _Plan:
    """The lexemes of a lexer at a spot, whatever the parser says.

    Attributes:
        scanner: The lexer.
        ignored: Whether there are some that the parser does not see.
        ends: Each end, the terminal or None if the parser does not see it, whether a text may end
            there, and whether one may go on there.
        names: The terminals that the parser may get.
        begun: For each end, the first code points of its lexemes, and the places after these.
        groups: What of that remains of a group, by its kind.
    """

    __slots__ = ("begun", "ends", "groups", "ignored", "names", "scanner")

    def __init__(
        self,
        scanner: Scanner,
        ends: list[tuple[End, str | None, bool, bool]],
        begun: list[_Begun],
    ) -> None:
        self.scanner = scanner
        self.ends = ends
        self.names = frozenset([name for _, name, _, _ in ends if name is not None])
        self.ignored = any([name is None for _, name, _, _ in ends])
        self.begun = begun
        self.groups: dict[Hashable, _Lexemes] = {}


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
        self._made: WeakValueDictionary[tuple[frozenset[Stack], Spot], Boundary] = (
            WeakValueDictionary()
        )
        self._shares = share and prospects is None
        self._plans: dict[tuple[Scanner, Spot, str | None], _Plan] = {}
        self._words_known: dict[Hashable, Term] = {}
        self._alike: dict[Hashable, _Lexemes] = {}
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
                found = self._made[key] = Boundary(self, stacks, spot, accepts)
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

    def body(self, boundary: Boundary) -> Term:
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
        boundary: Boundary,
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

    def _groups(self, boundary: Boundary, plan: _Plan) -> Iterable[Term]:
        """The lexemes of a lexer that can come, in the groups that the parser tells apart."""
        groups = self.parser.groups(boundary.stacks, plan.names)
        if plan.ignored:
            groups = [*groups, Unchanged(boundary.stacks, _UNSEEN, boundary.accepts)]
        for group in groups:
            known = group.known()
            found = known.get(plan)
            if found is None:
                words, ways = lexemes = self._lexemes(plan, group)
                found = known.get(lexemes)
                if found is None:
                    found = EMPTY
                    if ways:
                        found = Branches("after a lexeme", words, _After(self, group, ways))
                    found = known.setdefault(lexemes, found)
                known[plan] = found
            yield found

    def after(self, group: Group, way: _Way) -> Rule:
        """The place after a lexeme."""
        found = self._boundary(group.after(way.terminal), way.end.spot, way.title)
        assert found is not None, "places are shared only where none is a dead end"
        return found

    def _lexemes(self, plan: _Plan, group: Group) -> _Lexemes:
        """The lexemes of a group that can come."""
        kind = group.kind()
        found = plan.groups.get(kind)
        if found is None:
            words, nullables, ways = [], [], []
            for (end, name, can_end, can_go_on), begun in zip(plan.ends, plan.begun, strict=True):
                if name in group.terminals:
                    may_end = can_end and group.may_end(name)
                    if may_end or can_go_on:
                        words.append(self._words_to(end, plan.scanner, begun))
                        nullables.append(may_end)
                        ways.append(_Way(end, name, f"after {end.name}"))
            key = (tuple(words), tuple(nullables), tuple(ways))
            made = self._alike.get(key)
            if made is None:
                made = self._alike.setdefault(key, _Lexemes(Heads(*key[:2]), key[2]))
            found = plan.groups.setdefault(kind, made)
        return found

    def _words_to(self, end: End, scanner: Scanner, begun: _Begun) -> Term:
        """The words of lexemes that begin so; the same for all lexers that tell no more of them."""
        types = any([scanner.types(place) for place, _ in begun])
        key = (scanner if types else None, begun, end)
        found = self._words_known.get(key)
        if found is None:
            spell = self._machine.atoms.spell
            made = alt([cat(spell(mask), self._rest_to(end, scanner, p)) for p, mask in begun])
            found = self._words_known.setdefault(key, made)
        return found

    def _rest_to(self, end: End, scanner: Scanner, place: Place) -> Term:
        """What is left of such a word from a place on, worked out when a text gets there."""
        ends, edges = scanner.at(place)
        if not any([end in scanner.reached(target) for target in edges]):
            return EPS
        key = (scanner if scanner.types(place) else None, place, end)
        found = self._words_known.get(key)
        if found is None:
            thunk = partial(scanner.words, place, end)
            made = Rule(end.name, thunk, nullable=end in ends, regular=True)
            found = self._words_known.setdefault(key, made)
        return found

    def _plan(
        self, scanner: Scanner, ignored: frozenset[str], spot: Spot, newline: str | None
    ) -> _Plan:
        """What the lexemes at a spot are, whatever the parser says; newlines left out."""
        found = self._plans.get((scanner, spot, newline))
        if found is None:
            machine = self._machine
            ends = [end for end in scanner.ends(spot) if end.name != newline]
            first = scanner.at(scanner.root(spot))[1].items()
            begun = [tuple([e for e in first if end in scanner.reached(e[0])]) for end in ends]
            described = [
                (
                    end,
                    None if end.scanned in ignored else end.name,
                    machine.holds_at_end(end.spot.pending),
                    not machine.forbids_all(end.spot.pending, end.spot.left),
                )
                for end in ends
            ]
            made = _Plan(scanner, described, begun)
            found = self._plans.setdefault((scanner, spot, newline), made)
        return found

    def _newlines(self, boundary: Boundary, scanner: Scanner) -> Term:
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
