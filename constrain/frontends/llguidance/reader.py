"""From lexemes to the syntax tree.

    definition   a: b "c" | d      TERMINAL: /x/ & ~"y"      name[lazy]: ...      name::_ : ...
    statement    %import common.INT    %ignore /[ ]+/    %llguidance {...}

Binding, tightest first: `~` before an atom, a repeat after it, a sequence, `&`, `|`. Functions that
go into groups are generators, run on a list of their own, so that depth costs no stack.

Cost: O(length of the text).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Generator
from typing import Any, Final

from constrain.errors import GrammarSyntaxError, UnsupportedFeatureError
from constrain.frontends.llguidance.imports import COMMON
from constrain.frontends.llguidance.lexer import Lexeme, read_lexemes
from constrain.frontends.llguidance.options import check_options
from constrain.frontends.llguidance.parameters import CONDITIONS, STEPS, Bits, Condition, Step
from constrain.frontends.llguidance.substrings import read_substring
from constrain.frontends.llguidance.syntax import (
    Attributes,
    Both,
    Choice,
    Expression,
    GrammarText,
    Inverse,
    Literal,
    Name,
    Nested,
    Option,
    Pattern,
    Range,
    Reference,
    Repetition,
    RuleDefinition,
    Schema,
    Sequence,
    Span,
    SpecialToken,
    TerminalDefinition,
)
from constrain.limits import Limits

__all__ = ["read_grammar"]

_Reading = Generator["_Reading", Any, Any]

_MAX_COUNT: Final = (1 << 31) - 1
_MAX_DIGITS: Final = 18
"""Of a number: more say nothing more, and Python refuses to read thousands of them."""
_MAX_CONDITION_DEPTH: Final = 64
_ENDS: Final = ("newline", "|", "->", "}", ")", "]", "&", "%if", "end")
_OPERATORS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_NO_STATEMENT: Final = {
    "%declare": "terminals that are only declared",
    "%override": "rules that replace imported ones",
    "%extend": "rules that add to imported ones",
}


def read_grammar(text: str, limits: Limits) -> GrammarText:
    """The syntax tree of a grammar.

    Raises:
        GrammarSyntaxError: It does not parse.
        UnsupportedFeatureError: It has a part of Lark's syntax that this dialect lacks.
        LimitExceededError: It is too long or nests too deep.
    """
    limits.check("max_input_bytes", len(text.encode(errors="replace")), "a grammar")
    reader = _Reader(text, read_lexemes(text, limits), limits)
    made: GrammarText = reader.run(reader.grammar("end"))
    return made


class _Reader:
    def __init__(self, source: str, lexemes: list[Lexeme], limits: Limits) -> None:
        self._source = source
        self._lexemes = lexemes
        self._limits = limits
        self._at = 0

    def run(self, first: _Reading) -> Any:  # noqa: ANN401 - what `first` returns
        """The result of a generator; those that it yields are run for it."""
        running = [first]
        result: Any = None
        while running:
            try:
                inner = running[-1].send(result)
            except StopIteration as stopped:
                running.pop()
                result = stopped.value
            else:
                result = None
                running.append(inner)
                self._limits.check("max_nesting", len(running) // 6, "groups of a grammar")
        return result

    # Lexemes

    @property
    def _next(self) -> Lexeme:
        return self._lexemes[self._at]

    def _take(self) -> Lexeme:
        self._at += 1
        return self._lexemes[self._at - 1]

    def _accept(self, kind: str) -> Lexeme | None:
        return self._take() if self._next.kind == kind else None

    def _expect(self, kind: str, what: str, hint: str | None = None) -> Lexeme:
        found = self._accept(kind)
        if found is None:
            raise self._unexpected(f"expected {what}", hint)
        return found

    def _unexpected(self, expected: str, hint: str | None = None) -> GrammarSyntaxError:
        found = self._next
        shown = {"newline": "the end of the line", "end": "the end of the grammar"}
        name = shown.get(found.kind, repr(found.text))
        return self._error(f"{expected}, not {name}", (found.start, found.stop), hint)

    def _error(self, reason: str, span: Span, hint: str | None = None) -> GrammarSyntaxError:
        place = (span[0], max(span[1], span[0] + 1))
        return GrammarSyntaxError(reason, source=self._source, span=place, hint=hint)

    def _unsupported(
        self, reason: str, span: Span, hint: str | None = None
    ) -> UnsupportedFeatureError:
        return UnsupportedFeatureError(reason, source=self._source, span=span, hint=hint)

    def _since(self, start: Lexeme) -> Span:
        return (start.start, self._lexemes[self._at - 1].stop)

    def _skip_newlines(self) -> None:
        while self._accept("newline"):
            pass

    # Definitions and statements

    def grammar(self, end: str) -> _Reading:
        """A grammar up to the lexeme `end`, which is taken."""
        made = GrammarText(self._source)
        while True:
            self._skip_newlines()
            if self._accept(end):
                return made
            first = self._next
            if first.kind == "%ignore":
                self._take()
                made.ignored.append((yield self._expansions()))
            elif first.kind == "%import":
                self._import(made)
            elif first.kind == "%llguidance":
                self._take()
                check_options(first.value, self._source, (first.start, first.stop))
                made.options.update(first.value)
            elif first.kind in _NO_STATEMENT:
                raise self._unsupported(
                    f"{_NO_STATEMENT[first.kind]} ({first.kind}) are no part of this dialect",
                    (first.start, first.stop),
                    "pass dialect='lark', where the grammar is lark's otherwise",
                )
            elif first.kind == "terminal":
                yield self._terminal(made)
            elif first.kind in ("rule", "!", "?"):
                yield self._rule(made)
            else:
                raise self._unexpected("expected a rule, a terminal or a statement")
            if self._next.kind != end:
                self._expect("newline", "the end of the line")

    def _rule(self, made: GrammarText) -> _Reading:
        while self._next.kind in ("!", "?"):
            self._take()
        name = self._expect("rule", "the name of a rule")
        self._no_template()
        parametric = False
        if self._accept("::"):
            self._expect("_", "'_', as in 'name::_'")
            parametric = True
        self._no_priority()
        attributes = Attributes()
        if self._accept("["):
            yield self._attributes(attributes)
        self._expect(":", f"':' after the name of rule {name.text!r}")
        body = yield self._expansions()
        span = (name.start, name.stop)
        if name.text in made.rules:
            raise self._error(f"rule {name.text!r} is defined twice", span, "use one with |")
        made.rules[name.text] = RuleDefinition(name.text, attributes, parametric, body, span)

    def _terminal(self, made: GrammarText) -> _Reading:
        name = self._take()
        self._no_template()
        self._no_priority()
        if self._next.kind == "[":
            raise self._error(
                f"terminal {name.text!r} has attributes, and only rules may",
                (self._next.start, self._next.stop),
                "name it in lower case",
            )
        self._expect(":", f"':' after the name of terminal {name.text!r}")
        body = yield self._expansions()
        self._define(made, name, body)

    def _define(self, made: GrammarText, name: Lexeme, body: Expression) -> None:
        span = (name.start, name.stop)
        if name.text in made.terminals:
            raise self._error(f"terminal {name.text!r} is defined twice", span, "use one with |")
        made.terminals[name.text] = TerminalDefinition(name.text, body, span)

    def _no_template(self) -> None:
        if self._next.kind == "{":
            raise self._unsupported(
                "templates are no part of this dialect",
                (self._next.start, self._next.stop),
                "pass dialect='lark', where the grammar is lark's otherwise",
            )

    def _no_priority(self) -> None:
        if self._next.kind == ".":
            raise self._unsupported(
                "priorities are no part of this dialect",
                (self._next.start, self._next.stop),
                "pass dialect='lark', where the grammar is lark's otherwise",
            )

    def _import(self, made: GrammarText) -> None:
        first = self._take()
        path: list[Lexeme] = []
        relative = self._accept(".") is not None
        while True:
            if self._next.kind not in ("rule", "terminal"):
                raise self._unexpected("expected a name after %import")
            path.append(self._take())
            if not self._accept("."):
                break
        module, names = path[:-1], [path[-1]]
        if self._accept("("):
            module, names = path, []
            while not self._accept(")"):
                if self._next.kind not in ("rule", "terminal"):
                    raise self._unexpected("expected a name to import")
                names.append(self._take())
                if not self._accept(",") and self._next.kind != ")":
                    raise self._unexpected("expected ',' or ')'")
        alias = self._take() if self._accept("->") and self._next.kind == "terminal" else None
        if relative or [part.text for part in module] != ["common"]:
            raise self._unsupported(
                "only 'common' can be imported in this dialect",
                self._since(first),
                "pass dialect='lark', where the grammar is lark's otherwise",
            )
        for name in names:
            span = (name.start, name.stop)
            if name.text not in COMMON:
                raise self._error(
                    f"'common' has no {name.text!r}", span, f"it has {', '.join(COMMON)}"
                )
            pattern = Pattern(COMMON[name.text], "", span)
            self._define(made, alias or name, pattern)

    # Attributes

    def _attributes(self, made: Attributes) -> _Reading:
        while not self._accept("]"):
            key = self._expect("rule", "the name of an attribute")
            span = (key.start, key.stop)
            if key.text in made.spans:
                raise self._error(f"attribute {key.text!r} is given twice", span)
            made.spans[key.text] = span
            if key.text == "lazy":
                made.lazy = True
            elif key.text in ("stop", "suffix"):
                self._expect("=", f"'=' after {key.text}")
                value = yield self._atom()
                setattr(made, key.text, value)
            elif key.text == "max_tokens":
                made.max_tokens = self._attribute_count()
            elif key.text == "temperature":
                made.temperature = self._attribute_number()
            elif key.text in ("capture", "stop_capture"):
                if key.text == "stop_capture" or self._next.kind == "=":
                    self._expect("=", f"'=' after {key.text}")
                    name = self._expect("string", "a name in quotes")
                    if not self._text(name)[0]:
                        raise self._error("the name is empty", (name.start, name.stop))
            else:
                known = "lazy, stop, suffix, max_tokens, temperature, capture, stop_capture"
                raise self._error(f"there is no attribute {key.text!r}", span, f"there are {known}")
            if not self._accept(",") and self._next.kind != "]":
                raise self._unexpected("expected ',' or ']'")

    def _attribute_number(self) -> float:
        self._expect("=", "'='")
        number = self._expect("number", "a number")
        value = math.nan if number.text.lower().startswith("0x") else float(number.text)
        if not math.isfinite(value) or value < 0:
            raise self._error("a temperature is finite and >= 0", (number.start, number.stop))
        return value

    def _attribute_count(self) -> int:
        self._expect("=", "'='")
        number = self._expect("number", "a number of tokens")
        if not number.text.isdigit() or len(number.text) > _MAX_DIGITS:
            raise self._error(
                f"a number of tokens is an integer of at most {_MAX_DIGITS} digits",
                (number.start, number.stop),
            )
        return int(number.text)

    # Expressions

    def _expansions(self) -> _Reading:
        first = self._next
        options: list[Option] = []
        while True:
            body = yield self._conjunction()
            condition = None
            if self._accept("%if"):
                condition = self._condition(0)
            if self._accept("->"):
                if self._next.kind not in ("rule", "terminal"):
                    raise self._unexpected("expected the name of an alias")
                self._take()
            options.append(Option(body, condition))
            if not self._accept_bar():
                break
        if len(options) == 1 and options[0].condition is None:
            return options[0].body
        return Choice(tuple(options), self._since(first))

    def _accept_bar(self) -> bool:
        at = self._at
        self._skip_newlines()
        if self._accept("|"):
            return True
        self._at = at
        return False

    def _conjunction(self) -> _Reading:
        first = self._next
        parts = [(yield self._sequence())]
        while self._accept("&"):
            parts.append((yield self._sequence()))
        return parts[0] if len(parts) == 1 else Both(tuple(parts), self._since(first))

    def _sequence(self) -> _Reading:
        first = self._next
        parts: list[Expression] = []
        while self._next.kind not in _ENDS:
            parts.append((yield self._repeated()))
        if len(parts) == 1:
            return parts[0]
        return Sequence(tuple(parts), self._since(first) if parts else (first.start, first.stop))

    def _repeated(self) -> _Reading:
        first = self._next
        inverse = self._accept("~") is not None
        body = yield self._atom()
        if inverse:
            body = Inverse(body, self._since(first))
        counts = self._counts()
        return body if counts is None else Repetition(body, *counts, self._since(first))

    def _counts(self) -> tuple[int, int | None] | None:
        first = self._next
        if first.kind in _OPERATORS:
            self._take()
            return _OPERATORS[first.kind]
        if first.kind == "~" and self._lexemes[self._at + 1].kind == "number":
            self._take()
            lo = self._count()
            hi: int | None = self._count() if self._accept("..") else lo
        elif first.kind == "{":
            self._take()
            lo = 0 if self._next.kind == "," else self._count()
            hi = lo
            if self._accept(","):
                hi = None if self._next.kind == "}" else self._count()
            self._expect("}", "'}' after a repeat")
        else:
            return None
        if hi is not None and hi < lo:
            raise self._error(f"a repeat of {lo} to {hi} has no count", self._since(first))
        return lo, hi

    def _count(self) -> int:
        number = self._expect("number", "how often, a number")
        span = (number.start, number.stop)
        if not number.text.isdigit():
            raise self._error("how often is an integer >= 0", span)
        if len(number.text) > _MAX_DIGITS or int(number.text) > _MAX_COUNT:
            raise self._error(f"how often is at most {_MAX_COUNT:,}", span)
        return int(number.text)

    def _atom(self) -> _Reading:
        first = self._next
        span = (first.start, first.stop)
        if first.kind in ("(", "["):
            self._take()
            body = yield self._expansions()
            close = ")" if first.kind == "(" else "]"
            self._expect(close, f"{close!r}", "a group ends on the line where it begins, or at a |")
            if first.kind == "(":
                return body
            return Repetition(body, 0, 1, self._since(first))
        if first.kind == "%lark":
            self._take()
            self._expect("{", "'{' after %lark")
            grammar = yield self.grammar("}")
            return Nested(grammar, self._since(first))
        if first.kind == "string":
            return self._string()
        if first.kind not in ("regex", "special", "reference", "%json", "%regex", *_NAMES):
            raise self._unexpected("expected a string, a name or another value")
        self._take()
        if first.kind == "regex":
            return self._regex(first)
        if first.kind == "special":
            return SpecialToken(first.text, span)
        if first.kind == "reference":
            return Reference(first.text[1:], span)
        if first.kind == "%json":
            return Schema(first.text, first.value, span)
        if first.kind == "%regex":
            return read_substring(first.value, self._source, span)
        return self._name(first)

    def _name(self, name: Lexeme) -> Name:
        step = self._step() if self._accept("::") else None
        if self._next.kind == "{" and self._lexemes[self._at + 1].kind not in (",", "number"):
            self._no_template()
        return Name(name.text, step, (name.start, name.stop))

    def _string(self) -> Literal | Range:
        first = self._take()
        text, any_case = self._text(first)
        if not self._accept(".."):
            return Literal(text, any_case, (first.start, first.stop))
        second = self._expect("string", "a string after '..'")
        last, flagged = self._text(second)
        span = self._since(first)
        if any_case or flagged:
            raise self._error("a range has no flags", span)
        if len(text) != 1 or len(last) != 1:
            raise self._error("a range is from one character to one character", span)
        if last < text:
            raise self._error(f"the range from {text!r} to {last!r} is empty", span, "swap them")
        return Range(text, last, span)

    def _text(self, string: Lexeme) -> tuple[str, bool]:
        """What a string stands for, and whether in any case."""
        any_case = string.text.endswith("i")
        written = string.text[:-1] if any_case else string.text
        written = _HEX_ESCAPE.sub(lambda m: m[1] + "u00" + m[2], written)
        try:
            text = json.loads(written)
            text.encode()
        except ValueError as e:
            raise self._error(
                "the string is not one of JSON",
                (string.start, string.stop),
                r"""escapes are \" \\ \/ \b \f \n \r \t \u0041 and \x41""",
            ) from e
        return text, any_case

    def _regex(self, regex: Lexeme) -> Pattern:
        pattern, _, flags = regex.text[1:].rpartition("/")
        unknown = sorted(set(flags) - set("imsxu"))
        if unknown:
            at = regex.stop - len(flags)
            raise self._error(
                f"regular expressions have no flag {unknown[0]!r}",
                (at, regex.stop),
                "there are i, m, s, x and u",
            )
        return Pattern(pattern, flags, (regex.start, regex.stop))

    # Parameters

    def _step(self) -> Step:
        first = self._take()
        if first.kind == "_":
            return Step(lambda p: p)
        if first.kind == "number":
            value = self._value(first, 1 << 64)
            return Step(lambda p: value, reads=False)
        if first.kind != "rule" or first.text not in STEPS:
            self._at -= 1
            raise self._unexpected("expected a parameter", f"_, a number, {', '.join(STEPS)}")
        kinds, make = STEPS[first.text]
        return make(*self._arguments(kinds, 0))

    def _condition(self, depth: int) -> Condition:
        name = self._take()
        if name.kind != "rule" or name.text not in CONDITIONS:
            self._at -= 1
            raise self._unexpected("expected a condition", ", ".join(CONDITIONS))
        if depth > _MAX_CONDITION_DEPTH:
            raise self._error(
                f"conditions nest deeper than {_MAX_CONDITION_DEPTH}", (name.start, name.stop)
            )
        kinds, make = CONDITIONS[name.text]
        if not kinds and self._next.kind != "(":
            return make()
        return make(*self._arguments(kinds, depth + 1))

    def _arguments(self, kinds: tuple[str, ...], depth: int) -> list[Any]:
        self._expect("(", "'('")
        found: list[Any] = []
        for kind in kinds:
            if found:
                self._expect(",", "','")
            if kind == "bits":
                found.append(self._bits())
            elif kind == "condition":
                found.append(self._condition(depth))
            else:
                number = self._expect("number", "a number")
                found.append(self._value(number, {"bit": 64, "count": 65}.get(kind, 1 << 64)))
        self._expect(")", "')'")
        return found

    def _bits(self) -> Bits:
        if self._accept("_"):
            return Bits(0, 64)
        first = self._expect("[", "bits, as in [0:3], or _")
        lo = self._value(self._expect("number", "a bit"), 64)
        self._expect(":", "':'")
        hi = self._value(self._expect("number", "a bit"), 65)
        self._expect("]", "']'")
        if hi <= lo:
            raise self._error(f"there are no bits from {lo} to {hi}", self._since(first))
        return Bits(lo, hi)

    def _value(self, number: Lexeme, bound: int) -> int:
        try:
            value = int(number.text, 0)
        except ValueError:
            value = -1
        if not 0 <= value < bound:
            raise self._error(
                f"expected an integer from 0 to {bound - 1:,}", (number.start, number.stop)
            )
        return value


_NAMES: Final = ("rule", "terminal")
_HEX_ESCAPE: Final = re.compile(r"((?<!\\)(?:\\\\)*\\)x([0-9a-fA-F]{2})")
