"""What members an object shape lets through: its keys cut into parts that are treated alike.

Every key that the shape names anywhere stands alone, in declared order. The other keys fall into
regions: sets on which every rule either holds for all keys or for none. With that, whether
obligations can still be met (`can_finish`) is a small search over keys and regions; it decides
emptiness, and keeps the lowering from entering a dead end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr, Exprs
from constrain.frontends.json_schema.object import KeySet, ObjectShape, is_about_others
from constrain.frontends.json_schema.string import ANY_STRING, StringSets, StringShape
from constrain.limits import Limits

__all__ = ["Members", "Obligation", "Region"]

_NOTHING: Final = frozenset[int]()

_REGION_CHARGE: Final = 20_000
_STEP_CHARGE: Final = 100
"""Nodes that a region, and a step of the search, count as against `max_source_nodes`."""


@dataclass(frozen=True, slots=True)
class Region:
    """Keys that no keyword names, treated alike.

    Attributes:
        keys: The keys, as a union. Named keys may be in it; they do not count.
        value: What the members are in.
        meets: The obligations that such a member can meet, as indices.
    """

    keys: KeySet
    value: Expr
    meets: frozenset[int]


@dataclass(frozen=True, slots=True)
class Obligation:
    """Some member has a key in `keys` and a value in `value`."""

    keys: KeySet
    value: Expr


class Members:
    """The keys of one object shape.

    Attributes:
        names: Every key that the shape names anywhere.
        named: What the members of those keys are in, in declared order, unless that is `FALSE`.
        regions: The other keys, where a value is not plainly impossible.
        required: Keys that must be there.
        obligations: What else must be there.
        needs: Keys that must be there if a key is.
        lo: Least number of members.
        hi: Greatest number, or None.
    """

    def __init__(
        self, shape: ObjectShape, table: Exprs, strings: StringSets, limits: Limits
    ) -> None:
        self.table = table
        self.limits = limits
        self._strings = strings
        self.required = frozenset(shape.required)
        self.lo, self.hi = shape.lo, shape.hi
        self.obligations: list[Obligation] = []
        if shape.some:
            in_order = sorted(shape.some, key=lambda some: (some[1].serial, repr(some[0])))
            self.obligations = [Obligation(keys, value) for keys, value in in_order]
        key_sets = [keys for keys, _ in shape.rules] + [o.keys for o in self.obligations]
        keys = dict.fromkeys((*shape.named, *shape.required))
        for key_set in key_sets:
            for part in key_set:
                spoken_of = part.out if part.only is None else part.only
                if not keys.keys() >= spoken_of:
                    keys.update(dict.fromkeys(sorted(spoken_of)))
        self.needs: dict[str, frozenset[str]] = {}
        for key, others in shape.needs:
            self.needs[key] = self.needs.get(key, frozenset()) | others
        for key in sorted(self.needs):
            keys.update(dict.fromkeys((key, *sorted(self.needs[key]))))
        self.names = frozenset(keys)
        self.named: dict[str, Expr] = {}
        self._meets: dict[str, frozenset[int]] = {}
        rules = [(ks, expr) for ks, expr in shape.rules if not is_about_others(ks, self.names)]
        for key in keys:
            value = shape.named.get(key, TRUE)
            if rules:
                told = [expr for ks, expr in rules if self._has(ks, key)]
                value = table.all_of([value, *told]) if told else value
            if value is not FALSE:
                self.named[key] = value
                if self.obligations:
                    self._meets[key] = frozenset(
                        [i for i, o in enumerate(self.obligations) if self._has(o.keys, key)]
                    )
        self.regions = self._cut(shape)
        self._impossible = not self.required <= self.named.keys()

    def meets(self, key: str) -> frozenset[int]:
        """The obligations that the member of a named key can meet."""
        return self._meets.get(key, _NOTHING)

    def _has(self, keys: KeySet, key: str) -> bool:
        return any(self._strings.contains(part, key) for part in keys)

    def _cut(self, shape: ObjectShape) -> list[Region]:
        """The regions, from all sets of keys that a rule or obligation speaks of."""
        if not (shape.rules or self.obligations):
            return [Region((ANY_STRING,), TRUE, _NOTHING)]
        everything: KeySet = (ANY_STRING,)
        rules = [(_without_names(keys), expr) for keys, expr in shape.rules]
        wanted = [_without_names(o.keys) for o in self.obligations]
        cuts = dict.fromkeys([keys for keys, _ in rules] + wanted)
        cuts.pop(everything, None)
        cuts.pop((), None)
        parts: list[tuple[KeySet, frozenset[KeySet]]] = [(everything, frozenset((everything,)))]
        for cut in cuts:
            outside = self._outside(cut)
            halves = []
            for keys, inside in parts:
                halves.append((self._both(keys, cut), inside | {cut}))
                halves.append((self._both(keys, outside), inside))
            parts = [(keys, inside) for keys, inside in halves if keys]
            self.limits.check(
                "max_source_nodes",
                len(parts) * _REGION_CHARGE,
                "the overlaps of patternProperties",
            )
        regions = []
        for keys, inside in parts:
            value = self.table.all_of([expr for ks, expr in rules if ks in inside])
            if value is not FALSE:
                meets = frozenset([i for i, ks in enumerate(wanted) if ks in inside])
                regions.append(Region(keys, value, meets))
        return regions

    def _both(self, a: KeySet, b: KeySet) -> KeySet:
        return self._strings.union([self._strings.intersect(x, y) for x in a for y in b])

    def _outside(self, keys: KeySet) -> KeySet:
        result: KeySet = (ANY_STRING,)
        for part in keys:
            result = self._both(result, tuple(self._strings.complement(part)))
        return result

    def can_finish(
        self,
        left: Iterable[str],
        used: frozenset[str],
        pending: frozenset[int],
        count: int,
        has_value: Callable[[Expr], bool],
        taken: Sequence[int] = (),
    ) -> bool:
        """Whether members can be added so that everything required is there.

        Args:
            left: Named keys that may still come.
            used: Named keys that came, as far as they need others or others need them.
            pending: Obligations not met yet.
            count: Members so far.
            has_value: Whether an expression has a value.
            taken: The region of each member whose key nobody names.
        """
        if self._impossible:
            return False
        possible = {k for k in left if k in self.named and has_value(self.named[k])}
        self._drop_helpless(possible, used)
        needed = self.closure([*used, *[k for k in left if k in self.required]]) - used
        if not needed <= possible:
            return False
        keys = [k for k in self.named if k in possible]
        self.limits.check(
            "max_source_nodes",
            len(pending) ** 2 * _STEP_CHARGE,
            "deciding which members meet the obligations of an object",
        )
        return _Search(self, keys, needed, used, sorted(pending), count, has_value, taken).run()

    def closure(self, keys: Iterable[str]) -> frozenset[str]:
        """Some keys, all keys that they need, all that those need, and so on."""
        found = set(keys)
        todo = [key for key in found if key in self.needs]
        for key in todo:
            new = self.needs[key] - found
            found |= new
            todo += [other for other in new if other in self.needs]
        return frozenset(found)

    def _drop_helpless(self, possible: set[str], used: frozenset[str]) -> None:
        """Take away keys that need a key that can neither come nor came."""
        changed = bool(self.needs)
        while changed:
            helpless = [
                key
                for key in possible
                if key in self.needs and not self.needs[key] <= possible | used
            ]
            possible.difference_update(helpless)
            changed = bool(helpless)

    def room(
        self, wanted: int, has_value: Callable[[Expr], bool], taken: Sequence[int] = ()
    ) -> int:
        """How many more members with other keys there can be, at most `wanted`.

        Args:
            wanted: How many matter.
            has_value: Whether an expression has a value.
            taken: The region of each such member that is there.
        """
        found = 0
        for r, region in enumerate(self.regions):
            if found < wanted and has_value(region.value):
                here = taken.count(r)
                found += max(self.region_room(region, wanted - found + here) - here, 0)
        return found

    def region_room(self, region: Region, wanted: int) -> int:
        """How many keys a region has, at most `wanted`."""
        found = 0
        for part in region.keys:
            if part == ANY_STRING:
                return wanted
            if found < wanted:
                # Named keys may be among them: leave them out before counting.
                shape = self._strings.intersect(part, StringShape(out=self.names))
                found += self._strings.count(shape, wanted - found)
        return found


class _Search:
    """Gives every pending obligation a member: one needed anyway, a new one, or a shared one.

    Args:
        members: The keys.
        keys: Named keys that may still come, with all that they need.
        needed: Those of them that must come.
        used: Named keys that came, as far as needs go.
        pending: Obligations.
        count: Members so far.
        has_value: Whether an expression has a value.
        taken: The region of each member whose key nobody names.
    """

    def __init__(
        self,
        members: Members,
        keys: Sequence[str],
        needed: frozenset[str],
        used: frozenset[str],
        pending: Sequence[int],
        count: int,
        has_value: Callable[[Expr], bool],
        taken: Sequence[int],
    ) -> None:
        self._members = members
        self._taken = taken
        self._keys = keys
        self._used = used
        self._pending = pending
        self._count = count
        self._has_value = has_value
        self._named = {k: members.named[k] for k in keys if k in needed}
        self._others: list[tuple[int, Expr]] = []  # members in regions: (region, value)
        self._steps = 0

    def run(self) -> bool:
        """Whether there is a way."""
        return self._assign(0)

    def _assign(self, at: int) -> bool:
        """Try the ways to meet the obligations from `at` on. As deep as there are obligations."""
        members, table = self._members, self._members.table
        self._steps += 1
        members.limits.check(
            "max_source_nodes",
            self._steps * _STEP_CHARGE,
            "deciding which members meet the obligations of an object",
        )
        if at == len(self._pending):
            return self._count_fits()
        index = self._pending[at]
        wanted = members.obligations[index].value
        for key in self._keys:
            if index in members.meets(key):
                value = table.all_of((self._named.get(key, members.named[key]), wanted))
                if self._has_value(value):
                    before = dict(self._named)
                    for other in members.closure((key,)) - self._used:
                        self._named.setdefault(other, members.named[other])
                    self._named[key] = value
                    if self._assign(at + 1):
                        return True
                    self._named = before
        for r, region in enumerate(members.regions):
            if index not in region.meets:
                continue
            for i, (where, value) in enumerate(self._others):
                both = table.all_of((value, wanted))
                if where == r and self._has_value(both):
                    self._others[i] = (r, both)
                    if self._assign(at + 1):
                        return True
                    self._others[i] = (where, value)
            value = table.all_of((region.value, wanted))
            here = sum([where == r for where, _ in self._others]) + self._taken.count(r) + 1
            if self._has_value(value) and members.region_room(region, here) >= here:
                self._others.append((r, value))
                if self._assign(at + 1):
                    return True
                self._others.pop()
        return False

    def _count_fits(self) -> bool:
        """Whether these members, or some more, are a number within the bounds."""
        members = self._members
        least = self._count + len(self._named) + len(self._others)
        if members.hi is not None and least > members.hi:
            return False
        missing = members.lo - least
        if missing <= 0:
            return True
        more = [k for k in self._keys if k not in self._named]
        if members.hi is not None and members.needs.keys() & set(more):
            return self._can_add(missing, members.hi - least, more)
        wanted = missing - len(more)
        return wanted <= 0 or self._room(wanted) >= wanted

    def _room(self, wanted: int) -> int:
        """How many more members with other keys there can be, at most `wanted`."""
        taken = [*self._taken, *[region for region, _ in self._others]]
        return self._members.room(wanted, self._has_value, taken)

    def _can_add(self, least: int, most: int, keys: Sequence[str]) -> bool:
        """Whether between least and most members can be added, where some bring others along."""
        others = self._room(least)
        sets = {frozenset[str]()}
        for key in keys:
            group = self._members.closure((key,)) - self._used - self._named.keys()
            sets |= {done | group for done in sets if len(done | group) <= most}
            self._members.limits.check(
                "max_source_nodes", len(sets) * _STEP_CHARGE, "counting members that need others"
            )
        return any(least <= len(done) + others and len(done) <= most for done in sets)


def _without_names(keys: KeySet) -> KeySet:
    """The set as it looks among keys that nobody names."""
    many = [p for p in keys if p.only is None]
    if any([not (p.lo or p.yes or p.no) and p.hi is None for p in many]):
        return (ANY_STRING,)
    return tuple(dict.fromkeys([StringShape(None, p.lo, p.hi, p.yes, p.no) for p in many]))
