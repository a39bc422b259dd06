"""Texts of a schema's language: run them, draw them, and spell values in many ways."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any, Literal

import jsonschema

from constrain.algebra.store import DEAD, TermStore
from constrain.errors import UnsatisfiableError, UnsupportedFeatureError
from constrain.frontends.json_schema import from_json_schema

FAVOURITES = frozenset(b'abcxyzAB0123456789",:{}[]. -_truefalsn')
"""Bytes that random texts prefer, so that they stay readable."""


def compare(schema: Any, values: list[Any]) -> Literal["same", "empty", "refused"]:
    """Judge the values in style "any" and by `jsonschema`; fails where these differ.

    Returns:
        "empty" for a schema that nothing satisfies, "refused" for one that is not honoured.
    """
    oracle = jsonschema.Draft202012Validator(schema)
    expected = [oracle.is_valid(value) for value in values]
    try:
        texts = Texts(schema, style="any")
    except UnsatisfiableError:
        assert not any(expected), schema
        return "empty"
    except UnsupportedFeatureError:
        return "refused"
    assert [texts.accepts(json.dumps(value)) for value in values] == expected, schema
    return "same"


class Texts:
    """The language of one schema in one style."""

    def __init__(self, schema: Any, **options: Any) -> None:
        self.grammar = from_json_schema(schema, **options)
        self.renew()

    def renew(self) -> None:
        """Forget the terms that texts have made."""
        self.store = TermStore()
        self.start = self.store.intern(self.grammar.term)

    def accepts(self, text: str | bytes) -> bool:
        data = text.encode() if isinstance(text, str) else text
        state = self.store.advance(self.start, data)
        return state != DEAD and self.store.nullable(state)

    def shortest_end(self, state: int, budget: int = 20_000) -> bytes | None:
        """The shortest text that completes `state`, None past the budget. Fails at a dead end."""
        if self.store.nullable(state):
            return b""
        came_from: dict[int, tuple[int, int]] = {}
        level = [state]
        while level:
            after = []
            for s in level:
                targets: dict[int, tuple[int, int]] = {}
                allowed = self.store.next_bytes(s)
                if self.store.is_bytewise(s):  # every byte of a key gives another state
                    allowed = bytes([b for b in allowed if b in FAVOURITES]) or allowed
                for b in allowed:
                    target = self.store.advance(s, bytes((b,)))
                    alike = self.store.blur(target)
                    if alike not in targets or b in FAVOURITES:
                        targets[alike] = (target, b)
                for target, b in targets.values():
                    if target in came_from or target == state:
                        continue
                    came_from[target] = (s, b)
                    if self.store.nullable(target):
                        return _path(came_from, state, target)
                    after.append(target)
            if len(came_from) > budget:
                return None
            level = after
        raise AssertionError("dead end: nothing can complete the text")

    def draw(self, rng: random.Random, steps: int) -> bytes | None:
        """A random text: up to `steps` random bytes, then the shortest end; None past a budget."""
        out, state = b"", self.start
        for _ in range(steps):
            allowed = self.store.next_bytes(state)
            if not allowed:
                break
            liked = [b for b in allowed if b in FAVOURITES]
            b = rng.choice(liked if liked and rng.random() < 0.9 else allowed)
            out += bytes((b,))
            state = self.store.advance(state, bytes((b,)))
        for _ in range(8):
            end = self._closed(state, rng)
            if end is not None:
                return out + end
        end = self.shortest_end(state)
        return None if end is None else out + end

    def _closed(self, state: int, rng: random.Random) -> bytes | None:
        """A way to complete `state` that closes what it can, None if that is not enough."""
        out = b""
        while not self.store.nullable(state):
            if len(out) > 200:
                return None
            allowed = self.store.next_bytes(state)
            assert allowed, "dead end: nothing can complete the text"
            # In a string nearly everything is allowed, and only the quote closes it.
            closers = [b for b in (b'"' if ord("z") in allowed else b'}]",') if b in allowed]
            liked = closers[:1] if rng.random() < 0.9 else []
            b = rng.choice(liked or [b for b in allowed if b in FAVOURITES] or list(allowed))
            out += bytes((b,))
            state = self.store.advance(state, bytes((b,)))
        return out


def _path(came_from: dict[int, tuple[int, int]], start: int, end: int) -> bytes:
    out = []
    while end != start:
        end, b = came_from[end]
        out.append(b)
    return bytes(reversed(out))


def strict_loads(text: str | bytes) -> Any:
    """Parse strictly: no NaN, no key twice, exact numbers."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        assert len(value) == len(pairs), f"a key twice in {text!r}"
        return value

    def no_constant(name: str) -> Any:
        raise AssertionError(f"{name} in {text!r}")

    value = json.loads(
        text, object_pairs_hook=members, parse_constant=no_constant, parse_float=Decimal
    )
    return exact(value)


def exact(value: Any) -> Any:
    """The same with decimals for floats and integers for whole ones: validators are exact then."""
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal):
        is_short = value.adjusted() < 10_000  # 1e957736595 is an integer that nobody writes out
        return int(value) if is_short and value == value.to_integral_value() else value
    if isinstance(value, list):
        return [exact(v) for v in value]
    return {k: exact(v) for k, v in value.items()} if isinstance(value, dict) else value


def spell(value: Any, rng: random.Random, *, exponents: bool = True) -> str:
    """A JSON text of a value, in a spelling drawn at random."""

    def gap() -> str:
        return rng.choice(["", "", "", " ", "\n", "\t ", "\r\n"])

    if isinstance(value, str):
        return '"' + "".join([_spell_character(c, rng) for c in value]) + '"'
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, (int, float, Decimal)):
        return _spell_number(value, rng, exponents)
    if isinstance(value, list):
        return (
            "["
            + gap()
            + (gap() + "," + gap()).join([spell(v, rng, exponents=exponents) for v in value])
            + gap()
            + "]"
        )
    members = list(value.items())
    rng.shuffle(members)
    inside = [
        f"{spell(k, rng, exponents=exponents)}{gap()}:{gap()}{spell(v, rng, exponents=exponents)}"
        for k, v in members
    ]
    return "{" + gap() + (gap() + "," + gap()).join(inside) + gap() + "}"


def _spell_character(c: str, rng: random.Random) -> str:
    plain = json.dumps(c, ensure_ascii=False)[1:-1]
    escaped = json.dumps(c)[1:-1] if ord(c) > 0x7E else f"\\u{ord(c):04x}"
    forms = [plain, plain, escaped, "\\u" + escaped[2:].upper() if len(escaped) == 6 else escaped]
    if c == "/":
        forms.append("\\/")
    return rng.choice(forms)


def _spell_number(value: float | Decimal, rng: random.Random, exponents: bool) -> str:
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    text = f"{number:f}"
    forms = [text]
    if "." in text:
        forms.append(text + "0")
    else:
        forms += [text + ".0", text]
    if exponents and number and len(number.as_tuple().digits) < 15:
        forms.append(f"{number:e}")
        forms.append(f"{number:E}".replace("E+", "E"))
    return rng.choice(forms)
