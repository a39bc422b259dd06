r"""The outline of a grammar in Lark's syntax, read leniently.

lark itself says whether a grammar is right, and keeps no places in what it makes. Here each
definition is read once more for its shape and the places of its parts; what is not understood is
opaque, never an error. A use of a template is opaque too: it uses the names that it mentions.

Cost: O(length). Nothing here recurses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from constrain.algebra.terms import ANY_BYTE, Term, literal, token
from constrain.errors import ConstrainError
from constrain.frontends.cfg import Choice, Expression, Repetition, Sequence, Symbol, Terminal
from constrain.frontends.regex import from_regex
from constrain.lint.findings import Source
from constrain.lint.outline import OPAQUE, Definition, Outline
from constrain.lint.patterns import outline_pattern

__all__ = ["outline_lark"]

# Possessive, so that no text makes it look at anything twice.
_TOKEN: Final = re.compile(
    r"""(?P<blank>[ \t\f\r]++|\\[ \t]*+\r?\n|(?://|\#)[^\n]*+)
    | (?P<newline>\n)
    | (?P<string>"(?:\\.|[^"\\\n])*+"i?)
    | (?P<regexp>/(?![/*])(?:\\.|[^/\\])++/[imslux]*+)
    | (?P<name>[!?]*+[_a-zA-Z][_a-zA-Z0-9]*+(?:-[_a-zA-Z0-9]++)*+)
    | (?P<directive>%[a-z]++)
    | (?P<special><(?:\|[^|>\n]*+\||[^<>\s]++)>)
    | (?P<number>[+-]?[0-9]++)
    | (?P<mark>->|\.\.|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "v": "\v", "a": "\a"}
_IN_BRACES: Final = re.compile(r"\{\s*(\d*)\s*(?:(,)\s*(\d*)\s*)?\}")
_COUNTS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


@dataclass(slots=True)
class _Group:
    """A group that is open."""

    closer: str
    start: int
    members: list[Expression] = field(default_factory=list)
    parts: list[Expression] = field(default_factory=list)


def outline_lark(text: str, starts: tuple[str, ...]) -> Outline:
    """Every definition of a grammar that is not imported."""
    return _LarkReader(text, starts).read()


class _LarkReader:
    def __init__(self, text: str, starts: tuple[str, ...]) -> None:
        self._outline = Outline(Source(text), starts=starts)
        self._tokens = [
            _Token(str(m.lastgroup), m[0], m.start(), m.end())
            for m in _TOKEN.finditer(text)
            if m.lastgroup != "blank"
        ]
        self._at = 0
        self._parameters: tuple[str, ...] = ()

    def read(self) -> Outline:
        while self._at < len(self._tokens):
            before = self._at
            token = self._tokens[before]
            if token.kind == "directive":
                self._directive(token)
            elif token.kind == "name":
                self._definition(extends=False)
            else:
                self._at += 1
            assert self._at > before, "every statement is at least one token"
        return self._outline

    # Tokens

    def _peek(self, ahead: int = 0) -> _Token:
        at = self._at + ahead
        if at < len(self._tokens):
            return self._tokens[at]
        end = len(self._outline.source.text)
        return _Token("end", "", end, end)

    def _take(self) -> _Token:
        token = self._peek()
        self._at += 1
        return token

    def _takes(self, mark: str) -> bool:
        if self._peek().text == mark and self._peek().kind == "mark":
            self._at += 1
            return True
        return False

    def _skip_line(self) -> None:
        while self._peek().kind not in ("newline", "end"):
            self._at += 1

    def _skip_braces(self, opener: str, closer: str) -> list[_Token]:
        """Step over a bracket and all in it."""
        inside = []
        depth = 0
        while self._peek().kind != "end":
            token = self._take()
            inside.append(token)
            depth += (token.text == opener) - (token.text == closer)
            if depth <= 0:
                break
        return inside

    # Statements

    def _directive(self, token: _Token) -> None:
        self._at += 1
        if token.text == "%ignore":
            body = self._expansions()
            self._outline.ignored.append((body, (token.start, self._tokens[self._at - 1].end)))
        elif token.text == "%import":
            self._import()
        elif token.text == "%declare":
            while self._peek().kind == "name":
                name = self._take()
                self._outline.opaque[name.text] = (name.start, name.end)
                self._outline.roots.add(name.text)
        elif token.text in ("%override", "%extend") and self._peek().kind == "name":
            self._definition(extends=True)
        else:
            self._skip_line()

    def _import(self) -> None:
        last = None
        while self._peek().kind not in ("newline", "end"):
            token = self._take()
            if token.text == "(":
                for name in self._skip_names():
                    self._outline.opaque[name.text] = (name.start, name.end)
                last = None
            elif token.kind == "name":
                last = token
        if last is not None:
            self._outline.opaque[last.text] = (last.start, last.end)

    def _skip_names(self) -> list[_Token]:
        found = []
        while self._peek().kind != "end" and not self._takes(")"):
            token = self._take()
            if token.kind == "name":
                found.append(token)
        return found

    def _definition(self, *, extends: bool) -> None:
        first = self._take()
        name = first.text.lstrip("!?")
        span = (first.end - len(name), first.end)
        parameters: tuple[str, ...] = ()
        if self._peek().text == "{":
            parameters = tuple(t.text for t in self._skip_braces("{", "}") if t.kind == "name")
        if self._takes("."):
            self._at += self._peek().kind == "number"
        if self._peek().text == "[":  # options of the llguidance dialect, as in stop=END
            inside = self._skip_braces("[", "]")
            self._outline.roots.update(t.text for t in inside if t.kind == "name")
        if not self._takes(":"):
            self._skip_line()
            return
        self._parameters = parameters
        body = self._expansions()
        self._parameters = ()
        if extends:
            self._outline.roots.add(name)
        before = self._outline.definitions.get(name)
        if before is not None:  # lark refuses it, or it extends the other
            body = Choice((before.body, body))
        is_terminal = name.lstrip("_")[:1].isupper()
        self._outline.definitions[name] = Definition(name, span, body, is_terminal, parameters)

    # Expressions

    def _expansions(self) -> Expression:
        """All up to the end of the statement."""
        groups = [_Group("", self._peek().start)]
        while True:
            token = self._peek()
            if token.kind == "end":
                break
            if token.kind == "newline":
                if len(groups) == 1 and not self._goes_on():
                    break
                self._at += 1
            elif token.kind == "mark" and token.text in ")]" and token.text == groups[-1].closer:
                self._at += 1
                self._close(groups)
            else:
                self._item(groups)
        while len(groups) > 1:
            self._close(groups)
        return self._finish(groups[0])

    def _goes_on(self) -> bool:
        """Whether the next line that is not empty begins with a bar."""
        ahead = 0
        while self._peek(ahead).kind == "newline":
            ahead += 1
        return self._peek(ahead).text == "|"

    def _item(self, groups: list[_Group]) -> None:
        group, token = groups[-1], self._take()
        if token.kind == "mark":
            if token.text == "|":
                self._bar(group, token.start)
            elif token.text in "([":
                groups.append(_Group(")" if token.text == "(" else "]", token.start))
            elif token.text == "->":
                self._at += self._peek().kind == "name"
            elif token.text in "*+?":
                self._repeat(group, *_COUNTS[token.text])
            elif token.text == "~" and group.parts and self._peek().kind == "number":
                lo = hi = int(self._take().text[:18])
                if self._takes(".."):
                    hi = int(self._take().text[:18]) if self._peek().kind == "number" else lo
                self._repeat(group, lo, max(lo, hi))
            elif token.text == "{":
                self._counts(group, token)
            elif token.text == "..":
                self._range(group)
            elif token.text in "&~":  # of the llguidance dialect
                self._add(group, Terminal(OPAQUE.term), token)
        elif token.kind == "string":
            self._add(group, Terminal(_text(token.text)), token)
        elif token.kind == "regexp":
            self._add(group, self._pattern(token), token)
        elif token.kind == "special":
            self._add(group, Terminal(_special(token.text)), token)
        elif token.kind == "name":
            self._name(group, token)
        elif token.kind == "directive":  # %json {...}, %regex {...}
            if self._peek().text == "{":
                self._skip_braces("{", "}")
            self._add(group, Terminal(OPAQUE.term), token)

    def _counts(self, group: _Group, token: _Token) -> None:
        """`{2,3}` of the llguidance dialect, whose brace is taken."""
        found = _IN_BRACES.match(self._outline.source.text, token.start)
        while self._peek().kind != "end" and not self._takes("}"):
            self._at += 1
        if found is not None and (found[1] or found[2]):
            lo = int((found[1] or "0")[:18])
            hi = lo if found[2] is None else int(found[3][:18]) if found[3] else None
            self._repeat(group, lo, hi if hi is None else max(lo, hi))

    def _name(self, group: _Group, token: _Token) -> None:
        is_template = self._peek().text == "{" and not _IN_BRACES.match(
            self._outline.source.text, self._peek().start
        )
        if is_template:
            names = {t.text for t in self._skip_braces("{", "}") if t.kind == "name"}
            part: Expression = Terminal(OPAQUE.term)
            self._outline.uses[part] = tuple((names | {token.text}) - set(self._parameters))
        elif token.text in self._parameters:
            part = Terminal(OPAQUE.term)
        else:
            part = Symbol(token.text)
        self._add(group, part, token)

    def _pattern(self, token: _Token) -> Expression:
        body, _, flags = token.text[1:].rpartition("/")
        return outline_pattern(body, self._outline.places, offset=token.start + 1, flags=flags)

    def _range(self, group: _Group) -> None:
        """`"a".."z"`, of which the first is there already."""
        if not group.parts or self._peek().kind != "string":
            return
        last = self._take()
        start = self._outline.places[group.parts.pop()][0]
        first = self._outline.source.text[start:].partition("..")[0]
        low, high = _value(first.strip()), _value(last.text)
        try:
            term = from_regex(f"[{re.escape(low)}-{re.escape(high)}]")
        except ConstrainError:
            term = ANY_BYTE
        self._add(group, Terminal(term), _Token("", "", start, last.end))

    def _add(self, group: _Group, part: Expression, token: _Token) -> None:
        group.parts.append(part)
        self._outline.places[part] = (token.start, self._tokens[self._at - 1].end)

    def _repeat(self, group: _Group, lo: int, hi: int | None) -> None:
        if not group.parts:
            return
        body = group.parts.pop()
        start = self._outline.places[body][0]
        self._add(group, Repetition(body, lo, hi), _Token("", "", start, start))

    def _bar(self, group: _Group, end: int) -> None:
        parts, places = group.parts, self._outline.places
        whole = parts[0] if len(parts) == 1 else Sequence(tuple(parts))
        if len(parts) > 1:
            places[whole] = (places[parts[0]][0], places[parts[-1]][1])
        elif not parts:
            places[whole] = (end, end)
        group.members.append(whole)
        group.parts = []

    def _finish(self, group: _Group) -> Expression:
        self._bar(group, self._peek().start)
        members = group.members
        return members[0] if len(members) == 1 else Choice(tuple(members))

    def _close(self, groups: list[_Group]) -> None:
        group = groups.pop()
        body = self._finish(group)
        if group.closer == "]":
            body = Repetition(body, 0, 1)
        self._add(groups[-1], body, _Token("", "", group.start, group.start))


def _value(text: str) -> str:
    """What a string in quotes says."""
    inner = text[1:].rpartition('"')[0]

    def said(found: re.Match[str]) -> str:
        escape = found[1]
        if escape[0] in "xuU" and len(escape) > 1:
            point = int(escape[1:], 16)
            return chr(point) if point <= 0x10FFFF else "?"
        return _ESCAPES.get(escape, escape)

    return _ESCAPE.sub(said, inner)


def _text(text: str) -> Term:
    value = _value(text)
    if text.endswith("i"):
        try:
            return from_regex(re.escape(value), flags="i")
        except ConstrainError:
            return ANY_BYTE
    return literal(value.encode("utf-8", "replace"))


def _special(text: str) -> Term:
    """A special token; `<[1,2-4]>` names ids."""
    if text.startswith("<["):
        ids = [int(n) for n in re.findall(r"\d{1,9}", text)]
        return token(*ids) if ids else OPAQUE.term
    return token(text)
