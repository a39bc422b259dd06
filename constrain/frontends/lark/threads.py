"""Running programs over a text that is not there yet: lists of threads.

A *thread* is an address that reads a code point (or has matched) and what lookaheads demand of the
text to come. A thread list is in the order of preference. When a thread of the list matches, those
behind it are cut off; those before it go on, and if one of them matches later, that match is the
one that `re` takes.

A *demand* is (negative, threads): one of the threads must complete on what comes, or none may.
When a match itself waits for a demand, those behind it go on under the opposite demand.

Cost: a step is O(threads + instructions between two code points).
Source: Cox, "Regular expression matching: the virtual machine approach" (2009), where threads run
over a given text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from constrain.frontends.lark.alphabet import Atoms
from constrain.frontends.lark.program import Behind, Char, Fork, Loop, Match, Peek, Program
from constrain.frontends.regex.nodes import (
    EMPTY_TEXT,
    Alternation,
    Chars,
    Concat,
    RegexNode,
    Repeat,
)
from constrain.limits import Limits

__all__ = ["NO_DEMANDS", "Demand", "Left", "Machine", "Thread"]

Left = tuple[int, ...]
"""The last code points, each as all that no lookbehind tells from it; fewer at the start."""


class Demand(NamedTuple):
    """What a lookahead asks of the text to come.

    Attributes:
        negative: None of the threads may complete, else one must.
        threads: Where its body may be.
    """

    negative: bool
    threads: frozenset[Thread]


class Thread(NamedTuple):
    """A place in a program, and the demands under which it is there."""

    address: int
    demands: frozenset[Demand]


NO_DEMANDS: Final[frozenset[Demand]] = frozenset()


def _without_implied(thread: Thread, forbidden: frozenset[Thread]) -> Thread:
    """A thread without what it demands where none of some threads may complete."""
    if not thread.demands:
        return thread
    return Thread(
        thread.address,
        frozenset([d for d in thread.demands if not d.negative or not d.threads <= forbidden]),
    )


class Machine:
    """Steps of threads. Remembers nothing about a text; `spent` counts the work."""

    def __init__(self, program: Program, limits: Limits) -> None:
        self.program = program
        self.atoms = Atoms([*program.sets, *program.behind_sets])
        self.behind_masks = [self.atoms.mask(p) for p in program.behind_sets]
        self._remembered = self.atoms.partition(self.behind_masks)
        self._limits = limits
        self._spent = 0
        self._masks = [
            self.atoms.mask(i.points) if isinstance(i, Char) else 0 for i in program.code
        ]
        self._behind: dict[tuple[RegexNode, Left], bool] = {}
        self._closures: dict[tuple[int, Left], tuple[Thread, ...]] = {}
        self._ended: dict[frozenset[Demand], bool] = {}
        self._at_once: dict[int, bool] = {}
        self._closed: dict[tuple[frozenset[Demand], Left], bool] = {}

    def name(self, thread: Thread) -> str | None:
        """The terminal that a thread has matched, demands aside, or None."""
        instruction = self.program.code[thread.address]
        return instruction.name if isinstance(instruction, Match) else None

    def completed(self, thread: Thread) -> bool:
        """Whether a thread has matched, demands aside."""
        return isinstance(self.program.code[thread.address], Match)

    def merge(self, pending: Iterable[Demand]) -> frozenset[Demand]:
        """Demands that hold together, in a form of their own: at most one is negative.

        Threads whose first code point another thread completes with are left out: both forbid it.
        A thread that counts only if others fail, which are forbidden as well, counts at once.
        """
        kept = {d for d in pending if not d.negative}
        threads = frozenset().union(*[d.threads for d in pending if d.negative])
        threads = frozenset([_without_implied(t, threads) for t in threads])
        at_once = 0
        for thread in threads:
            if not thread.demands and self._completes_at_once(thread.address):
                at_once |= self._masks[thread.address]
        if at_once:
            threads = frozenset(
                [
                    t
                    for t in threads
                    if self.completed(t)
                    or self._masks[t.address] & ~at_once
                    or (not t.demands and self._completes_at_once(t.address))
                ]
            )
        return frozenset(kept | {Demand(True, threads)}) if threads else frozenset(kept)

    def begun(self, threads: Iterable[Thread], atoms: int) -> frozenset[Thread]:
        """The threads that one of some code points takes on, and those that have completed."""
        return frozenset(
            [t for t in threads if self._masks[t.address] & atoms or self.completed(t)]
        )

    def _completes_at_once(self, address: int) -> bool:
        """Whether a thread has matched after one code point, whatever was before and comes."""
        known = self._at_once.get(address)
        if known is None:
            instruction = self.program.code[address]
            known = False
            if isinstance(instruction, Char) and not self.program.memory:
                known = any(
                    [self.completed(t) and not t.demands for t in self.begin(instruction.then, ())]
                )
            self._at_once[address] = known
        return known

    def step_pending(
        self, pending: frozenset[Demand], atom: int, left: Left
    ) -> frozenset[Demand] | None:
        """What is still demanded after a code point; None if it is forbidden.

        Args:
            pending: As `merge` makes them.
            atom: The code point, as a set of atoms that none of the threads tells apart.
            left: The memory after it.
        """
        after = self._step_demands(pending, atom, left)
        return self.merge(after) if after else after

    def forbids_all(self, pending: frozenset[Demand], left: Left) -> bool:
        """Whether no code point may come, so that the text can only end."""
        if not pending:
            return False
        key = (pending, left)
        known = self._closed.get(key)
        if known is None:
            threads = [t for d in pending for t in d.threads]
            parts = self.atoms.partition([*self.masks(threads), *self.behind_masks])
            known = self._closed[key] = all(
                [self.step_pending(pending, p, self.remember(left, p)) is None for p in parts]
            )
        return known

    def holds_at_end(self, pending: frozenset[Demand]) -> bool:
        """Whether demands hold where the text ends."""
        known = self._ended.get(pending)
        if known is None:
            known = self._ended[pending] = self._hold_at_end(pending)
        return known

    def _hold_at_end(self, pending: Iterable[Demand]) -> bool:
        return all(d.negative != any(self._ends_here(t) for t in d.threads) for d in pending)

    def _ends_here(self, thread: Thread) -> bool:
        """Whether a thread completes where the text ends."""
        return self.completed(thread) and self._hold_at_end(thread.demands)

    def spend(self, steps: int) -> None:
        """Count work.

        Raises:
            LimitExceededError: It is more than `max_source_nodes`.
        """
        self._spent += steps
        self._limits.check("max_source_nodes", self._spent, "the lexer of a grammar")

    def remember(self, left: Left, atom: int) -> Left:
        """The memory after a code point."""
        memory = self.program.memory
        if not memory:
            return ()
        (part,) = [p for p in self._remembered if p & atom]
        return (*left, part)[-memory:]

    def begin(self, address: int, left: Left) -> tuple[Thread, ...]:
        """The threads from an address on, in order, before a code point is read."""
        key = (address, left)
        known = self._closures.get(key)
        if known is None:
            known = self._closures[key] = tuple(self._closure(address, NO_DEMANDS, left))
        return known

    def _closure(self, address: int, demands: frozenset[Demand], left: Left) -> list[Thread]:
        code = self.program.code
        found: dict[Thread, None] = {}
        seen: set[tuple[int, frozenset[Demand], frozenset[int]]] = set()
        todo: list[tuple[int, frozenset[Demand], frozenset[int]]] = [
            (address, demands, frozenset())
        ]
        while todo:
            item = todo.pop()
            if item in seen:
                continue
            seen.add(item)
            at, demands, idle = item
            instruction = code[at]
            if isinstance(instruction, (Char, Match)):
                found[Thread(at, demands)] = None
            elif isinstance(instruction, Fork):
                todo += [(way, demands, idle) for way in reversed(instruction.ways)]
            elif isinstance(instruction, Loop):
                if at in idle:  # the last round read nothing
                    todo.append((instruction.then, demands, idle - {at}))
                else:
                    ways = [(instruction.body, demands, idle | {at})]
                    ways.append((instruction.then, demands, idle))
                    todo += ways if instruction.lazy else reversed(ways)
            elif isinstance(instruction, Behind):
                if self._is_behind(instruction, left) != instruction.negative:
                    todo.append((instruction.then, demands, idle))
            else:
                more = self._peek(instruction, demands, left)
                if more is not None:
                    todo.append((instruction.then, more, idle))
        self.spend(len(seen))
        return list(found)

    def _peek(
        self, instruction: Peek, demands: frozenset[Demand], left: Left
    ) -> frozenset[Demand] | None:
        """The demands with that of a lookahead; None if it fails here already."""
        threads = frozenset(self.begin(instruction.body, left))
        return self._settle(demands, instruction.negative, threads)

    def _settle(
        self, demands: frozenset[Demand], negative: bool, threads: frozenset[Thread]
    ) -> frozenset[Demand] | None:
        if any([self.completed(t) and not t.demands for t in threads]):
            return None if negative else demands
        if not threads:
            return demands if negative else None
        return demands | {Demand(negative, threads)}

    def _is_behind(self, instruction: Behind, left: Left) -> bool:
        if len(left) < instruction.width:
            return False
        last = left[len(left) - instruction.width :]
        key = (instruction.body, last)
        known = self._behind.get(key)
        if known is None:
            ends = self._ends(instruction.body, last, frozenset({0}))
            known = self._behind[key] = len(last) in ends
        return known

    def _ends(self, node: RegexNode, text: Left, starts: frozenset[int]) -> frozenset[int]:
        """Where matches of a node end that begin at `starts`. Recurses: `re` bounds the width."""
        if isinstance(node, Chars):
            mask = self.atoms.mask(node.points)
            return frozenset([s + 1 for s in starts if s < len(text) and text[s] & mask])
        if isinstance(node, Concat):
            for part in node.parts:
                starts = self._ends(part, text, starts)
            return starts
        if isinstance(node, Alternation):
            return frozenset().union(*[self._ends(m, text, starts) for m in node.members])
        if isinstance(node, Repeat):
            assert node.hi == node.lo or node.max_width == 0, "a width that is not fixed"
            for _ in range(node.lo):
                starts = self._ends(node.body, text, starts)
            return starts
        assert node is EMPTY_TEXT, node
        return starts

    def masks(self, threads: Iterable[Thread]) -> list[int]:
        """Every set of atoms that a step of these threads asks about."""
        found: dict[int, None] = {}
        todo = list(threads)
        while todo:
            thread = todo.pop()
            mask = self._masks[thread.address]
            if mask:
                found[mask] = None
            for demand in thread.demands:
                todo += demand.threads
        return list(found)

    def step(self, threads: Iterable[Thread], atom: int, left: Left) -> list[Thread]:
        """The threads after a code point, in order, each once.

        Args:
            threads: Those before it. Matches without demands are dropped: they are over.
            atom: The code point, as a set of atoms that none of the threads tells apart.
            left: The memory after it.
        """
        found: dict[Thread, None] = {}
        for thread in threads:
            instruction = self.program.code[thread.address]
            if isinstance(instruction, Char):
                if not self._masks[thread.address] & atom:
                    continue
            elif not thread.demands:
                continue
            demands = self._step_demands(thread.demands, atom, left)
            if demands is None:
                continue
            if not isinstance(instruction, Char):
                found[Thread(thread.address, demands)] = None
            elif demands:
                found.update(dict.fromkeys(self._closure(instruction.then, demands, left)))
            else:
                found.update(dict.fromkeys(self.begin(instruction.then, left)))
        self.spend(len(found) + 1)
        return list(found)

    def _step_demands(
        self, demands: frozenset[Demand], atom: int, left: Left
    ) -> frozenset[Demand] | None:
        after: frozenset[Demand] | None = NO_DEMANDS
        for demand in demands:
            assert after is not None
            threads = frozenset(self.step(demand.threads, atom, left))
            after = self._settle(after, demand.negative, threads)
            if after is None:
                return None
        return after
