"""Terms: what front-ends build, and all that the engine knows about a language.

A term denotes a set of byte strings. Front-ends make terms only with the functions of this file;
the term store (`store.py`) interns them, and keeps the normal form (`docs/design/algebra.md`). Here
only what is cheap and useful to a front-end is simplified: `EMPTY` absorbs, `EPS` vanishes, a `Not`
of a `Not` cancels. So `term is EMPTY` is a syntactic test: it is exact for terms without
`And`/`Not`.

    >>> t = cat(literal(b"a"), repeat(byte_class(b"0123456789"), 2, 4))
    >>> t.nullable
    False

Terms have no equality but identity. `Rule` is the one with a body made on demand: recursion,
`$ref`, and subschemas that no text has reached yet. A front-end must return the same `Rule` object
for the same thing (keep a dictionary), else recursion never closes.

Nothing here recurses: terms may be as deep as a user's input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

__all__ = [
    "ALL",
    "ANY_BYTE",
    "EMPTY",
    "EPS",
    "Alt",
    "And",
    "Branch",
    "Branches",
    "ByteClass",
    "Capture",
    "Cat",
    "Heads",
    "Literal",
    "Not",
    "Repeat",
    "Rule",
    "Term",
    "Timed",
    "Token",
    "alt",
    "byte_class",
    "byte_range",
    "capture",
    "cat",
    "complement",
    "intersect",
    "literal",
    "non_nullable",
    "optional",
    "plus",
    "repeat",
    "special_token",
    "star",
    "token",
]


class Term:
    """A set of byte strings; see the subclasses. Immutable.

    Attributes:
        nullable: The empty string is in the set.
        regular: No `Rule` occurs in it, or only rules declared regular: `&` and `~` are exact.
        parts: The terms that it is made of. A `Rule` has none: its body is made on demand.
    """

    __slots__ = ("nullable", "parts", "regular")
    nullable: bool
    regular: bool
    parts: tuple[Term, ...]

    def __repr__(self) -> str:
        """For debugging: the term in the notation of `notation`; a rule is its name."""
        from constrain.algebra.notation import term_text

        return f"<{type(self).__name__} {term_text(self)}>"


class Empty(Term):
    """No string at all. Use the constant `EMPTY`."""

    __slots__ = ()

    def __init__(self) -> None:
        self.nullable = False
        self.regular = True
        self.parts = ()


class Epsilon(Term):
    """Only the empty string. Use the constant `EPS`."""

    __slots__ = ()

    def __init__(self) -> None:
        self.nullable = True
        self.regular = True
        self.parts = ()


EMPTY: Final = Empty()
EPS: Final = Epsilon()


class ByteClass(Term):
    """One byte out of a set: bit b of `mask` is set if byte b is in it."""

    __slots__ = ("mask",)

    def __init__(self, mask: int) -> None:
        self.nullable = False
        self.regular = True
        self.parts = ()
        self.mask = mask


class Literal(Term):
    """Exactly the bytes `text`, of length 2 or more."""

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.nullable = False
        self.regular = True
        self.parts = ()
        self.text = text


class Cat(Term):
    """`head` then `tail`."""

    __slots__ = ("head", "tail")

    def __init__(self, head: Term, tail: Term) -> None:
        self.nullable = head.nullable and tail.nullable
        self.regular = head.regular and tail.regular
        self.parts = (head, tail)
        self.head = head
        self.tail = tail


class Alt(Term):
    """Any of `members`."""

    __slots__ = ("members",)

    def __init__(self, members: tuple[Term, ...]) -> None:
        self.nullable = any([m.nullable for m in members])
        self.regular = all([m.regular for m in members])
        self.parts = members
        self.members = members


class Repeat(Term):
    """`body` lo to hi times (None: without bound). `body` is never nullable."""

    __slots__ = ("body", "hi", "lo")

    def __init__(self, body: Term, lo: int, hi: int | None) -> None:
        self.nullable = lo == 0
        self.regular = body.regular
        self.parts = (body,)
        self.body = body
        self.lo = lo
        self.hi = hi


class And(Term):
    """Strings that are in every one of `members`."""

    __slots__ = ("members",)

    def __init__(self, members: tuple[Term, ...]) -> None:
        self.nullable = all([m.nullable for m in members])
        self.regular = all([m.regular for m in members])
        self.parts = members
        self.members = members


class Not(Term):
    """Every byte string that is not in `body`: ill-formed UTF-8 too, so intersect with text."""

    __slots__ = ("body",)

    def __init__(self, body: Term) -> None:
        self.nullable = not body.nullable
        self.regular = body.regular
        self.parts = (body,)
        self.body = body


class Rule(Term):
    """A named language whose body is made the first time it is needed.

    Args:
        name: Shown in messages and printed grammars; need not be unique.
        thunk: Makes the body. May run more than once (two threads), so it must be free of side
            effects other than remembering rules.
        nullable: Whether the body is nullable. Must be right: it is asked before the body exists.
        regular: The rules reachable from here are right-linear, so finitely many states are
            reachable. Only such rules may stand inside `And` and `Not`.
        keep: Keep the body for the next store that needs it. Where rules are made without end, as
            texts go on, it is made anew instead, and goes with the store.

    The language must not be empty, and the body must be guarded: a rule may not reach itself before
    a byte is consumed (no left recursion).
    """

    __slots__ = ("__weakref__", "_body", "keep", "name", "thunk")

    def __init__(
        self,
        name: str,
        thunk: Callable[[], Term],
        *,
        nullable: bool = False,
        regular: bool = False,
        keep: bool = True,
    ) -> None:
        self.nullable = nullable
        self.regular = regular
        self.parts = ()
        self.name = name
        self.thunk = thunk
        self.keep = keep
        self._body: Term | None = None

    @property
    def body(self) -> Term:
        """The body, made on first use."""
        made = self._body
        if made is None:
            made = self.thunk()
            if made.nullable != self.nullable:
                raise AssertionError(f"rule {self.name!r} was declared nullable={self.nullable}")
            if self.keep:
                self._body = made
        return made


class Heads(Term):
    """What stands before each of some rules: see `Branches`. No term of its own.

    What a store works out for these it has for all `Branches` that have them.

    Args:
        parts: A head for each: regular, neither empty nor nullable.
        nullables: Whether the body of each rule is nullable.
    """

    __slots__ = ("nullables",)

    def __init__(self, parts: tuple[Term, ...], nullables: tuple[bool, ...]) -> None:
        self.nullable = False
        self.regular = True
        self.parts = parts
        self.nullables = nullables


class Branches(Alt):
    """Any of some rules, each behind a head of its own: head i, then rule i.

    Where there are many such rules and a text needs one or two of them, this takes a fraction of
    what rules and concatenations take that are made one by one: a store numbers all of them at
    once, and makes rule i when a text gets there.

    Args:
        name: Of each rule.
        heads: What stands before each, the same object for all that have the same.
        make: Makes the body of rule i, as the thunk of a `Rule` does.
    """

    __slots__ = ("_members", "heads", "make", "name")

    def __init__(self, name: str, heads: Heads, make: Callable[[int], Term]) -> None:
        self.nullable = False
        self.regular = False
        self.name = name
        self.heads = heads
        self.make = make
        self._members: tuple[Term, ...] | None = None

    def rule(self, number: int) -> Rule:
        """Rule `number`, made anew each time."""
        return Branch(self, number)

    @property
    def members(self) -> tuple[Term, ...]:  # type: ignore[override]
        """As of `Alt`; the same each time."""
        if self._members is None:
            found = tuple([Cat(head, self.rule(n)) for n, head in enumerate(self.heads.parts)])
            self._members = self._members or found
        return self._members

    @property
    def parts(self) -> tuple[Term, ...]:  # type: ignore[override]
        """As of any term."""
        return self.members


class Branch(Rule):
    """A rule of `Branches`. There are many: a `Rule` and its thunk are four objects."""

    __slots__ = ("_branches", "_number")

    def __init__(self, branches: Branches, number: int) -> None:
        self.nullable = branches.heads.nullables[number]
        self.regular = False
        self.parts = ()
        self.name = branches.name
        self.keep = False
        self._body = None
        self._branches = branches
        self._number = number

    def thunk(self) -> Term:
        """Makes the body."""
        return self._branches.make(self._number)


class Timed(Rule):
    """A rule of which something else is left when a token of the text ends.

    It stands behind what is in progress, or is in progress itself; never where nothing of it has
    begun. In a text without tokens none ends, and there it is a rule like any other.

    Args:
        name: As of `Rule`, like what follows it.
        thunk: Makes the body. That may be `EMPTY`, if something is left at the end of a token.
        at_token_end: Called where a token ends, with whether something stands before this that has
            not ended. Says what comes in its place; and what comes in its place and that of all
            that stands before it, which is over then. Not both may be `EMPTY`.
        uncounted: Makes a term of the same texts, the same for all rules that only differ in what
            is left of a count: they share a mask. It may be such a rule itself.
        nullable: Whether the body is nullable.

    Attributes:
        counts_matter: What is left of a count decides about texts of the body, so that `uncounted`
            is of no use to a mask. `thunk` sets it.
    """

    __slots__ = ("at_token_end", "counts_matter", "uncounted")

    def __init__(
        self,
        name: str,
        thunk: Callable[[], Term],
        at_token_end: Callable[[bool], tuple[Term, Term]],
        uncounted: Callable[[], Term],
        *,
        nullable: bool = False,
    ) -> None:
        super().__init__(name, thunk, nullable=nullable)
        self.at_token_end = at_token_end
        self.uncounted = uncounted
        self.counts_matter = False


class Capture(Term):
    """A text of `body`, then what may follow that very text. See `capture`."""

    __slots__ = ("before", "body", "follow", "instead")

    def __init__(
        self, body: Term, follow: Callable[[bytes], Term], before: Term, instead: Term
    ) -> None:
        self.nullable = False
        self.regular = False
        self.parts = (body, before, instead)
        self.body = body
        self.follow = follow
        self.before = before
        self.instead = instead


class Token(Term):
    """One token of the vocabulary as a whole. See `token` and `special_token`."""

    __slots__ = ("names", "others", "special")

    def __init__(self, names: frozenset[str | int], *, others: bool, special: bool) -> None:
        self.nullable = False
        self.regular = False
        self.parts = ()
        self.names = names
        self.others = others
        self.special = special


ANY_BYTE: Final = ByteClass((1 << 256) - 1)
ALL: Final = Not(EMPTY)
"""Every byte string."""


def byte_class(members: Iterable[int]) -> Term:
    """One byte out of `members` (`bytes`, or any iterable of 0..255); `EMPTY` for none."""
    mask = 0
    for b in members:
        mask |= 1 << b
    return ByteClass(mask) if mask else EMPTY


def byte_range(lo: int, hi: int) -> Term:
    """One byte in lo..hi, both included."""
    return ByteClass(((1 << (hi - lo + 1)) - 1) << lo)


def literal(text: bytes) -> Term:
    """Exactly the bytes `text`."""
    if len(text) >= 2:
        return Literal(text)
    return ByteClass(1 << text[0]) if text else EPS


def cat(*parts: Term) -> Term:
    """The parts one after another; `EPS` if there is none."""
    result: Term = EPS
    for part in reversed(parts):
        if part is EMPTY or result is EMPTY:
            return EMPTY
        if result is EPS:
            result = part
        elif part is not EPS:
            result = Cat(part, result)
    return result


def alt(members: Iterable[Term]) -> Term:
    """Any of the members; `EMPTY` if there is none."""
    kept = [m for m in members if m is not EMPTY]
    if len(kept) <= 1:
        return kept[0] if kept else EMPTY
    if any([m is ALL for m in kept]):
        return ALL
    return Alt(tuple(kept))


def repeat(body: Term, lo: int, hi: int | None) -> Term:
    """`body` lo to hi times, 0 <= lo <= hi; hi None means without bound. Always one counter.

    A nullable body is replaced by its non-nullable part with lo = 0, and a repeat of a repeat
    becomes one counter where the counts have no gap: `(a{0,1000}){0,1000}` is `a{0,1000000}`.
    """
    if hi is not None and hi < lo:
        raise ValueError(f"repeat needs lo <= hi, not {lo} > {hi}")
    if body.nullable:
        body, lo = non_nullable(body), 0
    if body is EMPTY:
        return EPS if lo == 0 else EMPTY
    if hi == 0:
        return EPS
    if lo == 1 and hi == 1:
        return body
    if isinstance(body, Repeat):
        merged = _merge_nested_counts(body.lo, body.hi, lo, hi)
        if merged is not None:
            return Repeat(body.body, *merged)
    return Repeat(body, lo, hi)


def star(body: Term) -> Term:
    """`body` any number of times."""
    return repeat(body, 0, None)


def plus(body: Term) -> Term:
    """`body` once or more."""
    return repeat(body, 1, None)


def optional(body: Term) -> Term:
    """`body` or nothing."""
    return body if body.nullable else alt((body, EPS))


def intersect(members: Iterable[Term]) -> Term:
    """Strings in every member; `ALL` if there is none.

    Emptiness is decided later, in the store: the result may denote the empty set without being
    `EMPTY`.
    """
    kept = [m for m in members if m is not ALL]
    if len(kept) <= 1:
        return kept[0] if kept else ALL
    if any([m is EMPTY for m in kept]):
        return EMPTY
    return And(tuple(kept))


def complement(body: Term) -> Term:
    """Every byte string that is not in `body`."""
    if isinstance(body, Not):
        return body.body
    return ALL if body is EMPTY else Not(body)


def capture(
    body: Term, follow: Callable[[bytes], Term], *, before: Term = EPS, instead: Term = EMPTY
) -> Term:
    """A text w of `body`, then `before` and a text of `follow(w)`; or, after w, one of `instead`.

    What follows depends on the text captured: the keys that an object may still have, the items
    that a list of different items may still have. What does not depend on it stands in `before`
    and `instead`, so that most tokens that leave the body need no look at what was captured.

        capture(key, lambda w: members_without(w), before=cat(colon, value))

    Args:
        body: What is captured.
        follow: Made for a text when a sequence gets there, or a token reaches past it. Called with
            the bytes; may be called more than once for one text, and from several threads. Must
            return a term that is neither empty nor nullable, whatever text of `body` it is given.
        before: Between the text and what follows it.
        instead: What may follow instead, if not empty: never the empty string.

    A rule may not begin with a capture.
    """
    if body is EMPTY or (before is EMPTY and instead is EMPTY):
        return EMPTY
    if instead.nullable:
        raise ValueError("what follows a capture is not nullable")
    return Capture(body, follow, before, instead)


def token(*names: str | int, others: bool = False) -> Term:
    """One token out of the vocabulary, named by its text or its id, whatever its bytes are.

    This is how a grammar asks for a special token: bytes never match one. A text as such, without
    tokens, has none.

    Args:
        names: Which. `<|im_end|>` is a special token of that name, or else the one token with these
            bytes. A vocabulary that lacks it is refused when the grammar is compiled for it.
        others: Any token but these.
    """
    return Token(frozenset(names), others=others, special=False)


def special_token(*names: str, others: bool = False) -> Term:
    """One special token out of those of these names that the vocabulary has, if it has any.

    For texts that some vocabularies have as a special token: `<tool_call>` is this or its bytes.

    Args:
        names: Their names.
        others: Any special token but these, end tokens left out.
    """
    return Token(frozenset(names), others=others, special=True)


def non_nullable(term: Term) -> Term:
    """`term` without the empty string."""
    if not term.nullable:
        return term
    if term is EPS:
        return EMPTY
    if isinstance(term, Alt):
        return alt([non_nullable_member(m) for m in term.members])
    if isinstance(term, Repeat):
        return repeat(term.body, 1, term.hi)
    return non_nullable_member(term)


def non_nullable_member(term: Term) -> Term:
    """Like `non_nullable`, but one level only, so that it cannot recurse."""
    if not term.nullable:
        return term
    if term is EPS:
        return EMPTY
    if isinstance(term, Repeat):
        return repeat(term.body, 1, term.hi)
    return And((term, Not(EPS)))


def _merge_nested_counts(
    a: int, b: int | None, c: int, d: int | None
) -> tuple[int, int | None] | None:
    """Counts of (x{a,b}){c,d} as one range, or None where there are gaps. Here a >= 1.

    The counts are the union of [n*a, n*b] for n in c..d. Neighbours touch if (n+1)*a <= n*b + 1,
    which holds for all n if it holds for the smallest.
    """
    if c == d or b is None or (c + 1) * a <= c * b + 1:
        hi = None if b is None or d is None else b * d
        if b is None and c == 0 and a > 1:
            return None  # x{2,}{0,1} has no count 1
        return c * a, hi
    return None
