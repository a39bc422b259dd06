"""Sets of values to terms: how every value of a set is written, in one style.

Each expression becomes one rule, made when first asked for and given the same object ever after,
so recursion closes and a subschema costs nothing until a text reaches it. What has no value was
dropped before: every alternative made here can be completed.
"""

from __future__ import annotations

from collections.abc import Callable

from constrain.algebra.terms import (
    EMPTY,
    EPS,
    Rule,
    Term,
    alt,
    capture,
    cat,
)
from constrain.frontends.json_schema.assertions import kinds
from constrain.frontends.json_schema.digits import number_term
from constrain.frontends.json_schema.emptiness import Emptiness
from constrain.frontends.json_schema.expr import TRUE, Expr, Finite
from constrain.frontends.json_schema.joined_objects import join
from constrain.frontends.json_schema.layout import layout_of
from constrain.frontends.json_schema.lower_array import array_term
from constrain.frontends.json_schema.lower_object import object_term
from constrain.frontends.json_schema.meaning import Meaning
from constrain.frontends.json_schema.refs import Node
from constrain.frontends.json_schema.shapes import EVERYTHING, ShapeSet
from constrain.frontends.json_schema.staples import NULL, SCALARS, staples
from constrain.frontends.json_schema.string import shape_term, shared
from constrain.frontends.json_schema.style import JSONStyle
from constrain.frontends.json_schema.text import QUOTE, alphabet

__all__ = ["Lowering"]

_FEW = 16
"""Values that are written where they stand, rather than in a rule."""


