"""How the values of arguments are written, kind by kind.

In an argument a string is its text; inside arrays and objects it is one of JSON or of Python, or
text again, as the style has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from constrain.algebra.store import TermStore
from constrain.algebra.terms import (
    ALL,
    EMPTY,
    EPS,
    Rule,
    Term,
    alt,
    byte_class,
    cat,
    complement,
    intersect,
    literal,
    optional,
    repeat,
    star,
)
from constrain.algebra.utf8 import UTF8, Alphabet
from constrain.errors import UnsupportedFeatureError
from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.digits import number_term
from constrain.frontends.json_schema.emptiness import Emptiness
from constrain.frontends.json_schema.expr import Expr
from constrain.frontends.json_schema.lower import Lowering
from constrain.frontends.json_schema.lower_array import array_term
from constrain.frontends.json_schema.lower_object import object_term
from constrain.frontends.json_schema.meaning import Meaning
from constrain.frontends.json_schema.object import ObjectShape
from constrain.frontends.json_schema.shapes import ShapeSet
from constrain.frontends.json_schema.string import StringShape, shape_term, shared
from constrain.frontends.json_schema.style import JSONStyle
from constrain.frontends.json_schema.text import QUOTE, alphabet
from constrain.frontends.tags.argument_members import Arguments, by_type
from constrain.frontends.tags.argument_styles import ArgumentStyle
from constrain.frontends.tags.markers import marker
from constrain.frontends.tags.python_text import SINGLE_QUOTED

__all__ = ["Values"]

_BLANK: Final = byte_class(b" \t\n\r")
_LINE_END: Final = optional(literal(b"\n"))


class Values(Lowering):
    """The values of arguments, and what is inside of them.

    Args:
        meaning: The sets of the expressions of a schema.
        emptiness: Which of them have values.
        style: How JSON in them is written.
        how: How the arguments are written.
        kept_out: Texts that no key or string has in it, as written.
        loose: Whitespace may stand around arguments and their values.
        outside: As of `Lowering`.
        comparable: As of `Lowering`.

    Attributes:
        how: How the arguments are written.
        loose: Whitespace may stand around them.
        gap: That whitespace.
        marks: Texts that no key or string has in it.
    """

    def __init__(
        self,
        meaning: Meaning,
        emptiness: Emptiness,
        style: JSONStyle,
        how: ArgumentStyle,
        kept_out: Sequence[str],
        *,
        loose: bool,
        outside: Lowering | None = None,
        comparable: bool = False,
    ) -> None:
        if how.nested == "python":
            style = replace(style, escapes="minimal", ensure_ascii=False)
        if how.nested != "json" and style.whitespace == "pretty":
            style = replace(style, whitespace="spaced")
        super().__init__(meaning, emptiness, style, outside, comparable=comparable)
        self.how = how
        self.loose = loose
        self.gap = _gap(style) if loose else EPS
        self.marks = tuple(dict.fromkeys([text for text in kept_out if text]))
        self._allowed = complement(
            cat(ALL, alt([literal(text.encode()) for text in self.marks]), ALL)
        )
        self._store: TermStore | None = None
        self._arguments: dict[Expr, list[tuple[str, Term]]] = {}
        self._wholes: dict[ObjectShape, Term] = {}
        self._arrays: dict[ArrayShape, Term] = {}

    # Lowering, for what arrays and objects hold

    def _another(self, *, outside: Lowering | None, comparable: bool) -> Values:
        return Values(
            self.meaning,
            self.emptiness,
            self.style,
            self.how,
            self.marks,
            loose=self.loose,
            outside=outside,
            comparable=comparable,
        )

    def nullable_rule(self, name: str, make: Callable[[], Term], *, nullable: bool) -> Rule:
        """As `rule`, of what may be empty."""
        made = self.rule(name, make)
        return Rule(name, made.thunk, nullable=nullable) if nullable else made

    def capture(
        self,
        body: Term,
        follow: Callable[[bytes], Term],
        *,
        before: Term = EPS,
        instead: Term = EMPTY,
    ) -> Term:
        """A key or item that is captured; a key has nothing in it that is kept out."""
        kept = self.without_marks(body) if body.regular else body
        return super().capture(kept, follow, before=before, instead=instead)

    def _alternatives(self, expr: Expr, values: ShapeSet) -> Term:
        return alt([term for _, term in self.kinds(values)])

    def _scalar_part(self, expr: Expr, values: ShapeSet) -> Term:
        found = self._scalars.get(expr)
        if found is None:
            parts = [term for _, term in self._scalar_kinds(values, self._inner_strings)]
            if not parts and not (values.arrays or values.objects):
                raise self.nothing_left(values)
            found = self._scalars[expr] = shared("value", alt(parts))
        return found

    # Values by kind

    def argument(self, expr: Expr) -> list[tuple[str, Term]]:
        """Every kind of value of an argument, and how such values are written."""
        found = self._arguments.get(expr)
        if found is None:
            values = self.meaning.shapes(expr)
            found = self._arguments[expr] = [
                (kind, term if kind == "string" else cat(self.gap, term, self.gap))
                for kind, term in self.kinds(values, top=True)
            ]
            if not found:
                raise self.nothing_left(values)
        return found

    def kinds(self, values: ShapeSet, *, top: bool = False) -> list[tuple[str, Term]]:
        """As `argument`, also inside arrays and objects, where a string may be written otherwise.

        Args:
            values: The values.
            top: They are arguments.
        """
        same = self.how.nested == "same"
        strings = self._raw_strings if top or same else self._inner_strings
        found = self._scalar_kinds(values, strings)
        for array in values.arrays:
            if self.emptiness.array_has_value(array):
                found.append(("array", self.array_of(array)))
        for shape in values.objects:
            if self.emptiness.object_has_value(shape):
                found.append(("object", self.object_of(shape)))
        return found

    def _scalar_kinds(
        self, values: ShapeSet, strings: Callable[[Sequence[StringShape]], Term]
    ) -> list[tuple[str, Term]]:
        found: list[tuple[str, Term]] = []
        if values.strings and (texts := strings(values.strings)) is not EMPTY:
            found.append(("string", texts))
        if values.numbers:
            found.append(
                ("number", number_term(values.numbers, self.style, comparable=self._comparable))
            )
        python = self.how.nested == "python"
        words = {True: b"True" if python else b"true", False: b"False" if python else b"false"}
        if values.booleans:
            found.append(("boolean", alt([literal(words[b]) for b in sorted(values.booleans)])))
        if values.null:
            found.append(("null", literal(b"None" if python else b"null")))
        return found

    # Strings

    def without_marks(self, term: Term) -> Term:
        """The texts of a term that have nothing in them that is kept out."""
        return term if not self.marks else intersect((term, self._allowed))

    def _texts(self, shapes: Sequence[StringShape], spelled: Alphabet | None) -> Term:
        """Texts without their quotes; `SINGLE_QUOTED` for None."""
        parts = []
        for shape in shapes:
            if shape.only is not None:
                texts = sorted(shape.only)
                if spelled is None:
                    parts.append(alt([SINGLE_QUOTED.spell_text(text) for text in texts]))
                    continue
                if spelled is UTF8:
                    kept = [t for t in texts if not any([mark in t for mark in self.marks])]
                    parts.append(shape_term(StringShape(only=frozenset(kept)), spelled))
                    continue
                if not any([mark[0] in text for text in texts for mark in self.marks]):
                    parts.append(shape_term(shape, spelled))
                    continue
            term = shape_term(shape, SINGLE_QUOTED if spelled is None else spelled)
            parts.append(self.without_marks(term))
        return shared("text", alt(parts))

    def _raw_strings(self, shapes: Sequence[StringShape]) -> Term:
        if self.how.nested == "python":
            return self._inner_strings(shapes)
        before, _, after = self.how.string.partition("$VALUE")
        texts = self._texts(shapes, UTF8)
        if texts is EMPTY:
            return EMPTY
        if self.loose and not (before or after) and self.gap is not EPS:
            return cat(_LINE_END, texts, _LINE_END)
        return cat(marker(before), texts, marker(after))

    def _inner_strings(self, shapes: Sequence[StringShape]) -> Term:
        if self.how.nested == "same":
            return self._raw_strings(shapes)
        texts = self._texts(shapes, alphabet(self.style.escapes, self.style.ensure_ascii))
        double = cat(QUOTE, texts, QUOTE) if texts is not EMPTY else EMPTY
        if self.how.nested == "json":
            return double
        apostrophe = literal(b"'")
        return alt((double, cat(apostrophe, self._texts(shapes, None), apostrophe)))

    # Arrays and objects

    def object_of(self, shape: ObjectShape) -> Term:
        """Every object of a shape that has one."""
        found = self._wholes.get(shape)
        if found is None:
            same = self.how.nested == "same"
            found = Arguments(shape, self).whole() if same else object_term(shape, self)
            self._wholes[shape] = found
        return found

    def array_of(self, shape: ArrayShape) -> Term:
        """Every array of a shape that has one.

        Raises:
            UnsupportedFeatureError: Its items are compared or counted, which this style refuses.
        """
        found = self._arrays.get(shape)
        if found is None:
            found = self._arrays[shape] = self._new_array(shape)
        return found

    def _new_array(self, shape: ArrayShape) -> Term:
        if shape.distinct is not None and self.how.nested != "json":
            raise UnsupportedFeatureError(
                "uniqueItems in arguments that are not written as JSON",
                hint="leave it out, and check the items afterwards",
            )
        if self.how.nested == "same" and self.how.item is not None:
            if shape.counters:
                raise UnsupportedFeatureError(
                    "'contains' in an array whose items are written one by one",
                    hint="leave it out, and check the items afterwards",
                )
            return self._items(shape)
        return array_term(shape, self)

    def _items(self, shape: ArrayShape) -> Term:
        """An array of which each item is written by itself."""
        prefix, hi, has_value = shape.prefix, shape.hi, self.emptiness.has_value
        fitting = 0
        while fitting < len(prefix) and has_value(prefix[fitting]):
            fitting += 1
        if fitting < len(prefix) or not has_value(shape.rest):
            hi = fitting if hi is None else min(hi, fitting)
        n = len(prefix) if hi is None else min(len(prefix), hi)

        def body() -> Term:
            left = None if hi is None else hi - n
            tail = EPS if left == 0 else repeat(self._item(shape.rest), max(shape.lo - n, 0), left)
            for i in range(n - 1, -1, -1):
                tail = cat(self._item(prefix[i]), tail)
                if i >= shape.lo:
                    tail = optional(tail)
            return cat(self.gap, tail) if tail.nullable == (shape.lo == 0) else tail

        return self.nullable_rule("items", body, nullable=shape.lo == 0)

    def _item(self, expr: Expr) -> Term:
        assert self.how.item is not None
        before, _, after = self.how.item.partition("$VALUE")

        def body() -> Term:
            kinds = self.argument(expr)
            values = by_type([(before.replace("$TYPE", self.how.types[k]), t) for k, t in kinds])
            return cat(values, marker(after), self.gap)

        return self.rule("item", body)

    # What cannot be written

    @property
    def _is_json(self) -> bool:
        """Whether all of it is JSON, arguments too."""
        return self.how.nested == "json" and self.how.string == '"$VALUE"'

    @property
    def escapes_marks(self) -> bool:
        """Whether a string that has a mark in it can be written with an escape there."""
        return self._is_json and self.style.escapes == "any"

    def nothing_left(self, values: ShapeSet) -> UnsupportedFeatureError:
        """The error where no string of some values can be written."""
        listed = [text for shape in values.strings for text in sorted(shape.only or ())]
        listed.sort(key=lambda text: not any([mark in text for mark in self.marks]))
        what = f"the text {listed[0]!r}" if listed else "every text that the schema allows"
        marks = " or ".join(map(repr, self.marks))
        return UnsupportedFeatureError(
            f"a string in arguments that cannot be written: {what} has {marks} in it",
            hint='style=JSONStyle(escapes="any") writes it with an escape'
            if self._is_json
            else "this way of writing calls has no escapes",
        )

    def is_empty(self, term: Term) -> bool:
        """Whether no text is in a term. Exact."""
        if self._store is None:
            self._store = TermStore(self.meaning.limits)
        return self._store.is_empty(self._store.intern(term))


def _gap(style: JSONStyle) -> Term:
    """Whitespace around arguments."""
    if style.whitespace == "compact":
        return EPS
    return star(_BLANK) if style.whitespace == "any" else repeat(_BLANK, 0, style.max_whitespace)
