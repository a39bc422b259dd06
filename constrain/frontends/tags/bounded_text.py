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
from constrain.algebra.terms import (
    ALL,
    ANY_BYTE,
    EMPTY,
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
from constrain.algebra.within import within_tokens
from constrain.frontends.tags.markers import marker, special_parts

__all__ = ["bounded_text"]


def bounded_text(
    most: int,
    ends: Sequence[str] | None,
    excludes: Sequence[str] = (),
    most_tokens: int | None = None,
) -> Term:
    """At most so many code points, then the first of its ends.

    Args:
        most: How many.
        ends: Texts; with the empty one, it may end anywhere. None if it just ends.
        excludes: Texts that may not appear before the end begins.
        most_tokens: How many tokens the text before its end may come to; None for any number.
    """
    text = _both(repeat(UTF8.spell(CodepointSet.ANY), 0, most), _free_of(excludes, EPS))
    if most_tokens is not None:
        return _counted(text, ends, most_tokens)
    before_any, until_one = _free_of(ends or (), EPS), _free_of(ends or (), plus(ANY_BYTE))
    parts: list[Term] = []
    if ends is None or "" in ends:
        parts.append(_both(text, before_any))
    for end in filter(None, ends or ()):
        parts.append(_both(cat(text, literal(end.encode())), until_one))
        for first, stop in special_parts(end):
            lead = _both(cat(text, literal(end[:first].encode())), before_any)
            parts.append(cat(lead, special_token(end[first:stop]), marker(end, stop)))
    return alt(parts)


def _counted(text: Term, ends: Sequence[str] | None, most: int) -> Term:
    """A text of at most so many tokens, then the first of its ends."""
    parts: list[Term] = []
    if ends is None or "" in ends:
        parts.append(within_tokens(_both(text, _free_of(ends or (), EPS)), most))
    for end in filter(None, ends or ()):
        whole = end.encode()
        parts.append(cat(_before(text, whole, len(whole) - 1, ends, most), literal(whole)))
        for first, stop in special_parts(end):
            lead = end[:first].encode()
            before = _before(text, lead, len(lead), ends, most)
            parts.append(
                cat(before, literal(lead), special_token(end[first:stop]), marker(end, stop))
            )
    return alt(parts)


def _before(text: Term, lead: bytes, most: int, ends: Sequence[str] | None, tokens: int) -> Term:
    """The texts before `lead`, in which together no end ends before `most` bytes of it."""
    listed = [end.encode() for end in ends or () if end]
    if any([0 <= lead.find(end) <= most - len(end) for end in listed]):
        return EMPTY
    begun = [
        literal(end[:at])
        for end in listed
        for at in range(1, len(end))
        if len(end) - at <= most and lead.startswith(end[at:])
    ]
    allowed = _both(
        _free_of([end for end in ends or () if end], EPS), complement(cat(ALL, alt(begun)))
    )
    return within_tokens(_both(text, allowed), tokens)


def _free_of(texts: Sequence[str], more: Term) -> Term:
    """Texts in which none of some others is followed by `more`."""
    listed = [literal(text.encode()) for text in dict.fromkeys(texts) if text]
    return complement(cat(ALL, alt(listed), more, ALL))


def _both(text: Term, allowed: Term) -> Term:
    return text if allowed is ALL else intersect((text, allowed))
