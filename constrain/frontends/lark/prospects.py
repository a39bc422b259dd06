"""Dead ends: a proof that a grammar has none, or else an exact test for each place.

A parser's stack is one that some lexemes complete; but a lexer may never produce those there, and
an LALR parser whose conflicts were resolved may have gone astray. First it is tried to prove that
neither happens (`adjacency`, `conflicts`, `completable`), which succeeds for most grammars of
languages and takes no time later. Else every place is asked about (`saturation`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from constrain.errors import UnsupportedFeatureError
from constrain.frontends.lark.adjacency import Adjacency
from constrain.frontends.lark.automaton import Production
from constrain.frontends.lark.completable import Reading, is_completable
from constrain.frontends.lark.conflicts import split_by_conflicts
from constrain.frontends.lark.general import General
from constrain.frontends.lark.indent import IndentedLalr
from constrain.frontends.lark.lalr import Lalr
from constrain.frontends.lark.nesting import is_nested
from constrain.frontends.lark.pushdowns import GeneralPushdown, LalrPushdown, Lexers
from constrain.frontends.lark.saturation import Saturation
from constrain.frontends.lark.scanner import Spot
from constrain.frontends.lark.stacks import Stack
from constrain.frontends.lark.table import END
from constrain.frontends.lark.threads import Machine
from constrain.limits import Limits

__all__ = ["Prospects", "prospects"]


class Prospects(Protocol):
    """What tells the stacks from which a sentence can be completed from others."""

    def alive(self, stacks: frozenset[Stack], spot: Spot) -> frozenset[Stack]:
        """Those of some stacks that some text completes that may stand at the spot."""
        ...


def prospects(
    machine: Machine,
    parser: Lalr | General | IndentedLalr,
    productions: Sequence[Production],
    lexers: Lexers,
    neighbours: Adjacency | None,
    ignored: Iterable[str],
    limits: Limits,
) -> Prospects | None:
    """What tells dead ends; None if there is none.

    Args:
        machine: Of the grammar.
        parser: Its parser.
        productions: Reduced, that of `$root` the first.
        lexers: The lexers at a state of the parser.
        neighbours: Which lexemes may come after which, if that is known.
        ignored: Terminals that `%ignore` names.
        limits: `max_source_nodes` bounds the work.

    Raises:
        UnsupportedFeatureError: With an `Indenter` there is no exact test, and no proof was found.
        LimitExceededError: The exact test is too large.
    """
    if isinstance(parser, IndentedLalr):
        if not _is_nested(parser, productions):
            raise UnsupportedFeatureError(
                "blocks or parentheses that an Indenter counts are not closed where they are "
                "opened, or lines end inside of parentheses",
                hint="let each rule close what it opens",
            )
        table = parser.parser
        if neighbours is None or not _is_proved(table, parser, productions, neighbours, ignored):
            raise UnsupportedFeatureError(
                "dead ends cannot be ruled out in this grammar with an Indenter",
                hint="%ignore blanks between lexemes; let the newline terminal match '\\n' and any "
                "number of blanks",
            )
        return None
    lalr = parser if isinstance(parser, Lalr) else None
    if neighbours is not None and _is_proved(lalr, None, productions, neighbours, ignored):
        return None
    if isinstance(parser, Lalr):
        return Saturation(LalrPushdown(parser, lexers, machine), limits)
    return Saturation(GeneralPushdown(parser, lexers, machine), limits)


def _is_nested(parser: IndentedLalr, productions: Sequence[Production]) -> bool:
    lines = (parser.newline, parser.indent, parser.dedent)
    return is_nested(productions, [parser.indent], [parser.dedent]) and is_nested(
        productions, parser.opens, parser.closes, lines
    )


def _is_proved(
    table: Lalr | None,
    indented: IndentedLalr | None,
    productions: Sequence[Production],
    neighbours: Adjacency,
    ignored: Iterable[str],
) -> bool:
    overridden: Mapping[Production, frozenset[str]] = {}
    if table is not None:
        productions, overridden = split_by_conflicts(table, productions)
    origins = {p.origin for p in productions}
    terminals = {s for p in productions for s in p.expansion if s not in origins}
    blocked = {name: neighbours.blocked.get(name, frozenset()) for name in terminals}
    between = [neighbours.unknown, *[neighbours.blocked[name] for name in ignored]]
    if indented is None:
        readings = {name: [Reading(name, blocked[name])] for name in terminals}
    else:
        readings = _indented_readings(indented, terminals, blocked)
        drawn = {indented.indent, indented.dedent}
        between = [each | drawn for each in between]
    return is_completable(productions, readings, between, overridden)


def _indented_readings(
    parser: IndentedLalr, terminals: Iterable[str], blocked: Mapping[str, frozenset[str]]
) -> dict[str, list[Reading]]:
    """With what an `Indenter` draws from newlines: blocks begin and end only after them.

    Those that end with the text are of a kind of their own.
    """
    indent, dedent, newline = parser.indent, parser.dedent, parser.newline
    drawn = frozenset((indent, dedent))
    last = f"{dedent}{END}"
    found = {}
    after_newline = blocked.get(newline, frozenset())
    for name in terminals:
        if name == newline:
            readings = [Reading(name, after_newline, drawn)]
        elif name == indent:
            readings = [Reading(name, after_newline | drawn)]
        elif name == dedent:
            others = frozenset({*terminals, *drawn, newline} - {last, END})
            readings = [
                Reading(name, after_newline | {indent}, frozenset((dedent,))),
                Reading(last, others, final=True),
            ]
        else:
            readings = [Reading(name, blocked[name] | drawn)]
        found[name] = [
            Reading(r.kind, r.blocked | {last}, r.decided, r.final)
            if END in r.blocked and not r.final
            else r
            for r in readings
        ]
    return found
