"""Terms as a grammar that a person reads: what `repr` of a `Grammar` and of a term prints.

    >>> from constrain.algebra.terms import alt, literal
    >>> print(grammar_text(alt((literal(b"yes"), literal(b"no")))))
    root ::= "yes" | "no"

The notation is GBNF, so most of what is printed can be read again. Beyond GBNF it has `a & b`
(both), `~a` (anything else), `byte[80-BF]` for bytes that are no code point by themselves,
`capture(...)` where what follows depends on the text, and `...` where something was left out.

Rules keep their names, made fit for GBNF; a large term that stands in several places is a rule
`part-1`, `part-2`. Nothing recurses, and the cost is bounded by the length of what is printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from constrain.algebra.terms import (
    ALL,
    EMPTY,
    EPS,
    Alt,
    And,
    ByteClass,
    Capture,
    Cat,
    Literal,
    Not,
    Repeat,
    Rule,
    Term,
    Token,
)
from constrain.errors import ConstrainError

__all__ = ["MAX_CHARS", "grammar_text", "term_text"]

MAX_CHARS = 3_000
"""What is printed at most, about: a screen."""

MAX_SEQUENCES = 2_000
"""Byte sequences looked at when a class of code points is put together again."""

MAX_RANGES = 24
"""Ranges of a class that are printed; a Unicode property has hundreds."""

MAX_COUNTED = 5_000
"""Terms looked at to find those that stand in several places."""

_WIDTH = 90
"""Columns after which alternatives go on lines of their own."""

_LAST: Final = 0x10FFFF
_SURROGATES: Final = (0xD800, 0xDFFF)

# How tightly an operator binds; what stands inside a tighter one gets parentheses.
_ALTERNATIVES, _BOTH, _SEQUENCE, _ITEM, _OPERAND = range(5)

_Item = str | tuple[Term, int]
_Ranges = tuple[tuple[int, int], ...]

_BREAK: Final = "\n    | "
"""Between the alternatives of a whole rule."""


def grammar_text(term: Term) -> str:
    """The grammar of `term`, its start rule first.

    Bodies of rules are made where they are printed. A body that cannot be made is printed as a
    comment that says why, and so is what comes soon after `MAX_CHARS`.
    """
    return _Printer(MAX_CHARS).print(term)


def term_text(term: Term, *, max_chars: int = 200) -> str:
    """One term in a line, with rules by their names only: no body is made."""
    return _Printer(max_chars).line(term)


class _Printer:
    def __init__(self, max_chars: int) -> None:
        self._left = max_chars
        self._names: dict[int, str] = {}
        self._used: set[str] = set()
        self._waiting: list[Term] = []
        self._kept: list[Term] = []  # terms whose id is a key, so that no other gets that id
        self._shared: set[int] = set()
        self._counted: dict[int, int] = {}
        self._points: dict[int, _Ranges | None] = {}

    def print(self, term: Term) -> str:
        self._name(term, term.name if isinstance(term, Rule) else "root")
        lines = []
        at = 0
        while at < len(self._waiting) and self._left > 0:
            lines.append(self._rule(self._waiting[at]))
            at += 1
        if at < len(self._waiting):
            lines.append(f"# ... and {len(self._waiting) - at} more rules, or more than that")
        return "\n".join(lines)

    def line(self, term: Term) -> str:
        parts = []
        for part in self._emit(term):
            parts.append(" | " if part is _BREAK else part)
            self._left -= len(part)
            if self._left <= 0:
                parts.append(" ...")
                break
        return "".join(parts)

    def _rule(self, term: Term) -> str:
        head = f"{self._names[id(term)]} ::= "
        try:
            body = term.body if isinstance(term, Rule) else term
        except ConstrainError as error:
            return f"{head}...  # {' '.join(str(error).split())}"
        self._count(body)
        parts = []
        length = len(head)
        for part in self._emit(body):
            parts.append(part)
            length += len(part)
            self._left -= len(part)
            if self._left <= 0:
                parts.append(" ...")
                break
        separator = _BREAK if length > _WIDTH else " | "
        return head + "".join(separator if part is _BREAK else part for part in parts)

    def _emit(self, body: Term) -> Iterator[str]:
        """The text of one body, piece by piece."""
        stack: list[_Item] = list(reversed(self._whole(body)))
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                yield item
            else:
                stack.extend(reversed(self._part(*item)))

    def _whole(self, body: Term) -> list[_Item]:
        """A body: its own alternatives may stand on several lines."""
        points = self._codepoints(body)
        if points is None and isinstance(body, Alt) and EPS not in body.members:
            items: list[_Item] = []
            for member in body.members:
                items += [_BREAK] if items else []
                items.append((member, _BOTH))
            return items
        return self._expand(body, _ALTERNATIVES)

    def _part(self, term: Term, level: int) -> list[_Item]:
        if isinstance(term, Rule):
            return [self._name(term, term.name)]
        if id(term) in self._shared:
            return [self._name(term, "part-1")]
        return self._expand(term, level)

    def _expand(self, term: Term, level: int) -> list[_Item]:
        if isinstance(term, Cat):
            return self._sequence(term, level)
        points = self._codepoints(term)
        if points is not None:
            return [_class_text(points)]
        if isinstance(term, Literal):
            return _wrapped([self._bytes(term.text)], level >= _OPERAND)
        if isinstance(term, Alt):
            return self._alternatives(term, level)
        if isinstance(term, And):
            return _joined([(m, _SEQUENCE) for m in term.members], " & ", level > _BOTH)
        if isinstance(term, Repeat):
            counted: list[_Item] = [(term.body, _OPERAND), _counts(term.lo, term.hi)]
            return _wrapped(counted, level >= _OPERAND)
        if isinstance(term, Not):
            outside: list[_Item] = ["byte*"] if term is ALL else ["~", (term.body, _OPERAND)]
            return _wrapped(outside, level >= _OPERAND)
        if isinstance(term, Capture):
            items: list[_Item] = ["capture(", (term.body, _ALTERNATIVES), ")"]
            if term.before is not EPS:
                items += [" ", (term.before, _ITEM)]
            items.append(" ...")
            if term.instead is not EMPTY:
                items += [" | ", (term.instead, _SEQUENCE)]
            return _wrapped(items, True)
        if isinstance(term, Token):
            return [_token_text(term)]
        if isinstance(term, ByteClass):
            return [_byte_class_text(term.mask)]
        if isinstance(term, Rule):
            return [self._name(term, term.name)]
        return ["[]" if term is EMPTY else '""']

    def _sequence(self, term: Cat, level: int) -> list[_Item]:
        """Parts of nested Cats in a row; bytes that follow one another are one string."""
        parts: list[_Item] = []
        text = b""
        stack: list[Term] = [term]
        while stack and len(parts) < self._left:
            part = stack.pop()
            points = self._codepoints(part)
            if points is not None and len(points) == 1 and points[0][0] == points[0][1]:
                text += chr(points[0][0]).encode()
                continue
            if points is None and isinstance(part, Literal):
                text += part.text
                continue
            if points is None and isinstance(part, Cat):
                stack += [part.tail, part.head]
                continue
            if text:
                parts.append(self._bytes(text))
                text = b""
            parts.append((part, _ITEM) if points is None else _class_text(points))
        if text:
            parts.append(self._bytes(text))
        return _joined(parts, " ", level >= _OPERAND or (level > _SEQUENCE and len(parts) > 1))

    def _bytes(self, text: bytes) -> str:
        """A text in quotes; of one too long to print, as much as ends the printing."""
        cut = 4 * max(self._left, 1)  # a code point has up to four bytes
        while cut < len(text) and cut and text[cut] & 0xC0 == 0x80:
            cut -= 1
        return _bytes_text(text[:cut])

    def _alternatives(self, term: Alt, level: int) -> list[_Item]:
        rest = [m for m in term.members if m is not EPS]
        if len(rest) == len(term.members):
            return _joined([(m, _BOTH) for m in rest], " | ", level > _ALTERNATIVES)
        if not rest:
            return ['""']
        some: list[_Item] = [(rest[0], _OPERAND)]
        if len(rest) > 1:
            some = _joined([(m, _BOTH) for m in rest], " | ", True)
        return _wrapped([*some, "?"], level >= _OPERAND)

    def _name(self, term: Term, wish: str) -> str:
        known = self._names.get(id(term))
        if known is not None:
            return known
        words = "".join(c if c.isascii() and c.isalnum() else " " for c in wish).split()
        name = "-".join(words)[:60].rstrip("-") or ("rule" if self._used else "root")
        stem, _, number = name.rpartition("-")
        if not (stem and number.isdigit()):
            stem, number = name, "1"
        count = int(number)
        while name in self._used:
            count += 1
            name = f"{stem}-{count}"
        self._used.add(name)
        self._names[id(term)] = name
        self._kept.append(term)
        self._waiting.append(term)
        return name

    def _count(self, body: Term) -> None:
        """Find large terms that stand in several places."""
        stack = [body]
        while stack and len(self._counted) < MAX_COUNTED:
            term = stack.pop()
            seen = self._counted.get(id(term), 0)
            self._counted[id(term)] = seen + 1
            if seen:
                if seen == 1 and self._is_large(term) and id(term) not in self._names:
                    self._shared.add(id(term))
                continue
            self._kept.append(term)
            if self._codepoints(term) is None:
                stack.extend(term.parts)

    def _is_large(self, term: Term) -> bool:
        """Whether a name is shorter: a class of code points counts as one."""
        stack, count = [term], 0
        while stack and count < 8:
            part = stack.pop()
            count += 1
            if self._codepoints(part) is None:
                stack.extend(part.parts)
        return count >= 8

    def _codepoints(self, term: Term) -> _Ranges | None:
        if id(term) not in self._points:
            self._kept.append(term)
            self._points[id(term)] = _codepoints(term)
        return self._points[id(term)]


def _wrapped(items: list[_Item], parentheses: bool) -> list[_Item]:
    return ["(", *items, ")"] if parentheses else items


def _joined(items: list[_Item], separator: str, parentheses: bool) -> list[_Item]:
    made: list[_Item] = []
    for item in items:
        made += [separator, item] if made else [item]
    return _wrapped(made, parentheses)


def _counts(lo: int, hi: int | None) -> str:
    if hi is None:
        return {0: "*", 1: "+"}.get(lo, f"{{{lo},}}")
    if (lo, hi) == (0, 1):
        return "?"
    return f"{{{lo}}}" if lo == hi else f"{{{lo},{hi}}}"


# Code points


def _codepoints(term: Term) -> _Ranges | None:
    """The code points of which `term` has one in UTF-8; None if that is not what it is."""
    if not isinstance(term, (ByteClass, Alt, Cat, Literal)):
        return None
    sequences = _byte_sequences(term)
    if not sequences:
        return None
    ranges: list[tuple[int, int]] = []
    for masks in sequences:
        part = _decoded(masks)
        if part is None or len(ranges) > 8 * MAX_SEQUENCES:
            return None
        ranges += part
    merged: list[tuple[int, int]] = []
    for lo, hi in sorted(ranges):
        if merged and lo <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(hi, merged[-1][1]))
        else:
            merged.append((lo, hi))
    return tuple(merged)


def _byte_sequences(term: Term) -> list[tuple[int, ...]] | None:
    """Sequences of 1 to 4 sets of bytes whose union is `term`, if it is that simple."""
    done: list[tuple[int, ...]] = []
    stack: list[tuple[tuple[int, ...], Term, tuple[Term, ...]]] = [((), term, ())]
    while stack:
        before, part, after = stack.pop()
        if len(done) + len(stack) > MAX_SEQUENCES or len(before) + len(after) > 4:
            return None
        if isinstance(part, Alt):
            stack.extend([(before, m, after) for m in part.members])
            continue
        if isinstance(part, Cat):
            stack.append((before, part.head, (part.tail, *after)))
            continue
        if isinstance(part, ByteClass):
            before = (*before, part.mask)
        elif isinstance(part, Literal) and len(part.text) <= 4:
            before = (*before, *[1 << b for b in part.text])
        else:
            return None
        if after:
            stack.append((before, after[0], after[1:]))
        else:
            done.append(before)
    return done


def _decoded(masks: tuple[int, ...]) -> list[tuple[int, int]] | None:
    """The code points of a sequence of sets of bytes, or None where it is not UTF-8."""
    length = len(masks)
    lengths = {
        1: (0x00, 0x7F, 0),
        2: (0xC2, 0xDF, 0xC0),
        3: (0xE0, 0xEF, 0xE0),
        4: (0xF0, 0xF4, 0xF0),
    }
    if length not in lengths:
        return None
    first, last, lead = lengths[length]
    spans = _runs(masks[0])
    if spans[0][0] < first or spans[-1][1] > last:
        return None
    spans = [(lo - lead, hi - lead) for lo, hi in spans]
    for mask in masks[1:]:
        tails = _runs(mask)
        if tails[0][0] < 0x80 or tails[-1][1] > 0xBF:
            return None
        if tails == [(0x80, 0xBF)]:
            spans = [(lo << 6, hi << 6 | 63) for lo, hi in spans]
            continue
        spans = [
            (value << 6 | a & 63, value << 6 | b & 63)
            for lo, hi in spans
            for value in range(lo, hi + 1)
            for a, b in tails
        ]
        if len(spans) > MAX_SEQUENCES:
            return None
    least = {1: 0, 2: 0x80, 3: 0x800, 4: 0x10000}[length]
    for lo, hi in spans:
        if lo < least or hi > _LAST or (lo <= _SURROGATES[1] and hi >= _SURROGATES[0]):
            return None
    return spans


def _runs(mask: int) -> list[tuple[int, int]]:
    """The set bits of a 256-bit mask as ranges, ascending."""
    runs = []
    start = 0
    while mask >> start:
        start += ((mask >> start) & -(mask >> start)).bit_length() - 1
        size = (~(mask >> start) & -~(mask >> start)).bit_length() - 1
        runs.append((start, start + size - 1))
        start += size
    return runs


def _class_text(ranges: _Ranges) -> str:
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return f'"{_escaped(chr(ranges[0][0]), "string")}"'
    outside = _complement(ranges)
    if not outside:
        return "."
    negated = ranges[-1][1] == _LAST and len(outside) < len(ranges) + 1
    shown = outside if negated else ranges
    parts = []
    for lo, hi in shown[:MAX_RANGES]:
        parts.append(_escaped(chr(lo), "class"))
        if hi > lo:
            parts.append(("-" if hi > lo + 1 else "") + _escaped(chr(hi), "class"))
    more = "..." if len(shown) > MAX_RANGES else ""
    return f"[{'^' if negated else ''}{''.join(parts)}{more}]"


def _complement(ranges: _Ranges) -> _Ranges:
    """What is outside; surrogates are no code points here, so they are never left over."""
    outside = []
    at = 0
    for lo, hi in (*ranges, (_LAST + 1, _LAST + 1)):
        if at < lo and not (at == _SURROGATES[0] and lo == _SURROGATES[1] + 1):
            outside.append((at, lo - 1))
        at = hi + 1
    return tuple(outside)


def _escaped(text: str, where: str) -> str:
    special = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
    special |= {'"': '\\"'} if where == "string" else {c: f"\\x{ord(c):02X}" for c in "[]^-"}
    return "".join(special.get(c) or (c if c.isprintable() else _numbered(c)) for c in text)


def _numbered(c: str) -> str:
    point = ord(c)
    if point < 0x100:
        return f"\\x{point:02X}"
    return f"\\u{point:04X}" if point < 0x10000 else f"\\U{point:08X}"


# Bytes and tokens


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _bytes_text(data: bytes) -> str:
    if _is_text(data):
        return f'"{_escaped(data.decode(), "string")}"'
    return " ".join(f"byte[{b:02X}]" for b in data)


def _byte_class_text(mask: int) -> str:
    if mask == (1 << 256) - 1:
        return "byte"
    runs = [f"{lo:02X}" if lo == hi else f"{lo:02X}-{hi:02X}" for lo, hi in _runs(mask)]
    return f"byte[{' '.join(runs)}]"


def _token_text(term: Token) -> str:
    names = [f"<[{n}]>" if isinstance(n, int) else _name_text(n) for n in term.names]
    shown = " | ".join(sorted(names))
    if len(names) > 1:
        shown = f"({shown})"
    if term.others:
        shown = f"!{shown}" if names else "<any>"
    return f"special({shown})" if term.special else shown


def _name_text(name: str) -> str:
    return name if name.startswith("<") and name.endswith(">") else f"<{name}>"
