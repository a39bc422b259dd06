"""The heads of one grammar's states: found in the terms, walked once, shared by structure.

A state is split into a head and what follows it (`HeadWalk.split`). Walks through a head that was
not measured are counted (`note_cost`); once they have cost about what measuring costs, the head is
measured, and from then on its row is at hand for every grammar of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import StateId, TermStore
from constrain.algebra.structure import Structure
from constrain.automaton.far_bounds import MAX_PARTS
from constrain.automaton.heads import DEAD_NODE, RESTS, Head, HeadRow, Walked, head_rows_of
from constrain.automaton.walker import Walker
from constrain.kernels.derive import layout as lay
from constrain.kernels.walk import LONG_WALK
from constrain.vocab import Vocabulary

__all__ = ["HeadWalk", "SplitState"]

Int32Array = npt.NDArray[np.int32]

COUNTER = lay.INFINITE - 1
"""The counter that heads are walked with: no grammar has one as large (`store.MAX_COUNT`)."""

TEXT_WORTH = LONG_WALK
"""Measure a head that is any text up to a bound once walks through it have looked at so many nodes:
other bounds and other grammars will ask for it."""
WORTH = 1 << 19
"""The same for other heads: about what measuring costs, so that it doubles the cost at most."""
MAX_BODY_STATES = 64
"""States of x in x{lo,hi} looked at; a JSON character has about ten."""


class SplitState(NamedTuple):
    """A live state, or a member of the union that it is, as a head and what follows.

    Attributes:
        state: All of it.
        head: The row of the head; None if it is to be walked with what follows.
        parts: Of the head.
        after: What follows it.
    """

    state: StateId
    head: HeadRow | None
    parts: list[StateId]
    after: StateId


class HeadWalk:
    """Splits states into heads and what follows, and finds the rows of heads.

    Called under the store's lock.

    Args:
        store: The grammar's terms.
        structure: Of the same store.
        vocab: The vocabulary.
        walker: Of the same store and vocabulary.
    """

    def __init__(
        self, store: TermStore, structure: Structure, vocab: Vocabulary, walker: Walker
    ) -> None:
        self._store = store
        self._structure = structure
        self._vocab = vocab
        self._walker = walker
        self._longest = vocab.trie.max_depth
        self._heads = head_rows_of(vocab)

    def split(self, state: StateId) -> list[SplitState] | None:
        """What a live state may begin with; None if the row of no head among that is at hand."""
        found: list[SplitState] = []
        for member in self._structure.alternatives(state):
            parts, after = self._split_one(member) or ([], member)
            head = self._row(parts) if parts else None
            if not self._store.is_empty(member):
                found.append(SplitState(member, head, parts, after))
        return found if any([one.head for one in found]) else None

    def note_cost(self, state: StateId, num_visited: int) -> None:
        """Say how many nodes a walk of a state looked at because its heads were not at hand."""
        if num_visited < LONG_WALK:
            return
        for member in self._structure.alternatives(state):
            split = self._split_one(member)
            if split is not None:
                self._note_cost_of(split[0], num_visited)

    def _split_one(self, state: StateId) -> tuple[list[StateId], StateId] | None:
        """A head worth sharing, and what follows; None if it begins with one byte: a short walk.

        It ends before the first rule, and with the first single byte, where a string is closed, or
        after some parts.
        """
        parts: list[StateId] = []
        rest = state
        for part, after in islice(self._structure.parts(state), MAX_PARTS):
            is_byte = self._structure.is_kind(part, lay.CLASS)
            if self._structure.holds_rule(part) or (is_byte and not parts):
                break
            parts.append(part)
            rest = after
            if is_byte:
                break
        return (parts, rest) if parts else None

    def _row(self, parts: list[StateId]) -> HeadRow | None:
        """The row of a head, given by its parts; None if it is to be walked with its continuation.

        Cost: digests of parts not seen before; a measurement when the walks through the head have
        cost about as much.
        """
        counter = self._structure.repeat_bounds(parts[0])
        if counter is not None:
            body, lo, hi = counter
            key = self._counted_key(body, parts[1:])
            head = self._known(
                key,
                lambda: self._worth(body, parts[1:]),
                lambda: self._measure_counted(body, parts[1:]),
            )
            if isinstance(head, Head):
                return self._heads.row(head, lo, hi)
            if head is None or head.measurable:
                return None
        head = self._known(
            self._plain_key(parts), lambda: WORTH, lambda: self._measure_plain(parts)
        )
        return self._heads.row(head, 0, 0) if isinstance(head, Head) else None

    def _known(
        self, key: bytes, worth: Callable[[], int], measure: Callable[[], Head | None]
    ) -> Head | Walked | None:
        """What is known of a head, after measuring it if the walks through it have cost enough."""
        head = self._heads.get(key)
        if isinstance(head, Walked) and head.measurable and head.num_nodes >= worth():
            measured = measure()
            shared = measured is not None and measured.is_shared
            head = measured if shared else Walked(head.num_nodes, measurable=False)
            assert head is not None
            self._heads.put(key, head)
        return head

    def _note_cost_of(self, parts: list[StateId], num_visited: int) -> None:
        """Count the nodes that a walk through a head and its continuation looked at."""
        counter = self._structure.repeat_bounds(parts[0])
        keys = [] if counter is None else [self._counted_key(counter[0], parts[1:])]
        for key in [*keys, self._plain_key(parts)]:
            known = self._heads.get(key)
            if known is None or (isinstance(known, Walked) and known.measurable):
                so_far = 0 if known is None else known.num_nodes
                self._heads.put(key, Walked(so_far + num_visited))
                return

    def _worth(self, body: StateId, rest: list[StateId]) -> int:
        """How many nodes walks must have looked at before a head with a counter is measured."""
        unbounded = self._store.repeat(body, 0, lay.INFINITE)
        is_text = self._walker.lets_text_through(self._store.concatenate([unbounded, *rest]))
        return TEXT_WORTH if is_text else WORTH

    def _measure_plain(self, parts: list[StateId]) -> Head:
        states = self._walker.states_of_nodes(self._store.concatenate(parts))
        counts = np.where(states == 0, np.int32(DEAD_NODE), np.int32(0))
        return Head(self._vocab, self._heads.places, counts, self._exits(states))

    def _measure_counted(self, body: StateId, rest: list[StateId]) -> Head | None:
        if not self._tells_its_count(body, rest):
            return None
        counter = self._store.repeat(body, 0, COUNTER)
        states = self._walker.states_of_nodes(self._store.concatenate([counter, *rest]))
        counts = np.zeros(self._store.num_terms, np.int32)
        for state in self._distinct(states):
            count = self._count(state, body)
            if count is None:
                return None
            counts[state] = count
        return Head(self._vocab, self._heads.places, counts[states], self._exits(states))

    def _tells_its_count(self, body: StateId, rest: list[StateId]) -> bool:
        """Whether each byte of x{lo,hi}·rest is known to go on x, begin another, or begin the rest.

        So if no x goes on to a longer x, and x and the rest begin with different bytes.
        """
        store = self._store
        if rest:
            first = store.next_bytes(store.concatenate(rest))
            if set(first) & set(store.next_bytes(body)):
                return False
        seen: set[StateId] = {body}
        todo = [body]
        while todo:
            for state in store.successors(todo.pop()):
                if state in seen:
                    continue
                if len(seen) >= MAX_BODY_STATES:
                    return False
                if store.nullable(state) and state != lay.EPS_ID:
                    return False
                seen.add(state)
                todo.append(state)
        return True

    def _distinct(self, states: Int32Array) -> list[StateId]:
        present = np.zeros(self._store.num_terms, np.bool_)
        present[states] = True
        return [StateId(state) for state in np.flatnonzero(present).tolist()]

    def _count(self, state: StateId, body: StateId) -> int | None:
        """How many x were begun on the way to a state; None if that cannot be told."""
        if state == lay.EMPTY_ID:
            return DEAD_NODE
        bounds = self._structure.counts_in(state, body, COUNTER - self._longest)
        if bounds is None or len(bounds) != 1:
            return None
        bound = bounds.pop()
        return RESTS if bound < 0 else COUNTER - bound

    def _exits(self, states: Int32Array) -> npt.NDArray[np.bool_]:
        """Nodes where the head may end."""
        ends = np.zeros(self._store.num_terms, np.bool_)
        for state in self._distinct(states):
            ends[state] = self._store.nullable(state)
        return ends[states]

    def _counted_key(self, body: StateId, rest: list[StateId]) -> bytes:
        return b"counted" + self._key([body, *rest])

    def _plain_key(self, parts: list[StateId]) -> bytes:
        return b"plain" + self._key(parts)

    def _key(self, parts: list[StateId]) -> bytes:
        return b"".join(map(self._structure.digest, parts))
