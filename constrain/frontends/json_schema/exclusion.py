"""Every way to write one value: what an item is told by that has come before.

More is in it than the style would write, whitespace anywhere and members in any order: it is only
ever taken away from the texts that the style allows.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from constrain.algebra.terms import EPS, Rule, Term, alt, byte_class, cat, literal, star
from constrain.frontends.json_schema.digits import equal_numbers
from constrain.frontends.json_schema.style import JSONStyle
from constrain.frontends.json_schema.text import QUOTE, JSONAlphabet
from constrain.frontends.json_schema.values import ArrayValue, Frozen, ObjectValue, Word

__all__ = ["Exclusion"]

_GAP: Final = star(byte_class(b" \t\n\r"))
_COMMA: Final = cat(_GAP, literal(b","), _GAP)
_COLON: Final = cat(_GAP, literal(b":"), _GAP)


class Exclusion:
    """Spells values.

    Args:
        alphabet: How strings are written.
        style: How numbers are written.
    """

    def __init__(self, alphabet: JSONAlphabet, style: JSONStyle) -> None:
        self._alphabet = alphabet
        self._style = style

    def spell(self, value: Frozen) -> Term:
        """Every text of a value.

        Cost: one pass; objects of n members have up to 2^n states, made as texts reach them.
        """
        done: list[Term] = []
        todo: list[tuple[bool, Frozen]] = [(False, value)]
        while todo:
            complete, v = todo.pop()
            if isinstance(v, (ArrayValue, ObjectValue)):
                parts = v.items if isinstance(v, ArrayValue) else [part for _, part in v.members]
                if not complete:
                    todo.append((True, v))
                    todo += [(False, part) for part in reversed(parts)]
                    continue
                spelled = done[len(done) - len(parts) :]
                del done[len(done) - len(parts) :]
                if isinstance(v, ArrayValue):
                    done.append(_array(spelled))
                else:
                    keys = [self._string(key) for key, _ in v.members]
                    members = zip(keys, spelled, strict=True)
                    done.append(_object([cat(key, _COLON, text) for key, text in members]))
            elif isinstance(v, str):
                done.append(self._string(v))
            elif isinstance(v, Word):
                done.append(literal(v.value.encode()))
            else:
                done.append(equal_numbers(v, self._style))
        return done[0]

    def _string(self, text: str) -> Term:
        return cat(QUOTE, self._alphabet.spell_text(text), QUOTE)


def _array(items: list[Term]) -> Term:
    separated = [part for item in items for part in (_COMMA, item)][1:]
    return cat(literal(b"["), _GAP, *separated, _GAP, literal(b"]"))


def _object(members: list[Term]) -> Term:
    if not members:
        return cat(literal(b"{"), _GAP, literal(b"}"))
    rules: dict[int, Rule] = {}
    whole = (1 << len(members)) - 1

    def rest(used: int) -> Term:
        """What follows where these members, as bits, have come."""
        if used == whole:
            return cat(_GAP, literal(b"}"))
        found = rules.get(used)
        if found is None:
            found = rules[used] = Rule("members", partial(body, used))
        return found

    def body(used: int) -> Term:
        left = [i for i in range(len(members)) if not used >> i & 1]
        separator = _COMMA if used else EPS
        return cat(separator, alt([cat(members[i], rest(used | 1 << i)) for i in left]))

    return cat(literal(b"{"), _GAP, body(0))
