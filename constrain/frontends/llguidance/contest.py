"""Lexemes that compete at a place: all of them read the same bytes, until some of them end.

A *contest* is one automaton over bytes. A state is, for each lexeme that goes on, what may come of
it (a state of a term store). A lexeme ends

- at once, where a lazy one matches: all lazy ones that match there win;
- else before the first byte that none goes on with, if some match there: all that match win. There
  is no way back to an earlier match.

So an *end* is who wins, and the *live* bytes: those with which the lexeme would have gone on, and
which may not come next.

    /[a-z]+/ "if"      "i" wins {name}, live a-z      "if" wins {name, if}, live a-z

Cost: O(states * lexemes); `words` of some ends is one more pass, and the terms of the lexemes
themselves wherever each ends nowhere else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from constrain.algebra.store import DEAD, StateId, TermStore
from constrain.algebra.terms import (
    ALL,
    ANY_BYTE,
    EMPTY,
    EPS,
    ByteClass,
    Not,
    Rule,
    Term,
    alt,
    cat,
    complement,
    intersect,
)
from constrain.algebra.terms import Literal as LiteralTerm
from constrain.errors import UnsupportedFeatureError
from constrain.frontends.lark.equations import Equation, solve
from constrain.frontends.llguidance.stacks import name_of
from constrain.limits import Limits

__all__ = [
    "ALL_BYTES",
    "Contest",
    "End",
    "Ignored",
    "Lexeme",
    "Node",
    "Rows",
    "without_first_bytes",
]

ALL_BYTES: Final = (1 << 256) - 1
_STATE_COST: Final = 40
"""What a state costs in `Limits.max_source_nodes`, all contests of a grammar together."""


@dataclass(frozen=True, slots=True, eq=False)
class Lexeme:
    """What may win.

    Attributes:
        symbol: What it is to the parser.
        term: Its texts; not nullable.
        lazy: It ends with its first match.
        hidden: The end of its text that what follows may read again.
    """

    symbol: str
    term: Term
    lazy: bool
    hidden: bytes = b""


@dataclass(frozen=True, slots=True)
class Ignored:
    """What may stand between the lexemes of a class.

    Attributes:
        lexeme: Its texts, or None if there is none.
        at_start: It may stand before the first lexeme of the class too.
        once: It may not come twice in a row.
    """

    lexeme: Lexeme | None
    at_start: bool
    once: bool


@dataclass(frozen=True, slots=True)
class End:
    """Where lexemes end: who wins, by number, and the bytes that may not follow."""

    winners: frozenset[int]
    live: int


State = tuple[tuple[int, StateId], ...]


@dataclass(slots=True)
class Node:
    """A state: where bytes lead, as masks, all of these bytes, and the end that it is."""

    end: End | None
    edges: dict[State, int] = field(default_factory=dict)
    live: int = 0


class Rows(TermStore):
    """A store that tells where bytes lead from a state."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._budget = limits
        self._num_states = 0
        self._moves: dict[StateId, tuple[tuple[int, StateId], ...]] = {}
        self._masks: dict[bytes, list[int]] = {}

    def spend(self) -> None:
        """Count a state of a contest.

        Raises:
            LimitExceededError: There are too many.
        """
        self._num_states += 1
        cost = _STATE_COST * self._num_states
        self._budget.check("max_source_nodes", cost, "the terminals of a grammar")

    def moves(self, state: StateId) -> tuple[tuple[int, StateId], ...]:
        """The live states one byte after a state, each with the bytes that lead there as a mask."""
        known = self._moves.get(state)
        if known is None:
            classes, after = self._row(state)
            masks = self._masks_of(classes, len(after))
            found: dict[StateId, int] = {}
            for mask, target in zip(masks, map(StateId, after.tolist()), strict=True):
                if target != DEAD and not self.is_empty(target):
                    found[target] = found.get(target, 0) | mask
            known = self._moves[state] = tuple([(mask, t) for t, mask in found.items()])
        return known

    def first_bytes(self, state: StateId) -> int:
        """The bytes that a text of a state may begin with, as a mask."""
        first = 0
        for mask, _ in self.moves(state):
            first |= mask
        return first

    def _masks_of(self, classes: npt.NDArray[np.int32], count: int) -> list[int]:
        """The bytes of each class, as masks."""
        key = classes.tobytes()
        known = self._masks.get(key)
        if known is None:
            known = self._masks[key] = [0] * count
            for byte, number in enumerate(classes.tolist()):
                known[number] |= 1 << byte
        return known


