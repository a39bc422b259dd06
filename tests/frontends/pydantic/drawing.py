"""Texts drawn from the grammar of a type, each checked by pydantic."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from typing import Any

import pydantic

from constrain.frontends.pydantic import from_pydantic
from tests.frontends.json_schema.texts import Texts

STEPS = (0, 2, 5, 10, 20, 40, 80)
"""Random bytes before a text is completed."""
_FULL = 500_000
"""Terms after which the store is made anew."""


class TypeTexts(Texts):
    """The texts of a type."""

    def __init__(self, kind: Any, **options: Any) -> None:
        self.grammar = from_pydantic(kind, **options)  # type: ignore[assignment]
        self.adapter = self.grammar.adapter  # type: ignore[attr-defined]
        self.renew()

    def validates(self, text: str | bytes) -> bool:
        try:
            self.adapter.validate_json(text)
        except (pydantic.ValidationError, TypeError):  # that of a constraint that does not fit
            return False
        return True

    def drawn(self, name: str, count: int) -> Iterator[bytes]:
        """Random texts, the same for the same name."""
        rng = random.Random(zlib.crc32(name.encode()))
        for _ in range(count):
            if self.store.num_terms > _FULL:
                self.renew()
            text = self.draw(rng, rng.choice(STEPS))
            if text is not None:
                assert self.accepts(text), text
                yield text
