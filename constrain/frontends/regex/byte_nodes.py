"""Patterns over bytes instead of code points: each code point of a node stands for a byte.

Only Rust has such patterns. They are nodes like others, over the code points 0 to 255 and the
alphabet `BYTE_ALPHABET`; what they say about text is said about its UTF-8 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import (
    ANY_BYTE,
    EMPTY,
    Alt,
    ByteClass,
    Cat,
    Literal,
    Term,
    byte_class,
    star,
)
from constrain.algebra.utf8 import UTF8, Alphabet
from constrain.frontends.regex.nodes import RegexNode, alternation, chars, concat

__all__ = ["BYTES", "BYTE_ALPHABET", "OfBytes", "utf8_node"]

BYTES: Final = CodepointSet.from_ranges([(0, 0xFF)])
"""All bytes, as code points."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OfBytes(RegexNode):
    """A whole pattern whose code points are bytes. Stands in no other node."""

    body: RegexNode

    def __post_init__(self) -> None:
        body = self.body
        self._set(body.plain, body.nullable, body.min_width, body.max_width)


class ByteAlphabet(Alphabet):
    """Code points 0 to 255 as one byte each; the others have no spelling."""

    def __init__(self) -> None:
        self._text = star(ANY_BYTE)

    def spell(self, points: CodepointSet) -> Term:
        """The bytes out of `points`."""
        return byte_class(points & BYTES)

    @property
    def text(self) -> Term:
        """Every byte string."""
        return self._text


BYTE_ALPHABET: Final[Alphabet] = ByteAlphabet()


@lru_cache(maxsize=256)
def utf8_node(points: CodepointSet) -> RegexNode:
    """One code point out of `points`, over the bytes of its UTF-8."""
    return _node(UTF8.spell(points))


def _node(term: Term) -> RegexNode:
    """The node of a term that `UTF8.spell` made. It is as deep as a code point has bytes."""
    if isinstance(term, ByteClass):
        mask = term.mask
        return chars(CodepointSet.of(*[b for b in range(256) if mask >> b & 1]))
    if isinstance(term, Literal):
        return concat([chars(CodepointSet.of(b)) for b in term.text])
    if isinstance(term, Cat):
        return concat([_node(term.head), _node(term.tail)])
    if isinstance(term, Alt):
        return alternation([_node(m) for m in term.members])
    assert term is EMPTY, term
    return chars(CodepointSet.NONE)
