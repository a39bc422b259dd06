"""Where a text stands between lexemes, and where these lead: contests and parser together.

Lexemes that have no first byte in common do not compete: they are contests of their own, which
other places share.

Several lexemes may win at once; then the text stands at the stacks after any of them. What is
ignored leads back to the same stacks, and wins alone. A special token or a JSON text takes part in
no contest: it is one more way on.

Cost: one parser step for each terminal that may stand at a boundary, and a contest for each set of
lexemes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from constrain.algebra.terms import EMPTY, EPS, ByteClass, Rule, Term, Token
from constrain.frontends.llguidance.boundary import Boundary, Edge, Key, Run, Stacks
from constrain.frontends.llguidance.contest import (
    Contest,
    End,
    Lexeme,
    Rows,
    State,
    without_first_bytes,
)
from constrain.frontends.llguidance.follow import Follow
from constrain.frontends.llguidance.productions import Made
from constrain.frontends.llguidance.stacks import Parser, Place, Stack, class_of, name_of
from constrain.limits import Limits

__all__ = ["Beginning", "Ways"]

_FEW_STATES: Final = 2_000
"""States of a lazy lexeme up to which its words are solved; past it they are a complement."""
_PLACES: Final = 500
"""What the parser says at so many stacks is remembered: up to 40 kB each."""


class Beginning(NamedTuple):
    """A contest that has begun.

    Attributes:
        first: Its first byte; the empty text if that was read before.
        run: What is being read then.
    """

    first: Term
    run: Run


@dataclass(frozen=True, slots=True)
class _Target:
    """Where some symbols lead; `ignores` if it is what they ignore."""

    key: Key
    symbols: tuple[str, ...]
    ignores: bool = False


@dataclass(frozen=True, slots=True)
class _Reading:
    """In the middle of a lexeme, at a state of the contest at some stacks; None: between two."""

    key: Key
    contest: Contest | None
    state: State | None


class Ways:
    """The boundaries of one grammar, and the ways on from them.

    Args:
        parser: What takes the winners.
        follow: What may come after what.
        made: What the grammar became; of that the lexemes, what else stands for terminals and takes
            part in no contest, and what is ignored.
        make_rule: Makes the rule of a boundary, from that, a name, and whether a text may end.
        limits: Budgets.
    """

    def __init__(
        self,
        parser: Parser,
        follow: Follow,
        made: Made,
        make_rule: Callable[[Boundary, str, bool], Rule],
        limits: Limits,
    ) -> None:
        self.parser = parser
        self.lexemes = made.lexemes
        self.ignored = made.ignored
        self.rows = Rows(limits)
        self._follow = follow
        self._others = made.others
        self._make_rule = make_rule
        self._shared: dict[tuple[int, ...], Contest] = {}
        self.firsts = {
            symbol: self.rows.first_bytes(self.rows.intern(term))
            for symbol, term in made.others.items()
            if not isinstance(term, Token)
        }
        self._places: dict[Stacks, Place] = {}
        self._grouped: dict[tuple[int, ...], list[Contest]] = {}
        self._after: dict[str, int] = {}
        self._made: WeakValueDictionary[Key, Boundary] = WeakValueDictionary()

    def start(self) -> Boundary:
        """The place before any text."""
        return self.boundary(Key(self.parser.start()), "start")

    def boundary(self, key: Key, name: str, *, may_end: bool = True) -> Boundary:
        """The boundary of a key; `may_end` is False if a text never ends there."""
        found = self._made.get(key)
        if found is None:
            # The rule refers to its boundary, which so lives as long as it does.
            found = self._made[key] = Boundary(key)
            found.rule = self._make_rule(found, name, may_end and self._may_end(key))
        return found

    def _may_end(self, key: Key) -> bool:
        if key.read:
            reading = self._reading(key)
            if reading.contest is None or reading.state is None:
                return self._may_end(reading.key)
            end = reading.contest.nodes[reading.state].end
            if end is None:
                return False
            after = partial(self._after_lexeme, reading.contest, key=reading.key)
            targets = self._targets(reading.contest, end, after)
            return any([self._may_end(target.key) for target in targets])
        return self._place(key.stacks).accepts

    # Contests

    def _place(self, stacks: Stacks) -> Place:
        found = self._places.get(stacks)
        if found is None:
            if len(self._places) >= _PLACES:
                self._places.clear()
            found = self._places[stacks] = self.parser.place(stacks)
        return found

    def _contests(self, key: Key) -> list[Contest]:
        """The lexemes that compete at a boundary; no two contests begin with the same byte."""
        place = self._place(key.stacks)
        lexemes = [lexeme for s in place.symbols for lexeme in self.lexemes.get(s, ())]
        for name, ignored in self.ignored.items():
            here = name in place.inside or (ignored.at_start and name in place.begins)
            if here and ignored.lexeme is not None and key.ignored != name:
                lexemes.append(ignored.lexeme)
        together = tuple(sorted(map(id, lexemes)))
        found = self._grouped.get(together)
        if found is None:
            found = self._grouped[together] = self._group(lexemes)
        return found

    def _group(self, lexemes: list[Lexeme]) -> list[Contest]:
        groups: list[tuple[int, list[Lexeme]]] = []
        for lexeme in lexemes:
            first = self.rows.first_bytes(self.rows.intern(lexeme.term))
            together = [lexeme]
            for other in [group for group in groups if group[0] & first]:
                first |= other[0]
                together += other[1]
                groups.remove(other)
            groups.append((first, together))
        return [self._contest(group) for _, group in groups]

    def _first_after(self, symbol: str) -> int:
        """The bytes that may come after a terminal, maybe more."""
        found = self._after.get(symbol)
        if found is None:
            found = 0
            for other in self._follow.after(symbol):
                found |= self.firsts.get(other, 0)
                for lexeme in self.lexemes.get(other, ()):
                    found |= self.rows.first_bytes(self.rows.intern(lexeme.term))
            for ignored in self.ignored.values():
                if ignored.lexeme is not None:
                    found |= self.rows.first_bytes(self.rows.intern(ignored.lexeme.term))
            self._after[symbol] = found
        return found

    def _contest(self, lexemes: list[Lexeme]) -> Contest:
        name = tuple(sorted(map(id, lexemes)))
        found = self._shared.get(name)
        if found is None:
            found = self._shared[name] = Contest(self.rows, lexemes)
        return found

    # Ways on

    def edges(self, boundary: Boundary) -> list[Edge]:
        """The ways on from a boundary, made once."""
        if boundary.edges is None:
            key = boundary.key
            boundary.edges = list(self._edges_of_read(key) if key.read else self._edges_of(key))
        return boundary.edges

    def _edges_of(self, key: Key) -> Iterable[Edge]:
        for contest in self._contests(key):
            simple = self._simple(contest, key)
            if simple is None:
                yield from self._edges_of_contest(contest, key)
            elif (words := contest.all_words(key.blocked)) is not EMPTY:
                yield Edge(words, self._enter(simple), contest)
        place = self._place(key.stacks)
        for symbol in place.symbols:
            if symbol in self._others:
                first = self.firsts.get(symbol, 0)
                term = self._others[symbol]
                if first:
                    term = without_first_bytes(term, first, key.blocked)
                if term is not EMPTY:
                    target = _Target(Key(place.after(symbol)), (symbol,))
                    yield Edge(term, self._enter(target))

    def _edges_of_contest(
        self, contest: Contest, key: Key, start: State | None = None
    ) -> Iterable[Edge]:
        """The ends of a contest, from its beginning or from a state."""
        after = partial(self._after_lexeme, contest, key=key)
        groups: dict[Key, tuple[_Target, list[End]]] = {}
        for end in contest.ends():
            for target in self._targets(contest, end, after):
                groups.setdefault(target.key, (target, []))[1].append(end)
        mixed = self._is_mixed(contest, key)
        for target, some in groups.values():
            ends = frozenset(some)
            words: Term | None = None
            if mixed:
                if not contest.leads_to(ends, key.blocked, start):
                    continue
            else:
                words = contest.words(ends, key.blocked, start)
                if words is EMPTY:
                    continue
            is_endless = partial(contest.is_endless, ends, key.blocked, start)
            yield Edge(
                words, self._enter(target), contest, is_endless if target.key.counts else None
            )

    def _edges_of_read(self, key: Key) -> Iterable[Edge]:
        """From the middle of a lexeme."""
        reading = self._reading(key)
        if reading.contest is None or reading.state is None:
            yield Edge(EPS, self.boundary(reading.key, "after stop"))
        else:
            yield from self._edges_of_contest(reading.contest, reading.key, reading.state)

    def beginnings(self, key: Key) -> Iterable[Beginning]:
        """The contests that have begun, at each state after the first byte, where tokens count."""
        if not self.parser.counts:
            return
        if key.read:
            reading = self._reading(key)
            if reading.contest is not None and reading.state is not None:
                run = self._run(reading.contest, reading.state, reading.key)
                if run.counts:
                    yield Beginning(EPS, run)
            return
        for contest in self._contests(key):
            if any([stack.counted for stack in self._after_any(contest, key)]):
                for state, mask in contest.nodes[contest.root].edges.items():
                    if mask & ~key.blocked:
                        first = ByteClass(mask & ~key.blocked)
                        yield Beginning(first, self._run(contest, state, key))

    def _run(self, contest: Contest, state: State, key: Key) -> Run:
        """What is being read in a contest at some stacks."""
        after = [(n, self._after_lexeme(contest, n, key)) for n, _ in state]
        return Run(contest, state, tuple(after))

    def ended(self, run: Run) -> list[Boundary]:
        """The places that a run leads to where its lexemes end, if they end there."""
        end = run.contest.node(run.state).end
        if end is None:
            return []
        targets = self._targets(run.contest, end, dict(run.after).__getitem__)
        return [self._enter(target) for target in targets]

    def _after_any(self, contest: Contest, key: Key) -> Iterable[Stack]:
        for n in range(len(contest.lexemes)):
            yield from self._after_lexeme(contest, n, key)

    def _is_mixed(self, contest: Contest, key: Key) -> bool:
        """Whether some of the lexemes that compete would be cut short, and others not."""
        if not self.parser.counts or len(contest.lexemes) == 1:
            return False
        return len({stack.counted for stack in self._after_any(contest, key)}) > 1

    def _simple(self, contest: Contest, key: Key) -> _Target | None:
        """Where the only lexeme of a contest leads, if it never matters where it ends.

        Then its states need not be looked at, which may be very many.
        """
        if len(contest.lexemes) > 1 or contest.is_literal or contest.lexemes[0].hidden:
            return None
        if contest.lexemes[0].lazy and contest.explore(_FEW_STATES):
            return None
        live = 0 if contest.lexemes[0].lazy else contest.alphabet
        after = partial(self._after_lexeme, contest, key=key)
        (target,) = self._targets(contest, End(frozenset((0,)), live), after)
        return None if target.key.blocked else target

    def _enter(self, target: _Target) -> Boundary:
        """The boundary of a target."""
        name = "what is ignored" if target.ignores else name_of(target.symbols[0])
        # What was hidden may already hold the symbols that come last.
        may_end = target.ignores or bool(target.key.read)
        may_end = may_end or not self._follow.last.isdisjoint(target.symbols)
        return self.boundary(target.key, f"after {name}", may_end=may_end)

    def _after_lexeme(self, contest: Contest, n: int, key: Key) -> Stacks:
        """Where the text stands after a lexeme at some stacks: what is ignored leads nowhere."""
        after = self._place(key.stacks).after(contest.lexemes[n].symbol)
        return after or self.parser.settled(key.stacks)

    def _targets(self, contest: Contest, end: End, after: Callable[[int], Stacks]) -> list[_Target]:
        """Where an end leads."""
        plain: set[Stack] = set()
        hidden: dict[bytes, set[Stack]] = {}
        symbols: list[str] = []
        first = 0
        for n in sorted(end.winners):
            lexeme = contest.lexemes[n]
            kind = class_of(lexeme.symbol)
            if lexeme is self.ignored[kind].lexeme:  # it wins alone
                ignored = kind if self.ignored[kind].once else ""
                return [_Target(Key(after(n), end.live, ignored=ignored), (lexeme.symbol,), True)]
            symbols.append(lexeme.symbol)
            first |= self._first_after(lexeme.symbol) if end.live else 0
            (hidden.setdefault(lexeme.hidden, set()) if lexeme.hidden else plain).update(after(n))
        found: list[Key] = []
        if plain:
            found.append(Key(frozenset(plain), end.live & first))
        for text, stacks in hidden.items():
            again = Key(frozenset(stacks), read=text)
            found.append(again if self._read(again) is not None else Key(again.stacks))
        return [_Target(target, tuple(symbols)) for target in found]

    def _read(self, key: Key) -> _Reading | None:
        """Where a text stands that begins with `key.read`; None if others may come instead."""
        now = Key(key.stacks)
        contest: Contest | None = None
        state: State | None = None
        for byte in key.read:
            if contest is None or state is None:
                place = self._place(now.stacks)
                contests = self._contests(now)
                others = place.accepts or any(s in self._others for s in place.symbols)
                if others or len(contests) != 1:
                    return None
                contest = contests[0]
                node = contest.nodes[contest.root]
            else:
                node = contest.nodes[state]
                if node.end is not None:
                    return None
            state = contest.after(node, byte)
            if state is None or node.live != 1 << byte:
                return None
            node = contest.nodes[state]
            if not node.edges and node.end is not None:
                now, state = self._past(contest, node.end, now), None
        return _Reading(now, contest, state)

    def _reading(self, key: Key) -> _Reading:
        found = self._read(key)
        assert found is not None, "it was tried before"
        return found

    def _past(self, contest: Contest, end: End, key: Key) -> Key:
        """Past an end, all winners at once; what one of them hides is not read again."""
        stacks: set[Stack] = set()
        for n in end.winners:
            stacks |= self._after_lexeme(contest, n, key)
        return Key(frozenset(stacks))

    # Where tokens end

    def ticked(self, stacks: Stacks) -> tuple[Stacks, set[Stack]]:
        """Stacks that go on when a token has ended, and those after what is cut short."""
        kept: set[Stack] = set()
        after: set[Stack] = set()
        for stack in stacks:
            left, over = self.parser.ticked(stack)
            (after if over else kept).add(left)
        return frozenset(kept), after

    def boundary_ticked(
        self, boundary: Boundary, *, inside: bool = False
    ) -> tuple[Boundary | None, list[Boundary]]:
        """A boundary when a token has ended, and the places after what is cut short.

        Args:
            boundary: Any.
            inside: The token has ended before it, not right there.
        """
        key = boundary.key
        kept, cut = self.ticked(key.stacks if inside else self.parser.settled(key.stacks))
        left = self.boundary(replace(key, stacks=kept), boundary.rule.name) if kept else None
        return left, self.after_cuts(cut)

    def run_ticked(self, run: Run) -> tuple[Run | None, list[Boundary]]:
        """A run when a token has ended, and the places after what is cut short."""
        going: list[tuple[int, Stacks]] = []
        over: set[Stack] = set()
        for n, stacks in run.after:
            kept, cut = self.ticked(stacks)
            over |= cut
            if kept:
                going.append((n, kept))
        left = {n for n, _ in going}
        state = tuple([part for part in run.state if part[0] in left])
        kept_run = Run(run.contest, state, tuple(going)) if state else None
        return kept_run, self.after_cuts(over)

    def after_cuts(self, stacks: Iterable[Stack]) -> list[Boundary]:
        """The places at some stacks that stand after what was cut short: each by itself."""
        return [self.boundary(Key(frozenset((s,))), "after what is cut short") for s in stacks]

    def cuts(self, stacks: Stacks) -> list[Boundary]:
        """The places after the innermost calls that some stacks are inside of."""
        inside = [stack for stack in stacks if stack.counted is not None]
        return self.after_cuts([self.parser.after_call(stack) for stack in inside])

    def all_cuts(self, stacks: Stacks) -> list[Boundary]:
        """The places after all calls that some stacks are inside of."""
        found: dict[Stack, None] = {}
        for stack in stacks:
            while stack.counted is not None:
                stack = self.parser.after_call(stack)
                found[stack] = None
        return self.after_cuts(found)

    def without_rivals(self, run: Run) -> list[Boundary]:
        """The places after each lexeme of a run, should all others be cut short, or it itself."""
        found: list[Boundary] = []
        for _, stacks in run.after:
            found += self.apart(self.boundary(Key(stacks), "after a lexeme"))
            found += self.all_cuts(stacks)
        return found

    def apart(self, boundary: Boundary) -> list[Boundary]:
        """What may be left of a boundary as tokens end: itself, and what of it counts alike."""
        key = boundary.key
        lots: dict[Stack | None, list[Stack]] = {}
        for stack in key.stacks:
            lots.setdefault(stack.counted, []).append(stack)
        if len(lots) == 1:
            return [boundary]
        keys = [replace(key, stacks=frozenset(lot)) for lot in lots.values()]
        return [boundary, *[self.boundary(part, boundary.rule.name) for part in keys]]

    def renewed(self, stacks: Stacks) -> Stacks:
        """The stacks as if no token had ended."""
        return frozenset([self.parser.renewed(stack) for stack in stacks])

    def boundary_renewed(self, boundary: Boundary) -> Boundary:
        """A boundary as if no token had ended."""
        key = boundary.key
        stacks = self.renewed(key.stacks) if key.counts else key.stacks
        if stacks == key.stacks:
            return boundary
        return self.boundary(replace(key, stacks=stacks), boundary.rule.name)

    def run_renewed(self, run: Run) -> Run:
        """A run as if no token had ended."""
        renewed = [(n, self.renewed(stacks)) for n, stacks in run.after]
        return Run(run.contest, run.state, tuple(renewed))
