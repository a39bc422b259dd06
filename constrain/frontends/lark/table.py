"""The LALR(1) table of a grammar that lark has read: what lark's parser would do at each terminal.

Conflicts are settled as lark settles them: a terminal is shifted rather than a rule reduced, and of
two rules the one of higher priority is reduced; rules of the same priority are an error. So the
table is lark's own but for the numbers of states, made in a tenth of the time. (Where rules that
may be empty follow each other in a circle, which no LR parser can tell apart, what lark finds
depends on the order of its sets. Here it is the same each time.)

Sets of terminals are integers, a bit for each: most of the work is their unions, along relations
between transitions on rules that are cut into strongly connected parts.

Cost: O(states * symbols that may come there + transitions on rules * productions of each).
Source: DeRemer and Pennello, "Efficient computation of LALR(1) look-ahead sets" (1982).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from constrain.frontends.components import components, unions
from constrain.frontends.lark.automaton import Production, deriving
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["END", "Action", "Item", "Table", "TableOnly", "make_table"]

END: Final = "$END"
"""The terminal at the end of a text, as lark names it."""

Action = int | tuple[str, int]
"""A state to push, or a rule to reduce with the number of its parts."""

Item = tuple[Production, int]
"""A production, and how many of its parts are behind."""

_Transition = int
"""The number of a state with a rule that may begin there."""

_TRANSITION_COST: Final = 4
"""What a transition of a state costs in `Limits.max_source_nodes`: some 15 us, and 300 bytes."""

_SHOWN: Final = 3
"""Collisions that an error tells."""


class Table(NamedTuple):
    """What an LALR(1) parser does.

    Attributes:
        states: For each state what is done before each terminal, and after each rule.
        items: For each state the productions that it stands in, each with how many of its parts are
            behind; without those that it stands before.
        start_states: Where each start symbol begins.
        end_states: Where it has been read.
    """

    states: dict[int, dict[str, Action]]
    items: dict[int, tuple[Item, ...]]
    start_states: dict[str, int]
    end_states: dict[str, int]


class TableOnly:
    """Takes the place of lark's parser, of which nothing but the table is needed.

    Attributes:
        table: What it would do.
    """

    def __init__(
        self,
        limits: Limits,
        conf: Any,  # noqa: ANN401 - lark.common.ParserConf
        debug: bool = False,
        strict: bool = False,
    ) -> None:
        self.table = self._parse_table = make_table(conf.rules, conf.start, limits)
        """The private name is where lark looks for what its contextual lexers wait for."""


def make_table(
    rules: Sequence[Any], starts: Iterable[str], limits: Limits = DEFAULT_LIMITS
) -> Table:
    """The table of lark's rules.

    Args:
        rules: `lark.grammar.Rule`, each once.
        starts: The start symbols.
        limits: `max_source_nodes` bounds the transitions of its states.

    Raises:
        LimitExceededError: It is larger than the limits allow.
        lark.exceptions.GrammarError: A start symbol is no rule, or two rules could be reduced
            before the same terminal, and neither goes before the other.
    """
    grammar = _Grammar(rules, list(dict.fromkeys(starts)))
    states = _States(grammar, limits)
    return _table(grammar, states, _lookaheads(grammar, states))


class _Grammar:
    """The rules as numbers: rules' names first, then terminals; an item is a place in a production.

    Attributes:
        names: Of each symbol.
        n_rules: How many of them name rules.
        productions: Origin and expansion of each; those of the start symbols last.
        first_item: The item before each production; the one after each of its symbols is the next.
        beginnings: The first items of the productions of each rule.
        next_symbol: What each item waits for, or -1.
        production_at: The production of each item.
        roots: For each start symbol its production.
    """

    def __init__(self, rules: Sequence[Any], starts: Sequence[str]) -> None:
        self.rules = rules
        origins = dict.fromkeys([str(rule.origin.name) for rule in rules])
        for start in starts:
            if start not in origins:
                from lark.exceptions import GrammarError

                raise GrammarError(f"Using an undefined rule: NonTerminal({start!r})")
        roots = [f"$root_{start}" for start in starts]
        terminals = [str(s.name) for rule in rules for s in rule.expansion if s.is_term]
        self.names = [*origins, *roots, *dict.fromkeys([END, *terminals])]
        self.n_rules = len(origins) + len(roots)
        rule_number = {name: n for n, name in enumerate(self.names[: self.n_rules])}
        terminal_number = {
            name: n for n, name in enumerate(self.names[self.n_rules :], self.n_rules)
        }
        self.end = terminal_number[END]
        self.productions = [
            (
                rule_number[str(rule.origin.name)],
                tuple(
                    [
                        (terminal_number if s.is_term else rule_number)[str(s.name)]
                        for s in rule.expansion
                    ]
                ),
            )
            for rule in rules
        ]
        self.roots = dict(zip(starts, range(len(rules), len(rules) + len(starts)), strict=True))
        for start, root in zip(starts, roots, strict=True):
            self.productions.append((rule_number[root], (rule_number[start],)))
        self.beginnings: list[list[int]] = [[] for _ in range(self.n_rules)]
        self.first_item: list[int] = []
        self.next_symbol: list[int] = []
        self.production_at: list[int] = []
        for n, (origin, expansion) in enumerate(self.productions):
            self.first_item.append(len(self.next_symbol))
            self.beginnings[origin].append(len(self.next_symbol))
            self.next_symbol += [*expansion, -1]
            self.production_at += [n] * (len(expansion) + 1)

    def priority(self, production: int) -> int:
        """As lark compares them."""
        return int(self.rules[production].options.priority or 0)

    def bit(self, terminal: int) -> int:
        """The set of one terminal."""
        return 1 << (terminal - self.n_rules)

    @cached_property
    def nullable(self) -> set[int]:
        """The rules that may be empty."""
        return deriving(self.productions)

    @cached_property
    def nullable_from(self) -> list[int]:
        """Where in each production the parts begin that may all be empty."""
        found = []
        for _, expansion in self.productions:
            at = len(expansion)
            while at and expansion[at - 1] in self.nullable:
                at -= 1
            found.append(at)
        return found

    @cached_property
    def begins(self) -> list[int]:
        """For each rule the set of those that may stand at its beginning, itself one of them."""
        left = [
            [s for s in map(self.next_symbol.__getitem__, items) if 0 <= s < self.n_rules]
            for items in self.beginnings
        ]
        own = [1 << rule for rule in range(self.n_rules)]
        return unions(own, left)


class _States:
    """The LR(0) automaton.

    Attributes:
        kernels: The items of each state, without those that stand before a production.
        targets: The states that it leads to, by symbol.
        terminals: The set of terminals among these symbols.
        first: For each start symbol, where it begins.
    """

    def __init__(self, grammar: _Grammar, limits: Limits) -> None:
        self._grammar = grammar
        self.kernels: list[frozenset[int]] = []
        self.targets: list[dict[int, int]] = []
        self.terminals: list[int] = []
        self._numbers: dict[frozenset[int], int] = {}
        self._beginnings: dict[int, dict[int, frozenset[int]]] = {}
        self.first = {
            start: self._number(frozenset((grammar.first_item[n],)))
            for start, n in grammar.roots.items()
        }
        cost = 0
        for kernel in self.kernels:  # grows by what is found
            after = self._after(kernel)
            cost += _TRANSITION_COST * len(after)
            limits.check("max_source_nodes", cost, "the LALR table of a grammar")
            self.targets.append({symbol: self._number(k) for symbol, k in after.items()})
            self.terminals.append(sum([grammar.bit(s) for s in after if s >= grammar.n_rules]))

    def _number(self, kernel: frozenset[int]) -> int:
        found = self._numbers.get(kernel)
        if found is None:
            found = self._numbers[kernel] = len(self.kernels)
            self.kernels.append(kernel)
        return found

    def _after(self, kernel: frozenset[int]) -> dict[int, frozenset[int]]:
        """The items after each symbol that may come."""
        grammar = self._grammar
        inside = 0
        own: dict[int, list[int]] = {}
        for item in sorted(kernel):
            symbol = grammar.next_symbol[item]
            if symbol >= 0:
                own.setdefault(symbol, []).append(item + 1)
                if symbol < grammar.n_rules:
                    inside |= grammar.begins[symbol]
        found = dict(self._after_beginnings(inside))
        for symbol, items in own.items():
            found[symbol] = found.get(symbol, frozenset()).union(items)
        return found

    def _after_beginnings(self, inside: int) -> dict[int, frozenset[int]]:
        """The same of the items before all productions of some rules."""
        found = self._beginnings.get(inside)
        if found is None:
            grammar = self._grammar
            items: dict[int, list[int]] = {}
            for rule in _bits(inside):
                for item in grammar.beginnings[rule]:
                    symbol = grammar.next_symbol[item]
                    if symbol >= 0:
                        items.setdefault(symbol, []).append(item + 1)
            found = {symbol: frozenset(each) for symbol, each in items.items()}
            self._beginnings[inside] = found
        return found


def _lookaheads(grammar: _Grammar, states: _States) -> list[dict[int, int]]:
    """For each state the productions that end there, each with the terminals that may follow."""
    transitions = [
        (state, rule)
        for state, targets in enumerate(states.targets)
        for rule in targets
        if rule < grammar.n_rules
    ]
    number: list[dict[int, _Transition]] = [{} for _ in states.targets]
    for n, (state, rule) in enumerate(transitions):
        number[state][rule] = n
    shifted = [states.terminals[states.targets[state][rule]] for state, rule in transitions]
    for start, first in states.first.items():
        rule = grammar.productions[grammar.roots[start]][1][0]
        shifted[number[first][rule]] |= grammar.bit(grammar.end)
    empty_there = [[n for rule, n in by.items() if rule in grammar.nullable] for by in number]
    reads = [empty_there[states.targets[state][rule]] for state, rule in transitions]
    read = unions(shifted, reads)
    includes, lookback = _walks(grammar, states, transitions, number)
    for part in components(reads)[1]:  # to lark, what reads each other is one
        for one, other in zip(part, [*part[1:], part[0]], strict=True):
            includes[one].append(other)
    follow = unions(read, includes)
    found: list[dict[int, int]] = [{} for _ in states.targets]
    for n, ends in enumerate(lookback):
        for state, production in ends:
            found[state][production] = found[state].get(production, 0) | follow[n]
    return found


def _walks(
    grammar: _Grammar,
    states: _States,
    transitions: Sequence[tuple[int, int]],
    number: Sequence[dict[int, _Transition]],
) -> tuple[list[list[_Transition]], list[list[tuple[int, int]]]]:
    """Along all productions of each transition.

    Returns:
        The transitions that are followed by what follows each, as its rule ends with them; and for
        each the states in which its productions end.
    """
    targets = states.targets
    # lark goes on with what began before the state, too, and so finds a little more.
    begun: list[dict[int, list[int]]] = [{} for _ in targets]
    for state, kernel in enumerate(states.kernels):
        for item in sorted(kernel):
            production = grammar.production_at[item]
            if item > grammar.first_item[production]:
                origin = grammar.productions[production][0]
                begun[state].setdefault(origin, []).append(item)
    includes: list[list[_Transition]] = [[] for _ in transitions]
    lookback: list[list[tuple[int, int]]] = [[] for _ in transitions]
    for n, (state, rule) in enumerate(transitions):
        for item in [*grammar.beginnings[rule], *begun[state].get(rule, ())]:
            production = grammar.production_at[item]
            index = item - grammar.first_item[production]
            last = grammar.nullable_from[production] - 1
            at = state
            for symbol in grammar.productions[production][1][index:]:
                if index >= last and symbol < grammar.n_rules:
                    includes[number[at][symbol]].append(n)
                at = targets[at][symbol]
                index += 1
            if item == grammar.first_item[production]:
                lookback[n].append((at, production))
    return includes, lookback


def _table(grammar: _Grammar, states: _States, lookaheads: Sequence[dict[int, int]]) -> Table:
    """What each state does.

    Raises:
        lark.exceptions.GrammarError: Two rules could be reduced.
    """
    terminals = grammar.names[grammar.n_rules :]
    known: dict[int, tuple[str, ...]] = {}

    def named(mask: int) -> tuple[str, ...]:
        found = known.get(mask)
        if found is None:
            found = known[mask] = tuple([terminals[n] for n in _bits(mask)])
        return found

    collisions: list[str] = []
    rows: dict[int, dict[str, Action]] = {}
    for state, targets in enumerate(states.targets):
        row: dict[str, Action] = {grammar.names[s]: target for s, target in targets.items()}
        rows[state] = row
        reduced = lookaheads[state]
        if len(reduced) > 1:
            reduced = _settled(grammar, reduced, named, collisions)
        for production, mask in reduced.items():
            origin, expansion = grammar.productions[production]
            action = (grammar.names[origin], len(expansion))
            row.update(dict.fromkeys(named(mask & ~states.terminals[state]), action))
    if collisions:
        from lark.exceptions import GrammarError

        more = len(collisions) - _SHOWN
        raise GrammarError(
            "\n\n".join(collisions[:_SHOWN]) + (f"\n\nand {more} more" if more > 0 else "")
        )
    first = states.first
    return Table(
        rows,
        _items(grammar, states),
        dict(first),
        {
            start: states.targets[first[start]][grammar.productions[root][1][0]]
            for start, root in grammar.roots.items()
        },
    )


def _items(grammar: _Grammar, states: _States) -> dict[int, tuple[Item, ...]]:
    """Where states stand; not in productions of `$root`, which are never reduced."""
    names = grammar.names
    productions = [
        Production(names[origin], tuple([names[s] for s in expansion]))
        for origin, expansion in grammar.productions[: len(grammar.rules)]
    ]
    every = [(p, at) for p in productions for at in range(len(p.expansion) + 1)]
    return {
        state: tuple([every[item] for item in sorted(kernel) if item < len(every)])
        for state, kernel in enumerate(states.kernels)
    }


def _settled(
    grammar: _Grammar,
    reduced: dict[int, int],
    named: Callable[[int], tuple[str, ...]],
    collisions: list[str],
) -> dict[int, int]:
    """Of productions before the same terminal the one of the highest priority.

    Where there is none, it is noted in `collisions`.
    """
    once = twice = 0
    for mask in reduced.values():
        twice |= once & mask
        once |= mask
    found = {production: mask & ~twice for production, mask in reduced.items()}
    for terminal in _bits(twice):
        rules = [n for n, mask in reduced.items() if mask >> terminal & 1]
        rules.sort(key=grammar.priority, reverse=True)
        if grammar.priority(rules[0]) > grammar.priority(rules[1]):
            found[rules[0]] |= 1 << terminal
            continue
        (name,) = named(1 << terminal)
        listed = "".join([f"\n\t- {grammar.rules[n]}" for n in rules])
        collisions.append(
            f"Reduce/Reduce collision in Terminal({name!r}) between the following rules: {listed}"
        )
    return found


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
