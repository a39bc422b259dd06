"""The states after tokens, as far as they are known: a bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from constrain.algebra.store import StateId

__all__ = ["Steps"]

MAX_STEPS: Final = 1 << 16
"""About 10 MB. Past it all are forgotten, and made again when asked for."""


class Steps:
    """Where a token leads from a state. Read without a lock; written under the store's.

    Attributes:
        known: For a state, the states after some tokens, DEAD included. One dictionary for good:
            whoever reads it on every step does so without a call.
    """

    __slots__ = ("_num_steps", "known")

    def __init__(self) -> None:
        self.known: dict[StateId, dict[int, StateId]] = {}
        self._num_steps = 0

    def put_one(self, state: StateId, token_id: int, after: StateId) -> None:
        """Keep the state after a token."""
        if self._num_steps >= MAX_STEPS:
            self._forget()
        self._num_steps += 1
        known = self.known.get(state)
        if known is None:
            self.known[state] = {token_id: after}
        else:
            known[token_id] = after

    def put(self, state: StateId, token_ids: Sequence[int], after: Sequence[StateId]) -> None:
        """Keep the states after some tokens, the first of those given."""
        if self._num_steps >= MAX_STEPS:
            self._forget()
        self._num_steps += len(after)
        found = dict(zip(token_ids, after, strict=False))
        known = self.known.get(state)
        self.known[state] = found if known is None else known | found

    @property
    def nbytes(self) -> int:
        """Bytes that the steps take, about: a dictionary for each state, an entry for each step."""
        return 250 * len(self.known) + 80 * self._num_steps

    def _forget(self) -> None:
        self.known.clear()
        self._num_steps = 0
