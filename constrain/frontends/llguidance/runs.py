"""Lexemes that are being read together while tokens are counted for some of them only.

    start: name "Emily is great" rest      name[max_tokens=2]: /.*/      both read "Emily is"

When a count is over, its lexeme is cut short and competes no more: `"Emily is great"` now ends
where it matches, though `name` could have gone on. So a *run* is a rule that knows which lexemes
are left, how far they have come, and where the text stands after each. Where all count alike, all
are cut short at once, and no run is needed: terms do as well, and their masks are shared.

Cost: a rule for each state of a contest that a text comes to, anew for each token.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final, Generic, NamedTuple, Protocol, TypeVar
from weakref import WeakValueDictionary

from constrain.algebra.terms import EMPTY, ByteClass, Rule, Term, Timed, alt, cat
from constrain.frontends.llguidance.contest import Contest, End, State
from constrain.frontends.llguidance.stacks import Stack

__all__ = ["Run", "Runs"]

_KNOWN: Final = 20_000
"""Runs of which it is remembered whether they are dead ends."""
_Stacks = frozenset[Stack]


class Run(NamedTuple):
    """Some lexemes of a contest that are being read.

    Attributes:
        contest: Of all that began together.
        state: How far those have come that are left.
        after: For each of these its number, and where the text stands after it.
    """

    contest: Contest
    state: State
    after: tuple[tuple[int, _Stacks], ...]

    def at(self, state: State) -> Run:
        """The run when it has come to a state."""
        left = {n for n, _ in state}
        return Run(self.contest, state, tuple([a for a in self.after if a[0] in left]))


class _Place(Protocol):
    rule: Rule


_P = TypeVar("_P", bound=_Place)


class _Places(Protocol[_P]):
    """What a run asks of the places between lexemes."""

    def ended(self, contest: Contest, end: End, after: Callable[[int], _Stacks]) -> Iterable[_P]:
        """The places that an end leads to."""
        ...

    def cut(self, stacks: _Stacks) -> Iterable[tuple[Stack, _P]]:
        """The stacks that are inside of a call, each with the place after it."""
        ...

    def alive(self, place: _P, /) -> bool:
        """Whether a sentence goes on from a place."""
        ...

    def ticked(self, stacks: _Stacks) -> tuple[_Stacks, set[Stack]]:
        """Stacks that go on when a token has ended, and those after what is cut short."""
        ...

    def renewed(self, stacks: _Stacks) -> _Stacks:
        """The stacks as if no token had ended."""
        ...

    def left(self, kept: Term, after: Iterable[Stack]) -> tuple[Term, Term]:
        """What is kept, and what follows what is cut short."""
        ...


class Runs(Generic[_P]):
    """The runs of one grammar. Called under the lock of its places.

    Args:
        places: The places between lexemes.
        lock: Theirs. Rules take it, which stores call at any time.
    """

    def __init__(self, places: _Places[_P], lock: threading.RLock) -> None:
        self._places = places
        self._lock = lock
        self._made: WeakValueDictionary[Run, Rule] = WeakValueDictionary()
        self._alive: dict[Run, bool] = {}

    def term(self, run: Run) -> Term:
        """What may come in a run; `EMPTY` if it is a dead end."""
        if not self._is_alive(run):
            return EMPTY
        node = run.contest.node(run.state)
        if node.end is not None and not node.edges:  # nothing is being read any more
            return alt([place.rule for place in self._ended(run) if self._places.alive(place)])
        found = self._made.get(run)
        if found is None:
            nullable = any([place.rule.nullable for place in self._ended(run)])
            body = partial(self._body, run)
            if any([stack.counted is not None for _, stacks in run.after for stack in stacks]):
                at_token_end = partial(self._at_token_end, run)
                uncounted = partial(self._uncounted, run)
                found = Timed("lexemes", body, at_token_end, uncounted, nullable=nullable)
            else:
                found = Rule("lexemes", body, nullable=nullable)
            self._made[run] = found
        return found

    def ways_on(self, run: Run) -> Iterable[_P]:
        """Places from which a sentence is one from this run too."""
        reached = self._reached(run)
        for other in reached:
            yield from self._ended(other)
        for n, stacks in run.after:
            if run in _endless(reached, n):
                for _, place in self._places.cut(stacks):
                    yield place

    def _body(self, run: Run) -> Term:
        with self._lock:
            edges = run.contest.node(run.state).edges.items()
            members = [cat(ByteClass(mask), self.term(run.at(state))) for state, mask in edges]
            members += [place.rule for place in self._ended(run) if self._places.alive(place)]
            return alt(members)

    def _at_token_end(self, run: Run, inside: bool) -> tuple[Term, Term]:
        with self._lock:
            going: list[tuple[int, _Stacks]] = []
            over: set[Stack] = set()
            for n, stacks in run.after:
                kept, cut = self._places.ticked(stacks)
                over |= cut
                if kept:
                    going.append((n, kept))
            left = {n for n, _ in going}
            state = tuple([part for part in run.state if part[0] in left])
            kept_run = Run(run.contest, state, tuple(going))
            return self._places.left(self.term(kept_run) if state else EMPTY, over)

    def _uncounted(self, run: Run) -> Term:
        """The same as if no token had ended."""
        with self._lock:
            return self.term(self._renewed(run))

    def _renewed(self, run: Run) -> Run:
        renewed = [(n, self._places.renewed(stacks)) for n, stacks in run.after]
        return Run(run.contest, run.state, tuple(renewed))

    def _ended(self, run: Run) -> Iterable[_P]:
        end = run.contest.node(run.state).end
        if end is None:
            return ()
        return self._places.ended(run.contest, end, dict(run.after).__getitem__)

    # Dead ends

    def _is_alive(self, run: Run) -> bool:
        run = self._renewed(run)
        found = self._alive.get(run)
        if found is None:
            if len(self._alive) > _KNOWN:
                self._alive.clear()
            self._alive.update(self._told(run))
            found = self._alive[run]
        return found

    def _told(self, root: Run) -> dict[Run, bool]:
        """Of a run, and of all that it leads to, whether a sentence goes on from there."""
        reached = self._reached(root)
        alive = {run for run in reached if any(map(self._places.alive, self._ended(run)))}
        for n, stacks in root.after:
            if any([self._places.alive(place) for _, place in self._places.cut(stacks)]):
                alive |= _endless(reached, n)
        users: dict[Run, list[Run]] = {}
        for run, targets in reached.items():
            for target in targets:
                users.setdefault(target, []).append(run)
        todo = list(alive)
        while todo:
            new = [user for user in users.get(todo.pop(), ()) if user not in alive]
            alive.update(new)
            todo += new
        return {run: run in alive for run in reached}

    def _reached(self, root: Run) -> dict[Run, list[Run]]:
        """The runs that a run leads to, each with those one byte after it."""
        found: dict[Run, list[Run]] = {}
        todo = [root]
        while todo:
            run = todo.pop()
            if run not in found:
                found[run] = [run.at(state) for state in run.contest.node(run.state).edges]
                todo += found[run]
        return found


def _endless(reached: Mapping[Run, list[Run]], n: int) -> set[Run]:
    """The runs in which a lexeme may go on without bound."""
    kept = {run for run in reached if any([n == m for m, _ in run.state])}
    while over := {run for run in kept if kept.isdisjoint(reached[run])}:
        kept -= over
    return kept
