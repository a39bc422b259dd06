"""A slow and obvious reading of context-free grammars: the sentences up to a length, as sets.

Each symbol has a set of strings; the productions are equations between these sets, applied until
nothing is added. Expressions are plain tuples, so nothing is shared with the code under test:

    ("text", b"ab"), ("set", b"abc"), ("symbol", "x"), ("sequence", e, ...), ("choice", e, ...),
    ("repeat", e, lo, hi)
"""

from __future__ import annotations

from itertools import product


class Sentences:
    """All sentences, and all beginnings of sentences, of at most `longest` bytes.

    Attributes:
        texts: The sentences of each symbol.
        begun: What begins a sentence of each symbol, however long that is.
    """

    def __init__(self, productions: dict[str, tuple], longest: int) -> None:
        self.longest = longest
        self.productive = dict.fromkeys(productions, False)
        self._until_stable(self.productive, productions, self._has_sentence)
        self.texts = {name: frozenset() for name in productions}
        self._until_stable(self.texts, productions, self._texts)
        self.begun = {name: frozenset() for name in productions}
        self._until_stable(self.begun, productions, self._begun)

    @staticmethod
    def _until_stable(known, productions, equation) -> None:
        changed = True
        while changed:
            changed = False
            for name, expression in productions.items():
                value = equation(expression)
                if value != known[name]:
                    known[name] = value
                    changed = True

    def _has_sentence(self, e) -> bool:
        match e:
            case ("text", _):
                return True
            case ("set", members):
                return len(members) > 0
            case ("symbol", name):
                return self.productive[name]
            case ("sequence", *parts):
                return all(map(self._has_sentence, parts))
            case ("choice", *members):
                return any(map(self._has_sentence, members))
            case ("repeat", body, lo, _):
                return lo == 0 or self._has_sentence(body)
        raise AssertionError(e)

    def _texts(self, e) -> frozenset[bytes]:
        match e:
            case ("text", text):
                return frozenset({text} if len(text) <= self.longest else ())
            case ("set", members):
                return frozenset(bytes([b]) for b in members)
            case ("symbol", name):
                return self.texts[name]
            case ("sequence", *parts):
                whole = frozenset({b""})
                for part in parts:
                    whole = self._joined(whole, self._texts(part))
                return whole
            case ("choice", *members):
                return frozenset().union(*map(self._texts, members))
            case ("repeat", body, lo, hi):
                return self._repeated(self._texts(body), lo, hi)
        raise AssertionError(e)

    def _joined(self, left, right) -> frozenset[bytes]:
        return frozenset(a + b for a, b in product(left, right) if len(a + b) <= self.longest)

    def _repeated(self, body, lo, hi) -> frozenset[bytes]:
        """The union of the powers lo to hi; past `longest` rounds, a round more adds nothing new.

        That holds for lo as well: more rounds than bytes means that some are empty.
        """
        if b"" in body:
            lo = min(lo, self.longest)
        power = frozenset({b""})
        found = power if lo == 0 else frozenset()
        for count in range(1, self.longest + 1 if hi is None else min(hi, self.longest) + 1):
            power = self._joined(power, body)
            if count >= lo:
                found |= power
        return found

    def _begun(self, e) -> frozenset[bytes]:
        if not self._has_sentence(e):
            return frozenset()
        match e:
            case ("text", text):
                begun = [text[:i] for i in range(len(text) + 1)]
                return frozenset(b for b in begun if len(b) <= self.longest)
            case ("set", members):
                return frozenset({b"", *[bytes([b]) for b in members]})
            case ("symbol", name):
                return self.begun[name]
            case ("sequence", *parts):
                before, found = frozenset({b""}), frozenset({b""})
                for part in parts:
                    found |= self._joined(before, self._begun(part))
                    before = self._joined(before, self._texts(part))
                return found
            case ("choice", *members):
                return frozenset().union(*map(self._begun, members))
            case ("repeat", body, _, hi):
                before, found = frozenset({b""}), frozenset({b""})
                rounds = self.longest + 1 if hi is None else min(hi, self.longest + 1)
                for _ in range(rounds if self._has_sentence(body) else 0):
                    found |= self._joined(before, self._begun(body))
                    before |= self._joined(before, self._texts(body))
                return found
        raise AssertionError(e)
