"""xgrammar's macros: texts by `Regex`, `Substring` and `TagDispatch`, tokens by `Token` and others.

A call looks like a rule with a group behind it, `Regex("[0-9]+")`; a grammar that has a rule of
that name means its rule. Free text before a tag is a regular expression with `&` and `~`: up to the
first place where one of the tags ends, the longest if several do.

Source: xgrammar's documentation of its EBNF, version 0.2.6.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import (
    ALL,
    ANY_BYTE,
    EPS,
    Term,
    alt,
    cat,
    complement,
    intersect,
    literal,
    star,
    token,
)
from constrain.algebra.utf8 import UTF8, Alphabet
from constrain.errors import GrammarError
from constrain.frontends.cfg import Choice, Expression, Repetition, Sequence, Symbol, Terminal
from constrain.frontends.gbnf.reader import Reader, quoted
from constrain.frontends.regex import lower, parse

__all__ = ["MACROS", "Macro", "read_macro"]

Span = tuple[int, int]
Scalar = str | int | bool | Symbol


@dataclass(frozen=True, slots=True)
class Macro:
    """A call that was read.

    Attributes:
        uses: The names among its arguments, each with its span.
    """

    body: Expression
    uses: tuple[tuple[str, Span], ...]


@dataclass(frozen=True, slots=True)
class _Argument:
    """A value, or a tuple of values, and where it stands."""

    value: Scalar | tuple[Scalar, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class _Call:
    """The arguments of a macro, and the errors that it raises about them."""

    reader: Reader
    name: str
    span: Span
    values: list[_Argument]
    options: dict[str, _Argument]

    def check_options(self, *allowed: str) -> None:
        """No option but these may be given."""
        for name, argument in self.options.items():
            if name not in allowed:
                known = ", ".join(allowed) or "none"
                raise self.reader.error(
                    f"{self.name} has no option {quoted(name)}",
                    *argument.span,
                    hint=f"it has {known}",
                )

    def flag(self, name: str, default: bool) -> bool:
        """An option that is true or false."""
        argument = self.options.get(name)
        if argument is None:
            return default
        if not isinstance(argument.value, bool):
            raise self.wrong(argument, f"{name} must be true or false")
        return argument.value

    def wrong(self, argument: _Argument, reason: str) -> GrammarError:
        """An error at an argument."""
        return self.reader.error(f"{self.name}: {reason}", *argument.span)

    def text(self, argument: _Argument) -> str:
        """An argument that must be a text."""
        if not isinstance(argument.value, str):
            raise self.wrong(argument, "expected a text in double quotes")
        half = next((c for c in argument.value if "\ud800" <= c <= "\udfff"), None)
        if half is not None:
            raise self.wrong(argument, f"U+{ord(half):04X} is a surrogate, which no text has")
        return argument.value

    def ids(self, values: Iterable[_Argument]) -> list[int]:
        """Arguments that must be ids of tokens."""
        found = []
        for argument in values:
            if isinstance(argument.value, bool) or not isinstance(argument.value, int):
                raise self.wrong(argument, "expected the id of a token, a whole number")
            found.append(argument.value)
        return found

    def pairs(self) -> list[tuple[_Argument, Symbol]]:
        """Arguments that must be pairs of a trigger and a rule."""
        found = []
        for argument in self.values:
            value = argument.value
            if not isinstance(value, tuple) or len(value) != 2 or not isinstance(value[1], Symbol):
                raise self.wrong(argument, "expected a pair of a trigger and the name of a rule")
            found.append((_Argument(value[0], argument.span), value[1]))
        return found

    def excluded(self) -> list[_Argument]:
        """The members of `excludes`; one in parentheses stands for itself."""
        argument = self.options.get("excludes")
        if argument is None:
            return []
        value = argument.value
        values = value if isinstance(value, tuple) else (value,)
        return [_Argument(v, argument.span) for v in values]


def read_macro(reader: Reader, name: str, start: int) -> Macro:
    """The macro whose name was read; its parenthesis comes next.

    Raises:
        GrammarSyntaxError: Its arguments are wrong.
        RegexSyntaxError: The pattern of a `Regex` does not parse.
        UnsupportedFeatureError: It asks for what cannot be honoured exactly.
    """
    uses: list[tuple[str, Span]] = []
    values: list[_Argument] = []
    options: dict[str, _Argument] = {}
    reader.at += 1
    reader.skip(lines=True)
    while not reader.match(")"):
        reader.spend()
        argument, option = _read_argument(reader, uses)
        if option is None:
            values.append(argument)
        elif option in options:
            raise reader.error(f"the option {option!r} comes twice", *argument.span)
        else:
            options[option] = argument
        reader.skip(lines=True)
        if not reader.match(","):
            if reader.match(")"):
                break
            raise reader.error(f"expected ) or a comma, found {reader.found()}", reader.at)
        reader.skip(lines=True)
    call = _Call(reader, name, (start, reader.at), values, options)
    return Macro(_BODIES[name](call), tuple(uses))


def _read_argument(reader: Reader, uses: list[tuple[str, Span]]) -> tuple[_Argument, str | None]:
    """A value, and the name before it if it is an option."""
    start = reader.at
    if reader.peek() == "(":
        return _read_tuple(reader, uses), None
    value = _read_scalar(reader)
    reader.skip(lines=True)
    if isinstance(value, Symbol) and reader.match("="):
        reader.skip(lines=True)
        if reader.peek() == "(":
            return _read_tuple(reader, uses), value.name
        at = reader.at
        given = _read_scalar(reader)
        return _Argument(given, (at, reader.at)), value.name
    if isinstance(value, Symbol):
        uses.append((value.name, (start, start + len(value.name))))
    return _Argument(value, (start, reader.at)), None


def _read_tuple(reader: Reader, uses: list[tuple[str, Span]]) -> _Argument:
    """Values in parentheses; a comma may follow the last."""
    start = reader.at
    reader.at += 1
    members: list[Scalar] = []
    reader.skip(lines=True)
    while not reader.match(")"):
        reader.spend()
        at = reader.at
        member = _read_scalar(reader)
        if isinstance(member, Symbol):
            uses.append((member.name, (at, reader.at)))
        members.append(member)
        reader.skip(lines=True)
        if not reader.match(",") and reader.peek() != ")":
            raise reader.error(f"expected ) or a comma, found {reader.found()}", reader.at)
        reader.skip(lines=True)
    return _Argument(tuple(members), (start, reader.at))


def _read_scalar(reader: Reader) -> Scalar:
    start = reader.at
    if reader.match('"'):
        characters = []
        while not reader.match('"'):
            if reader.at_end:
                raise reader.error("the text that begins here is not closed", start)
            characters.append(reader.character("a text"))
        return "".join(characters)
    if "0" <= reader.peek() <= "9":
        return reader.count("a number")
    name = reader.name()
    if not name:
        raise reader.error(
            f"expected a text, a number, true, false or the name of a rule, found {reader.found()}",
            start,
        )
    return name == "true" if name in ("true", "false") else Symbol(name)


# Regex


class _JsonStringBody(Alphabet):
    """UTF-8 without what stands in no JSON string: control characters, `"` and the backslash."""

    def __init__(self) -> None:
        self._allowed = ~CodepointSet.from_ranges([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)])
        self._text = star(UTF8.spell(self._allowed))

    def spell(self, points: CodepointSet) -> Term:
        """The bytes of one code point out of `points`."""
        return UTF8.spell(points & self._allowed)

    @property
    def text(self) -> Term:
        """Every text that stands in a JSON string as it is."""
        return self._text


def _regex(call: _Call) -> Expression:
    reader = call.reader
    call.check_options("json_string", "flags")
    if len(call.values) != 1:
        raise reader.error("Regex needs one pattern", *call.span)
    pattern, flags = call.text(call.values[0]), _flags(call)
    alphabet = _JsonStringBody() if call.flag("json_string", False) else UTF8
    if "i" in (flags or "") or pattern.startswith("(?i)"):
        # Only ASCII letters have two cases, which is what Python's flags i and a say together.
        pattern = pattern.removeprefix("(?i)")
        dot = "" if flags is not None and "s" not in flags else "s"
        node = parse(pattern, "python", flags=f"ia{dot}", limits=reader.limits)
    else:
        any_character = "[^]" if flags is None or "s" in flags else "[^\\n]"
        node = parse(_respelled(pattern, any_character), "ecma", limits=reader.limits)
    return Terminal(lower(node, alphabet, limits=reader.limits))


def _flags(call: _Call) -> str | None:
    argument = call.options.get("flags")
    if argument is None:
        return None
    flags = call.text(argument)
    for letter in flags:
        if letter not in "isu":
            raise call.wrong(argument, f"there is no flag {letter!r}")
    return flags


def _respelled(pattern: str, any_character: str) -> str:
    """A pattern with every `.` outside a class spelled out, and groups named as ECMA-262 does."""
    done = []
    at = 0
    in_class = False
    while at < len(pattern):
        piece = pattern[at : at + 2] if pattern[at] == "\\" else pattern[at]
        if not in_class and pattern.startswith("(?P<", at):
            piece = "(?P<"
        at += len(piece)
        if piece == "[":
            in_class = True
        elif piece == "]":
            in_class = False
        elif not in_class:
            piece = {".": any_character, "(?P<": "(?<"}.get(piece, piece)
        done.append(piece)
    return "".join(done)


# Substring


def _substring(call: _Call) -> Expression:
    call.check_options()
    chunks = [literal(call.text(argument).encode()) for argument in call.values]
    rest: Term = EPS
    begun: list[Term] = [EPS]
    for chunk in reversed(chunks):
        begun.append(cat(chunk, rest))
        rest = alt((EPS, begun[-1]))
    return Terminal(alt(begun))


# Tokens


def _token(call: _Call) -> Expression:
    call.check_options()
    if not call.values:
        raise call.reader.error(f"{call.name} needs the id of a token", *call.span)
    return Terminal(token(*call.ids(call.values), others=call.name == "ExcludeToken"))


def _token_tag_dispatch(call: _Call) -> Expression:
    call.check_options("loop_after_dispatch", "excludes")
    excluded = call.ids(call.excluded())
    pairs = call.pairs()
    triggers = call.ids([trigger for trigger, _ in pairs])
    for (argument, _), trigger in zip(pairs, triggers, strict=True):
        if trigger in excluded:
            raise call.wrong(argument, f"the token {trigger} is a trigger and excluded")
    free = Repetition(Terminal(token(*triggers, *excluded, others=True)), 0, None)
    bodies = [
        Sequence((Terminal(token(trigger)), rule))
        for trigger, (_, rule) in zip(triggers, pairs, strict=True)
    ]
    return _dispatch(call, free, [Sequence((free, body)) for body in bodies])


# Tags


def _tag_dispatch(call: _Call) -> Expression:
    call.check_options("loop_after_dispatch", "excludes")
    pairs = call.pairs()
    tags = [call.text(argument) for argument, _ in pairs]
    excluded = [call.text(argument) for argument in call.excluded()]
    for argument in (*[argument for argument, _ in pairs], *call.excluded()):
        if not call.text(argument):
            raise call.wrong(argument, "a tag must not be empty")
    for (argument, _), tag in zip(pairs, tags, strict=True):
        if any(tag.startswith(text) for text in excluded):
            raise call.wrong(argument, f"the tag {tag!r} begins with a text that is excluded")
    endings = [literal(text.encode()) for text in (*tags, *excluded)]
    any_ending = cat(ALL, alt(endings), ALL)
    free = Terminal(intersect((UTF8.text, complement(any_ending))))
    passed = complement(cat(ALL, alt(endings), ANY_BYTE, ALL))  # no ending before the last byte
    bodies = []
    for tag, (_, rule) in zip(tags, pairs, strict=True):
        longer = [t for t in (*tags, *excluded) if t.endswith(tag) and len(t) > len(tag)]
        parts = [cat(UTF8.text, literal(tag.encode())), passed]
        parts += [complement(cat(ALL, literal(t.encode()))) for t in longer]
        bodies.append(Sequence((Terminal(intersect(parts)), rule)))
    return _dispatch(call, free, bodies)


def _dispatch(call: _Call, free: Expression, bodies: list[Sequence]) -> Expression:
    """Free text or tokens, with the bodies in between: any number of them, or one at most."""
    if call.flag("loop_after_dispatch", True):
        return Sequence((Repetition(Choice(tuple(bodies)), 0, None), free))
    return Choice((free, *bodies))


_BODIES: Final = {
    "Regex": _regex,
    "Substring": _substring,
    "TagDispatch": _tag_dispatch,
    "Token": _token,
    "ExcludeToken": _token,
    "TokenTagDispatch": _token_tag_dispatch,
}

MACROS: Final = frozenset(_BODIES)
"""The names of all macros."""
