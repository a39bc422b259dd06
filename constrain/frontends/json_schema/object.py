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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr, Exprs, Finite, implies
from constrain.frontends.json_schema.string import StringSets, StringShape, contains_plainly

__all__ = [
    "ANY_OBJECT",
    "KeySet",
    "ObjectShape",
    "absorb",
    "complement",
    "intersect",
    "tidy",
    "value_of",
]

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
    parts = [shape.named.get(key, TRUE)]
    for keys, expr in shape.rules:
        if any(strings.contains(k, key) for k in keys):
            parts.append(expr)
    return table.all_of(parts)


def intersect(a: ObjectShape, b: ObjectShape, table: Exprs) -> ObjectShape | None:
    """Objects in both, or None where that is plainly empty."""
    if a is ANY_OBJECT or b is ANY_OBJECT:
        return b if a is ANY_OBJECT else a
    named = dict(a.named)
    for key, expr in b.named.items():
        named[key] = table.all_of((named[key], expr)) if key in named else expr
    rules = dict(a.rules)
    for keys, expr in b.rules:
        rules[keys] = table.all_of((rules[keys], expr)) if keys in rules else expr
    required = tuple(dict.fromkeys(a.required + b.required))
    hi = a.hi if b.hi is None else b.hi if a.hi is None else min(a.hi, b.hi)
    both = ObjectShape(
        named,
        tuple(rules.items()),
        required,
        a.some | b.some,
        a.needs | b.needs,
        max(a.lo, b.lo),
        hi,
    )
    return tidy(both, table)


def complement(shape: ObjectShape, table: Exprs) -> list[ObjectShape]:
    """Every object outside the set, as a union: one part of the shape is broken.

    A key that must be there with a value in x is broken in one way: if it is there, its value is
    not in x. Where x is a finite set, the key may tell branches of a schema apart, so the other
    parts are only broken where it is kept: not (p and q) is not p, or p and not q. Then the
    complements of two branches with different constants multiply to as many shapes as they have
    parts, not to the product.
    """
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


def _covers(a: ObjectShape, b: ObjectShape) -> bool:
    """Whether it is plain that every object in `b` is in `a`."""
    if not a.some <= b.some or not a.needs <= b.needs:
        return False
    if not set(a.required) <= set(b.required):
        return False
    if a.lo > max(b.lo, len(b.required)):
        return False
    if a.hi is not None and (b.hi is None or b.hi > a.hi):
        return False
    rules = dict(b.rules)
    return all(implies(b.named.get(key, TRUE), expr) for key, expr in a.named.items()) and all(
        implies(rules.get(keys, TRUE), expr) for keys, expr in a.rules
    )


def absorb(shapes: Iterable[ObjectShape]) -> tuple[ObjectShape, ...]:
    """A union without members that are plainly inside another one."""
    kept: list[ObjectShape] = []
    for shape in {s.same_as(): s for s in shapes}.values():
        if not any(_covers(other, shape) for other in kept):
            kept = [other for other in kept if not _covers(shape, other)]
            kept.append(shape)
    return tuple(kept)


def _single_keys(keys: KeySet) -> list[str] | None:
    """The keys of a set that is one small finite list, else None."""
    if len(keys) == 1 and keys[0].only is not None and len(keys[0].only) <= 64:
        return sorted(keys[0].only)
    return None
