"""Whitespace around the structure of a text, for each style."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from constrain.algebra.terms import EPS, Term, alt, byte_class, cat, literal, repeat, star
from constrain.frontends.json_schema.style import JSONStyle
from constrain.frontends.regex import from_regex

__all__ = ["OPEN_ARRAY", "OPEN_OBJECT", "Layout", "layout_of"]

OPEN_OBJECT: Final = literal(b"{")
OPEN_ARRAY: Final = literal(b"[")
_CLOSE_OBJECT: Final = literal(b"}")
_CLOSE_ARRAY: Final = literal(b"]")
_SPACE: Final = literal(b" ")
_BLANK: Final = byte_class(b" \t\n\r")


class Layout:
    """Whitespace around the structure of a text, and what is written together with it.

    Attributes:
        around: Before and after the whole text.
        after_open: After `[` or `{`, if something follows inside.
        before_close: Before `]` or `}`, if something stands inside.
        separator: A comma and what is around it.
        colon: A colon and what is around it.
        end_object: What ends an object that has members.
        end_array: What ends an array that has items.
        no_members: What follows the bracket of an empty object.
        no_items: What follows the bracket of an empty array.

    Args:
        around: As the attribute.
        after_open: As the attribute.
        inside_empty: Between the brackets of an empty array or object.
        before_close: As the attribute.
        separator: As the attribute.
        colon: As the attribute.
    """

    def __init__(
        self,
        around: Term,
        after_open: Term,
        inside_empty: Term,
        before_close: Term,
        separator: Term,
        colon: Term,
    ) -> None:
        self.around = around
        self.after_open = after_open
        self.before_close = before_close
        self.separator = separator
        self.colon = colon
        self.end_object = cat(before_close, _CLOSE_OBJECT)
        self.end_array = cat(before_close, _CLOSE_ARRAY)
        self.no_members = cat(inside_empty, _CLOSE_OBJECT)
        self.no_items = cat(inside_empty, _CLOSE_ARRAY)

    @property
    def terms(self) -> tuple[Term, ...]:
        """All of them."""
        return (
            *(self.around, self.after_open, self.before_close, self.separator, self.colon),
            *(self.end_object, self.end_array, self.no_members, self.no_items),
        )


# The terms are immutable, so schemas may share them; the bound keeps a server's memory flat.
@lru_cache(maxsize=1024)
def layout_of(style: JSONStyle, depth: int) -> Layout:
    """The layout of a style for arrays and objects inside `depth` others."""
    comma, colon = literal(b","), literal(b":")
    if style.whitespace == "compact":
        return Layout(EPS, EPS, EPS, EPS, comma, colon)
    if style.whitespace == "spaced":
        return Layout(EPS, EPS, EPS, EPS, literal(b", "), literal(b": "))
    if style.whitespace == "tidy":
        gap = alt((EPS, _SPACE, cat(literal(b"\n"), repeat(_SPACE, 0, style.max_indent))))
        return Layout(EPS, gap, EPS, gap, cat(comma, gap), cat(colon, repeat(_SPACE, 0, 1)))
    if style.whitespace == "pretty":
        outside = b"\n" + b" " * (style.indent * depth)
        inside = outside + b" " * style.indent
        return Layout(
            EPS, literal(inside), EPS, literal(outside), literal(b"," + inside), literal(b": ")
        )
    around: Term = EPS
    if style.whitespace == "any":
        around = gap = star(_BLANK)
    elif style.whitespace == "flexible":
        gap = repeat(_BLANK, 0, style.max_whitespace)
    else:
        gap = from_regex(style.whitespace, "python")
    return Layout(around, gap, gap, gap, cat(gap, comma, gap), cat(gap, colon, gap))
