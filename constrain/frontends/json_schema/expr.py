"""Boolean combinations of schema nodes, hash-consed, expanded by nobody until someone asks.

The value of a property or the item of an array is an `Expr`. Two schemas that both speak of a
property `a` give it the expression "both", a complement gives it "not"; the normal form is flat,
without duplicates, `x and not x` is `FALSE`, `x and (x or y)` is `x`. There are finitely many
nodes, so expressions met while a recursive schema unfolds come back as the same objects, and
everything can be remembered by identity.

    >>> table = Exprs()
    >>> a, b = table.literal("a"), table.literal("b")
    >>> table.all_of((a, table.any_of((a, b)))) is a, table.all_of((a, a.dual)) is FALSE
    (True, True)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final, Literal

__all__ = ["FALSE", "TRUE", "Expr", "Exprs"]

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


class Exprs:
    """The table of one schema's expressions."""

    def __init__(self) -> None:
        self._literals: dict[Hashable, Expr] = {}
        self._combined: dict[tuple[Op, frozenset[Expr]], Expr] = {}
        self._count = 0

    def literal(self, node: Hashable) -> Expr:
        """The values of one node."""
        found = self._literals.get(node)
        if found is None:
            found = self._literals[node] = Expr("node", (), node, self._next())
            _pair(found, Expr("not", (), node, self._next()))
        return found

    def all_of(self, members: Iterable[Expr]) -> Expr:
        """Values in every member."""
        return self._combine("and", members)

    def any_of(self, members: Iterable[Expr]) -> Expr:
        """Values in some member."""
        return self._combine("or", members)

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _combine(self, op: Op, members: Iterable[Expr]) -> Expr:
        neutral, absorbing = (TRUE, FALSE) if op == "and" else (FALSE, TRUE)
        kept: dict[Expr, None] = {}
        for member in members:
            if member is absorbing:
                return absorbing
            if member.op == op:
                kept.update(dict.fromkeys(member.parts))
            elif member is not neutral:
                kept[member] = None
        if len(kept) <= 1:
            return next(iter(kept), neutral)
        other: Op = "or" if op == "and" else "and"
        for member in list(kept):
            if member.dual in kept:
                return absorbing
            if member.op == other and not kept.keys().isdisjoint(member.parts):
                del kept[member]
        if len(kept) == 1:
            return next(iter(kept))
        key = (op, frozenset(kept))
        found = self._combined.get(key)
        if found is None:
            parts = tuple(sorted(kept, key=lambda e: e.serial))
            duals = tuple([p.dual for p in parts])
            found = Expr(op, parts, None, self._next())
            _pair(found, Expr(other, duals, None, self._next()))
            self._combined[key] = found
            self._combined[other, frozenset(duals)] = found.dual
        return found
