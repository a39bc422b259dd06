"""Values and texts that nearly satisfy a schema.

Values are built from what the schema says, then changed in a place or two: its own constants,
bounds and lengths plus and minus one, keys renamed, items repeated, 1 for true. Texts spell a value
in one of the ways that JSON has, and some of them are broken.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from tests.frontends.json_schema.generators import (
    FRACTIONS,
    KEYS,
    NUMBERS,
    PATTERNS,
    STRINGS,
    TYPES,
)

__all__ = ["Near", "near_miss", "texts_of"]


class Near:
    """What the constants of a schema suggest."""

    def __init__(self, rng: random.Random, schema: Any) -> None:
        self.rng = rng
        self.root = schema
        self.numbers: list[Any] = []
        self.strings: list[str] = []
        self.keys: list[str] = []
        self.constants: list[Any] = []
        todo = [schema]
        for at in todo:
            if isinstance(at, list):
                todo += at
            elif isinstance(at, dict):
                self._look(at)
                todo += at.values()

    def _look(self, schema: dict[str, Any]) -> None:
        for name, value in schema.items():
            if name in ("const", "default"):
                self.constants.append(value)
            elif name == "enum" and isinstance(value, list):
                self.constants += value
            elif isinstance(value, (int, Decimal)) and not isinstance(value, bool):
                self.numbers.append(value)
            elif name == "pattern" and isinstance(value, str):
                self.strings += PATTERNS.get(value, ())
            elif name == "required" and isinstance(value, list):
                self.keys += [k for k in value if isinstance(k, str)]
            elif name == "patternProperties" and isinstance(value, dict):
                self.keys += itertools.chain(*(PATTERNS.get(p, ()) for p in value))
            elif name in _KEYED and isinstance(value, dict):
                self.keys += value

    def expand(self, schema: Any) -> list[dict[str, Any]]:
        """Schemas that (may) apply to the value where `schema` does."""
        rng = self.rng
        found: list[dict[str, Any]] = []
        todo = [schema]
        for at in todo:
            if not isinstance(at, dict) or any(at is f for f in found) or len(found) > 8:
                continue
            found.append(at)
            for name in ("allOf", "anyOf", "oneOf"):
                branches = at.get(name)
                if isinstance(branches, list) and branches:
                    todo += branches if name == "allOf" else [rng.choice(branches)]
            for name in ("if", "then", "else", "not"):
                if name in at and rng.random() < 0.6:
                    todo.append(at[name])
            for name in ("dependentSchemas", "dependencies"):
                if isinstance(at.get(name), dict) and rng.random() < 0.5:
                    todo += at[name].values()
            reference = at.get("$ref", at.get("$recursiveRef", at.get("$dynamicRef")))
            if isinstance(reference, str):
                todo.append(self._follow(reference))
        return found

    def _follow(self, reference: str) -> Any:
        if reference in ("#", "#node"):
            return self.root
        name = reference.rpartition("/")[2].lstrip("#")
        made = self.root.get("$defs", self.root.get("definitions", {}))
        return made.get(name, made.get("d" + name[1:])) if isinstance(made, dict) else None

    def value(self, schema: Any, depth: int = 3) -> Any:
        """A value that fits a schema more or less."""
        rng = self.rng
        hints = self.expand(schema)
        constants = [
            c for h in hints for c in [*h.get("enum", ()), *([h["const"]] if "const" in h else [])]
        ]
        if constants and rng.random() < 0.7:
            return rng.choice(constants)
        types: list[str] = []
        for hint in hints:
            given = hint.get("type", ())
            types += [given] if isinstance(given, str) else given
            types += [kind for key, kind in _KIND_OF.items() if key in hint]
        kind = rng.choice(types) if types and rng.random() < 0.93 else rng.choice(TYPES)
        if kind in ("array", "object") and depth <= 0:
            return [] if kind == "array" else {}
        if kind == "null":
            return None
        if kind == "boolean":
            return rng.random() < 0.5
        if kind in ("integer", "number"):
            return self.number(kind == "integer")
        if kind == "string":
            return self.string()
        return self._array(hints, depth) if kind == "array" else self._object(hints, depth)

    def number(self, whole: bool) -> Any:
        rng = self.rng
        pool = self.numbers if self.numbers and rng.random() < 0.8 else [*NUMBERS, *FRACTIONS]
        n = rng.choice(pool)
        n = rng.choice([n, n, n + 1, n - 1, -n, n * 2, n * 3])
        if not whole and abs(n) < 10**6 and rng.random() < 0.4:
            n = n + rng.choice(FRACTIONS)
        return n

    def string(self) -> str:
        rng = self.rng
        if self.strings and rng.random() < 0.5:
            s = rng.choice(self.strings)
        else:
            s = rng.choice([*STRINGS, *(c for c in self.constants if isinstance(c, str))])
        small = [n for n in self.numbers if isinstance(n, int) and 0 <= n < 600]
        if small and rng.random() < 0.5:
            length = max(0, rng.choice(small) + rng.choice([-1, 0, 0, 1]))
            s = (s + rng.choice(["a", "b", "😀", "é"]) * length)[:length]
        return s

    def _array(self, hints: list[dict[str, Any]], depth: int) -> list[Any]:
        rng = self.rng
        sizes = [
            int(h[k])
            for h in hints
            for k in ("minItems", "maxItems", "minContains", "maxContains")
            if k in h
        ]
        size = (
            max(0, rng.choice(sizes) + rng.choice([-1, 0, 0, 1]))
            if sizes and rng.random() < 0.7
            else rng.choice([0, 1, 1, 2, 3])
        )
        made: list[Any] = []
        for index in range(min(size, 40)):
            subs = []
            for h in hints:
                prefix = h.get("prefixItems", h.get("items"))
                prefix = prefix if isinstance(prefix, list) else []
                rest = h.get("items")
                if isinstance(rest, list):
                    rest = h.get("additionalItems")
                subs += [
                    prefix[index] if index < len(prefix) else rest,
                    h.get("contains"),
                    h.get("unevaluatedItems"),
                ]
            subs = [s for s in subs if isinstance(s, dict)]
            if made and rng.random() < 0.2:
                made.append(rng.choice(made))
            else:
                made.append(self.value(rng.choice(subs) if subs else {}, depth - 1))
        return made

    def _object(self, hints: list[dict[str, Any]], depth: int) -> dict[str, Any]:
        rng = self.rng
        declared = {k: s for h in hints for k, s in h.get("properties", {}).items()}
        wanted = [k for h in hints for k in h.get("required", ()) if isinstance(k, str)]
        chosen = [k for k in declared if rng.random() < 0.7] + [
            k for k in wanted if rng.random() < 0.95
        ]
        pool = [*self.keys, *KEYS]
        chosen += [rng.choice(pool) for _ in range(rng.choice([0, 0, 1, 2]))]
        sizes = [int(h[k]) for h in hints for k in ("minProperties", "maxProperties") if k in h]
        rng.shuffle(chosen)
        if sizes and rng.random() < 0.5:
            size = max(0, rng.choice(sizes) + rng.choice([0, 0, 1, -1]))
            chosen = [*chosen, *rng.sample(KEYS, min(size, 5))][:size]
        others = [
            h[k] for h in hints for k in ("additionalProperties", "unevaluatedProperties") if k in h
        ]
        others += [s for h in hints for s in h.get("patternProperties", {}).values()]
        made = {}
        for key in chosen:
            sub = declared.get(key)
            if sub is None or rng.random() < 0.1:
                sub = rng.choice(others) if others else {}
            made[key] = self.value(sub, depth - 1)
        return made

    def mutate(self, value: Any) -> Any:
        """The same with one place changed."""
        rng = self.rng
        places = list(_places(value, ()))
        path = rng.choice(places)
        return _replace(value, path, self._change)

    def _change(self, value: Any) -> Any:
        rng = self.rng
        if rng.random() < 0.15:
            return self.value(rng.choice([{}, self.root]), 1)
        if value is None or isinstance(value, bool):
            return {None: False, True: 1, False: 0}[value]
        if isinstance(value, (int, Decimal)):
            return rng.choice(
                [
                    value + 1,
                    value - 1,
                    -value,
                    value == 1,
                    str(value),
                    value + Decimal("0.1") if abs(value) < 10**6 else value * 10,
                    value * 2,
                    self.number(False),
                ]
            )
        if isinstance(value, str):
            return rng.choice(
                [
                    value + "a",
                    value[1:],
                    value[::-1],
                    value + "😀",
                    "a" + value,
                    value.upper(),
                    [value],
                    self.string(),
                ]
            )
        if isinstance(value, list):
            changes = [
                [*value, self.value({}, 1)],
                value[1:],
                value[:-1],
                value[::-1],
                [*value, *value[:1]],
                {"a": value},
            ]
            return rng.choice(changes)
        items = list(value.items())
        kind = rng.randrange(5)
        if not items or kind == 0:
            return {**value, rng.choice([*self.keys, *KEYS]): self.value({}, 1)}
        index = rng.randrange(len(items))
        if kind == 1:
            del items[index]
        elif kind == 2:
            items[index] = (rng.choice([*self.keys, *KEYS, items[index][0] + "a"]), items[index][1])
        elif kind == 3:
            items.reverse()
        else:
            items[index] = (items[index][0], items[rng.randrange(len(items))][1])
        return dict(items)


_KEYED = ("properties", "dependentSchemas", "dependentRequired", "dependencies")
_KIND_OF = {
    "minimum": "number", "maximum": "number", "exclusiveMinimum": "number",
    "exclusiveMaximum": "number", "multipleOf": "number",
    "minLength": "string", "maxLength": "string", "pattern": "string",
    "minItems": "array", "maxItems": "array", "uniqueItems": "array", "items": "array",
    "prefixItems": "array", "additionalItems": "array", "contains": "array",
    "unevaluatedItems": "array",
    "minProperties": "object", "maxProperties": "object", "required": "object",
    "properties": "object", "patternProperties": "object", "additionalProperties": "object",
    "propertyNames": "object", "dependentRequired": "object", "dependentSchemas": "object",
    "dependencies": "object", "unevaluatedProperties": "object",
}  # fmt: skip


def _places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield path
    children: Any = ()
    if isinstance(value, list):
        children = enumerate(value)
    elif isinstance(value, dict):
        children = value.items()
    for key, child in children:
        yield from _places(child, (*path, key))


def _replace(value: Any, path: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    inner = _replace(value[path[0]], path[1:], change)
    if isinstance(value, list):
        return [inner if i == path[0] else v for i, v in enumerate(value)]
    return {k: inner if k == path[0] else v for k, v in value.items()}


def near_miss(rng: random.Random, schema: Any, count: int) -> list[Any]:
    """Values that nearly satisfy a schema: some do, some miss by one change, some by two."""
    near = Near(rng, schema)
    made = []
    for _ in range(count):
        value = near.value(schema)
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            value = near.mutate(value)
        made.append(value)
    return made


# Texts


def texts_of(rng: random.Random, value: Any) -> Iterator[bytes]:
    """A text of a value in a spelling drawn at random, then sometimes one that is not JSON."""
    text = _spell(rng, value).encode()
    yield text
    if rng.random() < 0.15:
        yield _break(rng, text)


def _gap(rng: random.Random) -> str:
    return rng.choice(["", "", "", "", " ", "\n", "\t ", "\r\n"])


def _spell(rng: random.Random, value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, Decimal)):
        return _spell_number(rng, value)
    if isinstance(value, str):
        return '"' + "".join(_spell_character(rng, c) for c in value) + '"'
    if isinstance(value, list):
        inside = [_spell(rng, v) for v in value]
        left, right = "[]"
    else:
        members = list(value.items())
        if rng.random() < 0.3:
            rng.shuffle(members)
        inside = [f"{_spell(rng, k)}{_gap(rng)}:{_gap(rng)}{_spell(rng, v)}" for k, v in members]
        if inside and rng.random() < 0.04:
            inside.append(rng.choice(inside))  # a key twice
        left, right = "{}"
    return left + _gap(rng) + (_gap(rng) + "," + _gap(rng)).join(inside) + _gap(rng) + right


def _spell_character(rng: random.Random, c: str) -> str:
    plain = json.dumps(c, ensure_ascii=False)[1:-1]
    if rng.random() < 0.8:
        return plain
    units = c.encode("utf-16-be").hex()
    escaped = "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))
    return rng.choice(
        [
            escaped,
            "\\u" + escaped[2:].upper() if len(units) == 4 else escaped,
            "\\/" if c == "/" else plain,
        ]
    )


def _spell_number(rng: random.Random, value: Any) -> str:
    number = Decimal(value)
    if not number and rng.random() < 0.3:
        return rng.choice(["-0", "0.0", "0e5", "-0.0"])
    digits = len(number.as_tuple().digits)
    big = abs(number.adjusted()) > 30
    text = f"{number:e}" if big else f"{number:f}"
    if rng.random() < 0.75:
        return text
    forms = [f"{number:e}".replace("e+", rng.choice(["E", "e+", "E+0", "e"]))]
    if not big:
        forms.append(text + ("0" if "." in text else ".0"))
    if digits < 6 and not big:
        shift = rng.choice([1, 2, -3])
        forms.append(f"{number.scaleb(-shift):f}e{shift}")
    return rng.choice(forms)


def _break(rng: random.Random, text: bytes) -> bytes:
    """Often no JSON any more; sometimes another value."""
    at = rng.randrange(len(text) + 1)
    kind = rng.randrange(6)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + rng.choice(_STRANGE) + text[at:]
    if kind == 2:
        return text[:at] + text[at + 1 :]
    if kind == 3:
        return text.replace(b'"', b'"\\ud800', 1)
    if kind == 4:
        return text + rng.choice([b",", b"}", b" ", b"\n", b"\xef\xbb\xbf", b"1"])
    return rng.choice(
        [b"NaN", b"-Infinity", b"01", b"1.", b".5", b"+1", b"-", b"'a'", b"", b" ", text[::-1]]
    )


_STRANGE = [
    b",", b"\x00", b"\x1f", b"\\ud800", b"\\ude00", b"\\ud83d\\ude00", b"\xed\xa0\x80", b"\xff",
    b"\xc0\x80", b"\\x41", b"\\u12", b"0", b"-", b"e5", b".0", b" ", b"/**/", b'"',
    b"\xf0\x9f\x98\x80",
]  # fmt: skip
