"""What boundaries and runs are: the two kinds of places in a text, and the ways on from a boundary.

A *boundary* lies between two lexemes, a *run* in the middle of some that are being read together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from constrain.algebra.terms import EPS, Rule, Term, Token
from constrain.frontends.llguidance.contest import Contest, State
from constrain.frontends.llguidance.stacks import Stack

__all__ = ["Boundary", "Edge", "Key", "Run", "Stacks"]

Stacks = frozenset[Stack]


@dataclass(frozen=True, slots=True)
class Key:
    """What a boundary is.

    Attributes:
        stacks: Where the parser stands.
        blocked: Bytes that may not come next.
        read: The beginning of the text from here on, which was read already.
        ignored: The class whose ignored text was just read, if it may not come twice; else "".
    """

    stacks: Stacks
    blocked: int = 0
    read: bytes = b""
    ignored: str = ""

    @property
    def counts(self) -> bool:
        """Whether tokens are counted there."""
        return any([stack.counted is not None for stack in self.stacks])


class Boundary:
    """A place between lexemes; keeps its rule, so that the same place is the same rule.

    Attributes:
        key: What it is.
        rule: What may come there.
        edges: The ways on, once they are known.
        alive: Whether a sentence goes on from there whatever is left of counts, once it is known.
        may_live: The same for some that may be left, or more.
    """

    __slots__ = ("__weakref__", "alive", "edges", "key", "may_live", "rule")
    rule: Rule

    def __init__(self, key: Key) -> None:
        self.key = key
        self.alive: bool | None = None
        self.may_live: bool | None = None
        self.edges: list[Edge] | None = None


class Edge(NamedTuple):
    """A way on from a boundary.

    Attributes:
        words: What is read; None if only runs tell, since lexemes count apart.
        target: Where that leads.
        contest: Where the words come from; None if these take part in none.
        is_endless: If tokens are counted there, tells whether the beginnings of `words` may go on
            without bound.
    """

    words: Term | None
    target: Boundary
    contest: Contest | None = None
    is_endless: Callable[[], bool] | None = None

    @property
    def is_json(self) -> bool:
        """Whether the words are JSON texts, of any number of tokens."""
        return self.contest is None and self.words is not EPS and not isinstance(self.words, Token)


class Run(NamedTuple):
    """Some lexemes of a contest that are being read.

    Attributes:
        contest: Of all that began together.
        state: How far those have come that are left.
        after: For each of these its number, and where the text stands after it.
    """

    contest: Contest
    state: State
    after: tuple[tuple[int, Stacks], ...]

    def at(self, state: State) -> Run:
        """The run when it has come to a state."""
        left = {n for n, _ in state}
        return Run(self.contest, state, tuple([a for a in self.after if a[0] in left]))

    @property
    def is_over(self) -> bool:
        """Whether nothing is being read any more."""
        return not self.contest.node(self.state).edges

    @property
    def counts(self) -> bool:
        """Whether tokens are counted there."""
        return any([stack.counted is not None for _, stacks in self.after for stack in stacks])