class Lowering:
    """The terms of one schema in one style, for arrays and objects at one depth.

    Depth matters only where lines are indented by it (whitespace "pretty"); there is one of these
    for each depth that a text reaches then, and else one for all.

    Args:
        meaning: The sets of its expressions.
        emptiness: Which of them have values.
        style: How to write.
        outside: The one for what stands around, None for whole texts.
        comparable: Numbers are written so that equal ones can be told (`number_term`).

    Attributes:
        layout: Whitespace of the arrays and objects that are written here.
        alphabet: How strings are spelled.
    """

    def __init__(
        self,
        meaning: Meaning,
        emptiness: Emptiness,
        style: JSONStyle,
        outside: Lowering | None = None,
        *,
        comparable: bool = False,
    ) -> None:
        self.meaning = meaning
        self.emptiness = emptiness
        self.style = style
        self.alphabet = alphabet(style.escapes, style.ensure_ascii)
        self._comparable = comparable
        self._staples = staples(style, comparable=comparable)
        self._comparing: Lowering | None = None
        self._depth: int = 0 if outside is None else outside._depth + 1
        self.layout = layout_of(style, self._depth)
        self._whole: Expr | None = None
        self._values: dict[Expr, Term] = {}
        self._later: dict[Expr, Term] = {}
        self._scalars: dict[Expr, Term] = {} if outside is None else outside._scalars
        self._inside: Lowering | None = None if style.whitespace == "pretty" else self

    @property
    def inside(self) -> Lowering:
        """The lowering of the arrays and objects inside of those that are written here.

        Raises:
            LimitExceededError: Lines are indented by depth, and this is deeper than `max_nesting`.
        """
        if self._inside is None:
            where = "JSON in whitespace 'pretty', whose depth the schema does not bound,"
            self.meaning.limits.check("max_nesting", self._depth + 1, where)
            self._inside = self._another(outside=self, comparable=self._comparable)
        return self._inside

    @property
    def comparing(self) -> Lowering:
        """The lowering, at the same depth, of values that are compared with one another."""
        if self._comparable or self.style.numbers != "any":
            return self
        if self._comparing is None:
            made = self._another(outside=None, comparable=True)
            made._depth, made.layout = self._depth, self.layout
            self._comparing = made
        return self._comparing

    def _another(self, *, outside: Lowering | None, comparable: bool) -> Lowering:
        """One of the same schema, written in the same way."""
        return Lowering(self.meaning, self.emptiness, self.style, outside, comparable=comparable)

    def text(self, expr: Expr) -> Term:
        """Whole texts whose value is in an expression that has one."""
        self._whole = expr
        return cat(self.layout.around, self._value(expr), self.layout.around)

    def value(self, expr: Expr) -> Term:
        """Every spelling of every member's or item's value of an expression that has one.

        The member or item stands in an array or object that is written here, so its value is
        written `inside`.
        """
        return self.inside._value(expr)

    def later(self, expr: Expr, *, soon: bool = False) -> Term:
        """As `value`, made when a text gets there: an object offers many members, and has few.

        Args:
            expr: The expression.
            soon: A text will get there. Then a rule for a few values is not worth its while.
        """
        inside = self.inside
        found = inside._values.get(expr) or inside._later.get(expr)
        if found is None:
            if _plain_values(expr) is not None or (soon and _has_few_values(expr)):
                return inside._value(expr)
            found = inside._later[expr] = inside._value_rule(expr)
        return found

    def _value(self, expr: Expr) -> Term:
        found = self._values.get(expr)
        if found is None:
            values = _plain_values(expr) or self.meaning.shapes(expr)
            if values.arrays or values.objects:
                found = self._later.get(expr) or self._value_rule(expr)
            else:
                found = self._scalar_part(expr, values)
            self._values[expr] = found
        return found

    def _value_rule(self, expr: Expr) -> Rule:
        """A rule for the values of an expression."""

        def body() -> Term:
            return self._alternatives(expr, self.meaning.shapes(expr))

        return self.rule(_name(expr), body)

    def rule(self, name: str, make: Callable[[], Term]) -> Rule:
        """A rule whose body is made by one thread at a time, whatever store needs it."""

        def body() -> Term:
            with self.meaning.lock:
                return make()

        return Rule(name, body)

    def capture(
        self,
        body: Term,
        follow: Callable[[bytes], Term],
        *,
        before: Term = EPS,
        instead: Term = EMPTY,
    ) -> Term:
        """`terms.capture`, with what follows made by one thread at a time."""

        def locked(text: bytes) -> Term:
            with self.meaning.lock:
                return follow(text)

        return capture(body, locked, before=before, instead=instead)

    def _alternatives(self, expr: Expr, values: ShapeSet) -> Term:
        emptiness = self.emptiness
        parts = [array_term(s, self) for s in values.arrays if emptiness.array_has_value(s)]
        objects = [s for s in values.objects if emptiness.object_has_value(s)]
        objects = join(objects, in_order=self.style.property_order == "declared")
        # Of a whole text there is nothing yet: its first mask shall not wait for what comes later.
        ahead = len(objects) == 1 and expr is not self._whole
        parts += [object_term(s, self, ahead=ahead) for s in objects]
        return alt([*parts, self._scalar_part(expr, values)])

    def _scalar_part(self, expr: Expr, values: ShapeSet) -> Term:
        """Every spelling of the strings, numbers, booleans and null of an expression."""
        found = self._scalars.get(expr)
        if found is None:
            if not (values.strings or values.numbers or values.booleans or values.null):
                return EMPTY
            made = self._staples
            parts = []
            large = []
            if values.strings == EVERYTHING.strings:
                parts.append(made.string)
            elif values.strings:
                strings = alt([shape_term(s, self.alphabet) for s in values.strings])
                large.append(cat(QUOTE, strings, QUOTE))
            if values.numbers:
                number = made.number(values.numbers[0]) if len(values.numbers) == 1 else None
                if number is not None:
                    parts.append(number)
                else:
                    style, comparable = self.style, self._comparable
                    large.append(number_term(values.numbers, style, comparable=comparable))
            parts += [made.booleans[b] for b in (True, False) if b in values.booleans]
            parts += [NULL] if values.null else []
            if large:
                parts.append(shared(_name(expr), alt(large)))
            found = self._scalars[expr] = alt(parts)
        return found


def _plain_values(expr: Expr) -> ShapeSet | None:
    """The set of an expression that plainly is all scalars of some types; None of any other."""
    node = expr.node
    if expr.op != "node" or not isinstance(node, Node) or node.names != ["type"]:
        return None
    types = node.schema["type"]
    is_plain = types in SCALARS if isinstance(types, str) else SCALARS.issuperset(types)
    return kinds(node) if is_plain else None


def _has_few_values(expr: Expr) -> bool:
    """Whether an expression lists a few values, one by one."""
    node = expr.node
    return expr.op == "node" and isinstance(node, Finite) and len(node.values) <= _FEW


def _name(expr: Expr) -> str:
    if isinstance(expr.node, Node):
        return expr.node.pointer if expr.op == "node" else f"not {expr.node.pointer}"
    return "anything" if expr is TRUE else f"{expr.op} of schemas"
