"""An engine of a few lines: a schema is a JSON list of the texts it allows, as token ids."""

from __future__ import annotations

import json
import time

END = -1


class FakeMatcher:
    def __init__(self, language, broken):
        self._language = language
        self._ids = ()
        self._broken = broken
        self._mask = set()

    def fill(self):
        if self._broken == "in fill" and len(self._ids) == 1:
            raise ValueError("no mask here\nand more lines")
        reached = [text for text in self._language if text[: len(self._ids)] == self._ids]
        here = len(self._ids)
        self._mask = {text[here] if here < len(text) else END for text in reached}

    def accept(self, token_id):
        self._ids += (token_id,)
        return self._broken != "in accept"

    def allows(self, token_id):
        return token_id in self._mask

    def is_accepting(self):
        return END in self._mask

    def error(self):
        return "it said so itself" if self._broken == "by its own word" and self._ids else None


class FakeCompiled:
    def __init__(self, language, broken):
        self._parts = (language, broken)
        self.matchers = 0

    def start(self):
        self.matchers += 1
        return FakeMatcher(*self._parts)


class FakeEngine:
    settings = "made up"

    def __init__(self, name="fake", broken="", other_style=()):
        self.name = name
        self.compiled = []
        self._broken = broken
        self._other_style = other_style

    def prepare(self, files, tokenizer):
        pass

    def compile(self, schema):
        texts = json.loads(schema)
        if not isinstance(texts, list):
            raise TypeError("a list, please\nsecond line")
        time.sleep(0)
        self.compiled.append(FakeCompiled([tuple(text) for text in texts], self._broken))
        return self.compiled[-1]

    def accepts_in_another_style(self, schema, text):
        return text in self._other_style

    def settle(self):
        pass
