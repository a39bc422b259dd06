"""Indentation: lark's `Indenter`, which makes lexemes of how far lines are indented.

A newline lexeme ends with the blanks before the next line. Their width against a stack of widths
gives a lexeme that begins a block, some that end blocks, or none. Inside parentheses newlines are
dropped. So where a text stands is the parser's stack, the widths of the open blocks, and the number
of open parentheses.

The width is counted while the newline is read: `Newlines` makes a rule for each state of the
newline's automaton and each width, as texts get there. Where no block may begin, widths that are
deeper than all open blocks are one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final
from weakref import WeakValueDictionary

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import Rule, Term, alt, cat
from constrain.frontends.lark.lalr import Lalr, LalrGroup, Split
from constrain.frontends.lark.scanner import Place, Scanner, Spot
from constrain.frontends.lark.stacks import Group, Pushed, Stack, Unchanged
from constrain.frontends.lark.table import END
from constrain.frontends.lark.threads import Machine

__all__ = ["COLUMN_SETS", "IndentedLalr", "IndentedStack", "Newlines"]

_NEWLINE: Final = CodepointSet.of("\n")
_SPACE: Final = CodepointSet.of(" ")
_TAB: Final = CodepointSet.of("\t")
COLUMN_SETS: Final = (_NEWLINE, _SPACE, _TAB)
"""What a lexer must tell apart so that widths can be counted."""


class IndentedStack(Stack):
    """A parser's stack, with the open blocks and parentheses.

    Attributes:
        stack: The parser's own.
        widths: Of the open blocks, the innermost last; the first is 0.
        parentheses: How many are open.
    """

    __slots__ = ("parentheses", "stack", "widths")

    def __init__(self, stack: Stack, widths: tuple[int, ...], parentheses: int) -> None:
        super().__init__(stack.below, stack.state, stack.viable)
        self.stack = stack
        self.widths = widths
        self.parentheses = parentheses


_Stacks = frozenset[Stack]


class IndentedLalr:
    """lark's LALR parser behind an `Indenter`.

    Args:
        parser: The parser.
        indenter: A lark `Indenter`; only what its class says is read.

    Attributes:
        parser: The parser.
        newline: The terminal that ends lines.
        tab: The width of a tab.
        opens: Terminals that open parentheses.
        closes: Terminals that close them.
        indent: The terminal that begins a block.
        dedent: The terminal that ends a block.
    """

    def __init__(self, parser: Lalr, indenter: Any) -> None:  # noqa: ANN401 - a lark Indenter
        self.parser = parser
        self.newline: str = indenter.NL_type
        self.tab: int = indenter.tab_len
        self.opens = frozenset(indenter.OPEN_PAREN_types)
        self.closes = frozenset(indenter.CLOSE_PAREN_types)
        self.indent: str = indenter.INDENT_type
        self.dedent: str = indenter.DEDENT_type
        self.line_steps: dict[Scanner, LineSteps] = {}
        self._made: WeakValueDictionary[tuple[Stack, tuple[int, ...], int], IndentedStack] = (
            WeakValueDictionary()
        )
        self._rows: dict[frozenset[str], frozenset[str]] = {}
        self._names: dict[tuple[frozenset[str], bool], frozenset[str]] = {}
        self._lock = threading.Lock()
        self._dropped: frozenset[str | None] = frozenset((self.newline,))
        parser.enders = frozenset((END, self.dedent))

    def make(self, stacks: _Stacks, widths: tuple[int, ...], parentheses: int) -> _Stacks:
        """The parser's own stack with the open blocks and parentheses; none for none."""
        if not stacks:
            return stacks
        (stack,) = stacks
        key = (stack, widths, parentheses)
        with self._lock:
            found = self._made.get(key)
            if found is None:
                found = self._made[key] = IndentedStack(stack, widths, parentheses)
        return frozenset((found,))

    def start(self) -> _Stacks:
        """The stack before any lexeme."""
        return self.make(self.parser.start(), (0,), 0)

    def feed_all(self, stacks: _Stacks, terminals: Iterable[str]) -> dict[str, _Stacks]:
        """For each lexeme that can come, the stack after it; a newline only where it is dropped."""
        here = _only(stacks)
        found = {}
        names = [name for name in terminals if name != self.newline]
        for name, after in self.parser.feed_all(frozenset((here.stack,)), names).items():
            parentheses = here.parentheses + (name in self.opens) - (name in self.closes)
            if parentheses >= 0:
                found[name] = self.make(after, here.widths, parentheses)
        if here.parentheses:
            found[self.newline] = stacks
        return found

    def waits_for(self, stacks: _Stacks) -> frozenset[str]:
        """Terminals but for which none can come."""
        row = self.parser.waits_for(frozenset((_only(stacks).stack,)))
        found = self._rows.get(row)
        if found is None:
            found = self._rows[row] = row | {self.newline}
        return found

    def groups(self, stacks: _Stacks, terminals: frozenset[str]) -> Sequence[Group]:
        """Those of some lexemes that can come; a newline only where it is dropped."""
        here = _only(stacks)
        key = (terminals, here.parentheses > 0)
        names = self._names.get(key)
        if names is None:
            names = terminals - {self.newline}
            names = self._names[key] = names if here.parentheses else names - self.closes
        found: list[Group] = [
            IndentedGroup(self, here, *each) for each in self.parser.run(here.stack, names)
        ]
        if here.parentheses:
            found.append(Unchanged(stacks, self._dropped, self.accepts(stacks)))
        return found

    def accepts(self, stacks: _Stacks) -> bool:
        """Whether the text may end here: blocks that are open end with it."""
        here = _only(stacks)
        after: _Stacks = frozenset((here.stack,))
        for _ in here.widths[1:]:
            after = self.parser.feed(after, self.dedent)
            if not after:
                return False
        return self.parser.accepts(after)

    def counts(self, stacks: _Stacks) -> bool:
        """Whether a newline here says how far the next line is indented."""
        return not _only(stacks).parentheses

    def feed_newline(self, stacks: _Stacks) -> _Stacks:
        """The stack after a newline, before what follows from the width of its blanks."""
        here = _only(stacks)
        return self.make(self.parser.feed(frozenset((here.stack,)), self.newline), here.widths, 0)

    def feed_width(self, stacks: _Stacks, width: int) -> _Stacks:
        """The stack after the blanks that follow a newline."""
        here = _only(stacks)
        after: _Stacks = frozenset((here.stack,))
        widths = here.widths
        if width > widths[-1]:
            after = self.parser.feed(after, self.indent)
            return self._going_on(self.make(after, (*widths, width), 0))
        while after and width < widths[-1]:
            widths = widths[:-1]
            after = self.parser.feed(after, self.dedent)
        return self._going_on(self.make(after, widths, 0)) if width == widths[-1] else frozenset()

    def _going_on(self, stacks: _Stacks) -> _Stacks:
        """The stack, unless only the beginning or end of a block could come next."""
        if not stacks or self.accepts(stacks):
            return stacks
        below = frozenset((_only(stacks).stack,))
        drawn = (self.indent, self.dedent)
        names = [name for name in self.parser.row(_only(stacks).state) if name not in drawn]
        return stacks if self.parser.takes(below, names) else frozenset()

    def deepest(self, stacks: _Stacks) -> int:
        """A width from which on all begin a block."""
        return _only(stacks).widths[-1] + 1


