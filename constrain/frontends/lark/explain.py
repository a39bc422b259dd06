"""Where a text stands in a Lark grammar: rules and terminals by name, literals as they are.

With a lexer, the text before the place is cut into lexemes by lark's own lexer, and the stack of
lark's own LALR parser says which rules are open: a chart over the symbols of the stack finds them,
and reads no text. For Earley with a lexer the chart reads the lexemes, and without one the bytes.

What comes last may be the beginning of a lexeme: `1.` may go on as a NUMBER. It is taken off, and
the terminals that it may begin are tried. Sometimes a lexer has cut it up already, as `/*` into `/`
and `*`; then lexemes are taken off too, until one fits.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from constrain.algebra.store import DEAD
from constrain.algebra.terms import EPS, Term
from constrain.algebra.utf8 import UTF8
from constrain.errors import UnsupportedFeatureError
from constrain.frontends.cfg import Choice, Expression, Repetition, Symbol, Terminal
from constrain.frontends.cfg import Sequence as Parts
from constrain.frontends.cfg.chart import Chart, Could, Net, Piece
from constrain.frontends.cfg.explain import ScannedText, Scanner, derive, explain
from constrain.frontends.explanation import Derivation, Explanation
from constrain.frontends.lark.lalr import Lalr
from constrain.frontends.lark.read import read
from constrain.frontends.lark.stacks import Stack
from constrain.frontends.lark.table import Table
from constrain.frontends.regex import lower, parse
from constrain.frontends.regex.loose import without_assertions
from constrain.limits import Limits

__all__ = ["LarkExplainer"]

_MOST_TAKEN_OFF: Final = 64
_IGNORED: Final = "__ignored"


@dataclass(frozen=True, slots=True)
class _Lexeme:
    """A terminal and its place, in code points."""

    name: str
    start: int
    end: int


class _Lexemes:
    """Symbols as the input of a chart, each one place long.

    Args:
        symbols: Names of terminals and rules.
        rules: Which are rules.
        name_of: Of terminals.
        may_come: Whether a terminal could come after the last.
    """

    def __init__(
        self,
        symbols: Sequence[str],
        rules: Mapping[str, Expression],
        name_of: Mapping[Terminal, str],
        may_come: Callable[[Terminal], bool],
    ) -> None:
        self._symbols = symbols
        self._rules = rules
        self._name_of = name_of
        self._may_come = may_come

    @property
    def end(self) -> int:
        """All symbols."""
        return len(self._symbols)

    def ends(self, terminal: Terminal, place: int) -> Iterable[int]:
        """See `Input.ends`."""
        fits = place < self.end and self._symbols[place] == self._name_of[terminal]
        return (place + 1,) if fits else ()

    def is_open(self, terminal: Terminal, place: int) -> bool:
        """See `Input.is_open`."""
        return place == self.end and self._may_come(terminal)

    def symbol(self, place: int) -> str | None:
        """A rule that the parser has reduced already."""
        if place == self.end or self._symbols[place] not in self._rules:
            return None
        return self._symbols[place]


class LarkExplainer:
    """Explains texts of one grammar, which is known to be right.

    Args:
        text: The grammar.
        starts: The start symbols.
        parser: As of `Grammar.from_lark`.
        lexer: As of `Grammar.from_lark`.
        import_paths: As of `Grammar.from_lark`.
        postlex: As of `Grammar.from_lark`.
        limits: Budgets.
    """

    def __init__(
        self,
        text: str,
        starts: Sequence[str],
        parser: str,
        lexer: str,
        import_paths: Sequence[Any],
        postlex: Any,  # noqa: ANN401 - a lark Indenter
        limits: Limits,
    ) -> None:
        self._lark = read(text, starts, parser, lexer, import_paths, postlex, limits)
        self._starts = starts
        self._limits = limits
        self._scanner = Scanner(limits)
        self._is_lalr = parser == "lalr"
        self._has_lexer = not str(self._lark.options.lexer).startswith("dynamic")
        self._terminals = {t.name: Terminal(self._term(t)) for t in self._lark.terminals}
        for rule in self._lark.rules:
            for symbol in rule.expansion:
                if symbol.is_term and symbol.name not in self._terminals:
                    self._terminals[symbol.name] = Terminal(EPS)  # declared: made by the Indenter
        self._name_of = {terminal: name for name, terminal in self._terminals.items()}
        self._shown = {t.name: _shown(t) for t in self._lark.terminals}
        self._ignored = set(self._lark.ignore_tokens)
        self._productions = self._make_productions()
        self._net = Net(self._productions, (lambda _: False) if self._has_lexer else None)
        if self._is_lalr:
            table = self._lark.parser.parser.table
            self._parsers = {start: Lalr(table, start, None) for start in starts}
            self._symbol_of = _accessing(table)
        self._known: list[tuple[_Lexeme, frozenset[Stack]]] = []

    def _term(self, terminal: Any) -> Term:  # noqa: ANN401 - a TerminalDef of lark
        try:
            node = parse(terminal.pattern.to_regexp(), limits=self._limits)
            return lower(without_assertions(node), limits=self._limits)
        except UnsupportedFeatureError:
            return UTF8.text  # what the engine does not agree with is left out later

    def _make_productions(self) -> dict[str, Expression]:
        found: dict[str, list[Expression]] = {str(start): [] for start in self._starts}
        ignored = Repetition(
            Choice(tuple([self._terminals[n] for n in self._lark.ignore_tokens])), 0, None
        )
        blanks = not self._has_lexer and bool(self._ignored)
        for rule in self._lark.rules:
            parts: list[Expression] = []
            for symbol in rule.expansion:
                if not symbol.is_term:
                    parts.append(Symbol(str(symbol.name)))
                    continue
                if blanks:
                    parts.append(Symbol(_IGNORED))
                parts.append(self._terminals[symbol.name])
            found.setdefault(str(rule.origin.name), []).append(Parts(tuple(parts)))
        made: dict[str, Expression] = {n: Choice(tuple(ways)) for n, ways in found.items()}
        if blanks:
            made[_IGNORED] = ignored
            for start in self._starts:
                made[f"__{start}_at_end"] = Parts((Symbol(start), Symbol(_IGNORED)))
        return made

    # Names

    def _name(self, terminal: Terminal) -> str | None:
        """A literal as it is, a pattern by its name if it has one."""
        name = self._name_of[terminal]
        return None if name in self._ignored else self._shown.get(name, name)

    # Rejections

    def explain(self, text: bytes, offset: int, expected: bytes) -> Explanation:
        """See `Explainer.explain`."""
        found = [self._from(start, text[:offset], offset, expected) for start in self._starts]
        if len(found) > 1:
            found = [one for one in found if one.expected_names] or found[:1]
        return _merged(offset, found)

    def _from(self, start: str, before: bytes, offset: int, expected: bytes) -> Explanation:
        if self._has_lexer:
            return self._with_lexer(start, before, offset, expected)
        text = ScannedText(self._scanner, before, expected)

        def name(could: Could) -> str | None:
            called = self._name_of[could.terminal]
            return self._shown.get(called, called)

        top, blanks = start, None
        if _IGNORED in self._productions:
            top, blanks = f"__{start}_at_end", _IGNORED
        made = explain(self._net, top, text, offset, name, _is_shown, blanks=blanks)
        path = made.rule_path if made.rule_path[:1] == (start,) else (start, *made.rule_path)
        return Explanation(offset, made.expected_names, made.begun, path)

    def _with_lexer(self, start: str, before: bytes, offset: int, expected: bytes) -> Explanation:
        text, rest = _decoded(before)
        self._known = []
        lexemes, last, at = self._lexemes(start, text)
        bytes_of = text.encode()
        may_come = frozenset(expected)
        absorbed: frozenset[int] = frozenset()
        found: list[Explanation] = []
        tail = text[at:].encode() + rest
        if tail:
            begun = self._begun(start, lexemes, text, at, rest, may_come)
            if begun is not None:
                explanation, absorbed = begun
                found.append(explanation)
        if not rest and (last is not None or not tail):
            whole = [*lexemes, *([last] if last is not None else [])]
            others = may_come - absorbed

            def can_come(terminal: Terminal) -> bool:
                name = self._name_of[terminal]
                if name not in self._shown:
                    return bool(others)  # a lexeme that the Indenter makes of a newline
                return self._scanner.can_go_on(self._scanner.start(terminal), others)

            found.append(self._after(start, whole, len(bytes_of), can_come, begun=False))
        return _merged(offset, [one for one in found if one.expected_names] or found)

    def _begun(
        self,
        start: str,
        lexemes: Sequence[_Lexeme],
        text: str,
        at: int,
        rest: bytes,
        expected: frozenset[int],
    ) -> tuple[Explanation, frozenset[int]] | None:
        """What the text after some lexemes may be the beginning of, and how it may go on."""
        for taken_off in range(min(len(lexemes), _MOST_TAKEN_OFF) + 1):
            kept = lexemes[: len(lexemes) - taken_off]
            if taken_off:
                at = lexemes[len(kept)].start
            tail = text[at:].encode() + rest
            states = {}
            for name, terminal in self._terminals.items():
                state = self._scanner.start(terminal)
                for byte in tail:
                    state = self._scanner.after(state, byte)
                    if state == DEAD:
                        break
                if state != DEAD and self._scanner.can_go_on(state, expected):
                    states[terminal] = state
                    if name in self._ignored:
                        shown = self._shown[name]
                        path = self._after(start, kept, 0, lambda _: True, begun=False).rule_path
                        inside = Explanation(0, (shown,), (shown,), path)
                        return inside, self._scanner.bytes_after(state) & expected
            if states:
                made = self._after(start, kept, 0, states.__contains__, begun=True)
                if made.expected_names:
                    shown_as = {self._name(t): s for t, s in states.items()}
                    going = [s for n, s in shown_as.items() if n in made.expected_names]
                    absorbed = [self._scanner.bytes_after(s) & expected for s in going]
                    return made, frozenset[int]().union(*absorbed)
        return None

    def _after(
        self,
        start: str,
        lexemes: Sequence[_Lexeme],
        offset: int,
        may_come: Callable[[Terminal], bool],
        *,
        begun: bool,
    ) -> Explanation:
        """What could come after some lexemes."""
        symbols = [lexeme.name for lexeme in lexemes]
        may = may_come
        if self._is_lalr:
            parser = self._parsers[start]
            stacks = self._stacks(parser, lexemes)
            if not stacks:
                return Explanation(offset)
            (stack,) = stacks
            symbols = self._symbols(stack)

            def may(terminal: Terminal) -> bool:
                return may_come(terminal) and bool(parser.feed(stacks, self._name_of[terminal]))

        chart = Chart(self._net, start, _Lexemes(symbols, self._productions, self._name_of, may))
        chart.read()
        chart_end = len(symbols)
        named = [(c, called) for c in chart.could() if (called := self._name(c.terminal))]
        names = tuple(dict.fromkeys(called for _, called in named))
        path = chart.path([c for c, _ in named], chart_end + begun)
        return Explanation(offset, names, names if begun else (), tuple(filter(_is_shown, path)))

    def _stacks(self, parser: Lalr, lexemes: Sequence[_Lexeme]) -> frozenset[Stack]:
        """The stack after some lexemes, if there is one; those of the same text are kept."""
        known = self._known
        same = 0
        while same < min(len(known), len(lexemes)) and known[same][0] is lexemes[same]:
            same += 1
        del known[same:]
        stacks = known[-1][1] if known else parser.start()
        for lexeme in lexemes[same:]:
            stacks = parser.feed(stacks, lexeme.name)
            if not stacks:
                break
            known.append((lexeme, stacks))
        return stacks

    def _symbols(self, stack: Stack) -> list[str]:
        """The symbols of a stack, the first at the bottom."""
        found = []
        at: Stack = stack
        while at.below is not None:
            found.append(self._symbol_of[at.state])
            at = at.below
        return found[::-1]

    def _lexemes(self, start: str, text: str) -> tuple[list[_Lexeme], _Lexeme | None, int]:
        """The lexemes that end before the text does; one that ends with it; where the rest is."""
        from lark.exceptions import LarkError, UnexpectedInput

        found: list[_Lexeme] = []
        at = 0
        try:
            for token, accept in self._tokens(start, text):
                if token.start_pos is None or self._ends_with_text(found, token.type):
                    break
                at = token.start_pos
                lexeme = _Lexeme(token.type, token.start_pos, token.end_pos)
                if lexeme.end == len(text):
                    return found, lexeme, at
                accept(token)
                found.append(lexeme)
                at = lexeme.end
        except UnexpectedInput as error:  # of characters or a token: what is ignored is before it
            return found, None, at if error.pos_in_stream is None else error.pos_in_stream
        except LarkError:
            return found, None, at
        return found, None, len(text)

    def _ends_with_text(self, before: Sequence[_Lexeme], name: str) -> bool:
        """Whether a lexeme ends a block because the text does: no newline came before it."""
        indenter: Any = self._lark.options.postlex
        if indenter is None or name != indenter.DEDENT_type:
            return False
        of_line = (indenter.NL_type, indenter.INDENT_type, indenter.DEDENT_type)
        return not before or before[-1].name not in of_line

    def _tokens(self, start: str, text: str) -> Iterable[tuple[Any, Callable[[Any], object]]]:
        """Lark's lexemes, each with what is called before the next."""
        if self._is_lalr:
            from lark.lexer import LexerThread

            run = _Run(self._parsers[start])
            thread: Any = LexerThread.from_text(self._lark.parser.lexer, text)
            for token in thread.lex(run):
                yield token, run.accept
        else:
            for token in self._lark.lex(text):
                yield token, lambda _: None

    # Derivations

    def derivation(self, text: bytes) -> Derivation | None:
        """See `Explainer.derivation`."""
        for start in self._starts:
            found = self._derivation(start, text)
            if found is not None:
                return found
        return None

    def _derivation(self, start: str, data: bytes) -> Derivation | None:
        if not self._has_lexer:
            scanned = ScannedText(self._scanner, data, b"")
            top = f"__{start}_at_end" if _IGNORED in self._productions else start
            made = derive(self._net, top, scanned, self._name, _is_shown)
            if made is None:
                return None
            path = tuple(filter(_is_shown, made.rule_path))
            return Derivation(path or (start,), made.parts)
        text = data.decode()
        lexemes, last, _ = self._lexemes(start, text)
        whole = [*lexemes, *([last] if last is not None else [])]
        if self._lark.options.postlex is not None:
            whole = self._with_ends_of_blocks(start, text)
        symbols = _Lexemes([x.name for x in whole], {}, self._name_of, lambda _: False)

        def place_of(piece: Piece) -> tuple[int, int]:
            if piece.start == piece.end:
                return 0, 0
            first, final = whole[piece.start].start, whole[piece.end - 1].end
            return len(text[:first].encode()), len(text[:final].encode())

        return derive(self._net, start, symbols, self._name, _is_shown, place_of)

    def _with_ends_of_blocks(self, start: str, text: str) -> list[_Lexeme]:
        """All lexemes, those too that the Indenter makes at the end."""
        found = []
        for token, accept in self._tokens(start, text):
            accept(token)
            begin, end = token.start_pos, token.end_pos
            found.append(
                _Lexeme(
                    token.type,
                    len(text) if begin is None else begin,
                    len(text) if end is None else end,
                )
            )
        return found


