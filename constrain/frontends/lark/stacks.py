"""Where a text stands in a parser over lexemes: a set of stacks of states.

Stacks are linked lists and interned, so the same stack is the same object. `lalr` and `general` are
the two parsers; what `boundaries` asks of either is `Parser`.
"""

from __future__ import annotations

import threading
from collections.abc import Container, Hashable, Iterable, Sequence
from typing import Any, Final, Protocol
from weakref import ref

__all__ = ["Group", "Parser", "Pushed", "Stack", "Unchanged"]

Pushed = tuple[tuple[int, int], ...]
"""States to push, each with its viable state."""


class Stack:
    """States of a parser, the last on top. The same states are the same object.

    Attributes:
        below: The stack without its top, or None.
        state: The top.
        viable: State of the automaton of what can be completed, for `Lalr`; else 0.
        outlook: What `saturation` knows of it.
        ends: Whether a text may end with some states pushed on it, as far as `Lalr` was asked.
    """

    __slots__ = ("__weakref__", "_above", "_known", "below", "ends", "outlook", "state", "viable")

    def __init__(self, below: Stack | None, state: int, viable: int = 0) -> None:
        self.below = below
        self.state = state
        self.viable = viable
        self.outlook: object | None = None
        self._known: dict[Hashable, dict[Any, Any]] | None = None
        self.ends: dict[Pushed, bool] = {}
        self._above: dict[int, ref[Stack]] = {}  # at most one for each state of the parser

    def known_of(self, lexemes: Hashable) -> dict[Any, Any]:
        """What was made of lexemes that lead to it, or push the same states on it; to be added to.

        It goes with the stack.
        """
        if self._known is None:
            self._known = {}
        return self._known.setdefault(lexemes, {})

    def push(self, state: int, viable: int = 0) -> Stack:
        """The stack with one more state; what it leads to depends on the stack alone."""
        known = self._above.get(state)
        found = None if known is None else known()
        if found is None:
            with _LOCK:
                known = self._above.get(state)
                found = None if known is None else known()
                if found is None:
                    found = Stack(self, state, viable)
                    self._above[state] = ref(found)
        return found


_LOCK: Final = threading.Lock()


class Group(Protocol):
    """Lexemes that can come at some stacks, and lead on in one way.

    Attributes:
        terminals: Their names; of those that the parser does not see, None.
    """

    terminals: Container[str | None]

    def kind(self) -> Hashable:
        """Where it is the same, so are the terminals, and those after which the text may end."""
        ...

    def after(self, terminal: str | None) -> frozenset[Stack]:
        """The stacks after one of them."""
        ...

    def may_end(self, terminal: str | None) -> bool:
        """Whether the text may end after one of them."""
        ...

    def known(self) -> dict[Any, Any]:
        """What is known of them wherever they lead to the same stacks.

        What stands in it may refer to this group.
        """
        ...


class Parser(Protocol):
    """What `boundaries` asks of a parser."""

    def start(self) -> frozenset[Stack]:
        """The stacks before any lexeme."""
        ...

    def waits_for(self, stacks: frozenset[Stack]) -> frozenset[str] | None:
        """Terminals but for which none can come; None if there is not one lexer."""
        ...

    def groups(self, stacks: frozenset[Stack], terminals: frozenset[str]) -> Sequence[Group]:
        """Those of some lexemes that can come."""
        ...

    def feed_all(
        self, stacks: frozenset[Stack], terminals: Iterable[str]
    ) -> dict[str, frozenset[Stack]]:
        """For each lexeme that can come, the stacks after it."""
        ...

    def accepts(self, stacks: frozenset[Stack]) -> bool:
        """Whether the text may end here."""
        ...


class Unchanged:
    """Lexemes that lead back to the same stacks.

    Args:
        stacks: The stacks.
        terminals: Their names, or None.
        accepts: Whether the text may end there.
    """

    __slots__ = ("_accepts", "_lexemes", "_stacks", "terminals")

    def __init__(
        self, stacks: frozenset[Stack], terminals: frozenset[str | None], accepts: bool
    ) -> None:
        self.terminals: Container[str | None] = terminals
        self._lexemes = terminals
        self._stacks = stacks
        self._accepts = accepts

    def kind(self) -> Hashable:
        """See `Group`."""
        return (self._lexemes, self._accepts)

    def after(self, terminal: str | None) -> frozenset[Stack]:
        """See `Group`."""
        return self._stacks

    def may_end(self, terminal: str | None) -> bool:
        """See `Group`."""
        return self._accepts

    def known(self) -> dict[Any, Any]:
        """See `Group`."""
        if len(self._stacks) != 1:
            return {}
        (stack,) = self._stacks
        return stack.known_of(self._lexemes)
