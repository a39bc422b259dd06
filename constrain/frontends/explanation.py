"""Why a text stands where it stands, in the words of the grammar: names, literals, rules.

The engine says where a text leaves a language, and which bytes could have come. It knows nothing of
the names in a grammar: they are gone when it is lowered. An `Explainer` reads the grammar again, as
it was written, and the text again, in any way that is simple, and says in which rules it stands.
That may be slow; it is asked for only when somebody looks. What it says never changes a verdict,
and of what could come it names only what agrees with the bytes that the engine found.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from constrain.errors import ConstrainError

__all__ = ["Derivation", "Explainer", "Explanation", "OnDemand", "Part"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is known about the place where a text leaves a language. Empty: nothing is known.

    Attributes:
        offset: The place, in bytes from the start of the text.
        expected_names: What could have come there, in the grammar's own names: of rules and
            terminals, literals in double quotes, patterns in slashes, classes in brackets.
        begun: Those of `expected_names` that the text is in the middle of.
        rule_path: The rules that the text is inside of at the place, the outermost first; where it
            can be read in several ways, those that all have in common. Of a JSON Schema: JSON
            pointers, of the schemas that apply, and last of the keyword that refuses the text.
        source: The text of the grammar, if `spans` are places in it.
        spans: What could have come, as half-open (start, end) offsets in code points, ascending.
    """

    offset: int
    expected_names: tuple[str, ...] = ()
    begun: tuple[str, ...] = ()
    rule_path: tuple[str, ...] = ()
    source: str | None = None
    spans: tuple[tuple[int, int], ...] = ()


class Part(NamedTuple):
    """A part of a text: what it is in the grammar, and its half-open range of bytes."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a text is in a language, at the top.

    Attributes:
        rule_path: Rules each of which is the whole text, the outermost first.
        parts: What the last of them is made of; empty if that is not known.
    """

    rule_path: tuple[str, ...]
    parts: tuple[Part, ...] = ()


class Explainer(Protocol):
    """Reads a grammar as it was written. Need not be safe for threads."""

    def explain(self, text: bytes, offset: int, expected: bytes) -> Explanation:
        """Say what could have come.

        Args:
            text: The whole text.
            offset: Where it leaves the language: what comes before begins some sentence.
            expected: The bytes that could come there, ascending.
        """
        ...

    def derivation(self, text: bytes) -> Derivation | None:
        """Say how a text of the language is derived, or None if that is not known."""
        ...


class OnDemand:
    """An explainer that is made when it is first asked, one thread at a time.

    Args:
        make: Makes it. Budgets that it or its answers reach make the answer empty.
    """

    def __init__(self, make: Callable[[], Explainer]) -> None:
        self._make = make
        self._made: Explainer | None = None
        self._lock = threading.Lock()

    def _explainer(self) -> Explainer:
        if self._made is None:
            self._made = self._make()
        return self._made

    def explain(self, text: bytes, offset: int, expected: bytes) -> Explanation:
        """See `Explainer.explain`."""
        with self._lock:
            try:
                return self._explainer().explain(text, offset, expected)
            except ConstrainError:
                return Explanation(offset)

    def derivation(self, text: bytes) -> Derivation | None:
        """See `Explainer.derivation`."""
        with self._lock:
            try:
                return self._explainer().derivation(text)
            except ConstrainError:
                return None
