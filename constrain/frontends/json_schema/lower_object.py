"""Objects to terms: a rule for each state that a text reaches.

A state is which members can still come, which obligations are not met yet, and how many members
there were as far as it matters. In declared order the members left are those from an index on; in
any order they are a set of bits, and only the sets that texts reach are made, never all 2^n.

No key comes twice. Keys that the schema names are excluded from the others, in every spelling.
Another key is captured when it is written, and from then on excluded too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from constrain.algebra.terms import EMPTY, Rule, Term, alt, cat, complement, intersect
from constrain.frontends.json_schema.expr import TRUE, Expr, implies
from constrain.frontends.json_schema.layout import OPEN_OBJECT, Layout
from constrain.frontends.json_schema.members import Region
from constrain.frontends.json_schema.object import ANY_OBJECT, ObjectShape
from constrain.frontends.json_schema.string import ANY_STRING, StringShape, shape_term
from constrain.frontends.json_schema.taken import NOTHING, Taken
from constrain.frontends.json_schema.text import QUOTE

if TYPE_CHECKING:
    from constrain.frontends.json_schema.lower import Lowering

__all__ = ["MemberState", "ObjectLowering", "object_term"]

_WAY_CHARGE = 1_000
"""Nodes that a way to meet obligations counts as."""

_MOST_RECENT = 1024
"""Rules that are remembered for states in which keys were captured: such states hardly come back.
"""

_NO_KEYS = frozenset[str]()

_CHUNK = 64
"""Members that one rule offers in declared order; a rule that states share has the others."""

_AHEAD = 16
"""Members after which what follows is made with what follows the one that a text has: most texts
have the next ones too, and a rule for each costs several times what it says."""


def object_term(shape: ObjectShape, lowering: Lowering, *, ahead: bool = False) -> Term:
    """Every spelling of every object of a shape that has one.

    Args:
        shape: The shape.
        lowering: How it is written.
        ahead: Make what follows the first members at once, too: a text has begun the object.
    """
    if shape is ANY_OBJECT:
        return cat(OPEN_OBJECT, _any_members(lowering))
    return cat(OPEN_OBJECT, ObjectLowering(shape, lowering).start(ahead=ahead))


def _any_members(lowering: Lowering) -> Term:
    """What `ObjectLowering` says that follows the brace of any object."""
    layout, value = lowering.layout, lowering.value(TRUE)
    keys = _FreeKeys(lowering, layout, layout.end_object, 0, lowering.alphabet.text, value)
    return alt((layout.no_members, cat(layout.after_open, QUOTE, keys.after(NOTHING))))


class MemberState(NamedTuple):
    """Between two members.

    Attributes:
        left: Declared order: index of the first key that may come. Any order: bits of the keys
            used.
        pending: Obligations not met.
        members: How many there were, if it matters; saturated.
        first: There was no member yet.
        used: Named keys that came, as far as they need others or others need them.
        taken: Other keys that came, each with the index of its region.
    """

    left: int
    pending: frozenset[int]
    members: int
    first: bool
    used: frozenset[str] = frozenset()
    taken: Taken = NOTHING


class ObjectLowering:
    """The rules of one object: what follows the opening brace, and each member."""

    def __init__(self, shape: ObjectShape, lowering: Lowering) -> None:
        self._lowering = lowering
        self._layout = lowering.layout
        self._members = lowering.meaning.members(shape)
        self._has_value = lowering.emptiness.has_value
        self._keys = [k for k, expr in self._members.named.items() if self._has_value(expr)]
        self._required = [k in self._members.required for k in self._keys]
        needs = self._members.needs
        self._related = frozenset(needs).union(*needs.values()) if needs else _NO_KEYS
        self._before_key = QUOTE
        """What stands before the key of any other member."""
        self._in_order = lowering.style.property_order == "declared"
        self._counts = self._members.lo > 0 or self._members.hi is not None
        self._plain = not (self._counts or self._members.obligations or needs)
        self._is_simple = self._plain and self._in_order
        # Where only the index matters: from which one on no key must come, and what is made.
        self._optional_from = max((i + 1 for i, r in enumerate(self._required) if r), default=0)
        self._simple_rules: dict[int, Rule] = {}
        self._ahead: dict[int, tuple[Term, Term]] = {}
        self._simple_ways: dict[int, Term] = {}
        self._others: Term | None = None
        self._rules: dict[MemberState, Rule] = {}
        self._recent: dict[MemberState, Rule] = {}
        self._recent_bodies: dict[MemberState, Term] = {}
        self._offers: dict[int, Rule] = {}

    def start(self, *, ahead: bool = False) -> Term:
        """What follows the opening brace. See `object_term`."""
        if self._is_simple:
            return self._simple_start(ahead=ahead)
        pending = frozenset(range(len(self._members.obligations)))
        return self._after(MemberState(0, pending, 0, True))

    def _after(self, state: MemberState) -> Term:
        """What follows in a state from which the object can be completed."""
        rules = self._recent if state.taken else self._rules
        found = rules.get(state)
        if found is None:
            self._forget_old()
            found = rules[state] = self._rule(
                lambda: self._body(state), lambda: self._complete(state)
            )
        return found

    def _made_after(self, state: MemberState, make: Callable[[MemberState], Term]) -> Term:
        """What follows in a state that a text got to just now: no rule is needed for that.

        Args:
            state: Where a key was taken.
            make: `_body`, or `_keys_of_others`; always the same one for a state.
        """
        found = self._recent_bodies.get(state)
        if found is None:
            self._forget_old()
            found = self._recent_bodies[state] = make(state)
        return found

    def _forget_old(self) -> None:
        for recent in (self._recent, self._recent_bodies):
            if len(recent) >= _MOST_RECENT:
                recent.clear()

    def _body(self, state: MemberState) -> Term:
        return self._or_end(self._offered(state), first=state.first, can_end=self._complete(state))

    def _or_end(self, offered: Term, *, first: bool, can_end: bool) -> Term:
        """More members after a comma, if there was one before, or the end."""
        layout = self._layout
        more = cat(layout.after_open if first else layout.separator, offered)
        return alt((self._ending(first=first), more)) if can_end else more

    def _complete(self, state: MemberState) -> bool:
        if self._is_simple:
            return state.left >= self._optional_from
        return not (state.pending or state.members < self._members.lo or self._due(state))

    def _due(self, state: MemberState) -> set[int]:
        """Keys that must still come; required keys that are no longer left came."""
        due = {i for i in self._left(state) if self._required[i]}
        if self._related:
            needed = self._members.closure([*state.used, *[self._keys[i] for i in due]])
            # What is needed and neither came nor has an index was seen to be impossible before.
            due |= {self._keys.index(k) for k in needed - state.used}
        return due

    def _left(self, state: MemberState) -> Iterable[int]:
        """Named keys that may still come."""
        if self._in_order:
            return range(state.left, len(self._keys))
        return [i for i in range(len(self._keys)) if not state.left >> i & 1]

    # Members in declared order of which nothing matters but which can still come

    def _simple_start(self, *, ahead: bool = False) -> Term:
        """What follows the opening brace."""
        offered = self._simple_ahead(0)[1] if ahead else self._simple_offer(0)
        return self._or_end(offered, first=True, can_end=self._optional_from == 0)

    def _simple_after(self, index: int) -> Rule:
        """What follows a member, where those from an index on may still come."""
        found = self._simple_rules.get(index)
        if found is None:
            found = self._simple_rules[index] = self._rule(
                lambda: self._simple_ahead(index)[0],
                lambda: index >= self._optional_from,
            )
        return found

    def _simple_ahead(self, index: int) -> tuple[Term, Term]:
        """As `_simple_after`, with what follows the next members; and what may follow a comma."""
        known = self._ahead
        if index not in known:
            last = min(index + _AHEAD, len(self._keys))
            stop = next((i for i in range(index + 1, last) if i in known), last)
            if stop in known:
                after, offered = known[stop]
            elif stop == len(self._keys):
                offered = self._simple_offer(stop)
                after = self._simple_end(stop, offered)
                known[stop] = after, offered
            else:
                offered = EMPTY if self._required[stop - 1] else self._simple_offer(stop)
                after = self._simple_after(stop)
            for i in range(stop - 1, index - 1, -1):
                key = self._keys[i]
                way = self._named_way(key, self._members.named[key], after, soon=True)
                offered = way if self._required[i] else alt((way, offered))
                after = self._simple_end(i, offered)
                known[i] = after, offered
        return known[index]

    def _simple_end(self, index: int, offered: Term) -> Term:
        return self._or_end(offered, first=False, can_end=index >= self._optional_from)

    def _simple_offer(self, index: int) -> Term:
        """Members from an index on, and what follows them; the last of many by a rule."""
        if len(self._keys) - index <= _CHUNK:
            return alt(self._simple_members(index, len(self._keys)))
        found = self._offers.get(index)
        if found is None:

            def body() -> Term:
                stop = min(index + _CHUNK, len(self._keys))
                parts = self._simple_members(index, stop)
                if not any(self._required[index:stop]) and stop < len(self._keys):
                    parts.append(self._simple_offer(stop))
                return alt(parts)

            found = self._offers[index] = self._lowering.rule("members", body)
        return found

    def _simple_members(self, index: int, stop: int) -> list[Term]:
        """Members from an index up to another one or to the first that must come, or the others."""
        parts: list[Term] = []
        for i in range(index, stop):
            way = self._simple_ways.get(i)
            if way is None:
                key = self._keys[i]
                value, after = self._members.named[key], self._simple_after(i + 1)
                way = self._simple_ways[i] = self._named_way(key, value, after)
            parts.append(way)
            if self._required[i]:
                return parts
        if stop == len(self._keys):
            if self._others is None:
                state = MemberState(stop, frozenset(), 0, False)
                self._others = self._any_other(state)
            parts.append(self._others)
        return parts

    # The next member

    def _offered(self, state: MemberState) -> Term:
        """Every member that may come next, and what follows it."""
        if self._in_order:
            return alt(self._named_in_order(state, len(self._keys)))
        parts = []
        for i in range(len(self._keys)):
            if not state.left >> i & 1:
                parts += self._named(state, i, state.left | 1 << i)
        return alt([*parts, self._any_other(state)])

    def _named_in_order(self, state: MemberState, stop: int) -> list[Term]:
        parts: list[Term] = []
        last = min(self._due(state), default=stop) if self._related else stop
        for i in range(state.left, stop):
            parts += self._named(state, i, i + 1)
            if self._required[i] or i == last:
                return parts
        if stop == len(self._keys):
            parts.append(
                self._any_other(state if state.left == stop else state._replace(left=stop))
            )
        return parts

    def _named(self, state: MemberState, index: int, left: int) -> list[Term]:
        key = self._keys[index]
        after = state._replace(left=left, first=False)
        if key in self._related:
            after = after._replace(used=state.used | {key})
        return self._ways(after, key, self._members.named[key], self._members.meets(key))

    def _any_other(self, state: MemberState) -> Term:
        """Members with other keys, and what follows them."""
        return cat(self._before_key, self._keys_of_others(state))

    def _keys_of_others(self, state: MemberState) -> Term:
        """As `_any_other`, from the key on."""
        if self._plain and self._free is not None and not self._left(state):
            return self._free.after(state.taken)
        parts: list[Term] = []
        after = state._replace(first=False) if state.first else state
        for i, (index, region, _) in enumerate(self._regions):
            parts += self._ways(after, i, region.value, region.meets, (index,))
        return alt(parts)

    def _ways(
        self,
        state: MemberState,
        key: str | int,
        value: Expr,
        meets: frozenset[int],
        taking: tuple[int, ...] = (),
    ) -> list[Term]:
        """A member and what follows it, for each choice of obligations that it is to meet.

        Args:
            state: The state after it, but for the obligations, the count and what is taken.
            key: The key, or the index of the region that it is in.
            value: What the member's value is in.
            meets: The obligations that it can meet.
            taking: The region of the key.
        """
        count = self._counted(state.members)
        if count is None:
            return []
        if not state.pending:
            after = state._replace(members=count) if count != state.members else state
            possible = self._has_value(value) and self._can_finish(after, taking)
            return [self._way(key, value, after)] if possible else []
        obligations, table = self._members.obligations, self._members.table
        useful = state.pending & meets
        # Those that any such member meets are met; the others are a choice.
        met = frozenset([i for i in useful if implies(value, obligations[i].value)])
        choices = sorted(useful - met)
        self._members.limits.check(
            "max_source_nodes",
            2 ** len(choices) * _WAY_CHARGE,
            "the ways in which one member meets obligations",
        )
        ways = []
        for size in range(len(choices) + 1):
            for chosen in combinations(choices, size):
                expr = table.all_of([value, *[obligations[i].value for i in chosen]])
                pending = state.pending - met - set(chosen)
                after = state._replace(pending=pending, members=count)
                if self._has_value(expr) and self._can_finish(after, taking):
                    ways.append(self._way(key, expr, after))
        return ways

    def _way(self, key: str | int, value: Expr, after: MemberState) -> Term:
        """A member, and what follows it; from the key on, where the schema does not name it."""
        if isinstance(key, str):
            return self._named_way(key, value, self._after(after))
        index, _, keys = self._regions[key]
        keys = intersect((keys, complement(after.taken.spellings(index))))
        before = cat(self._layout.colon, self._lowering.value(value))
        if self._counted(after.members) is None:  # nothing follows, whatever the key is
            ending = self._ending(first=False) if self._complete(after) else EMPTY
            return cat(keys, QUOTE, before, ending)
        make = self._body
        instead: Term = EMPTY
        if self._only_others_follow(after, index):
            make = self._keys_of_others
            if self._complete(after):
                instead = cat(before, self._ending(first=False))
            before = cat(before, self._layout.separator, QUOTE)

        def follow(text: bytes) -> Term:
            name: str = json.loads(b'"' + text)
            taken = after.taken.with_key(index, name, self._lowering.alphabet.spell_text(name))
            return self._made_after(after._replace(taken=taken), make)

        return self._lowering.capture(cat(keys, QUOTE), follow, before=before, instead=instead)

    def _only_others_follow(self, state: MemberState, index: int) -> bool:
        """Whether another member may follow, whatever key of a region is taken, and none is named.

        What stands between them then does not depend on the key, and no token that ends there need
        be looked at with the key in hand.
        """
        members = self._counted(state.members)
        if state.pending or self._left(state) or members is None:
            return False
        for other, region, _ in self._regions:
            # A bit more than is needed, so that it is seldom counted again.
            wanted = 1 << (state.taken.count(other) + (other == index)).bit_length()
            if self._members.region_room(region, wanted) >= wanted:
                if self._plain:
                    return True
                if self._can_finish(state._replace(members=members), (index, other)):
                    return True
        return False

    def _counted(self, count: int) -> int | None:
        """The count after one more member, saturated; None if there may be no more."""
        if not self._counts:
            return 0
        if self._members.hi is not None:
            return count + 1 if count < self._members.hi else None
        return min(count + 1, self._members.lo)

    def _can_finish(self, state: MemberState, taking: tuple[int, ...]) -> bool:
        """Whether the object can be completed, once one more key of a region is taken."""
        if self._plain:
            return True
        left = [self._keys[i] for i in self._left(state)]
        taken = [*taking, *state.taken.regions()]
        return self._members.can_finish(
            left, state.used, state.pending, state.members, self._has_value, taken
        )

    # Spelling

    def _rule(self, make: Callable[[], Term], can_end: Callable[[], bool]) -> Rule:
        """A rule for what follows in a state; `can_end` says whether the object may end there."""
        return self._lowering.rule("members", make)

    def _ending(self, *, first: bool) -> Term:
        """What ends the object; `first`: there was no member."""
        return self._layout.no_members if first else self._layout.end_object

    @cached_property
    def _free(self) -> _FreeKeys | None:
        """Other keys, if there is no end of them and all are treated alike."""
        if len(self._regions) != 1:
            return None
        index, region, keys = self._regions[0]
        if ANY_STRING not in region.keys:
            return None
        ending, value = self._ending(first=False), self._lowering.value(region.value)
        return _FreeKeys(self._lowering, self._layout, ending, index, keys, value)

    @cached_property
    def _regions(self) -> list[tuple[int, Region, Term]]:
        """The regions that have a key and a value, each with its index and its keys' spellings."""
        return [
            (index, region, key_term)
            for index, region in enumerate(self._members.regions)
            if self._has_value(region.value)
            and (key_term := self._region_keys(region)) is not EMPTY
        ]

    def _named_way(self, key: str, value: Expr, after: Term, *, soon: bool = False) -> Term:
        """One member with a named key, and what follows it; `soon`: most texts have it next."""
        lowering = self._lowering
        spelled = lowering.alphabet.spell_quoted(key)
        return cat(spelled, self._layout.colon, lowering.later(value, soon=soon), after)

    def _region_keys(self, region: Region) -> Term:
        """Every spelling of every key of a region, without quotes."""
        strings, names = self._lowering.meaning.strings, self._members.names
        parts = []
        for keys in region.keys:
            left = StringShape(out=names)
            if keys != ANY_STRING:
                taken = frozenset([k for k in names if strings.contains(keys, k)])
                left = strings.intersect(keys, StringShape(out=taken)) if taken else keys
            if not strings.is_empty(left):
                parts.append(shape_term(left, self._lowering.alphabet))
        return alt(parts)


