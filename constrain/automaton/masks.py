"""Mask rows by state: made once, then remembered, and equal rows kept once.

States are canonical (equal terms have one id), so a second visit to a state is a look-up. Many
states allow the same tokens; their rows are one array. Rows are bounded by bytes: past the bound
the oldest go, and are made again if their state comes back.

A new row is one walk of the vocabulary. Most states let through a few bytes, and their walk is
short: it lists its tokens, with the state after each. A walk that turns out long is given up; where
the state begins with a head that other states and other grammars share, its row is a copy of the
head's row and a walk of its remainders (`heads`). All give the same row; `walk` is the plain one,
and tests compare them.

Where a state captures texts, the walk is that of its blurred state, which many states share: it
does not tell what follows a text that ends inside a token. Those tokens are few, and are stepped
through one by one (`settle`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import StateId, TermStore
from constrain.algebra.structure import Structure
from constrain.automaton.headwalk import HeadWalk
from constrain.automaton.named import NamedTokens
from constrain.automaton.settle import UnsureTokens, tokens_below
from constrain.automaton.slices import PLAIN_TEXT, slice_of
from constrain.automaton.steps import Steps
from constrain.kernels.derive import layout as lay
from constrain.kernels.walk import COVERED, FRAME, GAVE_UP, walk
from constrain.vocab import Trie, Vocabulary

__all__ = ["MaskRow", "MaskRows"]

Int32Array = npt.NDArray[np.int32]
_Content = bytes | tuple[bytes, bool]
_NONE = np.zeros(0, np.int32)
_MAX_DRAFTS = 256

SHORT_WALK = 4096
"""Children that a short walk looks at before it is given up, 5-10 us. The walks of states are short
or long: of 9,700 states of 120 real schemas hardly one took between 2,000 and 50,000 looks."""
SHORT_LIST = 1024
"""Tokens that a short walk lists."""
MAX_PARTS = 16
"""Parts of a head. A pattern may have thousands in a row."""
KNOWN_STEPS = 64
"""Up to so many tokens the states after them are kept too."""


@dataclass(slots=True)
class _Draft:
    """What walks tell of a row.

    Attributes:
        words: int32 [ceil(V/32)]: the tokens that may follow, end tokens not included.
        untold: Tokens that may or may not; some of them may be in `words`.
    """

    words: Int32Array
    untold: list[Int32Array] = field(default_factory=list)
    tokens: UnsureTokens | None = None


class MaskRow:
    """Which tokens may follow a state.

    Attributes:
        words: int32 [ceil(vocab_size / 32)], 1 = allowed, read-only.
        restricts: Some id below vocab_size is not allowed.
        empty: No id is allowed.
    """

    __slots__ = ("empty", "restricts", "words")

    def __init__(self, words: Int32Array, vocab_size: int) -> None:
        words.flags.writeable = False
        self.words = words
        content = words.tobytes()
        none, every = _extremes(vocab_size)
        self.empty = content == none
        self.restricts = content != every

    def token_ids(self) -> list[int]:
        """The ids that are allowed, ascending."""
        bits = np.unpackbits(self.words.view(np.uint8), bitorder="little")
        ids: list[int] = np.flatnonzero(bits).tolist()
        return ids


class MaskRows:
    """The rows of one compiled grammar. Called under the store's lock.

    Args:
        store: The grammar's terms.
        vocab: The vocabulary.
        max_bytes: Bound on the bytes of all rows kept; at least one is kept.

    Attributes:
        named: The tokens that the grammar names as steps of their own.
        steps: States after tokens, as far as they are known.
    """

    def __init__(self, store: TermStore, vocab: Vocabulary, max_bytes: int) -> None:
        self._store = store
        self._structure = Structure(store)
        self._vocab = vocab
        self._trie = vocab.trie
        self._slice = slice_of(vocab)
        self._slice_start = store.intern(PLAIN_TEXT)
        self._heads = HeadWalk(store, self._structure, vocab, self._states_of_nodes)
        self._num_words = (vocab.vocab_size + 31) // 32
        self._max_rows = max(1, max_bytes // (4 * self._num_words))
        self._stack = np.zeros(FRAME * (self._trie.max_depth + 2), np.int32)
        self._listed = np.zeros(2 * SHORT_LIST, np.int32)
        self.steps = Steps()
        self.named = NamedTokens(store, vocab)
        self._unsure = np.zeros(self._trie.num_nodes, np.int32)
        self._drafts: dict[StateId, _Draft] = {}
        self._by_state: dict[StateId, MaskRow] = {}
        self._by_content: dict[_Content, MaskRow] = {}
        self._states_of: dict[_Content, list[StateId]] = {}
        self._eos_bits = _bits(vocab.eos_token_ids, self._num_words)

    def get(self, state: StateId) -> MaskRow | None:
        """The row of a state if it is remembered; needs no lock."""
        return self._by_state.get(state)

    def make(self, state: StateId) -> MaskRow:
        """The row of a live state, made now if it is not remembered.

        Raises:
            LimitExceededError: The grammar grew past its limits.
        """
        row = self._by_state.get(state) or self._make_short(state)
        if row is None:
            draft = self._draft(self._store.blur(state), state)
            words = self._settled(state, draft)
            row = self._remember(state, words, words.tobytes())
        return row

    def walk(self, state: StateId) -> Int32Array:
        """A fresh row of a live state by the plain walk: nothing remembered is read or written."""
        draft = self._new_draft()
        self._walk(state, self._trie, draft)
        return self._settled(state, draft)

    # Making a row

    def _make_short(self, state: StateId) -> MaskRow | None:
        """The row of a state by a short walk; None if its walk is not short."""
        store = self._store
        draft = self._new_draft()
        if store.names_tokens or self._walk(state, self._trie, draft, short=True) == GAVE_UP:
            return None
        pairs = self._listed[: 2 * int(store.arena[lay.NUM_LISTED])]
        tokens = pairs[0::2].tobytes()
        if len(pairs) <= 2 * KNOWN_STEPS:
            self.steps.put(state, pairs[0::2].tolist(), pairs[1::2].tolist())
        words = draft.words
        ends = store.nullable(state)
        if ends:
            words |= self._eos_bits
        return self._remember(state, words, (tokens, ends))

    def _draft(self, blurred: StateId, state: StateId) -> _Draft:
        """What walks tell of a state, remembered if other states share its blurred one."""
        draft = self._drafts.get(blurred)
        if draft is None:
            draft = self._new_draft()
            self._add(blurred, draft)
            if blurred != state:
                if len(self._drafts) >= _MAX_DRAFTS:
                    del self._drafts[next(iter(self._drafts))]
                self._drafts[blurred] = draft
        return draft

    def _new_draft(self) -> _Draft:
        return _Draft(np.zeros(self._num_words, np.int32))

    def _settled(self, state: StateId, draft: _Draft) -> Int32Array:
        """A row of its own from a draft: with the tokens that it does not tell, and end tokens."""
        words = draft.words.copy()
        if draft.untold:
            if draft.tokens is None:
                ids = np.unique(np.concatenate(draft.untold))
                told = draft.words[ids >> 5] >> (ids & 31) & 1
                draft.tokens = UnsureTokens(self._vocab, ids[told == 0])
            draft.tokens.settle(self._store, state, words)
        if self._store.names_tokens:
            self.named.add(state, words)
        if self._store.nullable(state):
            words |= self._eos_bits
        return words

    def _add(self, state: StateId, draft: _Draft) -> None:
        """Set the bits of the tokens that may follow a live state."""
        members = self._structure.members(state)
        splits = [self._split(m) for m in members] if self._is_union(state) else []
        if not any(splits):
            self._add_one(state, self._split(state) if not splits else None, draft)
            return
        for member, split in zip(members, splits, strict=True):
            if not self._store.is_empty(member):
                self._add_one(member, split, draft)

    def _is_union(self, state: StateId) -> bool:
        return self._structure.is_kind(state, lay.ALT)

    def _split(self, state: StateId) -> tuple[list[StateId], StateId] | None:
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

    def _add_one(
        self, state: StateId, split: tuple[list[StateId], StateId] | None, draft: _Draft
    ) -> None:
        if split is None:
            self._walk_all(state, draft)
            return
        parts, after = split
        head = self._heads.row(parts)
        if head is None:
            self._walk_all(state, draft)
            self._heads.note_cost(parts, int(self._store.arena[lay.NUM_VISITED]))
            return
        draft.words |= head.words
        if after != lay.EPS_ID:
            for remainders in head.remainders:
                self._walk(after, remainders, draft)
            if all(self._store.nullable(part) for part in parts):
                self._walk_all(after, draft)

    def _walk_all(self, state: StateId, draft: _Draft) -> None:
        """Set the bits of the tokens that may follow; the slice at once, if it is covered."""
        if self._walk(state, self._trie, draft, slice_start=self._slice_start) == COVERED:
            draft.words |= self._slice.words
            self._walk(state, self._slice.others, draft)

    def _states_of_nodes(self, state: StateId) -> Int32Array:
        """The live state of each node of the vocabulary's trie, 0 where it is dead."""
        seen = np.zeros(self._trie.num_nodes, np.int32)
        self._walk(state, self._trie, self._new_draft(), seen)
        return seen

    def _walk(
        self,
        state: StateId,
        trie: Trie,
        draft: _Draft,
        seen: Int32Array = _NONE,
        slice_start: int = 0,
        *,
        short: bool = False,
    ) -> int:
        """Set the bits of the tokens of a trie that may follow; what the kernel `walk` returns."""
        if len(self._unsure) < trie.num_nodes:
            self._unsure = np.zeros(trie.num_nodes, np.int32)
        mask = draft.words.view(np.uint32)
        store = self._store
        listed = self._listed if short else _NONE
        at = 0

        def step() -> None:
            nonlocal at
            at = int(
                walk(
                    store.arena,
                    state,
                    trie.children,
                    trie.starts,
                    trie.tokens,
                    mask,
                    self._stack,
                    at,
                    seen,
                    slice_start,
                    self._unsure,
                    listed,
                    SHORT_WALK,
                )
            )

        store.run(step)
        num_unsure = int(store.arena[lay.NUM_UNSURE])
        if num_unsure:
            entries = self._unsure[:num_unsure].tolist()
            draft.untold.append(tokens_below(trie, entries))
        return at

    # Remembering rows

    def _remember(self, state: StateId, words: Int32Array, content: _Content) -> MaskRow:
        """Keep the row of a state.

        Args:
            state: A state without a row.
            words: What it allows.
            content: What tells rows apart: the bytes of `words`, or of a list of their tokens with
                whether the text may end. A row may be kept in both forms.
        """
        row = self._by_content.get(content)
        if row is None:
            while len(self._by_content) >= self._max_rows:
                self._forget_oldest()
            if isinstance(content, bytes):
                words = np.frombuffer(content, np.int32)  # one copy in memory, not two
            row = self._by_content[content] = MaskRow(words, self._vocab.vocab_size)
            self._states_of[content] = []
        self._states_of[content].append(state)
        self._by_state[state] = row
        return row

    def _forget_oldest(self) -> None:
        content = next(iter(self._by_content))
        del self._by_content[content]
        for state in self._states_of.pop(content):
            del self._by_state[state]

    @property
    def nbytes(self) -> int:
        """Bytes of the rows kept."""
        return 4 * self._num_words * len(self._by_content)


@lru_cache(maxsize=64)
def _extremes(vocab_size: int) -> tuple[bytes, bytes]:
    """The bytes of a row that allows nothing, and of one that allows every id."""
    words = np.full((vocab_size + 31) // 32, -1, np.int32)
    if vocab_size % 32:
        words[-1] = (1 << vocab_size % 32) - 1
    return bytes(words.nbytes), words.tobytes()


def _bits(ids: Iterable[int], num_words: int) -> Int32Array:
    words = np.zeros(num_words, np.uint32)
    for i in ids:
        words[i >> 5] |= np.uint32(1) << np.uint32(i & 31)
    return words.view(np.int32)
