r"""Flags of Rust's crate `regex`, and what they decide: blanks without meaning, what a set is."""

from __future__ import annotations

from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.errors import GrammarError
from constrain.frontends.regex.byte_nodes import BYTES
from constrain.frontends.regex.case_folding import ignore_case_ascii, ignore_case_simple
from constrain.frontends.regex.reader import PatternReader
from constrain.frontends.regex.rust_classes import is_blank, perl_class
from constrain.limits import Limits

__all__ = ["CRLF", "DOT_ALL", "FLAGS", "MULTILINE", "VERBOSE", "FlaggedReader"]

IGNORE_CASE, MULTILINE, DOT_ALL, SWAP_GREED, UNICODE, CRLF, VERBOSE = [1 << i for i in range(7)]
FLAGS: Final = {
    "i": IGNORE_CASE,
    "m": MULTILINE,
    "s": DOT_ALL,
    "U": SWAP_GREED,
    "u": UNICODE,
    "R": CRLF,
    "x": VERBOSE,
}


class FlaggedReader(PatternReader):
    """A pattern with the flags in force where it stands.

    Attributes:
        of_bytes: It is read over bytes, not over text.
    """

    def __init__(self, pattern: str, limits: Limits, flags: str, *, of_bytes: bool) -> None:
        super().__init__(pattern, limits)
        self.flags = 0 if "-u" in flags else UNICODE
        for letter in flags.replace("-u", ""):
            if letter not in FLAGS:
                raise GrammarError(
                    f"flags of the dialect 'rust' are letters out of 'imsUuRx', not {letter!r}"
                )
            self.flags |= FLAGS[letter]
        self.of_bytes = of_bytes

    # Blanks that mean nothing under the flag x.

    def at_more(self) -> bool:
        """Step over them; False at the end of the pattern."""
        source = self.source
        if self.flags & VERBOSE:
            while self.at < len(source):
                if is_blank(source[self.at]):
                    self.at += 1
                elif source[self.at] == "#":
                    end = source.find("\n", self.at)
                    self.at = len(source) if end < 0 else end + 1
                else:
                    break
        return self.at < len(source)

    def take_more(self, allowed: str, most: int) -> str:
        """Step over code points out of `allowed`, and blanks between and after them."""
        taken = ""
        while self.at_more() and len(taken) < most and self.peek() in allowed:
            taken += self.take_while(allowed, most - len(taken))
        return taken

    def peek_more(self) -> str:
        """The code point after the next one, blanks left out."""
        at = self.at
        self.at += 1
        self.at_more()
        found = self.peek()
        self.at = at
        return found

    # What sets are under the flags i and u.

    @property
    def unicode(self) -> bool:
        """Whether the flag u is on."""
        return bool(self.flags & UNICODE)

    def folded(self, points: CodepointSet) -> CodepointSet:
        """A set with what it matches besides under the flag i."""
        if not self.flags & IGNORE_CASE:
            return points
        return ignore_case_simple(points) if self.unicode else ignore_case_ascii(points)

    def complement(self, points: CodepointSet) -> CodepointSet:
        """All code points but these; without Unicode, all bytes but these."""
        return (CodepointSet.ANY if self.unicode else BYTES) - points

    def perl_set(self, letter: str) -> CodepointSet:
        r"""What an escape such as \d or \D is."""
        points = perl_class(letter.lower(), unicode=self.unicode)
        return self.complement(points) if letter.isupper() else points
