r"""How values are written: the knobs between "every spelling" and "what a model should write".

A style never decides whether a schema can be satisfied: each bound widens by itself where a schema
asks for more (a `minimum` of 10^30 needs 31 digits whatever `integer_digits` says). Every text of a
style is a text of style "any" too.

The presets differ in a few fields only:

- "canonical": `JSONStyle()`.
- "compact", "pretty", "flexible": the same with the whitespace of that name.
- "any": every JSON text of the value, except spellings of constrained numbers that no finite state
  can judge (see `digits`).

    >>> resolve_style("pretty") == JSONStyle(whitespace="pretty")
    True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

from constrain.algebra.terms import byte_class, complement, intersect, star
from constrain.errors import CompileError, GrammarError

__all__ = ["ANY", "CANONICAL", "PRESETS", "JSONStyle", "resolve_style"]

_LAYOUTS: Final = ("compact", "spaced", "tidy", "pretty", "flexible", "any")


@dataclass(frozen=True, slots=True)
class JSONStyle:
    r"""The spellings of a JSON value that a grammar lets through.

    `JSONStyle()` is the preset "canonical".

    Attributes:
        property_order: "declared": properties in the order of the schema, then the others. "any":
            free.
        whitespace: Between the tokens of a text; around it only in "any".
            "compact": none.
            "spaced": one space after `,` and `:`, what `json.dumps` writes.
            "tidy": after `:` nothing or one space, else nothing, one space, or a line end and up to
            `max_indent` spaces.
            "pretty": a member or item on each line, what `json.dumps(indent=indent)` writes, to a
            depth of `Limits.max_nesting`.
            "flexible": wherever JSON allows it, up to `max_whitespace` of space, tab, CR, LF.
            "any": wherever JSON allows it, any run of them.
            Else a regular expression (Python syntax) for each place where JSON allows whitespace;
            it may match only space, tab, CR and LF, e.g. `r"[ \n]?"`.
        indent: Spaces for each depth, "pretty" only.
        max_indent: Spaces after a line end, "tidy" only.
        max_whitespace: Bytes in one place, "flexible" only.
        escapes: "minimal": only what JSON forbids raw is escaped, in its shortest form. "any": all
            escapes.
        ensure_ascii: Code points above U+007F are escaped, never raw.
        numbers: "plain": no exponent, no `-0`, no `1.0` for integers. "any": everything.
        integer_digits: Digits before the point, "plain" only; more where a schema needs them.
        fraction_digits: Digits after the point, "plain" only; more where a schema needs them.

    Raises:
        GrammarError: A field has a value that it cannot have.
    """

    property_order: Literal["declared", "any"] = "declared"
    whitespace: str = "tidy"
    indent: int = 2
    max_indent: int = 20
    max_whitespace: int = 20
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
        for name, least in _COUNTS.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise GrammarError(f"JSONStyle.{name} must be an int >= {least}, not {value!r}")
        if self.whitespace not in _LAYOUTS:
            _check_pattern(self.whitespace)


_CHOICES: Final = {
    "property_order": ("declared", "any"),
    "escapes": ("minimal", "any"),
    "ensure_ascii": (False, True),
    "numbers": ("plain", "any"),
}
_COUNTS: Final = {
    "indent": 0,
    "max_indent": 0,
    "max_whitespace": 0,
    "integer_digits": 1,
    "fraction_digits": 1,
}


def _check_pattern(pattern: object) -> None:
    """Refuse what is neither the name of a layout nor an expression for whitespace.

    No name of a layout is such an expression, nor is a name written wrong: letters are none.
    """
    from constrain.algebra.store import TermStore
    from constrain.frontends.regex import from_regex

    names = ", ".join(map(repr, _LAYOUTS))
    expected = f"JSONStyle.whitespace must be {names} or a regular expression for whitespace"
    if not isinstance(pattern, str):
        raise GrammarError(f"{expected}, not {pattern!r}")
    try:
        term = from_regex(pattern, "python")
        store = TermStore()
        nothing = store.is_empty(store.intern(term))
        other = complement(star(byte_class(b" \t\n\r")))
        only_whitespace = store.is_empty(store.intern(intersect((term, other))))
    except (GrammarError, CompileError) as error:
        raise GrammarError(f"{expected}, not {pattern!r}: {error}") from error
    if nothing or not only_whitespace:
        reason = "matches nothing" if nothing else "matches more than whitespace"
        raise GrammarError(
            f"{expected}, and {pattern!r} {reason}",
            hint=r"JSON allows space, tab, line feed and carriage return: [ \t\n\r], not \s",
        )


CANONICAL: Final = JSONStyle()
ANY: Final = JSONStyle(property_order="any", whitespace="any", escapes="any", numbers="any")
PRESETS: Final[Mapping[str, JSONStyle]] = MappingProxyType(
    {
        "canonical": CANONICAL,
        "compact": JSONStyle(whitespace="compact"),
        "pretty": JSONStyle(whitespace="pretty"),
        "flexible": JSONStyle(whitespace="flexible"),
        "any": ANY,
    }
)


def resolve_style(style: str | JSONStyle, property_order: str = "declared") -> JSONStyle:
    """The style that a preset's name stands for; a `JSONStyle` is returned as it is.

    Args:
        style: One of `PRESETS`, or a style.
        property_order: "any" frees the order in every style. "declared" leaves it as the style has
            it, which is free in style "any".

    Raises:
        GrammarError: No preset has this name, or there is no such order.
    """
    if property_order not in _CHOICES["property_order"]:
        raise GrammarError(f"property_order must be 'declared' or 'any', not {property_order!r}")
    found = style if isinstance(style, JSONStyle) else None
    if isinstance(style, str):
        found = PRESETS.get(style)
    if found is None:
        names = ", ".join(map(repr, PRESETS))
        raise GrammarError(f"style must be one of {names}, or a JSONStyle, not {style!r}")
    return replace(found, property_order="any") if property_order == "any" else found
