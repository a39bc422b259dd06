"""What items an array shape lets through, step by step, where counters watch their values.

A position is how many items there were, as far as it matters, and what each counter has seen. For
the next item the values split by the counters: in what a counter counts, or not. A counter without
upper bound needs no "not": whether to count an item for it is a free choice, which makes no text
more or less acceptable.

Where items must be distinct and can only have finitely many values, the position also has the
values used so far, and each value is a way of its own.

Arrays without counters need none of this: see `lower_array`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.expr import FALSE, Expr, Exprs
from constrain.frontends.json_schema.values import Frozen
from constrain.limits import Limits

__all__ = ["Items", "Position"]

_STEP_CHARGE: Final = 100
"""Nodes that a step of the search counts as against `max_source_nodes`."""


@dataclass(frozen=True, slots=True)
class Position:
    """Between two items.

    Attributes:
        index: How many items there were; saturated where more make no difference.
        counts: What each counter has seen; saturated likewise.
        used: Values of the items, where no two may be equal.
    """

    index: int
    counts: tuple[int, ...]
    used: frozenset[Frozen] = frozenset()


class Items:
    """The items of one array shape.

    Args:
        shape: The shape. If its items must be distinct, those that fit it can have only finitely
            many values.
        table: The expressions.
        values_of: All values of an expression, if they are few, else None.
        limits: Budgets.
    """

    def __init__(
        self,
        shape: ArrayShape,
        table: Exprs,
        values_of: Callable[[Expr], Sequence[Frozen] | None],
        limits: Limits,
    ) -> None:
        self.shape = shape
        self._values_of = values_of
        self._ends: set[Position] = set()  # positions known to lead to an end
        self._table = table
        self._limits = limits
        self._counters = sorted(shape.counters, key=lambda c: (c.expr.serial, c.start))
        starts = [c.start for c in self._counters]
        steady = max([len(shape.prefix), shape.lo, *starts])
        self._last = steady if shape.hi is None else max(steady, shape.hi)
        self._steady = max([len(shape.prefix), *starts])

    def start(self) -> Position:
        """Before the first item."""
        return Position(0, (0,) * len(self._counters))

    def complete(self, at: Position) -> bool:
        """Whether the array may end here."""
        return at.index >= self.shape.lo and self._counted(at)

    def moves(self, at: Position) -> Iterator[tuple[Expr, Position]]:
        """What the next item may be in, and the position after it. May have no value, or no end."""
        shape = self.shape
        if shape.hi is not None and at.index >= shape.hi:
            return
        cells: list[tuple[Expr, tuple[int, ...]]] = [(shape.item(at.index), ())]
        for seen, counter in zip(at.counts, self._counters, strict=True):
            watched = at.index >= counter.start and (counter.hi is not None or seen < counter.lo)
            split = []
            for expr, counts in cells:
                if not watched:
                    split.append((expr, (*counts, seen)))
                    continue
                if counter.hi is None or seen < counter.hi:
                    inside = self._table.all_of((expr, counter.expr))
                    split.append((inside, (*counts, seen + 1)))
                outside = expr
                if counter.hi is not None:
                    outside = self._table.all_of((expr, counter.expr.dual))
                split.append((outside, (*counts, seen)))
            cells = [(expr, counts) for expr, counts in split if expr is not FALSE]
        index = min(at.index + 1, self._last)
        for expr, counts in cells:
            if shape.distinct is None:
                yield expr, Position(index, counts)
                continue
            for value in self._values_of(expr) or ():
                if value not in at.used:
                    yield self._table.finite((value,)), Position(index, counts, at.used | {value})

    def can_finish(self, at: Position, has_value: Callable[[Expr], bool]) -> bool:
        """Whether items can be added so that the array may end.

        Distinct items without counters are a matching of the items that are missing with values
        not used.

        Cost: a search over positions, cut short where only more items of a harmless kind are
            missing.

        Raises:
            LimitExceededError: It passes the budget.
        """
        if self.shape.distinct is not None and not self._counters:
            return self._can_match(at)
        # First without the least number of items: one position for each count is then enough, the
        # earliest, since from the steady part on all are alike.
        found, counted = self._search(at, self._steady, has_value)
        if found or not counted or self.shape.lo <= self._steady:
            return found
        return self._search(at, self.shape.lo, has_value)[0]

    def _search(
        self, at: Position, last: int, has_value: Callable[[Expr], bool]
    ) -> tuple[bool, bool]:
        """Look for an end among the positions that items lead to.

        Args:
            at: Where to start.
            last: Of positions that differ only beyond this index the earliest is looked at.
            has_value: Whether an expression has a value.

        Returns:
            Whether there is an end, and whether the counters, at least, can be satisfied.
        """
        came_from: dict[Position, Position] = {}
        earliest = {(min(at.index, last), at.counts, at.used): at.index}
        todo = [at]
        counted = False
        while todo:
            position = todo.pop()
            counted = counted or self._counted(position)
            if position in self._ends or self._can_pad(position, has_value):
                self._ends.add(position)
                while position in came_from:
                    position = came_from[position]
                    self._ends.add(position)
                return True, True
            # Those that count come last, so that they are tried first.
            for expr, target in reversed(list(self.moves(position))):
                key = (min(target.index, last), target.counts, target.used)
                if earliest.get(key, target.index + 1) > target.index and has_value(expr):
                    earliest[key] = target.index
                    came_from[target] = position
                    todo.append(target)
            self._limits.check(
                "max_source_nodes",
                len(came_from) * _STEP_CHARGE,
                "deciding which items meet the counts of an array",
            )
        return False, counted

    def _counted(self, at: Position) -> bool:
        """Whether every counter has seen enough."""
        return all(seen >= c.lo for seen, c in zip(at.counts, self._counters, strict=True))

    def _can_match(self, at: Position) -> bool:
        """Whether the items that are missing can all have different values, none of them used."""
        owner: dict[Frozen, int] = {}
        choices = []
        for index in range(at.index, self.shape.lo):
            values = self._values_of(self.shape.item(index)) or ()
            choices.append([v for v in values if v not in at.used])
            if not _augment(len(choices) - 1, choices, owner):
                return False
        return True

    def _can_pad(self, at: Position, has_value: Callable[[Expr], bool]) -> bool:
        """Whether nothing is missing, or only items, and any number of some kind can be added."""
        if self.complete(at):
            return True
        if at.index < self._steady or not self._counted(at):
            return False
        return any(
            target.counts == at.counts and has_value(expr) for expr, target in self.moves(at)
        )


def _augment(item: int, choices: list[list[Frozen]], owner: dict[Frozen, int]) -> bool:
    """Give `item` a value, moving others to other values along a path; False if none is left.

    Source: Kuhn, "The Hungarian method for the assignment problem" (1955), for one row.
    """
    came_from: dict[int, tuple[int, Frozen]] = {}
    todo = [item]
    tried: set[Frozen] = set()
    for at in todo:
        for value in choices[at]:
            if value in tried:
                continue
            tried.add(value)
            if value in owner:
                came_from[owner[value]] = (at, value)
                todo.append(owner[value])
                continue
            while True:
                owner[value] = at
                if at == item:
                    return True
                at, value = came_from[at]
    return False
