"""What lark read to a term: terminals to programs, the parser and its lexers to boundaries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from constrain.algebra.terms import Term
from constrain.errors import UnsatisfiableError, UnsupportedFeatureError
from constrain.frontends.lark.adjacency import Adjacency, adjacency
from constrain.frontends.lark.automaton import ROOT, Automaton, Production, reduced
from constrain.frontends.lark.boundaries import Boundaries, Scanners
from constrain.frontends.lark.forbidden import Forbidden
from constrain.frontends.lark.general import General
from constrain.frontends.lark.indent import COLUMN_SETS, IndentedLalr
from constrain.frontends.lark.lalr import Lalr
from constrain.frontends.lark.normal import without_empty_and_cycles
from constrain.frontends.lark.program import Program
from constrain.frontends.lark.prospects import prospects
from constrain.frontends.lark.pushdowns import Lexers
from constrain.frontends.lark.scanner import START, Contest, Scanner, Spot, growing
from constrain.frontends.lark.stacks import Stack
from constrain.frontends.lark.tails import Tails, alike, right_recursive
from constrain.frontends.lark.threads import NO_DEMANDS, Machine
from constrain.frontends.regex import parse
from constrain.limits import Limits

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["lower"]


def lower(lark: Lark, start: str, limits: Limits, *, share: bool = True) -> Term:
    """The texts that `lark` parses from one of its start symbols.

    Args:
        lark: The grammar, read.
        start: The start symbol.
        limits: Budgets.
        share: Share what places between lexemes have in common. Else each stack of the parser, as
            lark would have it, is a place of its own: the slow way, to compare with.

    Raises:
        UnsatisfiableError: There is none.
        UnsupportedFeatureError: A terminal cannot be honoured exactly.
        LimitExceededError: It is larger than the limits allow.
    """
    return _Lowering(lark, start, limits, share=share).term()


class _Lowering:
    """Of one grammar and start symbol."""

    def __init__(self, lark: Lark, start: str, limits: Limits, *, share: bool) -> None:
        self._share = share
        self._lark = lark
        self._start = start
        self._limits = limits
        self._defined = {t.name: t for t in lark.terminals}
        used = {s.name for rule in lark.rules for s in rule.expansion if s.is_term}
        self._declared = used - set(self._defined)
        self._addresses: dict[str, int] = {}
        self._program = Program(limits)
        self._compile_terminals()
        self._indenter: Any = lark.options.postlex  # an Indenter, or None
        if self._indenter is not None:
            self._program.sets.update(dict.fromkeys(COLUMN_SETS))
        self._machine = Machine(self._program, limits)
        self._forbidden = Forbidden(self._machine) if share else None
        self._remembers = any(map(self._program.looks_before, self._addresses.values()))
        self._indented: IndentedLalr | None = None
        self._kept: list[Production] = []
        self._by_lexer: dict[Any, Scanner] = {}
        self._by_terminal: dict[str, Scanner] = {}

    def _compile_terminals(self) -> None:
        for name, terminal in self._defined.items():
            pattern = terminal.pattern.to_regexp()
            try:
                node = parse(pattern, limits=self._limits)
                self._addresses[name] = self._program.add(node, name)
            except UnsupportedFeatureError as e:
                raise UnsupportedFeatureError(
                    f"terminal {name}: {e.reason}", source=e.source, span=e.span, hint=e.hint
                ) from e

    def term(self) -> Term:
        lexer = self._lark.options.lexer
        if lexer in ("dynamic", "dynamic_complete"):
            parser, lexers, scanners = self._dynamic()
        elif lexer == "basic":
            parser, lexers, scanners = self._basic()
        else:
            parser, lexers, scanners = self._contextual()
        self._check_indenter()
        outlook = prospects(
            self._machine,
            parser,
            self._kept,
            lexers,
            self._neighbours(),
            self._lark.ignore_tokens,
            self._limits,
        )
        table = parser.parser if isinstance(parser, IndentedLalr) else parser
        if self._share and outlook is None and isinstance(table, Lalr) and table.is_whole:
            kept = alike(table)
            table.tails = Tails(table, self._productions(), kept)
            table.merge(kept)
            table.folded = frozenset()
        boundaries = Boundaries(
            self._machine, parser, scanners, outlook, self._indented, share=self._share
        )
        start = boundaries.start()
        if start is None:
            raise UnsatisfiableError(
                f"no text is a {self._start!r}: the lexer never produces what the parser needs",
                hint="look for terminals that overlap, or use parser='earley'",
            )
        return start

    def _check_indenter(self) -> None:
        """Refuse an `Indenter` whose lexemes no rule waits for, as after a slip in a name."""
        if self._indenter is None:
            return
        indenter = self._indenter
        kept = {name for production in self._kept for name in production.expansion}
        if indenter.NL_type in self._defined and indenter.INDENT_type in kept:
            return
        # A rule that waits for what never comes is not kept, so say first what no rule names.
        named = {s.name for rule in self._lark.rules for s in rule.expansion}
        checks = [("NL_type", set(self._defined)), ("INDENT_type", named), ("DEDENT_type", named)]
        wrong = [a for a, there in checks if getattr(indenter, a) not in there]
        attribute = wrong[0] if wrong else "INDENT_type"
        raise UnsupportedFeatureError(
            f"the Indenter's {attribute} is {getattr(indenter, attribute)!r}, which no text of "
            f"{self._start!r} needs",
            hint="name the terminals of the grammar that end lines, begin blocks and end them; "
            "without blocks, leave postlex out",
        )

    def _neighbours(self) -> Adjacency | None:
        if self._remembers:
            return None
        alone = {name: self._make(self._alone(name)) for name in self._defined}
        return adjacency(
            self._machine,
            self._defined.values(),
            self._addresses,
            alone,
            self._lark.ignore_tokens,
            None if self._indenter is None else self._indenter.NL_type,
            self._together(),
        )

    def _together(self) -> Mapping[str, frozenset[str]]:
        """The terminals that compete with each somewhere; empty if each is tried alone."""
        lexer = str(self._lark.options.lexer)
        if lexer.startswith("dynamic"):
            return {}
        if lexer == "basic":
            return dict.fromkeys(self._defined, frozenset(self._defined))
        lexers = dict.fromkeys(self._lexer().lexers.values())
        names = [frozenset([t.name for t in each.terminals]) for each in lexers]
        of: dict[str, list[int]] = {name: [] for name in self._defined}
        for n, each in enumerate(names):
            for name in each:
                of[name].append(n)
        its = {name: tuple(lexers_of) for name, lexers_of in of.items()}
        unions = {  # one set for all that are in the same
            each: frozenset[str]().union(*[names[n] for n in each]) for each in set(its.values())
        }
        return {name: unions[each] for name, each in its.items()}

    # Parsers, each with the lexers that stand at a state and at stacks.

    def _dynamic(self) -> tuple[Lalr | General | IndentedLalr, Lexers, Scanners]:
        every_end = self._lark.options.lexer == "dynamic_complete"
        if every_end:
            self._refuse_lookaround()
        for name in self._defined:
            self._by_terminal[name] = self._make(self._alone(name), every_end=every_end)
        greedy = [
            (self._make(self._alone(name)), frozenset((name,)))
            for name in dict.fromkeys(self._lark.ignore_tokens)
        ]
        parser = self._general(self._winners(self._by_terminal.values()))

        def beside(names: Iterable[str]) -> Iterable[tuple[Scanner, frozenset[str]]]:
            scanners = [self._by_terminal[name] for name in names if name in self._by_terminal]
            return [*[(scanner, frozenset[str]()) for scanner in scanners], *greedy]

        return (
            parser,
            lambda state: beside(parser.automaton.symbols(state)),
            lambda stacks: beside(parser.terminals(stacks)),
        )

    def _make(self, contest: Contest, *, every_end: bool = False) -> Scanner:
        return Scanner(
            self._machine,
            contest,
            self._forbidden,
            every_end=every_end,
            remembers=self._remembers,
        )

    def _refuse_lookaround(self) -> None:
        """Beginnings of a match are tried as texts of their own, so `$` holds at their end."""
        for name, address in self._addresses.items():
            if self._program.looks_ahead(address) or self._program.looks_before(address):
                raise UnsupportedFeatureError(
                    f"terminal {name} looks around, and lexer='dynamic_complete' cuts texts short",
                    hint="use lexer='dynamic'",
                )

    def _alone(self, name: str) -> Contest:
        return Contest(((name, self._addresses[name]),), {})

    def _basic(self) -> tuple[Lalr | General | IndentedLalr, Lexers, Scanners]:
        scanner = self._scanner(self._lexer())
        able = self._winners([scanner])
        parser = self._lalr(able) if self._lark.options.parser == "lalr" else self._general(able)
        here = ((scanner, frozenset(self._lark.ignore_tokens)),)
        return parser, lambda state: here, lambda stacks: here

    def _contextual(self) -> tuple[Lalr | General | IndentedLalr, Lexers, Scanners]:
        by_state = self._lexer().lexers
        ignored = frozenset(self._lark.ignore_tokens)

        def lexers(state: int) -> Iterable[tuple[Scanner, frozenset[str]]]:
            return ((self._scanner(by_state[state]), ignored),)

        def scanners(stacks: frozenset[Stack]) -> Iterable[tuple[Scanner, frozenset[str]]]:
            (stack,) = stacks
            return lexers(stack.state)

        return self._lalr(set(self._defined)), lexers, scanners

    def _lexer(self) -> Any:  # noqa: ANN401 - lark's BasicLexer or ContextualLexer
        lexer = self._lark.parser.lexer
        return lexer if self._indenter is None else lexer.lexer

    def _winners(self, scanners: Collection[Scanner]) -> set[str]:
        """Terminals that the parser may get from lexers."""
        ignored = set(self._lark.ignore_tokens)
        if self._lark.options.lexer != "basic":
            ignored = set()  # the same terminal may be one of the grammar's own
        found: set[str] = set()
        spots: dict[Spot, None] = {START: None}
        for spot in growing(spots):
            for end in [e for scanner in scanners for e in scanner.ends(spot)]:
                if end.scanned not in ignored:
                    found.add(end.name)
                if self._remembers:
                    spots[Spot(end.spot.left, NO_DEMANDS)] = None
        return found

    def _scanner(self, lexer: Any) -> Scanner:  # noqa: ANN401 - lark's BasicLexer
        found = self._by_lexer.get(lexer)
        if found is None:
            made = self._make(self._contest(lexer))
            found = self._by_lexer.setdefault(lexer, made)
        return found

    def _contest(self, lexer: Any) -> Contest:  # noqa: ANN401 - lark's BasicLexer
        def addresses(scanner: Any) -> tuple[tuple[str, int], ...]:  # noqa: ANN401 - lark's Scanner
            return tuple([(t.name, self._addresses[t.name]) for t in scanner.terminals])

        unless: Mapping[str, Any] = lexer.callback if lexer.scanner is not None else {}
        return Contest(
            addresses(lexer.scanner),
            {name: addresses(callback.scanner) for name, callback in unless.items()},
        )

    def _productions(self) -> list[Production]:
        rules = [
            Production(r.origin.name, tuple([s.name for s in r.expansion]))
            for r in self._lark.rules
        ]
        return [Production(ROOT, (self._start,)), *rules]

    def _reduced(self, able: Iterable[str]) -> tuple[list[Production], bool]:
        """The productions that are part of some sentence, and whether some were dropped.

        Raises:
            UnsatisfiableError: No sentence can be finished.
        """
        productions = self._productions()
        kept, productive = reduced(productions, able)
        if ROOT not in productive:
            why = _why_endless(productions, productive, set(able), self._start)
            hint = "give it an alternative that ends"
            if why.rpartition(" ")[2] in self._declared:
                hint = (
                    "it is only declared: define it, or pass the Indenter that makes it as postlex"
                )
            raise UnsatisfiableError(why, hint=hint)
        everything, _ = reduced(productions, {s for p in productions for s in p.expansion})
        return kept, len(kept) < len(everything)

    def _lalr(self, able: Iterable[str]) -> Lalr | IndentedLalr:
        able = set(able)
        if self._indenter is not None:
            able |= {self._indenter.INDENT_type, self._indenter.DEDENT_type}
        self._kept, some_dropped = self._reduced(able)
        viable = Automaton(self._kept, self._limits) if some_dropped else None
        parser = Lalr(self._lark.parser.parser.table, self._start, viable)
        if self._share:
            parser.folded = right_recursive(parser)
        if self._indenter is None:
            return parser
        indented = IndentedLalr(parser, self._indenter)
        self._indented = indented
        return indented

    def _general(self, able: Iterable[str]) -> General:
        kept, _ = self._reduced(able)
        normal, nullable = without_empty_and_cycles(kept, ROOT)
        self._kept, _ = reduced(normal, able)
        return General(self._kept, nullable, self._limits)


def _why_endless(
    productions: Sequence[Production], productive: set[str], able: set[str], start: str
) -> str:
    """Follow parts without a sentence from the start until one comes again."""
    by_origin: dict[str, list[Production]] = {}
    for production in productions:
        by_origin.setdefault(production.origin, []).append(production)
    path = [start]
    while True:
        options = by_origin.get(path[-1])
        if not options:
            return f"rule {path[-2]!r} can never finish: no text is ever the terminal {path[-1]}"
        endless = [s for s in options[0].expansion if s not in productive and s not in able]
        if endless[0] in path:
            ring = path[path.index(endless[0]) :]
            break
        path.append(endless[0])
    if len(ring) == 1:
        return f"rule {ring[0]!r} can never finish: every way through it needs {ring[0]!r} again"
    needs = " needs ".join(map(repr, [*ring, ring[0]]))
    return f"the rules {', '.join(map(repr, ring))} can never finish: {needs} again"
