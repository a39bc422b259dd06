r"""Heads that a quote closes: their rows, and where in the vocabulary they end.

    [a-z]{2,9}"         k           the rest of a string, and what follows it
    row of the head     + from every node of the trie where it ends, what k lets through below

A state in a string is often `h·k`, where h is the rest of the string with its quote, and k whatever
the grammar wants then. The same h comes again with another k: in the next item of a list, in a
field with the same pattern, in another grammar with the same format. Its row is that of h alone,
made by whatever way is the shortest; a token that leaves h passes a quote. So those nodes of the
trie are looked at which are quotes with something below: where h may end there, k is walked from.

    Qwen 3: 452 such nodes; a mask whose head is known takes some 60 us, whatever the head

Heads are found in the terms. After a byte k may stand in several members of a union, one of which
goes on with the string and one of which ends it: `("·k | x*·"·k)` is `(e | x*)·"` and then k.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import DEAD, StateId, TermStore
from constrain.algebra.structure import Structure
from constrain.automaton.far_bounds import FarBounds
from constrain.automaton.heads import Places
from constrain.automaton.rows import MaskRow
from constrain.automaton.walker import Walker
from constrain.kernels.derive import layout as lay
from constrain.vocab import Trie, Vocabulary, build_trie, per_vocabulary

__all__ = ["ClosedHead", "ClosedHeads"]

Int32Array = npt.NDArray[np.int32]

QUOTE = 34
MAX_PARTS = 16
"""Parts of a head, and of each member of a union in it."""
MAX_MEMBERS = 16
MAX_BYTES = 16 << 20
"""All that is kept for one vocabulary: some 800 heads. Past it the oldest go."""
ENTRY_BYTES = 400
MAX_DEPTH = 4
"""Heads that wait for one another. A pattern may have many bounds."""
FEW_ENDS = 8
"""Nodes where a head may end that are looked at one by one."""


@dataclass(frozen=True, slots=True)
class ClosedHead:
    """What a vocabulary does in a head that a quote closes.

    Attributes:
        row: The tokens that stay inside, or end where it does.
        ends: Nodes of the vocabulary's trie with others below them where it may end.
    """

    row: MaskRow
    ends: Int32Array

    @property
    def nbytes(self) -> int:
        """Bytes that it takes, with its key."""
        return self.row.words.nbytes + self.ends.nbytes + ENTRY_BYTES


class ClosedHeads:
    """Finds what is known of the closed heads of one grammar. Called under the store's lock.

    Args:
        store: The grammar's terms.
        structure: Of the same store.
        vocab: The vocabulary.
        walker: Walks for the grammar.
        far_bounds: Of the same store.
        make: Called as make(state): the row of a live state.
    """

    def __init__(
        self,
        store: TermStore,
        structure: Structure,
        vocab: Vocabulary,
        walker: Walker,
        far_bounds: FarBounds,
        make: Callable[[StateId], MaskRow],
    ) -> None:
        self._store = store
        self._structure = structure
        self._vocab = vocab
        self._walker = walker
        self._far_bounds = far_bounds
        self._make = make
        self._known = _closed_heads_of(vocab)

    def split(self, state: StateId) -> tuple[StateId, StateId] | None:
        """The head that a state begins with, and what follows; None if it begins with none.

        Of a live state. Neither is empty, and the head is longer than its quote.
        """
        parts: list[StateId] = []
        rest = state
        while rest != lay.EPS_ID and len(parts) < MAX_PARTS:
            part, after = next(self._structure.parts(rest))
            if self._structure.is_kind(part, lay.RULE):
                part = self._body(part)
            elif self._structure.is_kind(part, lay.AND):
                members = map(self._body, self._structure.members(part))
                part = self._far_bounds.exact(self._store.intersection(*members))
            if self._structure.holds_rule(part):
                factors = self._factored(part)
                if factors is None:
                    return None
                part, after = factors[0], self._store.concatenate([factors[1], after])
            parts.append(part)
            rest = after
            if len(parts) > 1 and self._structure.single_byte(part) == QUOTE:
                break
        else:
            return None
        return (self._store.concatenate(parts), rest) if rest != lay.EPS_ID else None

    def head(self, head: StateId, depth: int = 0) -> ClosedHead:
        """What is known of a head, found out now if it is not.

        Args:
            head: From `split`.
            depth: How many heads wait for this one.

        Raises:
            LimitExceededError: The grammar grew past its limits.
        """
        key = self._structure.digest(head)
        found = self._known.get(key)
        if found is None:
            found = ClosedHead(self._make(head), self._ends(head, depth))
            self._known.put(key, found)
        return found

    def _ends(self, head: StateId, depth: int) -> Int32Array:
        """Where a head may end: where one like it does, but for what is past its bounds."""
        like = self._far_bounds.known(head)
        if like is None or depth >= MAX_DEPTH:
            return self._walked(head)
        ends = self.head(like.state, depth + 1).ends
        unsure = self._vocab.trie.depth[ends] >= like.longest
        if like.at_least is not None and unsure.sum() > FEW_ENDS:
            unsure &= ~np.isin(ends, self.head(like.at_least, depth + 1).ends)
        if unsure.sum() > FEW_ENDS:
            return self._walked(head)
        closing = _closing_of(self._vocab)
        for i in np.flatnonzero(unsure).tolist():
            after = self._store.advance(head, closing.texts[int(ends[i])])
            unsure[i] = after == DEAD or not self._store.nullable(after)
        return ends[~unsure]

    def _walked(self, head: StateId) -> Int32Array:
        closing = _closing_of(self._vocab)
        states = self._walker.states_in(head, closing.trie)[closing.owners]
        arena = self._store.arena
        flags = arena[lay.NODE * states.astype(np.int64) + lay.FLAGS]
        ends: Int32Array = closing.trie.tokens[(states != 0) & (flags & lay.NULLABLE != 0)]
        return ends

    def _body(self, part: StateId) -> StateId:
        """The body of a rule, if it is made; what is none is left as it is."""
        if not self._structure.is_kind(part, lay.RULE):
            return part
        below = self._structure.read(part)[2]
        return StateId(below[0]) if below else part

    def _factored(self, part: StateId) -> tuple[StateId, StateId] | None:
        """A union as one without what all of its members end with, and that; None if nothing."""
        members = self._structure.members(part)
        if not self._structure.is_kind(part, lay.ALT) or len(members) > MAX_MEMBERS:
            return None
        first, *others = [self._rests(member) for member in members]
        common = next((rest for rest in first if all(rest in other for other in others)), None)
        if common is None:
            return None
        begins = [rests[common] for rests in (first, *others)]
        union = self._store.union(*[self._store.concatenate(parts) for parts in begins])
        return None if self._structure.holds_rule(union) else (union, common)

    def _rests(self, member: StateId) -> dict[StateId, list[StateId]]:
        """What a state ends with, itself first, and the parts before each."""
        found: dict[StateId, list[StateId]] = {member: [StateId(lay.EPS_ID)]}
        before: list[StateId] = []
        for part, rest in islice(self._structure.parts(member), MAX_PARTS):
            if self._structure.holds_rule(part) or rest == lay.EPS_ID:
                break
            before = [*before, part]
            found[rest] = before
        return found


class _KnownHeads:
    """Closed heads by the digest of the head. Thread-safe, bounded."""

    def __init__(self) -> None:
        self._heads: dict[bytes, ClosedHead] = {}
        self._nbytes = 0
        self._lock = threading.Lock()

    def get(self, key: bytes) -> ClosedHead | None:
        return self._heads.get(key)

    def put(self, key: bytes, head: ClosedHead) -> None:
        with self._lock:
            if key in self._heads:
                return
            self._heads[key] = head
            self._nbytes += head.nbytes
            while self._nbytes > MAX_BYTES and len(self._heads) > 1:
                self._nbytes -= self._heads.pop(next(iter(self._heads))).nbytes


@per_vocabulary
def _closed_heads_of(vocab: Vocabulary) -> _KnownHeads:
    """The heads of all grammars over a vocabulary. What is in them never changes."""
    return _KnownHeads()


@dataclass(frozen=True, slots=True)
class _Closing:
    """Where a quote stands in a vocabulary's trie, with something below.

    Attributes:
        texts: By node, the bytes from the root to it, which is the quote.
        trie: The texts from the root to there; its tokens are nodes of the vocabulary's trie.
        owners: int32: for each of its tokens the node of `trie` that spells it.
    """

    texts: dict[int, bytes]
    trie: Trie
    owners: Int32Array


@per_vocabulary
def _closing_of(vocab: Vocabulary) -> _Closing:
    """Of a vocabulary. Cost: 2 ms for 150,000 tokens."""
    trie = vocab.trie
    nodes = np.flatnonzero((trie.byte == QUOTE) & (trie.end > np.arange(1, trie.num_nodes + 1)))
    below = trie.tokens[trie.token_start[nodes + 1]]
    texts = [
        vocab.bytes_of(token)[: depth + 1]
        for token, depth in zip(below.tolist(), trie.depth[nodes].tolist(), strict=True)
    ]
    closing = build_trie(texts).retargeted(nodes.tolist())
    by_node = dict(zip(nodes.tolist(), texts, strict=True))
    return _Closing(by_node, closing, Places.of(closing).owners)
