"""One lexer: the terminals that compete at a place, and the lexemes that win there.

This is lark's `BasicLexer` as an automaton. Its terminals, in lark's order, are one list of threads
(`threads`): the first terminal that matches wins with the match that `re` would find. Where a
thread matches while preferred ones go on, the lexeme ends here only if none of those matches later;
that is a *guard* on the text to come. So a lexer is a union of

    words that reach this match · (what may follow, but for texts that the guard forbids)

    NAME: /[a-z]+/   "if"      "if" · (... & ~[a-z]...) | ([a-z]+ but "if") · (... & ~[a-z]...)

String terminals that a pattern of the same priority also matches are told apart afterwards, as
lark does it (`UnlessCallback`): the pattern scans, and the text decides the type.

Cost: O(states * threads * parts of the alphabet), once for each set of terminals that compete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from constrain.algebra.terms import EMPTY, Term, complement
from constrain.frontends.lark.equations import Equation, solve
from constrain.frontends.lark.threads import NO_DEMANDS, Demand, Left, Machine, Thread

__all__ = ["Contest", "Guards", "Lexeme", "Scanner", "State"]


@dataclass(frozen=True, slots=True)
class Contest:
    """Terminals that compete.

    Attributes:
        terminals: Name and address of each, in the order in which they are tried.
        unless: For a pattern, the string terminals that take its place where the text is theirs:
            name and address of each, in the order in which they are tried.
    """

    terminals: tuple[tuple[str, int], ...]
    unless: Mapping[str, tuple[tuple[str, int], ...]]


@dataclass(frozen=True, slots=True)
class Lexeme:
    """Texts that are scanned alike.

    Attributes:
        scanned: The terminal that matched.
        name: What it becomes: itself, or a string terminal in its place.
        words: The texts; never empty, never nullable.
        higher: Threads that are preferred: what follows must not let one of them complete.
        demands: What lookaheads at its end ask of what follows.
        left: The memory after it.
    """

    scanned: str
    name: str
    words: Term
    higher: frozenset[Thread]
    demands: frozenset[Demand]
    left: Left


State = tuple[tuple[Thread, ...], Left, frozenset[Thread]]
_End = tuple[str, str, frozenset[Thread], frozenset[Demand], Left]


@dataclass(slots=True)
class _Node:
    """A state of the automaton: where each set of atoms leads, and the lexemes that end here."""

    ends: list[_End]
    edges: dict[State, int] = field(default_factory=dict)


class Scanner:
    """The lexemes of one contest.

    Args:
        machine: Of the grammar.
        contest: The terminals.
        every_end: Every match that is the preferred one of a text that ends there, not only the
            preferred one of the whole text: lark's `dynamic_complete`.
    """

    def __init__(self, machine: Machine, contest: Contest, *, every_end: bool = False) -> None:
        self._machine = machine
        self._contest = contest
        self._every_end = every_end
        self._lexemes: dict[Left, tuple[Lexeme, ...]] = {}
        self._towards: dict[tuple[Left, str], frozenset[State]] = {}
        self._automata: dict[Left, tuple[State, dict[State, _Node]]] = {}

    def lexemes(self, left: Left) -> tuple[Lexeme, ...]:
        """What may be scanned where the text before is remembered as `left`."""
        made = self._lexemes.get(left)
        if made is None:
            made = self._lexemes[left] = tuple(self._make(left))
        return made

    def automaton(self, left: Left) -> tuple[State, dict[State, _Node]]:
        """The first state, and every state."""
        known = self._automata.get(left)
        if known is None:
            known = self._automata.setdefault(left, self._automaton(left))
        return known

    def _automaton(self, left: Left) -> tuple[State, dict[State, _Node]]:
        machine, contest = self._machine, self._contest
        first = [t for _, begin in contest.terminals for t in machine.begin(begin, left)]
        literals = {begin for group in contest.unless.values() for _, begin in group}
        shadow = frozenset([t for begin in literals for t in machine.begin(begin, left)])
        root: State = (tuple(first), left, shadow)
        nodes: dict[State, _Node] = {}
        todo = [root]
        while todo:
            state = todo.pop()
            if state not in nodes:
                nodes[state] = self._explore(state)
                todo += nodes[state].edges
        return root, nodes

    def towards(self, left: Left, name: str) -> frozenset[State]:
        """The states from which a lexeme that becomes `name` can end."""
        key = (left, name)
        known = self._towards.get(key)
        if known is None:
            _, nodes = self.automaton(left)
            ends = [s for s, node in nodes.items() if any([e[1] == name for e in node.ends])]
            known = self._towards[key] = frozenset(_leading_to(nodes, ends))
        return known

    def samples(self, count: int) -> list[str]:
        """A few short texts, each of which ends a lexeme when nothing follows; shortest first."""
        root, nodes = self.automaton(())
        texts = {root: ""}
        found = []
        for state in _growing(texts):
            if nodes[state].ends and texts[state]:
                found.append(texts[state])
                if len(found) == count:
                    break
            for target, mask in nodes[state].edges.items():
                if target not in texts:
                    texts[target] = texts[state] + self._machine.atoms.example(mask)
        return found

    def _make(self, left: Left) -> Iterable[Lexeme]:
        root, nodes = self.automaton(left)
        sources: dict[_End, list[State]] = {}
        users: dict[State, list[State]] = {}
        for state, node in nodes.items():
            for end in node.ends:
                sources.setdefault(end, []).append(state)
            for target in node.edges:
                users.setdefault(target, []).append(state)
        for end, states in sources.items():
            kept = set(states)
            todo = list(states)
            while todo:
                for user in users.get(todo.pop(), ()):
                    if user not in kept:
                        kept.add(user)
                        todo.append(user)
            self._machine.spend(len(kept))
            words = solve(self._equations(nodes, kept, set(states)), root, end[1])
            if words is not EMPTY:
                scanned, name, higher, demands, after = end
                yield Lexeme(scanned, name, words, higher, demands, after)

    def _equations(
        self, nodes: Mapping[State, _Node], kept: set[State], ends: set[State]
    ) -> dict[State, Equation[State]]:
        spell = self._machine.atoms.spell
        return {
            state: Equation(
                state in ends,
                False,
                [(spell(mask), t) for t, mask in nodes[state].edges.items() if t in kept],
            )
            for state in kept
        }

    def _explore(self, state: State) -> _Node:
        machine = self._machine
        threads, left, shadow = state
        ends, going = self._ends(threads, left, shadow)
        node = _Node(ends)
        masks = [*machine.masks(going), *machine.masks(shadow), *machine.behind_masks]
        for part in machine.atoms.partition(masks):
            after = machine.remember(left, part)
            target = _without_subsumed(machine.step(going, part, after))
            if target:
                literals = frozenset(machine.step(shadow, part, after))
                key = (target, after, literals)
                node.edges[key] = node.edges.get(key, 0) | part
        return node

    def _ends(
        self, threads: Sequence[Thread], left: Left, shadow: frozenset[Thread]
    ) -> tuple[list[_End], list[Thread]]:
        """The lexemes that end here, and the threads that go on."""
        machine = self._machine
        ends: list[_End] = []
        going: list[Thread] = []
        higher: list[Thread] = []
        otherwise: list[frozenset[Demand]] = [NO_DEMANDS]  # any of these: no match here counted
        for thread in threads:
            name = machine.name(thread)
            if name is None:
                higher.append(thread)
                for demands in otherwise:
                    both = thread.demands | demands
                    if not _contradicts(both):
                        going.append(Thread(thread.address, both))
                continue
            guard = frozenset() if self._every_end else frozenset(higher)
            ends.append((name, self._type(name, shadow), guard, thread.demands, left))
            if not thread.demands:
                break
            higher.append(thread)
            otherwise = _unless(otherwise, thread.demands)
        return ends, going

    def _type(self, name: str, shadow: frozenset[Thread]) -> str:
        if name in self._contest.unless and shadow:
            matched = {self._machine.name(t) for t in shadow if self._machine.completed(t)}
            for literal, _ in self._contest.unless[name]:
                if literal in matched:
                    return literal
        return name


def _leading_to(nodes: Mapping[State, _Node], ends: Iterable[State]) -> set[State]:
    """The states from which one of some states can be reached."""
    users: dict[State, list[State]] = {}
    for state, node in nodes.items():
        for target in node.edges:
            users.setdefault(target, []).append(state)
    found = set(ends)
    todo = list(found)
    while todo:
        for user in users.get(todo.pop(), ()):
            if user not in found:
                found.add(user)
                todo.append(user)
    return found


def _growing(texts: Mapping[State, str]) -> Iterable[State]:
    """The states of a mapping, those too that are added on the way."""
    at = 0
    while at < len(texts):
        states = list(texts)
        yield from states[at:]
        at = len(states)


def _unless(
    otherwise: list[frozenset[Demand]], demands: frozenset[Demand]
) -> list[frozenset[Demand]]:
    """Each of `otherwise`, and not all of `demands`: by the first that fails."""
    found = []
    for before in otherwise:
        held = before
        for demand in demands:
            found.append(held | {Demand(not demand.negative, demand.threads)})
            held |= {demand}
    return [d for d in found if not _contradicts(d)]


def _contradicts(demands: frozenset[Demand]) -> bool:
    return any([Demand(not d.negative, d.threads) in demands for d in demands])


def _without_subsumed(threads: Iterable[Thread]) -> tuple[Thread, ...]:
    """Drop threads at the place of a preferred one that demands no more."""
    kept: dict[int, list[frozenset[Demand]]] = {}
    found = []
    for thread in threads:
        weaker = kept.setdefault(thread.address, [])
        if not any([w <= thread.demands for w in weaker]):
            weaker.append(thread.demands)
            found.append(thread)
    return tuple(found)


class Guards:
    """The texts that let one of some threads complete, whatever comes after."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._made: dict[tuple[frozenset[Thread], Left], Term] = {}

    def conditions(self, lexeme: Lexeme) -> list[Term]:
        """What must hold of the text after a lexeme, each a term to intersect it with."""
        return self.after(lexeme.higher, lexeme.demands, lexeme.left)

    def after(
        self, higher: frozenset[Thread], demands: frozenset[Demand], left: Left
    ) -> list[Term]:
        """The same, of the parts of a lexeme that matter."""
        found: list[Term] = []
        if higher:
            completes = self._completes(higher, left)
            if completes is not EMPTY:
                found.append(complement(completes))
        for demand in demands:
            completes = self._completes(demand.threads, left)
            found.append(complement(completes) if demand.negative else completes)
        return found

    def _completes(self, threads: frozenset[Thread], left: Left) -> Term:
        key = (threads, left)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._solve(key)
        return made

    def _solve(self, root: tuple[frozenset[Thread], Left]) -> Term:
        machine = self._machine
        equations: dict[
            tuple[frozenset[Thread], Left], Equation[tuple[frozenset[Thread], Left]]
        ] = {}
        todo = [root]
        while todo:
            state = todo.pop()
            if state in equations:
                continue
            threads, left = state
            equation: Equation[tuple[frozenset[Thread], Left]] = Equation()
            equations[state] = equation
            if any([machine.completed(t) and not t.demands for t in threads]):
                equation.everything = True
                continue
            equation.ends = any([self._ends(t) for t in threads])
            edges: dict[tuple[frozenset[Thread], Left], int] = {}
            masks = [*machine.masks(threads), *machine.behind_masks]
            for part in machine.atoms.partition(masks):
                after = machine.remember(left, part)
                target = (frozenset(machine.step(threads, part, after)), after)
                if target[0]:
                    edges[target] = edges.get(target, 0) | part
            equation.edges = [(machine.atoms.spell(m), t) for t, m in edges.items()]
            todo += edges
        return solve(equations, root, "longer match")

    def _ends(self, thread: Thread) -> bool:
        """Whether a thread completes where the text ends."""
        return self._machine.completed(thread) and all(
            d.negative != any(self._ends(t) for t in d.threads) for d in thread.demands
        )
