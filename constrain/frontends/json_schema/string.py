"""Sets of strings, closed under and, or, not; over code points, before any quoting or escaping.

A set is a tuple of `StringShape`s, their union. A shape is a finite set (`only`), or bounds on the
length with languages to be in, languages to be outside of, and single strings left out. A
`Language` is a pattern or a format: a regular language, spelled in whatever alphabet is asked for.

Finite sets are filtered at once, so an `enum` beside a `pattern` costs one match for each string.
Whether anything is left of the other shapes is asked of a term store, and only where it is not
plain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.store import DEAD, StateId, TermStore
from constrain.algebra.terms import (
    EMPTY,
    EPS,
    Alt,
    And,
    ByteClass,
    Cat,
    Literal,
    Not,
    Repeat,
    Rule,
    Term,
    alt,
    complement,
    intersect,
    literal,
    repeat,
)
from constrain.algebra.tries import trie
from constrain.algebra.utf8 import UTF8, Alphabet
from constrain.errors import UnsupportedFeatureError
from constrain.frontends.json_schema.text import JSONAlphabet
from constrain.limits import Limits

__all__ = [
    "ANY_STRING",
    "Language",
    "StringSets",
    "StringShape",
    "contains_plainly",
    "is_exact",
    "least_count",
    "refuse_outside",
    "shape_term",
    "shared",
]


class Language:
    """A regular language over code points. Compare by identity.

    Args:
        name: For messages: `pattern '^a'`, `format 'date'`.
        make: Spells it in an alphabet.
        exact: False if only a part of what the name stands for is in it, so that its complement
            is not known.
        has_text: Some text is known to be in it.
        around: If it is not exact, another one that surely has all that the name stands for.
    """

    __slots__ = ("_has_text", "_least", "_make", "_terms", "around", "exact", "name")

    def __init__(
        self,
        name: str,
        make: Callable[[Alphabet], Term],
        *,
        exact: bool = True,
        has_text: bool | None = None,
        around: Language | None = None,
    ) -> None:
        self.name = name
        self.around = around
        self.exact = exact
        self._make = make
        self._terms: dict[int, tuple[Alphabet, Term]] = {}
        self._has_text = has_text
        self._least: int | None = None

    @property
    def plainly_not_empty(self) -> bool:
        """Whether it is seen without search that some text is in the language."""
        if self._has_text is None:
            term = self.term(UTF8)
            self._has_text = term is not EMPTY and not _has_and_not(term)
        return self._has_text

    def plainly_has(self, wanted: int) -> bool:
        """Whether it is seen without search that so many texts are in the language."""
        if self._least is None:
            self._least = least_count(self.term(UTF8), _MOST_COUNTED)
        return self._least >= wanted

    def term(self, alphabet: Alphabet) -> Term:
        """Every spelling of every text of the language."""
        found = self._terms.get(id(alphabet))
        if found is None:
            term = shared(self.name, self._make(alphabet))
            found = self._terms[id(alphabet)] = (alphabet, term)
        return found[1]

    def __repr__(self) -> str:
        return self.name


_LARGE: Final = 30
"""Parts from which on a term is worth a rule of its own."""

_MOST_COUNTED: Final = 1_000
"""Texts of a language that are counted at sight."""

_MANY: Final = 1000
"""Strings from which on a prefix tree made here is cheaper than the one that a store makes."""

_NO_LANGUAGES: Final[frozenset[Language]] = frozenset()
_NO_STRINGS: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class StringShape:
    """Strings of lo..hi code points, in every language of `yes`, in none of `no`, not in `out`.

    Attributes:
        only: If not None, the set is exactly these strings and nothing else is looked at.
        lo: Least length in code points.
        hi: Greatest length, or None.
        yes: Languages to be in.
        no: Languages to be outside of.
        out: Strings left out.
    """

    only: frozenset[str] | None = None
    lo: int = 0
    hi: int | None = None
    yes: frozenset[Language] = _NO_LANGUAGES
    no: frozenset[Language] = _NO_LANGUAGES
    out: frozenset[str] = _NO_STRINGS


ANY_STRING: Final = StringShape()


def contains_plainly(shape: StringShape, text: str) -> bool | None:
    """Whether `text` is in the set; None if that takes a language to tell."""
    if shape.only is not None:
        return text in shape.only
    if len(text) < shape.lo or (shape.hi is not None and len(text) > shape.hi):
        return False
    if text in shape.out:
        return False
    return None if shape.yes or shape.no else True


class StringSets:
    """The operations on shapes that need to match texts or to search languages.

    One for each schema: it owns a term store, made on first use, in which nothing of the schema's
    own grammar is interned.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._store: TermStore | None = None
        self._counts: dict[StringShape, tuple[int, int]] = {}
        self._starts: dict[Language, StateId] = {}
        self._empty: dict[StringShape, bool] = {}
        self._unions: dict[frozenset[StringShape], Language] = {}

    def contains(self, shape: StringShape, text: str) -> bool:
        """Whether `text` is in the set."""
        plainly = contains_plainly(shape, text)
        if plainly is not None:
            return plainly
        return all(self.matches(x, text) for x in shape.yes) and not any(
            self.matches(x, text) for x in shape.no
        )

    def matches(self, language: Language, text: str) -> bool:
        """Whether `text` is in the language."""
        store = self._ready()
        start = self._starts.get(language)
        if start is None:
            start = self._starts[language] = store.intern(language.term(UTF8))
        state = store.advance(start, text.encode())
        return state != DEAD and store.nullable(state)

    def intersect(self, a: StringShape, b: StringShape) -> StringShape:
        """Strings in both. May be empty."""
        if a.only is not None or b.only is not None:
            if a.only is None:
                a, b = b, a
            assert a.only is not None
            return StringShape(only=frozenset([s for s in a.only if self.contains(b, s)]))
        hi = a.hi if b.hi is None else b.hi if a.hi is None else min(a.hi, b.hi)
        lo = max(a.lo, b.lo)
        out = a.out | b.out
        if out:
            out = frozenset([s for s in out if lo <= len(s) and (hi is None or len(s) <= hi)])
        return StringShape(None, lo, hi, a.yes | b.yes, a.no | b.no, out)

    def both(self, a: StringShape, b: StringShape) -> StringShape:
        """Strings in both, as `intersect`; refused where a format decides that is not exact.

        What is not in the part of a format that is known may be in the format. Nothing invalid is
        accepted as long as that only takes strings away. But that nothing is left would be used as
        a fact: that two branches share nothing, that a complement is everything. See `union`, too.

        Raises:
            UnsupportedFeatureError: A listed string is not in the known part of such a format.
        """
        joined = self.intersect(a, b)
        for listed, other in ((a.only, b), (b.only, a)):
            unsure = _inexact(other)
            if listed is not None and unsure:
                left_out = listed - (joined.only or _NO_STRINGS)
                if any(self.contains(_around(other), text) for text in sorted(left_out)):
                    raise _unsure(unsure)
        return joined

    def complement(self, shape: StringShape) -> list[StringShape]:
        """Every string outside the set, as a union.

        Raises:
            UnsupportedFeatureError: A language is not exact.
        """
        refuse_outside(replace(shape, no=_NO_LANGUAGES))
        return self.outside(shape)

    def outside(self, shape: StringShape) -> list[StringShape]:
        """As `complement`, also where a language is a part of a format: then of that part."""
        if shape.only is not None:
            return [StringShape(out=shape.only)] if shape.only else [ANY_STRING]
        parts = []
        if shape.lo > 0:
            parts.append(StringShape(hi=shape.lo - 1))
        if shape.hi is not None:
            parts.append(StringShape(lo=shape.hi + 1))
        by_name = sorted(shape.yes, key=lambda x: x.name)
        parts += [StringShape(no=frozenset((x,))) for x in by_name]
        parts += [StringShape(yes=frozenset((x,))) for x in sorted(shape.no, key=lambda x: x.name)]
        if shape.out:
            parts.append(StringShape(only=shape.out))
        return parts

    def union(self, shapes: Iterable[StringShape]) -> tuple[StringShape, ...]:
        """A union without empty members; its finite sets become one.

        Raises:
            UnsupportedFeatureError: A member is empty because a part of a format, all that is known
                of it, is.
        """
        strings: set[str] = set()
        rest: dict[StringShape, None] = {}
        for shape in shapes:
            if shape == ANY_STRING:
                return (ANY_STRING,)
            if shape.only is not None:
                strings |= shape.only
            elif not self.is_empty(shape):
                rest[shape] = None
            elif (unsure := _inexact(shape)) and not self.is_empty(_around(shape)):
                raise _unsure(unsure)
        left = [s for s in strings if not any(contains_plainly(shape, s) for shape in rest)]
        return (*rest, StringShape(only=frozenset(left))) if left else tuple(rest)

    def collapse(self, shapes: tuple[StringShape, ...]) -> tuple[StringShape, ...]:
        """The same union with all that is no finite set as one language."""
        many = [shape for shape in shapes if shape.only is None]
        if len(many) <= 1:
            return shapes
        key = frozenset(many)
        found = self._unions.get(key)
        if found is None:

            def make(alphabet: Alphabet) -> Term:
                return alt([shape_term(shape, alphabet) for shape in many])

            exact = all(x.exact for shape in many for x in shape.yes)
            found = self._unions[key] = Language(f"union {len(self._unions)}", make, exact=exact)
        one = StringShape(yes=frozenset((found,)))
        return (one, *[shape for shape in shapes if shape.only is not None])

    def is_empty(self, shape: StringShape) -> bool:
        """Whether no string is in the set. Exact.

        Raises:
            LimitExceededError: The languages need more states than the limits allow.
        """
        if shape.only is not None:
            return not shape.only
        if shape.hi is not None and shape.hi < shape.lo:
            return True
        if shape.yes & shape.no:
            return True
        if not shape.yes and not shape.no:
            # From length 1 on there are more strings than anyone can list in `out`.
            return shape.hi == 0 and "" in shape.out
        language = _only_language(shape)
        if language is not None:
            if not shape.out and language.plainly_not_empty:
                return False
            if shape.out and language.plainly_has(len(shape.out) + 1):
                return False
        found = self._empty.get(shape)
        if found is None:
            store = self._ready()
            term = shape_term(shape, UTF8)
            while isinstance(term, Rule):  # a store takes it that a rule has a text
                term = term.body
            found = store.is_empty(store.intern(term))
            self._empty[shape] = found
        return found

    def count(self, shape: StringShape, limit: int) -> int:
        """How many strings are in the set, at most `limit`."""
        if shape.only is not None:
            return min(len(shape.only), limit)
        if not shape.yes and not shape.no:
            if shape.hi == 0 or (shape.hi is not None and shape.hi < shape.lo):
                return min(int(shape.hi >= shape.lo and "" not in shape.out), limit)
            return limit
        language = _only_language(shape)
        if language is not None and language.plainly_has(limit + len(shape.out)):
            return limit
        counted = self._counts.get(shape)
        if counted is None or counted[0] < limit:
            counted = self._counts[shape] = limit, self._count_states(shape, limit)
        return min(counted[1], limit)

    def _count_states(self, shape: StringShape, limit: int) -> int:
        """How many strings there are, shortest first, until there are `limit`."""
        store = self._ready()
        level = {store.intern(shape_term(shape, UTF8)): 1}
        found = steps = 0
        while level and found < limit:
            found += sum([n for state, n in level.items() if store.nullable(state)])
            after: dict[StateId, int] = {}
            for state, n in level.items():
                for target, num_bytes in store.successors(state).items():
                    after[target] = min(after.get(target, 0) + n * num_bytes, limit)
            level = after
            steps += len(level)
            self._limits.check("max_emptiness_states", steps, "counting the keys of an object")
        return min(found, limit)

    @property
    def nbytes(self) -> int:
        """Bytes of the term store, if one was needed."""
        return 0 if self._store is None else self._store.nbytes

    def _ready(self) -> TermStore:
        if self._store is None:
            self._store = TermStore(self._limits)
        return self._store


