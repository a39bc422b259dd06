"""Terms that many stores start with, made once in a process.

A store that starts so is a copy of the arena that has them: strings, numbers and whitespace of
JSON need not be interned again for every schema.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Final

import numpy as np

from constrain.algebra.arena import Int32Array
from constrain.algebra.store import Start, TermStore
from constrain.algebra.terms import Capture, Rule, Term, Token

__all__ = ["Prelude"]

_GAP: Final = 1024
"""Zeros in a row, from which on an arena is copied in two parts."""


class Prelude:
    """Terms that stores start with, interned once: a store copies the arena that has them.

    Args:
        terms: Kept as long as this is. Those with rules, captures or tokens are left out: these
            are numbered by each store.
    """

    def __init__(self, terms: Iterable[Term]) -> None:
        self._terms = tuple(terms)
        self._lock = threading.Lock()
        self._made: Start | None = None
        self._filled: list[tuple[int, Int32Array]] = []

    def start(self) -> Start:
        """What a new store begins with, a copy of its own."""
        made = self._made or self._make()
        # Pages that are zero are not touched: that costs more than all the rest.
        arena = np.zeros(len(made.arena), np.int32)
        for at, values in self._filled:
            arena[at : at + len(values)] = values
        return Start(dict(made.capacity), dict(made.operands), arena)

    def _make(self) -> Start:
        with self._lock:
            if self._made is None:
                store = TermStore()
                for term in self._terms:
                    if not _is_numbered(term):
                        store.intern(term)
                filled = np.flatnonzero(store.arena)
                for run in np.split(filled, np.flatnonzero(np.diff(filled) > _GAP) + 1):
                    at, stop = int(run[0]), int(run[-1]) + 1
                    self._filled.append((at, store.arena[at:stop].copy()))
                self._made = store.contents()
            return self._made


def _is_numbered(root: Term) -> bool:
    """Whether a rule, capture or token stands in a term."""
    seen = {root}
    todo = [root]
    for term in todo:
        if isinstance(term, (Rule, Capture, Token)):
            return True
        new = [part for part in term.parts if part not in seen]
        seen.update(new)
        todo += new
    return False
