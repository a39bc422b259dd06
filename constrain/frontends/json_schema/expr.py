"""Boolean combinations of schema nodes, hash-consed, expanded by nobody until someone asks.

The value of a property or the item of an array is an `Expr`. Two schemas that both speak of a
property `a` give it the expression "both", a complement gives it "not"; the normal form is flat,
without duplicates, `x and not x` is `FALSE`, `x and (x or y)` is `x`. Finite sets of values are
nodes too, and are combined at once: that two branches want different constants under one key is
seen here. There are finitely many nodes, so expressions met while a recursive schema unfolds come
back as the same objects, and everything can be remembered by identity.

    >>> table = Exprs()
    >>> a, b = table.literal("a"), table.literal("b")
    >>> table.all_of((a, table.any_of((a, b)))) is a, table.all_of((a, a.dual)) is FALSE
    (True, True)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from constrain.frontends.json_schema.values import Frozen

__all__ = ["FALSE", "TRUE", "Expr", "Exprs", "Finite", "implies"]

Op = Literal["true", "false", "node", "not", "and", "or"]


class Expr:
    """One expression. Compare by identity.

    Attributes:
        op: What it is.
        parts: Of "and" and "or": the members, in the order in which they were made.
        node: Of "node" and "not": the schema node.
        dual: The complement.
        serial: Grows with the order of making; for reproducible orders.
    """

    __slots__ = ("dual", "node", "op", "parts", "serial")
    dual: Expr

    def __init__(self, op: Op, parts: tuple[Expr, ...], node: Hashable, serial: int) -> None:
        self.op = op
        self.parts = parts
        self.node = node
        self.serial = serial

    def __repr__(self) -> str:
        if self.op in ("and", "or"):
            return f"({f' {self.op} '.join(map(repr, self.parts))})"
        return {"node": repr(self.node), "not": f"not {self.node!r}"}.get(self.op, self.op)


def _pair(a: Expr, b: Expr) -> None:
    a.dual, b.dual = b, a


TRUE: Final = Expr("true", (), None, 0)
FALSE: Final = Expr("false", (), None, 0)
_pair(TRUE, FALSE)


@dataclass(frozen=True, slots=True)
class Finite:
    """A node that is a finite set of values, frozen; equal for equal sets."""

    values: frozenset[Frozen]


class Exprs:
    """The table of one schema's expressions."""

    def __init__(self) -> None:
        self._literals: dict[Hashable, Expr] = {}
        self._conjunctions: dict[frozenset[Expr], Expr] = {}
        self._count = 0

    def literal(self, node: Hashable) -> Expr:
        """The values of one node."""
        found = self._literals.get(node)
        if found is None:
            found = self._literals[node] = Expr("node", (), node, self._next())
            _pair(found, Expr("not", (), node, self._next()))
        return found

    def finite(self, values: Iterable[Frozen]) -> Expr:
        """Exactly these values."""
        kept = frozenset(values)
        return self.literal(Finite(kept)) if kept else FALSE

    def any_of(self, members: Iterable[Expr]) -> Expr:
        """Values in some member."""
        return self.all_of([member.dual for member in members]).dual

    def all_of(self, members: Iterable[Expr]) -> Expr:
        """Values in every member."""
        kept: dict[Expr, None] = {}
        finite: list[Expr] = []
        for member in members:
            for part in member.parts if member.op == "and" else (member,):
                if part is FALSE:
                    return FALSE
                if isinstance(part.node, Finite):
                    finite.append(part)
                elif part is not TRUE:
                    kept[part] = None
        if finite:
            joined = finite[0] if len(finite) == 1 else self._join(finite)
            if joined is FALSE:
                return FALSE
            if joined is not TRUE:
                kept[joined] = None
        for part in list(kept):
            if part.dual in kept:
                return FALSE
            if part.op == "or" and not kept.keys().isdisjoint(part.parts):
                del kept[part]
        if len(kept) <= 1:
            return next(iter(kept), TRUE)
        key = frozenset(kept)
        found = self._conjunctions.get(key)
        if found is None:
            parts = tuple(sorted(kept, key=lambda e: e.serial))
            found = self._conjunctions[key] = Expr("and", parts, None, self._next())
            _pair(found, Expr("or", tuple([p.dual for p in parts]), None, self._next()))
        return found

    def _join(self, members: list[Expr]) -> Expr:
        """The "and" of finite sets and complements of finite sets."""
        inside: frozenset[Frozen] | None = None
        outside: frozenset[Frozen] = frozenset()
        for member in members:
            assert isinstance(member.node, Finite)
            values = member.node.values
            if member.op == "not":
                outside |= values
            else:
                inside = values if inside is None else inside & values
        return self.finite(outside).dual if inside is None else self.finite(inside - outside)

    def _next(self) -> int:
        self._count += 1
        return self._count


def implies(a: Expr, b: Expr) -> bool:
    """Whether it is plain that every value in `a` is in `b`.

    Cost: linear in the parts of the two.
    """
    if a is b or a is FALSE or b is TRUE:
        return True
    parts = a.parts if a.op == "and" else (a,)
    if b.op == "and":
        return all(_implies_one(parts, part) for part in b.parts)
    return _implies_one(parts, b)


def _implies_one(parts: tuple[Expr, ...], b: Expr) -> bool:
    """Whether it is plain that what is in all of the parts is in `b`, which is no "and"."""
    if b in parts:
        return True
    if b.op == "or":
        return not frozenset(parts).isdisjoint(b.parts)
    if not isinstance(b.node, Finite):
        return False
    return any(_listed_inside(part, b) for part in parts if isinstance(part.node, Finite))


def _listed_inside(a: Expr, b: Expr) -> bool:
    """`implies` for finite sets and complements of finite sets."""
    assert isinstance(a.node, Finite)
    assert isinstance(b.node, Finite)
    if a.op == "not":
        return b.op == "not" and b.node.values <= a.node.values
    if b.op == "not":
        return a.node.values.isdisjoint(b.node.values)
    return a.node.values <= b.node.values
