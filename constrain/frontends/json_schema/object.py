"""Sets of objects, closed under and, not (or is a union of shapes).

An object is a set of members with distinct keys. A shape says of members, by their key, which
values they may have (`named`, `rules`), which must be there (`required`, `some`), and how many
there are. "Not" breaks one part: a rule is broken by some member with a value outside it, a `some`
by all of them.

    >>> table = Exprs()
    >>> a = table.literal("a")
    >>> shape = ObjectShape(named={"x": a}, required=("y",))
    >>> [(part.required, list(part.named)) for part in complement(shape, table)]
    [(('x',), ['x']), ((), ['y'])]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr, Exprs, Finite, implies
from constrain.frontends.json_schema.string import (
    StringSets,
    StringShape,
    contains_plainly,
    is_exact,
    refuse_outside,
)
from constrain.frontends.json_schema.values import Frozen

__all__ = [
    "ANY_OBJECT",
    "KeySet",
    "ObjectShape",
    "Objects",
    "absorb",
    "complement",
    "intersect",
    "is_about_others",
    "tidy",
    "value_of",
]

JOIN: Final = 10
"""Comparisons of two shapes that cost what making one does."""

_MOST_TOPICS: Final = 64
"""Values under one key that are told apart when a shape says something new."""

KeySet = tuple[StringShape, ...]
"""A union of string shapes, none of them empty."""


@dataclass(frozen=True, slots=True, eq=False)
class ObjectShape:
    """Objects of lo..hi members.

    Attributes:
        named: What the member of a key is in, if it is there. In declared order.
        rules: (keys, expr): what every member whose key is in the set is in. These hold for
            keys in `named` too.
        required: Keys that are there, in declared order.
        some: (keys, expr): some member has a key in the set and a value in the expression.
        needs: (key, others): if the key is there, so are all the others.
        lo: Least number of members.
        hi: Greatest number, or None.
    """

    named: Mapping[str, Expr] = field(default_factory=dict)
    rules: tuple[tuple[KeySet, Expr], ...] = ()
    required: tuple[str, ...] = ()
    some: frozenset[tuple[KeySet, Expr]] = frozenset()
    needs: frozenset[tuple[str, frozenset[str]]] = frozenset()
    lo: int = 0
    hi: int | None = None

    def same_as(self) -> tuple[object, ...]:
        """Equal for shapes that are plainly the same set."""
        return (
            frozenset(self.named.items()),
            frozenset(self.rules),
            frozenset(self.required),
            self.some,
            self.needs,
            self.lo,
            self.hi,
        )


ANY_OBJECT: Final = ObjectShape()


def value_of(shape: ObjectShape, key: str, table: Exprs, strings: StringSets) -> Expr:
    """What the member of one key is in."""
    value = shape.named.get(key, TRUE)
    told = [
        expr
        for keys, expr in shape.rules
        if not is_about_others(keys, (key,)) and any(strings.contains(k, key) for k in keys)
    ]
    return table.all_of([value, *told]) if told else value


def is_about_others(keys: KeySet, names: Collection[str]) -> bool:
    """Whether it is plain that none of some names is in a set of keys, as they are left out."""
    return all([part.only is None and part.out.issuperset(names) for part in keys])


def intersect(a: ObjectShape, b: ObjectShape, table: Exprs) -> ObjectShape | None:
    """Objects in both, or None where that is plainly empty."""
    return intersect_all((a, b), table)


def intersect_all(shapes: Iterable[ObjectShape], table: Exprs) -> ObjectShape | None:
    """Objects in every shape, or None where that is plainly empty.

    Cost: linear in what the shapes say.
    """
    several = [shape for shape in shapes if shape is not ANY_OBJECT]
    if len(several) <= 1:
        return several[0] if several else ANY_OBJECT
    named: dict[str, list[Expr]] = {}
    rules: dict[KeySet, list[Expr]] = {}
    for shape in several:
        for key, expr in shape.named.items():
            named.setdefault(key, []).append(expr)
        for keys, expr in shape.rules:
            rules.setdefault(keys, []).append(expr)
    both = ObjectShape(
        {key: e[0] if len(e) == 1 else table.all_of(e) for key, e in named.items()},
        tuple([(keys, table.all_of(e)) for keys, e in rules.items()]),
        tuple(dict.fromkeys([key for shape in several for key in shape.required])),
        frozenset().union(*[shape.some for shape in several]),
        frozenset().union(*[shape.needs for shape in several]),
        max(shape.lo for shape in several),
        min((shape.hi for shape in several if shape.hi is not None), default=None),
    )
    return tidy(both, table)


def complement(shape: ObjectShape, table: Exprs) -> list[ObjectShape]:
    """Every object outside the set, as a union: one part of the shape is broken.

    A key that must be there with a value in x is broken in one way: if it is there, its value is
    not in x. Where x is a finite set, the key may tell branches of a schema apart, so the other
    parts are only broken where it is kept: not (p and q) is not p, or p and not q. Then the
    complements of two branches with different constants multiply to as many shapes as they have
    parts, not to the product.

    Raises:
        UnsupportedFeatureError: It speaks of keys in a format that is only known in part.
    """
    for keys, _ in (*shape.rules, *shape.some):
        for part in keys:
            refuse_outside(part)
    guarded = {key: expr for key, expr in shape.named.items() if isinstance(expr.node, Finite)}
    guard = ObjectShape(guarded, required=tuple([k for k in shape.required if k in guarded]))
    broken_guards: list[ObjectShape] = []
    parts: list[ObjectShape] = []
    for key in dict.fromkeys((*shape.named, *shape.required)):
        expr = shape.named.get(key, TRUE)
        needed = () if key in shape.required else (key,)
        if expr is not TRUE or not needed:
            into = broken_guards if key in guarded else parts
            into.append(ObjectShape(named={key: expr.dual}, required=needed))
    for keys, expr in shape.rules:
        parts.append(ObjectShape(some=frozenset(((keys, expr.dual),))))
    for keys, expr in shape.some:
        parts.append(ObjectShape(rules=((keys, expr.dual),)))
    for key, others in sorted(shape.needs, key=lambda need: need[0]):
        parts += [ObjectShape({k: FALSE}, required=(key,)) for k in sorted(others)]
    if shape.lo > 0:
        parts.append(ObjectShape(hi=shape.lo - 1))
    if shape.hi is not None:
        parts.append(ObjectShape(lo=shape.hi + 1))
    kept = [tidy(part, table) for part in broken_guards]
    kept += [intersect(guard, part, table) for part in parts]
    return [part for part in kept if part is not None]


def tidy(shape: ObjectShape, table: Exprs) -> ObjectShape | None:
    """The same set in a form without needless parts, or None where it is plainly empty."""
    named = dict(shape.named)
    rules: dict[KeySet, Expr] = {}
    required = dict.fromkeys(shape.required)
    some = set()
    for keys, expr in shape.rules:
        single = _single_keys(keys)
        if single is not None:
            for key in single:
                named[key] = table.all_of((named.get(key, TRUE), expr))
        elif keys and expr is not TRUE:
            rules[keys] = table.all_of((rules.get(keys, TRUE), expr))
    for keys, expr in shape.some:
        single = _single_keys(keys)
        if expr is FALSE or not keys:
            return None
        if single is not None and len(single) == 1:
            named[single[0]] = table.all_of((named.get(single[0], TRUE), expr))
            required[single[0]] = None
        else:
            some.add((keys, expr))
    needs = _settle_needs(shape.needs, named, required) if shape.needs else shape.needs
    if any(named.get(key) is FALSE for key in required):
        return None
    for keys, expr in rules.items():
        if expr is FALSE and any(contains_plainly(k, key) for key in required for k in keys):
            return None
    lo = max(shape.lo, 1) if some else shape.lo
    lo = 0 if lo <= len(required) else lo
    if shape.hi is not None and shape.hi < max(lo, len(required)):
        return None
    return ObjectShape(
        named, tuple(rules.items()), tuple(required), frozenset(some), needs, lo, shape.hi
    )


def _settle_needs(
    needs: frozenset[tuple[str, frozenset[str]]],
    named: dict[str, Expr],
    required: dict[str, None],
) -> frozenset[tuple[str, frozenset[str]]]:
    """The needs that stay: those of required keys require more, impossible ones forbid a key."""
    changed = True
    while changed:
        changed = False
        left = []
        for key, others in needs:
            if named.get(key) is FALSE or others <= required.keys():
                continue
            if key in required:
                required.update(dict.fromkeys(sorted(others)))
                changed = True
            elif any(named.get(other) is FALSE for other in others):
                named[key] = FALSE
                changed = True
            else:
                left.append((key, frozenset(others - required.keys())))
        needs = frozenset(left)
    return needs


def _left_out(old: Expr, new: Expr) -> frozenset[Frozen] | None:
    """Single values that are in `old` and not in `new`, if that is the whole difference."""
    outside, others = _parted(new)
    before, others_before = _parted(old)
    return outside - before if others == others_before else None


def _parted(expr: Expr) -> tuple[frozenset[Frozen], frozenset[Expr]]:
    """An expression as "none of these values, and all of these expressions"."""
    parts = expr.parts if expr.op == "and" else () if expr is TRUE else (expr,)
    outside = [p.node.values for p in parts if p.op == "not" and isinstance(p.node, Finite)]
    others = [p for p in parts if p.op != "not" or not isinstance(p.node, Finite)]
    return frozenset().union(*outside), frozenset(others)


def _has_more(shape: ObjectShape) -> bool:
    """Whether it says anything but what certain keys have as values, and that they are there."""
    return bool(shape.rules or shape.some or shape.needs or shape.lo or shape.hi is not None)


class Objects:
    """What `conjunction` does with objects.

    Args:
        table: The expressions.
        strings: The string sets.
        charge: Counts comparisons.
    """

    whole = ANY_OBJECT

    def __init__(self, table: Exprs, strings: StringSets, charge: Callable[[int], None]) -> None:
        self._table = table
        self.strings = strings
        self.charge = charge

    def both(self, a: ObjectShape, b: ObjectShape) -> ObjectShape | None:
        """Objects in both."""
        return self.all_of((a, b))

    def all_of(self, shapes: Sequence[ObjectShape]) -> ObjectShape | None:
        """Objects in every shape."""
        self.charge(len(shapes) + JOIN if len(shapes) > 1 else 0)
        return intersect_all(shapes, self._table)

    def seen(self, shape: ObjectShape) -> SeenObject:
        """A shape, prepared for many comparisons."""
        return SeenObject(shape, self.strings)

    def loosened(self, union: Sequence[ObjectShape]) -> Sequence[ObjectShape]:
        """The same union in wider shapes: beside "no member k", k need not be required."""
        absent = set()
        for shape in union:
            if len(shape.named) == 1 and not shape.required and not _has_more(shape):
                absent |= {key for key, expr in shape.named.items() if expr is FALSE}
        if absent.isdisjoint([key for shape in union for key in shape.required]):
            return union
        return [
            replace(shape, required=tuple([k for k in shape.required if k not in absent]))
            for shape in union
        ]

    def topics(self, shape: ObjectShape) -> frozenset[Hashable] | None:
        """Its keys, and the values that it tells apart under them."""
        if _has_more(shape):
            return None
        found: set[Hashable] = {*shape.named, *shape.required}
        for key, expr in shape.named.items():
            if isinstance(expr.node, Finite) and len(expr.node.values) <= _MOST_TOPICS:
                found.update([(key, value) for value in expr.node.values])
        return frozenset(found)

    def news(
        self, before: ObjectShape, part: ObjectShape, after: ObjectShape
    ) -> frozenset[Hashable] | None:
        """The topics on which `after`, which is what is in `before` and `part`, says more.

        That some values are left out, nothing more, only matters to who speaks of those values.
        """
        if _has_more(part):
            return None
        found: set[Hashable] = {key for key in part.required if key not in before.required}
        for key in part.named:  # what was joined at the same time says more, too: no harm
            old, new = before.named.get(key, TRUE), after.named[key]
            if new is old or key in found:
                continue
            left_out = _left_out(old, new)
            if left_out is not None and len(left_out) <= _MOST_TOPICS:
                found.update([(key, value) for value in left_out])
                continue
            found.add(key)
        return frozenset(found)

    def absorb(self, shapes: Iterable[ObjectShape]) -> tuple[ObjectShape, ...]:
        """A union without members that are plainly inside another one."""
        return absorb(shapes, self.strings, self.charge)


def absorb(
    shapes: Iterable[ObjectShape],
    strings: StringSets | None = None,
    charge: Callable[[int], None] | None = None,
) -> tuple[ObjectShape, ...]:
    """A union without members that are plainly inside another one.

    Args:
        shapes: The members.
        strings: The string sets, to see which keys a pattern is about.
        charge: Counts comparisons.

    Cost: a shape is compared with those that say less, where a key that few speak of allows it, or
    that lists values, as the name of a tool does.
    """
    unique = list({shape.same_as(): shape for shape in shapes}.values())
    if len(unique) <= 1:
        return tuple(unique)
    uses = Counter(key for shape in unique for key in shape.named)
    kept: list[ObjectShape] = []
    # Under the key of `named` that is used least; None: without any key.
    by_key: dict[str | None, _Members] = {}
    for shape in sorted(unique, key=_says):
        seen = SeenObject(shape, strings)
        keys = by_key if seen.has_rules else (None, *[key for key in shape.named if key in by_key])
        looks = 0
        inside = False
        for key in keys:
            members = by_key.get(key)
            if members is None or inside:
                continue
            others = members.around(TRUE if key is None else shape.named.get(key, TRUE))
            if key is not None and seen.forbids(key):
                others = members.by_value.values()
            for some in others:
                looks += len(some)
                inside = inside or any(map(seen.is_inside, some))
        if charge is not None:
            charge(looks)
        if not inside:
            kept.append(shape)
            told = [key for key, expr in shape.named.items() if expr is not TRUE]
            rarest = min(told, key=lambda key: uses[key], default=None)
            value = TRUE if rarest is None else shape.named[rarest]
            by_key.setdefault(rarest, _Members()).add(value, shape)
    return tuple(kept)


class _Members:
    """Members of a union by what they say of one key.

    Attributes:
        by_value: The members that want each value of the key.
    """

    def __init__(self) -> None:
        self.by_value: dict[Expr, list[ObjectShape]] = {}
        self._listing: dict[Frozen, list[Expr]] = {}
        self._others: list[Expr] = []

    def add(self, value: Expr, shape: ObjectShape) -> None:
        """Add a member."""
        found = self.by_value.get(value)
        if found is None:
            found = self.by_value[value] = []
            for listed in _listed(value):
                self._listing.setdefault(listed, []).append(value)
            if not _listed(value):
                self._others.append(value)
        found.append(shape)

    def around(self, value: Expr) -> Iterable[list[ObjectShape]]:
        """Those of which it is plain that they let a value of the key through."""
        listed = _listed(value)
        wider: Iterable[Expr] = self.by_value
        if listed:  # a list around it has each of its values
            wider = (*self._listing.get(next(iter(listed)), ()), *self._others)
        return [self.by_value[other] for other in wider if implies(value, other)]


def _listed(expr: Expr) -> frozenset[Frozen]:
    """The values of an expression that lists them; else none."""
    if expr.op == "node" and isinstance(expr.node, Finite):
        return expr.node.values
    return frozenset()


def _says(shape: ObjectShape) -> tuple[int, int]:
    """Grows with what a shape says: one that another one is inside comes no later than that."""
    parts = len(shape.required) + len(shape.rules) + len(shape.some) + len(shape.needs)
    values = 0
    for expr in shape.named.values():
        outside, others = _parted(expr)
        parts += len(others) + bool(outside)
        values += len(outside)
        if isinstance(expr.node, Finite) and expr.op == "node":
            values -= len(expr.node.values)
    return parts, values


class SeenObject:
    """A shape, prepared for many comparisons.

    Args:
        shape: The shape.
        strings: The string sets, to see which keys a pattern is about.
    """

    __slots__ = ("_forbidding", "_required", "_rules", "_strings", "shape")

    def __init__(self, shape: ObjectShape, strings: StringSets | None) -> None:
        self.shape = shape
        self._strings = strings
        self._required = frozenset(shape.required)
        self._rules = dict(shape.rules)
        self._forbidding = [keys for keys, expr in shape.rules if expr is FALSE]

    @property
    def has_rules(self) -> bool:
        """Whether it says something of keys that it does not name."""
        return bool(self._rules)

    def forbids(self, key: str) -> bool:
        """Whether it is plain that no object of the shape has a key."""
        return self.shape.named.get(key) is FALSE or any(
            self._has(keys, key) for keys in self._forbidding
        )

    def _has(self, keys: KeySet, key: str) -> bool:
        if self._strings is None:
            return any(contains_plainly(k, key) for k in keys)
        return any(is_exact(k) and self._strings.contains(k, key) for k in keys)

    def is_inside(self, other: ObjectShape) -> bool:
        """Whether it is plain that every object of the shape is in `other`."""
        shape = self.shape
        named = shape.named
        for key, expr in other.named.items():
            if not implies(named.get(key, TRUE), expr) and not self.forbids(key):
                return False
        if not self._required.issuperset(other.required):
            return False
        if other.lo > max(shape.lo, len(shape.required)):
            return False
        if other.hi is not None and (shape.hi is None or shape.hi > other.hi):
            return False
        if not other.some <= shape.some or not other.needs <= shape.needs:
            return False
        return all(implies(self._rules.get(keys, TRUE), expr) for keys, expr in other.rules)

    def excludes(self, other: ObjectShape) -> bool:
        """Whether it is plain that no object of the shape is in `other`."""
        shape = self.shape
        for key in other.required:
            if self.forbids(key):
                return True
        for key, expr in other.named.items():
            if key in self._required or key in other.required:
                mine = shape.named.get(key, TRUE)
                if expr is FALSE or implies(mine, expr.dual):
                    return True
        for keys, expr in other.rules:
            if expr is FALSE and any(self._has(keys, key) for key in self._required):
                return True
        lo = max(shape.lo, other.lo, len(self._required.union(other.required)))
        return (shape.hi is not None and lo > shape.hi) or (other.hi is not None and lo > other.hi)


def _single_keys(keys: KeySet) -> list[str] | None:
    """The keys of a set that is one small finite list, else None."""
    if len(keys) == 1 and keys[0].only is not None and len(keys[0].only) <= 64:
        return sorted(keys[0].only)
    return None
