"""Terminals of a Lark grammar that get into each other's way.

For "lalr" the lexer decides at each place: the first terminal in lark's order (priority, then the
longest pattern) that matches there, string before pattern. So of two patterns that may stand at one
place and match one text, one always loses that text, and a terminal whose every text another one
takes never comes at all. For "earley" with a dynamic lexer both are tried: a text is read in two
ways. Which terminals may stand at one place is lark's to say: its contextual lexers, or the states
of the grammar's automaton.

What is decided, not reported: a string before a pattern (`"if"` before NAME), and what has
priorities that differ.

Cost: O(patterns^2) intersections; a search for each that is not empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from constrain.algebra.terms import ALL, EMPTY, Term, cat, complement
from constrain.errors import ConstrainError, GrammarSyntaxError, LimitExceededError
from constrain.frontends.lark.automaton import ROOT, Automaton, Production
from constrain.frontends.regex import lower, parse
from constrain.limits import Limits
from constrain.lint.findings import Finding
from constrain.lint.outline import Outline, Span
from constrain.lint.witness import Witnesses

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["check_terminals", "terms_of_terminals"]

_MAX_PLACES: Final = 2_000
_MAX_PAIRS: Final = 4_000


@dataclass(frozen=True, slots=True)
class _Terminal:
    """A terminal.

    Attributes:
        term: The texts that it matches as a whole.
        plain: No lookaround; then it matches at the beginning of a text exactly if some beginning
            is in `term`.
    """

    name: str
    pattern: str
    compiled: re.Pattern[str]
    is_string: bool
    value: str
    priority: int
    term: Term
    plain: bool


@dataclass(frozen=True, slots=True)
class _Lexer:
    """Terminals that compete, in lark's order, and the strings that take a pattern's place."""

    order: tuple[str, ...]
    strings: tuple[tuple[str, tuple[str, ...]], ...]

    def instead(self, name: str) -> tuple[str, ...]:
        """The strings that take the place of a pattern where the text is theirs."""
        return dict(self.strings).get(name, ())


def terms_of_terminals(lark: Lark, limits: Limits) -> dict[str, Term]:
    """The texts of each terminal that the front-end can read."""
    return {t.name: t.term for t in _terminals(lark, limits).values()}


def check_terminals(lark: Lark, outline: Outline, limits: Limits) -> Iterator[Finding]:
    """All findings about terminals.

    Args:
        lark: The grammar as lark read it.
        outline: The same grammar as it is written, for the places.
        limits: Bound the searches.
    """
    checker = _Checker(lark, outline, limits)
    if str(lark.options.lexer).startswith("dynamic"):
        yield from checker.ambiguous()
    else:
        yield from checker.competing()


def _terminals(lark: Lark, limits: Limits) -> dict[str, _Terminal]:
    found = {}
    for t in lark.terminals:
        pattern = t.pattern.to_regexp()
        try:
            node = parse(pattern, limits=limits)
            found[t.name] = _Terminal(
                t.name,
                pattern,
                re.compile(pattern),
                t.pattern.type == "str",
                t.pattern.value,
                t.priority,
                lower(node, limits=limits),
                node.plain,
            )
        except (ConstrainError, re.error):
            continue
    return found


class _Checker:
    def __init__(self, lark: Lark, outline: Outline, limits: Limits) -> None:
        self._lark = lark
        self._outline = outline
        self._limits = limits
        self._terminals = _terminals(lark, limits)
        self._witnesses = Witnesses(limits)

    # lalr, or earley with a basic lexer

    def competing(self) -> Iterator[Finding]:
        lexers = self._lexers()
        never = list(self._never_winning(lexers))
        for name, takers in never:
            yield self._never(name, takers)
        lost = {name for name, _ in never}
        ignored = set(self._lark.ignore_tokens)
        done: set[frozenset[str]] = set()
        for lexer in lexers:
            patterns = [n for n in lexer.order if not self._is_string(n) and n not in lost]
            for i, a in enumerate(patterns):
                for b in patterns[i + 1 :]:
                    pair = frozenset((a, b))
                    if pair in done or len(done) > _MAX_PAIRS or pair <= ignored:
                        continue
                    done.add(pair)
                    yield from self._overlap(lexer, a, b)

    def _lexers(self) -> list[_Lexer]:
        lexer: Any = self._lark.parser.lexer
        lexer = getattr(lexer, "lexer", lexer) if self._lark.options.postlex else lexer
        contextual = getattr(lexer, "lexers", None)
        every = [lexer] if contextual is None else list(contextual.values())
        try:
            return list(dict.fromkeys(map(_read_lexer, every)))
        except GrammarSyntaxError:  # a pattern that `re` takes alone, and not beside others
            return []

    def _never_winning(self, lexers: list[_Lexer]) -> Iterator[tuple[str, list[str]]]:
        """Terminals that no lexer ever produces, each with those that take its texts."""
        for name, terminal in self._terminals.items():
            here = [lexer for lexer in lexers if name in lexer.order or name in _strings(lexer)]
            if not here or terminal.term is EMPTY:
                continue
            text = (
                terminal.value if terminal.is_string else self._witnesses.shortest([terminal.term])
            )
            if text is None or any(self._winner(lexer, text) == name for lexer in here):
                continue
            # A string has one text, and that is lost.
            one_text = terminal.is_string and not terminal.pattern.startswith("(?")
            if one_text or not any(self._may_win(lexer, name) for lexer in here):
                takers = [self._winner(lexer, text) for lexer in here]
                yield name, list(dict.fromkeys(t for t in takers if t is not None))

    def _may_win(self, lexer: _Lexer, name: str) -> bool:
        """Whether some text of a pattern is not taken by those before it; True if in doubt."""
        terminal = self._terminals[name]
        if name not in lexer.order:
            return True
        taken: list[Term] = []
        for other in lexer.order[: lexer.order.index(name)]:
            if other not in self._terminals:
                return True
            if self._terminals[other].plain:
                taken.append(cat(self._terminals[other].term, ALL))
        taken += [self._terminals[s].term for s in lexer.instead(name) if s in self._terminals]
        store_terms = [terminal.term, *map(complement, taken)]
        return not self._witnesses.proves_empty(store_terms)

    def _winner(self, lexer: _Lexer, text: str) -> str | None:
        """The terminal that the beginning of a text becomes, if nothing comes after the text."""
        for name in lexer.order:
            terminal = self._terminals.get(name)
            found = None if terminal is None else terminal.compiled.match(text)
            if found is None:
                continue
            for string in lexer.instead(name):
                if string in self._terminals and self._terminals[string].compiled.fullmatch(
                    found[0]
                ):
                    return string
            return name
        return None

    def _never(self, name: str, takers: list[str]) -> Finding:
        others = ", ".join(self._shown(t) for t in takers) or "others"
        return self._outline.source.finding(
            "terminal-never-wins",
            f"no text ever becomes {self._shown(name)}: {others} is tried before and takes it",
            f"give it a higher priority, as in {_named(name)}.2: ..., or make the other narrower",
            self._place(name),
        )

    def _overlap(self, lexer: _Lexer, a: str, b: str) -> Iterator[Finding]:
        first, second = self._terminals.get(a), self._terminals.get(b)
        if first is None or second is None or first.priority != second.priority:
            return
        text = self._witnesses.shortest([first.term, second.term])
        if text is None or not text:
            return
        winner = self._winner(lexer, text)
        wins = f"; {self._shown(winner)} wins" if winner is not None else ""
        yield self._outline.source.finding(
            "terminal-overlap",
            f"{self._shown(a)} and {self._shown(b)} both match {text!r}, and may stand at the "
            f"same place{wins}",
            "give one of them a priority, as in "
            f"{_named(b)}.2: ..., or take the common texts out of one",
            self._place(b) or self._place(a),
            example=text,
        )

    # earley with a dynamic lexer

    def ambiguous(self) -> Iterator[Finding]:
        """Patterns that match what another terminal of the same place matches."""
        found: dict[str, dict[str, str]] = {}
        done: set[frozenset[str]] = set()
        for together in self._places():
            names = [n for n in together if n in self._terminals]
            for a in names:
                for b in names:
                    pair = frozenset((a, b))
                    if a == b or pair in done or self._is_string(a) or len(done) > _MAX_PAIRS:
                        continue
                    if self._is_string(b) or a < b:
                        done.add(pair)
                        text = self._common(a, b)
                        if text:
                            found.setdefault(a, {})[b] = text
        for name, others in found.items():
            shown = [self._shown(o) for o in list(others)[:5]]
            more = f" and {len(others) - 5} more" if len(others) > 5 else ""
            example = min(others.values(), key=len)
            yield self._outline.source.finding(
                "ambiguous-terminals",
                f"{self._shown(name)} also matches texts of {', '.join(shown)}{more}, which may "
                f"stand at the same place: {example!r} can be read in two ways",
                "say in the pattern what is left out, as in (?!if\\b), or use parser='lalr'",
                self._place(name),
                example=example,
            )

    def _common(self, a: str, b: str) -> str | None:
        first, second = self._terminals[a], self._terminals[b]
        if second.is_string:
            return second.value if first.compiled.fullmatch(second.value) else None
        return self._witnesses.shortest([first.term, second.term])

    def _places(self) -> Iterator[list[str]]:
        """Sets of terminals that may stand at one place."""
        rules = self._lark.rules
        productions = [
            Production(r.origin.name, tuple([s.name for s in r.expansion])) for r in rules
        ]
        starts = [Production(ROOT, (name,)) for name in self._lark.options.start]
        try:
            automaton = Automaton([*starts, *productions], self._limits)
            seen = {0}
            todo = [0]
            sets: dict[tuple[str, ...], None] = {}
            for state in todo:
                symbols = list(automaton.symbols(state))
                sets[tuple(sorted(s for s in symbols if s in self._terminals))] = None
                for symbol in symbols:
                    after = automaton.goto(state, symbol)
                    if after is not None and after not in seen and len(seen) < _MAX_PLACES:
                        seen.add(after)
                        todo.append(after)
        except LimitExceededError:
            return
        yield from map(list, sets)

    # Names and places

    def _is_string(self, name: str) -> bool:
        return name not in self._terminals or self._terminals[name].is_string

    def _shown(self, name: str) -> str:
        terminal = self._terminals.get(name)
        if terminal is None or name in self._outline.definitions or name in self._outline.opaque:
            return f"terminal {name}"
        if self._written(terminal) is None:  # imported by what this grammar imports
            return f"terminal {name.replace('__', '.')}"
        return repr(terminal.value) if terminal.is_string else f"/{terminal.value}/"

    def _place(self, name: str) -> Span | None:
        definition = self._outline.definitions.get(name)
        if definition is not None:
            return definition.span
        if name in self._outline.opaque:
            return self._outline.opaque[name]
        terminal = self._terminals.get(name)
        return None if terminal is None else self._written(terminal)

    def _written(self, terminal: _Terminal) -> Span | None:
        """Where an anonymous terminal stands first."""
        quote = '"' if terminal.is_string else "/"
        written = f"{quote}{terminal.value}{quote}"
        at = self._outline.source.text.find(written)
        return None if at < 0 else (at, at + len(written))


def _read_lexer(lexer: Any) -> _Lexer:  # noqa: ANN401 - lark's BasicLexer
    order = tuple([t.name for t in lexer.scanner.terminals])  # makes `callback`
    instead = {
        name: tuple([t.name for t in callback.scanner.terminals])
        for name, callback in lexer.callback.items()
        if hasattr(callback, "scanner")
    }
    return _Lexer(order, tuple(instead.items()))


def _strings(lexer: _Lexer) -> Iterable[str]:
    return [name for _, group in lexer.strings for name in group]


def _named(name: str) -> str:
    return "NAME" if "__" in name else name
