"""A slow and obvious reading of how lexemes compete, as it is documented for that engine.

A grammar is a list of productions; a lexeme a Python pattern and whether it is lazy. The parser is
a set of lists of symbols that must still come, so rules may not be left-recursive. Whether a
lexeme goes on after some bytes is tried out: does it match the bytes with up to three more?
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from itertools import product

ALPHABET = "abc_"


@dataclass
class Slow:
    """A grammar.

    Attributes:
        rules: Name to alternatives, tuples of names; what is no rule is a lexeme.
        lexemes: Name to pattern.
        lazy: Names of those that end with their first match.
        ignored: Name of the lexeme that may stand between others.
    """

    rules: dict[str, list[tuple[str, ...]]]
    lexemes: dict[str, str]
    lazy: frozenset[str] = frozenset()
    ignored: str | None = None
    started: bool = field(default=False)

    def accepts(self, text: str) -> bool:
        places, first = self.closure({("start",)}), True
        while text:
            allowed = {place[0] for place in places if place}
            if self.ignored and not first and allowed:
                allowed.add(self.ignored)
            length, winners = self.lexeme(text, frozenset(allowed))
            if not winners:
                return False
            if self.ignored not in winners:
                places = self.closure({p[1:] for p in places if p and p[0] in winners})
            text, first = text[length:], False
        return () in places

    def lexeme(self, text: str, allowed: frozenset[str]) -> tuple[int, set[str]]:
        """How long the lexeme at the start of a text is, and who wins."""
        for length in range(1, len(text) + 1):
            alive = {n for n in allowed if goes_on(self.lexemes[n], text[:length])}
            winners = {n for n in alive if re.fullmatch(self.lexemes[n], text[:length])}
            if winners & self.lazy:
                return length, winners & self.lazy
            later = length < len(text) and {
                n for n in alive if goes_on(self.lexemes[n], text[: length + 1])
            }
            if not later:
                return length, winners
            allowed = frozenset(alive)
        raise AssertionError("a text has a first byte")

    def closure(self, places: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
        """All lists of symbols with the rules at their front replaced."""
        found, todo = set(), list(places)
        seen = set(places)
        while todo:
            place = todo.pop()
            if not place or place[0] not in self.rules:
                found.add(place)
                continue
            for alternative in self.rules[place[0]]:
                made = (*alternative, *place[1:])
                if made not in seen and len(made) < 12:
                    seen.add(made)
                    todo.append(made)
        return found


@cache
def goes_on(pattern: str, text: str) -> bool:
    """Whether some match begins with a text."""
    return any(
        re.fullmatch(pattern, text + "".join(more))
        for count in range(4)
        for more in product(ALPHABET, repeat=count)
    )
