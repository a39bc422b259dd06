r"""Bounds so far off that they matter for long tokens only.

    [a-z ]{0,285} & (\S+\s+){0,28}\S+    lets the same short tokens through as    (\S+\s+){0,28}\S+
    (\S+\s+){0,28}\S+                     lets the same short tokens through as    (\S+\s+)*\S+

Each character leads to another state of an intersection with a counter, and to few of what else it
intersects. So a row of the first is that of the second, but for tokens too long to tell.

Why: a repeat x{lo,hi} and one without a bound have the same texts of less than (hi + 1)·m bytes,
if each x has m or more; and so have unions, concatenations and intersections of them. A token t
goes on in what has no bound if some text t·u is in it. Where the shortest u is so short that t·u is
no longer than the bounds reach, t·u is in what has them as well. The other way round, that is part
of what has none, as long as no complement stands around a bound: there all is left as it is.

The shortest u is read from the terms, but for intersections: those are asked for only where one
member is part of all others, and so is the intersection. Where a text has come to what follows,
such as the rest of an object, both states go on alike, and that need not be looked into.
"""

from __future__ import annotations

import functools
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import StateId, TermStore
from constrain.algebra.structure import Structure
from constrain.kernels.derive import layout as lay
from constrain.vocab import Trie, Vocabulary, build_trie, per_vocabulary

__all__ = ["MAX_PARTS", "FarBounds", "Like", "long_tokens"]

Int32Array = npt.NDArray[np.int32]

LEAST_REACH = 24
"""Bytes that a bound must reach to count as far."""
LENGTHS = (16, 24, 32, 48, 64, 96)
"""Tokens past one of these are long. Of Qwen 3's 151,669, 1,918 are longer than 16 bytes, 240 than
32, and 121 than 64."""
MAX_PARTS = 16
"""Parts of a head. A pattern may have thousands in a row."""
MAX_TERMS = 4096
"""Terms of one part looked at; one with more has no far bounds."""
MAX_STATES = 512
"""States looked at to see whether one member of an intersection is part of another: some 10 ms."""
MAX_SEARCHES = 4
"""Such searches of a grammar that may be for nothing, since there are more states."""


class Like(NamedTuple):
    """A state like another one but for its farthest bounds.

    Attributes:
        state: It lets every token through that the other does.
        longest: Tokens of so many bytes, or fewer, that it lets through the other one does, too.
        at_most: Lets every token through that the other does, and few more, long ones; None if
            there is no such state.
    """

    state: StateId
    longest: int
    at_most: StateId | None


class _Look(NamedTuple):
    """What is known of a term.

    Attributes:
        reach: Bytes of texts about which it agrees with what it is without its farthest bounds; 0
            if it has none.
        least: Each of its texts has so many bytes, or more.
        way_out: From wherever a text of it may have come to, so many bytes lead to an end, or
            fewer; INFINITE if that is not known.
        leads_on: It may end with terms that were not looked into. Where those begin, it ends.
    """

    reach: int
    least: int
    way_out: int
    leads_on: bool = False


class _Part(NamedTuple):
    """A part of a term: as it was, without far bounds, and what is known of it then."""

    bounded: StateId
    relaxed: StateId
    look: _Look


_WHAT_FOLLOWS = _Look(0, 0, 0, leads_on=True)
"""Of a term that is not looked into."""


