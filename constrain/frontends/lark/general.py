"""The parser for every context-free grammar: all stacks that agree with the lexemes so far.

They are stacks of the LR(0) automaton, of a grammar without empty productions and without cycles
(`normal`).

Cost: in proportion to the stacks, which are few unless the grammar is ambiguous.
Source: Tomita, "Efficient parsing for natural language" (1985).
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from constrain.frontends.lark.automaton import ROOT, Automaton, Production
from constrain.frontends.lark.stacks import Group, Stack
from constrain.limits import Limits

__all__ = ["General"]

_STACK_COST: Final = 40
"""What a stack costs in `Limits.max_source_nodes`: each is looked at again at every lexeme."""


class _GeneralGroup:
    """All lexemes that can come, each with the stacks after it."""

    __slots__ = ("_after", "_parser", "terminals")

    def __init__(self, parser: General, after: Mapping[str, frozenset[Stack]]) -> None:
        self.terminals: Container[str | None] = after
        self._parser = parser
        self._after = after

    def kind(self) -> Hashable:
        """See `Group`."""
        return frozenset([(terminal, self.may_end(terminal)) for terminal in self._after])

    def after(self, terminal: str | None) -> frozenset[Stack]:
        """See `Group`."""
        assert terminal is not None
        return self._after[terminal]

    def may_end(self, terminal: str | None) -> bool:
        """See `Group`."""
        return self._parser.accepts(self.after(terminal))

    def known(self) -> dict[Any, Any]:
        """See `Group`: nothing is kept."""
        return {}


class General:
    """Every context-free grammar, ambiguous ones too.

    Args:
        productions: Reduced, without empty ones and without cycles.
        nullable: The empty sequence of lexemes is a sentence.
        limits: `max_source_nodes` bounds the stacks that a text may have at once.

    Attributes:
        automaton: Its states.
        nullable: The empty sequence of lexemes is a sentence.
    """

    def __init__(self, productions: Sequence[Production], nullable: bool, limits: Limits) -> None:
        self.automaton = Automaton(productions, limits)
        self.nullable = nullable
        self._limits = limits
        self._first = Stack(None, 0)

    def start(self) -> frozenset[Stack]:
        """The stack before any lexeme."""
        return frozenset((self._first,))

    def feed_all(
        self, stacks: frozenset[Stack], terminals: Iterable[str]
    ) -> dict[str, frozenset[Stack]]:
        """For each lexeme that can come, every stack after it."""
        reduced = list(self._reduced(stacks))
        found = {}
        for terminal in terminals:
            pushed = []
            for stack in reduced:
                after = self.automaton.goto(stack.state, terminal)
                if after is not None:
                    pushed.append(stack.push(after))
            if pushed:
                found[terminal] = frozenset(pushed)
        return found

    def waits_for(self, stacks: frozenset[Stack]) -> None:
        """Several lexers stand side by side."""

    def groups(self, stacks: frozenset[Stack], terminals: frozenset[str]) -> Sequence[Group]:
        """Those of some lexemes that can come."""
        return [_GeneralGroup(self, self.feed_all(stacks, terminals))]

    def accepts(self, stacks: frozenset[Stack]) -> bool:
        """Whether the text may end here."""
        if self._first in stacks:
            return self.nullable
        return any(
            [
                production.origin == ROOT
                for stack in self._reduced(stacks)
                for production in self.automaton.complete(stack.state)
            ]
        )

    def terminals(self, stacks: frozenset[Stack]) -> Iterable[str]:
        """What some stack can shift."""
        found: dict[str, None] = {}
        for stack in self._reduced(stacks):
            found.update(dict.fromkeys(self.automaton.symbols(stack.state)))
        return found

    def _reduced(self, stacks: frozenset[Stack]) -> Iterable[Stack]:
        """The stacks, and all that come of reducing them."""
        found = dict.fromkeys(stacks)
        todo = list(stacks)
        while todo:
            stack = todo.pop()
            for origin, expansion in self.automaton.complete(stack.state):
                if origin == ROOT:
                    continue
                below = stack
                for _ in expansion:
                    assert below.below is not None
                    below = below.below
                after = self.automaton.goto(below.state, origin)
                assert after is not None, "a stack of the automaton"
                pushed = below.push(after)
                if pushed not in found:
                    found[pushed] = None
                    todo.append(pushed)
            self._limits.check("max_source_nodes", _STACK_COST * len(found), "an ambiguous text")
        return found
