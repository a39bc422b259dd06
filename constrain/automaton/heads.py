"""Mask rows of heads, shared by every grammar over one vocabulary.

A state is often `h·k`: the rest h of a string, then whatever the grammar wants after it. The walk
through h is the long one (nearly every token may stand in a string), and it is the same wherever
such a string stands. So for a head keep

- the tokens that stay inside it, allowed whatever k is, as a row;
- the tokens that can leave it, as a trie of *remainders*: their bytes from where h may end.

Then mask(h·k) = that row, and each token one of whose remainders k can begin with: a copy and a
short walk. It is exact also where h is ambiguous: a token may stay inside and stand at several
remainders.

    h = the rest of a JSON string: `cd` stays inside, `cd",` leaves with the remainder `,`

Counters: `x{lo,hi}·rest` is walked once, as `x{0,K}·rest` with K longer than any token, and each
token is filed under the number of x it begins. A row for a pair (lo, hi) is then a comparison: a
string bounded by a billion has the row of an unbounded one, and close to a bound no walk is needed
either. Where the count is ambiguous (`(a|aa){0,9}`, `[ab]{0,9}a`) the head is walked as it stands.

Alternatives considered: token equivalence classes for a grammar's byte classes (much to compute
before the first mask); a walk for each state (3 ms in each string anew).
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from constrain.vocab import Trie, Vocabulary, build_trie, per_vocabulary

__all__ = ["DEAD_NODE", "RESTS", "Head", "HeadRow", "HeadRows", "Walked", "head_rows_of"]

Int32Array = npt.NDArray[np.int32]

MAX_REMAINDERS = 8192
"""Pairs of a token and a remainder. `[a-z]*` has 10^5: walking them costs more than it saves."""
MAX_HEAD_BYTES = 32 << 20
"""All that the heads of one vocabulary hold, rows and remainders too: 0.2 to 1.5 MB each for
150,000 ids. Past it the oldest go."""
MIN_NOTE_BYTES = 256
"""What a head takes of which only the cost is known."""
MAX_ROWS_PER_HEAD = 64
"""Rows of one head for different bounds, a bit an id. Past it the oldest go."""

RESTS = -1
"""In the counts of nodes: the repeat is over, and the rest of the head goes on."""
DEAD_NODE = -2
"""In the counts of nodes: no sentence of the head begins so."""


@dataclass(frozen=True, slots=True)
class HeadRow:
    """What a vocabulary does in one head.

    Attributes:
        words: int32 [ceil(V/32)], read-only: tokens that stay inside.
        remainders: Tries of what is left of a token where the head ends; `tokens` are token ids.
    """

    words: Int32Array
    remainders: tuple[Trie, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """Where tokens and nodes stand in the trie of a vocabulary.

    Attributes:
        owners: [T], int32, for each entry of `trie.tokens` the node that spells it.
        parents: [N], int32, the node above each, -1 above a first byte.
    """

    owners: Int32Array
    parents: Int32Array

    @classmethod
    def of(cls, trie: Trie) -> Places:
        """Of a trie. Cost: 4 ms for 150,000 tokens."""
        nodes = np.arange(trie.num_nodes, dtype=np.int32)
        return cls(np.repeat(nodes, np.diff(trie.token_start)), trie.parents)


class Head:
    """Every token's way through a head, whatever the bounds of its counter.

    Args:
        vocab: The vocabulary.
        places: Of its trie.
        counts: int32 [N]: for each node of the trie the number of x begun, RESTS where the repeat
            is over, DEAD_NODE where the head is. Only 0 and DEAD_NODE for a head without a counter.
        exits: bool [N]: nodes where the head may end.
    """

    def __init__(
        self,
        vocab: Vocabulary,
        places: Places,
        counts: Int32Array,
        exits: npt.NDArray[np.bool_],
    ) -> None:
        trie = vocab.trie
        self._vocab_size = vocab.vocab_size
        self._lock = threading.Lock()
        self._rows: dict[tuple[int, int], HeadRow] = {}
        ended = _counts_at_end(trie, places.parents, counts)
        owner = places.owners
        self._levels: list[int] = np.unique(np.append(ended[ended >= 0], 0)).tolist()
        """The counts that occur: rows change only there."""
        never = self._levels[-1] + 2  # past any level that is asked for
        self._inside = np.full(vocab.vocab_size, never, np.min_scalar_type(never))
        inside = counts[owner] >= 0
        self._inside[trie.tokens[inside]] = counts[owner[inside]]
        resting = counts[owner] == RESTS
        self._resting_tokens = trie.tokens[resting]
        self._resting_counts = ended[owner[resting]]
        self._by_count = _remainders(vocab, ended, np.flatnonzero(exits))
        self._nbytes: int = self._inside.nbytes + self._resting_tokens.nbytes
        self._nbytes += self._resting_counts.nbytes + MIN_NOTE_BYTES
        self._nbytes += sum(trie.nbytes for trie in (self._by_count or {}).values())

    @property
    def nbytes(self) -> int:
        """Bytes of all that it holds, rows too."""
        return self._nbytes + sum(row.words.nbytes for row in list(self._rows.values()))

    @property
    def is_shared(self) -> bool:
        """Whether rows can be had; if not, the head and its continuation are walked together."""
        return self._by_count is not None

    @property
    def num_rows(self) -> int:
        """How many rows are kept."""
        return len(self._rows)

    def row(self, lo: int, hi: int) -> HeadRow:
        """The row for a counter of lo..hi. Any pair will do where the head has no counter."""
        lo, hi = self._level(lo, up=True), self._level(hi, up=False)
        found = self._rows.get((lo, hi))
        if found is None:
            found = self._make_row(lo, hi)
            with self._lock:
                if len(self._rows) >= MAX_ROWS_PER_HEAD:
                    del self._rows[next(iter(self._rows))]
                self._rows[lo, hi] = found
        return found

    def _level(self, bound: int, *, up: bool) -> int:
        """The nearest count that occurs, at or above, else at or below; no row lies between."""
        at = bisect_left(self._levels, bound) if up else bisect_right(self._levels, bound) - 1
        if at >= len(self._levels):
            return self._levels[-1] + 1  # no token begins so many
        return self._levels[at] if at >= 0 else -1

    def _make_row(self, lo: int, hi: int) -> HeadRow:
        assert self._by_count is not None
        allowed = self._inside <= hi
        within = (self._resting_counts >= lo) & (self._resting_counts <= hi)
        allowed[self._resting_tokens[within]] = True
        words = pack_bits(allowed)
        words.flags.writeable = False
        tries = [trie for count, trie in self._by_count.items() if lo <= count <= hi]
        return HeadRow(words, tuple(tries))


def pack_bits(allowed: npt.NDArray[np.bool_]) -> Int32Array:
    """One row of a bitmask out of one boolean for each id."""
    words = np.zeros((len(allowed) + 31) // 32, "<u4")
    words.view(np.uint8)[: (len(allowed) + 7) // 8] = np.packbits(allowed, bitorder="little")
    return words.view(np.int32)


def _counts_at_end(trie: Trie, parents: Int32Array, counts: Int32Array) -> Int32Array:
    """How many x each node has begun: past the repeat, as many as the last node inside had."""
    ended = counts.copy()
    resting = np.flatnonzero(counts == RESTS)
    resting = resting[np.argsort(trie.depth[resting], kind="stable")]
    parents = parents[resting]
    stops = np.cumsum(np.bincount(trie.depth[resting])) if len(resting) else [0]
    for first, last in zip([0, *stops], stops, strict=False):
        above = parents[first:last]
        ended[resting[first:last]] = np.where(above < 0, 0, ended[above])
    return ended


def _remainders(
    vocab: Vocabulary, ended: Int32Array, exits: npt.NDArray[np.intp]
) -> dict[int, Trie] | None:
    """Tries of remainders by the count at which the head ended; None if there are too many."""
    trie = vocab.trie
    first, last = trie.token_start[exits + 1], trie.token_start[trie.end[exits]]
    if int((last - first).sum()) > MAX_REMAINDERS:
        return None
    rests: dict[int, tuple[list[bytes | None], list[int]]] = {}
    for i, node in enumerate(exits.tolist()):
        depth = int(trie.depth[node]) + 1
        texts, ids = rests.setdefault(int(ended[node]), ([], []))
        for token in trie.tokens[first[i] : last[i]].tolist():
            texts.append(vocab.bytes_of(token)[depth:])
            ids.append(token)
    return {
        count: build_trie(texts).retargeted(ids) for count, (texts, ids) in rests.items() if ids
    }


@dataclass(frozen=True, slots=True)
class Walked:
    """A head whose rows are not at hand.

    Attributes:
        num_nodes: Nodes that long walks through it have looked at.
        measurable: False if there are no rows to be had: too many remainders, or tokens do not
            tell how often its counter went round.
    """

    num_nodes: int
    measurable: bool = True

    @property
    def nbytes(self) -> int:
        """Bytes that it takes with its key."""
        return MIN_NOTE_BYTES


class HeadRows:
    """The heads met so far over one vocabulary, by key. Thread-safe, bounded."""

    def __init__(self, vocab: Vocabulary) -> None:
        self._trie = vocab.trie
        self._heads: dict[bytes, Head | Walked] = {}
        self._lock = threading.Lock()

    @cached_property
    def places(self) -> Places:
        """Where tokens and nodes stand: made when the first head is."""
        return Places.of(self._trie)

    def get(self, key: bytes) -> Head | Walked | None:
        """What is known of a head; None if it was not met, or only cheaply walked."""
        return self._heads.get(key)

    def put(self, key: bytes, head: Head | Walked) -> None:
        """Keep what was learnt of a head."""
        with self._lock:
            self._heads[key] = head
            self._make_room()

    def row(self, head: Head, lo: int, hi: int) -> HeadRow:
        """The row of a head for a counter of lo..hi: see `Head.row`."""
        before = head.num_rows
        row = head.row(lo, hi)
        if head.num_rows != before:
            with self._lock:
                self._make_room()
        return row

    @property
    def nbytes(self) -> int:
        """Bytes that the heads hold."""
        with self._lock:
            return sum(head.nbytes for head in self._heads.values())

    def _make_room(self) -> None:
        """Forget the oldest, but not the last, until the others stay within the bound."""
        held = sum(head.nbytes for head in self._heads.values())
        while held > MAX_HEAD_BYTES and len(self._heads) > 1:
            oldest = next(iter(self._heads))
            held -= self._heads.pop(oldest).nbytes


@per_vocabulary
def head_rows_of(vocab: Vocabulary) -> HeadRows:
    """The shared heads of a vocabulary: made once, gone with it. What is in them never changes."""
    return HeadRows(vocab)
