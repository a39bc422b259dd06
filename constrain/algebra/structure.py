"""What a state is made of: its parts in order, and a digest that is the same in every store.

State ids mean something in one store only. To share what was worked out for a term between
grammars, ask for the digest of its structure.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

from constrain.algebra.store import StateId, TermStore
from constrain.kernels.derive import layout as lay

__all__ = ["Structure"]

_PLAIN_KINDS = frozenset(
    (lay.EMPTY, lay.EPS, lay.CLASS, lay.CAT, lay.ALT, lay.REPEAT, lay.AND, lay.NOT)
)


class Structure:
    """Reads the terms of one store. Called under its lock."""

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._digests: dict[int, bytes] = {}

    @property
    def nbytes(self) -> int:
        """Bytes of what is remembered, about."""
        return 150 * len(self._digests)

    def kind(self, state: StateId) -> int:
        """The kind of a state's node (`kernels.derive.layout`)."""
        return int(self._store.arena[lay.NODE * state + lay.KIND])

    def is_kind(self, state: StateId, kind: int) -> bool:
        """Whether a state is a node of this kind."""
        return self.kind(state) == kind

    def members(self, state: StateId) -> list[StateId]:
        """The members of a union or intersection, the state itself if it is neither."""
        kind, at, count, _ = self._fields(state)
        if kind not in (lay.ALT, lay.AND):
            return [state]
        pool = int(self._store.arena[lay.POOL])
        return [StateId(m) for m in self._store.arena[pool + at : pool + at + count].tolist()]

    def alternatives(self, state: StateId) -> list[StateId]:
        """The members of a union, the state itself if it is none."""
        return self.members(state) if self.is_kind(state, lay.ALT) else [state]

    def parts(self, state: StateId) -> Iterator[tuple[StateId, StateId]]:
        """The parts of a concatenation in order, each with the state of what follows it."""
        while True:
            kind, head, tail, _ = self._fields(state)
            if kind != lay.CAT:
                yield state, StateId(lay.EPS_ID)
                return
            yield StateId(head), StateId(tail)
            state = StateId(tail)

    def flags(self, state: StateId) -> int:
        """The flags of a state's node."""
        return int(self._store.arena[lay.NODE * state + lay.FLAGS])

    def holds_rule(self, state: StateId) -> bool:
        """Whether a rule stands somewhere in a state: it means something in its grammar only."""
        return bool(self.flags(state) & lay.RULEFUL)

    def repeat_bounds(self, state: StateId) -> tuple[StateId, int, int] | None:
        """Body, lo and hi (`INFINITE` without bound) of a repeat; None for another kind."""
        kind, body, lo, hi = self._fields(state)
        return (StateId(body), lo, hi) if kind == lay.REPEAT else None

    def single_byte(self, state: StateId) -> int | None:
        """The only byte of a class of bytes; None if it has more, and for another kind."""
        if not self.is_kind(state, lay.CLASS):
            return None
        bits = self.byte_set(state)
        return bits.bit_length() - 1 if bits.bit_count() == 1 else None

    def byte_set(self, state: StateId) -> int:
        """The bytes of a class of bytes, a bit each."""
        at = int(self._store.arena[lay.CLASSES]) + self._fields(state)[1] * lay.CLASS_WORDS
        words = self._store.arena[at : at + lay.CLASS_WORDS].astype("<i4")
        return int.from_bytes(words.tobytes(), "little")

    def counts_in(self, root: StateId, body: StateId, least: int) -> set[int] | None:
        """Bounds hi >= least of the counters of `body` that a state is inside.

        One for each alternative; -1 for one that is inside none. None if such a counter stands
        elsewhere than among the parts of a concatenation, so that it cannot be told.
        """
        found: set[int] = set()
        for member in self.alternatives(root):
            parts = [part for part, _ in self.parts(member)]
            inside = [
                hi
                for bounds in map(self.repeat_bounds, parts)
                if bounds is not None
                and bounds[0] == body
                and least <= (hi := bounds[2]) < lay.INFINITE
            ]
            if not inside and any(self._holds_counter(part, body, least) for part in parts):
                return None
            found.add(inside[0] if inside else -1)
        return found

    def _holds_counter(self, root: StateId, body: StateId, least: int) -> bool:
        todo, seen = [int(root)], set()
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            kind, a, b, hi = self._fields(StateId(node))
            if kind == lay.REPEAT and a == body and least <= hi < lay.INFINITE:
                return True
            todo += self._parts(StateId(node), kind, a, b)
        return False

    def _parts(self, node: StateId, kind: int, a: int, b: int) -> list[int]:
        """The nodes directly below."""
        if kind in (lay.ALT, lay.AND):
            return [int(m) for m in self.members(node)]
        if kind == lay.CAT:
            return [a, b]
        return [a] if kind in (lay.REPEAT, lay.NOT) else []

    def read(self, state: StateId) -> tuple[int, int, list[int] | None]:
        """The kind of a state's node, its flags, and the nodes directly below, of a rule its body.

        None for a rule whose body is not made yet, and where what is below does not tell all.
        """
        arena = self._store.arena
        at = lay.NODE * state + lay.KIND
        kind, a, b, _, flags = arena[at : at + lay.FLAGS - lay.KIND + 1].tolist()
        if kind == lay.RULE:
            body = int(arena[int(arena[lay.BODY]) + state])
            return kind, flags, [body - 1] if body else None
        return kind, flags, self._parts(state, kind, a, b) if kind in _PLAIN_KINDS else None

    def digest(self, root: StateId) -> bytes:
        """16 bytes that equal terms share in every store. For terms without rules.

        Cost: one pass over the parts that were not asked for before.
        """
        done = self._digests
        todo = [int(root)]
        while todo:
            node = todo[-1]
            if node in done:
                todo.pop()
                continue
            kind, a, b, c = self._fields(StateId(node))
            parts = self._parts(StateId(node), kind, a, b)
            missing = [p for p in parts if p not in done]
            if missing:
                todo += missing
                continue
            todo.pop()
            below = [done[p] for p in parts]
            if kind in (lay.ALT, lay.AND):
                below.sort()  # members are ordered by id, which another store gives otherwise
            done[node] = hashlib.blake2b(
                self._own(kind, a, b, c) + b"".join(below), digest_size=16
            ).digest()
        return done[root]

    def _own(self, kind: int, a: int, b: int, c: int) -> bytes:
        """What a node says besides its parts."""
        if kind == lay.CLASS:
            at = int(self._store.arena[lay.CLASSES]) + a * lay.CLASS_WORDS
            return b"C" + self._store.arena[at : at + lay.CLASS_WORDS].tobytes()
        if kind == lay.REPEAT:
            return struct.pack("<cii", b"R", b, c)
        assert kind != lay.RULE, "a rule means something in its own grammar only"
        return bytes([kind])

    def _fields(self, state: StateId) -> tuple[int, int, int, int]:
        at = lay.NODE * state + lay.KIND
        kind, a, b, c = self._store.arena[at : at + 4].tolist()
        return kind, a, b, c
