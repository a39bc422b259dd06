"""Which stacks of a parser some text completes, lexers and lookaheads included: exactly.

A parser over the lexemes of a finite lexer is a pushdown system: its control is the spot of the
lexer (or the lexeme that it has looked ahead to), its stack the states of the parser. The
configurations from which it comes to accept are a regular set of stacks, found by saturation:

    fate(state, control) = which reductions can come to pop this state, each with the control then

is the least solution of equations that follow the moves of the parser: shift, and see what pops the
state above; reduce, and go on at the state that the symbol leads to. A stack is completed if some
reduction that pops its top finds, below, a stack that is. Seen from the bottom that is a finite
automaton again: the *outlook* of a stack is the reductions that would succeed there, and depends on
the outlook below and the top alone.

    start: A B | "x"    A: /a+/   B: /ab/     after "a" no text is a B: only "x" is left

Cost: solving is O(heads * controls * moves), heads being the pairs of state and control that some
text reaches; asking is one look-up for each state pushed.
Source: Bouajjani, Esparza, Maler, "Reachability analysis of pushdown automata" (1997).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final, Protocol

from constrain.frontends.lark.scanner import START, Spot
from constrain.frontends.lark.stacks import Stack
from constrain.limits import Limits

__all__ = ["Pushdown", "Saturation"]

Pop = tuple[str, int]
"""A reduction under way: the rule, and how many states it still pops, this one first."""

ACCEPTED: Final[Pop] = ("", 0)
_Fate = dict[Pop, int]
"""Reductions, each with the controls under which it may come, bit i for control i."""
_Head = tuple[int, Spot | int]
"""State on top, and control: a spot, or the number of what was looked ahead to."""


class Pushdown(Protocol):
    """A parser and its lexers, as moves. A commitment is what is looked ahead to."""

    first: int
    """The state at the bottom."""

    def commitments(self, state: int, spot: Spot) -> Iterable[Hashable]:
        """What may be looked ahead to at a boundary."""
        ...

    def reductions(self, state: int, commitment: Hashable) -> Iterable[Pop]:
        """Rules that may be reduced, with the number of states that this pops."""
        ...

    def shifts(self, state: int, commitment: Hashable) -> Iterable[tuple[int, Spot]]:
        """States that may be pushed by a lexeme, with the spot after it."""
        ...

    def goto(self, state: int, origin: str) -> int | None:
        """The state to push after a rule was reduced."""
        ...

    def accepts(self, state: int, commitment: Hashable) -> bool:
        """Whether the text is a sentence, whatever is below."""
        ...


class _Outlook:
    """What the stacks that end alike can hope for.

    Attributes:
        state: The top.
        holds: Which reductions that pop the top succeed, and under which controls.
        reduced: The same for rules whose parts are all above: under which controls they succeed.
        above: The outlook with one more state.
    """

    __slots__ = ("above", "holds", "reduced", "state")

    def __init__(self, state: int, holds: _Fate) -> None:
        self.state = state
        self.holds = holds
        self.reduced: dict[str, int] | None = None
        self.above: dict[int, _Outlook] = {}


class Saturation:
    """The completed configurations of one pushdown system.

    Args:
        pushdown: The system.
        limits: `max_source_nodes` bounds the work.
    """

    def __init__(self, pushdown: Pushdown, limits: Limits) -> None:
        self._pushdown = pushdown
        self._limits = limits
        self._spent = 0
        self._numbers: dict[Hashable, int] = {}
        self._commitments: list[Hashable] = []
        self._fates: dict[_Head, _Fate] = {}
        self._users: dict[_Head, dict[_Head, None]] = {}
        self._todo: dict[_Head, None] = {}
        self._solve()
        self._pops: dict[int, dict[Pop, None]] = {}
        self._controls: dict[int, list[int]] = {}
        for (state, control), fate in self._fates.items():
            self._pops.setdefault(state, {}).update(dict.fromkeys(fate))
            if isinstance(control, int):
                self._controls.setdefault(state, []).append(control)
        self._outlooks: dict[tuple[int, tuple[int, ...]], _Outlook] = {}
        self._bottom = _Outlook(pushdown.first, {})

    def alive(self, stacks: frozenset[Stack], spot: Spot) -> frozenset[Stack]:
        """Those of some stacks that some text completes that may stand at the spot."""
        return frozenset([s for s in stacks if self._is_alive(s, spot)])

    def _is_alive(self, stack: Stack, spot: Spot) -> bool:
        fate = self._fates.get((stack.state, spot))
        if fate is None:  # between ignored lexemes
            fate = self._fates[stack.state, spot] = {}
            for commitment in self._pushdown.commitments(stack.state, spot):
                for pop, mask in self._fates[stack.state, self._numbers[commitment]].items():
                    fate[pop] = fate.get(pop, 0) | mask
        if ACCEPTED in fate:
            return True
        holds = self._outlook(stack).holds
        return any([mask & holds.get(pop, 0) for pop, mask in fate.items()])

    # The equations

    def _solve(self) -> None:
        first: _Head = (self._pushdown.first, START)
        self._fates[first] = {}
        self._todo[first] = None
        while self._todo:
            head = next(iter(self._todo))
            del self._todo[head]
            fate = self._evaluate(head)
            if fate != self._fates[head]:
                self._fates[head] = fate
                self._todo.update(self._users.get(head, {}))

    def _read(self, head: _Head, user: _Head) -> _Fate:
        self._users.setdefault(head, {})[user] = None
        self._spent += 1
        fate = self._fates.get(head)
        if fate is None:
            fate = self._fates[head] = {}
            self._todo[head] = None
        return fate

    def _number(self, commitment: Hashable) -> int:
        found = self._numbers.get(commitment)
        if found is None:
            found = self._numbers[commitment] = len(self._commitments)
            self._commitments.append(commitment)
        return found

    def _evaluate(self, head: _Head) -> _Fate:
        self._limits.check("max_source_nodes", self._spent, "looking for dead ends of a grammar")
        state, control = head
        pushdown = self._pushdown
        found: _Fate = {}
        if isinstance(control, Spot):
            for commitment in pushdown.commitments(state, control):
                fate = self._read((state, self._number(commitment)), head)
                for pop, mask in fate.items():
                    found[pop] = found.get(pop, 0) | mask
            return found
        commitment = self._commitments[control]
        if pushdown.accepts(state, commitment):
            found[ACCEPTED] = 1
        reduced: dict[str, int] = {}  # rules reduced on top of this state, not yet looked at
        for origin, length in pushdown.reductions(state, commitment):
            _note(found, reduced, (origin, length + 1), 1 << control)
        for above, spot in pushdown.shifts(state, commitment):
            for pop, mask in self._read((above, spot), head).items():
                _note(found, reduced, pop, mask)
        seen: dict[str, int] = {}
        while reduced:
            origin, mask = reduced.popitem()
            new = mask & ~seen.get(origin, 0)
            seen[origin] = seen.get(origin, 0) | new
            after = pushdown.goto(state, origin)
            if after is None:
                continue
            for number in _bits(new):
                for pop, more in self._read((after, number), head).items():
                    _note(found, reduced, pop, more)
        return found

    # Stacks

    def _outlook(self, stack: Stack) -> _Outlook:
        """Walk down to a stack that is known, and up again."""
        path = []
        at: Stack | None = stack
        while at is not None and at.outlook is None:
            path.append(at)
            at = at.below
        here = self._bottom
        if at is not None:
            assert isinstance(at.outlook, _Outlook)
            here = at.outlook
        for each in reversed(path):
            if each.below is not None:
                here = self._push(here, each.state)
            each.outlook = here
        return here

    def _push(self, below: _Outlook, state: int) -> _Outlook:
        known = below.above.get(state)
        if known is None:
            if below.reduced is None:
                below.reduced = self._reduce(below)
            pops = self._pops.get(state, {})
            masks = []
            for origin, length in pops:
                if length > 1:
                    masks.append(below.holds.get((origin, length - 1), 0))
                else:
                    masks.append(below.reduced.get(origin, 0))
            key = (state, tuple(masks))
            known = self._outlooks.get(key)
            if known is None:
                holds = {p: m for p, m in zip(pops, masks, strict=True) if m}
                known = self._outlooks[key] = _Outlook(state, holds)
            below.above[state] = known
        return known

    def _reduce(self, outlook: _Outlook) -> dict[str, int]:
        """Under which controls a rule reduced on top succeeds: the least solution."""
        state, holds = outlook.state, outlook.holds
        origins = {
            pop[0]
            for pops in self._pops.values()
            for pop in pops
            if pop[1] <= 1 and pop != ACCEPTED
        }
        after = {o: s for o in origins if (s := self._pushdown.goto(state, o)) is not None}
        found = dict.fromkeys(after, 0)
        changed = True
        while changed:
            changed = False
            for origin, above in after.items():
                for number in self._controls.get(above, ()):
                    if found[origin] >> number & 1:
                        continue
                    fate = self._fates[above, number]
                    if ACCEPTED in fate or any(
                        [
                            mask & (found.get(o, 0) if n == 1 else holds.get((o, n - 1), 0))
                            for (o, n), mask in fate.items()
                        ]
                    ):
                        found[origin] |= 1 << number
                        changed = True
        return found


def _note(found: _Fate, reduced: dict[str, int], pop: Pop, mask: int) -> None:
    """Count a reduction that has popped the state above."""
    origin, length = pop
    if length == 1:
        reduced[origin] = reduced.get(origin, 0) | mask
        return
    key = pop if pop == ACCEPTED else (origin, length - 1)
    found[key] = found.get(key, 0) | mask


def _bits(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
