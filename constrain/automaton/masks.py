"""Mask rows by state: made once, then remembered, and equal rows kept once.

States are canonical (equal terms have one id), so a second visit to a state is a look-up. Many
states allow the same tokens; their rows are one array. Rows are bounded by bytes: past the bound
the oldest go, and are made again if their state comes back.

A new row is one walk of the vocabulary (`kernels/walk`). Most states let through a few bytes, and
their walk is short: it lists its tokens, with the state after each. A state inside a string lets
nearly all through, and its walk shares what is the same for all such states. Where a walk gives up,
the state begins with a head that other states and other grammars share: its row is a copy of the
head's row and a walk of its remainders (`heads`). All give the same row; `walk` is the plain one,
and tests compare them.

Where a state captures texts, the walk is that of its blurred state, which many states share: it
does not tell what follows a text that ends inside a token. Those tokens are few, and are stepped
through one by one (`settle`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import StateId, TermStore
from constrain.algebra.structure import Structure
from constrain.automaton.closed import ClosedHeads
from constrain.automaton.far_bounds import MAX_PARTS, FarBounds
from constrain.automaton.heads import HeadRow
from constrain.automaton.headwalk import HeadWalk
from constrain.automaton.long_tokens import LENGTHS, long_tokens, longer_than
from constrain.automaton.named import NamedTokens
from constrain.automaton.rows import KeptRows, MaskRow, Summary, shared_rows_of, words_of
from constrain.automaton.settle import UnsureTokens
from constrain.automaton.steps import Steps
from constrain.automaton.ticks import Ticks
from constrain.automaton.walker import Walker, Words
from constrain.kernels.derive import layout as lay
from constrain.kernels.walk import modes
from constrain.vocab import Trie, Vocabulary

__all__ = ["MaskRow", "MaskRows"]

Int32Array = npt.NDArray[np.int32]
_ASKS = (modes.NEEDS_BASE, modes.SAME, modes.BOUNDED, modes.FAR, modes.CLOSED)
"""What a walk returns that has written nothing yet."""
_MAX_DRAFTS = 256
_DRAFT_BYTES = 700
"""What a draft takes beside its words: estimated, with its dictionary."""

FAR_OFF = 16
"""Bytes of a bound past which few tokens reach: then it is worth to see whether any does."""
FEW_UNSURE = 8
"""Tokens that are settled one by one rather than told by another row."""
FEW_TOKENS = 128
"""Tokens that are settled one by one rather than by a walk."""
MAX_MAKING = 16
"""Rows that wait for one another before one is walked as it is. A pattern may have many bounds."""
FEW = 8
"""A draft that differs from another in at most one of so many words is kept as what differs."""


_NOWHERE = np.zeros(0, np.int32), np.zeros(0, np.int32)


@dataclass(slots=True)
class _Draft:
    """What walks tell of a row.

    Attributes:
        words: int32 [ceil(V/32)]: the tokens that may follow, end tokens not included; but for
            those of `others`.
        untold: Tokens that may or may not; some of them may be in `words`.
        tokens: Those of them that are not, once they were asked for.
        others: Where it differs from `words`, and how, if these are another's.
        near: The words of the draft that it was made from.
        summary: Of the words, if that is known.
    """

    words: Int32Array
    untold: list[Int32Array] = field(default_factory=list)
    tokens: UnsureTokens | None = None
    others: tuple[Int32Array, Int32Array] | None = None
    near: Int32Array | None = None
    summary: Summary | None = None

    def copy(self) -> Int32Array:
        """The words as an array of its own."""
        words = self.words.copy()
        if self.others is not None:
            at, those = self.others
            words[at] = those
        return words

    def lean(self) -> None:
        """Keep only what differs from what it was made from, which nobody changes any more."""
        near, self.near = self.near, None
        if near is None or self.others is not None:
            return
        at = np.flatnonzero(self.words != near).astype(np.int32)
        if FEW * len(at) <= len(near):
            self.words, self.others = near, (at, self.words[at])

    def lie_in(self, row: MaskRow) -> None:
        """Keep nothing but a row that has the same words."""
        self.words, self.others, self.near = row.words, _NOWHERE, None

    @property
    def nbytes(self) -> int:
        """Bytes of what is not another's."""
        own = [self.words] if self.others is None else self.others
        return sum(array.nbytes for array in (*own, *self.untold))


