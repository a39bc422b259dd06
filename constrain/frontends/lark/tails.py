"""States of an LALR parser that leave nothing to do: calls in tail position, given up.

    unary: "-" unary | "+" unary | "(" sum ")" | NAME        - + - + (      is a stack as  (

When what stands on the state of a `-` is reduced, that `-` is reduced at once, whatever comes, and
nothing has changed for what is below. So before another state is pushed on such a state it is taken
off: a text of 100 signs needs no stack of 100 states, and `a * -(` stands where `a * (` does.

Whether the text may go on alike is not read off the grammar but off the table, whose conflicts may
have been resolved. Both stacks are run side by side, from where the pushed state is reduced:

    below, state, pushed          below, pushed

They must do the same before each terminal: fail, end, reduce into what is below, or shift with the
same stack after it. Or what they shift stands on stacks that differ as before; then that is looked
at in the same way, where it is reduced.

That needs stacks that can all be completed. Where some cannot, only a state that stands on itself
is left out (`right_recursive`).

Cost: terminals * reductions in a row for each three states that come together, once.
Source: the pairs are a bisimulation (Park, 1981); tail calls after Steele (1977).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from constrain.frontends.lark.automaton import Production
from constrain.frontends.lark.lalr import Lalr
from constrain.frontends.lark.table import END

__all__ = ["Tails", "alike", "right_recursive"]

_FAILS: Final = ("fails",)
_ENDS: Final = ("ends",)
_MOST_REDUCTIONS: Final = 100
"""In a row; more are not followed."""
_Outcome = tuple[object, ...]
_Stack = tuple[int, ...]


def right_recursive(parser: Lalr) -> frozenset[int]:
    """States that on top of themselves are as good as once: `a: X . a`, and nothing else.

    After any lexeme all of them are reduced at once, or none. So a text of 100 signs `-` needs no
    stack of 100 states.
    """
    found = set()
    for state in parser.states:
        items = parser.items.get(state, ())
        if len(items) != 1 or state not in parser.pushes(state).values():
            continue
        (((origin, expansion), at),) = items
        if at != 1 or len(expansion) != 2 or expansion[1] != origin:
            continue
        done = parser.goto(state, origin)
        assert done is not None
        if all([parser.action(done, t) == (origin, 2) for t in parser.row(done)]):
            found.add(state)
    return frozenset(found)


def alike(parser: Lalr) -> dict[int, int]:
    """For each state, one that does the same: the same rules before the same symbols.

    The coarsest partition that the table's moves keep (Moore, 1956).
    """
    fixed: dict[int, frozenset[tuple[str, object]]] = {}
    moves: dict[int, dict[str, int]] = {}
    for state in parser.states:
        moves[state] = dict(sorted(parser.pushes(state).items()))
        fixed[state] = frozenset(
            [(s, None if s in moves[state] else parser.action(state, s)) for s in parser.row(state)]
        )
    numbers: dict[object, int] = {}
    block = {
        s: numbers.setdefault(
            (fixed[s], s if s in (parser.first, parser.last) else None), len(numbers)
        )
        for s in parser.states
    }
    while True:
        count = len(numbers)
        numbers = {}
        block = {
            s: numbers.setdefault(
                (block[s], tuple([block[after] for after in each.values()])), len(numbers)
            )
            for s, each in moves.items()
        }
        if len(numbers) == count:
            break
    first: dict[int, int] = {}
    return {s: first.setdefault(number, s) for s, number in block.items()}


class Tails:
    """Of one table.

    Args:
        parser: The parser. All of its stacks can be completed. Not merged yet.
        productions: All of its grammar, that of `$root` the first.
        kept: What `alike` tells, if the table is going to be merged so.
    """

    def __init__(
        self, parser: Lalr, productions: Sequence[Production], kept: Mapping[int, int]
    ) -> None:
        self._parser = parser
        self._rules = {p.origin for p in productions}
        self._items: dict[int, set[tuple[str, int, int]]] = {}
        for state, items in parser.items.items():
            self._items.setdefault(kept.get(state, state), set()).update(
                [(p.origin, at, len(p.expansion) - at) for p, at in items]
            )
        self._known: dict[tuple[int, int, int], bool] = {}
        self._steps: dict[tuple[int, int, int, int], tuple[tuple[int, int], ...] | None] = {}

    def drops(self, below: int, state: int, pushed: int) -> bool:
        """Whether a state may be taken off before another is pushed.

        Args:
            below: What it stands on.
            state: The state.
            pushed: The other one.
        """
        key = (below, state, pushed)
        known = self._known.get(key)
        if known is None:
            last = all([left == 1 for _, _, left in self._items.get(state, ())])
            known = self._known[key] = last and self._is_same(below, state, pushed)
        return known

    def _is_same(self, below: int, state: int, pushed: int) -> bool:
        pairs: dict[tuple[int, int], None] = {}
        todo: list[tuple[int, int]] = []

        def reduce(top: int, length: int) -> bool:
            """Look at what may be reduced to pop a state, which must leave nothing above."""
            found = self._items.get(top)
            if not found or any([behind != length for _, behind, _ in found]):
                return False
            for origin, _, _ in found:
                pair = (self._parser.goto(state, origin), self._parser.goto(below, origin))
                if pair == (None, None):
                    continue
                one, other = pair
                if one is None or other is None:
                    return False
                if (one, other) not in pairs:
                    pairs[one, other] = None
                    todo.append((one, other))
            return True

        if not reduce(pushed, 1):
            return False
        while todo:
            after = self._after(below, state, *todo.pop())
            if after is None or not all([reduce(top, length) for top, length in after]):
                return False
        return True

    def _after(
        self, below: int, state: int, one: int, other: int
    ) -> tuple[tuple[int, int], ...] | None:
        """What is to be looked at where it is reduced, for two stacks to do the same.

        Returns:
            States that both shift, each with how many it stands above what differs; or None if they
            do not do the same before some terminal.
        """
        key = (below, state, one, other)
        if key not in self._steps:
            self._steps[key] = self._compare(*key)
        return self._steps[key]

    def _compare(
        self, below: int, state: int, one: int, other: int
    ) -> tuple[tuple[int, int], ...] | None:
        found: dict[tuple[int, int], None] = {}
        for terminal in {*self._parser.row(one), *self._parser.row(other)} - self._rules:
            mine = self._run(below, (state, one), terminal)
            theirs = self._run(below, (other,), terminal)
            if mine == theirs and mine:
                continue
            match mine, theirs:
                case (int(top), s, *rest), (int(as_well), *others) if top == as_well:
                    length = len(others) + 1
                    if s != state or len(rest) != len(others) or length > 2:
                        return None
                    found[top, length] = None
                case _:
                    return None
        return tuple(found)

    def _run(self, below: int, above: _Stack, terminal: str) -> _Outcome:
        """What comes of some states before a terminal; empty if that takes too long.

        Returns:
            The state that is shifted and the states under it; or the rule that is reduced into what
            is below, and how many states it takes from there; or that the text ends, or fails.
        """
        table = self._parser.table
        for _ in range(_MOST_REDUCTIONS):
            action = table[above[-1] if above else below].get(terminal)
            if action is None:
                return _FAILS
            if isinstance(action, int):
                return (action, *above)
            origin, parts = action
            if parts > len(above):
                return (origin, parts - len(above))
            above = above[: len(above) - parts]
            after = table[above[-1] if above else below].get(origin)
            if not isinstance(after, int):
                return ()
            if terminal == END and after == self._parser.last:
                return _ENDS
            above = (*above, after)
        return ()
