"""An Earley chart: in which rules a text stands, in the grammar as it was written.

The engine decides what is a sentence; this only explains, so it may be slow and may read a little
more than the language: counts of repeats are not counted, `x{3,5}` is read as `x+`. Whoever asks
leaves out what the engine does not agree with.

Each production becomes a small automaton, a net, whose edges are symbols and terminals. An item
(node, origin) in the set of a place says: a text of the node's rule may begin at `origin`, and what
comes before the place leads to `node`. A terminal is matched from where it begins to every place
where it may end, so there are sets only where terminals end.

    sum: sum "+" NUMBER | NUMBER     text 1+     path: sum     could come: NUMBER

Cost: O(n) for most grammars that people write, O(n^3) for ambiguous ones; past a number of steps
the chart gives up.
Source: Earley, "An efficient context-free parsing algorithm" (1970); Aycock and Horspool,
"Practical Earley parsing" (2002), for rules that may be empty; Cooper, Harvey and Kennedy, "A
simple, fast dominance algorithm" (2001), for the path.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Sequence as Parts
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from constrain.errors import LimitExceededError
from constrain.frontends.cfg.expressions import (
    Choice,
    Expression,
    Productions,
    Repetition,
    Sequence,
    Symbol,
    Terminal,
)

__all__ = ["Chart", "Could", "Input", "Net", "Piece", "check_steps"]

_MOST_STEPS: Final = 800_000
"""Steps after which a chart gives up: some seconds."""

_MOST_EDGES: Final = 1_000_000


def check_steps(given: int, allowed: int) -> None:
    """Give up on what would take too long.

    Raises:
        LimitExceededError: `given` is more than allowed.
    """
    if given > allowed:
        where = "explaining where a text stands"
        raise LimitExceededError("max_source_nodes", given=given, allowed=allowed, where=where)


class Edge(NamedTuple):
    """Where a net goes on after a symbol or a terminal."""

    label: str | Terminal
    target: int


class Net:
    """The productions of a grammar as automata without empty edges.

    Args:
        productions: The grammar.
        nullable: Whether a terminal may be empty.

    Attributes:
        start_of: The first node of each rule.
        rule_of: The rule of each node.
        edges: Of each node.
        is_final: Whether a text of the rule may end at a node.
        nullable: The rules that may be empty.
    """

    def __init__(
        self, productions: Productions, nullable: Callable[[Terminal], bool] | None = None
    ) -> None:
        self._terminal_nullable = nullable or (lambda terminal: terminal.term.nullable)
        self.start_of: dict[str, int] = {}
        self.rule_of: list[str] = []
        self.edges: list[list[Edge]] = []
        self._empty: list[list[int]] = []
        ends = {}
        for name, expression in productions.items():
            self.start_of[name] = self._node(name)
            ends[name] = self._add(name, expression, self.start_of[name])
        self.is_final = bytearray(len(self.edges))
        for end in ends.values():
            self.is_final[end] = True
        self._close()
        self.nullable = self._find_nullable()

    def _node(self, rule: str) -> int:
        self.rule_of.append(rule)
        self.edges.append([])
        self._empty.append([])
        return len(self.edges) - 1

    def _add(self, rule: str, root: Expression, start: int) -> int:
        """Add the automaton of an expression; the node where it ends."""
        end = self._node(rule)
        todo = [(root, start, end)]
        while todo:
            expression, a, b = todo.pop()
            if isinstance(expression, Symbol):
                self.edges[a].append(Edge(expression.name, b))
            elif isinstance(expression, Terminal):
                self.edges[a].append(Edge(expression, b))
            elif isinstance(expression, Choice):
                todo += [(member, a, b) for member in reversed(expression.members)]
            elif isinstance(expression, Sequence):
                for part in expression.parts[:-1]:
                    between = self._node(rule)
                    todo.append((part, a, between))
                    a = between
                if expression.parts:
                    todo.append((expression.parts[-1], a, b))
                else:
                    self._empty[a].append(b)
            else:
                todo += self._repeat(rule, expression, a, b)
        return end

    def _repeat(
        self, rule: str, expression: Repetition, a: int, b: int
    ) -> list[tuple[Expression, int, int]]:
        if expression.lo == 0:
            self._empty[a].append(b)
        if expression.hi == 0:
            return []
        if expression.hi == 1:
            return [(expression.body, a, b)]
        first, last = self._node(rule), self._node(rule)
        self._empty[a].append(first)
        self._empty[last] += [first, b]
        return [(expression.body, first, last)]

    def _close(self) -> None:
        """Give every node the edges of the nodes that empty edges lead to."""
        own = [list(edges) for edges in self.edges]
        final = bytes(self.is_final)
        num_edges = 0
        for node, empty in enumerate(self._empty):
            found = dict.fromkeys(empty)
            todo = list(found)
            while todo:
                for after in self._empty[todo.pop()]:
                    if after not in found:
                        found[after] = None
                        todo.append(after)
            edges = dict.fromkeys(own[node])
            for after in found:
                edges.update(dict.fromkeys(own[after]))
                self.is_final[node] |= final[after]
            self.edges[node] = list(edges)
            num_edges += len(edges) + len(found)
            check_steps(num_edges, _MOST_EDGES)

    def _find_nullable(self) -> set[str]:
        found: set[str] = set()
        while True:
            new = {r for r in self.start_of if r not in found and self._is_null(r, found)}
            if not new:
                return found
            found |= new

    def _is_null(self, rule: str, known: set[str]) -> bool:
        todo = [self.start_of[rule]]
        seen = set(todo)
        while todo:
            node = todo.pop()
            if self.is_final[node]:
                return True
            for label, target in self.edges[node]:
                empty = label in known if isinstance(label, str) else self._terminal_nullable(label)
                if empty and target not in seen:
                    seen.add(target)
                    todo.append(target)
        return False


class Input(Protocol):
    """What a chart reads. A place is an int from 0 to `end`."""

    @property
    def end(self) -> int:
        """The last place, where what could come is asked for."""
        ...

    def ends(self, terminal: Terminal, place: int) -> Iterable[int]:
        """The places where a terminal that begins at a place may end."""
        ...

    def is_open(self, terminal: Terminal, place: int) -> bool:
        """Whether a terminal that begins at a place could go on past the end."""
        ...

    def symbol(self, place: int) -> str | None:
        """A rule whose text is known to be what comes at a place, up to the next one."""
        ...


_Begun = tuple[str, int]  # a rule and where it began


class Piece(NamedTuple):
    """A part of a text that was read: a rule or terminal, and its places."""

    label: str | Terminal
    start: int
    end: int


class Could(NamedTuple):
    """A terminal that could go on at the end.

    Attributes:
        terminal: The terminal.
        place: Where it began; the end, if it has not begun.
        node: Of the net, where it begins.
        origin: Where the rule of the node began.
    """

    terminal: Terminal
    place: int
    node: int
    origin: int


@dataclass(slots=True)
class _Set:
    """The items of one place.

    Attributes:
        items: (node, origin), in order.
        waiting: By symbol, the items with an edge for it.
        completed: (rule, origin) of all that end here.
    """

    items: dict[tuple[int, int], None]
    waiting: dict[str, list[tuple[int, int, int]]]
    completed: dict[_Begun, None]


class Chart:
    """A text read by a net.

    Args:
        net: The grammar.
        start: Its start symbol.
        text: The text.
    """

    def __init__(self, net: Net, start: str, text: Input) -> None:
        self._net = net
        self._start = start
        self._text = text
        self._sets: dict[int, _Set] = {}
        self._places: list[int] = []
        self._todo: dict[int, list[tuple[int, int]]] = {}
        self._could: list[Could] = []
        self._ended: dict[_Begun, list[int]] = {}
        self._steps = 0

    def read(self) -> None:
        """Read the whole text.

        Raises:
            LimitExceededError: That takes too many steps.
        """
        self._put(0, self._net.start_of[self._start], 0)
        while self._places:
            self._read_at(heapq.heappop(self._places))

    def _put(self, place: int, node: int, origin: int) -> None:
        here = self._sets.get(place)
        if here is None:
            here = self._sets[place] = _Set({}, {}, {})
        item = (node, origin)
        if item in here.items:
            return
        here.items[item] = None
        todo = self._todo.get(place)
        if todo is None:
            todo = self._todo[place] = []
            heapq.heappush(self._places, place)
        todo.append(item)

    def _read_at(self, place: int) -> None:
        net, todo = self._net, self._todo[place]
        here = self._sets[place]
        known = self._text.symbol(place)
        scanned: dict[Terminal, tuple[list[int], bool]] = {}
        for node, origin in todo:  # it grows on the way
            self._steps += 1 + len(net.edges[node])
            check_steps(self._steps, _MOST_STEPS)
            if net.is_final[node]:
                self._complete(place, net.rule_of[node], origin)
            for label, target in net.edges[node]:
                if isinstance(label, str):
                    here.waiting.setdefault(label, []).append((node, origin, target))
                    self._put(place, net.start_of[label], place)
                    if label in net.nullable:
                        self._put(place, target, origin)
                    if label == known:
                        self._put(place + 1, target, origin)
                    continue
                found = scanned.get(label)
                if found is None:
                    ends = list(self._text.ends(label, place))
                    found = scanned[label] = (ends, self._text.is_open(label, place))
                    self._steps += 1 + len(ends)
                for end in found[0]:
                    self._put(end, target, origin)
                if found[1]:
                    self._could.append(Could(label, place, node, origin))
        del self._todo[place]

    def _complete(self, place: int, rule: str, origin: int) -> None:
        key = (rule, origin)
        here = self._sets[place]
        if key in here.completed:
            return
        here.completed[key] = None
        self._ended.setdefault(key, []).append(place)
        waiting = self._sets[origin].waiting.get(rule, ())
        self._steps += len(waiting)
        for _, above, target in list(waiting):
            self._put(place, target, above)

    def could(self) -> list[Could]:
        """The terminals that could go on at the end, those that have begun first."""
        return sorted(self._could, key=lambda could: could.place == self._text.end)

    def path(self, could: Iterable[Could], before: int | None = None) -> list[str]:
        """The rules that all ways to some terminals are inside of, outermost first.

        The start symbol is always the first.

        Args:
            could: The terminals.
            before: Rules that have begun here or later do not count; the end, if None.
        """
        end = self._text.end if before is None else before
        above = self._above(dict.fromkeys((self._net.rule_of[c.node], c.origin) for c in could))
        path = [rule for rule, origin in above if origin < end]
        return path or [self._start]

    def _above(self, rules: Iterable[_Begun]) -> list[_Begun]:
        """What all ways from some rules to the start symbol go through, the start first."""
        sink, root = ("", -1), (self._start, 0)
        parents: dict[_Begun, list[_Begun]] = {sink: list(rules)}
        todo = list(parents[sink])
        while todo:
            rule = todo.pop()
            if rule in parents:
                continue
            waiting = self._sets[rule[1]].waiting.get(rule[0], ())
            found = dict.fromkeys((self._net.rule_of[node], o) for node, o, _ in waiting)
            parents[rule] = list(found)
            todo += found
        if root not in parents:
            return []
        return _dominators(parents, sink, root)

    def earliest(self, rule: str) -> int:
        """Where the longest text of a rule begins that stops at the end; the end if none does."""
        last = self._sets.get(self._text.end)
        found = [] if last is None else [o for name, o in last.completed if name == rule]
        return min(found, default=self._text.end)

    def derived(self, rule: str, start: int, end: int) -> list[Piece] | None:
        """What a text of a rule is made of, in one of maybe several ways; None if it is none."""
        net = self._net
        first = (net.start_of[rule], start)
        came: dict[tuple[int, int], tuple[tuple[int, int], str | Terminal] | None] = {first: None}
        todo = [first]
        last = None
        while todo:
            here = todo.pop()
            node, place = here
            if place == end and net.is_final[node]:
                last = here
                break
            for label, target in reversed(net.edges[node]):
                for after in self._ends_of(label, place):
                    there = (target, after)
                    if after <= end and there not in came and self._has(target, start, after):
                        came[there] = (here, label)
                        todo.append(there)
        if last is None:
            return None
        pieces = []
        while (step := came[last]) is not None:
            before, label = step
            pieces.append(Piece(label, before[1], last[1]))
            last = before
        return pieces[::-1]

    def _has(self, node: int, origin: int, place: int) -> bool:
        found = self._sets.get(place)
        return found is not None and (node, origin) in found.items

    def _ends_of(self, label: str | Terminal, place: int) -> Iterable[int]:
        if isinstance(label, Terminal):
            return self._text.ends(label, place)
        return self._ended.get((label, place), ())


def _dominators(
    successors: Mapping[_Begun, Parts[_Begun]], entry: _Begun, target: _Begun
) -> list[_Begun]:
    """The nodes that all ways from an entry to a target go through, the target first."""
    order = _in_postorder(successors, entry)
    number = {node: n for n, node in enumerate(order)}
    before: dict[_Begun, list[_Begun]] = {node: [] for node in order}
    for node in order:
        for after in successors[node]:
            before[after].append(node)
    above = {entry: entry}
    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            ways = [b for b in before[node] if b in above]
            found = ways[0]
            for other in ways[1:]:
                while found != other:
                    while number[found] < number[other]:
                        found = above[found]
                    while number[other] < number[found]:
                        other = above[other]
            if above.get(node) != found:
                above[node] = found
                changed = True
    path = [target]
    while path[-1] != entry:
        path.append(above[path[-1]])
    return path[:-1]


def _in_postorder(successors: Mapping[_Begun, Parts[_Begun]], entry: _Begun) -> list[_Begun]:
    """All nodes, each after those that it leads to, but for circles; the entry is the last."""
    order = []
    seen = {entry}
    path = [(entry, iter(successors[entry]))]
    while path:
        node, rest = path[-1]
        after = next((a for a in rest if a not in seen), None)
        if after is None:
            order.append(node)
            path.pop()
        else:
            seen.add(after)
            path.append((after, iter(successors[after])))
    return order
