"""Sets of values to terms: how every value of a set is written, in one style.

Each expression becomes one rule, made when first asked for and given the same object ever after,
so recursion closes and a subschema costs nothing until a text reaches it. What has no value was
dropped before: every alternative made here can be completed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from constrain.algebra.terms import EPS, Rule, Term, alt, byte_class, cat, literal, repeat, star
from constrain.frontends.json_schema.digits import number_term
from constrain.frontends.json_schema.emptiness import Emptiness
from constrain.frontends.json_schema.expr import TRUE, Expr
from constrain.frontends.json_schema.meaning import Meaning
from constrain.frontends.json_schema.refs import Node
from constrain.frontends.json_schema.shapes import ShapeSet
from constrain.frontends.json_schema.string import shape_term, shared
from constrain.frontends.json_schema.style import JSONStyle
from constrain.frontends.json_schema.text import QUOTE, alphabet

__all__ = ["Layout", "Lowering"]

_SPACE: Final = literal(b" ")


@dataclass(frozen=True, slots=True)
class Layout:
    """Whitespace around the structure of a text.

    Attributes:
        around: Before and after the whole text.
        after_open: After `[` or `{`, if something follows inside.
        inside_empty: Between the brackets of an empty array or object.
        before_close: Before `]` or `}`, if something stands inside.
        separator: A comma and what is around it.
        colon: A colon and what is around it.
    """

    around: Term
    after_open: Term
    inside_empty: Term
    before_close: Term
    separator: Term
    colon: Term


def layout_of(style: JSONStyle) -> Layout:
    """The layout of a style."""
    comma, colon = literal(b","), literal(b":")
    if style.whitespace == "none":
        return Layout(EPS, EPS, EPS, EPS, comma, colon)
    if style.whitespace == "one_space":
        return Layout(EPS, EPS, EPS, EPS, literal(b", "), literal(b": "))
    if style.whitespace == "bounded":
        gap = alt((EPS, _SPACE, cat(literal(b"\n"), repeat(_SPACE, 0, style.max_indent))))
        return Layout(EPS, gap, EPS, gap, cat(comma, gap), cat(colon, repeat(_SPACE, 0, 1)))
    gap = star(byte_class(b" \t\n\r"))
    return Layout(gap, gap, gap, gap, cat(gap, comma, gap), cat(gap, colon, gap))


class Lowering:
    """The terms of one schema in one style.

    Args:
        meaning: The sets of its expressions.
        emptiness: Which of them have values.
        style: How to write.
    """

    def __init__(self, meaning: Meaning, emptiness: Emptiness, style: JSONStyle) -> None:
        self.meaning = meaning
        self.emptiness = emptiness
        self.style = style
        self.layout = layout_of(style)
        self.alphabet = alphabet(style.escapes, style.ensure_ascii)
        self._values: dict[Expr, Term] = {}
        self._lock = threading.RLock()

    def text(self, expr: Expr) -> Term:
        """Whole texts whose value is in an expression that has one."""
        return cat(self.layout.around, self.value(expr), self.layout.around)

    def value(self, expr: Expr) -> Term:
        """Every spelling of every value of an expression that has one."""
        found = self._values.get(expr)
        if found is None:
            values = self.meaning.shapes(expr)
            if values.arrays or values.objects:
                found = self.rule(_name(expr), lambda: self._alternatives(values))
            else:
                found = shared(_name(expr), self._alternatives(values))
            self._values[expr] = found
        return found

    def rule(self, name: str, make: Callable[[], Term]) -> Rule:
        """A rule whose body is made by one thread at a time, whatever store needs it."""

        def body() -> Term:
            with self._lock:
                return make()

        return Rule(name, body)

    def _alternatives(self, values: ShapeSet) -> Term:
        from constrain.frontends.json_schema.lower_array import array_term
        from constrain.frontends.json_schema.lower_object import object_term

        emptiness = self.emptiness
        parts = [array_term(s, self) for s in values.arrays if emptiness.array_has_value(s)]
        parts += [object_term(s, self) for s in values.objects if emptiness.object_has_value(s)]
        if values.strings:
            strings = alt([shape_term(s, self.alphabet) for s in values.strings])
            parts.append(cat(QUOTE, strings, QUOTE))
        if values.numbers:
            parts.append(number_term(values.numbers, self.style))
        words = [w for w, b in ((b"true", True), (b"false", False)) if b in values.booleans]
        words += [b"null"] if values.null else []
        return alt([*parts, *[literal(w) for w in words]])


def _name(expr: Expr) -> str:
    if isinstance(expr.node, Node):
        return expr.node.pointer if expr.op == "node" else f"not {expr.node.pointer}"
    return "anything" if expr is TRUE else f"{expr.op} of schemas"
