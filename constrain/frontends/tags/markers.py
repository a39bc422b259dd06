r"""Markers: texts such as `<tool_call>`, which some vocabularies have as a special token.

Bytes never match a special token, so a marker is its bytes or the tokens of these names: the whole
text, and every part of it in angle or square brackets or between full-width bars, since
`<|channel|>final<|message|>` is mostly written as two special tokens with text between them.

    >>> special_parts("<|channel|>final<|message|>")
    [(0, 11), (16, 27), (0, 27)]
    >>> special_parts("<｜DSML｜invoke>")
    [(0, 14), (1, 7)]
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from constrain.algebra.terms import EPS, Term, alt, cat, literal, special_token

__all__ = ["bracketed", "marker", "special_parts"]

_SHORT: Final = 100
"""Code points of a marker that is remembered; 512 of them are 1 MiB."""

_PARTS: Final = (
    re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]|◁[^◁▷\s]+▷"),
    re.compile(r"｜[^｜<>\s]+｜"),
    re.compile(re.escape("]<]minimax[>[")),
)


def bracketed(text: str) -> list[str]:
    """The parts of a text that look like special tokens."""
    return [found[0] for kind in _PARTS for found in kind.finditer(text)]


def special_parts(text: str) -> list[tuple[int, int]]:
    """Where special tokens may stand for a part of `text`, as half-open ranges of code points."""
    parts = [found.span() for kind in _PARTS for found in kind.finditer(text)]
    whole = (0, len(text))
    return parts if whole in parts or not text else [*parts, whole]


def marker(text: str, start: int = 0) -> Term:
    """What is left of a marker from code point `start` on, as bytes or special tokens.

    Those of a model family are the same in every grammar, so short ones are made once.
    """
    return (_known_marker if len(text) <= _SHORT else _marker)(text, start)


def _marker(text: str, start: int) -> Term:
    parts = [part for part in special_parts(text) if part[0] >= start]
    after: dict[int, Term] = {len(text): EPS}
    cuts = sorted({start, *[at for part in parts for at in part]} - {len(text)})
    for i in range(len(cuts) - 1, -1, -1):
        at = cuts[i]
        until = cuts[i + 1] if i + 1 < len(cuts) else len(text)
        spelled = cat(literal(text[at:until].encode()), after[until])
        specials = [cat(special_token(text[at:to]), after[to]) for a, to in parts if a == at]
        after[at] = alt([spelled, *specials])
    return after[start] if text else EPS


_known_marker = lru_cache(maxsize=512)(_marker)
