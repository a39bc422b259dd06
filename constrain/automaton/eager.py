"""Rows made before any sequence asks for them: `compile(eager=True)`.

The states that most texts come to are visited first. How many come to a state is guessed: as many
as to the one before it, shared among the ways on.

    {"name": "J    on from here: the rest of the string, and at once what stands after it

- What stands after a part of a state (a string, a number, a key, all of a rule) has the whole
  weight of the state: whatever the part says, texts get there. It is read off the term.
- A byte of a name that must come has it too.
- Other bytes share it, and those that stay in the same part (an escape, one more digit, a line
  break) get little: their rows cost little once those of their part are there.

With rows comes what rows share (bodies of rules, heads of strings, steps of the automaton), so that
states not visited are cheaper too if their parts were.

What cannot be made ahead: states that depend on a text of which there is no end, such as the keys
an object has had so far, or the depth of nesting. Of those that differ only in the text being
captured one stands for all.

Alternatives considered: by tokens (100,000 ways on from a string, most to the same state); by depth
(one string, to its last character, before the next property); by breadth, byte by byte (20,000
states of white space, digits and nested arrays, and no second key of a Kubernetes object yet).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from itertools import chain

from constrain.algebra.store import DEAD, StateId, TermStore
from constrain.algebra.structure import Structure
from constrain.automaton.masks import MaskRows
from constrain.errors import LimitExceededError
from constrain.kernels.derive import layout as lay

__all__ = ["explore"]

DETOUR = 1 / 16
"""Of the weight of a way that stays in the same part. 1/4 and 1 leave more masks over 100 us."""
MAX_PARTS = 64
"""Members of unions that are looked into for what stands after them; bytes lead to the others."""


def explore(
    store: TermStore, rows: MaskRows, start: StateId, *, num_states: int, max_terms: int
) -> bool:
    """Make the rows of states that can be reached from one.

    What a state costs, its row or a step from it, that goes past the limits is left to whoever
    visits it.

    Args:
        store: The terms of a grammar. Its lock is held for one state at a time.
        rows: Of the same grammar.
        start: A live state.
        num_states: How many states to visit at most.
        max_terms: Terms in the store at which to stop.

    Returns:
        Whether these are all states there are: each mask from now on is a copy, as long as its row
        is remembered. Never where a text is captured, or tokens are named or counted.

    Cost: 60 us a state (151,936 ids), a vocabulary's first strings some milliseconds each.
    """
    ways = _Ways(store)
    todo = _Todo(store)
    todo.put(start, 1.0)
    whole = True
    while todo:
        if num_states <= 0 or store.num_terms > max_terms:
            return False
        num_states -= 1
        with store.lock:
            state, weight = todo.take()
            try:
                rows.make(state)
            except LimitExceededError:
                whole = False
            whole &= not (store.is_bytewise(state) or store.names_tokens or store.counts_tokens)
            for lead in (ways.past_parts, ways.by_bytes):
                try:
                    for after, share in lead(state):
                        todo.put(after, weight * share)
                except LimitExceededError:
                    whole = False
    return whole


class _Todo:
    """States to visit, those of most weight first, then in the order found; each once.

    Of states that differ only in the texts that they capture one stands for all.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._heap: list[tuple[float, int, StateId]] = []
        self._weights: dict[StateId, float] = {}
        """Of blurred states; infinite once they are taken."""
        self._blurred: dict[StateId, StateId] = {}

    def __bool__(self) -> bool:
        return bool(self._heap)

    def put(self, state: StateId, weight: float) -> None:
        """Add a state; one that is there keeps the larger of its weights."""
        blurred = self._blurred.get(state)
        if blurred is None:
            blurred = self._blurred[state] = self._store.blur(state)
        if weight > self._weights.get(blurred, 0.0):
            self._weights[blurred] = weight
            heapq.heappush(self._heap, (-weight, len(self._weights), state))

    def take(self) -> tuple[StateId, float]:
        """The next state, and its weight."""
        weight, _, state = heapq.heappop(self._heap)
        self._weights[self._blurred[state]] = math.inf
        while self._heap and self._weights[self._blurred[self._heap[0][2]]] == math.inf:
            heapq.heappop(self._heap)
        return state, -weight


class _Ways:
    """The live states that texts go on to from a live state, each with its share of them.

    Called under the store's lock.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._structure = Structure(store)
        self._rules: dict[StateId, StateId | None] = {StateId(lay.EPS_ID): None}

    def by_bytes(self, state: StateId) -> Iterator[tuple[StateId, float]]:
        """States after a byte, or a token as a whole, but for the state itself."""
        store = self._store
        near = store.states_after_one_byte(state)
        near += [store.after_token(state, code) for code in store.tokens_named]
        others = [s for s in dict.fromkeys(near) if s not in (state, DEAD)]
        ahead = {self._rule(part) for part, _ in self._parts(state)}
        for after in others:
            stays = len(others) > 1 and ahead.issuperset(
                map(self._rule, self._structure.alternatives(after))
            )
            yield after, (DETOUR if stays else 1.0) / len(others)

    def past_parts(self, state: StateId) -> Iterator[tuple[StateId, float]]:
        """What stands after a part of a state, and what follows a single byte that is one."""
        ways = [self._past(state, part, rest) for part, rest in self._parts(state)]
        share = 1 / max(1, sum(map(bool, ways)))
        for after in chain.from_iterable(ways):
            yield after, share

    def _past(self, state: StateId, part: StateId, rest: tuple[StateId, ...]) -> list[StateId]:
        store = self._store
        found = []
        head, tail = next(self._structure.parts(part))
        byte = self._structure.single_byte(head)
        if byte is not None:
            found.append(store.advance(state, bytes((byte,))))
        to = self._rule(tail if self._structure.is_kind(head, lay.RULE) else part)
        if to != part:  # else it is a repeat of rules, or a text captured: its bytes tell
            left = [s for s in (to, *rest) if s is not None and s != lay.EPS_ID]
            if left and not any(map(store.is_blurred, left)):
                found.append(store.concatenate(left) if len(left) > 1 else left[0])
        return [after for after in found if not store.is_empty(after)]

    def _parts(self, state: StateId) -> list[tuple[StateId, tuple[StateId, ...]]]:
        """The members of a union, and of unions they begin with, each with what stands after it."""
        found: list[tuple[StateId, tuple[StateId, ...]]] = []
        todo: list[tuple[StateId, tuple[StateId, ...]]] = [(state, ())]
        for part, rest in todo:
            if self._structure.is_kind(part, lay.ALT):
                todo += [(member, rest) for member in self._structure.members(part)]
                continue
            head, tail = next(self._structure.parts(part))
            if self._structure.is_kind(head, lay.ALT) and self._structure.holds_rule(head):
                todo.append((head, (tail, *rest)))
            elif len(found) < MAX_PARTS:
                found.append((part, rest))
        return found

    def _rule(self, state: StateId) -> StateId | None:
        """What is left of a state where its first rule stands; None if there is none."""
        passed = []
        now = state
        while now not in self._rules:
            passed.append(now)
            head, tail = next(self._structure.parts(now))
            if self._structure.holds_rule(head):
                self._rules[now] = now
            else:
                now = tail
        found = self._rules[now]
        self._rules.update(dict.fromkeys(passed, found))
        return found
