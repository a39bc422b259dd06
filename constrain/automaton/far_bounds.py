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
member is part of all others, and so is the intersection.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import StateId, TermStore
from constrain.algebra.structure import Structure
from constrain.kernels.derive import layout as lay
from constrain.vocab import Trie, Vocabulary, build_trie, per_vocabulary

__all__ = ["FarBounds", "long_tokens"]

Int32Array = npt.NDArray[np.int32]

LEAST_REACH = 24
"""Bytes that a bound must reach to count as far."""
LENGTHS = (16, 24, 32, 48, 64, 96)
"""Tokens past one of these are long. Of Qwen 3's 151,669, 1,918 are longer than 16 bytes, 240 than
32, and 121 than 64."""
MAX_PARTS = 16
"""Parts of a head."""
MAX_TERMS = 4096
"""Terms of one head looked at; one with more has no far bounds."""
MAX_STATES = 2048
"""States looked at to see whether a member of an intersection is part of another one."""


class _Look(NamedTuple):
    """What is known of a term.

    Attributes:
        reach: Bytes of texts about which it agrees with what it is without its farthest bounds; 0
            if it has none.
        least: Each of its texts has so many bytes, or more.
        way_out: From wherever a text of it may have come to, so many bytes lead to an end, or
            fewer; INFINITE if that is not known.
    """

    reach: int
    least: int
    way_out: int


