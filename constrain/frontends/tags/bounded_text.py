r"""Free text of at most so many code points, until an end.

Code points are counted where bytes have a say, so this is text without special tokens, but for
those that its end may be written as.

    >>> from constrain.algebra.store import TermStore
    >>> store = TermStore()
    >>> start = store.intern(bounded_text(2, ("</a>",)))
    >>> [store.nullable(store.advance(start, w)) for w in (b"</a>", "é<</a>".encode(), b"abc</a>")]
    [True, True, False]
"""

from __future__ import annotations

from collections.abc import Sequence

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.store import TermStore
from constrain.algebra.terms import (
    ALL,
    ANY_BYTE,
    EPS,
    Term,
    alt,
    cat,
    complement,
    intersect,
    literal,
    plus,
    repeat,
    special_token,
)
from constrain.algebra.utf8 import UTF8
from constrain.errors import UnsatisfiableError
from constrain.frontends.tags.markers import marker, special_parts
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["bounded_text"]


def bounded_text(
    most: int,
    ends: Sequence[str] | None,
    excludes: Sequence[str] = (),
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> Term:
    """At most so many code points, then the first of its ends.

    Args:
        most: How many.
        ends: Texts; with the empty one, it may end anywhere. None if it just ends.
        excludes: Texts that may not appear before the end.
        limits: Budgets.

    Raises:
        UnsatisfiableError: No end can appear: each has something excluded in it.
    """
    text = repeat(UTF8.spell(CodepointSet.ANY), 0, most)
    watched = [literal(t.encode()) for t in dict.fromkeys([*(ends or ()), *excludes]) if t]
    before_any = complement(cat(ALL, alt(watched), ALL))
    until_one = complement(cat(ALL, alt(watched), plus(ANY_BYTE)))
    parts: list[Term] = []
    if ends is None or "" in ends:
        parts.append(_both(text, before_any))
    for end in filter(None, ends or ()):
        parts.append(_both(cat(text, literal(end.encode())), until_one))
        for first, stop in special_parts(end):
            lead = _both(cat(text, literal(end[:first].encode())), before_any)
            parts.append(cat(lead, special_token(end[first:stop]), marker(end, stop)))
    store = TermStore(limits)
    plain = alt([part for part in parts if part.regular])
    if store.is_empty(store.intern(plain)):
        raise UnsatisfiableError(
            "free text can never end: what is excluded comes before each of its ends"
        )
    return alt(parts)


def _both(text: Term, allowed: Term) -> Term:
    return text if allowed is ALL or text is EPS else intersect((text, allowed))
