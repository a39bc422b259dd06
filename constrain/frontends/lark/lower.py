"""What lark read to a term: terminals to programs, the parser and its lexers to boundaries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from constrain.algebra.terms import Term
from constrain.errors import UnsatisfiableError, UnsupportedFeatureError
from constrain.frontends.lark.automaton import ROOT, Automaton, Production, reduced
from constrain.frontends.lark.boundaries import Boundaries, Scanners
from constrain.frontends.lark.indent import COLUMN_SETS, IndentedLalr
from constrain.frontends.lark.normal import without_empty_and_cycles
from constrain.frontends.lark.program import Program
from constrain.frontends.lark.scanner import Contest, Guards, Scanner
from constrain.frontends.lark.spacious import is_spacious
from constrain.frontends.lark.stacks import General, Lalr, Parser, Stack
from constrain.frontends.lark.threads import Machine
from constrain.frontends.regex import parse
from constrain.limits import Limits

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["lower"]

_SMALL_RULES: Final = 100
_SMALL_TERMINALS: Final = 40


def lower(lark: Lark, start: str, limits: Limits) -> Term:
    """The texts that `lark` parses from one of its start symbols.

    Raises:
        UnsatisfiableError: There is none.
        UnsupportedFeatureError: A terminal cannot be honoured exactly.
        LimitExceededError: It is larger than the limits allow.
    """
    return _Lowering(lark, start, limits).term()


class _Lowering:
    """Of one grammar and start symbol."""

    def __init__(self, lark: Lark, start: str, limits: Limits) -> None:
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
        self._remembers = any(map(self._program.looks_before, self._addresses.values()))
        self._indented: tuple[Machine, IndentedLalr] | None = None
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
            parser, scanners = self._dynamic()
        elif lexer == "basic":
            parser, scanners = self._basic()
        else:
            parser, scanners = self._contextual()
        boundaries = Boundaries(
            parser,
            scanners,
            Guards(self._machine),
            self._limits,
            remembers=self._remembers,
            indented=self._indented,
            proves=self._indenter is None and self._is_small() and not self._is_spacious(),
        )
        start = boundaries.start()
        if start is None:
            raise UnsatisfiableError(
                f"no text is a {self._start!r}: the lexer never produces what the parser needs",
                hint="look for terminals that overlap, or use parser='earley'",
            )
        return start

    def _is_small(self) -> bool:
        """Whether to look for sentences is cheap. Large grammars have blanks nearly always."""
        return len(self._lark.rules) <= _SMALL_RULES and len(self._defined) <= _SMALL_TERMINALS

    def _is_spacious(self) -> bool:
        samples = {}
        for name in self._defined:
            samples[name] = Scanner(self._machine, self._alone(name)).samples(3)
        return is_spacious(
            self._defined.values(),
            self._lark.ignore_tokens,
            samples,
            compete=not str(self._lark.options.lexer).startswith("dynamic"),
        )

    # Parsers, each with the lexers that stand at its stacks.

    def _dynamic(self) -> tuple[Parser, Scanners]:
        every_end = self._lark.options.lexer == "dynamic_complete"
        if every_end:
            self._refuse_lookaround()
        for name in self._defined:
            self._by_terminal[name] = Scanner(self._machine, self._alone(name), every_end=every_end)
        greedy = [
            (Scanner(self._machine, self._alone(name)), frozenset((name,)))
            for name in dict.fromkeys(self._lark.ignore_tokens)
        ]
        able = self._winners(self._by_terminal.values())
        parser = self._general(able)

        def scanners(stacks: frozenset[Stack]) -> Iterable[tuple[Scanner, frozenset[str]]]:
            for name in parser.terminals(stacks):
                if name in self._by_terminal:
                    yield self._by_terminal[name], frozenset()
            yield from greedy

        return parser, scanners

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

    def _basic(self) -> tuple[Parser, Scanners]:
        lexer = self._lark.parser.lexer
        if self._indenter is not None:
            lexer = lexer.lexer
        scanner = self._scanner(lexer)
        able = self._winners([scanner])
        parser = self._lalr(able) if self._lark.options.parser == "lalr" else self._general(able)
        here = ((scanner, frozenset(self._lark.ignore_tokens)),)
        return parser, lambda stacks: here

    def _contextual(self) -> tuple[Parser, Scanners]:
        lexer = self._lark.parser.lexer
        ignored = frozenset(self._lark.ignore_tokens)
        if self._indenter is not None:
            lexer = lexer.lexer
        parser = self._lalr(set(self._defined))

        def scanners(stacks: frozenset[Stack]) -> Iterable[tuple[Scanner, frozenset[str]]]:
            (stack,) = stacks
            return ((self._scanner(lexer.lexers[stack.state]), ignored),)

        return parser, scanners

    def _winners(self, scanners: Collection[Scanner]) -> set[str]:
        """Terminals that the parser may get from lexers."""
        ignored = set(self._lark.ignore_tokens)
        if self._lark.options.lexer != "basic":
            ignored = set()  # the same terminal may be one of the grammar's own
        found: set[str] = set()
        lefts: dict[tuple[int, ...], None] = {(): None}
        for left in _growing(lefts):
            for lexeme in [w for scanner in scanners for w in scanner.lexemes(left)]:
                if lexeme.scanned not in ignored:
                    found.add(lexeme.name)
                if self._remembers:
                    lefts[lexeme.left] = None
        return found

    def _scanner(self, lexer: Any) -> Scanner:  # noqa: ANN401 - lark's BasicLexer
        found = self._by_lexer.get(lexer)
        if found is None:
            made = Scanner(self._machine, self._contest(lexer))
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

    def _lalr(self, able: Iterable[str]) -> Parser:
        able = set(able)
        if self._indenter is not None:
            able |= {self._indenter.INDENT_type, self._indenter.DEDENT_type}
        kept, some_dropped = self._reduced(able)
        viable = Automaton(kept, self._limits) if some_dropped else None
        parser = Lalr(self._lark.parser.parser._parse_table, self._start, viable)
        if self._indenter is None:
            return parser
        indented = IndentedLalr(parser, self._indenter)
        self._indented = (self._machine, indented)
        return indented

    def _general(self, able: Iterable[str]) -> Parser:
        kept, _ = self._reduced(able)
        normal, nullable = without_empty_and_cycles(kept, ROOT)
        useful, _ = reduced(normal, able)
        return General(useful, nullable, self._limits)


def _growing(items: Mapping[Any, None]) -> Iterable[Any]:
    """The keys of a mapping to which keys are added on the way."""
    done: set[Any] = set()
    while True:
        new = [i for i in items if i not in done]
        if not new:
            return
        done.update(new)
        yield from new


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
