"""Objects whose members are written as arguments are.

The states between two members are those of `json_schema.lower_object`, whose class is taken over;
only the spelling is another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from constrain.algebra.terms import (
    EPS,
    Rule,
    Term,
    alt,
    cat,
    complement,
    intersect,
    literal,
)
from constrain.algebra.utf8 import UTF8
from constrain.errors import UnsupportedFeatureError
from constrain.frontends.json_schema.expr import Expr
from constrain.frontends.json_schema.layout import Layout

# The states between two members are the same however members are spelled; only the spelling of this
# class is replaced here.
from constrain.frontends.json_schema.lower_object import MemberState, ObjectLowering
from constrain.frontends.json_schema.members import Region
from constrain.frontends.json_schema.object import ObjectShape
from constrain.frontends.json_schema.string import StringShape, shape_term
from constrain.frontends.regex import from_regex
from constrain.frontends.tags.markers import marker

if TYPE_CHECKING:
    from constrain.frontends.tags.argument_values import Values

__all__ = ["Arguments", "by_type"]


class Arguments(ObjectLowering):
    """An object whose members are written as arguments are."""

    _lowering: Values

    def __init__(self, shape: ObjectShape, values: Values) -> None:
        self._how = values.how
        self._values = values
        self._named_members: dict[tuple[str, Expr], Term] = {}
        super().__init__(shape, values)
        fits = re.compile(values.how.keys).fullmatch
        for key in self._keys:
            if not fits(key) or any([mark in key for mark in values.marks]):
                raise UnsupportedFeatureError(
                    f"an argument named {key!r}, which this way of writing calls has no way to "
                    "write",
                    hint="rename it; letters, digits and '_' are always fine",
                )
        _ = self._regions  # keys that have no way to be written are refused now
        gap, between = values.gap, values.how.between
        comma = cat(gap, marker(between), gap) if between else gap
        self._layout = Layout(EPS, gap, gap, gap, comma, EPS)
        self._prefix, _, rest = self._how.member.partition("$KEY")
        self._middle, _, self._suffix = rest.partition("$VALUE")
        self._before_key = marker(self._prefix)
        self._free = None
        # A rule may not begin with a key that is captured.
        self._is_simple = self._is_simple and bool(self._prefix)

    def whole(self) -> Term:
        """All of it."""
        begin = marker(self._how.begin)
        if self._prefix:
            return cat(begin, self.start())
        first = MemberState(0, frozenset(range(len(self._members.obligations))), 0, True)
        return self._values.rule("arguments", lambda: cat(begin, self._body(first)))

    def start(self, *, ahead: bool = False) -> Term:
        """What follows the opening mark: a rule, as an argument may have arguments of its own."""
        if not self._is_simple:
            return super().start(ahead=ahead)
        return self._rule(self._simple_start, lambda: self._optional_from == 0)

    def _rule(self, make: Callable[[], Term], can_end: Callable[[], bool]) -> Rule:
        nullable = not self._how.end and can_end()
        return self._values.nullable_rule("arguments", make, nullable=nullable)

    def _ending(self, *, first: bool) -> Term:
        return cat(self._layout.before_close, marker(self._how.end))

    def _named_way(self, key: str, value: Expr, after: Term, *, soon: bool = False) -> Term:
        found = self._named_members.get((key, value))
        if found is None:

            def body() -> Term:
                before = self._prefix + key + self._middle
                return cat(self._typed(before, value), self._closing(key))

            found = self._values.rule(f"argument {key!r}", body)
            self._named_members[key, value] = found
        return cat(found, after)

    def _typed(self, before: str, value: Expr) -> Term:
        """What stands before a value, and the value."""
        kinds = self._values.argument(value)
        return by_type([(before.replace("$TYPE", self._how.types[k]), t) for k, t in kinds])

    def _closing(self, key: str) -> Term:
        return marker(self._suffix.replace("$KEY", key))

    def _way(self, key: str | int, value: Expr, after: MemberState) -> Term:
        if isinstance(key, str):
            return self._named_way(key, value, self._after(after))
        index, _, keys = self._regions[key]
        keys = intersect((keys, complement(after.taken.spellings(index))))

        def follow(text: bytes) -> Term:
            name = text.decode()
            taken = after.taken.with_key(index, name, literal(text))
            return cat(self._closing(name), self._after(after._replace(taken=taken)))

        return self._values.capture(keys, follow, before=self._typed(self._middle, value))

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


def by_type(kinds: Sequence[tuple[str, Term]]) -> Term:
    """Values, each after the text that stands before values of its kind."""
    groups: dict[str, list[Term]] = {}
    for before, term in kinds:
        groups.setdefault(before, []).append(term)
    return alt([cat(marker(before), alt(terms)) for before, terms in groups.items()])
