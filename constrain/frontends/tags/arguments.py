r"""The arguments of a call in a style that is not JSON, from the JSON Schema that they satisfy.

What a schema means is left to `json_schema`; here its objects are only written otherwise. Text in a
string is written as it is, so a string that has in it what ends one cannot be written: it is left
out, and where that would leave nothing, the schema is refused.

    >>> from constrain.algebra.store import TermStore
    >>> from constrain.frontends.tags.argument_styles import PARAMETERS
    >>> schema = {"properties": {"a": {"type": "string"}}, "additionalProperties": False}
    >>> term = arguments(schema, PARAMETERS["qwen_xml"])
    >>> store = TermStore()
    >>> start = store.intern(term)
    >>> [store.nullable(store.advance(start, w)) for w in (b"", b"<parameter=a>1<2</parameter>")]
    [True, True]
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
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
from constrain.frontends.json_schema.audit import audit, needs_audit
from constrain.frontends.json_schema.digits import number_term
from constrain.frontends.json_schema.emptiness import Emptiness
from constrain.frontends.json_schema.explain import unsatisfiable
from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr
from constrain.frontends.json_schema.late import may_refuse_late
from constrain.frontends.json_schema.lower import Layout, Lowering
from constrain.frontends.json_schema.lower_array import array_term

# The states between two members are the same however members are spelled; only the spelling of this
# class is replaced here.
from constrain.frontends.json_schema.lower_object import _Members, _State, object_term
from constrain.frontends.json_schema.meaning import Meaning
from constrain.frontends.json_schema.members import Region
from constrain.frontends.json_schema.object import ObjectShape
from constrain.frontends.json_schema.read import JSON, read_schema
from constrain.frontends.json_schema.refs import Source
from constrain.frontends.json_schema.shapes import ShapeSet
from constrain.frontends.json_schema.string import StringShape, shape_term, shared
from constrain.frontends.json_schema.style import JSONStyle, resolve_style
from constrain.frontends.json_schema.text import QUOTE, alphabet
from constrain.frontends.regex import from_regex
from constrain.frontends.tags.argument_styles import ArgumentStyle
from constrain.frontends.tags.markers import marker
from constrain.frontends.tags.python_text import SINGLE_QUOTED
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["arguments", "json_object", "json_without"]

_BLANK: Final = byte_class(b" \t\n\r")
_LINE_END: Final = optional(literal(b"\n"))
_MOST_LOOKS: Final = 5_000
"""Expressions that are looked at for strings that cannot be written, before a text gets there."""


def arguments(
    schema: JSON,
    how: ArgumentStyle,
    *,
    style: str | JSONStyle = "canonical",
    property_order: str = "declared",
    kept_out: Iterable[str] = (),
    loose: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Term:
    """The arguments that satisfy a schema; only objects do.

    Args:
        schema: A JSON Schema.
        how: How they are written.
        style: How JSON in them is written, and in which order arguments come.
        property_order: "any" frees the order.
        kept_out: Texts that no key or string has in it, as written.
        loose: Whitespace may stand around arguments and their values, as the style of JSON has it:
            none in "compact", any run in "any", else up to `max_whitespace` bytes. Around a string
            it is one line end at most.
        limits: Budgets.

    Raises:
        SchemaError: It is not a valid schema.
        UnsupportedFeatureError: Something cannot be honoured exactly: of the schema, or a key or
            string that this style cannot write.
        UnsatisfiableError: No object satisfies it.
        LimitExceededError: It is larger than the limits allow.
    """
    written = resolve_style(style, "any" if how.any_order else property_order)
    expr, meaning, emptiness = _understand(schema, limits, objects=True)
    shapes = [s for s in meaning.shapes(expr).objects if emptiness.object_has_value(s)]
    writer = _Values(meaning, emptiness, written, how, (how.mark, *kept_out), loose=loose)
    writer.look(shapes)
    return alt([_Arguments(shape, writer).whole() for shape in shapes])


def json_without(
    schema: JSON,
    kept_out: Sequence[str],
    *,
    style: str | JSONStyle = "canonical",
    property_order: str = "declared",
    limits: Limits = DEFAULT_LIMITS,
) -> Term:
    """The JSON texts of a schema of which no key and no string has certain texts in it, as written.

    Raises:
        As `arguments`.
    """
    written = resolve_style(style, property_order)
    expr, meaning, emptiness = _understand(schema, limits, objects=False)
    writer = _Values(meaning, emptiness, written, _JSON, kept_out, loose=False)
    writer.look([], expr)
    return writer.text(expr)


_JSON: Final = ArgumentStyle('"$KEY":$VALUE', begin="{", between=",", end="}", string='"$VALUE"')
"""Of what is no argument of a call; only the form of nested values is used."""


def json_object(
    schema: JSON, *, style: str | JSONStyle = "canonical", limits: Limits = DEFAULT_LIMITS
) -> Term:
    """The JSON texts of the objects that satisfy a schema, whatever else does.

    Raises:
        As `arguments`.
    """
    expr, meaning, emptiness = _understand(schema, limits, objects=True)
    lowering = Lowering(meaning, emptiness, resolve_style(style))
    shapes = [s for s in meaning.shapes(expr).objects if emptiness.object_has_value(s)]
    around = lowering.layout.around
    return cat(around, alt([object_term(shape, lowering) for shape in shapes]), around)


def _understand(schema: JSON, limits: Limits, *, objects: bool) -> tuple[Expr, Meaning, Emptiness]:
    """What a schema means, and that there is some value; some object, if only those count."""
    root = read_schema(schema, limits)
    source = Source(root, None, None, limits)

    def has_some(meaning: Meaning, emptiness: Emptiness) -> bool:
        expr = meaning.expr(root)
        if not objects:
            return emptiness.has_value(expr)
        return any(map(emptiness.object_has_value, meaning.shapes(expr).objects))

    def look() -> tuple[bool, int]:
        other = Meaning(source, limits, asserts_formats=True)
        return not has_some(other, Emptiness(other)), other.num_sets

    meaning = Meaning(source, limits, asserts_formats=True)
    meaning.check()
    expr, emptiness = meaning.expr(root), Emptiness(meaning)
    if not has_some(meaning, emptiness):
        raise unsatisfiable(source, look)
    if needs_audit(source) or may_refuse_late(source):
        audit(expr, meaning, emptiness)
    return expr, meaning, emptiness


class _Values(Lowering):
    """The values of arguments, and what is inside of them."""

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
    ) -> None:
        if how.nested == "python":
            style = replace(style, escapes="minimal", ensure_ascii=False)
        if how.nested != "json" and style.whitespace == "pretty":
            style = replace(style, whitespace="spaced")
        super().__init__(meaning, emptiness, style, outside)
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

    @property
    def inside(self) -> Lowering:
        if self._inside is None:
            where = "JSON in whitespace 'pretty', whose depth the schema does not bound,"
            self.meaning.limits.check("max_nesting", self._depth + 1, where)
            self._inside = _Values(
                self.meaning,
                self.emptiness,
                self.style,
                self.how,
                self.marks,
                loose=self.loose,
                outside=self,
            )
        return self._inside

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
                raise self._nothing_left(values)
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
                raise self._nothing_left(values)
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
                found.append(("array", self._array(array)))
        for shape in values.objects:
            if self.emptiness.object_has_value(shape):
                found.append(("object", self._object(shape)))
        return found

    def _scalar_kinds(
        self, values: ShapeSet, strings: Callable[[Sequence[StringShape]], Term]
    ) -> list[tuple[str, Term]]:
        found: list[tuple[str, Term]] = []
        if values.strings and (texts := strings(values.strings)) is not EMPTY:
            found.append(("string", texts))
        if values.numbers:
            found.append(("number", number_term(values.numbers, self.style)))
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

    def _object(self, shape: ObjectShape) -> Term:
        found = self._wholes.get(shape)
        if found is None:
            same = self.how.nested == "same"
            found = _Arguments(shape, self).whole() if same else object_term(shape, self)
            self._wholes[shape] = found
        return found

    def _array(self, shape: ArrayShape) -> Term:
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
            values = _by_type([(before.replace("$TYPE", self.how.types[k]), t) for k, t in kinds])
            return cat(values, marker(after), self.gap)

        return self.rule("item", body)

    # What cannot be written

    def _nothing_left(self, values: ShapeSet) -> UnsupportedFeatureError:
        listed = [text for shape in values.strings for text in sorted(shape.only or ())]
        listed.sort(key=lambda text: not any([mark in text for mark in self.marks]))
        what = f"the text {listed[0]!r}" if listed else "every text that the schema allows"
        marks = " or ".join(map(repr, self.marks))
        return UnsupportedFeatureError(
            f"a string in arguments that cannot be written: {what} has {marks} in it",
            hint="this way of writing calls has no escapes",
        )

    def is_empty(self, term: Term) -> bool:
        """Whether no text is in a term. Exact."""
        if self._store is None:
            self._store = TermStore(self.meaning.limits)
        return self._store.is_empty(self._store.intern(term))

    def look(self, shapes: Iterable[ObjectShape], *exprs: Expr) -> None:
        """Look for keys and strings that cannot be written, at all that can be inside of something.

        Args:
            shapes: The arguments.
            exprs: Other values.

        Raises:
            UnsupportedFeatureError: There is one.
        """
        seen: set[Expr] = {TRUE, FALSE}
        todo: list[Expr] = [*exprs]
        for shape in shapes:
            todo += self._member_values(shape)
        while todo and len(seen) <= _MOST_LOOKS:
            expr = todo.pop()
            if expr in seen:
                continue
            seen.add(expr)
            values = self.meaning.shapes(expr)
            self._look_at_strings(values)
            for array in values.arrays:
                if self.emptiness.array_has_value(array):
                    todo += [e for e in (*array.prefix, array.rest) if self.emptiness.has_value(e)]
                    if array.distinct is not None or array.counters:
                        self._array(array)
                    if array.distinct is not None:
                        self._look_at_items(array)
            for shape in values.objects:
                if self.emptiness.object_has_value(shape):
                    todo += self._member_values(shape)
                    if self.how.nested == "same":
                        self._object(shape)
                    else:
                        self._look_at_names(shape)

    def _look_at_items(self, array: ArrayShape) -> None:
        """Items that differ: how many there can be depends on those that cannot be written."""
        for expr in (*array.prefix, array.rest):
            values = self.meaning.shapes(expr)
            texts = [text for shape in values.strings for text in shape.only or ()]
            if any([mark in text for text in texts for mark in self.marks]):
                raise self._nothing_left(values)

    def _member_values(self, shape: ObjectShape) -> list[Expr]:
        members = self.meaning.members(shape)
        named = [e for e in members.named.values() if self.emptiness.has_value(e)]
        return [*named, *[region.value for region in members.regions]]

    def _look_at_names(self, shape: ObjectShape) -> None:
        """Of an object that is written as JSON."""
        for name, expr in self.meaning.members(shape).named.items():
            text = json.dumps(name, ensure_ascii=False)
            if any([mark in text for mark in self.marks]) and self.emptiness.has_value(expr):
                raise UnsupportedFeatureError(
                    f"a property named {name!r}: a text in it is kept out of what is written"
                )

    def _look_at_strings(self, values: ShapeSet) -> None:
        others = values.numbers or values.booleans or values.null or values.arrays or values.objects
        if not values.strings or others or not self.marks:
            return
        for shape in values.strings:
            if shape.only is None and not (shape.yes or shape.no):
                return
            if shape.only is not None and not all(
                [any([mark in text for mark in self.marks]) for text in shape.only]
            ):
                return
            if shape.only is None:
                if not self.is_empty(self.without_marks(shape_term(shape, UTF8))):
                    return
        raise self._nothing_left(values)


class _Arguments(_Members):
    """An object whose members are written as arguments are."""

    _lowering: _Values

    def __init__(self, shape: ObjectShape, values: _Values) -> None:
        self._how = values.how
        self._values = values
        super().__init__(shape, values)
        fits = re.compile(values.how.keys).fullmatch
        for key in self._keys:
            if not fits(key) or any([mark in key for mark in values.marks]):
                raise UnsupportedFeatureError(
                    f"an argument named {key!r}, which this way of writing calls has no way to "
                    "write",
                    hint="rename it; letters, digits and '_' are always fine",
                )
        gap, between = values.gap, values.how.between
        comma = cat(gap, marker(between), gap) if between else gap
        self._layout = Layout(EPS, gap, gap, gap, comma, EPS)
        self._prefix, _, rest = self._how.member.partition("$KEY")
        self._middle, _, self._suffix = rest.partition("$VALUE")

    def whole(self) -> Term:
        """All of it."""
        begin = marker(self._how.begin)
        if self._prefix:
            return cat(begin, self.start())
        # A rule may not begin with a key that is captured.
        first = _State(0, frozenset(range(len(self._members.obligations))), 0, True)
        return self._values.rule("arguments", lambda: cat(begin, self._body(first)))

    def _offered(self, state: _State) -> Term:
        if self._in_order and not self._prefix:  # no rule for the last ones, for the same reason
            return alt(self._named_in_order(state, len(self._keys)))
        return super()._offered(state)

    def _after(self, state: _State) -> Term:
        rules = self._recent if state.taken else self._rules
        found = rules.get(state)
        if found is None:
            if len(self._recent) >= 1024:
                self._recent.clear()
            nullable = self._complete(state) and not self._how.end
            found = rules[state] = self._values.nullable_rule(
                "arguments", lambda: self._body(state), nullable=nullable
            )
        return found

    def _body(self, state: _State) -> Term:
        parts = []
        if self._complete(state):
            parts.append(cat(self._layout.before_close, marker(self._how.end)))
        lead = self._layout.after_open if state.first else self._layout.separator
        parts.append(cat(lead, self._offered(state)))
        return alt(parts)

    def _member(self, key: str, value: Expr) -> Term:
        found = self._member_rules.get((key, value))
        if found is None:

            def body() -> Term:
                before = self._prefix + key + self._middle
                return cat(self._typed(before, value), self._closing(key))

            found = self._values.rule(f"argument {key!r}", body)
            self._member_rules[key, value] = found
        return found

    def _typed(self, before: str, value: Expr) -> Term:
        """What stands before a value, and the value."""
        kinds = self._values.argument(value)
        return _by_type([(before.replace("$TYPE", self._how.types[k]), t) for k, t in kinds])

    def _closing(self, key: str) -> Term:
        return marker(self._suffix.replace("$KEY", key))

    def _way(self, key: str | int, value: Expr, after: _State) -> Term:
        if isinstance(key, str):
            return cat(self._member(key, value), self._after(after))
        index, _, keys = self._regions[key]
        taken = [other for region, other in after.taken if region == index]
        if taken:
            again = alt([literal(other.encode()) for other in taken])
            keys = intersect((keys, complement(again)))

        def follow(text: bytes) -> Term:
            name = text.decode()
            state = after._replace(taken=after.taken | {(index, name)})
            return cat(self._closing(name), self._after(state))

        captured = self._values.capture(keys, follow, before=self._typed(self._middle, value))
        return cat(marker(self._prefix), captured)

    def _region_keys(self, region: Region) -> Term:
        strings, names = self._lowering.meaning.strings, self._members.names
        parts = []
        for keys in region.keys:
            taken = frozenset([k for k in names if strings.contains(keys, k)])
            left = strings.intersect(keys, StringShape(out=taken)) if taken else keys
            if strings.is_empty(left):
                continue
            written = self._values.without_marks(_key_language(self._values.how.keys))
            if left != StringShape(out=left.out):
                self._refuse_unwritten(shape_term(left, UTF8), written)
            parts.append(intersect((shape_term(left, UTF8), written)))
        return alt(parts)

    def _refuse_unwritten(self, keys: Term, written: Term) -> None:
        """Refuse keys that cannot all be written where it matters how many there are."""
        counts = self._members.lo > 0 or self._members.obligations
        left_out = intersect((keys, complement(written))) if counts else intersect((keys, written))
        if self._values.is_empty(left_out) != bool(counts):
            raise UnsupportedFeatureError(
                "keys that this way of writing calls has no way to write",
                hint="allow only keys of letters, digits and '_'",
            )


@lru_cache(maxsize=64)  # the terms are immutable, so callers may share them
def _key_language(pattern: str) -> Term:
    return from_regex(pattern, "ecma")


def _by_type(kinds: Sequence[tuple[str, Term]]) -> Term:
    """Values, each after the text that stands before values of its kind."""
    groups: dict[str, list[Term]] = {}
    for before, term in kinds:
        groups.setdefault(before, []).append(term)
    return alt([cat(marker(before), alt(terms)) for before, terms in groups.items()])


def _gap(style: JSONStyle) -> Term:
    """Whitespace around arguments."""
    if style.whitespace == "compact":
        return EPS
    return star(_BLANK) if style.whitespace == "any" else repeat(_BLANK, 0, style.max_whitespace)
