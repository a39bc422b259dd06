"""What is pending after a lexeme, known by what it forbids.

Where a lexeme has ended, threads of preferred terminals go on (`scanner`), and each way through a
pattern leaves others. Most of them forbid the same texts:

    NAME: /(?!(?:else|end)(?![a-z]))[a-z]+/     after `e`, `el`, `f`: no letter may follow

What is pending is a state of an automaton that reads the text to come: some code points are
forbidden, after some nothing is demanded any more. So two of them are the same if the least
automata are, and the first that came stands for all.

Cost: for something pending that is new, a step for each part of the alphabet in each state that it
leads to; else a look-up.
Source: Moore (1956) for the least automaton, whose states are then numbered in the order in which
they are met.
"""

from __future__ import annotations

from typing import Final

from constrain.frontends.lark.threads import NO_DEMANDS, Demand, Machine

__all__ = ["Forbidden"]

_Pending = frozenset[Demand]
_Row = dict[_Pending | None, int]
"""The atoms that lead to what is pending then; None: that are forbidden."""

_Told = tuple[tuple[bool, tuple[tuple[int, int], ...]], ...]
"""States in the order in which they are met: whether the text may end there, and the state that
atoms lead to, but for those after which nothing is demanded."""
_NOTHING: Final[_Told] = ((True, ()),)
_FORBIDDEN: Final = -1
_MOST_STATES: Final = 200
"""Of an automaton; what is larger stands for itself."""


class Forbidden:
    """What is pending at the places of one grammar.

    Args:
        machine: Of the grammar.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._rows: dict[_Pending, _Row] = {}
        self._known: dict[tuple[_Pending, int], _Pending] = {}
        self._first: dict[tuple[_Told, int], _Pending] = {}

    def representative(self, pending: _Pending, first: int | None = None) -> _Pending:
        """What forbids the same, always the same for it.

        Args:
            pending: As `Machine.merge` makes it.
            first: The atoms that can come next, if not all.
        """
        machine = self._machine
        if machine.program.memory:  # what is forbidden depends on the text before, too
            return pending
        if first is None:
            first = machine.atoms.everything
        key = (pending, first)
        found = self._known.get(key)
        if found is None:
            found = pending
            told = self._told(pending, first)
            if told == _NOTHING:
                found = NO_DEMANDS
            elif told is not None:
                found = self._first.setdefault((told, first), pending)
            self._known[key] = found
        return found

    def _row(self, pending: _Pending) -> _Row:
        row = self._rows.get(pending)
        if row is None:
            machine = self._machine
            row = {}
            masks = machine.masks([t for demand in pending for t in demand.threads])
            for part in machine.atoms.partition(masks):
                after = machine.step_pending(pending, part, ())
                row[after] = row.get(after, 0) | part
            self._rows[pending] = row
        return row

    def _told(self, pending: _Pending, first: int) -> _Told | None:
        """The least automaton, as what is equal for equal ones; None if it is large."""
        rows: dict[_Pending, _Row] = {NO_DEMANDS: self._row(NO_DEMANDS)}
        todo = [pending]
        while todo:
            here = todo.pop()
            if here not in rows:
                rows[here] = self._row(here)
                todo += [after for after in rows[here] if after is not None]
                if len(rows) > _MOST_STATES:
                    return None
        self._machine.spend(len(rows))
        holds = {here: self._machine.holds_at_end(here) for here in rows}
        blocks: dict[_Pending | None, int] = {None: _FORBIDDEN}
        blocks |= {here: int(end) for here, end in holds.items()}
        count = 0
        while count != len(set(blocks.values())):
            count = len(set(blocks.values()))
            numbers: dict[object, int] = {}
            blocks = {None: _FORBIDDEN} | {
                here: numbers.setdefault((holds[here], *_led(row, blocks)), len(numbers))
                for here, row in rows.items()
            }
        free = blocks[NO_DEMANDS]
        led = {blocks[here]: (holds[here], _led(row, blocks)) for here, row in rows.items()}
        ends, ways = led[blocks[pending]]
        ways = [(block, mask & first) for block, mask in ways if mask & first]
        order = {free: 0, _FORBIDDEN: 1}
        met: list[int] = []
        found: list[tuple[bool, tuple[tuple[int, int], ...]]] = []
        while True:
            numbered = []
            for block, mask in sorted(ways, key=lambda way: way[1] & -way[1]):
                if block not in order:
                    order[block] = len(order)
                    met.append(block)
                if block != free:
                    numbered.append((order[block], mask))
            found.append((ends, tuple(numbered)))
            if len(found) > len(met):
                return tuple(found)
            ends, ways = led[met[len(found) - 1]]


def _led(row: _Row, blocks: dict[_Pending | None, int]) -> list[tuple[int, int]]:
    """The blocks that a row leads to, each with its atoms."""
    found: dict[int, int] = {}
    for after, mask in row.items():
        block = blocks[after]
        found[block] = found.get(block, 0) | mask
    return sorted(found.items())
