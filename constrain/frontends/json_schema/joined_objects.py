"""Object shapes that differ in the keys that must be there, as one shape.

"At least one of these keys" is a union of as many shapes, `anyOf: [{required: [a]}, {required:
[b]}]`. Written one by one, each has rules of its own for what may still come, and a text that has
some of the keys goes on in all shapes that it satisfies: as many sets of rules as there are sets of
keys. As one shape in which some member has one of the keys there is a rule for each key, met or
not.

    >>> named = {"a": TRUE, "b": TRUE, "c": TRUE}
    >>> shapes = [ObjectShape(named, required=("c", k)) for k in "ab"]
    >>> [joined] = join(shapes, in_order=True)
    >>> joined.required, [sorted(keys[0].only) for keys, _ in joined.some]
    (('c',), [['a', 'b']])

Cost: linear in what the shapes say, and at most MOST_CLAUSES sets of keys for each.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Final

from constrain.frontends.json_schema.expr import TRUE
from constrain.frontends.json_schema.object import ObjectShape
from constrain.frontends.json_schema.string import StringShape

__all__ = ["join"]

MOST_CLAUSES: Final = 8
"""Sets of keys, one of each of which must be there. Each is an obligation of its own, and a text is
in a state for each set of obligations that it has met."""


def join(shapes: Sequence[ObjectShape], *, in_order: bool) -> list[ObjectShape]:
    """The same union, and the same texts, in fewer shapes.

    Args:
        shapes: The members of a union.
        in_order: Members are written in declared order. Then shapes are joined only where they
            declare all the keys that they need, or the order would change.
    """
    if len(shapes) <= 1:
        return list(shapes)
    alike: dict[Hashable, list[ObjectShape]] = {}
    for shape in shapes:
        rest: tuple[Hashable, ...] = shape.rules, shape.some, shape.needs, shape.lo, shape.hi
        is_declared = not in_order or shape.named.keys() >= set(shape.required)
        which = None if is_declared else id(shape)
        alike.setdefault((tuple(shape.named.items()), rest, which), []).append(shape)
    joined = []
    for group in alike.values():
        clauses = _clauses([frozenset(shape.required) for shape in group])
        if len(group) == 1 or clauses is None:
            joined += group
            continue
        required = [k for k in group[0].required if frozenset((k,)) in clauses]
        some = [c for c in clauses if len(c) > 1]
        keys = [((StringShape(only=clause),), TRUE) for clause in some]
        joined.append(replace(group[0], required=tuple(required), some=group[0].some.union(keys)))
    return joined


def _clauses(choices: Sequence[frozenset[str]]) -> set[frozenset[str]] | None:
    """Sets of keys, one of each of which is there where all of some choice are; None if many.

    Distribution of "or" over "and", without sets that hold another one. A set that has a key of the
    next choice stays as it is.
    """
    clauses = {frozenset((key,)) for key in choices[0]}
    for choice in choices[1:]:
        kept = {clause for clause in clauses if not clause.isdisjoint(choice)}
        keys = [key for key in choice if frozenset((key,)) not in kept]
        wider = {clause | {key} for clause in clauses - kept for key in keys}
        if len(wider) > MOST_CLAUSES**2:
            return None
        clauses = kept | {c for c in wider if not any([other < c for other in kept | wider])}
        if sum([len(clause) > 1 for clause in clauses]) > MOST_CLAUSES:
            return None
    return clauses
