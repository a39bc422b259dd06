"""Terms to programs: the instructions that make some terms in a store, each from its parts.

A program is post-order: an instruction names its operands by the number of their results, or as
`~node` where a store has them.

    >>> from constrain.algebra.terms import cat, literal
    >>> ab = literal(b"ab")
    >>> program, made = write_program(cat(ab, literal(b"c"), ab), {ab: ~7}, None)
    >>> program[-5:], len(made)
    ([4, 3, -8, 0, -8], 2)

A literal that something follows is no term of its own: only its bytes with what follows them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from constrain.algebra import terms as t
from constrain.kernels.derive import cpu as ops
from constrain.kernels.derive import layout as lay

__all__ = ["MAX_COUNT", "Numbers", "write_program"]

MAX_COUNT: Final = lay.INFINITE - (1 << 20)
"""A repeat bounded by more is not bounded: no text of 2 GiB is ever matched."""
_RUN: Final = 8
"""Parts that one instruction concatenates. Not all of a long row: its tails may be shared."""


class Numbers(Protocol):
    """What a store gives numbers to, since no kernel can hold it."""

    def rule_id(self, rule: t.Rule) -> int:
        """The number of a rule, the same each time."""
        ...

    def branch_id(self, branches: t.Branches) -> int:
        """The number of the first of some rules; the others follow it."""
        ...

    def capture_id(self, capture: t.Capture) -> int:
        """A number for a capture."""
        ...

    def token_set(self, token: t.Token) -> int | None:
        """The number of a set of tokens; None if no token is in it."""
        ...

    def check_count(self, count: int) -> None:
        """Raise if a repeat asks for more than the limits allow."""
        ...


def write_program(
    root: t.Term, known: Mapping[t.Term, int], numbers: Numbers
) -> tuple[list[int], list[t.Term]]:
    """The instructions that make a term, and the term that each makes, the root's last.

    Args:
        root: A term that is not in `known`.
        known: `~node` of the terms that are there.
        numbers: Of what is kept outside of kernels.

    Cost: a look at each term that is not there, and at its parts.
    """
    out: list[int] = []
    made: list[t.Term] = []
    new: dict[t.Term, int] = {}  # their numbers
    known_operand, new_operand = known.get, new.get
    # A term waits while a part of it is written: with the parts that are left, and operands so far.
    waiting: list[tuple[t.Term, Iterator[t.Term], list[int]]] = []
    term, left = root, iter(_parts(root))
    operands: list[int] = []
    while True:
        for part in left:
            operand = known_operand(part)  # most parts of a large union are known
            if operand is None:
                operand = new_operand(part)
            if operand is None:
                waiting.append((term, left, operands))
                term, left, operands = part, iter(_parts(part)), []
                break
            operands.append(operand)
        else:
            _EMITTERS[type(term)](term, operands, numbers, out)
            operand = new[term] = len(made)
            made.append(term)
            if not waiting:
                return out, made
            term, left, operands = waiting.pop()
            operands.append(operand)


def _parts(term: t.Term) -> Sequence[t.Term]:
    """The terms that the instruction for a term puts together.

    For a concatenation these are several: what lies between is no term of its own.
    """
    if type(term) is t.Branches:
        return (term.heads,)
    if type(term) is not t.Cat:
        return term.parts
    head, tail = term.head, term.tail
    if type(head) is t.Literal:
        return (tail,)
    parts = [head]
    while type(tail) is t.Cat and type(tail.head) is not t.Literal and len(parts) < _RUN:
        parts.append(tail.head)
        tail = tail.tail
    parts.append(tail)
    return parts


# The instruction that makes one term from its operands: one emitter for each kind.

Operands = Sequence[int]


def _constant(term: t.Term, operands: Operands, numbers: Numbers, out: list[int]) -> None:
    out.append(ops.OP_EMPTY if term is t.EMPTY else ops.OP_EPS)


def _class(term: t.ByteClass, operands: Operands, numbers: Numbers, out: list[int]) -> None:
    out.append(ops.OP_CLASS)
    out += struct.unpack("<8i", term.mask.to_bytes(32, "little"))


def _literal(term: t.Literal, operands: Operands, numbers: Numbers, out: list[int]) -> None:
    out += (ops.OP_LITERAL, len(term.text), *term.text, ~lay.EPS_ID)


def _cat(term: t.Cat, operands: Operands, numbers: Numbers, out: list[int]) -> None:
    head = term.head
    if type(head) is t.Literal:
        out += (ops.OP_LITERAL, len(head.text), *head.text, *operands)
    else:
        out += (ops.OP_CAT, len(operands), *operands)


def _alt(term: t.Alt, operands: Operands, numbers: Numbers, out: list[int]) -> None:
    out += (ops.OP_ALT, len(operands))
    out += operands


def _and(term: t.And, operands: Operands, numbers: Numbers, out: list[int]) -> None:
    out += (ops.OP_AND, len(operands))
    out += operands


def _not(term: t.Not, operands: Operands, numbers: Numbers, out: list[int]) -> None:
    out += (ops.OP_NOT, operands[0])


def _repeat(term: t.Repeat, operands: Operands, numbers: Numbers, out: list[int]) -> None:
    numbers.check_count(term.lo)
    hi = lay.INFINITE if term.hi is None or term.hi > MAX_COUNT else term.hi
    out += (ops.OP_REPEAT, operands[0], term.lo, hi)


def _rule(term: t.Rule, operands: Operands, numbers: Numbers, out: list[int]) -> None:
    out += (ops.OP_RULE, numbers.rule_id(term), term.nullable)


def _branches(term: t.Branches, operands: Operands, numbers: Numbers, out: list[int]) -> None:
    out += (ops.OP_BRANCHES, operands[0], numbers.branch_id(term))


def _heads(term: t.Heads, operands: Operands, numbers: Numbers, out: list[int]) -> None:
    out += (ops.OP_HEADS, len(operands))
    out += operands
    out += term.nullables


def _capture(term: t.Capture, operands: Operands, numbers: Numbers, out: list[int]) -> None:
    out += (ops.OP_CAPTURE, numbers.capture_id(term))
    out += operands


def _token(term: t.Token, operands: Operands, numbers: Numbers, out: list[int]) -> None:
    found = numbers.token_set(term)
    out += (ops.OP_EMPTY,) if found is None else (ops.OP_TOKEN, found)


_EMITTERS: Final[dict[type[t.Term], Callable[[Any, Operands, Numbers, list[int]], None]]] = {
    t.Empty: _constant,
    t.Epsilon: _constant,
    t.ByteClass: _class,
    t.Literal: _literal,
    t.Cat: _cat,
    t.Alt: _alt,
    t.And: _and,
    t.Not: _not,
    t.Repeat: _repeat,
    t.Rule: _rule,
    t.Timed: _rule,
    t.Branch: _rule,
    t.Branches: _branches,
    t.Heads: _heads,
    t.Capture: _capture,
    t.Token: _token,
}
