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
member is part of all others, and so is the intersection. A bound on words, such as that of the
second above, is taken out even where it is near: few tokens have more than two words, so the same
with a bound of two tells the rest, as all that it has the state has too.

Where a text has come to what follows, such as the rest of an object, both states go on alike, and
that need not be looked into.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from constrain.algebra.store import DEAD, StateId, TermStore
from constrain.algebra.structure import Structure
from constrain.automaton.inclusion import Inclusions
from constrain.automaton.long_tokens import LENGTHS
from constrain.kernels.derive import layout as lay

__all__ = ["MAX_PARTS", "FarBounds", "Like"]

LEAST_REACH = 24
"""Bytes that a bound must reach to count as far."""
LEAST_OF_WORDS = 8
"""The same of one on words of any length, of which few tokens have many."""
MAX_TRIES = 4
"""Bounds that are taken out one after another until the shortest way out is known."""
NEAR = 2
"""How often what is near may come. Few tokens have more than two words."""
MAX_LIKES = 64
"""Likes that are remembered, each for the walk that follows."""
MAX_PARTS = 16
"""Parts of a head. A pattern may have thousands in a row."""
MAX_TERMS = 4096
"""Terms of one part looked at; one with more has no far bounds."""


class Like(NamedTuple):
    """A state like another one but for its farthest bounds.

    Attributes:
        state: It lets every token through that the other does.
        longest: Tokens of so many bytes, or fewer, that it lets through the other one does, too.
        at_most: Lets every token through that the other does, and few more, long ones; None if
            there is no such state.
        at_least: The other one lets every token through that this does, which has near bounds for
            the farthest; None if there is no such state.
    """

    state: StateId
    longest: int
    at_most: StateId | None
    at_least: StateId | None


class _Look(NamedTuple):
    """What is known of a term.

    Attributes:
        reach: Bytes of texts about which it agrees with what it is without its farthest bounds; 0
            if it has none.
        least: Each of its texts has so many bytes, or more.
        way_out: From wherever a text of it may have come to, so many bytes lead to an end, or
            fewer; INFINITE if that is not known.
        leads_on: It may end with terms that were not looked into. Where those begin, it ends.
        words: Its farthest bounds are on words.
    """

    reach: int
    least: int
    way_out: int
    leads_on: bool = False
    words: bool = False


class _Part(NamedTuple):
    """A part of a term: as it was, with other bounds, and what is known of it then."""

    state: StateId
    other: StateId
    look: _Look


_Make = Callable[[StateId, list[_Part], int], tuple[StateId, _Look]]
"""Called as make(state, parts, reach): what takes its place, and what is known of that."""