class FarBounds:
    """Takes far bounds out of the states of one grammar. Called under the store's lock.

    Args:
        store: The grammar's terms.
        structure: Of the same store.
    """

    def __init__(self, store: TermStore, structure: Structure) -> None:
        self._store = store
        self._structure = structure
        self._looks: dict[int, _Look] = {}
        self._looks_now: dict[int, _Look] = {}
        """Of terms with rules, whose bodies may be made until they are asked for again."""
        self._loosest: dict[StateId, StateId] = {}
        self._parts_of: dict[tuple[StateId, StateId], bool] = {}
        self._searches_left = MAX_SEARCHES

    @property
    def nbytes(self) -> int:
        """Bytes of what is remembered, about."""
        return 200 * len(self._looks) + 90 * len(self._loosest) + 150 * len(self._parts_of)

    def without(self, state: StateId) -> Like | None:
        """A state's like without its farthest bounds.

        None if there is no such state, or hardly any token is short enough.

        Args:
            state: A live state, whose first rules have been made.

        Raises:
            LimitExceededError: The grammar grew past its limits.

        Cost: some 30 us; where a pattern is new, as much as a search of its states.
        """
        self._looks_now.clear()
        head: list[StateId] = []
        reach = 0
        after = state
        for part, rest in islice(self._structure.parts(state), MAX_PARTS):
            if self._structure.is_kind(part, lay.CLASS) or not self._has_look(part):
                break
            look = self._known(part)
            if look.leads_on and rest != lay.EPS_ID:
                break
            head.append(part)
            reach = max(reach, look.reach)
            after = rest
        if reach < LEAST_REACH:
            return None
        relaxed = [self._relax(part, reach) for part in head]
        longest = reach - functools.reduce(_in_sequence, [look for _, look in relaxed]).way_out
        if longest < LENGTHS[0]:
            return None
        at_most = None
        if len(head) == 1 and self._structure.is_kind(head[0], lay.AND):
            bounded = [m for m in self._structure.members(head[0]) if self._known(m).reach >= reach]
            at_most = self._store.concatenate([self._store.intersection(*bounded), after])
        like = self._store.concatenate([*[state for state, _ in relaxed], after])
        return Like(like, longest, at_most)

    def _known(self, node: int) -> _Look:
        return self._looks.get(node) or self._looks_now[node]

    def _is_known(self, node: int) -> bool:
        return node in self._looks or node in self._looks_now

    def _has_look(self, root: StateId) -> bool:
        """Look at a term, so that `_known` tells; False if it has too many parts."""
        todo = [int(root)]
        begun: set[int] = set()
        while todo:
            node = StateId(todo[-1])
            if self._is_known(node):
                todo.pop()
                continue
            kind, flags, parts = self._structure.read(node)
            missing: list[int] = []
            if kind == lay.NOT:
                look = _Look(0, 0, lay.INFINITE)
            elif kind == lay.CLASS:
                look = _Look(0, 1, 1)
            elif parts is None or self._follows(kind, flags, parts):
                look = _WHAT_FOLLOWS
            else:
                if kind == lay.CAT and not self._goes_on(parts[0]):
                    del parts[1]  # it is looked at only if the first does not lead on
                missing = [part for part in parts if not self._is_known(part)]
                if not missing:
                    look = self._combined(kind, node, [self._known(part) for part in parts])
                elif kind != lay.CAT and node in begun:
                    look, missing = _WHAT_FOLLOWS, []  # a rule inside of itself
            if missing:
                if len(begun) >= MAX_TERMS:
                    return False
                begun.add(node)
                todo += missing
                continue
            todo.pop()
            (self._looks_now if flags & lay.RULEFUL else self._looks)[node] = look
        return True

    def _goes_on(self, first: int) -> bool:
        """Whether what follows a term in a concatenation is looked at, as is known so far."""
        return self._is_known(first) and not self._known(first).leads_on

    def _follows(self, kind: int, flags: int, parts: list[int]) -> bool:
        """Whether a term is not looked into: it has rules, and no counter."""
        if kind == lay.RULE:
            flags = self._structure.flags(StateId(parts[0]))
        return bool(flags & lay.RULEFUL) and not flags & lay.COUNTED

    def _combined(self, kind: int, state: StateId, below: list[_Look]) -> _Look:
        """What is known of a term like a state with such parts."""
        if not below:
            return _Look(0, 0, 0)
        if kind == lay.CAT:
            return functools.reduce(_in_sequence, below)
        leads_on = any([look.leads_on for look in below])
        reach = max(look.reach for look in below)
        if kind in (lay.ALT, lay.RULE):
            least = min(look.least for look in below)
            return _Look(reach, least, max(look.way_out for look in below), leads_on)
        if leads_on:
            return _WHAT_FOLLOWS
        if kind == lay.AND:
            return _Look(reach, max(look.least for look in below), lay.INFINITE)
        (body,) = below
        lo, hi = self._bounds(state)
        if hi < lay.INFINITE and hi * body.least >= LEAST_REACH:
            reach = max(reach, _capped(hi * body.least))
        least = _capped(lo * body.least)
        way_out = _capped(body.way_out + max(lo - 1, 0) * body.least)
        return _Look(reach, least, max(least, way_out))

    def _bounds(self, state: StateId) -> tuple[int, int]:
        bounds = self._structure.repeat_bounds(state)
        assert bounds is not None, "it is a repeat"
        return bounds[1:]

    def _relax(self, root: StateId, reach: int) -> tuple[StateId, _Look]:
        """A term that was looked at, without its bounds that reach so far; and what is known then.

        What was not looked into stays as it is.
        """
        done: dict[int, tuple[StateId, _Look]] = {}
        todo = [int(root)]
        while todo:
            node = StateId(todo[-1])
            if node not in done and not (self._is_known(node) and self._known(node).reach >= reach):
                look = self._known(node) if self._is_known(node) else _WHAT_FOLLOWS
                done[node] = node, look
            if node in done:
                todo.pop()
                continue
            parts = self._structure.read(node)[2] or []
            missing = [part for part in parts if part not in done]
            if missing:
                todo += missing
                continue
            todo.pop()
            below = [_Part(StateId(part), *done[part]) for part in parts]
            done[node] = self._make_relaxed(node, below, reach)
        return done[root]

    def _make_relaxed(
        self, state: StateId, parts: list[_Part], reach: int
    ) -> tuple[StateId, _Look]:
        kind = self._structure.kind(state)
        if kind == lay.AND:
            parts = self._without_looser(parts)
        if kind == lay.RULE or (len(parts) == 1 and kind == lay.AND):
            return parts[0].relaxed, parts[0].look
        states = [part.relaxed for part in parts]
        look = self._combined(kind, state, [part.look for part in parts])
        if kind == lay.CAT:
            return self._store.concatenate(states), look
        if kind == lay.ALT:
            return self._store.union(*states), look
        if kind == lay.AND:
            return self._store.intersection(*states), look
        lo, hi = self._bounds(state)
        is_far = hi < lay.INFINITE and hi * self._known(parts[0].bounded).least >= reach
        return self._store.repeat(states[0], lo, lay.INFINITE if is_far else hi), look

    def _without_looser(self, members: list[_Part]) -> list[_Part]:
        """Members of an intersection but for those that another one is part of."""
        kept = members
        # Those that were relaxed are the looser ones, and the same again and again.
        for member in sorted(members, key=lambda m: m.bounded == m.relaxed):
            others = [other for other in kept if other is not member]
            if any([self._is_part(other.relaxed, member.relaxed) for other in others]):
                kept = others
        return kept

    def _is_part(self, state: StateId, of: StateId) -> bool:
        """Whether all texts of a state are known to be texts of another one.

        Asked of the state without any far bound, which has fewer states.
        """
        loosest = self._loosest.get(state)
        if loosest is None:
            if not self._has_look(state):
                return False
            loosest = self._loosest[state] = self._relax(state, LEAST_REACH)[0]
        known = self._parts_of.get((loosest, of))
        if known is None and self._searches_left:
            known = self._store.is_part(loosest, of, max_states=MAX_STATES)
            self._searches_left -= known is None
            self._parts_of[loosest, of] = bool(known)
        return bool(known)


