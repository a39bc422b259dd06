"""A pattern with assertions, run symbolically: anchors, word boundaries, lookahead and lookbehind.

Where a pattern stands is a *configuration*:

- a **cell**: what is still to be matched, a list of nodes from here to the end;
- the **left memory**: what assertions further on may ask about the text before. A few bits about
  the last code point (is it a word character? is this the start of the text?), and for each longer
  lookbehind x the places where `any*x` may be;
- **obligations**: what lookaheads demand of the text to come. An obligation is a set of
  configurations, one of which must match a beginning of the rest of the text, or, if it is negated,
  none of which may.

Reading a code point moves all three. `assertions` makes terms of it.

Two shortcuts keep those small. A part without assertions is one term, with its counters, wherever
nothing to its right asks about its last code point (or the answer is the same for all that may be
the last) and no obligation is open. And a long lookahead outside of loops is an intersection:
`(?=x)K` is `K & x any*`, `(?!x)K` is `K & ~(x any*)`.

Cost: O(configurations), times the pieces into which obligations cut a class. A repeat whose body
has assertions, or that stands between the start and a long lookbehind, is unrolled.
`Limits.max_source_nodes` bounds it.
Source: alternating automata for lookahead, as in Miyazaki and Minamide, "Derivatives of regular
expressions with lookahead" (2019); the left memory is a deterministic automaton run alongside.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import EMPTY, EPS, Term, non_nullable, repeat
from constrain.algebra.utf8 import Alphabet
from constrain.frontends.regex.cells import END, MARK, TAIL, Cell, Cells
from constrain.frontends.regex.nodes import (
    Alternation,
    Chars,
    Concat,
    Look,
    RegexNode,
    Repeat,
    repetition,
)
from constrain.frontends.regex.plain import join
from constrain.frontends.regex.plain_parts import Last, PlainParts, Work
from constrain.frontends.regex.resolve import AT_START, Behind, Left, Resolved
from constrain.limits import Limits

__all__ = ["Config", "Machine"]


class Config:
    """A configuration. One object for equal ones within a machine; `number` orders them."""

    __slots__ = ("cell", "left", "number", "obligations", "seen")

    def __init__(
        self, number: int, cell: Cell, left: int, obligations: Obligations, seen: Seen
    ) -> None:
        self.number = number
        self.cell = cell
        self.left = left
        self.obligations = obligations
        self.seen = seen


class Obligation:
    """One of `configs` must match a beginning of the rest; none may, if negative."""

    __slots__ = ("configs", "negative")

    def __init__(self, negative: bool, configs: frozenset[Config]) -> None:
        self.negative = negative
        self.configs = configs


Obligations = frozenset[Obligation]
Seen = tuple[frozenset[Config] | None, ...]  # for each long lookbehind: where `any*x` may be
_FREE: Final[Obligations] = frozenset()


@dataclass(slots=True)
class Closure:
    """What a configuration can do before it reads a code point.

    Attributes:
        accepting: The text may end here.
        universal: Any text may follow.
        steps: A code point out of a set, the cell and the obligations after which it is read.
        blocks: A whole part as a term, and the configuration behind it.
        conjunctions: (rest, negative, lookahead): the rest, if the lookahead matches or does not.
        marks: Obligations under which a lookbehind has matched.
    """

    accepting: bool = False
    universal: bool = False
    steps: list[tuple[CodepointSet, Cell, Obligations]] = field(default_factory=list)
    blocks: list[tuple[Term, Config]] = field(default_factory=list)
    conjunctions: list[tuple[Config, bool, Config]] = field(default_factory=list)
    marks: list[Obligations] = field(default_factory=list)


class Machine:
    """Makes configurations and says what each can do. State of one lowering only.

    Attributes:
        spend: Counts steps of work; see `Work`.
        cells: Of the pattern.
        plain: What is known of its parts without assertions.
        root: The configuration at the start of a text.
    """

    def __init__(self, resolved: Resolved, alphabet: Alphabet, limits: Limits) -> None:
        self._resolved = resolved
        self.spend = Work(limits).spend
        self.cells = Cells(resolved)
        self.plain = PlainParts(resolved, alphabet, self.spend)
        self._configs: dict[tuple[object, ...], Config] = {}
        self._obligations: dict[tuple[bool, frozenset[Config]], Obligation] = {}
        self._closures: dict[tuple[Config, bool], Closure] = {}
        self._cuts: dict[Obligations, frozenset[CodepointSet]] = {}
        self._start_seen: Seen = (None,) * len(resolved.behind)
        for i, body in enumerate(resolved.behind):  # inner ones come first
            anywhere = repetition(Chars(CodepointSet.ANY), 0, None)
            mark = self.cells.cell(body, MARK, inside=True)
            cell = self.cells.cell(anywhere, mark, inside=True)
            start = frozenset([self.config(cell, AT_START, _FREE, self._start_seen)])
            self._start_seen = (*self._start_seen[:i], start, *self._start_seen[i + 1 :])
        root = self.cells.cell(resolved.root, END, inside=False)
        self.root = self.config(root, AT_START, _FREE, self._start_seen)

    def config(self, cell: Cell, left: int, obligations: Obligations, seen: Seen) -> Config:
        """The configuration at a cell; what nothing further on asks for is left out."""
        left &= cell.left
        kept = tuple([s if cell.behind >> i & 1 else None for i, s in enumerate(seen)])
        key = (cell, left, obligations, kept)
        made = self._configs.get(key)
        if made is None:
            number = len(self._configs)
            made = self._configs[key] = Config(number, cell, left, obligations, kept)
        return made

    def oblige(
        self, obligations: Obligations, negative: bool, configs: Iterable[Config]
    ) -> Obligations | None:
        """The obligations with one more; None if it cannot be met."""
        alive = []
        self.spend(len(obligations) // 8)  # the union below copies them
        for config in configs:
            closure = self.closure(config, main=False)
            if closure.universal:
                return None if negative else obligations
            if closure.accepting or closure.steps:
                alive.append(config)
        if not alive:
            return obligations if negative else None
        key = (negative, frozenset(alive))
        made = self._obligations.get(key)
        if made is None:
            made = self._obligations[key] = Obligation(*key)
        return obligations | {made}

    # Reading nothing.

    def closure(self, config: Config, *, main: bool) -> Closure:
        """What `config` can do next.

        Args:
            config: Where the pattern stands.
            main: Parts without assertions may be read as a whole, and long lookaheads be
                intersections; else everything goes code point by code point.
        """
        made = self._closures.get((config, main))
        if made is None:
            made = self._closures[config, main] = _Closing(self, config, main).run()
            self.spend(1 + len(made.steps))
        return made

    def meets_end(self, obligations: Obligations) -> bool:
        """Whether all obligations are met if the text ends here."""
        return all(
            any(self.closure(c, main=False).accepting for c in o.configs) != o.negative
            for o in obligations
        )

    # Reading one code point.

    def targets(
        self, points: CodepointSet, cell: Cell, obligations: Obligations, seen: Seen
    ) -> list[tuple[CodepointSet, Config]]:
        """Where reading one of `points` leads: disjoint sets, each with its target."""
        cuts = set(self._cut(obligations)) | self._left_cuts(cell)
        for state in seen:
            cuts.update(self._cut_all(state or ()))
        found: dict[Config, CodepointSet] = {}
        for piece in _refine(points, cuts):
            self.spend(1)
            point = piece.ranges[0][0]
            kept = self._step_obligations(obligations, point)
            if kept is not None:
                left = self._resolved.left_bits(point)
                target = self.config(cell, left, kept, self._step_seen(seen, point))
                found[target] = found.get(target, CodepointSet.NONE) | piece
        return [(p, t) for t, p in found.items()]

    def _left_cuts(self, cell: Cell) -> set[CodepointSet]:
        sets = self._resolved.left_sets
        return {s for i, s in enumerate(sets) if cell.left >> (i + 1) & 1}

    def _cut(self, obligations: Obligations) -> frozenset[CodepointSet]:
        """The sets of code points that obligations tell apart."""
        made = self._cuts.get(obligations)
        if made is None:
            configs = [c for o in obligations for c in o.configs]
            made = self._cuts[obligations] = frozenset(self._cut_all(configs))
        return made

    def _cut_all(self, configs: Iterable[Config]) -> set[CodepointSet]:
        cuts: set[CodepointSet] = set()
        for config in configs:
            for points, cell, inner in self.closure(config, main=False).steps:
                cuts.add(points)
                cuts |= self._left_cuts(cell)
                if inner:
                    cuts |= self._cut(inner)
            for state in config.seen:
                cuts |= self._cut_all(state or ())
        return cuts

    def _step_obligations(self, obligations: Obligations, point: int) -> Obligations | None:
        done: Obligations | None = _FREE
        for obligation in sorted(obligations, key=_first_number):
            if done is not None:
                after = self._step_all(obligation.configs, point)
                done = self.oblige(done, obligation.negative, after)
        return done

    def _step_seen(self, seen: Seen, point: int) -> Seen:
        return tuple([None if s is None else frozenset(self._step_all(s, point)) for s in seen])

    def _step_all(self, configs: Iterable[Config], point: int) -> list[Config]:
        """All configurations to which a code point leads from `configs`."""
        left = self._resolved.left_bits(point)
        after: dict[Config, None] = {}
        for config in sorted(configs, key=_number):
            self.spend(1)
            steps = self.closure(config, main=False).steps
            seen = self._step_seen(config.seen, point) if steps else config.seen
            for points, cell, inner in steps:
                if points.contains(point):
                    kept = self._step_obligations(inner, point)
                    if kept is not None:
                        after[self.config(cell, left, kept, seen)] = None
        return list(after)


def _number(config: Config) -> int:
    return config.number


def _first_number(obligation: Obligation) -> tuple[int, bool]:
    return min([c.number for c in obligation.configs]), obligation.negative


def _refine(points: CodepointSet, cuts: Iterable[CodepointSet]) -> list[CodepointSet]:
    """Cut a set so that each piece lies inside or outside of each cut."""
    pieces = [points] if points else []
    for cut in sorted(cuts, key=lambda c: c.ranges):
        parts = [half for p in pieces for half in (p & cut, p - cut)]
        pieces = [p for p in parts if p]
    return pieces


class _Closing:
    """One walk over the cells that a configuration reaches before it reads a code point."""

    def __init__(self, machine: Machine, config: Config, main: bool) -> None:
        self._machine = machine
        self._cells = machine.cells
        self._plain = machine.plain
        self._config = config
        self._main = main
        self._result = Closure()
        self._todo: list[tuple[Cell, Obligations]] = [(config.cell, config.obligations)]
        self._visited: dict[object, list[tuple[float, Obligations]]] = {}

    def run(self) -> Closure:
        """Walk; what is pushed last is done first."""
        while self._todo:
            cell, obligations = self._todo.pop()
            if self._is_new(cell, obligations):
                self._machine.spend(1)
                self._visit(cell, obligations)
        return self._result

    def _is_new(self, cell: Cell, obligations: Obligations) -> bool:
        """False if the cell was met with no more obligations (or the repeat with no less left).

        The text is at the same place, so nothing new can come of it. This also ends the empty
        rounds of a loop.
        """
        hi = 0.0
        key: object = cell
        if isinstance(cell.node, Repeat) and cell.lo == 0:
            key = (cell.node, cell.next, cell.inside)
            hi = float("inf") if cell.hi is None else cell.hi
        met = self._visited.setdefault(key, [])
        self._machine.spend(len(met) // 16)
        if any(h >= hi and o <= obligations for h, o in met):
            return False
        met.append((hi, obligations))
        return True

    def _push(self, cell: Cell, obligations: Obligations) -> None:
        self._todo.append((cell, obligations))

    def _visit(self, cell: Cell, obligations: Obligations) -> None:
        node, then = cell.node, cell.next
        if node is None or then is None:
            self._end(cell, obligations)
        elif isinstance(node, Chars):
            self._result.steps.append((node.points, then, obligations))
        elif isinstance(node, Concat):
            self._concat(cell, node, then, obligations)
        elif isinstance(node, Alternation):
            if not self._block(cell, node, then, obligations):
                for member in reversed(node.members):
                    self._push(self._cells.cell(member, then, inside=cell.inside), obligations)
        elif isinstance(node, Repeat):
            self._repeat(cell, node, then, obligations)
        elif isinstance(node, Left):
            if bool(self._config.left >> node.bit & 1) != node.negative:
                self._push(then, obligations)
        elif isinstance(node, Behind):
            self._behind(node, then, obligations)
        else:
            assert isinstance(node, Look), node
            self._ahead(cell, node, then, obligations)

    def _end(self, cell: Cell, obligations: Obligations) -> None:
        if cell is MARK:
            self._result.marks.append(obligations)
            return
        if self._machine.meets_end(obligations):
            self._result.accepting = True
        if cell is TAIL:
            if not obligations:
                self._result.universal = True
            self._result.steps.append((CodepointSet.ANY, TAIL, obligations))

    # Parts without assertions, as a whole where that is possible.

    def _may_block(self, cell: Cell, obligations: Obligations) -> bool:
        return self._main and not obligations and not cell.behind

    def _block(self, cell: Cell, node: RegexNode, then: Cell, obligations: Obligations) -> bool:
        """Read a plain node as a whole if nothing asks how it ended; False if it cannot be."""
        if not node.plain or not self._may_block(cell, obligations):
            return False
        left = 0
        if then.left:
            last = self._plain.last_of(node)
            if node.nullable or not self._tells(then, last):
                return False
            left = last[0]
        self._add_block(self._plain.term(node), cell, then, left)
        return True

    def _tells(self, then: Cell, last: Last) -> bool:
        """Whether all that `then` asks of the last code point is known."""
        return not then.left & ~(last[0] | last[1])

    def _add_block(self, term: Term, cell: Cell, then: Cell, left: int = 0) -> None:
        if term.nullable and cell.inside:
            # In a loop a block must read something, else the loop would not be guarded.
            self._push(then, _FREE)
            term = non_nullable(term)
        if term is EPS:
            self._push(then, _FREE)
        elif term is not EMPTY:
            target = self._machine.config(then, left, _FREE, self._config.seen)
            self._result.blocks.append((term, target))

    def _concat(self, cell: Cell, node: Concat, then: Cell, obligations: Obligations) -> None:
        parts, at = node.parts, cell.lo
        if self._may_block(cell, obligations):
            end, solid, last = self._plain.run(node, at)
            left = last[0]
            rest = self._cells.concat(node, end, then, cell.inside)
            if rest.left and not self._tells(rest, last):
                end, left = solid, 0  # something asks how the run ends
                rest = self._cells.concat(node, end, then, cell.inside)
            if end > at:
                term = join([self._plain.term(p) for p in parts[at:end]])
                self._add_block(term, cell, rest, left)
                return
        rest = self._cells.concat(node, at + 1, then, cell.inside)
        self._push(self._cells.cell(parts[at], rest, inside=cell.inside), obligations)

    def _repeat(self, cell: Cell, node: Repeat, then: Cell, obligations: Obligations) -> None:
        lo, hi = cell.lo, cell.hi
        if node.plain and self._may_block(cell, obligations):
            last = self._plain.last_of(node)
            if not then.left:
                self._add_block(repeat(self._plain.term(node.body), lo, hi), cell, then)
            elif not node.body.nullable and self._tells(then, last):
                if lo == 0:
                    self._push(then, _FREE)
                rounds = repeat(self._plain.term(node.body), max(lo, 1), hi)
                self._add_block(rounds, cell, then, last[0])
            else:
                self._repeat_then_last(cell, node, then)
            return
        if lo == 0:
            self._push(then, obligations)
        fewer = None if hi is None else hi - 1
        inside = cell.inside or hi is None
        again = self._cells.repeat(node, max(lo - 1, 0), fewer, then, cell.inside)
        self._push(self._cells.cell(node.body, again, inside=inside), obligations)

    def _repeat_then_last(self, cell: Cell, node: Repeat, then: Cell) -> None:
        """All rounds but the last as a counter, and the last by itself, since it is asked about."""
        if cell.lo == 0:
            self._push(then, _FREE)
        body = self._plain.nonempty(node.body)
        if body is None:
            return
        last = self._cells.cell(body, then, inside=cell.inside)
        fewer = None if cell.hi is None else cell.hi - 1
        rounds = repeat(self._plain.term(body), max(cell.lo - 1, 0), fewer)
        if rounds is EPS:
            self._push(last, _FREE)
        else:
            target = self._machine.config(last, 0, _FREE, self._config.seen)
            self._result.blocks.append((rounds, target))

    # Assertions.

    def _behind(self, node: Behind, then: Cell, obligations: Obligations) -> None:
        machine = self._machine
        matched: dict[Config, None] = {}
        for config in sorted(self._config.seen[node.index] or (), key=_number):
            for marks in machine.closure(config, main=False).marks:
                matched[machine.config(TAIL, 0, marks, config.seen)] = None
        kept = machine.oblige(obligations, node.negative, matched)
        if kept is not None:
            self._push(then, kept)

    def _ahead(self, cell: Cell, node: Look, then: Cell, obligations: Obligations) -> None:
        machine, config = self._machine, self._config
        if self._main and not cell.inside and not self._plain.is_small(node.body):
            rest = machine.config(then, config.left, obligations, config.seen)
            start = self._cells.cell(node.body, TAIL, inside=False)
            ahead = machine.config(start, config.left, _FREE, config.seen)
            self._result.conjunctions.append((rest, node.negative, ahead))
            return
        start = self._cells.cell(node.body, TAIL, inside=True)
        ahead = machine.config(start, config.left, _FREE, config.seen)
        kept = machine.oblige(obligations, node.negative, [ahead])
        if kept is not None:
            self._push(then, kept)
