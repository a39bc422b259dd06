"""The syntax tree to productions without operators, and the terms of their terminals.

    start: "a" (b | "c")* d{2,3}

    0|start -> 0|"a" 0|start#1 0|start#2      0|start#1 -> 0|start#1 0|start#3 | (nothing)      ...

A symbol is `class|name`: the grammar text is class 0, each `%lark {...}` in it has its own, and so
has each `%json`, whose terminal is a whole JSON text. A rule with a parameter is a symbol for each
value that it is given. Only what the start reaches is read, as in that engine.

Cost: O(size of the tree), times the values of parameters; counted repeats are written out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from constrain.algebra.terms import (
    EMPTY,
    Term,
    alt,
    cat,
    literal,
    non_nullable,
    token,
)
from constrain.errors import GrammarSyntaxError, UnsupportedFeatureError
from constrain.frontends.lark.automaton import Production
from constrain.frontends.llguidance.contest import Contest, Ignored, Lexeme, Rows
from constrain.frontends.llguidance.inline_json import lower_schema
from constrain.frontends.llguidance.syntax import (
    Choice,
    Expression,
    GrammarText,
    Inverse,
    Literal,
    Name,
    Nested,
    Pattern,
    Range,
    Reference,
    Repetition,
    RuleDefinition,
    Schema,
    Sequence,
    Span,
    SpecialToken,
    Substring,
    parts_of,
)
from constrain.frontends.llguidance.terminals import Terminals, unknown_name
from constrain.frontends.mistaken import hint_on_name, nearest
from constrain.limits import Limits

__all__ = ["Counted", "Made", "make_productions"]

_ID: Final = re.compile("[0-9]{1,18}")
_PRODUCTION_COST: Final = 10
"""What a production costs in `Limits.max_source_nodes`."""
_MOST_STOPS: Final = 64
_MOST_TOKENS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Counted:
    """How many tokens a rule may come to, and where that is said."""

    most: int
    source: str
    span: Span


@dataclass(slots=True)
class Made:
    """What a grammar became.

    Attributes:
        productions: Without one for the root.
        lexemes: By symbol; several where they hide different ends.
        others: Terms of the terminals that are no lexemes.
        ignored: By class.
        calls: Symbols that may come to so many tokens only.
    """

    productions: list[Production] = field(default_factory=list)
    lexemes: dict[str, list[Lexeme]] = field(default_factory=dict)
    others: dict[str, Term] = field(default_factory=dict)
    ignored: dict[str, Ignored] = field(default_factory=dict)
    calls: dict[str, Counted] = field(default_factory=dict)


def make_productions(
    grammar: GrammarText, named: Mapping[str, GrammarText], starts: list[str], limits: Limits
) -> tuple[Made, list[str]]:
    """Productions, and the symbols of the start rules.

    Args:
        grammar: The whole.
        named: What it may refer to.
        starts: The start rules.
        limits: Budgets.

    Raises:
        GrammarSyntaxError: A name is not defined, or something stands where it may not.
        UnsupportedFeatureError: Something cannot be honoured exactly.
        GrammarError: A schema in it is wrong.
        LimitExceededError: It is larger than the limits allow.
    """
    writer = _Writer(grammar.source, named, limits)
    symbols = [writer.open(grammar, start, (0, 1)) for start in starts]
    writer.write()
    return writer.made, symbols


@dataclass(frozen=True, slots=True, eq=False)
class _Text:
    """One grammar text: its class, and its terminals."""

    name: str
    grammar: GrammarText
    terminals: Terminals


@dataclass(frozen=True, slots=True)
class _Todo:
    """A symbol that is to be defined as an expression, in a rule with a parameter or without."""

    symbol: str
    text: _Text
    body: Expression
    parameter: int | None
    rule: str


class _Writer:
    def __init__(self, source: str, named: Mapping[str, GrammarText], limits: Limits) -> None:
        self.made = Made()
        self._source = source  # of what is being written
        self._named = named
        self._limits = limits
        self._rows = Rows(limits)
        self._texts: dict[GrammarText, _Text] = {}
        self._opened: set[str] = set()
        self._todo: list[_Todo] = []
        self._symbols: dict[object, str] = {}
        self._count = 0

    def open(self, grammar: GrammarText, start: str, span: Span) -> str:
        """The symbol of the start rule of a grammar text."""
        before, self._source = self._source, grammar.source
        symbol = self._open(grammar, start, span)
        self._source = before
        return symbol

    def _open(self, grammar: GrammarText, start: str, span: Span) -> str:
        text = self._texts.get(grammar)
        if text is None:
            terminals = Terminals(self._source, grammar, self._limits)
            text = self._texts[grammar] = _Text(str(len(self._texts)), grammar, terminals)
            self._ignore(text)
        rule = grammar.rules.get(start)
        if rule is None:
            raise GrammarSyntaxError(
                f"the grammar has no rule {start!r}",
                source=self._source,
                span=span,
                hint=hint_on_name(start, grammar.rules, "one rule is the whole: name it start"),
            )
        return self._rule(text, rule, None, rule.span)

    def write(self) -> None:
        """Write all productions that the start rules reach."""
        while self._todo:
            todo = self._todo.pop()
            body = todo.body
            self._source = todo.text.grammar.source
            if isinstance(body, Choice):
                for option in body.options:
                    if option.condition is not None:
                        if todo.parameter is None and option.condition.reads:
                            raise self._error(
                                f"rule {todo.rule!r} has no parameter, and a condition on it",
                                body.span,
                                f"write it {todo.rule}::_",
                            )
                        if not option.condition.holds(todo.parameter or 0):
                            continue
                    self._add(todo.symbol, self._flat(option.body, todo))
            elif isinstance(body, Repetition):
                self._repeat(todo, body)
            else:
                self._add(todo.symbol, self._flat(body, todo))

    def _add(self, symbol: str, expansion: tuple[str, ...]) -> None:
        self.made.productions.append(Production(symbol, expansion))
        count = _PRODUCTION_COST * len(self.made.productions)
        self._limits.check("max_source_nodes", count, "the rules of a grammar")

    def _fresh(self, text: _Text, name: str) -> str:
        self._count += 1
        return f"{text.name}|{name}#{self._count}"

    def _error(self, reason: str, span: Span, hint: str | None = None) -> GrammarSyntaxError:
        return GrammarSyntaxError(reason, source=self._source, span=span, hint=hint)

    def _unsupported(
        self, reason: str, span: Span, hint: str | None = None
    ) -> UnsupportedFeatureError:
        return UnsupportedFeatureError(reason, source=self._source, span=span, hint=hint)

    # Expressions

    def _flat(self, expression: Expression, where: _Todo) -> tuple[str, ...]:
        """The symbols of an expression one after another."""
        found: list[str] = []
        todo = [expression]
        while todo:
            part = todo.pop()
            if isinstance(part, Sequence):
                todo += reversed(part.parts)
            elif isinstance(part, (Choice, Repetition)):
                key = (part, where.parameter)
                symbol = self._symbols.get(key)
                if symbol is None:
                    symbol = self._symbols[key] = self._fresh(where.text, where.rule)
                    self._todo.append(_Todo(symbol, where.text, part, where.parameter, where.rule))
                found.append(symbol)
            else:
                found += self._leaf(part, where)
        return tuple(found)

    def _repeat(self, where: _Todo, repeat: Repetition) -> None:
        body = self._flat(repeat.body, where)
        symbol, lo, hi = where.symbol, repeat.lo, repeat.hi
        if hi is None and lo <= 1:
            self._add(symbol, (symbol, *body))
            self._add(symbol, body if lo else ())
            return
        for n in range(lo if hi is None else hi):
            after = self._fresh(where.text, where.rule)
            self._add(symbol, (*body, after))
            if n >= lo:
                self._add(symbol, ())
            symbol = after
        self._add(symbol, ())
        if hi is None:
            self._add(symbol, (symbol, *body))

    def _leaf(self, part: Expression, where: _Todo) -> tuple[str, ...]:
        text = where.text
        if isinstance(part, Name):
            rule = text.grammar.rules.get(part.name)
            if rule is not None:
                return (self._use(rule, part, where),)
            if part.name not in text.grammar.terminals:
                raise unknown_name(part, self._source, text.grammar)
            if part.step is not None:
                raise self._error("terminals have no parameter", part.span)
            return self._lexeme(text, ("name", part.name), part.name, part)
        if isinstance(part, Literal):
            shown = f'"{part.text}"' + "i" * part.any_case
            return self._lexeme(text, ("text", part.text, part.any_case), shown, part)
        if isinstance(part, Pattern):
            shown = f"/{part.pattern}/{part.flags}"
            return self._lexeme(text, ("pattern", part.pattern, part.flags), shown, part)
        if isinstance(part, Range):
            shown = f'"{part.first}".."{part.last}"'
            return self._lexeme(text, ("range", part.first, part.last), shown, part)
        if isinstance(part, Substring):
            return self._lexeme(text, ("substring", part.chunks), "%regex", part)
        if isinstance(part, Inverse):
            return self._lexeme(text, part, "~", part)
        if isinstance(part, SpecialToken):
            symbol = f"{text.name}|{part.text}"
            if symbol not in self.made.others:
                self.made.others[symbol] = self._token(part)
            return (symbol,)
        if isinstance(part, Schema):
            return (self._schema(text, part),)
        if isinstance(part, Nested):
            return (self._nested(text, part),)
        if isinstance(part, Reference):
            return (self._reference(text, part),)
        raise self._error(
            "'&' may stand in terminals only", part.span, "name the rule in upper case"
        )

    def _schema(self, text: _Text, part: Schema) -> str:
        symbol = self._symbols.get(part)
        if symbol is None:
            symbol = self._symbols[part] = self._fresh(text, "%json")
            terminal = f"{symbol.replace('|', '.')}|JSON"
            self.made.others[terminal] = lower_schema(part, self._source, self._limits)
            self._add(symbol, (terminal,))
        return symbol

    def _nested(self, text: _Text, part: Nested) -> str:
        symbol = self._symbols.get(part)
        if symbol is None:
            symbol = self._symbols[part] = self._fresh(text, "%lark")
            self._add(symbol, (self.open(part.grammar, "start", part.span),))
        return symbol

    def _reference(self, text: _Text, part: Reference) -> str:
        symbol = self._symbols.get((text, "@", part.name))
        if symbol is None:
            grammar = self._named.get(part.name)
            if grammar is None:
                near = nearest(part.name, self._named)
                raise self._error(
                    f"the grammar refers to another one, @{part.name}, and none was given",
                    part.span,
                    f"did you mean @{near}?"
                    if near is not None
                    else "write it in its place, in %lark {...} or %json {...}",
                )
            symbol = self._symbols[text, "@", part.name] = self._fresh(text, f"@{part.name}")
            self._add(symbol, (self.open(grammar, "start", (0, 1)),))
        return symbol

    def _token(self, part: SpecialToken) -> Term:
        if not (part.text.startswith("<[") and part.text.endswith("]>")):
            return token(part.text)
        inside = part.text[2:-2]
        inverse = inside.startswith("^")
        inside = inside.removeprefix("^")
        if inside == "*":
            if inverse:
                raise self._error("no token is left of <[^*]>", part.span)
            return token(others=True)
        ids: set[int] = set()
        for piece in filter(None, inside.split(",")):
            ends = piece.split("-")
            if len(ends) > 2 or not all(_ID.fullmatch(e) for e in ends):
                raise self._error(
                    f"{piece!r} is no id or range of ids", part.span, "as in <[12,100-200]>"
                )
            first, last = int(ends[0]), int(ends[-1])
            if last < first:
                raise self._error(f"the range {piece!r} is empty", part.span, "swap its ends")
            if len(ids) + last - first > _MOST_TOKENS:
                raise self._error(f"there are more than {_MOST_TOKENS:,} ids", part.span)
            ids.update(range(first, last + 1))
        if not ids:
            raise self._error("there is no id", part.span, "as in <[12,100-200]>")
        return token(*ids, others=inverse)

    # Lexemes

    def _lexeme(self, text: _Text, key: object, shown: str, part: Expression) -> tuple[str, ...]:
        known = self._symbols.get((text, key))
        if known is None:
            term = text.terminals.lower(part)
            known = self._define(text, shown, [(term, b"")], lazy=False)
            self._symbols[text, key] = known
        return (known,) if known else ()

    def _define(
        self, text: _Text, shown: str, variants: list[tuple[Term, bytes]], *, lazy: bool
    ) -> str:
        """The symbol of a lexeme with some texts, the empty one too; "" if only that."""
        symbol = self._fresh(text, shown)
        nullable = any([term.nullable for term, _ in variants])
        if lazy and nullable:
            return ""
        lexemes = [
            Lexeme(symbol, proper, lazy, hidden)
            for term, hidden in variants
            if (proper := non_nullable(term)) is not EMPTY
            and not self._rows.is_empty(self._rows.intern(proper))
        ]
        if nullable and not lexemes:
            return ""
        self.made.lexemes[symbol] = lexemes
        if not nullable:
            return symbol
        either = self._fresh(text, shown)
        self._add(either, (symbol,))
        self._add(either, ())
        return either

    def _ignore(self, text: _Text) -> None:
        options = text.grammar.options
        term = alt([text.terminals.lower(part) for part in text.grammar.ignored])
        proper = non_nullable(term)
        lexeme = None
        if proper is not EMPTY and not self._rows.is_empty(self._rows.intern(proper)):
            lexeme = Lexeme(f"{text.name}|%ignore", proper, False)
        self.made.ignored[text.name] = Ignored(
            lexeme,
            at_start=options.get("allow_initial_skip", False),
            once=options.get("ignore_once", False) or options.get("skip_repetition") == "once",
        )

    # Rules

    def _use(self, rule: RuleDefinition, name: Name, where: _Todo) -> str:
        if not rule.parametric:
            if name.step is not None:
                raise self._error(
                    f"rule {name.name!r} has no parameter", name.span, f"define {name.name}::_"
                )
            return self._rule(where.text, rule, None, name.span)
        if name.step is None:
            raise self._error(
                f"rule {name.name!r} needs a parameter", name.span, f"as in {name.name}::0"
            )
        if name.step.reads and where.parameter is None:
            raise self._error(
                f"rule {where.rule!r} has no parameter to hand on",
                name.span,
                f"write it {where.rule}::_",
            )
        parameter = name.step.make(where.parameter or 0)
        return self._rule(where.text, rule, parameter, name.span)

    def _rule(self, text: _Text, rule: RuleDefinition, parameter: int | None, span: Span) -> str:
        symbol = f"{text.name}|{rule.name}"
        if rule.parametric:
            if parameter is None:
                raise self._error(
                    f"rule {rule.name!r} needs a parameter", span, f"as in {rule.name}::0"
                )
            symbol = f"{symbol}::{parameter:#x}"
        if symbol in self._opened:
            return symbol
        self._opened.add(symbol)
        self._limits.check("max_source_nodes", len(self._opened), "the rules of a grammar")
        given = rule.attributes.spans.keys() - {"capture"}
        if rule.parametric:
            if given:
                name = sorted(given)[0]
                raise self._error(
                    f"rule {rule.name!r} has a parameter, and may not have {name}",
                    rule.attributes.spans[name],
                )
            if not _reads_parameter(rule.body):
                raise self._error(
                    f"rule {rule.name!r} has a parameter that nothing in it reads",
                    rule.span,
                    f"write it {rule.name}",
                )
        most = rule.attributes.max_tokens
        inner = symbol
        if most == 0:
            inner = self._fresh(text, rule.name)  # read for its errors
            self._add(symbol, ())
        elif most is not None:
            inner = self._fresh(text, rule.name)
            span = rule.attributes.spans["max_tokens"]
            self.made.calls[inner] = Counted(most, self._source, span)
            self._add(symbol, (inner,))
        if given and not self._holds_grammar(rule):
            lexeme = self._attributed(text, rule)
            self._add(inner, (lexeme,) if lexeme else ())
        else:
            self._todo.append(_Todo(inner, text, rule.body, parameter, rule.name))
        return symbol

    def _holds_grammar(self, rule: RuleDefinition) -> bool:
        """Whether a rule is another grammar as a whole, so that it is not a terminal."""
        return isinstance(rule.body, (Schema, Nested, Reference)) and (
            rule.attributes.spans.keys() <= {"capture", "temperature", "max_tokens"}
        )

    def _attributed(self, text: _Text, rule: RuleDefinition) -> str:
        """The lexeme of a rule with attributes: its body is one terminal."""
        attributes = rule.attributes
        given = [name for name in ("lazy", "stop", "suffix") if name in attributes.spans]
        if len(given) > 1:
            raise self._error(
                f"{given[0]} and {given[1]} may not stand together", attributes.spans[given[1]]
            )
        if "stop_capture" in attributes.spans and not {"stop", "suffix"} & set(given):
            raise self._error("stop_capture needs stop or suffix", attributes.spans["stop_capture"])
        body = text.terminals.lower(rule.body)
        lazy, variants = attributes.lazy, [(body, b"")]
        if attributes.suffix is not None:
            suffix = text.terminals.lower(attributes.suffix)
            if _is_empty_text(attributes.suffix):
                raise self._error(
                    "the suffix is empty", attributes.spans["suffix"], "leave it out, or use lazy"
                )
            lazy, variants = True, [(cat(body, suffix), b"")]
        elif attributes.stop is not None and not _is_empty_text(attributes.stop):
            stop = text.terminals.lower(attributes.stop)
            lazy, variants = True, self._stopped(rule, body, stop)
        return self._define(text, rule.name, variants, lazy=lazy)

    def _stopped(self, rule: RuleDefinition, body: Term, stop: Term) -> list[tuple[Term, bytes]]:
        """The body with each text that stops it first."""
        if stop.nullable:
            return [(cat(body, stop), b"")]
        shortest = Contest(self._rows, [Lexeme("", stop, True)])
        try:
            words = shortest.short_words(_MOST_STOPS)
        except UnsupportedFeatureError as error:
            raise self._unsupported(
                f"the stop of rule {rule.name!r}: {error.reason}",
                rule.attributes.spans["stop"],
                "use suffix, whose text is part of the rule",
            ) from error
        return [(cat(body, literal(word)), word) for word in words]


def _is_empty_text(expression: Expression) -> bool:
    return isinstance(expression, Literal) and not expression.text


def _reads_parameter(root: Expression) -> bool:
    todo = [root]
    while todo:
        part = todo.pop()
        if isinstance(part, Name) and part.step is not None and part.step.reads:
            return True
        if isinstance(part, Choice) and any(
            option.condition is not None and option.condition.reads for option in part.options
        ):
            return True
        todo += parts_of(part)
    return False
