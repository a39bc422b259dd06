"""Mask rows by state: made once, then remembered, and equal rows kept once.

A row says which tokens may follow a state. States are canonical (equal terms have one id), so a
second visit to a state is a look-up. Many states allow the same tokens; their rows are one array.
Rows are bounded by bytes: past the bound the oldest go, and are made again if their state comes
back.

The plain way to make a row is a walk of the whole vocabulary (`MaskRows.walk`). All other ways give
the same row, and tests compare them with it. `MaskRows.make` takes the first that fits:

1. *Tokens are counted*: the row is that of the state without what is left of the counts (`ticks`).
2. *No token is named, and the state captures no text*: one walk makes the row (`_make_whole`). It
   lists the tokens if few bytes can come, copies what plain text has in common for all states, and
   gives up as soon as it sees that another way is cheaper. Then the row is
   - that of another state, or a copy of it with a walk where both differ;
   - that of the state without bounds that no token reaches (`far_bounds`);
   - that of a head that a quote closes, and a walk of what follows it (`closed`);
   - that of a head that was measured, and a walk of its remainders (`heads`);
   - else that of the same walk, taken to its end.
3. *Texts are captured* (`_make_of_parts`): the walk is that of the blurred state, which states with
   other captured texts share, and leaves a `draft`. Tokens that reach past the end of a captured
   text are undecided, and are stepped through one by one for each state (`settle`). Tokens that the
   grammar names are steps of their own (`named`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import StateId, TermStore
from constrain.algebra.structure import Structure
from constrain.automaton.closed import ClosedHeads
from constrain.automaton.draft import DRAFT_BYTES, Draft
from constrain.automaton.far_bounds import FarBounds
from constrain.automaton.headwalk import HeadWalk, SplitState
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
_WROTE_NOTHING = (modes.NEEDS_BASE, modes.SAME, modes.BOUNDED, modes.FAR, modes.CLOSED)
"""Results of a walk that has asked for something before it set any bit."""
_MAX_DRAFTS = 256

FAR_OFF = 16
"""Few tokens are longer than so many bytes: past that it is worth looking whether any is."""
FEW_UNSURE = 8
"""So many tokens, or fewer, are settled one by one rather than decided by another row."""
FEW_TOKENS = 128
"""So many tokens, or fewer, are settled one by one rather than by a walk."""
MAX_MAKING = 16
"""How many rows may wait for one another before one is walked as it is. A pattern may have many
bounds."""


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
        self._drafts: dict[StateId, Draft] = {}
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
        """The row of a state by the cheapest way that a walk finds; None if it captures texts.

        A walk that returns one of `_WROTE_NOTHING` asks for something instead: another way, or the
        row of `asked_for`, which is at hand or made first. A row that is being made cannot be asked
        for; then the walk is taken to its end, as after `LONG`.
        """
        walker = self._walker
        mask = self._take_blank()
        result = walker.walk(state, mask, modes.ROW)
        if result == modes.DONE:
            return self._made_whole(state, mask)
        if result in _WROTE_NOTHING:
            self._blank = mask
        base, bound = walker.asked_for, walker.bound
        if result == modes.BOUNDED and (base in self._making or walker.lets_text_through(base)):
            result = modes.LONG  # plain text has tokens longer than any bound that it asks about
        elif result in (modes.BOUNDED, modes.FAR, modes.CLOSED):
            row = self._make_of_closed(state)
            if row is None and result == modes.FAR:
                row = self._make_of_far(state)
            elif row is None and result == modes.BOUNDED:
                row = self._make_of_unbounded(state, base, bound)
            if row is not None:
                return row
            mask = self._take_blank()
            result = walker.walk(state, mask, modes.BOUNDED_ROW)  # does not ask for these again
            base = walker.asked_for
        if result in (modes.NEEDS_BASE, modes.SAME) and base in self._making:
            result = modes.LONG
        elif result == modes.SAME:
            return self._kept.keep(state, self.make(base))
        elif result == modes.NEEDS_BASE:
            mask = self.make(base).words.copy().view(np.uint32)
            walker.ask_for(base)
            result = walker.walk(state, mask, modes.BASED_ROW)
        if result == modes.CAPTURES:
            return None
        if result == modes.DONE:
            return self._made_whole(state, mask)
        if self._store.names_tokens:  # said by a rule that a walk has made
            return None
        heads = self._heads.split(state)
        if heads is not None:
            return self._make_of_heads(state, heads)
        mask = self._take_blank()
        result = walker.walk(state, mask, modes.LONG_ROW)
        self._heads.note_cost(state, walker.num_visited)
        return None if result == modes.CAPTURES else self._made_whole(state, mask)

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

    def _make_of_heads(self, state: StateId, heads: list[SplitState]) -> MaskRow:
        """The row of a state by what heads share."""
        draft = self._new_draft()
        self._add_heads(heads, draft)
        return self._make_of_draft(state, draft)

    def _make_of_draft(self, state: StateId, draft: Draft) -> MaskRow:
        """The row of a state, once all that is undecided is settled."""
        words = self._settled(state, draft)
        return self._keep(state, words, self._walker.summary_of(words))

    def _keep(self, state: StateId, words: Int32Array, summary: Summary) -> MaskRow:
        return self._kept.keep(state, self._shared_rows.row(words, summary))

    def _make_of_closed(self, state: StateId) -> MaskRow | None:
        """The row of a state by that of a head that a quote closes, and what follows it."""
        draft = self._new_draft()
        return self._make_of_draft(state, draft) if self._add_closed(state, draft) else None

    def _add_closed(self, state: StateId, draft: Draft) -> bool:
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
        """The row of a state by that of its like without far bounds, and a look at long tokens.

        The row of its like has every token that may follow, and perhaps long ones that may not:
        `unsure`. Rows of other likes make these fewer; what is left is settled, or walked.
        """
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
        at_most = like.at_most  # has all that may follow, too: what it lacks may not
        if not _are_few(unsure, FEW_UNSURE) and at_most is not None and at_most not in self._making:
            words = words & self.make(at_most).words
            unsure &= words
        at_least = None if like.state in self._unlike else like.at_least  # what it has may follow
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
            draft = Draft(words & ~unsure, [_ids(unsure)])
        elif like.longest < LENGTHS[0]:
            return None
        else:
            trie, past = long_tokens(self._vocab, like.longest)
            draft = Draft(words & ~longer_than(self._vocab, past))
            self._walk(state, draft, modes.PLAIN, trie)
        return self._make_of_draft(state, draft)

    def _has_longer(self, words: Int32Array, length: int) -> bool:
        """Whether a row has tokens of more bytes."""
        return bool((words & longer_than(self._vocab, length)).any())

    def _make_of_parts(self, state: StateId) -> MaskRow:
        """The row of a state by a draft, and steps for what is undecided there.

        Where nothing is, the row is that of every state with the same blurred one.
        """
        blurred = self._store.blur(state)
        row = self._by_state.get(blurred)
        if row is not None:
            return self._kept.keep(state, row)
        draft = self._draft(blurred) if blurred != state else self._make_draft(state)
        decided = not (draft.undecided or self._store.names_tokens)
        is_row = decided and not self._store.nullable(state)
        if is_row and draft.summary is not None and draft.patch is None:
            row = self._keep(state, draft.words, draft.summary)
        else:
            row = self._make_of_draft(state, draft)
        if is_row:
            draft.share(row)
        else:
            draft.compress()
        if blurred != state and decided and blurred not in self._by_state:
            self._kept.keep(blurred, row)
        return row

    def _draft(self, blurred: StateId) -> Draft:
        """What walks decide of a blurred state, remembered: other states share it."""
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

    def _make_draft(self, state: StateId) -> Draft:
        """What walks decide of a state, whatever the captured texts are. As `_make_whole` goes."""
        mask = self._take_blank()
        draft = Draft(mask.view(np.int32))
        result = self._walk(state, draft, modes.DRAFT)
        if result in _WROTE_NOTHING:
            self._blank = mask
        base = self._walker.asked_for
        if base in self._making and result in (modes.NEEDS_BASE, modes.SAME, modes.BOUNDED):
            result = modes.LONG
        elif result == modes.SAME:
            return self._draft(base)
        elif result == modes.BOUNDED:
            bound = self._walker.bound
            if bound >= FAR_OFF and not self._walker.lets_text_through(base):
                known = self._draft(base)
                if not self._has_longer(known.copy_words(), bound):
                    return known
                result = modes.CLOSED
        elif result == modes.NEEDS_BASE:
            known = self._draft(base)
            draft = Draft(known.copy_words(), list(known.undecided))
            known.compress()
            draft.base = known.words
            self._walker.ask_for(base)
            result = self._walk(state, draft, modes.BASED_DRAFT)
        if result == modes.DONE:
            if self._walker.has_decided_all:
                draft.summary = self._walker.summary
        else:
            draft = self._new_draft()
            if result == modes.CLOSED and self._add_closed(state, draft):
                return draft
            heads = self._heads.split(state)
            if heads is not None:
                self._add_heads(heads, draft)
            else:
                self._walk(state, draft, modes.PART)
                self._heads.note_cost(state, self._walker.num_visited)
        return draft

    def _new_draft(self) -> Draft:
        return Draft(np.zeros(self._num_words, np.int32))

    def _take_blank(self) -> Words:
        """A row of zeros, to be put back if it is left so."""
        mask, self._blank = self._blank, None
        return np.zeros(self._num_words, np.uint32) if mask is None else mask

    def _walk(
        self,
        state: StateId,
        draft: Draft,
        mode: int,
        trie: Trie | None = None,
        nodes: Int32Array | None = None,
    ) -> int:
        """Walk for a draft; what the kernel returns."""
        at = self._walker.walk(state, draft.words.view(np.uint32), mode, trie, nodes)
        if len(self._walker.undecided):
            draft.undecided.append(self._walker.undecided)
        return at

    def _settled(self, state: StateId, draft: Draft) -> Int32Array:
        """A row of its own from a draft: undecided tokens settled, named and end tokens added."""
        words = draft.copy_words()
        if draft.undecided:
            if draft.to_settle is None:
                ids = np.unique(np.concatenate(draft.undecided))
                is_set = words[ids >> 5] >> (ids & 31) & 1
                draft.to_settle = self._unsure_tokens(ids[is_set == 0])
            draft.to_settle.settle(self._store, state, words)
        if self._store.names_tokens:
            self.named.add(state, words)
        if self._store.nullable(state):
            words |= self._eos_bits
        return words

    def _unsure_tokens(self, ids: Int32Array) -> UnsureTokens:
        """Tokens to be settled, remembered: many states leave the same ones undecided."""
        key = ids.tobytes()
        found = self._to_settle.get(key)
        if found is None:
            if len(self._to_settle) >= _MAX_DRAFTS:
                del self._to_settle[next(iter(self._to_settle))]
            found = self._to_settle[key] = UnsureTokens(self._vocab, ids)
        return found

    def _add_heads(self, members: list[SplitState], draft: Draft) -> None:
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
        drafts = sum(DRAFT_BYTES + draft.nbytes for draft in list(self._drafts.values()))
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