def _in_sequence(first: _Look, rest: _Look) -> _Look:
    """What is known of one term after another; of the second nothing if the first leads on."""
    if first.leads_on:
        return _WHAT_FOLLOWS
    return _Look(
        max(first.reach, rest.reach),
        _capped(first.least + rest.least),
        _capped(max(first.way_out + rest.least, rest.way_out)),
        rest.leads_on,
    )


def _capped(count: int) -> int:
    return min(count, lay.INFINITE)


def long_tokens(vocab: Vocabulary, length: int) -> tuple[Trie, Int32Array]:
    """The tokens of a vocabulary longer than `length`, and perhaps some that are not.

    Args:
        vocab: The vocabulary.
        length: In bytes, at least the first of `LENGTHS`.

    Returns:
        A trie of them, and the words of a row of all other tokens, int32 [ceil(V/32)].

    Cost: the first time for a vocabulary and one of `LENGTHS`, up to 10 ms.
    """
    past = max(known for known in LENGTHS if known <= length)
    by_length = _long_tokens(vocab)
    if past not in by_length:
        by_length[past] = _longer_than(vocab, past)
    return by_length[past]


@per_vocabulary
def _long_tokens(vocab: Vocabulary) -> dict[int, tuple[Trie, Int32Array]]:
    """What has been found of a vocabulary, by length."""
    return {}


def _longer_than(vocab: Vocabulary, length: int) -> tuple[Trie, Int32Array]:
    is_long = vocab.text_lengths > length
    ids = np.flatnonzero(is_long).tolist()
    others = np.full((vocab.vocab_size + 31) // 32 * 32, True)
    others[: len(is_long)] = ~is_long
    trie = build_trie([vocab.bytes_of(token) for token in ids]).retargeted(ids)
    return trie, np.packbits(others, bitorder="little").view(np.int32)
