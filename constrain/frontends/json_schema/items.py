"""What items an array shape lets through, step by step, where it matters what they were.

A position is how many items there were, as far as it matters, what each counter has seen, and the
values that matter. For the next item the values split by the counters: in what a counter counts, or
not. A small counter without upper bound needs no "not": whether to count an item for it is a free
choice, which makes no text more or less acceptable.

Items must differ: a position has the values so far. Where an item can have only a few values, each
is a way of its own; else its value is *captured*, and no later item may have it.

Some two items must be equal: a way through the array chooses the item that will come again, and
captures it.

Arrays that ask for none of this: see `lower_array`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.counts import Count
from constrain.frontends.json_schema.expr import FALSE, Expr, Exprs
from constrain.frontends.json_schema.values import Frozen
from constrain.limits import Limits

__all__ = ["Items", "Move", "Position"]

Ask = Callable[[Expr], bool]

_STEP_CHARGE: Final = 100
"""Nodes that a step of the search counts as against `max_source_nodes`."""

_MOST_FREE: Final = 8
"""Items to be counted that may also go uncounted. Each is a state that a text is in at once."""

_MOST_ENDS: Final = 20_000
"""Positions that are remembered to lead to an end."""


class Position(NamedTuple):
    """Between two items.

    Attributes:
        past: How many items there were; saturated where more make no difference.
        counts: What each counter has seen; saturated likewise.
        used: Values of the items, where no two may be equal.
        twin: Where two items must be equal, what the second one is in, once the first one has come.
        repeated: Both have.
    """

    past: int
    counts: tuple[int, ...]
    used: frozenset[Frozen] = frozenset()
    twin: Expr | None = None
    repeated: bool = False


class Move(NamedTuple):
    """The next item.

    Attributes:
        expr: What it is in. May have no value.
        after: The position after it; without its value, if that is captured.
        captured: Its value becomes one of those used, or the one to come again.
    """

    expr: Expr
    after: Position
    captured: bool = False


class Items:
    """The items of one array shape.

    Args:
        shape: The shape.
        table: The expressions.
        values_of: All values of an expression, if they are few, else None.
        count: How many values an expression has, up to a number, as far as it is known.
        limits: Budgets.
    """

    def __init__(
        self,
        shape: ArrayShape,
        table: Exprs,
        values_of: Callable[[Expr], Sequence[Frozen] | None],
        count: Callable[[Expr, int, Ask], Count],
        limits: Limits,
    ) -> None:
        self.shape = shape
        self._values_of = values_of
        self._count_values = count
        self._counted_values: dict[tuple[Expr, int], Count] = {}
        self._ends: set[Position] = set()  # positions known to lead to an end
        self._table = table
        self._limits = limits
        self._counters = sorted(shape.counters, key=lambda c: (c.expr.serial, c.start))
        starts = [c.start for c in self._counters]
        self._steady = max([len(shape.prefix), *starts])
        steady = max(self._steady, shape.lo)
        self._last = steady if shape.hi is None else max(steady, shape.hi)

    def start(self) -> Position:
        """Before the first item."""
        return Position(0, (0,) * len(self._counters))

    def complete(self, at: Position) -> bool:
        """Whether the array may end here."""
        if self.shape.distinct is False and not at.repeated:
            return False
        return at.past >= self.shape.lo and self._counted(at)

    def moves(self, at: Position, has_value: Ask) -> Iterator[Move]:
        """The ways in which the next item may come. Some may have no value, or lead to no end."""
        shape = self.shape
        if shape.hi is not None and at.past >= shape.hi:
            return
        past = min(at.past + 1, self._last)
        for expr, counts in self._cells(at):
            if shape.distinct is None:
                yield Move(expr, Position(past, counts))
            elif shape.distinct:
                yield from self._different(expr, Position(past, counts, at.used), has_value)
            else:
                after = at._replace(past=past, counts=counts)
                yield Move(expr, after)
                for same, then in self._equal(expr, after):
                    if at.twin is not None:
                        yield Move(same, then)
                        continue
                    again = self._table.any_of(self._can_come_again(after, has_value))
                    twice = self._table.all_of((same, again))
                    yield Move(twice, then._replace(twin=twice), captured=True)

    def with_value(self, move: Move, value: Frozen) -> Position:
        """The position after an item that was captured."""
        if self.shape.distinct:
            return move.after._replace(used=move.after.used | {value})
        return move.after._replace(twin=self._table.finite((value,)))

    def _cells(self, at: Position) -> list[tuple[Expr, tuple[int, ...]]]:
        """What the next item may be in, split by what the counters say of it."""
        cells: list[tuple[Expr, tuple[int, ...]]] = [(self.shape.item(at.past), ())]
        for seen, counter in zip(at.counts, self._counters, strict=True):
            watched = at.past >= counter.start and (counter.hi is not None or seen < counter.lo)
            split = []
            for expr, counts in cells:
                if not watched:
                    split.append((expr, (*counts, seen)))
                    continue
                if counter.hi is None or seen < counter.hi:
                    inside = self._table.all_of((expr, counter.expr))
                    split.append((inside, (*counts, seen + 1)))
                outside = expr
                if counter.hi is not None or counter.lo > _MOST_FREE:
                    outside = self._table.all_of((expr, counter.expr.dual))
                split.append((outside, (*counts, seen)))
            cells = [(expr, counts) for expr, counts in split if expr is not FALSE]
        return cells

    def _different(self, expr: Expr, after: Position, has_value: Ask) -> Iterator[Move]:
        """An item that differs from those used."""
        values = self._values_of(expr)
        if values is not None:
            for value in values:
                if value not in after.used:
                    used = after._replace(used=after.used | {value})
                    yield Move(self._table.finite((value,)), used)
            return
        # A value that another item can do without less well than this one is not for this one.
        spoilt = [
            value
            for value in self._listed_from(after.past)
            if value not in after.used
            and not self.can_finish(after._replace(used=after.used | {value}), has_value)
        ]
        if spoilt:
            expr = self._table.all_of((expr, self._table.finite(spoilt).dual))
        yield Move(expr, after, captured=True)

    def _listed_from(self, index: int) -> list[Frozen]:
        """The values of items still needed that can only have few."""
        found: dict[Frozen, None] = {}
        stop = self._steady + 1 if self._counters else self.shape.lo
        for i in range(min(index, self._steady), stop):
            for expr, _ in self._cells(self.start()._replace(past=i)):
                found.update(dict.fromkeys(self._values_of(expr) or ()))
            if i >= self._steady:
                break
        return list(found)

    def _equal(self, expr: Expr, after: Position) -> list[tuple[Expr, Position]]:
        """An item as the first or the second of two equal ones, if those have not come yet."""
        if after.repeated:
            return []
        if after.twin is None:
            return [(expr, after._replace(twin=expr))]
        return [(self._table.all_of((expr, after.twin)), after._replace(twin=None, repeated=True))]

    def _can_come_again(self, start: Position, has_value: Ask) -> list[Expr]:
        """What an item that is equal to an earlier one can be in, from a position on."""
        found = []
        seen = {start}
        todo = [start]
        for at in todo:
            for move in self._plain_moves(at):
                if not has_value(move.expr):
                    continue
                alike = move.after._replace(past=min(move.after.past, self._steady))
                if alike not in seen:
                    seen.add(alike)
                    todo.append(move.after)
                if self.can_finish(move.after._replace(repeated=True), has_value):
                    found.append(move.expr)
            self._limits.check(
                "max_source_nodes",
                len(todo) * _STEP_CHARGE,
                "deciding which items of an array can be equal",
            )
        return found

    def _plain_moves(self, at: Position) -> list[Move]:
        """The next item, where it is not compared."""
        if self.shape.hi is not None and at.past >= self.shape.hi:
            return []
        past = min(at.past + 1, self._last)
        return [
            Move(expr, at._replace(past=past, counts=counts)) for expr, counts in self._cells(at)
        ]

    def can_finish(self, at: Position, has_value: Ask) -> bool:
        """Whether items can be added so that the array may end.

        May say no of different items that cannot all be counted, see `is_exact`.

        Cost: different items without counters are a matching of the items that are missing with
            values not used; else a search over positions, cut short where only more items of a
            harmless kind are missing.

        Raises:
            LimitExceededError: It passes the budget.
        """
        if self.shape.distinct and not self._counters:
            return self._can_match(at, has_value)
        # First without the least number of items: one position for each count is then enough, the
        # earliest, since from the steady part on all are alike.
        found, counted = self._search(at, self._steady, has_value)
        if found or not counted or self.shape.lo <= self._steady:
            return found
        return self._search(at, self.shape.lo, has_value)[0]

    def goes_on(self, move: Move, has_value: Ask) -> bool:
        """Whether, whatever value is captured, some item may follow."""
        if self.shape.distinct is False:
            return True
        used = len(move.after.used) + 1 + len(self._listed_from(move.after.past))
        return any(
            self.can_finish(following.after, has_value)
            for following in self.moves(move.after, has_value)
            if following.captured
            and has_value(following.expr)
            and self._count(following.expr, used + 1, has_value).least > used
        )

    def is_exact(self, has_value: Ask) -> bool:
        """Whether `can_finish` never says no of what can be finished."""
        shape = self.shape
        if not shape.distinct:
            return True
        needed = self._needed()
        exprs = {shape.item(i) for i in range(min(needed, len(shape.prefix) + 1))}
        if self._counters:
            for i in range(len(shape.prefix) + 1):
                exprs.update([expr for expr, _ in self._cells(self.start()._replace(past=i))])
        counts = [
            self._count(expr, needed, has_value)
            for expr in exprs
            if self._values_of(expr) is None and has_value(expr)
        ]
        if all(count.least >= needed for count in counts):
            return True
        return len(exprs) == 1 and not self._counters and all(count.exact for count in counts)

    def _count(self, expr: Expr, most: int, has_value: Ask) -> Count:
        """How many values an expression has, up to `most`; counted anew as `most` doubles."""
        asked = max(64, 1 << (most - 1).bit_length())
        found = self._counted_values.get((expr, asked))
        if found is None:
            found = self._count_values(expr, asked, has_value)
            if found.least >= asked:  # else it may be that not all is known yet
                self._counted_values[expr, asked] = found
        return Count(min(found.least, most), found.exact or found.least >= most)

    def _needed(self) -> int:
        """So many values are enough for any item to differ from all others that must be there."""
        if not self._counters:
            return self.shape.lo
        return max(self.shape.lo, self._steady) + sum([c.lo for c in self._counters])

    def _search(self, at: Position, last: int, has_value: Ask) -> tuple[bool, bool]:
        """Look for an end among the positions that items lead to.

        Args:
            at: Where to start.
            last: Of positions that differ only beyond this index the earliest is looked at.
            has_value: Whether an expression has a value.

        Returns:
            Whether there is an end, and whether the counters, at least, can be satisfied.
        """
        came_from: dict[Position, Position] = {}
        earliest = {at._replace(past=min(at.past, last)): at.past}
        todo = [at]
        counted = False
        while todo:
            position = todo.pop()
            counted = counted or self._counted(position)
            if position in self._ends or self._can_pad(position, has_value):
                if len(self._ends) > _MOST_ENDS:
                    self._ends.clear()
                self._ends.add(position)
                while position in came_from:
                    position = came_from[position]
                    self._ends.add(position)
                return True, True
            # Those that count come last, so that they are tried first.
            for expr, target in reversed(self._steps(position, has_value)):
                key = target._replace(past=min(target.past, last))
                if earliest.get(key, target.past + 1) > target.past and has_value(expr):
                    earliest[key] = target.past
                    came_from[target] = position
                    todo.append(target)
            self._limits.check(
                "max_source_nodes",
                len(came_from) * _STEP_CHARGE,
                "deciding which items meet the counts of an array",
            )
        return False, counted

    def _steps(self, at: Position, has_value: Ask) -> list[tuple[Expr, Position]]:
        """`moves`, where values do not matter that are too many to list."""
        found = []
        for expr, after, _ in self._plain_moves(at):
            if not self.shape.distinct:
                found.append((expr, after))
                if self.shape.distinct is False:
                    found += self._equal(expr, after)
                continue
            values = self._values_of(expr)
            if values is not None:
                found += [
                    (self._table.finite((v,)), after._replace(used=at.used | {v}))
                    for v in values
                    if v not in at.used
                ]
            elif self._count(expr, self._needed(), has_value).least >= self._needed():
                found.append((expr, after))
        return found

    def _counted(self, at: Position) -> bool:
        """Whether every counter has seen enough."""
        return all(seen >= c.lo for seen, c in zip(at.counts, self._counters, strict=True))

    def _can_match(self, at: Position, has_value: Ask) -> bool:
        """Whether the items that are missing can all have different values, none of them used."""
        owner: dict[Frozen, int] = {}
        choices: list[list[Frozen]] = []
        enough: dict[Expr, bool] = {}
        for index in range(at.past, self.shape.lo):
            expr = self.shape.item(index)
            values = self._values_of(expr)
            if values is None:
                if expr not in enough:
                    least = self._count(expr, self.shape.lo, has_value).least
                    enough[expr] = has_value(expr) and least >= self.shape.lo
                if not enough[expr]:
                    return False
                if index >= len(self.shape.prefix):
                    break
                continue
            choices.append([v for v in values if v not in at.used])
            if not _augment(len(choices) - 1, choices, owner):
                return False
        return True

    def _can_pad(self, at: Position, has_value: Ask) -> bool:
        """Whether nothing is missing, or only items, and any number of some kind can be added."""
        if self.complete(at):
            return True
        if at.past < self._steady or not self._counted(at):
            return False
        if self.shape.distinct or (self.shape.distinct is False and not at.repeated):
            return False
        return any(
            move.after.counts == at.counts and has_value(move.expr)
            for move in self._plain_moves(at)
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