class IndentedGroup(LalrGroup):
    """Lexemes before which the parser reduces the same; no newlines.

    Args:
        indented: The parser.
        here: The stack before them.
        stack: What is left of the parser's own.
        pushed: States to push on it.
        split: What is shifted then.
    """

    __slots__ = ("_indented", "_parentheses", "_widths")

    def __init__(
        self,
        indented: IndentedLalr,
        here: IndentedStack,
        stack: Stack,
        pushed: Pushed,
        split: Split,
    ) -> None:
        super().__init__(indented.parser, stack, pushed, split)
        self._indented = indented
        self._widths = here.widths
        self._parentheses = here.parentheses

    def after(self, terminal: str | None) -> frozenset[Stack]:
        """See `Group`."""
        indented = self._indented
        open_now = self._parentheses + (terminal in indented.opens) - (terminal in indented.closes)
        return indented.make(super().after(terminal), self._widths, open_now)

    def may_end(self, terminal: str | None) -> bool:
        """See `Group`."""
        return terminal in self._split.ending and self._indented.accepts(self.after(terminal))

    def known(self) -> dict[Any, Any]:
        """See `Group`."""
        key = (self._split, self._pushed, self._widths, self._parentheses)
        return self._stack.known_of(key)


def _only(stacks: _Stacks) -> IndentedStack:
    (stack,) = stacks
    assert isinstance(stack, IndentedStack)
    return stack