def _only_language(shape: StringShape) -> Language | None:
    """The language of a shape that says nothing else, but for single strings left out."""
    says_more = shape.only is not None or shape.no or shape.lo or shape.hi is not None
    return None if says_more or len(shape.yes) != 1 else next(iter(shape.yes))


def is_exact(shape: StringShape) -> bool:
    """Whether all languages that it speaks of are what their names say."""
    return all(language.exact for language in shape.yes | shape.no)


def refuse_outside(shape: StringShape) -> None:
    """Raise if a shape speaks of a language that is not exact, as what is outside is wanted.

    Raises:
        UnsupportedFeatureError: It does.
    """
    for language in sorted(shape.yes | shape.no, key=lambda x: x.name):
        if not language.exact:
            raise UnsupportedFeatureError(
                f"strings outside {language.name} (under `not`, `oneOf`, `if`): only a part of "
                "the format is known to be valid, so its complement is not"
            )


def _inexact(shape: StringShape) -> list[Language]:
    """Languages to be in that are only a part of what their name says."""
    return [x for x in sorted(shape.yes, key=lambda x: x.name) if not x.exact]


def _unsure(languages: list[Language]) -> UnsupportedFeatureError:
    return UnsupportedFeatureError(
        f"{languages[0].name} beside strings of which it is not known whether they are in it: only "
        "a part of the format is"
    )


