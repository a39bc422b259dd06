"""The parser that runs the LALR(1) table which lark would make: one stack.

Conflicts are resolved as lark resolves them, which the table says. Lexemes before which the same is
reduced go together. Where no stack is a dead end, states that make no difference are left out
(`tails`).

Cost: as the parser itself.
Source: DeRemer (1969).
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from constrain.frontends.lark.automaton import Automaton
from constrain.frontends.lark.stacks import Group, Pushed, Stack
from constrain.frontends.lark.table import END, Action, Table

if TYPE_CHECKING:
    from constrain.frontends.lark.tails import Tails

__all__ = ["Lalr", "LalrGroup", "Split"]

_ENDLESS: Final = 10_000
"""Reductions in a row that take nothing off the stack, after which lark goes round in circles: a
table has fewer states and rules that are empty or have one part."""


class Split:
    """What a state does before some terminals. The same is the same object.

    Attributes:
        shifts: The state, with its viable state, that each terminal pushes.
        ending: Terminals that push a state in which the text might end.
        reductions: Rules that are reduced, each with the terminals before which it is.
    """

    __slots__ = ("ending", "reductions", "shifts")

    def __init__(
        self,
        shifts: Mapping[str, tuple[int, int]],
        ending: tuple[str, ...],
        reductions: tuple[tuple[tuple[str, int], frozenset[str]], ...],
    ) -> None:
        self.shifts = shifts
        self.ending = ending
        self.reductions = reductions


class LalrGroup:
    """Lexemes before which an LALR parser reduces the same.

    Args:
        parser: The parser.
        stack: What is left of the stack.
        pushed: States to push on it.
        split: What is shifted then.
    """

    __slots__ = ("_parser", "_pushed", "_split", "_stack", "terminals")

    def __init__(self, parser: Lalr, stack: Stack, pushed: Pushed, split: Split) -> None:
        self.terminals: Container[str | None] = split.shifts
        self._parser = parser
        self._stack = stack
        self._pushed = pushed
        self._split = split

    def kind(self) -> Hashable:
        """See `Group`."""
        split = self._split
        return (split, *[t for t in split.ending if self.may_end(t)]) if split.ending else split

    def after(self, terminal: str | None) -> frozenset[Stack]:
        """See `Group`."""
        assert terminal is not None
        shifted = self._split.shifts[terminal]
        return frozenset((self._parser.pushed(self._stack, self._pushed, shifted),))

    def may_end(self, terminal: str | None) -> bool:
        """See `Group`."""
        if terminal is None or terminal not in self._split.ending:
            return False
        pushed = (*self._pushed, self._split.shifts[terminal])
        return self._parser.accepts_on(self._stack, pushed)

    def known(self) -> dict[Any, Any]:
        """See `Group`."""
        return self._stack.known_of((self._split, self._pushed))


class Lalr:
    """lark's LALR(1) parser.

    Args:
        table: Its parse table.
        start: The start symbol.
        viable: The automaton of the productions that can be completed, or None if all can.

    Attributes:
        items: Where each state stands in productions, see `Table`.
        first: The state at the bottom of every stack.
        last: The state on which a text is accepted.
        folded: States that are not pushed on themselves, since that would change nothing.
        tails: States that are taken off before another is pushed, for the same reason.
        enders: Before what a text ends.
    """

    folded: frozenset[int] = frozenset()
    tails: Tails | None = None
    enders: frozenset[str] = frozenset((END,))

    def __init__(self, table: Table, start: str, viable: Automaton | None) -> None:
        self._states = table.states
        self.items = table.items
        self.first: int = table.start_states[start]
        self.last: int = table.end_states[start]
        self._viable = viable
        self._bottom = Stack(None, self.first)
        self._rows: dict[int, frozenset[str]] = {}
        self._splits: dict[tuple[int, int, frozenset[str]], Split] = {}

    def start(self) -> frozenset[Stack]:
        """The stack before any lexeme."""
        return frozenset((self._bottom,))

    def waits_for(self, stacks: frozenset[Stack]) -> frozenset[str]:
        """Terminals but for which none can come."""
        (stack,) = stacks
        found = self._rows.get(stack.state)
        if found is None:
            found = self._rows[stack.state] = frozenset(self._states[stack.state])
        return found

    def groups(self, stacks: frozenset[Stack], terminals: frozenset[str]) -> Sequence[Group]:
        """Those of some lexemes that can come."""
        (stack,) = stacks
        return [LalrGroup(self, *each) for each in self.run(stack, terminals)]

    def feed_all(
        self, stacks: frozenset[Stack], terminals: Iterable[str]
    ) -> dict[str, frozenset[Stack]]:
        """For each lexeme that can come, the stack after it."""
        (stack,) = stacks
        return {
            terminal: frozenset((self.pushed(top, pushed, target),))
            for top, pushed, split in self.run(stack, frozenset(terminals))
            for terminal, target in split.shifts.items()
        }

    def takes(self, stacks: frozenset[Stack], terminals: Iterable[str]) -> bool:
        """Whether one of some lexemes can come, or the end if that is among them."""
        (stack,) = stacks
        return bool(self.run(stack, frozenset(terminals))) or (
            END in terminals and self.accepts(stacks)
        )

    def feed(self, stacks: frozenset[Stack], terminal: str) -> frozenset[Stack]:
        """The stacks after one lexeme, maybe none."""
        return self.feed_all(stacks, (terminal,)).get(terminal, frozenset())

    def accepts(self, stacks: frozenset[Stack]) -> bool:
        """Whether the text may end here."""
        (stack,) = stacks
        return self.accepts_on(stack, ())

    def accepts_on(self, stack: Stack, pushed: Pushed) -> bool:
        """Whether the text may end where some states are pushed on a stack."""
        first = here = _Reducing(stack, pushed, _ONLY_END, 0, 0, 0)
        if END not in self._states[here.top[0]]:
            return False
        passed = []
        may_end: bool | None = None
        while may_end is None:
            if len(here.pushed) < 2 or here is first:  # many stacks come to the same there
                may_end = here.stack.ends.get(here.pushed)
                if may_end is not None:
                    break
                passed.append(here)
            action = self._states[here.top[0]].get(END)
            after = self._reduced(here, action, _ONLY_END) if isinstance(action, tuple) else None
            if after is None:
                may_end = False
            elif after.top[0] == self.last:
                may_end = True
            else:
                here = after
        for each in passed:
            each.stack.ends[each.pushed] = may_end
        return may_end

    def action(self, state: int, symbol: str) -> Action | None:
        """What the table says."""
        return self._states[state].get(symbol)

    def goto(self, state: int, symbol: str) -> int | None:
        """The state that a symbol pushes, or None."""
        action = self._states[state].get(symbol)
        return action if isinstance(action, int) else None

    def pushes(self, state: int) -> dict[str, int]:
        """The states that symbols push."""
        return {s: a for s, a in self._states[state].items() if isinstance(a, int)}

    @property
    def table(self) -> Mapping[int, Mapping[str, Action]]:
        """For each state, what the table says before each symbol."""
        return self._states

    def row(self, state: int) -> Iterable[str]:
        """The symbols for which a state has an action."""
        return self._states[state]

    @property
    def states(self) -> Iterable[int]:
        """All states of the table."""
        return self._states

    def run(self, stack: Stack, terminals: frozenset[str]) -> list[tuple[Stack, Pushed, Split]]:
        """Reduce before terminals, and shift them; not the end.

        Terminals before which the same is reduced go together. One before which lark would reduce
        forever cannot come.

        Returns:
            For those that can come: what is left of the stack, the states to push on it, and what
            is shifted then.
        """
        found = []
        todo = [_Reducing(stack, (), terminals, 0, 0, 0)]
        while todo:
            here = todo.pop()
            state, item = here.pushed[-1] if here.pushed else (here.stack.state, here.stack.viable)
            split = self._splits.get((state, item, here.terminals)) or self._split(
                state, item, here.terminals
            )
            if split.shifts:
                found.append((here.stack, here.pushed, split))
            for action, ready in split.reductions:
                after = self._reduced(here, action, ready)
                if after is not None:
                    todo.append(after)
        return found

    def pushed(self, stack: Stack, pushed: Pushed, last: tuple[int, int]) -> Stack:
        """A stack with more states, and one on top of them."""
        tails = self.tails
        for state, viable in (*pushed, last):
            if tails is not None:
                while stack.below is not None and tails.drops(
                    stack.below.state, stack.state, state
                ):
                    stack = stack.below
            if (state, viable) != (stack.state, stack.viable) or state not in self.folded:
                stack = stack.push(state, viable)
        return stack

    def _split(self, state: int, item: int, terminals: frozenset[str]) -> Split:
        found = self._splits.get((state, item, terminals))
        if found is None:
            row = self._states[state]
            shifts: dict[str, tuple[int, int]] = {}
            reductions: dict[tuple[str, int], list[str]] = {}
            for terminal in terminals:
                action = row.get(terminal)
                if isinstance(action, tuple):
                    reductions.setdefault(action, []).append(terminal)
                elif action is not None:
                    viable = self._reached(item, terminal)
                    if viable is not None:
                        shifts[terminal] = action, viable
            ending = [
                t
                for t, (after, _) in shifts.items()
                if not self.enders.isdisjoint(self._states[after])
            ]
            made = Split(
                shifts, tuple(ending), tuple([(a, frozenset(r)) for a, r in reductions.items()])
            )
            found = self._splits.setdefault((state, item, terminals), made)
        return found

    @property
    def is_whole(self) -> bool:
        """Whether all productions can be completed."""
        return self._viable is None

    def merge(self, kept: Mapping[int, int]) -> None:
        """Take one state for another, wherever it is pushed.

        Args:
            kept: The state to take for each.
        """
        assert self._viable is None
        assert not self._splits
        self._states = {
            state: {s: kept[a] if isinstance(a, int) else a for s, a in row.items()}
            for state, row in self._states.items()
            if kept[state] == state
        }

    def _reduced(
        self, here: _Reducing, action: tuple[str, int], ready: frozenset[str]
    ) -> _Reducing | None:
        """After a rule is reduced; None if that leads nowhere."""
        origin, parts = action
        stack, pushed, _, height, lowest, idle = here
        if parts <= len(pushed):
            pushed = pushed[: len(pushed) - parts] if parts else pushed
        else:
            for _ in range(parts - len(pushed)):
                assert stack.below is not None
                stack = stack.below
            pushed = ()
        height += 1 - parts
        idle += 1
        if height < lowest:
            lowest, idle = height, 0
        state, item = top = pushed[-1] if pushed else (stack.state, stack.viable)
        target = self._states[state][origin]
        assert isinstance(target, int)
        viable = self._reached(item, origin)
        if viable is None or idle > _ENDLESS:
            return None
        if target not in self.folded or (target, viable) != top:
            pushed = (*pushed, (target, viable))
        return _Reducing(stack, pushed, ready, height, lowest, idle)

    def _reached(self, item: int, symbol: str) -> int | None:
        return 0 if self._viable is None else self._viable.goto(item, symbol)


_ONLY_END: Final = frozenset((END,))


class _Reducing(NamedTuple):
    """A stack in the middle of reductions.

    Attributes:
        stack: What is left of it.
        pushed: States on top of that, each with its viable state.
        terminals: Those that may come next.
        height: Of the whole, from where it began.
        lowest: The least height that it had.
        idle: How many reductions ago that was.
    """

    stack: Stack
    pushed: Pushed
    terminals: frozenset[str]
    height: int
    lowest: int
    idle: int

    @property
    def top(self) -> tuple[int, int]:
        """The state on top, and its viable state."""
        return self.pushed[-1] if self.pushed else (self.stack.state, self.stack.viable)