class LineSteps:
    """The places of one lexer that lead to a newline lexeme, with what widths depend on told apart.

    Args:
        machine: Of the grammar.
        scanner: The lexer.
        newline: The newline terminal.
        tab: The width of a tab.
    """

    def __init__(self, machine: Machine, scanner: Scanner, newline: str, tab: int) -> None:
        self._scanner = scanner
        self._newline = newline
        self._tab = tab
        self._masks = [machine.atoms.mask(points) for points in COLUMN_SETS]
        self._spots: dict[Place, tuple[Spot, ...]] = {}
        self._split: dict[Place, list[tuple[Place, int, tuple[int, ...]]]] = {}

    def spots(self, place: Place) -> tuple[Spot, ...]:
        """The spots after a newline that ends at a place."""
        found = self._spots.get(place)
        if found is None:
            ends = self._scanner.at(place)[0]
            found = tuple([end.spot for end in ends if end.name == self._newline])
            self._spots[place] = found
        return found

    def steps(self, place: Place, width: int) -> dict[tuple[Place, int], int]:
        """Where each set of atoms leads, with the width after it; -1: no line break yet."""
        found: dict[tuple[Place, int], int] = {}
        for target, line_break, (spaces, tabs, others) in self._parts(place):
            for part, after in (
                (line_break, 0),
                (spaces, width + 1 if width >= 0 else width),
                (tabs, width + self._tab if width >= 0 else width),
                (others, width),
            ):
                if part:
                    key = (target, after)
                    found[key] = found.get(key, 0) | part
        return found

    def _parts(self, place: Place) -> list[tuple[Place, int, tuple[int, ...]]]:
        found = self._split.get(place)
        if found is None:
            line_break, space, tab = self._masks
            others = ~(line_break | space | tab)
            found = self._split[place] = [
                (target, mask & line_break, (mask & space, mask & tab, mask & others))
                for target, mask in self._scanner.at(place)[1].items()
                if any([end.name == self._newline for end in self._scanner.reached(target)])
            ]
        return found


class Newlines:
    """What may follow a newline that one lexer reads, by the width that it ends with.

    Stacks on which a newline leads to the same stack have this in common.

    Args:
        machine: Of the grammar.
        parser: What takes the newline.
        scanner: The lexer.
        stacks: After the newline, before what follows from the width.
        boundary: The rule of the boundary at some stacks and spot, if a text can go on there.
        share: Share what widths have in common.

    Attributes:
        parser: What takes the newline.
        stacks: After the newline.
    """

    def __init__(
        self,
        machine: Machine,
        parser: IndentedLalr,
        scanner: Scanner,
        stacks: _Stacks,
        boundary: Callable[[_Stacks, Spot], Rule | None],
        *,
        share: bool,
    ) -> None:
        self._machine = machine
        self.parser = parser
        self.stacks = stacks
        self._boundary = boundary
        self._scanner = scanner
        steps = parser.line_steps.get(scanner)
        if steps is None:
            steps = LineSteps(machine, scanner, parser.newline, parser.tab)
            steps = parser.line_steps.setdefault(scanner, steps)
        self._lines = steps
        self._rules: dict[tuple[Place, int], Rule] = {}
        self._alive: dict[tuple[Place, int], bool] = {}
        self._after: dict[int, _Stacks] = {}
        self._deepest = parser.deepest(stacks)
        self._most: int | None = None
        if share and not parser.feed_width(stacks, self._deepest):
            self._most = self._deepest  # no block can begin, however far a line is indented

    def term(self, spot: Spot) -> Term:
        """Every newline lexeme at a spot with what follows it; empty if none can come."""
        return self._members(self._scanner.root(spot), -1)

    def _then(self, place: Place, width: int) -> list[Rule]:
        """The boundaries after a newline that ends at a place."""
        spots = self._lines.spots(place) if width >= 0 else ()
        if not spots:
            return []
        after = self._after.get(width)
        if after is None:
            after = self._after[width] = self.parser.feed_width(self.stacks, width)
        rules = [self._boundary(after, spot) for spot in spots] if after else []
        return [rule for rule in rules if rule is not None]

    def _is_alive(self, place: Place, width: int) -> bool:
        """Whether some newline lexeme goes on from here."""
        deepest = self._deepest
        first = (place, min(width, deepest))
        if first not in self._alive:
            seen = {first}
            todo = [first]
            found = False
            while todo and not found:
                at, column = todo.pop()
                found = bool(self._then(at, column))
                for target, after in self._lines.steps(at, column):
                    key = (target, min(after, deepest))
                    if key not in seen:
                        seen.add(key)
                        todo.append(key)
            self._alive[first] = found
        return self._alive[first]

    def _members(self, place: Place, width: int) -> Term:
        members: list[Term] = []
        steps = self._lines.steps(place, width)
        if self._most is not None and width >= self._most - self.parser.tab:
            counted: dict[tuple[Place, int], int] = {}
            for (target, after), mask in steps.items():
                key = (target, min(after, self._most))
                counted[key] = counted.get(key, 0) | mask
            steps = counted
        for (target, after), mask in steps.items():
            if self._is_alive(target, after):
                spelled = self._machine.atoms.spell(mask)
                members.append(cat(spelled, self._rule(target, after)))
        return alt([*members, *self._then(place, width)])

    def _rule(self, place: Place, width: int) -> Rule:
        key = (place, width)
        found = self._rules.get(key)
        if found is None:
            nullable = any([rule.nullable for rule in self._then(place, width)])
            made = Rule("newline", partial(self._members, place, width), nullable=nullable)
            found = self._rules.setdefault(key, made)
        return found