def _decoded(data: bytes) -> tuple[str, bytes]:
    """The text, and the bytes of a code point that is not whole yet."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data)
    return text, decoder.getstate()[0]


def _is_shown(rule: str) -> bool:
    """Whether a rule is one of the grammar's own, and not lark's for a repeat."""
    return not rule.startswith("__")


def _shown(terminal: Any) -> str:  # noqa: ANN401 - a TerminalDef of lark
    from lark.lexer import PatternStr

    pattern = terminal.pattern
    flags = "".join(sorted(pattern.flags))
    if isinstance(pattern, PatternStr):
        escaped = pattern.value.replace("\\", "\\\\").replace('"', '\\"')
        printable = "".join(
            c if c.isprintable() else c.encode("unicode_escape").decode() for c in escaped
        )
        return f'"{printable}"{flags}'
    if terminal.name.startswith("__"):
        return f"/{pattern.value}/{flags}"
    return str(terminal.name)


class _Run:
    """A text's way through the table, as far as lark's lexers ask for it.

    Attributes:
        position: The state.
    """

    def __init__(self, parser: Lalr) -> None:
        self._parser = parser
        self._stacks = parser.start()
        self.position = parser.first

    def accept(self, token: Any) -> None:  # noqa: ANN401 - lark.Token
        """Go on with a lexeme.

        Raises:
            lark.exceptions.UnexpectedToken: It cannot come here.
        """
        from lark.exceptions import UnexpectedToken

        stacks = self._parser.feed(self._stacks, token.type)
        if not stacks:
            raise cast(Any, UnexpectedToken)(token, set())
        self._stacks = stacks
        (stack,) = stacks
        self.position = stack.state


def _accessing(table: Table) -> dict[int, str]:
    """The symbol that leads to each state."""
    return {
        action: symbol
        for actions in table.states.values()
        for symbol, action in actions.items()
        if isinstance(action, int)
    }


def _merged(offset: int, found: Sequence[Explanation]) -> Explanation:
    """What several readings say together: all names, and the path that they have in common."""
    names = dict.fromkeys(name for one in found for name in one.expected_names)
    begun = dict.fromkeys(name for one in found for name in one.begun)
    path: tuple[str, ...] = found[0].rule_path if found else ()
    for one in found[1:]:
        same = 0
        for a, b in zip(path, one.rule_path, strict=False):
            if a != b:
                break
            same += 1
        path = path[:same]
    return Explanation(offset, tuple(names), tuple(begun), path)