class FarBounds:
    """Takes far bounds out of the states of one grammar. Called under the store's lock.

    Args:
        store: The grammar's terms.
        structure: Of the same store.
    """

    def __init__(self, store: TermStore, structure: Structure) -> None:
        self._store = store
        self._structure = structure
        self._looks: dict[int, _Look | None] = {}
        self._loosest: dict[StateId, StateId] = {}
        self._parts_of: dict[tuple[StateId, StateId], bool] = {}

    @property
    def nbytes(self) -> int:
        """Bytes of what is remembered, about."""
        return 200 * len(self._looks) + 90 * len(self._loosest) + 150 * len(self._parts_of)

    def without(self, state: StateId) -> tuple[StateId, int] | None:
        """A state's like without its farthest bounds, and the bytes of tokens that it tells of.

        Longer tokens that may follow that state may or may not follow this one. None if there is no
        such state, or hardly any token is so short.

        Args:
            state: A live state, whose first rules have been made.

        Raises:
            LimitExceededError: The grammar grew past its limits.

        Cost: some 30 us; where a pattern is new, as much as a search of its states.
        """
        head: list[StateId] = []
        reach = 0
        after = state
        for part, rest in islice(self._structure.parts(state), MAX_PARTS):
            look = None if self._structure.is_kind(part, lay.CLASS) else self._look(part)
            if look is None:
                break
            head.append(part)
            reach = max(reach, look.reach)
            after = rest
        if reach < LEAST_REACH:
            return None
        like = self._store.concatenate([self._relax(part, reach) for part in head])
        look = self._look(like)
        if look is None or reach - look.way_out < LENGTHS[0]:
            return None
        return self._store.concatenate([like, after]), reach - look.way_out

    def _look(self, root: StateId) -> _Look | None:
        """What is known of a term; None if it has parts that do not tell, such as rules to come."""
        done = self._looks
        todo = [int(root)]
        begun: set[int] = set()
        while todo:
            node = todo[-1]
            if node in done:
                todo.pop()
                continue
            parts = self._parts(StateId(node))
            missing = [part for part in parts or () if part not in done]
            if missing:
                if node in begun or len(begun) > MAX_TERMS:
                    return None  # a rule inside of itself
                begun.add(node)
                todo += missing
                continue
            todo.pop()
            looks = [done[part] for part in parts or ()]
            told = [look for look in looks if look is not None]
            if parts is not None and len(told) == len(looks):
                done[node] = self._make_look(StateId(node), told)
            elif self._structure.holds_rule(StateId(node)):
                return None  # the rule may be made until it is asked for again
            else:
                done[node] = None
        return done[root]

    def _parts(self, state: StateId) -> list[int] | None:
        is_complement = self._structure.is_kind(state, lay.NOT)
        return [] if is_complement else self._structure.parts_or_body(state)

    def _make_look(self, state: StateId, below: list[_Look]) -> _Look:
        kind = self._structure.kind(state)
        if kind == lay.NOT:
            return _Look(0, 0, lay.INFINITE)
        if kind == lay.CLASS:
            return _Look(0, 1, 1)
        if not below:
            return _Look(0, 0, 0)
        reach = max(look.reach for look in below)
        if kind == lay.CAT:
            first, rest = below
            way_out = max(first.way_out + rest.least, rest.way_out)
            return _Look(reach, _capped(first.least + rest.least), _capped(way_out))
        if kind == lay.REPEAT:
            (body,) = below
            bounds = self._structure.repeat_bounds(state)
            assert bounds is not None
            _, lo, hi = bounds
            if hi < lay.INFINITE and hi * body.least >= LEAST_REACH:
                reach = max(reach, _capped(hi * body.least))
            least = _capped(lo * body.least)
            way_out = max(least, body.way_out + max(lo - 1, 0) * body.least)
            return _Look(reach, least, _capped(way_out))
        if kind == lay.AND:
            return _Look(reach, max(look.least for look in below), lay.INFINITE)
        least = min(look.least for look in below)
        return _Look(reach, least, max(look.way_out for look in below))

    def _reach(self, state: StateId) -> int:
        look = self._looks[state]
        return 0 if look is None else look.reach

    def _relax(self, root: StateId, reach: int) -> StateId:
        """A term that was looked at, without its bounds that reach so far."""
        done: dict[int, StateId] = {}
        todo = [int(root)]
        while todo:
            node = StateId(todo[-1])
            if self._reach(node) < reach:
                done[node] = node
            if node in done:
                todo.pop()
                continue
            parts = self._parts(node) or []
            missing = [part for part in parts if part not in done]
            if missing:
                todo += missing
                continue
            todo.pop()
            done[node] = self._make_relaxed(node, parts, [done[part] for part in parts], reach)
        return done[root]

    def _make_relaxed(
        self, state: StateId, bounded: list[int], parts: list[StateId], reach: int
    ) -> StateId:
        kind = self._structure.kind(state)
        if kind == lay.CAT:
            return self._store.concatenate(parts)
        if kind == lay.ALT:
            return self._store.union(*parts)
        if kind == lay.RULE:
            return parts[0]
        if kind == lay.AND:
            relaxed = set(parts).difference(bounded)
            return self._store.intersection(*self._without_looser(parts, relaxed))
        bounds = self._structure.repeat_bounds(state)
        assert bounds is not None, "nothing else has bounds in it"
        body, lo, hi = bounds
        look = self._looks[body]
        assert look is not None
        is_far = hi < lay.INFINITE and hi * look.least >= reach
        return self._store.repeat(parts[0], lo, lay.INFINITE if is_far else hi)

    def _without_looser(self, members: list[StateId], relaxed: set[StateId]) -> list[StateId]:
        """Members of an intersection but for those relaxed that another one is part of."""
        kept = list(dict.fromkeys(members))
        for member in relaxed:
            others = [other for other in kept if other != member]
            if any([self._is_part(other, member) for other in others]):
                kept = others
        return kept

    def _is_part(self, state: StateId, of: StateId) -> bool:
        """Whether all texts of a state are known to be texts of another one.

        Asked of the state without any far bound, which has fewer states.
        """
        loosest = self._loosest.get(state)
        if loosest is None:
            if self._look(state) is None:
                return False
            loosest = self._loosest[state] = self._relax(state, LEAST_REACH)
        known = self._parts_of.get((loosest, of))
        if known is None:
            known = self._store.is_part(loosest, of, max_states=MAX_STATES)
            self._parts_of[loosest, of] = known
        return known


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