def _around(shape: StringShape) -> StringShape:
    """A shape that surely has all strings that are in it if its languages are what they say."""
    yes = [language if language.exact else language.around for language in shape.yes]
    return replace(shape, yes=frozenset([language for language in yes if language is not None]))


def shape_term(shape: StringShape, alphabet: Alphabet) -> Term:
    """Every spelling of every string of a shape, without quotes; maybe none."""
    if shape.only is not None:
        return _listed(shape.only, alphabet)
    parts = [x.term(alphabet) for x in sorted(shape.yes, key=lambda x: x.name)]
    if shape.lo > 0 or shape.hi is not None:
        parts.append(repeat(alphabet.spell(CodepointSet.ANY), shape.lo, shape.hi))
    elif shape.no or not parts:  # with it, a string that has what it must not is dead at once
        parts.append(alphabet.text)
    parts += [complement(x.term(alphabet)) for x in sorted(shape.no, key=lambda x: x.name)]
    if shape.out:
        parts.append(complement(_listed(shape.out, alphabet)))
    return intersect(parts)


def _listed(strings: frozenset[str], alphabet: Alphabet) -> Term:
    """Every spelling of some strings."""
    if len(strings) > _MANY:
        return trie([([ord(c) for c in s], EPS) for s in strings], _speller(alphabet))
    if isinstance(alphabet, JSONAlphabet):
        return alt([alphabet.spell_text(s) for s in sorted(strings)])
    return alt([literal(s.encode()) for s in sorted(strings)])


