r"""A grammar text to productions.

    rule        ::= name "::=" alternatives
    alternatives::= sequence ("|" sequence)*
    sequence    ::= (item quantifier*)*
    item        ::= "literal" | [class] | [^class] | . | name | (alternatives) | token
    quantifier  ::= * | + | ? | {n} | {n,} | {n,m}
    token       ::= <text> | <[id]> | !<text> | !<[id]>

A rule goes on to the next line inside a group, after `|` and `::=`, and (as in xgrammar) wherever
the next line does not begin another rule. What is open is kept on a list: nothing recurses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import literal, token
from constrain.algebra.utf8 import UTF8
from constrain.errors import GrammarSyntaxError
from constrain.frontends.cfg import (
    Choice,
    Expression,
    Repetition,
    Sequence,
    Symbol,
    Terminal,
)
from constrain.frontends.gbnf.macros import MACROS, read_macro
from constrain.frontends.gbnf.options import RuleOptions, read_options
from constrain.frontends.gbnf.reader import Reader, quoted

__all__ = ["Definition", "RuleReader", "read_rules"]

# Possessive throughout, so that no text makes it look at anything twice.
_RULE_BEGINS: Final = re.compile(
    r"""[A-Za-z0-9_-]++
        (?: [ \t]*+ \[ [^\]\n"]*+ (?: "[^"\n]*+" [^\]\n"]*+ )*+ \] )?
        [ \t]*+ ::=""",
    re.VERBOSE,
)
_QUANTIFIERS: Final[dict[str, tuple[int, int | None]]] = {
    "*": (0, None),
    "+": (1, None),
    "?": (0, 1),
}
_NO_NAME: Final = {
    "": 'a rule is a name, ::= and what it matches, as in root ::= "text"',
    "{": "for a JSON Schema use Grammar.from_json_schema",
    "[": "for a JSON Schema use Grammar.from_json_schema",
    "/": "comments begin with #",
    "%": "there are no directives; a rule is a name, ::= and what it matches",
    "\ufeff": "a byte order mark is no part of the text: decode the file with utf-8-sig",
}
_NO_HEAD: Final = {
    ".": "names are made of letters, digits, - and _",
    "=": 'write ::=, as in root ::= "text"',
    ":": 'write ::=, as in root ::= "text"',
}
_STRANGE: Final = {
    "'": 'literals are in double quotes: "text"',
    ";": "a rule ends with its line, without a semicolon",
    ",": "parts follow one another without a comma",
    "/": "comments begin with #; there are no /patterns/ here, write a class or Regex(...)",
    "=": "a rule begins with its name and ::=",
    ":": "a rule begins with its name and ::=",
}


@dataclass(frozen=True, slots=True)
class Definition:
    """A rule as it stands in the text.

    Attributes:
        span: Of its name.
        body: What follows `::=`.
        options: What stands in brackets after the name.
        uses: The names in the body, each with its span.
        places: The span of each part of the body.
    """

    name: str
    span: tuple[int, int]
    body: Expression
    options: RuleOptions
    uses: tuple[tuple[str, tuple[int, int]], ...]
    places: Mapping[Expression, tuple[int, int]]


@dataclass(slots=True)
class _Group:
    """A group that is open; the outermost is the rule itself."""

    start: int
    places: dict[Expression, tuple[int, int]]
    members: list[Expression] = field(default_factory=list)
    parts: list[Expression] = field(default_factory=list)
    looks_ahead: bool = False

    def add(self, part: Expression, start: int, end: int) -> None:
        """Append a part that stands from `start` to `end`."""
        self.parts.append(part)
        self.places[part] = (start, end)

    def bar(self) -> None:
        """An alternative ends here."""
        parts = self.parts
        member = parts[0] if len(parts) == 1 else Sequence(tuple(parts))
        if len(parts) > 1:
            self.places[member] = (self.places[parts[0]][0], self.places[parts[-1]][1])
        self.members.append(member)
        self.parts = []

    def close(self) -> Expression:
        """The whole group."""
        self.bar()
        return self.members[0] if len(self.members) == 1 else Choice(tuple(self.members))


def read_rules(reader: Reader) -> dict[str, Definition]:
    """All rules, in order.

    Raises:
        GrammarSyntaxError: The text is no grammar.
        LimitExceededError: It is too long or nests too deep.
    """
    rules: dict[str, Definition] = {}
    own = {m.group(1) for m in re.finditer(r"^[ \t]*(\w+)[ \t]*::=", reader.source, re.MULTILINE)}
    macros = MACROS - own
    reader.skip(lines=True)
    while not reader.at_end:
        definition = RuleReader(reader, macros).read()
        before = rules.setdefault(definition.name, definition)
        if before is not definition:
            line = reader.source.count("\n", 0, before.span[0]) + 1
            raise reader.error(
                f"rule {quoted(definition.name)} is defined twice, first in line {line}",
                *definition.span,
                hint="join the two with |",
            )
    if not rules:
        raise reader.error("a grammar needs at least one rule", 0, hint='write root ::= "text"')
    return rules


class RuleReader:
    """Reads one rule."""

    def __init__(self, reader: Reader, macros: frozenset[str]) -> None:
        self.reader = reader
        self.macros = macros
        self.groups: list[_Group] = []
        self.places: dict[Expression, tuple[int, int]] = {}
        self.uses: list[tuple[str, tuple[int, int]]] = []
        self.looked_ahead = False

    def read(self) -> Definition:
        """The rule that begins here; what follows it comes next."""
        reader = self.reader
        start = reader.at
        name = reader.name()
        if not name:
            raise reader.error(
                f"expected the name of a rule, found {reader.found()}",
                start,
                hint=_NO_NAME.get(reader.peek(), _NO_NAME[""]),
            )
        span = (start, reader.at)
        options = read_options(reader)
        reader.skip(lines=False)
        if not reader.match("::="):
            raise reader.error(
                f"expected ::= after the name {quoted(name)}, found {reader.found()}",
                reader.at,
                hint=_NO_HEAD.get(reader.peek()),
            )
        self.groups.append(_Group(start, self.places))
        reader.skip(lines=True)
        while self._item():
            pass
        if len(self.groups) > 1:
            raise self._unclosed()
        body = self.groups[0].close()
        return Definition(name, span, body, options, tuple(self.uses), self.places)

    def _item(self) -> bool:
        """Read one item or quantifier and the blanks after it; False where the rule ends."""
        reader = self.reader
        line_ends = self._skip_to_item()
        start, next_ = reader.at, reader.peek()
        if not next_:
            return False
        if _RULE_BEGINS.match(reader.source, start):
            if len(self.groups) > 1:
                raise self._unclosed()
            if line_ends:
                return False
            raise reader.error(
                f"rule {quoted(reader.name())} begins in the middle of a line",
                start,
                reader.at,
                hint="put each rule on a line of its own",
            )
        if self.looked_ahead:
            raise reader.error(
                "nothing may follow a lookahead",
                start,
                hint="it stands at the end of a rule, and says nothing about which texts match",
            )
        reader.spend()
        group = self.groups[-1]
        if next_ == "|":
            reader.at += 1
            group.bar()
            reader.skip(lines=True)
        elif next_ == ")":
            self._close(start)
        elif next_ == "(":
            self._open(start)
        elif next_ in "*+?{":
            self._quantify(start)
        else:
            part = self._element(start, next_)
            group.add(part, start, reader.at)
        return True

    def _unclosed(self) -> GrammarSyntaxError:
        start = self.groups[-1].start
        return self.reader.error("missing ), the group that begins here is not closed", start)

    def _skip_to_item(self) -> bool:
        """Step over blanks; whether a line ended."""
        before = self.reader.at
        self.reader.skip(lines=True)
        crossed = self.reader.source[before : self.reader.at]
        return "\n" in crossed or "\r" in crossed

    def _open(self, start: int) -> None:
        self.reader.at += 1
        # xgrammar prints a hint for its own masks as a group that begins with =.
        looks_ahead = len(self.groups) == 1 and self.reader.match("=")
        group = _Group(start, self.places, looks_ahead=looks_ahead)
        self.groups.append(group)
        self.reader.limits.check("max_nesting", len(self.groups) - 1, "reading a grammar")

    def _close(self, start: int) -> None:
        reader = self.reader
        reader.at += 1
        if len(self.groups) == 1:
            raise reader.error("unbalanced ): no group is open here", start)
        group = self.groups.pop()
        body = group.close()
        if group.looks_ahead:
            self.looked_ahead = True
        else:
            self.groups[-1].add(body, group.start, reader.at)

    def _quantify(self, start: int) -> None:
        reader, group = self.reader, self.groups[-1]
        parts = group.parts
        if reader.peek() == "{":
            reader.at += 1
            lo, hi = self._counts(start)
        else:
            lo, hi = _QUANTIFIERS[reader.peek()]
            reader.at += 1
        if not parts:
            raise reader.error(
                f"nothing to repeat before {reader.source[start : reader.at]!r}",
                start,
                reader.at,
                hint='in quotes it is a text: "*"',
            )
        body = parts.pop()
        group.add(Repetition(body, lo, hi), self.places[body][0], reader.at)

    def _counts(self, start: int) -> tuple[int, int | None]:
        """The bounds of a repeat, after its brace."""
        reader = self.reader
        reader.skip(lines=True)
        if reader.peek() == ",":
            raise reader.error(
                "expected the least count, found ','", reader.at, hint="write {0,m} for {,m}"
            )
        lo = reader.count("a count")
        hi: int | None = lo
        reader.skip(lines=True)
        if reader.match(","):
            reader.skip(lines=True)
            # xgrammar prints -1 for no bound.
            hi = None
            if reader.peek() != "}" and not reader.match("-1"):
                hi = reader.count("a count or }")
            reader.skip(lines=True)
        if not reader.match("}"):
            raise reader.error(f"expected }} or a comma, found {reader.found()}", reader.at)
        if hi is not None and hi < lo:
            raise reader.error(
                f"the counts of {reader.source[start : reader.at]!r} are out of order",
                start,
                reader.at,
            )
        return lo, hi

    def _element(self, start: int, next_: str) -> Expression:
        reader = self.reader
        if next_ == '"':
            return self._literal(start)
        if next_ == "[":
            return self._class(start)
        if next_ == ".":
            reader.at += 1
            return Terminal(UTF8.spell(CodepointSet.ANY))
        if next_ in "<!":
            return self._token(start)
        name = reader.name()
        if not name:
            raise reader.error(f"unexpected {reader.found()}", start, hint=_STRANGE.get(next_))
        if name in self.macros and reader.peek() == "(":
            macro = read_macro(reader, name, start)
            self.uses += macro.uses
            return macro.body
        self.uses.append((name, (start, reader.at)))
        return Symbol(name)

    def _literal(self, start: int) -> Expression:
        reader = self.reader
        reader.at += 1
        characters = []
        while not reader.match('"'):
            at = reader.at
            if reader.at_end:
                raise reader.error("the literal that begins here is not closed", start)
            character = reader.character("a literal")
            if "\ud800" <= character <= "\udfff":
                raise reader.error(
                    f"U+{ord(character):04X} is a surrogate, which no text has",
                    at,
                    reader.at,
                    hint="write the code point itself with \\U and 8 digits",
                )
            characters.append(character)
        return Terminal(literal("".join(characters).encode()))

    def _class(self, start: int) -> Expression:
        reader = self.reader
        reader.at += 1
        negated = reader.match("^")
        ranges: list[tuple[int, int]] = []
        while not reader.match("]"):
            at = reader.at
            if reader.at_end:
                raise reader.error("the class that begins here is not closed", start)
            first = last = ord(reader.character("a class"))
            if reader.peek() == "-" and reader.peek(2) not in ("-]", "-"):
                reader.at += 1
                last = ord(reader.character("a class"))
            if last < first:
                raise reader.error(
                    f"the range {reader.source[at : reader.at]!r} is out of order", at, reader.at
                )
            ranges.append((first, last))
        points = CodepointSet.from_ranges(ranges)
        points = ~points if negated else points
        if not points:
            raise reader.error(
                "the class matches no character", start, reader.at, hint='write "" for nothing'
            )
        return Terminal(UTF8.spell(points))

    def _token(self, start: int) -> Expression:
        reader = self.reader
        others = reader.match("!")
        if not reader.match("<"):
            raise reader.error(
                f"expected a token <text> or <[id]> after !, found {reader.found()}", reader.at
            )
        if reader.match("["):
            number = reader.count("the id of a token")
            if not reader.match("]>"):
                raise reader.error(f"expected ]>, found {reader.found()}", reader.at)
            return Terminal(token(number, others=others))
        end = reader.source.find(">", reader.at)
        name = reader.source[reader.at - 1 : end + 1]
        if end < 0 or "\n" in name:
            raise reader.error("the token that begins here is not closed", start, hint="add >")
        if len(name) == 2:
            raise reader.error("a token needs a name or an id", start, end + 1)
        reader.at = end + 1
        return Terminal(token(name, others=others))
