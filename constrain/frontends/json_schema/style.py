"""How values are written: the knobs between "every spelling" and "what a model should write".

A style never decides whether a schema can be satisfied: each bound widens by itself where a schema
asks for more (a `minimum` of 10^30 needs 31 digits whatever `integer_digits` says).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from constrain.errors import GrammarError

__all__ = ["ANY", "CANONICAL", "JSONStyle", "resolve_style"]


@dataclass(frozen=True, slots=True)
class JSONStyle:
    r"""The spellings of a JSON value that a grammar lets through.

    `JSONStyle()` is the preset "canonical". `ANY` is the preset "any": every JSON text of the
    value, except spellings of constrained numbers that no finite state can judge (see `digits`).

    Attributes:
        property_order: "declared": properties in the order of the schema, then the others. "any":
            free.
        whitespace: Where JSON allows it: "none"; "one_space": one space after `,` and `:`, what
            `json.dumps` writes; "bounded": after `:` nothing or one space, else nothing, one
            space, or a line end and up to `max_indent` spaces; "unbounded": any run of space, tab,
            CR, LF, also around the whole text.
        max_indent: Spaces after a line end in "bounded".
        escapes: "minimal": only what JSON forbids raw is escaped, in its shortest form. "any": all
            escapes.
        ensure_ascii: Code points above U+007F are escaped, never raw.
        numbers: "plain": no exponent, no `-0`, no `1.0` for integers. "any": everything.
        integer_digits: Digits before the point, "plain" only.
        fraction_digits: Digits after the point, "plain" only.
    """

    property_order: Literal["declared", "any"] = "declared"
    whitespace: Literal["none", "one_space", "bounded", "unbounded"] = "bounded"
    max_indent: int = 20
    escapes: Literal["minimal", "any"] = "minimal"
    ensure_ascii: bool = False
    numbers: Literal["plain", "any"] = "plain"
    integer_digits: int = 20
    fraction_digits: int = 17

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise GrammarError(
                    f"JSONStyle.{name} must be one of {', '.join(map(repr, allowed))}, "
                    f"not {getattr(self, name)!r}"
                )
        for name, least in (("max_indent", 0), ("integer_digits", 1), ("fraction_digits", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise GrammarError(f"JSONStyle.{name} must be an int >= {least}, not {value!r}")


_CHOICES: Final = {
    "property_order": ("declared", "any"),
    "whitespace": ("none", "one_space", "bounded", "unbounded"),
    "escapes": ("minimal", "any"),
    "numbers": ("plain", "any"),
}

CANONICAL: Final = JSONStyle()
ANY: Final = JSONStyle(property_order="any", whitespace="unbounded", escapes="any", numbers="any")


def resolve_style(style: str | JSONStyle) -> JSONStyle:
    """The style that a preset's name stands for; a `JSONStyle` is returned as it is.

    Raises:
        ValueError: No preset has this name.
    """
    if isinstance(style, JSONStyle):
        return style
    if style == "canonical":
        return CANONICAL
    if style == "any":
        return ANY
    raise GrammarError(f"style must be 'canonical', 'any' or a JSONStyle, not {style!r}")