class _Begun(NamedTuple):
    """A live state, or one of those of which it is the union, as a head and what follows.

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


class MaskRows:
    """The rows of one compiled grammar. Called under the store's lock.

    Args:
        store: The grammar's terms.
        vocab: The vocabulary.
        max_bytes: Bound on the bytes of all rows kept; at least one is kept.

    Attributes:
        named: The tokens that the grammar names as steps of their own.
        get: The row of a state if it is remembered, else None; needs no lock.
        steps: States after tokens, as far as they are known.
        ticks: What states are when tokens have ended.
    """

    def __init__(self, store: TermStore, vocab: Vocabulary, max_bytes: int) -> None:
        self._store = store
        self._structure = Structure(store)
        self._vocab = vocab
        self._trie = vocab.trie
        self._walker = Walker(store, vocab)
        self._heads = HeadWalk(store, self._structure, vocab, self._walker)
        self._far_bounds = FarBounds(store, self._structure)
        self._closed = ClosedHeads(
            store, self._structure, vocab, self._walker, self._far_bounds, self._make_counted
        )
        self._num_words = (vocab.vocab_size + 31) // 32
        self._shared_rows = shared_rows_of(vocab)
        self._kept = KeptRows(max(1, max_bytes // (4 * self._num_words)))
        self._by_state = self._kept.by_state
        self.get = self._by_state.get
        self._blank: Words | None = None
        """A row of zeros for the next walk: one that lists its tokens leaves it so."""
        self.steps = Steps()
        self.named = NamedTokens(store, vocab)
        self.ticks = Ticks(store)
        self._making: set[StateId] = set()
        """States whose rows are being made: none of them can be had first. In x{0,1}·y*, that of
        x*·y* would help, and the other way round."""
        self._unlike: set[StateId] = set()
        """States without far bounds that differ in many tokens from those with near ones."""
        self._drafts: dict[StateId, _Draft] = {}
        self._to_settle: dict[bytes, UnsureTokens] = {}
        self._eos_bits = words_of(np.array(vocab.eos_token_ids, np.int32), self._num_words)

    def make(self, state: StateId) -> MaskRow:
        """The row of a live state, made now if it is not remembered.

        Raises:
            LimitExceededError: The grammar grew past its limits.
        """
        row = self._by_state.get(state)
        if row is not None:
            return row
        if self._store.counts_tokens and not self._store.counts_matter:
            uncounted = self.ticks.uncounted(state)
            if uncounted != state:
                row = self.make(uncounted)
                if not self._store.counts_matter:  # bodies that the walk has made tell
                    return self._kept.keep(state, row)
        self._making.add(state)
        try:
            if not (self._store.names_tokens or self._store.is_bytewise(state)):
                row = self._make_whole(state)
            return row or self._make_of_parts(state)
        finally:
            self._making.discard(state)

    def walk(self, state: StateId) -> Int32Array:
        """A fresh row of a live state by the plain walk: nothing remembered is read or written."""
        draft = self._new_draft()
        self._walk(state, draft, modes.PLAIN)
        return self._settled(state, draft)

    # Making a row

    def _make_whole(self, state: StateId) -> MaskRow | None:
        """The row of a state by one walk, which shares what it can; None if it captures texts."""
        walker = self._walker
        mask = self._take_blank()
        at = walker.walk(state, mask, modes.ROW)
        if at == modes.DONE:
            return self._made_whole(state, mask)
        if at in _ASKS:
            self._blank = mask
        base, bound = walker.asked_for, walker.bound
        if at == modes.BOUNDED and (base in self._making or walker.lets_text_through(base)):
            at = modes.LONG
        elif at in (modes.BOUNDED, modes.FAR, modes.CLOSED):
            row = self._make_of_closed(state)
            if row is None and at != modes.CLOSED:
                if at == modes.FAR:
                    row = self._make_of_far(state)
                else:
                    row = self._make_of_unbounded(state, base, bound)
            if row is not None:
                return row
            mask = self._take_blank()
            at = walker.walk(state, mask, modes.BOUNDED_ROW)
            base = walker.asked_for
        if base in self._making and at in (modes.NEEDS_BASE, modes.SAME):
            at = modes.LONG
        elif at == modes.NEEDS_BASE:
            mask = self.make(base).words.copy().view(np.uint32)
            walker.ask_for(base)
            at = walker.walk(state, mask, modes.BASED_ROW)
        elif at == modes.SAME:
            return self._kept.keep(state, self.make(base))
        if at == modes.CAPTURES:
            return None
        if at == modes.DONE:
            return self._made_whole(state, mask)
        if self._store.names_tokens:
            return None
        heads = self._heads_of(state)
        if heads is not None:
            return self._make_of_heads(state, heads)
        mask = self._take_blank()
        at = walker.walk(state, mask, modes.LONG_ROW)
        self._note_cost(state)
        return None if at == modes.CAPTURES else self._made_whole(state, mask)

    def _made_whole(self, state: StateId, mask: Words) -> MaskRow | None:
        """The row that the last walk has made, unless rules that it has made name tokens."""
        if self._store.names_tokens:
            return None
        listed = self._walker.listed
        if listed is None:
            return self._keep(state, mask.view(np.int32), self._walker.summary)
        self._blank = mask
        tokens, after = listed
        if not self._store.counts_tokens:
            self.steps.put(state, tokens.tolist(), after.tolist())
        return self._kept.keep(state, self._shared_rows.row_of(tokens))

    def _make_of_heads(self, state: StateId, heads: list[_Begun]) -> MaskRow:
        """The row of a state by what heads share."""
        draft = self._new_draft()
        self._add(heads, draft)
        return self._make_of_draft(state, draft)

    def _make_of_draft(self, state: StateId, draft: _Draft) -> MaskRow:
        """The row of a state, once all that is untold is settled."""
        words = self._settled(state, draft)
        return self._keep(state, words, self._walker.summary_of(words))

    def _keep(self, state: StateId, words: Int32Array, summary: Summary) -> MaskRow:
        return self._kept.keep(state, self._shared_rows.row(words, summary))

    def _make_of_closed(self, state: StateId) -> MaskRow | None:
        """The row of a state by that of a head that a quote closes, and what follows it."""
        draft = self._new_draft()
        return self._make_of_draft(state, draft) if self._add_closed(state, draft) else None

    def _add_closed(self, state: StateId, draft: _Draft) -> bool:
        """Set the bits of the tokens that may follow, where the head of a state is closed."""
        split = None if self._store.counts_tokens else self._closed.split(state)
        if split is None or split[0] in self._making:
            return False
        head = self._closed.head(split[0])
        draft.words |= head.row.words
        self._walk(split[1], draft, modes.AFTER, nodes=head.ends)
        return True

    def _make_of_unbounded(self, state: StateId, base: StateId, bound: int) -> MaskRow | None:
        """The row of a state that begins with a counter, if it is that of its like without one."""
        if bound < FAR_OFF and base not in self._by_state:
            return None
        row = self.make(base)
        return self._kept.keep(state, row) if not self._has_longer(row.words, bound) else None

    def _make_counted(self, state: StateId) -> MaskRow:
        """The row of a live state that may have far bounds, as one that it was made from had."""
        row = self._by_state.get(state)
        flags = self._structure.flags(state)
        if row is None and flags & lay.COUNTED and not flags & lay.RULEFUL:
            self._making.add(state)
            try:
                row = self._make_of_far(state)
            finally:
                self._making.discard(state)
        return row or self.make(state)

    def _make_of_far(self, state: StateId) -> MaskRow | None:
        """The row of a state by that of its like without far bounds, and a look at long tokens."""
        if self._store.counts_tokens or len(self._making) > MAX_MAKING:
            return None
        like = self._far_bounds.without(state)
        if like is None or like.state in self._making:
            return None
        row = self._make_counted(like.state)
        words = row.words
        unsure = words & longer_than(self._vocab, like.longest)
        if not unsure.any():
            return self._kept.keep(state, row)
        at_most = like.at_most
        if not _are_few(unsure, FEW_UNSURE) and at_most is not None and at_most not in self._making:
            words = words & self.make(at_most).words
            unsure &= words
        at_least = None if like.state in self._unlike else like.at_least
        if (
            not _are_few(unsure, FEW_UNSURE)
            and at_least is not None
            and at_least not in self._making
        ):
            unsure &= ~self.make(at_least).words
            if not _are_few(unsure, FEW_TOKENS):
                self._unlike.add(like.state)
        if words is row.words and not unsure.any():
            return self._kept.keep(state, row)
        if _are_few(unsure, FEW_TOKENS):
            draft = _Draft(words & ~unsure, [_ids(unsure)])
        elif like.longest < LENGTHS[0]:
            return None
        else:
            trie, past = long_tokens(self._vocab, like.longest)
            draft = _Draft(words & ~longer_than(self._vocab, past))
            self._walk(state, draft, modes.PLAIN, trie)
        return self._make_of_draft(state, draft)

    def _has_longer(self, words: Int32Array, length: int) -> bool:
        """Whether a row has tokens of more bytes."""
        return bool((words & longer_than(self._vocab, length)).any())

    def _make_of_parts(self, state: StateId) -> MaskRow:
        """The row of a state by what its walk tells, and steps for what it does not.

        Where the walk tells all, the row is that of every state with the same blurred one.
        """
        blurred = self._store.blur(state)
        row = self._by_state.get(blurred)
        if row is not None:
            return self._kept.keep(state, row)
        draft = self._draft(blurred) if blurred != state else self._make_draft(state)
        told = not (draft.untold or self._store.names_tokens)
        is_row = told and not self._store.nullable(state)
        if is_row and draft.summary is not None and draft.others is None:
            row = self._keep(state, draft.words, draft.summary)
        else:
            row = self._make_of_draft(state, draft)
        if is_row:
            draft.lie_in(row)
        else:
            draft.lean()
        if blurred != state and told and blurred not in self._by_state:
            self._kept.keep(blurred, row)
        return row

    def _draft(self, blurred: StateId) -> _Draft:
        """What walks tell of a blurred state, remembered: others share it."""
        draft = self._drafts.get(blurred)
        if draft is None:
            self._making.add(blurred)
            try:
                draft = self._make_draft(blurred)
            finally:
                self._making.discard(blurred)
            if len(self._drafts) >= _MAX_DRAFTS:
                del self._drafts[next(iter(self._drafts))]
            self._drafts[blurred] = draft
        return draft

    def _make_draft(self, state: StateId) -> _Draft:
        """What walks tell of a state whose texts captured are not known."""
        mask = self._take_blank()
        draft = _Draft(mask.view(np.int32))
        at = self._walk(state, draft, modes.DRAFT)
        if at in _ASKS:
            self._blank = mask
        base = self._walker.asked_for
        if base in self._making and at in (modes.NEEDS_BASE, modes.SAME, modes.BOUNDED):
            at = modes.LONG
        elif at == modes.SAME:
            return self._draft(base)
        elif at == modes.BOUNDED:
            bound = self._walker.bound
            if bound >= FAR_OFF and not self._walker.lets_text_through(base):
                known = self._draft(base)
                if not self._has_longer(known.copy(), bound):
                    return known
                at = modes.CLOSED
        elif at == modes.NEEDS_BASE:
            known = self._draft(base)
            draft = _Draft(known.copy(), list(known.untold))
            known.lean()
            draft.near = known.words
            self._walker.ask_for(base)
            at = self._walk(state, draft, modes.BASED_DRAFT)
        if at == modes.DONE:
            if self._walker.has_told_all:
                draft.summary = self._walker.summary
        else:
            draft = self._new_draft()
            if at == modes.CLOSED and self._add_closed(state, draft):
                return draft
            heads = self._heads_of(state)
            if heads is not None:
                self._add(heads, draft)
            else:
                self._walk(state, draft, modes.PART)
                self._note_cost(state)
        return draft

    def _new_draft(self) -> _Draft:
        return _Draft(np.zeros(self._num_words, np.int32))

    def _take_blank(self) -> Words:
        """A row of zeros, to be put back if it is left so."""
        mask, self._blank = self._blank, None
        return np.zeros(self._num_words, np.uint32) if mask is None else mask

    def _walk(
        self,
        state: StateId,
        draft: _Draft,
        mode: int,
        trie: Trie | None = None,
        nodes: Int32Array | None = None,
    ) -> int:
        """Walk for a draft; what the kernel returns."""
        at = self._walker.walk(state, draft.words.view(np.uint32), mode, trie, nodes)
        if len(self._walker.untold):
            draft.untold.append(self._walker.untold)
        return at

    def _settled(self, state: StateId, draft: _Draft) -> Int32Array:
        """A row of its own from a draft: with the tokens that it does not tell, and end tokens."""
        words = draft.copy()
        if draft.untold:
            if draft.tokens is None:
                ids = np.unique(np.concatenate(draft.untold))
                told = words[ids >> 5] >> (ids & 31) & 1
                draft.tokens = self._unsure_tokens(ids[told == 0])
            draft.tokens.settle(self._store, state, words)
        if self._store.names_tokens:
            self.named.add(state, words)
        if self._store.nullable(state):
            words |= self._eos_bits
        return words

    def _unsure_tokens(self, ids: Int32Array) -> UnsureTokens:
        """Tokens to be settled, remembered: many states leave the same ones untold."""
        key = ids.tobytes()
        found = self._to_settle.get(key)
        if found is None:
            if len(self._to_settle) >= _MAX_DRAFTS:
                del self._to_settle[next(iter(self._to_settle))]
            found = self._to_settle[key] = UnsureTokens(self._vocab, ids)
        return found

    def _heads_of(self, state: StateId) -> list[_Begun] | None:
        """What a live state may begin with, where the row of a head among that is at hand."""
        found: list[_Begun] = []
        for member in self._members(state):
            parts, after = self._split(member) or ([], member)
            head = self._heads.row(parts) if parts else None
            if not self._store.is_empty(member):
                found.append(_Begun(member, head, parts, after))
        return found if any([begun.head for begun in found]) else None

    def _note_cost(self, state: StateId) -> None:
        """Say what the last walk has cost, a long one because its heads are not at hand."""
        num_visited = self._walker.num_visited
        for member in self._members(state):
            split = self._split(member)
            if split is not None:
                self._heads.note_cost(split[0], num_visited)

    def _members(self, state: StateId) -> list[StateId]:
        is_union = self._structure.is_kind(state, lay.ALT)
        return self._structure.members(state) if is_union else [state]

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

    def _add(self, members: list[_Begun], draft: _Draft) -> None:
        """Set the bits of the tokens that may follow: what heads share, and walks of the others."""
        for member, head, parts, after in members:
            if head is None:
                self._walk(member, draft, modes.PART)
                continue
            draft.words |= head.words
            if after != lay.EPS_ID:
                for remainders in head.remainders:
                    self._walk(after, draft, modes.PLAIN, remainders)
                if all(self._store.nullable(part) for part in parts):
                    self._walk(after, draft, modes.PART)

    @property
    def nbytes(self) -> int:
        """Bytes of rows, which other grammars may have too, and of what leads to rows, about."""
        drafts = sum(_DRAFT_BYTES + draft.nbytes for draft in list(self._drafts.values()))
        to_settle = sum(tokens.nbytes for tokens in list(self._to_settle.values()))
        blank = self._blank
        own = self._walker.nbytes + (0 if blank is None else blank.nbytes)
        remembered = self.steps.nbytes + self.ticks.nbytes + self._structure.nbytes
        remembered += self._far_bounds.nbytes
        return self._kept.nbytes + drafts + to_settle + remembered + own


def _are_few(words: Int32Array, most: int) -> bool:
    """Whether a row has so many tokens, or fewer."""
    some = words[np.flatnonzero(words)]
    return len(some) <= most and int(np.unpackbits(some.view(np.uint8)).sum()) <= most


def _ids(words: Int32Array) -> Int32Array:
    """The ids of a row's tokens, where these are few."""
    at = np.flatnonzero(words)
    bits = np.unpackbits(words[at].view(np.uint8), bitorder="little")
    found = np.flatnonzero(bits)
    ids: Int32Array = (32 * at[found >> 5] + (found & 31)).astype(np.int32)
    return ids
