r"""Strings of Python in single quotes: how one code point is spelled between them.

In double quotes the spelling of JSON is one of Python too, as long as a code point above U+FFFF is
no pair of escapes. Models write both.

    >>> from constrain.algebra.store import TermStore
    >>> store = TermStore()
    >>> start = store.intern(SINGLE_QUOTED.spell(CodepointSet.of("'\n")))
    >>> [store.nullable(store.advance(start, w)) for w in (rb"\'", rb"\n", b"'")]
    [True, True, False]
"""

from __future__ import annotations

from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import Term, alt, literal, star
from constrain.algebra.utf8 import UTF8, Alphabet

__all__ = ["SINGLE_QUOTED"]

_SHORT: Final = {0x09: b"\\t", 0x0A: b"\\n", 0x0D: b"\\r", 0x27: b"\\'", 0x5C: b"\\\\"}
_ESCAPED: Final = CodepointSet.from_ranges([(0, 0x1F), (0x27, 0x27), (0x5C, 0x5C)])
_RAW: Final = CodepointSet.ANY - _ESCAPED


class _SingleQuoted(Alphabet):
    def __init__(self) -> None:
        self._text = star(self.spell(CodepointSet.ANY))

    @property
    def text(self) -> Term:
        return self._text

    def spell(self, points: CodepointSet) -> Term:
        escaped = [p for lo, hi in (points & _ESCAPED).ranges for p in range(lo, hi + 1)]
        return alt([UTF8.spell(points & _RAW), *[literal(_escape(p)) for p in escaped]])

    def spell_text(self, text: str) -> Term:
        """One text."""
        points = [ord(c) for c in text]
        return literal(
            b"".join([_escape(p) if _ESCAPED.contains(p) else chr(p).encode() for p in points])
        )


def _escape(point: int) -> bytes:
    return _SHORT.get(point) or b"\\x%02x" % point


SINGLE_QUOTED: Final = _SingleQuoted()
"""An `Alphabet`: what must be escaped is, in its shortest form, and nothing else."""