_NOTHING = _Look(0, 0, 0)
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
        self._likes: dict[StateId, Like | None] = {}
        self._looks: dict[int, _Look] = {}
        self._looks_now: dict[int, _Look] = {}
        """Of terms with rules, whose bodies may be made until they are asked for again."""
        self._loosest: dict[StateId, StateId] = {}
        self._inclusions = Inclusions(store, structure)

    @property
    def nbytes(self) -> int:
        """Bytes of what is remembered, about."""
        return 200 * len(self._looks) + 90 * len(self._loosest) + self._inclusions.nbytes

    def without(self, state: StateId) -> Like | None:
        """A state's like without its farthest bounds.

        None if there is no such state, or hardly any token is short enough.

        Args:
            state: A live state, whose first rules have been made.

        Raises:
            LimitExceededError: The grammar grew past its limits.

        Cost: some 30 us; where a pattern is new, as much as a search of its states.
        """
        if state in self._likes and not self._structure.holds_rule(state):
            return self._likes[state]
        like = self._find(state)
        if len(self._likes) >= MAX_LIKES:
            self._likes.clear()
        self._likes[state] = like
        return like

    def known(self, state: StateId) -> Like | None:
        """What was found of a state lately."""
        return self._likes.get(state)

    def _find(self, state: StateId) -> Like | None:
        self._looks_now.clear()
        head, after = self._head(state)
        look = functools.reduce(_in_sequence, [self._known(part) for part in head], _NOTHING)
        reach, words = look.reach, look.words
        has_and = any([self._structure.is_kind(part, lay.AND) for part in head])
        if not has_and and reach - look.way_out < LENGTHS[0] and not words:
            return None
        exact = [self.exact(part) for part in head] if has_and else head
        if exact != head:
            return Like(self._store.concatenate([*exact, after]), lay.INFINITE, None, None)
        for _ in range(MAX_TRIES):
            if reach < LEAST_OF_WORDS:
                return None
            relaxed = [self._relax(part, reach) for part in head]
            look = functools.reduce(_in_sequence, [look for _, look in relaxed])
            longest = reach - look.way_out
            if look.way_out < lay.INFINITE or not has_and:
                break
            # The way out of an intersection may be known once a nearer bound is out of it, too.
            reach = look.reach
        at_most = at_least = None
        if not has_and and words:
            tight = [self._tighten(part, reach) for part in head]
            at_least = self._store.concatenate([*tight, after])
        if longest < LENGTHS[0] and at_least in (None, state, DEAD):
            return None
        if has_and and len(head) == 1 and self._is_closed_by_a_byte(after):
            bounded = [m for m in self._structure.members(head[0]) if self._known(m).reach >= reach]
            at_most = self._store.concatenate([self._store.intersection(*bounded), after])
        like = self._store.concatenate([*[state for state, _ in relaxed], after])
        at_least = None if at_least in (state, DEAD) else at_least
        return Like(like, max(longest, 0), None if at_most == state else at_most, at_least)

    def _is_closed_by_a_byte(self, after: StateId) -> bool:
        """Whether what follows begins with one, and then a rule or nothing, as after a string."""
        first, rest = next(self._structure.parts(after))
        if self._structure.single_byte(first) is None:
            return False
        return rest == lay.EPS_ID or self._structure.holds_rule(
            next(self._structure.parts(rest))[0]
        )

    def exact(self, part: StateId) -> StateId:
        """An intersection without members of which another one is part, such as any text."""
        if not self._structure.is_kind(part, lay.AND):
            return part
        kept = self._structure.members(part)
        if self._has_complement(kept):
            return part
        for member in list(kept):
            if self._is_any_number(member):
                others = [other for other in kept if other != member]
                if any([self._is_part(other, member) for other in others]):
                    kept = others
        return self._store.intersection(*kept)

    def _has_complement(self, members: list[StateId]) -> bool:
        """Whether one of some members excludes texts.

        Then any text beside it is of use: with it, a text that has what it must not is seen to be
        dead (`make_and`), and not searched.
        """
        return any([self._structure.is_kind(member, lay.NOT) for member in members])

    def _is_any_number(self, state: StateId) -> bool:
        bounds = self._structure.repeat_bounds(state)
        return bounds is not None and bounds[1:] == (0, lay.INFINITE)

    def _head(self, state: StateId) -> tuple[list[StateId], StateId]:
        """The parts of a state that are looked at, and what follows them."""
        head: list[StateId] = []
        after = state
        for part, rest in islice(self._structure.parts(state), MAX_PARTS):
            if self._structure.is_kind(part, lay.CLASS) or not self._has_look(part):
                break
            if self._known(part).leads_on and rest != lay.EPS_ID:
                break
            head.append(part)
            after = rest
        return head, after

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
        words = reach > 0 and all([look.words for look in below if look.reach == reach])
        if kind in (lay.ALT, lay.RULE):
            least = min(look.least for look in below)
            return _Look(reach, least, max(look.way_out for look in below), leads_on, words)
        if leads_on:
            return _WHAT_FOLLOWS
        if kind == lay.AND:
            return _Look(reach, max(look.least for look in below), lay.INFINITE, words=words)
        (body,) = below
        lo, hi = self._bounds(state)
        bound = hi * body.least if hi < lay.INFINITE else 0
        if bound >= LEAST_OF_WORDS and bound >= reach:
            counts_words = self._counts_words(state)
            if bound >= LEAST_REACH or counts_words:
                words = counts_words and (words or bound > reach)
                reach = _capped(bound)
        least = _capped(lo * body.least)
        way_out = _capped(body.way_out + max(lo - 1, 0) * body.least)
        return _Look(reach, least, max(least, way_out), words=words)

    def _counts_words(self, state: StateId) -> bool:
        """Whether what a repeat counts begins with as many of something as there are."""
        (body,) = self._structure.read(state)[2] or [lay.EPS_ID]
        first, rest = next(self._structure.parts(StateId(body)))
        bounds = self._structure.repeat_bounds(first)
        return rest != lay.EPS_ID and bounds is not None and bounds[2] == lay.INFINITE

    def _bounds(self, state: StateId) -> tuple[int, int]:
        bounds = self._structure.repeat_bounds(state)
        assert bounds is not None, "it is a repeat"
        return bounds[1:]

    def _relax(self, root: StateId, reach: int) -> tuple[StateId, _Look]:
        """A term that was looked at, without its bounds that reach so far; and what is known then.

        What was not looked into stays as it is.
        """
        part = self._rebuilt(root, reach, self._make_relaxed)
        return part.other, part.look

    def _tighten(self, root: StateId, reach: int) -> StateId:
        """A term that was looked at, with near bounds for those on words that reach so far.

        DEAD if it has other bounds that do.
        """
        return self._rebuilt(root, reach, self._make_tight).other

    def _rebuilt(self, root: StateId, reach: int, make: _Make) -> _Part:
        """A term with another one in its place, made of those in the places of its parts.

        What has no bounds that reach so far stays as it is.
        """
        done: dict[int, _Part] = {}
        todo = [root]
        while todo:
            node = todo[-1]
            if node not in done and not (self._is_known(node) and self._known(node).reach >= reach):
                look = self._known(node) if self._is_known(node) else _WHAT_FOLLOWS
                done[node] = _Part(node, node, look)
            if node in done:
                todo.pop()
                continue
            parts = self._structure.read(node)[2] or []
            missing = [StateId(part) for part in parts if part not in done]
            if missing:
                todo += missing
                continue
            todo.pop()
            done[node] = _Part(node, *make(node, [done[part] for part in parts], reach))
        return done[root]

    def _make_tight(self, state: StateId, parts: list[_Part], reach: int) -> tuple[StateId, _Look]:
        kind = self._structure.kind(state)
        look = self._known(state)
        states = [part.other for part in parts]
        if DEAD in states:
            return DEAD, look
        if kind == lay.RULE:
            return states[0], look
        if kind != lay.REPEAT:
            return self._joined(kind, states), look
        lo, hi = self._bounds(state)
        if not self._is_far(parts[0], hi, reach):
            return self._store.repeat(states[0], lo, hi), look
        if not self._counts_words(state):
            return DEAD, look  # most tokens have more than a few of what is short
        return self._store.repeat(states[0], lo, min(hi, max(lo, NEAR))), look

    def _joined(self, kind: int, states: list[StateId]) -> StateId:
        """A concatenation, union or intersection."""
        if kind == lay.CAT:
            return self._store.concatenate(states)
        return self._store.union(*states) if kind == lay.ALT else self._store.intersection(*states)

    def _is_far(self, body: _Part, hi: int, reach: int) -> bool:
        """Whether up to hi of a body reach so far."""
        return hi < lay.INFINITE and hi * self._known(body.state).least >= reach

    def _make_relaxed(
        self, state: StateId, parts: list[_Part], reach: int
    ) -> tuple[StateId, _Look]:
        kind = self._structure.kind(state)
        if kind == lay.AND:
            parts = self._without_looser(parts)
        if kind == lay.RULE or (len(parts) == 1 and kind == lay.AND):
            return parts[0].other, parts[0].look
        states = [part.other for part in parts]
        look = self._combined(kind, state, [part.look for part in parts])
        if kind == lay.CAT and parts[0].look.leads_on:
            states[1] = parts[1].state  # its way out is not part of what is known
        if kind != lay.REPEAT:
            return self._joined(kind, states), look
        lo, hi = self._bounds(state)
        if not self._is_far(parts[0], hi, reach):
            return self._store.repeat(states[0], lo, hi), look
        look = look._replace(reach=parts[0].look.reach, words=parts[0].look.words)
        return self._store.repeat(states[0], lo, lay.INFINITE), look

    def _without_looser(self, members: list[_Part]) -> list[_Part]:
        """Members of an intersection but for those that another one is part of."""
        kept = members
        excludes = self._has_complement([member.other for member in members])
        # Those that were relaxed are the looser ones, and the same again and again.
        for member in sorted(members, key=lambda m: m.state == m.other):
            if excludes and self._is_any_number(member.other):
                continue
            others = [other for other in kept if other is not member]
            if any([self._is_part(other.other, member.other) for other in others]):
                kept = others
        return kept

    def _is_part(self, state: StateId, of: StateId) -> bool:
        return self._inclusions.is_part(state, of, self._without_any)

    def _without_any(self, state: StateId) -> StateId | None:
        """A state without any far bound, which has fewer states; None if it has too many terms."""
        loosest = self._loosest.get(state)
        if loosest is None and self._has_look(state):
            loosest = self._loosest[state] = self._relax(state, LEAST_OF_WORDS)[0]
        return loosest


def _in_sequence(first: _Look, rest: _Look) -> _Look:
    """What is known of one term after another; that of the first alone if it leads on."""
    if first.leads_on:
        return first
    reach = max(first.reach, rest.reach)
    return _Look(
        reach,
        _capped(first.least + rest.least),
        _capped(max(first.way_out + rest.least, rest.way_out)),
        rest.leads_on,
        reach > 0 and all([look.words for look in (first, rest) if look.reach == reach]),
    )


def _capped(count: int) -> int:
    return min(count, lay.INFINITE)
