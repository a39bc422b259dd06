"""The places between lexemes, as rules: contests and parser together are one term.

    boundary(stacks) = words of some ends · boundary(stacks after winners, live bytes blocked) | ...

Lexemes that have no first byte in common do not compete: they are contests of their own, which
other places share.

Several lexemes may win at once; then the text stands at the stacks after any of them. What is
ignored leads back to the same stacks, and wins alone. A special token or a JSON text takes part in
no contest: it is one more alternative. Bodies are made when a text gets there.

Where a rule counts tokens, a boundary inside it knows how many are left, and is another one when a
token has ended (`Timed`). At none left, what was being read is over, and the text stands after the
rule, where all lexemes begin anew; what else was being read at the same time goes on.

A text that only ends by being cut short, `/.*/` before `" Height:"`, is read as long as it may go
on without bound, and nothing follows it but a token's end.

A rule promises that it is not empty. The parser alone keeps that promise; but a lexeme may never
end where the parser needs it to (`/a+/ "a"`: every `a` belongs to the first). So nothing leads to a
boundary from which no search finds a sentence. In known grammars a search looks at a few dozen
boundaries. It need not end where a rule recurses and nothing can follow it (`e /a+/ "a"`), and then
the grammar is refused: no answer is guessed.

Cost: one parser step for each terminal that may stand at a boundary, and a contest for each set of
lexemes.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from constrain.algebra.terms import EMPTY, EPS, ByteClass, Rule, Term, Timed, Token, alt, cat
from constrain.errors import UnsupportedFeatureError
from constrain.frontends.llguidance.contest import (
    Contest,
    End,
    Lexeme,
    Rows,
    State,
    without_first_bytes,
)
from constrain.frontends.llguidance.follow import Follow
from constrain.frontends.llguidance.runs import Run, Runs
from constrain.frontends.llguidance.spacious import is_spacious
from constrain.frontends.llguidance.stacks import Parser, Place, Stack, class_of, name_of
from constrain.limits import Limits

__all__ = ["Boundaries", "Ignored"]

_FEW_STATES: Final = 2_000
"""States of a lazy lexeme up to which its words are solved; past it they are a complement."""
_PLACES: Final = 500
"""What the parser says at so many stacks is remembered: up to 40 kB each."""
_SEARCH_COST: Final = 5
"""What a boundary costs in `Limits.max_emptiness_states`: 20,000 take a second or two."""
_SEARCHED_AT_FIRST: Final = 100
"""Boundaries that searches look at before it is asked whether any can be a dead end."""
_MANY_STACKS: Final = 8
"""Stacks at one boundary that cost a search as much as a boundary."""
_STEPS_PER_DEPTH: Final = 8
"""Lexemes on the way to a boundary that count as one more state on its stacks."""
_Stacks = frozenset[Stack]


@dataclass(frozen=True, slots=True)
class Ignored:
    """What may stand between the lexemes of a class.

    Attributes:
        lexeme: Its texts, or None if there is none.
        at_start: It may stand before the first lexeme of the class too.
        once: It may not come twice in a row.
    """

    lexeme: Lexeme | None
    at_start: bool
    once: bool


@dataclass(frozen=True, slots=True)
class _Key:
    """What a boundary is.

    Attributes:
        stacks: Where the parser stands.
        blocked: Bytes that may not come next.
        read: The beginning of the text from here on, which was read already.
        ignored: The class whose ignored text was just read, if it may not come twice; else "".
    """

    stacks: _Stacks
    blocked: int = 0
    read: bytes = b""
    ignored: str = ""


class _Boundary:
    """A place between lexemes; keeps its rule, so that the same place is the same rule."""

    __slots__ = ("__weakref__", "alive", "edges", "key", "rule")
    rule: Rule
    edges: list[_Edge] | None

    def __init__(self, key: _Key) -> None:
        self.key = key
        self.alive: bool | None = None
        self.edges = None


class _Edge(NamedTuple):
    """A way on from a boundary.

    Attributes:
        words: What is read.
        target: Where that leads.
        begin: If tokens are counted there, makes the beginnings of `words`, as long as they may go
            on without bound.
    """

    words: Term
    target: _Boundary
    begin: Callable[[], Term] | None = None


@dataclass(frozen=True, slots=True)
class _Target:
    """Where some symbols lead; `ignores` if it is what they ignore."""

    key: _Key
    symbols: tuple[str, ...]
    ignores: bool = False

    @property
    def counts(self) -> bool:
        """Whether tokens are counted there."""
        return any([stack.counted is not None for stack in self.key.stacks])


@dataclass(frozen=True, slots=True)
class _Reading:
    """In the middle of a lexeme, at a state of the contest at some stacks; None: between two."""

    key: _Key
    contest: Contest | None
    state: State | None


class Boundaries:
    """The rules of one grammar.

    Args:
        parser: What takes the winners.
        follow: What may come after what.
        lexemes: By symbol; several where they hide different ends.
        others: Terms of the terminals that take part in no contest, by symbol.
        ignored: By class.
        limits: Budgets.
    """

    def __init__(
        self,
        parser: Parser,
        follow: Follow,
        lexemes: Mapping[str, list[Lexeme]],
        others: Mapping[str, Term],
        ignored: Mapping[str, Ignored],
        limits: Limits,
    ) -> None:
        self._parser = parser
        self._follow = follow
        self._lexemes = lexemes
        self._others = others
        self._ignored = ignored
        self._limits = limits
        self._rows = Rows(limits)
        self._lock = threading.RLock()
        self._shared: dict[tuple[int, ...], Contest] = {}
        self._firsts = {
            symbol: self._rows.first_bytes(self._rows.intern(term))
            for symbol, term in others.items()
            if not isinstance(term, Token)
        }
        self._places: dict[_Stacks, Place] = {}
        self._grouped: dict[tuple[int, ...], list[Contest]] = {}
        self._after: dict[str, int] = {}
        self._safe: bool | None = None  # not known yet
        self._searched = 0
        self._alive_at: dict[tuple[_Stacks, str], set[int]] = {}
        self._made: WeakValueDictionary[_Key, _Boundary] = WeakValueDictionary()
        self._runs = Runs(self, self._lock)
        self._endless: WeakValueDictionary[_Stacks, Timed] = WeakValueDictionary()

    def start(self) -> Rule | None:
        """The place before any text; None if no text is a sentence."""
        with self._lock:
            boundary = self._boundary(_Key(self._parser.start()), "start")
            return boundary.rule if self.alive(boundary) else None

    # Places

    def _place(self, stacks: _Stacks) -> Place:
        found = self._places.get(stacks)
        if found is None:
            if len(self._places) >= _PLACES:
                self._places.clear()
            found = self._places[stacks] = self._parser.place(stacks)
        return found

    def _contests(self, key: _Key) -> list[Contest]:
        """The lexemes that compete at a boundary; no two contests begin with the same byte."""
        place = self._place(key.stacks)
        lexemes = [lexeme for s in place.symbols for lexeme in self._lexemes.get(s, ())]
        for name, ignored in self._ignored.items():
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
            first = self._rows.first_bytes(self._rows.intern(lexeme.term))
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
                found |= self._firsts.get(other, 0)
                for lexeme in self._lexemes.get(other, ()):
                    found |= self._rows.first_bytes(self._rows.intern(lexeme.term))
            for ignored in self._ignored.values():
                if ignored.lexeme is not None:
                    found |= self._rows.first_bytes(self._rows.intern(ignored.lexeme.term))
            self._after[symbol] = found
        return found

    def _contest(self, lexemes: list[Lexeme]) -> Contest:
        name = tuple(sorted(map(id, lexemes)))
        found = self._shared.get(name)
        if found is None:
            found = self._shared[name] = Contest(self._rows, lexemes)
        return found

    def _boundary(self, key: _Key, name: str, *, may_end: bool = True) -> _Boundary:
        """The boundary of a key; `may_end` is False if a text never ends there."""
        found = self._made.get(key)
        if found is None:
            # The rule refers to its boundary, which so lives as long as it does.
            found = self._made[key] = _Boundary(key)
            nullable = may_end and self._may_end(key)
            body = partial(self._body, found)
            if any([stack.counted is not None for stack in key.stacks]):
                at_token_end = partial(self._at_token_end, found)
                uncounted = partial(self._uncounted, found)
                found.rule = Timed(name, body, at_token_end, uncounted, nullable=nullable)
            else:
                found.rule = Rule(name, body, nullable=nullable)
        return found

    # Tokens that are counted

    def _at_token_end(self, boundary: _Boundary, inside: bool) -> tuple[Term, Term]:
        """What a boundary is once a token has ended: before it, if `inside`, else right there."""
        with self._lock:
            key = boundary.key
            kept, after = self.ticked(key.stacks if inside else self._parser.settled(key.stacks))
            rest: Term = EMPTY
            if kept:
                going = self._boundary(replace(key, stacks=kept), boundary.rule.name)
                rest = going.rule if self.alive(going) else EMPTY
            return self.left(rest, after)

    def _uncounted(self, boundary: _Boundary) -> Rule:
        """The same as if no token had ended."""
        with self._lock:
            key = replace(boundary.key, stacks=self.renewed(boundary.key.stacks))
            return self._boundary(key, boundary.rule.name).rule

    def ticked(self, stacks: _Stacks) -> tuple[_Stacks, set[Stack]]:
        """Stacks that go on when a token has ended, and those after what is cut short."""
        kept: set[Stack] = set()
        after: set[Stack] = set()
        for stack in stacks:
            left, over = self._parser.ticked(stack)
            (after if over else kept).add(left)
        return frozenset(kept), after

    def left(self, kept: Term, after: Iterable[Stack]) -> tuple[Term, Term]:
        """What is kept, and what follows what is cut short: each by itself, at its first byte."""
        places = [self._place_of_cut(stack) for stack in after]
        cut = alt([place.rule for place in places if self.alive(place)])
        if kept is EMPTY and cut is EMPTY:
            raise UnsupportedFeatureError(
                "max_tokens cuts a text short, and nothing can come next there: the lexemes that "
                "may come take all that has to follow them",
                hint="look for a lexeme that never ends where the next must begin",
            )
        return kept, cut

    def cut(self, stacks: _Stacks) -> Iterable[tuple[Stack, _Boundary]]:
        """The stacks that are inside of a call, each with the place after it."""
        for stack in stacks:
            if stack.counted is not None:
                yield stack, self._place_of_cut(self._parser.after_call(stack))

    def _place_of_cut(self, stack: Stack) -> _Boundary:
        return self._boundary(_Key(frozenset((stack,))), "after what is cut short")

    def renewed(self, stacks: _Stacks) -> _Stacks:
        """The stacks as if no token had ended."""
        return frozenset([self._parser.renewed(stack) for stack in stacks])

    def ended(
        self, contest: Contest, end: End, after: Callable[[int], _Stacks]
    ) -> Iterable[_Boundary]:
        """The places that an end leads to."""
        return [self._enter(target) for target in self._targets(contest, end, after)]

    def _is_mixed(self, contest: Contest, key: _Key) -> bool:
        """Whether some of the lexemes that compete would be cut short, and others not."""
        if not self._parser.counts or len(contest.lexemes) == 1:
            return False
        after = [self._after_lexeme(contest, n, key) for n in range(len(contest.lexemes))]
        return len({stack.counted for stacks in after for stack in stacks}) > 1

    def _run(self, contest: Contest, state: State, key: _Key) -> Run:
        """What is being read in a contest at some stacks."""
        after = [(n, self._after_lexeme(contest, n, key)) for n, _ in state]
        return Run(contest, state, tuple(after))

    def _runs_of(self, key: _Key) -> Iterable[tuple[Term, Run]]:
        """What is being read after the first byte, or at once, where lexemes count apart."""
        if not self._parser.counts:
            return
        if key.read:
            reading = self._read(key)
            assert reading is not None, "it was tried before"
            contest, state = reading.contest, reading.state
            if contest is not None and state is not None and self._is_mixed(contest, reading.key):
                yield EPS, self._run(contest, state, reading.key)
            return
        for contest in self._contests(key):
            if self._is_mixed(contest, key):
                for state, mask in contest.nodes[contest.root].edges.items():
                    if mask & ~key.blocked:
                        yield ByteClass(mask & ~key.blocked), self._run(contest, state, key)

    def _until_cut(self, edge: _Edge) -> Term:
        """What may be read on an edge to a dead end, if it is cut short where it can go on."""
        if edge.begin is None:
            return EMPTY
        stacks = [s for s, place in self.cut(edge.target.key.stacks) if self.alive(place)]
        if not stacks:
            return EMPTY
        return cat(edge.begin(), self._endless_rule(frozenset(stacks), edge.target.rule.name))

    def _endless_rule(self, stacks: _Stacks, name: str) -> Timed:
        """What follows a text that has no end but to be cut short: no byte does."""
        found = self._endless.get(stacks)
        if found is None:

            def at_token_end(inside: bool) -> tuple[Term, Term]:
                with self._lock:
                    kept, after = self.ticked(stacks)
                    rest = self._endless_rule(kept, name) if kept else EMPTY
                    return self.left(rest, after)

            def uncounted() -> Timed:
                with self._lock:
                    return self._endless_rule(self.renewed(stacks), name)

            found = self._endless[stacks] = Timed(name, lambda: EMPTY, at_token_end, uncounted)
        return found

    def _may_end(self, key: _Key) -> bool:
        if key.read:
            reading = self._read(key)
            assert reading is not None, "it was tried before"
            if reading.contest is None or reading.state is None:
                return self._may_end(reading.key)
            end = reading.contest.nodes[reading.state].end
            if end is None:
                return False
            after = partial(self._after_lexeme, reading.contest, key=reading.key)
            targets = self._targets(reading.contest, end, after)
            return any([self._may_end(target.key) for target in targets])
        return self._place(key.stacks).accepts

    # Bodies

    def _body(self, boundary: _Boundary) -> Term:
        with self._lock:
            members = [
                cat(edge.words, edge.target.rule)
                if self.alive(edge.target)
                else self._until_cut(edge)
                for edge in self._edges(boundary)
            ]
            for lead, run in self._runs_of(boundary.key):
                members.append(cat(lead, self._runs.term(run)))
            if boundary.rule.nullable and not boundary.key.read:
                members.append(EPS)
            return alt(members)

    def _edges(self, boundary: _Boundary) -> list[_Edge]:
        if boundary.edges is None:
            key = boundary.key
            boundary.edges = list(self._edges_of_read(key) if key.read else self._edges_of(key))
        return boundary.edges

    def _edges_of(self, key: _Key) -> Iterable[_Edge]:
        for contest in self._contests(key):
            if self._is_mixed(contest, key):
                continue
            simple = self._simple(contest, key)
            if simple is not None:
                words = contest.all_words(key.blocked)
                if words is not EMPTY:
                    yield _Edge(words, self._enter(simple))
                continue
            after = partial(self._after_lexeme, contest, key=key)
            groups: dict[_Key, tuple[_Target, list[End]]] = {}
            for end in contest.ends():
                for target in self._targets(contest, end, after):
                    groups.setdefault(target.key, (target, []))[1].append(end)
            for target, ends in groups.values():
                words = contest.words(frozenset(ends), key.blocked)
                if words is not EMPTY:
                    begin = partial(contest.unending, frozenset(ends), key.blocked)
                    yield _Edge(words, self._enter(target), begin if target.counts else None)
        place = self._place(key.stacks)
        for symbol in place.symbols:
            if symbol in self._others:
                first = self._firsts.get(symbol, 0)
                term = self._others[symbol]
                if first:
                    term = without_first_bytes(term, first, key.blocked)
                if term is not EMPTY:
                    target = _Target(_Key(place.after(symbol)), (symbol,))
                    yield _Edge(term, self._enter(target))

    def _simple(self, contest: Contest, key: _Key) -> _Target | None:
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

    def _edges_of_read(self, key: _Key) -> Iterable[_Edge]:
        """From the middle of a lexeme."""
        reading = self._read(key)
        assert reading is not None, "it was tried before"
        contest, state = reading.contest, reading.state
        if contest is None or state is None:
            yield _Edge(EPS, self._boundary(reading.key, "after stop"))
            return
        if self._is_mixed(contest, reading.key):
            return
        after = partial(self._after_lexeme, contest, key=reading.key)
        groups: dict[_Key, tuple[_Target, list[End]]] = {}
        for end in contest.ends():
            for target in self._targets(contest, end, after):
                groups.setdefault(target.key, (target, []))[1].append(end)
        here = contest.nodes[state].end
        for target, ends in groups.values():
            words = contest.words_from(state, ends)
            if here in ends:
                words = alt((words, EPS))
            if words is not EMPTY:
                begin = partial(contest.unending, frozenset(ends), 0, state)
                yield _Edge(words, self._enter(target), begin if target.counts else None)

    def _enter(self, target: _Target) -> _Boundary:
        """The boundary of a target."""
        name = "what is ignored" if target.ignores else name_of(target.symbols[0])
        # What was hidden may already hold the symbols that come last.
        may_end = target.ignores or bool(target.key.read)
        may_end = may_end or not self._follow.last.isdisjoint(target.symbols)
        return self._boundary(target.key, f"after {name}", may_end=may_end)

    def _after_lexeme(self, contest: Contest, n: int, key: _Key) -> _Stacks:
        """Where the text stands after a lexeme at some stacks: what is ignored leads nowhere."""
        after = self._place(key.stacks).after(contest.lexemes[n].symbol)
        return after or self._parser.settled(key.stacks)

    def _targets(
        self, contest: Contest, end: End, after: Callable[[int], _Stacks]
    ) -> list[_Target]:
        """Where an end leads."""
        plain: set[Stack] = set()
        hidden: dict[bytes, set[Stack]] = {}
        symbols: list[str] = []
        first = 0
        for n in sorted(end.winners):
            lexeme = contest.lexemes[n]
            kind = class_of(lexeme.symbol)
            if lexeme is self._ignored[kind].lexeme:  # it wins alone
                ignored = kind if self._ignored[kind].once else ""
                return [_Target(_Key(after(n), end.live, ignored=ignored), (lexeme.symbol,), True)]
            symbols.append(lexeme.symbol)
            first |= self._first_after(lexeme.symbol) if end.live else 0
            (hidden.setdefault(lexeme.hidden, set()) if lexeme.hidden else plain).update(after(n))
        found: list[_Key] = []
        if plain:
            found.append(_Key(frozenset(plain), end.live & first))
        for text, stacks in hidden.items():
            again = _Key(frozenset(stacks), read=text)
            found.append(again if self._read(again) is not None else _Key(again.stacks))
        return [_Target(target, tuple(symbols)) for target in found]

    def _read(self, key: _Key) -> _Reading | None:
        """Where a text stands that begins with `key.read`; None if others may come instead."""
        now = _Key(key.stacks)
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

    def _past(self, contest: Contest, end: End, key: _Key) -> _Key:
        """Past an end, all winners at once; what one of them hides is not read again."""
        stacks: set[Stack] = set()
        for n in end.winners:
            stacks |= self._after_lexeme(contest, n, key)
        return _Key(frozenset(stacks))

    # Dead ends

    def _is_spacious(self) -> bool:
        lexemes = [lexeme for found in self._lexemes.values() for lexeme in found]
        if len(self._ignored) > 1:
            return False
        ((_, ignored),) = self._ignored.items()
        number = None
        if ignored.lexeme is not None:
            number = len(lexemes)
            lexemes.append(ignored.lexeme)
        if len(lexemes) < 2:
            return False  # a search is as fast
        others = list(self._firsts.values())
        return is_spacious(self._rows, lexemes, number, others, once=ignored.once)

    def alive(self, boundary: _Boundary) -> bool:
        """Whether a sentence goes on from a boundary."""
        if self._safe is None and self._searched > _SEARCHED_AT_FIRST:
            self._safe = self._is_spacious()
        if self._safe:
            return True
        if boundary.alive is None and isinstance(boundary.rule, Timed):
            key = boundary.key
            stacks = self.renewed(key.stacks)
            if stacks != key.stacks:  # the same but for what is left of a count
                other = self._boundary(replace(key, stacks=stacks), boundary.rule.name)
                boundary.alive = self.alive(other)
        if boundary.alive is None:
            self._search(boundary)
        assert boundary.alive is not None
        return boundary.alive

    def _is_found(self, boundary: _Boundary) -> bool:
        """Whether a sentence is known to go on from a boundary, or from one with more blocked."""
        if boundary.alive is None and not boundary.key.read:
            key = boundary.key
            blocked = self._alive_at.get((key.stacks, key.ignored), ())
            if any(not key.blocked & ~more for more in blocked):
                boundary.alive = True
        return bool(boundary.alive) or boundary.rule.nullable

    def _ways_on(self, boundary: _Boundary) -> Iterable[_Boundary]:
        """Boundaries from which a sentence is one from this boundary too."""
        for edge in self._edges(boundary):
            yield edge.target
            if edge.begin is not None and edge.begin() is not EMPTY:
                for _, place in self.cut(edge.target.key.stacks):
                    yield place
        for _, run in self._runs_of(boundary.key):
            yield from self._runs.ways_on(run)

    def _search(self, root: _Boundary) -> None:
        """Look for a sentence from a boundary: stacks that are not deep first, and short ways.

        Raises:
            LimitExceededError: It was not found, and there are more places to look at.
        """
        where = "from the start" if root.rule.name == "start" else root.rule.name
        order = count()
        parents: dict[_Boundary, _Boundary | None] = {root: None}
        todo = [(0, next(order), 0, root)]
        looked = 0
        while todo:
            _, _, steps, boundary = heapq.heappop(todo)
            cost = 1 + len(boundary.key.stacks) // _MANY_STACKS
            looked += cost
            self._searched += cost
            if self._is_found(boundary):
                at: _Boundary | None = boundary
                while at is not None:
                    at.alive = True
                    if not at.key.read:
                        place = (at.key.stacks, at.key.ignored)
                        self._alive_at.setdefault(place, set()).add(at.key.blocked)
                    at = parents[at]
                return
            spent = _SEARCH_COST * max(looked, len(parents))
            self._limits.check("max_emptiness_states", spent, f"a text that goes on {where}")
            for target in self._ways_on(boundary):
                if target.alive is not False and target not in parents:
                    parents[target] = boundary
                    # In an ambiguous text the least deep of the stacks says little.
                    urgency = _depth(target.key.stacks) + steps // _STEPS_PER_DEPTH
                    heapq.heappush(todo, (urgency, next(order), steps + 1, target))
        for boundary in parents:
            boundary.alive = False


def _depth(stacks: _Stacks) -> int:
    """How much must still be completed, about."""
    least = 1 << 62
    for stack in stacks:
        depth, at = 0, stack.below
        while at is not None and depth < least:
            depth, at = depth + 1, at.below
        least = min(least, depth)
    return least
