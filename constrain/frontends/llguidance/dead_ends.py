"""Dead ends: places in a text from which no sentence goes on.

A rule promises that it is not empty. The parser alone keeps that promise; but a lexeme may never
end where the parser needs it to (`/a+/ "a"`: every `a` belongs to the first). So nothing leads to a
place from which no search finds a sentence. In known grammars a search looks at a few dozen places.
It need not end where a rule recurses and nothing can follow it (`e /a+/ "a"`), and then the grammar
is refused: no answer is guessed.

Where tokens are counted, what is read may be cut short, and then three questions differ:

    alive     whatever is left of the counts: a sentence goes on if no token ends any more, or after
              the cut of something that may go on until then
    may_live  for some that may be left; asked only so that the third need not be
    lives     for what is left now, token by token: `"ab"` that only a cut can end is cut after one
              token, or after two, and never after three

Cost: `alive` and `may_live` a step for each boundary, `lives` for each byte and count, up to
`Limits.max_emptiness_states`. It is asked where `alive` says no and `may_live` yes.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import count, pairwise
from typing import Final, NamedTuple, TypeVar

from constrain.algebra.terms import Token
from constrain.errors import UnsupportedFeatureError
from constrain.frontends.llguidance.boundary import Boundary, Key, Run, Stacks
from constrain.frontends.llguidance.spacious import is_spacious
from constrain.frontends.llguidance.ways import Ways
from constrain.limits import Limits

__all__ = ["DeadEnds"]

_SEARCH_COST: Final = 5
"""What a place costs in `Limits.max_emptiness_states`: 20,000 take a second or two."""
_SEARCHED_AT_FIRST: Final = 100
"""Boundaries that searches look at before it is asked whether any can be a dead end."""
_MANY_STACKS: Final = 8
"""Stacks at one boundary that cost a search as much as a boundary."""
_MANY_REDUCTIONS: Final = 16
"""Reductions of stacks that cost a search as much as a boundary: where a rule recurses on the
right, each lexeme that may be its last reduces all of a deep stack."""
_STEPS_PER_DEPTH: Final = 8
"""Lexemes on the way to a boundary that count as one more state on its stacks."""
_KNOWN: Final = 20_000
"""Runs, and places with counts, of which an answer is remembered."""
_T = TypeVar("_T")


class _Place(NamedTuple):
    """A boundary or a run; `fresh` if a byte was just read, so that a token may end there."""

    at: Key | Run
    fresh: bool


class DeadEnds:
    """Of one grammar.

    Args:
        ways: Where lexemes lead.
        limits: `max_emptiness_states` bounds each search.
    """

    def __init__(self, ways: Ways, limits: Limits) -> None:
        self._ways = ways
        self._limits = limits
        self._safe: bool | None = None  # not known yet
        self._searched = 0
        self._alive_at: dict[tuple[Stacks, str], set[int]] = {}
        self._alive_runs: dict[Run, bool] = {}
        self._may_live_runs: dict[Run, bool] = {}
        self._lives: dict[_Place, bool] = {}

    # Whatever is left of counts

    def alive(self, boundary: Boundary) -> bool:
        """Whether a sentence goes on from a boundary, whatever is left of counts."""
        if self._safe is None and self._searched > _SEARCHED_AT_FIRST:
            self._safe = self._is_spacious()
        if self._safe:
            return True
        if boundary.alive is None:
            renewed = self._ways.boundary_renewed(boundary)
            if renewed.alive is None:
                self._search(renewed)
            boundary.alive = renewed.alive
        assert boundary.alive is not None
        return boundary.alive

    def run_alive(self, run: Run) -> bool:
        """Whether a sentence goes on from a run, whatever is left of counts."""
        return self._of_run(self._alive_runs, run, self._tell_alive)

    def _is_spacious(self) -> bool:
        ways = self._ways
        lexemes = [lexeme for found in ways.lexemes.values() for lexeme in found]
        if len(ways.ignored) > 1:
            return False
        ((_, ignored),) = ways.ignored.items()
        number = None
        if ignored.lexeme is not None:
            number = len(lexemes)
            lexemes.append(ignored.lexeme)
        if len(lexemes) < 2:
            return False  # a search is as fast
        others = list(ways.firsts.values())
        return is_spacious(ways.rows, lexemes, number, others, once=ignored.once)

    def _is_found(self, boundary: Boundary) -> bool:
        """Whether a sentence is known to go on from a boundary, or from one with more blocked."""
        if boundary.alive is None and not boundary.key.read:
            key = boundary.key
            blocked = self._alive_at.get((key.stacks, key.ignored), ())
            if any(not key.blocked & ~more for more in blocked):
                boundary.alive = True
        return bool(boundary.alive) or boundary.rule.nullable

    def _ways_on(self, boundary: Boundary) -> Iterable[Boundary]:
        """Boundaries from which a sentence is one from this boundary too."""
        for edge in self._ways.edges(boundary):
            yield edge.target
            if edge.is_endless is not None and edge.is_endless():
                yield from self._ways.cuts(edge.target.key.stacks)

    def _search(self, root: Boundary) -> None:
        """Look for a sentence from a boundary: stacks that are not deep first, and short ways.

        Raises:
            LimitExceededError: It was not found, and there are more places to look at.
        """
        order = count()
        parents: dict[Boundary, Boundary | None] = {root: None}
        todo = [(0, next(order), 0, root)]
        looked = 0
        reductions = self._ways.parser.reductions
        while todo:
            _, _, steps, boundary = heapq.heappop(todo)
            cost = 1 + len(boundary.key.stacks) // _MANY_STACKS
            looked += cost
            self._searched += cost
            if self._is_found(boundary):
                for at in _back(parents, boundary):
                    at.alive = True
                    if not at.key.read:
                        place = (at.key.stacks, at.key.ignored)
                        self._alive_at.setdefault(place, set()).add(at.key.blocked)
                return
            reduced = (self._ways.parser.reductions - reductions) // _MANY_REDUCTIONS
            self._spend(max(looked + reduced, len(parents)), root)
            for target in self._ways_on(boundary):
                if target.alive is not False and target not in parents:
                    parents[target] = boundary
                    # In an ambiguous text the least deep of the stacks says little.
                    depth = min([stack.depth for stack in target.key.stacks])
                    urgency = depth + steps // _STEPS_PER_DEPTH
                    heapq.heappush(todo, (urgency, next(order), steps + 1, target))
        for boundary in parents:
            boundary.alive = False

    def _spend(self, looked: int, root: Boundary) -> None:
        where = "from the start" if root.rule.name == "start" else root.rule.name
        spent = _SEARCH_COST * looked
        self._limits.check("max_emptiness_states", spent, f"a text that goes on {where}")

    def _of_run(
        self, known: dict[Run, bool], run: Run, tell: Callable[[Run], dict[Run, bool]]
    ) -> bool:
        run = self._ways.run_renewed(run)
        found = known.get(run)
        if found is None:
            if len(known) > _KNOWN:
                known.clear()
            known.update(tell(run))
            found = known[run]
        return found

    def _tell_alive(self, root: Run) -> dict[Run, bool]:
        """Of a run, and of all that it leads to, whether a sentence goes on from there."""
        reached = _reached(root)
        alive = {run for run in reached if any(map(self.alive, self._ways.ended(run)))}
        for n, stacks in root.after:
            if any(map(self.alive, self._ways.cuts(stacks))):
                alive |= _endless(reached, n)
        return _with_those_before(reached, alive)

    # For some that may be left

    def may_live(self, boundary: Boundary) -> bool:
        """Whether a sentence goes on from a boundary for some that is left of counts, or more."""
        if not self._ways.parser.counts:
            return self.alive(boundary)
        if boundary.may_live is None:
            renewed = self._ways.boundary_renewed(boundary)
            if renewed.may_live is None:
                self._search_loosely(renewed)
            boundary.may_live = renewed.may_live
        assert boundary.may_live is not None
        return boundary.may_live

    def run_may_live(self, run: Run) -> bool:
        """The same of a run."""
        return self._of_run(self._may_live_runs, run, self._tell_may_live)

    def _tell_may_live(self, root: Run) -> dict[Run, bool]:
        if any(map(self.may_live, self._ways.without_rivals(root))):
            return {root: True}
        reached = _reached(root)
        alive = {run for run in reached if any(map(self.may_live, self._ways.ended(run)))}
        return _with_those_before(reached, alive)

    def _search_loosely(self, root: Boundary) -> None:
        parents: dict[Boundary, Boundary | None] = {root: None}
        todo = deque([root])
        reductions = self._ways.parser.reductions
        while todo:
            boundary = todo.popleft()
            if boundary.may_live or self.alive(boundary):
                for at in _back(parents, boundary):
                    at.may_live = True
                return
            reduced = (self._ways.parser.reductions - reductions) // _MANY_REDUCTIONS
            self._spend(len(parents) + reduced, root)
            targets = [edge.target for edge in self._ways.edges(boundary)]
            targets += self._ways.all_cuts(boundary.key.stacks)
            targets += self._ways.apart(boundary)
            for _, run in self._ways.beginnings(boundary.key):
                targets += self._ways.without_rivals(run)
            for target in targets:
                if target.may_live is not False and target not in parents:
                    parents[target] = boundary
                    todo.append(target)
        for boundary in parents:
            boundary.may_live = False

    # For what is left now

    def depends(self, at: Boundary | Run) -> bool:
        """Whether what is left of counts may decide about a place."""
        if isinstance(at, Run):
            return not self.run_alive(at) and self.run_may_live(at)
        return not self.alive(at) and self.may_live(at)

    def lives(self, at: Boundary | Run, *, fresh: bool) -> bool:
        """Whether a sentence goes on from a place, with what is left of counts there.

        Args:
            at: A boundary, or a run.
            fresh: A byte was just read, so that a token may end there.

        Raises:
            LimitExceededError: It was not found, and there are more places to look at.
            UnsupportedFeatureError: It depends on the number of tokens of a JSON text.
        """
        return self._is_alive(at) or (self._may_live(at) and self._lives_by_tokens(at, fresh))

    def lives_after_token(self, boundary: Boundary) -> bool:
        """The same of a boundary where a token has ended right there."""
        if self.alive(boundary):
            return True
        if not boundary.key.counts:
            return self.lives(boundary, fresh=False)
        kept, cut = self._ways.boundary_ticked(boundary)
        places = cut if kept is None else [kept, *cut]
        return any([self.lives(place, fresh=False) for place in places])

    def lives_after_json(self, boundary: Boundary) -> bool:
        """The same of a boundary after a JSON text, however many tokens that has.

        Raises:
            UnsupportedFeatureError: It depends on how many.
        """
        if not any(map(self.depends, self._ways.apart(boundary))):
            return self.lives(boundary, fresh=False)
        lots = self._after_some_tokens(boundary)
        answers = [any([self.lives(at, fresh=at.key.counts) for at in lot]) for lot in lots]
        if any([later and not now for now, later in pairwise(answers)]):
            raise UnsupportedFeatureError(
                "only max_tokens can end what follows a JSON text, and whether it does depends on "
                "the number of tokens of that text",
                hint="move what follows out of the rule with max_tokens",
            )
        return answers[0]

    def _after_some_tokens(self, boundary: Boundary) -> Iterable[list[Boundary]]:
        """What a boundary may be when no, one, two, ... tokens have ended in what is before it."""
        left: Boundary | None = boundary
        cut: list[Boundary] = []
        while left is not None:
            yield [left, *cut]
            if not left.key.counts:  # nor does it from there on
                yield [left]
                return
            left, cut = self._ways.boundary_ticked(left, inside=True)
        yield cut

    def _is_alive(self, at: Boundary | Run) -> bool:
        return self.run_alive(at) if isinstance(at, Run) else self.alive(at)

    def _may_live(self, at: Boundary | Run) -> bool:
        return self.run_may_live(at) if isinstance(at, Run) else self.may_live(at)

    def _place(self, at: Boundary | Run, fresh: bool) -> _Place:
        return _Place(at if isinstance(at, Run) else at.key, fresh)

    def _lives_by_tokens(self, at: Boundary | Run, fresh: bool) -> bool:
        known = self._lives
        root = self._place(at, fresh)
        if root in known:
            return known[root]
        if len(known) > _KNOWN:
            known.clear()
        parents: dict[_Place, _Place | None] = {root: None}
        todo = deque([(root, at)])
        while todo:
            place, at = todo.popleft()
            if known.get(place) or self._is_alive(at):
                known.update(dict.fromkeys(_back(parents, place), True))
                return True
            spent = _SEARCH_COST * len(parents)
            self._limits.check("max_emptiness_states", spent, "a text that max_tokens cuts short")
            if not self._may_live(at):
                continue
            for target, is_fresh in self._on_from(at, place.fresh):
                new = self._place(target, is_fresh)
                if new not in parents and known.get(new) is not False:
                    parents[new] = place
                    todo.append((new, target))
        known.update(dict.fromkeys(parents, False))
        return False

    def _on_from(self, at: Boundary | Run, fresh: bool) -> Iterable[tuple[Boundary | Run, bool]]:
        """Where the next byte, or a token's end, leads; and whether a token may end right there."""
        if isinstance(at, Run):
            return self._on_from_run(at, fresh)
        return self._on_from_boundary(at, fresh)

    def _on_from_boundary(
        self, boundary: Boundary, fresh: bool
    ) -> Iterable[tuple[Boundary | Run, bool]]:
        counted = set()
        for first, run in self._ways.beginnings(boundary.key):
            counted.add(run.contest)
            yield run, not first.nullable
        for edge in self._ways.edges(boundary):
            if edge.contest in counted:
                continue
            if isinstance(edge.words, Token):
                yield from self._on_from_token_end(edge.target)
            elif edge.is_json and edge.target.key.counts:
                for lot in self._after_some_tokens(edge.target):
                    yield from [(place, place.key.counts) for place in lot]
            else:
                yield edge.target, False
        if fresh:
            yield from self._on_from_token_end(boundary)

    def _on_from_token_end(self, boundary: Boundary) -> Iterable[tuple[Boundary | Run, bool]]:
        kept, cut = self._ways.boundary_ticked(boundary)
        if kept is not None:
            yield kept, False
        for place in cut:
            yield place, False

    def _on_from_run(self, run: Run, fresh: bool) -> Iterable[tuple[Boundary | Run, bool]]:
        for place in self._ways.ended(run):
            yield place, fresh and run.is_over
        for state in run.contest.node(run.state).edges:
            yield run.at(state), True
        if fresh and not run.is_over:
            kept, cut = self._ways.run_ticked(run)
            for place in cut:
                yield place, False
            if kept is not None:
                yield kept, False


def _back(parents: Mapping[_T, _T | None], last: _T) -> Iterable[_T]:
    """A place that a search has come to, and those before it."""
    at: _T | None = last
    while at is not None:
        yield at
        at = parents[at]


def _reached(root: Run) -> dict[Run, list[Run]]:
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


def _with_those_before(reached: Mapping[Run, list[Run]], some: set[Run]) -> dict[Run, bool]:
    """Of each run that was reached, whether it is one of some, or leads to one."""
    users: dict[Run, list[Run]] = {}
    for run, targets in reached.items():
        for target in targets:
            users.setdefault(target, []).append(run)
    found = set(some)
    todo = list(some)
    while todo:
        new = [user for user in users.get(todo.pop(), ()) if user not in found]
        found.update(new)
        todo += new
    return {run: run in found for run in reached}