def _speller(alphabet: Alphabet) -> Callable[[Sequence[int]], Term]:
    if isinstance(alphabet, JSONAlphabet):
        return alphabet.spell_run
    return lambda run: literal("".join(map(chr, run)).encode())


def shared(name: str, term: Term) -> Term:
    """The term as a rule if it is large, so that a store reads it once however often it occurs."""
    if term.regular and _is_large(term):
        return Rule(name, lambda: term, nullable=term.nullable, regular=True)
    return term


def _is_large(term: Term) -> bool:
    seen = {term}
    todo = [term]
    for part in todo:
        for member in part.parts:
            if member not in seen:
                seen.add(member)
                todo.append(member)
        if len(todo) > _LARGE:
            return True
    return False


def least_count(root: Term, most: int) -> int:
    """How many texts are in a term at least, as far as its form shows; at most `most` are counted.

    Of a concatenation as many as of one of its parts, of a union as of one of its members; none of
    what leads back to a rule that is being looked into.
    """
    counts: dict[Term, int] = {}
    begun: set[Term] = set()
    todo = [root]
    while todo:
        term = todo[-1]
        begun.add(term)
        parts = (term.body,) if isinstance(term, Rule) else term.parts
        missing = [part for part in parts if part not in begun]
        if missing:
            todo += missing
            continue
        todo.pop()
        if term not in counts:
            below = [counts.get(part, 0) for part in parts]
            counts[term] = min(_least_of(term, below, most), most)
    return counts[root]


def _least_of(term: Term, below: list[int], most: int) -> int:
    """`least_count` of a term with so many texts in its parts."""
    if isinstance(term, ByteClass):
        return term.mask.bit_count()
    if isinstance(term, (Cat, Alt, Rule)):
        return max(below) if isinstance(term, Alt) or all(below) else 0
    if isinstance(term, Repeat) and below[0]:
        # As many lengths as counts: that of the shortest text of the body, so many times.
        return most if term.hi is None else max(term.hi - term.lo + 1, below[0])
    return int(isinstance(term, Literal) or term.nullable)


def _has_and_not(term: Term) -> bool:
    seen = {term}
    todo = [term]
    for part in todo:
        if isinstance(part, (And, Not)):
            return True
        members = (part.body,) if isinstance(part, Rule) else part.parts
        for member in members:
            if member not in seen:
                seen.add(member)
                todo.append(member)
    return False
