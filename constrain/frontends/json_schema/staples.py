"""What nearly every schema needs, made once for each style: any string, any number, the words.

These terms are the same objects in all grammars of a style. A term store starts with them
(`algebra.prelude.Prelude`), so that no grammar's store has to read them.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Final

from constrain.algebra.prelude import Prelude
from constrain.algebra.terms import Term, cat, literal
from constrain.frontends.json_schema.digits import number_term
from constrain.frontends.json_schema.layout import OPEN_ARRAY, OPEN_OBJECT, layout_of
from constrain.frontends.json_schema.number import ANY_NUMBER, INTEGER, INTEGER_FORM, NumberShape
from constrain.frontends.json_schema.style import JSONStyle
from constrain.frontends.json_schema.text import QUOTE, alphabet

__all__ = ["NULL", "SCALARS", "Staples", "staples"]

SCALARS: Final = frozenset(("null", "boolean", "integer", "number", "string"))
"""The types whose values are neither arrays nor objects."""

NULL: Final = literal(b"null")
_WORDS: Final = {True: literal(b"true"), False: literal(b"false")}


class Staples:
    """The terms that all schemas in one style share. Get one from `staples`.

    Args:
        style: How they are written.
        comparable: As of `number_term`.

    Attributes:
        string: Any string.
        booleans: The two words.
        layout: Whitespace, for arrays and objects that are in no others.
    """

    def __init__(self, style: JSONStyle, *, comparable: bool) -> None:
        spelled = alphabet(style.escapes, style.ensure_ascii)
        self.string = cat(QUOTE, spelled.text, QUOTE)
        shapes = (ANY_NUMBER, INTEGER, INTEGER_FORM)
        self._numbers = [
            (shape, number_term((shape,), style, comparable=comparable)) for shape in shapes
        ]
        self.booleans = _WORDS
        self.layout = layout_of(style, 0)

    def number(self, shape: NumberShape) -> Term | None:
        """Any number or any integer, if a shape is that. Not by its hash: fractions are slow."""
        for known, term in self._numbers:
            if shape is known or shape == known:
                return term
        return None

    @cached_property
    def prelude(self) -> Prelude:
        """A store's beginning that has them."""
        brackets = (OPEN_OBJECT, OPEN_ARRAY)
        numbers = [term for _, term in self._numbers]
        values = (self.string, NULL, *self.booleans.values(), *numbers)
        return Prelude([*values, QUOTE, *brackets, *self.layout.terms])


@lru_cache(maxsize=32)
def staples(style: JSONStyle, *, comparable: bool = False) -> Staples:
    """The terms of a style."""
    return Staples(style, comparable=comparable)