class _FreeKeys:
    """Members of which nothing matters but that no key comes twice, when no others may come.

    It says what `ObjectLowering` would say, for the most frequent case: what stands between two
    keys is there once.

    Args:
        lowering: Of the object.
        layout: Of the object.
        ending: What ends it.
        region: The index of the keys' region.
        keys: Every spelling of every key, without quotes.
        value: Every value.
    """

    def __init__(
        self,
        lowering: Lowering,
        layout: Layout,
        ending: Term,
        region: int,
        keys: Term,
        value: Term,
    ) -> None:
        self._lowering = lowering
        self._region = region
        self._keys = keys
        before = cat(layout.colon, value)
        self._before = cat(before, layout.separator, QUOTE)
        self._instead = cat(before, ending)
        self._recent: dict[Taken, Term] = {}

    def after(self, taken: Taken) -> Term:
        """A member and what follows it, from the key on, after some keys."""
        found = self._recent.get(taken)
        if found is None:
            if len(self._recent) >= _MOST_RECENT:
                self._recent.clear()
            found = self._recent[taken] = self._made_after(taken)
        return found

    def _made_after(self, taken: Taken) -> Term:
        region, lowering = self._region, self._lowering
        keys = intersect((self._keys, complement(taken.spellings(region))))

        def follow(text: bytes) -> Term:
            name: str = json.loads(b'"' + text) if b"\\" in text else text[:-1].decode()
            return self.after(taken.with_key(region, name, lowering.alphabet.spell_text(name)))

        keys = cat(keys, QUOTE)
        return lowering.capture(keys, follow, before=self._before, instead=self._instead)
