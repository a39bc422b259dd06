r"""Markers: texts such as `<tool_call>`, which some vocabularies have as a special token.

Bytes never match a special token, so a marker is its bytes or the tokens of these names: the whole
text, and every part of it in angle or square brackets, since `<|channel|>final<|message|>` is
mostly written as two special tokens with text between them.

    >>> special_parts("<|channel|>final<|message|>")
    [(0, 11), (16, 27), (0, 27)]
"""

from __future__ import annotations

import re
from typing import Final

from constrain.algebra.terms import EPS, Term, alt, cat, literal, special_token

__all__ = ["marker", "special_parts"]

_IN_BRACKETS: Final = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]|◁[^◁▷\s]+▷")


def special_parts(text: str) -> list[tuple[int, int]]:
    """Where special tokens may stand for a part of `text`, as half-open ranges of code points."""
    parts = [found.span() for found in _IN_BRACKETS.finditer(text)]
    whole = (0, len(text))
    return parts if whole in parts or not text else [*parts, whole]


def marker(text: str, start: int = 0) -> Term:
    """What is left of a marker from code point `start` on, as bytes or special tokens."""
    parts = special_parts(text)
    pieces: list[Term] = []
    at = start
    for first, stop in parts:
        if first >= at and (first, stop) != (0, len(text)):
            pieces += (literal(text[at:first].encode()), _piece(text[first:stop]))
            at = stop
    spelled = cat(*pieces, literal(text[at:].encode()))
    return alt((spelled, special_token(text))) if text and start == 0 else spelled


def _piece(text: str) -> Term:
    return alt((literal(text.encode()), special_token(text))) if text else EPS