class Contest:
    """One set of lexemes.

    Args:
        rows: The store of the grammar.
        lexemes: Those that compete; two with one symbol differ in what they hide.

    Attributes:
        lexemes: As given.
        root: The first state.
        first: The bytes that a lexeme may begin with.
        alphabet: The bytes that a lexeme is made of, maybe more.
    """

    def __init__(self, rows: Rows, lexemes: Sequence[Lexeme]) -> None:
        self.lexemes = lexemes
        self._rows = rows
        starts = [rows.intern(lexeme.term) for lexeme in lexemes]
        self.root: State = tuple([(n, s) for n, s in enumerate(starts) if not rows.is_empty(s)])
        self._firsts = {n: rows.first_bytes(start) for n, start in self.root}
        self.first = 0
        for first in self._firsts.values():
            self.first |= first
        self.alphabet = 0
        for lexeme in lexemes:
            self.alphabet |= _alphabet(lexeme.term)
        self._nodes: dict[State, Node] = {}
        self._partial: dict[State, Node] = {}
        self._too_few: int | None = 0
        self._cut: set[int] = set()
        self._ends_of: dict[int, set[End]] = {}
        self._words: dict[tuple[frozenset[End], int], Term] = {}

    @property
    def nodes(self) -> dict[State, Node]:
        """Every state; made on first use."""
        if not self._nodes:
            self.explore()
        return self._nodes

    def node(self, state: State) -> Node:
        """The node of a state, or of what is left of one without some of its lexemes."""
        found = self.nodes.get(state) or self._partial.get(state)
        if found is None:
            self._rows.spend()
            found = self._partial[state] = self._node(state)
        return found

    def ends(self) -> list[End]:
        """Every end, once."""
        return list(dict.fromkeys([n.end for n in self.nodes.values() if n.end is not None]))

    def after(self, node: Node, byte: int) -> State | None:
        """The state after a byte, if a lexeme goes on with it."""
        for target, mask in node.edges.items():
            if mask >> byte & 1:
                return target
        return None

    # Exploring

    def explore(self, most: int | None = None) -> bool:
        """Make every state; False, and none, if there are more than `most`."""
        if self._nodes or most == self._too_few:
            return bool(self._nodes)
        nodes: dict[State, Node] = {self.root: Node(None)}
        self._lead(self.root, nodes[self.root])
        todo = list(nodes[self.root].edges)
        while todo:
            state = todo.pop()
            if state in nodes:
                continue
            if len(nodes) == most:
                self._too_few = most
                return False
            self._rows.spend()
            nodes[state] = node = self._node(state)
            todo += node.edges
        for node in nodes.values():
            if node.end is not None:
                for n in node.end.winners:
                    self._ends_of.setdefault(n, set()).add(node.end)
        self._nodes = nodes
        return True

    def _node(self, state: State) -> Node:
        rows = self._rows
        matching = [n for n, s in state if rows.nullable(s)]
        lazy = [n for n in matching if self.lexemes[n].lazy]
        if lazy:
            winners = self._with_least_hidden(lazy)
            self._cut.update([n for n, s in state if n not in winners or rows.first_bytes(s)])
            return Node(End(winners, 0))
        node = Node(None)
        self._lead(state, node)
        if matching:
            node.end = End(frozenset(matching), node.live)
        return node

    def _lead(self, state: State, node: Node) -> None:
        """Add the edges of a state."""
        parts: list[tuple[int, State]] = [(ALL_BYTES, ())]
        for n, member in state:
            refined: list[tuple[int, State]] = []
            for mask, after in parts:
                left = mask
                for bytes_there, target in self._rows.moves(member):
                    if mask & bytes_there:
                        refined.append((mask & bytes_there, (*after, (n, target))))
                        left &= ~bytes_there
                if left:
                    refined.append((left, after))
            parts = refined
        for mask, after in parts:
            if after:
                node.edges[after] = node.edges.get(after, 0) | mask
                node.live |= mask

    def _with_least_hidden(self, winners: Sequence[int]) -> frozenset[int]:
        """Of those with one symbol, the one that hides least."""
        best: dict[str, int] = {}
        for n in winners:
            lexeme = self.lexemes[n]
            other = best.get(lexeme.symbol)
            if other is None or len(lexeme.hidden) < len(self.lexemes[other].hidden):
                best[lexeme.symbol] = n
        return frozenset(best.values())

    # Words

    def words(self, ends: frozenset[End], blocked: int, start: State | None = None) -> Term:
        """The texts that end in one of some ends; `EMPTY` if there is none.

        Args:
            ends: Some of `ends()`.
            blocked: Bytes that they may not begin with.
            start: What of them is left from a state on; None: from the beginning.
        """
        if start is not None:
            rest = self._solve(start, set(ends), blocked)
            return alt((rest, EPS)) if self.nodes[start].end in ends else rest
        key = (ends, blocked & self.first)
        known = self._words.get(key)
        if known is None:
            known = self._words[key] = self._make_words(*key)
        return known

    def _make_words(self, ends: frozenset[End], blocked: int) -> Term:
        members: list[Term] = []
        left = set(ends)
        winners = {n for end in ends for n in end.winners}
        whole = [
            (n, self._ends_of[n])
            for n in winners
            if n not in self._cut and self._ends_of[n] <= ends and not self.lexemes[n].hidden
        ]
        for n, mine in sorted(whole, key=lambda item: (-len(item[1]), item[0])):
            if mine & left:
                left -= mine
                members.append(self.whole(n, blocked))
        if left:
            members.append(self._solve(self.root, left, blocked))
        return alt(members)

    def whole(self, n: int, blocked: int) -> Term:
        """All texts of a lexeme that do not begin with a blocked byte."""
        return without_first_bytes(self.lexemes[n].term, self._firsts[n], blocked)

    def all_words(self, blocked: int) -> Term:
        """All texts with which the only lexeme wins, its states not looked at."""
        term = self.whole(0, blocked)
        if term is EMPTY or not self.lexemes[0].lazy:
            return term
        return intersect((term, complement(cat(term, ANY_BYTE, ALL))))

    def leads_to(self, ends: frozenset[End], blocked: int, start: State | None = None) -> bool:
        """Whether some text ends in one of some ends: see `words`."""
        first = self.root if start is None else start
        here = start is not None and self.nodes[start].end in ends
        return here or self._goes_to(self._leading_to(ends, first), first, blocked)

    def is_endless(self, ends: frozenset[End], blocked: int, start: State | None = None) -> bool:
        """Whether beginnings of texts that end in some ends may go on without bound."""
        first = self.root if start is None else start
        kept = self._leading_to(ends, first)
        while over := {s for s in kept if kept.isdisjoint(self.nodes[s].edges)}:
            kept -= over
        return self._goes_to(kept, first, blocked)

    def _goes_to(self, states: set[State], first: State, blocked: int) -> bool:
        edges = self.nodes[first].edges.items()
        return any([target in states and mask & ~blocked for target, mask in edges])

    def _solve(self, start: State, ends: set[End], blocked: int) -> Term:
        nodes = self.nodes
        kept = self._leading_to(ends, start)
        equations: dict[State | None, Equation[State | None]] = {}
        for state in (None, *kept):
            first, at = state is None, start if state is None else state
            edges: list[tuple[Term, State | None]] = [
                (ByteClass(mask), target)
                for target, edge in nodes[at].edges.items()
                if target in kept and (mask := edge & ~blocked if first else edge)
            ]
            equations[state] = Equation(ends=not first and nodes[at].end in ends, edges=edges)
        if not equations[None].edges:
            return EMPTY
        made: dict[State | None, Term] = {}
        return solve(equations, None, made, self._name())

    def _leading_to(self, ends: Collection[End], first: State) -> set[State]:
        """The states from `first` on from which some end can be reached."""
        nodes = self.nodes
        users: dict[State, list[State]] = {}
        reached = {first}
        todo = [first]
        while todo:
            at = todo.pop()
            for target in nodes[at].edges:
                users.setdefault(target, []).append(at)
                if target not in reached:
                    reached.add(target)
                    todo.append(target)
        kept = {state for state in reached if nodes[state].end in ends}
        todo = list(kept)
        while todo:
            new = [user for user in users.get(todo.pop(), ()) if user not in kept]
            kept.update(new)
            todo += new
        return kept

    def _name(self) -> str:
        symbols = {name_of(lexeme.symbol) for lexeme in self.lexemes}
        return symbols.pop() if len(symbols) == 1 else "lexeme"

    @property
    def is_literal(self) -> bool:
        """Whether there is one lexeme, and it is one text."""
        return len(self.lexemes) == 1 and isinstance(self.lexemes[0].term, (LiteralTerm, ByteClass))

    # The texts of a lazy lexeme

    def short_words(self, most: int) -> list[bytes]:
        """Every text, shortest first.

        Raises:
            UnsupportedFeatureError: There are more than `most`.
        """
        found: list[bytes] = []
        level: list[tuple[State, bytes]] = [(self.root, b"")]
        while level:
            following: list[tuple[State, bytes]] = []
            for state, text in level:
                node = self.nodes[state]
                if node.end is not None:
                    found.append(text)
                for target, mask in node.edges.items():
                    following += [(target, text + bytes((b,))) for b in range(256) if mask >> b & 1]
                if len(found) > most or len(following) > 16 * most:
                    raise UnsupportedFeatureError(f"it has more than {most} texts")
            level = following
        return found


def _alphabet(root: Term) -> int:
    """The bytes that stand in a term."""
    found = 0
    seen = {root}
    todo = [root]
    while todo:
        term = todo.pop()
        if isinstance(term, Not):
            return ALL_BYTES
        if isinstance(term, ByteClass):
            found |= term.mask
        elif isinstance(term, LiteralTerm):
            for byte in term.text:
                found |= 1 << byte
        new = [term.body] if isinstance(term, Rule) else term.parts
        todo += [part for part in new if part not in seen]
        seen.update(new)
    return found


def without_first_bytes(term: Term, first: int, blocked: int) -> Term:
    """The texts of a term, which begin with `first`, that do not begin with a blocked byte."""
    if not first & blocked:
        return term
    if not first & ~blocked:
        return EMPTY
    return intersect((term, cat(ByteClass(ALL_BYTES & ~blocked), ALL)))
